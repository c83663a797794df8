//! Capture files as gzip (RFC 1952): Wireshark, tshark and capinfos open them as they are. Equal captures give equal
//! bytes: the level is fixed, and the header has neither a name nor a time.

use super::evidence::Counted;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use rig_units::limits;
use std::borrow::Cow;
use std::io::{self, BufWriter, Read, Write};

/// Beyond this level files shrink by little and take much longer.
const LEVEL: u32 = 3;
/// "Unknown" (RFC 1952 section 2.3.1): the same on every system.
const OPERATING_SYSTEM: u8 = 255;
/// What a gzip file begins with.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Packs what is written to it.
pub struct Zip<W: Write>(GzEncoder<Counted<W>>);

impl<W: Write> core::fmt::Debug for Zip<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Zip").field("bytes", &self.0.get_ref().bytes).finish_non_exhaustive()
    }
}

impl<W: Write> Zip<W> {
    /// Begins a file.
    pub fn new(to: W) -> Zip<W> {
        let to = Counted { to: BufWriter::new(to), bytes: 0 };
        let header = GzBuilder::new().operating_system(OPERATING_SYSTEM).mtime(0);
        Zip(header.write(to, Compression::new(LEVEL)))
    }

    /// Ends it; how many bytes it has.
    ///
    /// # Errors
    /// What the writer says: disk full. What was written until then is no valid file.
    pub fn finish(self) -> io::Result<u64> {
        let mut to = self.0.finish()?;
        to.flush()?;
        Ok(to.bytes)
    }
}

impl<W: Write> Write for Zip<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// What a file holds, packed or not. Of one that ends too early, what there is. A packed file of a few bytes can hold
/// terabytes: more than `most` are not unpacked.
///
/// # Errors
/// What is wrong with a packed file before anything of it could be read; one that holds more than `most` bytes, or more than
/// fits into memory.
pub(super) fn unzip(bytes: &[u8], most: u64) -> Result<Cow<'_, [u8]>, String> {
    if !bytes.starts_with(&MAGIC) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut plain = Vec::new();
    let read = MultiGzDecoder::new(bytes).take(most.saturating_add(1)).read_to_end(&mut plain);
    match read {
        Err(error) if error.kind() == io::ErrorKind::OutOfMemory => {
            Err("unpacked it does not fit into memory".to_owned())
        }
        _ if plain.len() as u64 > most => {
            let want = limits::bytes(most);
            Err(format!("unpacked it has more than {most} bytes: want {want}, unpacked"))
        }
        Err(error) if plain.is_empty() => Err(format!("a broken gzip file ({error})")),
        Ok(_) | Err(_) => Ok(Cow::Owned(plain)),
    }
}
