//! Keeps two rigs off one device: whoever uses one holds a lock on a file beside the journal, which goes with the process, however
//! it ends.
//!
//! Rigs that keep their state in different folders do not see each other.

use crate::journal::{self, namespace};
use core::fmt::Write as _;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// How much of what a holder says of itself is passed on.
const WORDS: u64 = 1_024;

/// Locks on what a device is reached by, held until this goes.
#[derive(Debug)]
pub struct DeviceLock {
    held: Vec<File>,
}

impl DeviceLock {
    /// Takes all of these, such as [`interface`], or none; the files are in `folder`.
    ///
    /// # Errors
    /// Another process holds one, and which; or the folder cannot be written in.
    pub fn take(folder: &Path, by: &[String]) -> Result<DeviceLock, String> {
        // Of two that want the same at one time the first one gets all of it.
        let mut by = by.to_vec();
        by.sort_unstable();
        by.dedup();
        let held = by.iter().map(|by| one(folder, by)).collect::<Result<_, _>>()?;
        let mut lock = DeviceLock { held };
        lock.say("");
        Ok(lock)
    }

    /// Tells others where the run writes to.
    pub fn writes_to(&mut self, run: &Path) {
        let run = std::path::absolute(run).unwrap_or_else(|_| run.to_owned());
        self.say(&format!(", whose run folder is {}", run.display().to_string().escape_debug()));
    }

    /// Whoever cannot read it is told of another process all the same.
    fn say(&mut self, more: &str) {
        let text = format!("process {}{more}", std::process::id());
        for file in &mut self.held {
            let _unsaid = file
                .set_len(0)
                .and_then(|()| file.rewind())
                .and_then(|()| file.write_all(text.as_bytes()));
        }
    }
}

/// What a device at an interface of this network namespace is known by.
///
/// # Errors
/// There is no /proc.
pub fn interface(name: &str) -> io::Result<String> {
    Ok(format!("interface {name} of network namespace {}", namespace()?))
}

/// The lock of one name.
fn one(folder: &Path, by: &str) -> Result<File, String> {
    let cannot = |why: io::Error| {
        format!(
            "cannot hold a lock in {} for {}: {why}; RIGCTL_STATE names another folder",
            folder.display(),
            by.escape_debug()
        )
    };
    journal::prepare(folder).map_err(cannot)?;
    let mut open = OpenOptions::new();
    open.read(true).write(true).create(true).truncate(false).mode(0o600);
    open.custom_flags(nix::fcntl::OFlag::O_NOFOLLOW.bits());
    let mut file = open.open(folder.join(file_name(by))).map_err(cannot)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let mut words = String::new();
            let _unread = (&mut file).take(WORDS).read_to_string(&mut words);
            let holder = if words.is_empty() { "another process" } else { &words };
            Err(format!("{} is in use by {}", by.escape_debug(), holder.escape_debug()))
        }
        Err(TryLockError::Error(error)) => Err(cannot(error)),
    }
}

/// A name may have anything in it: what is no letter, digit, `.`, `_` or `-` stands as `%` and its bytes.
fn file_name(by: &str) -> String {
    let mut name = String::new();
    for byte in by.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' => name.push(byte.into()),
            b' ' => name.push('_'),
            other => {
                let _infallible = write!(name, "%{other:02x}");
            }
        }
    }
    name + ".lock"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[&str]) -> Vec<String> {
        all.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn whoever_comes_second_is_told_who_holds_it_and_gets_it_once_that_is_over() {
        let desk = tempfile::tempdir().expect("a folder");
        let folder = desk.path().join("journal");
        let mut first = DeviceLock::take(&folder, &names(&["b", "a"])).expect("free");
        let own = std::process::id();
        let second = DeviceLock::take(&folder, &names(&["c", "b"])).map(drop);
        assert_eq!(second, Err(format!("b is in use by process {own}")));
        first.writes_to(Path::new("/runs/a longer one"));
        first.writes_to(Path::new("/runs/1"));
        let second = DeviceLock::take(&folder, &names(&["a"])).map(drop);
        assert_eq!(
            second,
            Err(format!("a is in use by process {own}, whose run folder is /runs/1"))
        );
        DeviceLock::take(&folder, &names(&["c"])).expect("of one that was refused nothing is held");
        drop(first);
        DeviceLock::take(&folder, &names(&["c", "b", "a"])).expect("free again");
    }

    #[test]
    fn a_folder_that_is_none_is_refused_and_a_name_is_never_a_path() {
        let desk = tempfile::tempdir().expect("a folder");
        let file = desk.path().join("file");
        std::fs::write(&file, "").expect("writable");
        let refused = DeviceLock::take(&file, &names(&["a"])).map(drop).expect_err("no folder");
        assert!(refused.contains("RIGCTL_STATE"), "{refused}");
        assert_eq!(file_name("port ../0000:41:00.0"), "port_..%2f0000%3a41%3a00.0.lock");
    }
}
