//! How a folder becomes the rig's: made for it, or found empty. One that holds a run is replaced only when asked for, and is
//! kept under another name even then.

use super::owner::{self, Owner};
use super::{FOLDER, Folder, MARK, NoTrouble, SAFELY, make, open_folder};
use core::fmt;
use nix::dir::Dir;
use nix::fcntl::{AT_FDCWD, AtFlags, Flock, FlockArg, OFlag, openat, renameat};
use nix::sys::stat::{Mode, SFlag, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, symlinkat, unlinkat};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

/// Most folders of one name beside each other.
const MOST: u32 = 9_999;
/// How the mark in a folder of the rig's begins.
const OURS: &str = "rig-run/1 ";

/// Why there is no such folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// It must be another one.
    Input(String),
    /// Not now.
    Busy(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Refused::Input(why) | Refused::Busy(why)) = self;
        f.write_str(why)
    }
}

type Claimed<T> = Result<T, Refused>;

impl Folder {
    /// Makes the folder, for what `flag` names (`--out`); one that is there must be empty, or one of the rig's that `overwrite`
    /// allows to be moved away. Where it was moved to is told.
    ///
    /// # Errors
    /// A folder of somebody else's or of other files, one that another run writes into, and what cannot be made.
    pub fn make(path: &Path, flag: &str, overwrite: bool) -> Claimed<(Folder, Option<String>)> {
        let at = Place { path, flag };
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| at.input("is not the name of a folder of its own"))?;
        at.in_no_run(owner::above(path))?;
        let above = at.above(owner::above(path))?;
        let mut moved = None;
        if let Err(error) = mkdirat(&above, name, FOLDER) {
            if error != nix::Error::EEXIST {
                return Err(at.cannot("be made", &error.into()));
            }
            if at.holds_a_run(&above, name)? {
                if !overwrite {
                    let why = "holds a run already";
                    return Err(Refused::Input(format!(
                        "{}\n   = want: a new folder, or --overwrite, which keeps that run as `{name}~1`",
                        at.said(why)
                    )));
                }
                moved = Some(at.move_away(&above, name)?);
                mkdirat(&above, name, FOLDER)
                    .map_err(|error| at.cannot("be made", &error.into()))?;
            }
        }
        let folder = at.mark(&above, name)?;
        let moved = moved.map(|to| path.with_file_name(to).display().to_string());
        Ok((folder, moved))
    }

    /// Makes a folder of this name in another one, or of that name and a number behind it, and points the link `latest` at it.
    ///
    /// # Errors
    /// What cannot be made.
    pub fn numbered(above: &Path, name: &str) -> Claimed<Folder> {
        let path = above.join(name);
        let at = Place { path: &path, flag: "rig-runs" };
        at.in_no_run(above)?;
        let folder = at.own_parent(above)?;
        for number in 1..=MOST {
            let name = if number == 1 { name.to_owned() } else { format!("{name}-{number}") };
            match mkdirat(&folder, &*name, FOLDER) {
                Ok(()) => {
                    let path = above.join(&name);
                    let made = Place { path: &path, ..at }.mark(&folder, &name)?;
                    let latest = point_latest(&folder, &name);
                    latest.map_err(|error| at.cannot("be pointed at by `latest`", &error))?;
                    return Ok(made);
                }
                Err(nix::Error::EEXIST) => {}
                Err(error) => return Err(at.cannot("be made", &error.into())),
            }
        }
        Err(at.input("and all names like it are taken"))
    }

    /// Opens the folder of a run that is over.
    ///
    /// # Errors
    /// A folder that is none of the rig's, or that a run still writes into.
    pub fn reopen(path: &Path) -> Claimed<Folder> {
        let at = Place { path, flag: "folder" };
        // Whoever reads may come through a link, such as rig-runs/latest.
        let path = fs::canonicalize(path).map_err(|error| at.cannot("be read", &error))?;
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| at.input("is no folder of a run"))?;
        let above = at.above(owner::above(&path))?;
        if !at.holds_a_run(&above, name)? {
            return Err(at.input("is empty"));
        }
        let dir = open_folder(&above, name).map_err(|error| at.cannot("be opened", &error))?;
        let mark = openat(&dir, MARK, OFlag::O_RDWR | SAFELY, Mode::empty());
        let mark = mark.map_err(|error| at.cannot("be opened", &error.into()))?;
        let owner = Owner::in_folder(&dir).map_err(|error| at.cannot("be read", &error))?;
        let trouble = Arc::new(NoTrouble);
        let mark = at.lock(File::from(mark))?;
        Ok(Folder { path: at.path.to_owned(), dir, owner, trouble, _mark: mark })
    }
}

