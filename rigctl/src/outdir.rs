//! The output folder: one per run, and `rig-runs/latest` points at the newest.

use crate::folder::{Folder, Refused, Trouble, Written};
use std::fs::File;
use std::io::{self, BufWriter};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;

/// Where runs go that are given no folder.
const RUNS: &str = "rig-runs";

/// Where the reports and the evidence of one run go.
#[derive(Debug)]
pub struct OutDir(Folder);

impl OutDir {
    /// Makes the folder `named`, or without a name `rig-runs/<stamp>-<seed>`, at which `rig-runs/latest` is pointed then. A run
    /// that is there is moved away where `overwrite` allows it; where to is told.
    ///
    /// # Errors
    /// What cannot be made or written, and what is not to be touched.
    pub fn create(
        named: Option<&Path>,
        overwrite: bool,
        (stamp, seed): (&str, u64),
    ) -> Result<(OutDir, Option<String>), Refused> {
        let (folder, moved) = match named {
            Some(path) => Folder::make(path, "--out", overwrite)?,
            None => (Folder::numbered(Path::new(RUNS), &format!("{stamp}-{seed}"))?, None),
        };
        Ok((OutDir(folder), moved))
    }

    /// The folder of a run that is over.
    ///
    /// # Errors
    /// What is no such folder.
    pub fn reopen(path: &Path) -> Result<OutDir, Refused> {
        Folder::reopen(path).map(OutDir)
    }

    /// The same on a disk that may refuse.
    #[must_use]
    pub fn under(self, trouble: Arc<dyn Trouble>) -> OutDir {
        OutDir(self.0.under(trouble))
    }

    /// Where the folder is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Makes a file below it, folders included.
    ///
    /// # Errors
    /// The system's, with the file's name.
    pub fn new_file(&self, name: &str) -> io::Result<File> {
        self.0.file(name)
    }

    /// The same, for many small writes.
    ///
    /// # Errors
    /// The system's, with the file's name.
    pub fn file(&self, name: &str) -> io::Result<BufWriter<Written>> {
        self.0.writer(name).map(|file| BufWriter::with_capacity(1 << 20, file))
    }

    /// The bytes of a file in it, at most `most` of them.
    ///
    /// # Errors
    /// The system's, with the file's name.
    pub fn read(&self, name: &str, most: u64) -> io::Result<Vec<u8>> {
        self.0.read(name, most)
    }

    /// Writes a whole file in it, or leaves the one that was there.
    ///
    /// # Errors
    /// The system's, with the file's name.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.0.write(name, bytes)
    }

    /// Takes away a file that was written.
    pub fn remove(&self, name: &str) {
        self.0.remove(name);
    }
}

impl AsFd for OutDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
