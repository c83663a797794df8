//! A folder that the rig made for itself and holds while it runs.
//!
//! It is marked as the rig's and locked, and all in it is reached through its own handle: no link that somebody plants leads
//! out of it, no file that is there already is opened, and a folder that is moved away meanwhile stays the same one. Nothing
//! is ever deleted that this process did not write.

mod claim;
mod owner;
mod trouble;

pub use claim::{Refused, is_beside_runs};
pub use trouble::{None as NoTrouble, Touch, Trouble, Written};

use core::fmt;
use nix::dir::Dir;
use nix::fcntl::{AT_FDCWD, Flock, OFlag, openat, renameat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};
use owner::Owner;
use rig_lab::file;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file that says a folder is the rig's; whoever has it locked writes there.
const MARK: &str = ".rigctl";
/// For the owner, and to be read by their group: captures of protected links are in it.
const FOLDER: Mode = Mode::from_bits_truncate(0o750);
const FILE: Mode = Mode::from_bits_truncate(0o640);
/// Most files or folders of one name beside each other.
const MOST: u32 = 9_999;
/// Neither through a link nor into another program.
const SAFELY: OFlag = OFlag::O_NOFOLLOW.union(OFlag::O_CLOEXEC);

/// A marked folder, locked by this process.
pub struct Folder {
    path: PathBuf,
    dir: OwnedFd,
    owner: Owner,
    trouble: Arc<dyn Trouble>,
    /// Where the run is now that had its place.
    moved: Option<PathBuf>,
    /// Let go with the process, however that ends.
    _mark: Flock<File>,
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Folder").field(&self.path).finish()
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }
}

impl Folder {
    /// The same folder on a disk that may refuse.
    #[must_use]
    pub fn under(self, trouble: Arc<dyn Trouble>) -> Folder {
        Folder { trouble, ..self }
    }

    /// Where it was made.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a file below it, folders included, and opens it for writing and reading.
    ///
    /// # Errors
    /// The system's, with the file's name: also where there is such a file already.
    pub fn file(&self, name: &str) -> io::Result<File> {
        let (folder, last) = self.folder_of(name)?;
        let made = self.trouble.before(Touch::Make).and_then(|()| make(&folder, last));
        let made = made.and_then(|file| self.owner.give(&file).map(|()| file));
        made.map_err(|error| self.named(name, &error))
    }

    /// The bytes of a file in it, at most `most` of them.
    ///
    /// # Errors
    /// The system's, with the file's name; a link, or what is no file.
    pub fn read(&self, name: &str, most: u64) -> io::Result<Vec<u8>> {
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | SAFELY;
        let read = || {
            let file = File::from(openat(&self.dir, name, flags, Mode::empty())?);
            if !file.metadata()?.is_file() {
                return Err(io::Error::other("it is no file"));
            }
            file::bounded(file, most).map_err(|unread| io::Error::other(unread.to_string()))
        };
        read().map_err(|error| self.named(name, &error))
    }

    /// The same, to write to.
    ///
    /// # Errors
    /// As [`Folder::file`].
    pub fn writer(&self, name: &str) -> io::Result<Written> {
        self.file(name).map(|file| Written { file, trouble: Arc::clone(&self.trouble) })
    }

    /// Writes a whole file in it: beside, to the disk, and then under its name, so that under that name there is never half of
    /// one. One of that name is replaced.
    ///
    /// # Errors
    /// The system's, with the file's name.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let put = || {
            let (folder, last) = self.folder_of(name)?;
            replace(&folder, last.as_ref(), bytes, self.owner, &self.trouble)
        };
        put().map_err(|error| self.named(name, &error))
    }

    /// Takes away a file that this process wrote, and its folder where that is empty then.
    pub fn remove(&self, name: &str) {
        let Ok((folder, last)) = self.folder_of(name) else { return };
        // One that cannot be taken away does no harm but take room.
        let _gone = unlinkat(&folder, last, UnlinkatFlags::NoRemoveDir);
        if let Some((parent, _)) = name.rsplit_once('/')
            && let Ok((above, parent)) = self.folder_of(parent)
        {
            let _empty = unlinkat(&above, parent, UnlinkatFlags::RemoveDir);
        }
    }

    /// Takes an empty folder away again: what it was made for did not come about. The run that had its place gets it back.
    pub fn abandon(self) {
        let _gone = unlinkat(&self.dir, MARK, UnlinkatFlags::NoRemoveDir);
        if let (Ok(()), Some(moved)) = (std::fs::remove_dir(&self.path), &self.moved) {
            // Where it cannot, it stays under the name that it has.
            let _back = claim::give_back(AT_FDCWD, moved, &self.path);
        }
    }

    /// The folder that a file is in, made where it is missing, and the file's own name.
    fn folder_of<'a>(&self, name: &'a str) -> io::Result<(OwnedFd, &'a str)> {
        let mut folder = self.dir.try_clone()?;
        let mut parts = name.split('/').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                return Ok((folder, part));
            }
            folder = self.inner(&folder, part).map_err(|error| self.named(name, &error))?;
        }
        Err(io::ErrorKind::InvalidFilename.into())
    }

    fn inner(&self, above: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
        let made = match mkdirat(above, name, FOLDER) {
            Ok(()) => true,
            Err(nix::Error::EEXIST) => false,
            Err(error) => return Err(error.into()),
        };
        let folder = open_folder(above, name)?;
        if made {
            self.owner.give(&folder)?;
        }
        Ok(folder)
    }

    fn named(&self, name: &str, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", self.path.join(name).display()))
    }
}