/// A folder that is asked for, and by what.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    path: &'a Path,
    flag: &'a str,
}

impl Place<'_> {
    fn said(&self, why: &str) -> String {
        format!("`{} {}` {why}", self.flag, self.path.display())
    }

    fn input(&self, why: &str) -> Refused {
        Refused::Input(format!("{}\n   = want: a new folder, or an empty one", self.said(why)))
    }

    fn cannot(&self, what: &str, error: &io::Error) -> Refused {
        let why = self.said(&format!("cannot {what}: {error}"));
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Refused::Busy(why),
            _ => Refused::Input(why),
        }
    }

    /// The folder that it is to be in, made where it is missing.
    fn above(&self, above: &Path) -> Claimed<OwnedFd> {
        owner::make_all(above).map_err(|error| self.cannot("be made", &error))?;
        let opened = openat(AT_FDCWD, above, OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty());
        opened.map_err(|error| self.cannot("be made", &error.into()))
    }

    /// The same where the rig chose the name itself: nobody else's, and no link.
    fn own_parent(&self, above: &Path) -> Claimed<OwnedFd> {
        let failed = |error: io::Error| self.cannot("be made", &error);
        let up = self.above(owner::above(above))?;
        let name = above.file_name().unwrap_or(above.as_os_str());
        let made = match mkdirat(&up, name, Mode::from_bits_truncate(0o755)) {
            Ok(()) => true,
            Err(nix::Error::EEXIST) => false,
            Err(error) => return Err(failed(error.into())),
        };
        let flags = OFlag::O_DIRECTORY | SAFELY;
        let folder =
            openat(&up, name, flags, Mode::empty()).map_err(|error| failed(error.into()))?;
        if made {
            let given = Owner::in_folder(&up).and_then(|owner| owner.give(&folder));
            given.map_err(failed)?;
        }
        self.nobody_elses(&folder)?;
        Ok(folder)
    }

    fn nobody_elses(&self, folder: &impl AsFd) -> Claimed<()> {
        match owner::stranger(folder) {
            Ok(None) => Ok(()),
            Ok(Some(uid)) => Err(self.input(&format!("belongs to user {uid}"))),
            Err(error) => Err(self.cannot("be read", &error)),
        }
    }

    /// Whether a folder that is there holds a run of the rig's, and not nothing; other files are refused, and so is a run that goes on.
    fn holds_a_run(&self, above: &OwnedFd, name: &str) -> Claimed<bool> {
        let folder = open_folder(above, name).map_err(|error| match error.raw_os_error() {
            Some(nix::libc::ENOTDIR | nix::libc::ELOOP) => self.input("is there, and no folder"),
            _ => self.cannot("be opened", &error),
        })?;
        self.nobody_elses(&folder)?;
        let flags = OFlag::O_RDWR | OFlag::O_NONBLOCK | SAFELY;
        match openat(&folder, MARK, flags, Mode::empty()) {
            Ok(mark) => {
                let mark = self.lock(File::from(mark))?;
                match is_ours(&mark) {
                    Ok(true) => Ok(true),
                    Ok(false) => Err(self.input(&format!(
                        "holds files that are no run of the rig's: `{MARK}` in it is not the rig's mark"
                    ))),
                    Err(error) => Err(self.cannot("be read", &error)),
                }
            }
            Err(nix::Error::ENOENT) => {
                let entries = Dir::from_fd(folder)
                    .and_then(|mut folder| folder.iter().collect::<nix::Result<Vec<_>>>());
                let entries = entries.map_err(|error| self.cannot("be read", &error.into()))?;
                let other = entries.iter().map(|entry| entry.file_name().to_string_lossy());
                match other.filter(|name| !matches!(&**name, "." | "..")).min() {
                    None => Ok(false),
                    Some(file) => Err(self.input(&format!(
                        "holds files that are no run of the rig's, such as `{file}`"
                    ))),
                }
            }
            Err(error) => Err(self.cannot("be opened", &error.into())),
        }
    }

    /// Refuses a place within a folder that holds a run: what is added there looks like a part of that run, and goes where it goes.
    fn in_no_run(&self, above: &Path) -> Claimed<()> {
        let there = above.ancestors().map(|part| if part == "" { Path::new(".") } else { part });
        // What is missing of the way is made later, and holds nothing.
        let Some(there) = there.map(fs::canonicalize).find_map(io::Result::ok) else {
            return Ok(());
        };
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | SAFELY;
        let holds_a_run = |folder: &&Path| {
            let mark = openat(AT_FDCWD, &folder.join(MARK), flags, Mode::empty());
            mark.is_ok_and(|mark| is_ours(&File::from(mark)).unwrap_or(false))
        };
        match there.ancestors().find(holds_a_run) {
            Some(run) => {
                Err(self.input(&format!("is within {}, which holds a run", run.display())))
            }
            None => Ok(()),
        }
    }

    /// Gives a run that is there another name: `night~1`.
    fn move_away(&self, above: &OwnedFd, name: &str) -> Claimed<String> {
        for number in 1..=MOST {
            let to = format!("{name}~{number}");
            if fstatat(above, &*to, AtFlags::AT_SYMLINK_NOFOLLOW).is_ok() {
                continue;
            }
            return match renameat(above, name, above, &*to) {
                Ok(()) => Ok(to),
                Err(error) => Err(self.cannot("be moved away", &error.into())),
            };
        }
        Err(self.input("has been moved away too often"))
    }

    /// Marks a folder that is empty, and locks it.
    fn mark(&self, above: &OwnedFd, name: &str) -> Claimed<Folder> {
        let failed = |error: io::Error| self.cannot("be written", &error);
        let dir = open_folder(above, name).map_err(failed)?;
        let owner = Owner::in_folder(above).map_err(failed)?;
        owner.give(&dir).map_err(failed)?;
        let mut mark = make(&dir, MARK).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => self.busy(),
            _ => failed(error),
        })?;
        owner.give(&mark).map_err(failed)?;
        let text = format!("{OURS}of process {}\n", std::process::id());
        mark.write_all(text.as_bytes()).map_err(failed)?;
        let trouble = Arc::new(NoTrouble);
        Ok(Folder { path: self.path.to_owned(), dir, owner, trouble, _mark: self.lock(mark)? })
    }

    fn lock(&self, mark: File) -> Claimed<Flock<File>> {
        Flock::lock(mark, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| match error {
            nix::Error::EWOULDBLOCK => self.busy(),
            error => self.cannot("be locked", &error.into()),
        })
    }

    fn busy(&self) -> Refused {
        Refused::Busy(self.said("is being written by another run"))
    }
}

/// Whether a file is the mark of a run: any other of its name says nothing about whose the folder is.
fn is_ours(mark: &File) -> io::Result<bool> {
    let mut begin = [0; OURS.len()];
    Ok(mark.metadata()?.is_file()
        && mark.read_at(&mut begin, 0)? == begin.len()
        && begin == *OURS.as_bytes())
}

/// A rename replaces the old link in one step, so that a reader never finds none. What is no link is not replaced.
fn point_latest(folder: &OwnedFd, name: &str) -> io::Result<()> {
    let link = |there: &nix::sys::stat::FileStat| {
        SFlag::from_bits_truncate(there.st_mode) & SFlag::S_IFMT == SFlag::S_IFLNK
    };
    match fstatat(folder, "latest", AtFlags::AT_SYMLINK_NOFOLLOW) {
        Ok(there) if !link(&there) => return Err(io::Error::other("it is no link")),
        _ => {}
    }
    let fresh = format!(".latest.{}", std::process::id());
    symlinkat(name, folder, &*fresh)?;
    let pointed = renameat(folder, &*fresh, folder, "latest");
    if pointed.is_err() {
        let _stale = unlinkat(folder, &*fresh, UnlinkatFlags::NoRemoveDir);
    }
    Ok(pointed?)
}
