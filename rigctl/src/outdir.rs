//! The output directory: one per run, and `rig-runs/latest` points at the newest.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Where the reports and the evidence of one run go.
#[derive(Debug)]
pub struct OutDir {
    path: PathBuf,
}

impl OutDir {
    /// Makes the directory, and proves that it can be written before anything runs. Without a name it is
    /// `rig-runs/<stamp>-<seed>`, and `rig-runs/latest` is pointed at it.
    ///
    /// # Errors
    /// What cannot be made or written, with the system's reason.
    pub fn create(named: Option<&Path>, stamp: &str, seed: u64) -> Result<OutDir, String> {
        let path = named
            .map_or_else(|| PathBuf::from(format!("rig-runs/{stamp}-{seed}")), Path::to_path_buf);
        let cannot =
            |what: &str, error: io::Error| format!("cannot {what} {}: {error}", path.display());
        fs::create_dir_all(&path).map_err(|e| cannot("make the output directory", e))?;
        let probe = path.join(".writable");
        fs::write(&probe, b"x").map_err(|e| cannot("write in the output directory", e))?;
        fs::remove_file(&probe).map_err(|e| cannot("write in the output directory", e))?;
        // What an earlier run left in the same folder would be taken for this one's.
        for folder in ["evidence", "readings"].map(|name| path.join(name)) {
            if folder.exists() {
                fs::remove_dir_all(&folder)
                    .map_err(|e| cannot("empty the folders of evidence and readings in", e))?;
            }
        }
        if named.is_none() {
            point_latest(&path).map_err(|e| cannot("point rig-runs/latest at", e))?;
        }
        Ok(OutDir { path })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file below it for writing, folders included.
    ///
    /// # Errors
    /// The system's, with the file's name.
    pub fn file(&self, name: &str) -> io::Result<BufWriter<File>> {
        let path = self.path.join(name);
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(named)?;
        }
        File::create(&path).map(|file| BufWriter::with_capacity(1 << 20, file)).map_err(named)
    }

    /// Writes a whole file below it. A file that could not be written whole is taken away again: half a report is
    /// mistaken for one.
    ///
    /// # Errors
    /// The system's, with the file's name.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let written = self.file(name).and_then(|mut file| {
            file.write_all(bytes)?;
            file.flush()
        });
        written.map_err(|error| {
            let path = self.path.join(name);
            let _gone = fs::remove_file(&path);
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })
    }
}

#[cfg(unix)]
fn point_latest(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    // A rename replaces the old link in one step, so that a reader never finds none.
    let fresh = parent.join(".latest");
    let _stale = fs::remove_file(&fresh);
    std::os::unix::fs::symlink(name, &fresh)?;
    fs::rename(&fresh, parent.join("latest"))
}
