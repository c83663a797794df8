//! How a folder becomes the rig's: made for it, or found empty. One that holds a run is replaced only when asked for, and is
//! kept under another name even then.

use super::owner::{self, Owner};
use super::{FOLDER, Folder, MARK, MOST, NoTrouble, SAFELY, beside, make, open_folder};
use core::fmt;
use nix::NixPath;
use nix::dir::Dir;
use nix::fcntl::{
    AT_FDCWD, AtFlags, Flock, FlockArg, OFlag, RenameFlags, openat, renameat, renameat2,
};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, linkat, symlinkat, unlinkat};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
        match mkdirat(&above, name, FOLDER) {
            Ok(()) => return Ok((at.mark_new(&above, name)?, None)),
            Err(nix::Error::EEXIST) => {}
            Err(error) => return Err(at.cannot("be made", &error.into())),
        }
        // Held until the new one is: of two runs at once one is told of the other.
        let Some(_held) = at.run_in(&above, name)? else {
            return Ok((at.mark(&above, name)?, None));
        };
        if !overwrite {
            let why = at.said("holds a run already");
            return Err(Refused::Input(format!(
                "{why}\n   = want: a new folder, or --overwrite, which keeps that run as `{name}~1`"
            )));
        }
        let to = at.move_away(&above, name)?;
        let made = mkdirat(&above, name, FOLDER).map_err(|error| match error {
            nix::Error::EEXIST => at.busy(),
            error => at.cannot("be made", &error.into()),
        });
        let made = made.and_then(|()| at.mark_new(&above, name));
        let folder = made.inspect_err(|_| {
            let _stays_there = give_back(&above, &*to, name);
        })?;
        let moved = path.with_file_name(to);
        let told = moved.display().to_string();
        Ok((Folder { moved: Some(moved), ..folder }, Some(told)))
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
                    let made = Place { path: &path, ..at }.mark_new(&folder, &name)?;
                    let latest = point_latest(&folder, &name);
                    return match latest {
                        Ok(()) => Ok(made),
                        Err(error) => {
                            made.abandon();
                            Err(at.cannot("be pointed at by `latest`", &error))
                        }
                    };
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
        let mark = at.run_in(&above, name)?.ok_or_else(|| at.input("is empty"))?;
        let dir = open_folder(&above, name).map_err(|error| at.cannot("be opened", &error))?;
        let owner = Owner::in_folder(&dir).map_err(|error| at.cannot("be read", &error))?;
        let trouble = Arc::new(NoTrouble);
        Ok(Folder { path: at.path.to_owned(), dir, owner, trouble, moved: None, _mark: mark })
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

    /// The mark of the run that a folder holds, locked, or none where it holds nothing; other files are refused, and so is a run that
    /// goes on.
    fn run_in(&self, above: &OwnedFd, name: &str) -> Claimed<Option<Flock<File>>> {
        let folder = open_folder(above, name).map_err(|error| match error.raw_os_error() {
            Some(nix::libc::ENOTDIR | nix::libc::ELOOP) => self.input("is there, and no folder"),
            // It was there: another run has just moved it away, and makes its own.
            Some(nix::libc::ENOENT) if self.flag != "folder" => self.busy(),
            _ => self.cannot("be opened", &error),
        })?;
        self.nobody_elses(&folder)?;
        let flags = OFlag::O_RDWR | OFlag::O_NONBLOCK | SAFELY;
        match openat(&folder, MARK, flags, Mode::empty()) {
            Ok(mark) => {
                let mark = self.lock(File::from(mark))?;
                // Whoever had it before may have moved it away, and another run may have that name by now.
                let there = fstatat(above, name, AtFlags::AT_SYMLINK_NOFOLLOW);
                let same = |there: &FileStat| {
                    fstat(&folder)
                        .is_ok_and(|own| (own.st_dev, own.st_ino) == (there.st_dev, there.st_ino))
                };
                if !there.is_ok_and(|there| same(&there)) {
                    return Err(self.busy());
                }
                match is_ours(&mark) {
                    Ok(true) => Ok(Some(mark)),
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
                let other = other.filter(|name| !matches!(&**name, "." | ".."));
                // What was to be a mark is none, and nobody's.
                let begun = format!(".{MARK}.");
                match other.filter(|name| !name.starts_with(&begun)).min() {
                    None => Ok(None),
                    Some(file) if file == MARK => Err(self.busy()),
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
        match run_around(above) {
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
            match renameat(above, name, above, &*to) {
                Ok(()) => return Ok(to),
                // It was taken just now.
                Err(nix::Error::ENOTEMPTY | nix::Error::EEXIST) => {}
                Err(error) => return Err(self.cannot("be moved away", &error.into())),
            }
        }
        Err(self.input("has been moved away too often"))
    }

    /// The same of a folder that was just made, which is taken away again where it cannot be marked.
    fn mark_new(&self, above: &OwnedFd, name: &str) -> Claimed<Folder> {
        self.mark(above, name).inspect_err(|_| {
            let _gone = unlinkat(above, name, UnlinkatFlags::RemoveDir);
        })
    }

    /// Marks a folder that is empty, and locks it. The mark is whole and locked when it gets its name: what is begun is never taken
    /// for one, neither by another run nor after the power went or the disk was full.
    fn mark(&self, above: &OwnedFd, name: &str) -> Claimed<Folder> {
        let failed = |error: io::Error| match error.kind() {
            // It was there: another run has given the name back.
            io::ErrorKind::NotFound => self.busy(),
            _ => self.cannot("be written", &error),
        };
        let dir = open_folder(above, name).map_err(failed)?;
        let owner = Owner::in_folder(above).map_err(failed)?;
        owner.give(&dir).map_err(failed)?;
        let (begun, file) = beside(MARK.as_ref(), |begun| make(&dir, begun)).map_err(failed)?;
        let whole = || {
            let mut mark = self.lock(file)?;
            let text = format!("{OURS}of process {}\n", std::process::id());
            let written = mark.write_all(text.as_bytes()).and_then(|()| mark.sync_all());
            written.and_then(|()| owner.give(&*mark)).map_err(failed)?;
            match linkat(&dir, &*begun, &dir, MARK, AtFlags::empty()) {
                // There are file systems on which a file has one name.
                Err(nix::Error::EPERM | nix::Error::EOPNOTSUPP) => {
                    renameat(&dir, &*begun, &dir, MARK)
                }
                linked => linked,
            }
            .map_err(|error| match error {
                nix::Error::EEXIST => self.busy(),
                error => failed(error.into()),
            })?;
            Ok(mark)
        };
        let mark = whole();
        let _renamed = unlinkat(&dir, &*begun, UnlinkatFlags::NoRemoveDir);
        let (path, trouble) = (self.path.to_owned(), Arc::new(NoTrouble));
        Ok(Folder { path, dir, owner, trouble, moved: None, _mark: mark? })
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

/// Gives a folder that was moved away its name again, unless another run has that by now: a folder that is empty yet would be
/// replaced by a plain rename.
pub(super) fn give_back<P: NixPath + ?Sized>(
    above: impl AsFd,
    from: &P,
    name: &P,
) -> nix::Result<()> {
    renameat2(&above, from, &above, name, RenameFlags::RENAME_NOREPLACE)
}

/// The folder of a run that a folder is, or is in.
fn run_around(folder: &Path) -> Option<PathBuf> {
    let there = folder.ancestors().map(|part| if part == "" { Path::new(".") } else { part });
    // What is missing of the way is made later, and holds nothing.
    let there = there.map(fs::canonicalize).find_map(io::Result::ok)?;
    let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | SAFELY;
    let holds_a_run = |folder: &&Path| {
        let mark = openat(AT_FDCWD, &folder.join(MARK), flags, Mode::empty());
        mark.is_ok_and(|mark| is_ours(&File::from(mark)).unwrap_or(false))
    };
    there.ancestors().find(holds_a_run).map(Path::to_owned)
}

/// Refuses a report in the folder `out` of the run that is to be, or of another run: it would stand in the place of a file of that run's, or
/// look like one. `junit.xml` is what a run has there anyway.
///
/// # Errors
/// Where it would be.
pub fn is_beside_runs(report: &Path, out: Option<&Path>) -> io::Result<()> {
    if report.file_name().is_some_and(|name| name == "junit.xml") {
        return Ok(());
    }
    let real = |path: &Path| match (fs::canonicalize(path), path.file_name()) {
        (Err(_), Some(name)) => {
            let above = owner::above(path);
            fs::canonicalize(above).unwrap_or_else(|_| above.to_owned()).join(name)
        }
        (path_or, _) => path_or.unwrap_or_else(|_| path.to_owned()),
    };
    let above = owner::above(report);
    let in_out = |out: &&Path| real(above).starts_with(real(out));
    match out.filter(in_out).map(Path::to_owned).or_else(|| run_around(above)) {
        Some(run) => Err(io::Error::other(format!("{} holds a run", run.display()))),
        None => Ok(()),
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
    let link = |there: &FileStat| {
        SFlag::from_bits_truncate(there.st_mode) & SFlag::S_IFMT == SFlag::S_IFLNK
    };
    match fstatat(folder, "latest", AtFlags::AT_SYMLINK_NOFOLLOW) {
        Ok(there) if !link(&there) => return Err(io::Error::other("it is no link")),
        _ => {}
    }
    let (fresh, ()) = beside("latest".as_ref(), |fresh| Ok(symlinkat(name, folder, fresh)?))?;
    let pointed = renameat(folder, &*fresh, folder, "latest");
    if pointed.is_err() {
        let _stale = unlinkat(folder, &*fresh, UnlinkatFlags::NoRemoveDir);
    }
    Ok(pointed?)
}
