//! What a file holds, packed by gzip or not.

use flate2::read::GzDecoder;
use std::io::Read;
use std::path::Path;

/// Its bytes as they were before they were packed.
pub(crate) fn plain(file: &Path) -> Vec<u8> {
    let bytes = std::fs::read(file).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    if file.extension().is_none_or(|ending| ending != "gz") {
        return bytes;
    }
    let mut plain = Vec::new();
    GzDecoder::new(&bytes[..]).read_to_end(&mut plain).expect("a whole gzip file");
    plain
}
