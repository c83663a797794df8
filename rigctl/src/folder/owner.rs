//! Whose what the rig writes is: the user's who runs it; under sudo the user's who called that, in folders of theirs.

use nix::fcntl::{AT_FDCWD, OFlag, openat};
use nix::sys::stat::{Mode, fstat};
use nix::unistd::{Gid, Uid, fchown, geteuid};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// To whom files are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner(Option<(u32, u32)>);

impl Owner {
    /// The owner of what comes into a folder.
    pub(super) fn in_folder(folder: &impl AsFd) -> io::Result<Owner> {
        Owner::in_folder_for(folder, sudo())
    }

    /// The same where sudo was called by that user.
    pub(super) fn in_folder_for(folder: &impl AsFd, sudo: Option<(u32, u32)>) -> io::Result<Owner> {
        let uid = fstat(folder)?.st_uid;
        Ok(Owner(sudo.filter(|&(user, _)| user == uid)))
    }

    /// The same, by the folder's path.
    pub(super) fn beside(folder: &Path) -> Owner {
        let uid = std::fs::metadata(folder).map(|there| there.uid());
        Owner(sudo().filter(|&(user, _)| uid.is_ok_and(|uid| uid == user)))
    }

    /// Gives them something that was just made.
    pub(super) fn give(self, what: &impl AsFd) -> io::Result<()> {
        match self.0 {
            Some((uid, gid)) => {
                Ok(fchown(what, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?)
            }
            None => Ok(()),
        }
    }
}

/// Makes a folder and those that it is in, each for the owner of the one above it.
pub(super) fn make_all(path: &Path) -> io::Result<()> {
    let over = above(path);
    // Who may not even look at the folder that they are in hears of it when it is opened.
    if path.is_dir() || over == path {
        return Ok(());
    }
    make_all(over)?;
    match std::fs::create_dir(path) {
        Ok(()) => Owner::beside(over).give(&just_made(path)?),
        // Somebody else made it meanwhile.
        Err(_) if path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// A folder that was made a moment ago. Whoever owns the one above it may have put a link in its place, and would be given what
/// that points at.
fn just_made(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    Ok(openat(AT_FDCWD, path, flags, Mode::empty())?)
}

/// The user whose folder this is, if neither this process's own nor that of the user who called sudo.
pub(super) fn stranger(folder: &impl AsFd) -> io::Result<Option<u32>> {
    let uid = fstat(folder)?.st_uid;
    let own = uid == geteuid().as_raw() || sudo().is_some_and(|(user, _)| user == uid);
    Ok((!own).then_some(uid))
}

/// The folder that a path is in.
pub(super) fn above(path: &Path) -> &Path {
    path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The user who called sudo, where root runs this for them.
fn sudo() -> Option<(u32, u32)> {
    let number = |name: &str| std::env::var(name).ok()?.parse().ok();
    let user = (number("SUDO_UID")?, number("SUDO_GID")?);
    geteuid().is_root().then_some(user)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_put_in_the_place_of_a_folder_is_not_given_away() {
        let desk = tempfile::tempdir().expect("a temporary folder");
        let (made, theirs) = (desk.path().join("made"), desk.path().join("theirs"));
        std::fs::create_dir(&made).expect("writable");
        just_made(&made).expect("a folder");
        for target in [desk.path(), Path::new("/dev/null")] {
            std::os::unix::fs::symlink(target, &theirs).expect("writable");
            just_made(&theirs).expect_err("a link");
            std::fs::remove_file(&theirs).expect("writable");
        }
    }
}