/// Writes a whole file beside the one that has its name, and puts it in its place.
///
/// # Errors
/// The system's, with the file's name.
pub fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let put = || {
        is_replaceable(path)?;
        let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        let above = owner::above(path);
        let folder = Dir::open(above, OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?;
        let trouble: Arc<dyn Trouble> = Arc::new(NoTrouble);
        replace(&folder, name, bytes, Owner::beside(above), &trouble)
    };
    put().map_err(|error: io::Error| {
        io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    })
}

/// Whether a report may be put there: where there is nothing, an empty file or another report (markup, which begins with `<`), also
/// behind a link, which is replaced then. A device or a pipe is neither overwritten nor waited for, and a file of another kind, such
/// as a suite, was named by mistake.
///
/// # Errors
/// What is there instead.
pub fn is_replaceable(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(there) if !there.is_file() => Err(io::Error::other("it is there, and no file")),
        Ok(there) if there.len() > 0 => {
            let mut first = [0];
            File::open(path)?.read_exact(&mut first)?;
            match first {
                [b'<'] => Ok(()),
                _ => Err(io::Error::other("it is there, and no report")),
            }
        }
        _ => Ok(()),
    }
}

/// Whether a capture may be written there: where there is nothing, an empty file, another capture (a section header begins it), or
/// no file at all but a pipe or a device. A file of another kind was named by mistake.
///
/// # Errors
/// What is there instead.
pub fn takes_capture(path: &Path) -> io::Result<()> {
    const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
    match std::fs::metadata(path) {
        Ok(there) if there.is_file() && there.len() > 0 => {
            let mut first = Vec::new();
            File::open(path)?.take(4).read_to_end(&mut first)?;
            match first == SECTION {
                true => Ok(()),
                false => Err(io::Error::other("it is there, and no capture")),
            }
        }
        _ => Ok(()),
    }
}

fn replace(
    folder: &impl AsFd,
    name: &OsStr,
    bytes: &[u8],
    owner: Owner,
    trouble: &Arc<dyn Trouble>,
) -> io::Result<()> {
    trouble.before(Touch::Make)?;
    let (beside, file) = beside(name, |beside| make(folder, beside))?;
    let write = || {
        owner.give(&file)?;
        let mut file = Written { file, trouble: Arc::clone(trouble) };
        file.write_all(bytes)?;
        file.file.sync_all()?;
        trouble.before(Touch::Rename)?;
        Ok(renameat(folder, &*beside, folder, name)?)
    };
    let written: io::Result<()> = write();
    if written.is_err() {
        let _half = unlinkat(folder, &*beside, UnlinkatFlags::NoRemoveDir);
    }
    written
}

/// Makes something under a name of its own, beside the name that it is to get, once it is whole. What is there already stays: it
/// was left by a process that was killed and had this one's number, as the first one of a container always has.
fn beside<T>(
    name: &OsStr,
    mut make: impl FnMut(&OsStr) -> io::Result<T>,
) -> io::Result<(OsString, T)> {
    let mut own = OsString::from(".");
    own.push(name);
    own.push(format!(".{}", std::process::id()));
    for number in 1.. {
        let mut beside = own.clone();
        if number > 1 {
            beside.push(format!("-{number}"));
        }
        match make(&beside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < MOST => {}
            made => return made.map(|made| (beside, made)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn make(folder: &impl AsFd, name: impl AsRef<OsStr>) -> io::Result<File> {
    let flags = OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_EXCL | SAFELY;
    Ok(File::from(openat(folder, name.as_ref(), flags, FILE)?))
}

fn open_folder(above: &impl AsFd, name: &str) -> io::Result<OwnedFd> {
    Ok(openat(above, name, OFlag::O_RDONLY | OFlag::O_DIRECTORY | SAFELY, Mode::empty())?)
}

#[cfg(test)]
mod tests;
