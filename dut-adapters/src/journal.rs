//! What this process has changed outside itself and not put back yet, in a file that outlives it: a run that is killed leaves
//! word of what is to be restored.
//!
//! A change is written and synced before it is made, and struck out after it was undone. So what stands here may not have
//! been done yet, and to undo it once more does no harm. Each process has a file of its own, which it keeps locked.

mod change;
mod entry;
mod left;
mod owner;

pub use change::Change;
pub use entry::Entry;
pub use left::{Fate, Told, restore};
pub use owner::{Owner, namespace};

use entry::Line;
use nix::unistd::geteuid;
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The journal of this process.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    book: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    /// Open while something is to be undone.
    file: Option<(PathBuf, File)>,
    next: u64,
    outstanding: BTreeMap<u64, Change>,
}

/// The number of a change that was noted.
pub type Number = u64;

impl Journal {
    /// One in `folder`, which is made when there is something to write.
    pub fn at(folder: &Path) -> Journal {
        Journal { folder: folder.to_owned(), book: Mutex::default() }
    }

    /// Notes changes that are about to be made. When this returns they are on the disk.
    ///
    /// # Errors
    /// They cannot be written, so that they must not be made.
    pub fn note(&self, changes: Vec<Change>) -> Result<Vec<Number>, String> {
        let noted = self.try_note(changes);
        noted.map_err(|why| {
            format!(
                "cannot write down in {} what is about to be changed, so it is not changed: {why}; RIGCTL_STATE names \
                 another folder",
                self.folder.display()
            )
        })
    }

    fn try_note(&self, changes: Vec<Change>) -> io::Result<Vec<Number>> {
        let mut book = self.book();
        let (process, namespace) = (Owner::this()?, namespace()?);
        if book.file.is_none() {
            book.file = Some(open(&self.folder, &process)?);
        }
        let mut text = String::new();
        let mut noted = BTreeMap::new();
        for (number, change) in (book.next..).zip(changes) {
            let entry = Entry { number, process: process.clone(), namespace, change };
            text.push_str(&Line::Changes(entry.clone()).text());
            noted.insert(number, entry.change);
        }
        if let Some((_, file)) = &mut book.file {
            let before = file.metadata()?.len();
            if let Err(error) = file.write_all(text.as_bytes()).and_then(|()| file.sync_all()) {
                // Half a line would make the next one unreadable. Nothing of it is outstanding: the change is not made.
                let _torn = file.set_len(before);
                book.strike(&[]);
                return Err(error);
            }
        }
        let numbers: Vec<Number> = noted.keys().copied().collect();
        book.next += Number::try_from(numbers.len()).unwrap_or_default();
        book.outstanding.append(&mut noted);
        Ok(numbers)
    }

    /// Makes a change that was noted. Nothing is changed any more once [`Journal::close`] has been called.
    pub fn make<T>(&self, change: impl FnOnce() -> T) -> T {
        let _open = self.book();
        change()
    }

    /// Strikes out changes that were undone.
    pub fn strike(&self, numbers: &[Number]) {
        self.book().strike(numbers);
    }

    /// Notes of a change that it was read back as it was written: what stands there otherwise, from now on, is of another hand.
    pub fn stands(&self, number: Number) {
        let mut book = self.book();
        if let Some(change) = book.outstanding.get_mut(&number) {
            change.stands();
        }
        if let Some((_, file)) = &mut book.file {
            // Without the line the change is undone whatever stands there.
            let _unsaid = file.write_all(Line::Stands(number).text().as_bytes());
        }
    }

    /// Undoes whatever is outstanding, the last change first, for a process that ends now: whoever is about to change
    /// something waits for that end. What could not be undone stays written, and is told.
    pub fn close(&self) -> Vec<String> {
        let mut book = self.book();
        let failed = book.undo(|_| true);
        // It stays closed.
        core::mem::forget(book);
        failed
    }

    /// Undoes what `which` names of what is outstanding, the last change first: what could not be undone while the way to a device was
    /// lost. What still cannot stays written, and is told.
    pub fn put_back(&self, which: impl Fn(&Change) -> bool) -> Vec<String> {
        self.book().undo(which)
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn undo(&mut self, which: impl Fn(&Change) -> bool) -> Vec<String> {
        let (mut undone, mut failed) = (Vec::new(), Vec::new());
        for (&number, change) in self.outstanding.iter().rev().filter(|(_, change)| which(change)) {
            match change.undo() {
                Ok(_) => undone.push(number),
                Err(why) => failed.push(format!("{change}: not restored: {why}")),
            }
        }
        self.strike(&undone);
        failed
    }

    fn strike(&mut self, numbers: &[Number]) {
        let mut text = String::new();
        for number in numbers {
            if self.outstanding.remove(number).is_some() {
                text.push_str(&Line::Undone(*number).text());
            }
        }
        let Some((path, mut file)) = self.file.take() else { return };
        // What stays written is undone once more by whoever finds it, which does no harm.
        if self.outstanding.is_empty() {
            let _stays = fs::remove_file(&path);
        } else {
            let _stays = file.write_all(text.as_bytes());
            self.file = Some((path, file));
        }
    }
}

/// The file of this process, which nobody else has.
fn open(folder: &Path, process: &Owner) -> io::Result<(PathBuf, File)> {
    prepare(folder)?;
    let path = folder.join(process.file_name());
    let file = loop {
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path)?;
        file.lock()?;
        // Who restores may have come in between, and found it empty.
        if file.metadata()?.nlink() > 0 {
            break file;
        }
    };
    // Else the name could be lost with the power though what stands below it is on the disk.
    File::open(folder)?.sync_all()?;
    Ok((path, file))
}

/// Makes the folder where there is none.
///
/// # Errors
/// It cannot be made, or somebody else could write there.
pub(crate) fn prepare(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    trusted(folder)
}

/// Refuses a folder in which somebody else could write: what stands there is done with the rights of who reads it.
fn trusted(folder: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(folder)?;
    let own = geteuid().as_raw();
    if !found.is_dir() {
        return Err(io::Error::other("it is no folder"));
    }
    if found.uid() != own {
        return Err(io::Error::other(format!(
            "it belongs to user {}, and not to {own}",
            found.uid()
        )));
    }
    if found.mode() & 0o022 != 0 {
        return Err(io::Error::other("others may write there: `chmod go-w`"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
