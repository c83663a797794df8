//! The half that writes, on a thread of its own.

use super::chunk::Chunk;
use super::file::File;
use super::summary::{Counts, Ended};
use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender};

/// What comes from the front half.
#[derive(Debug)]
pub(super) enum Handed {
    /// Frames to write.
    Full(Chunk),
    /// The end, and what each port has seen.
    End(Vec<Counts>),
}

/// What became of the frames of each port, why the file ends early, and its length.
pub(super) type Written = (Vec<Counts>, Option<Ended>, u64);

/// Writes what comes until the end. After a file has ended chunks are still given back: whoever sends goes on, and what it
/// sends is counted. `None` when the front half went away without a word.
pub(super) fn write<W: Write>(
    mut file: File<W>,
    full: &Receiver<Handed>,
    free: &SyncSender<Chunk>,
) -> Option<Written> {
    for handed in full {
        match handed {
            Handed::Full(mut chunk) => {
                file.add(&chunk);
                chunk.clear();
                // Whoever is gone needs none.
                let _gone = free.try_send(chunk);
            }
            Handed::End(offered) => return Some(file.finish(&offered)),
        }
    }
    None
}
