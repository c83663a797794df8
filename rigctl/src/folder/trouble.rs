//! What may go wrong with a disk, as an argument: nothing in use, a schedule in tests.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

/// Asked before each thing that is done in a folder.
pub trait Trouble: Send + Sync {
    /// Whether the disk refuses this.
    ///
    /// # Errors
    /// What the system would say.
    fn before(&self, what: Touch) -> io::Result<()>;
}

/// What is done in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// A file is made.
    Make,
    /// Bytes are written.
    Write,
    /// A whole file gets its name.
    Rename,
}

/// The disk as it is.
#[derive(Debug)]
pub struct None;

impl Trouble for None {
    fn before(&self, _: Touch) -> io::Result<()> {
        Ok(())
    }
}

/// A file of a folder.
pub struct Written {
    pub(super) file: File,
    pub(super) trouble: Arc<dyn Trouble>,
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.trouble.before(Touch::Write)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
