//! What processes that are no more have left changed, and how it is put back.

use super::change::Undone;
use super::entry::{self, Contents, Line};
use super::{Entry, owner, trusted};
use core::fmt;
use core::time::Duration;
use nix::fcntl::OFlag;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The longest journal that is read. One of ours has a line for each link of a rig.
const LONGEST: u64 = 1 << 20;

/// One entry, or one file that cannot be read, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Where it stands.
    pub file: PathBuf,
    /// The entry; none where the file or a line of it cannot be read.
    pub entry: Option<Entry>,
    /// What became of it.
    pub fate: Fate,
}

/// What became of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It was put back now.
    Restored,
    /// It was as before already.
    Already,
    /// There is nothing left to restore: the interface is gone, or the system has been started anew since.
    Gone,
    /// It would be put back; nothing was touched.
    Waits,
    /// Its process lives, and puts it back itself.
    Living,
    /// It was made in another network namespace, and stays.
    Elsewhere,
    /// It could not be put back, or not be read.
    Failed(String),
}

impl Told {
    /// Whether something is left that should not be.
    pub const fn is_left(&self) -> bool {
        matches!(self.fate, Fate::Failed(_) | Fate::Waits)
    }

    /// Whether something was changed just now, or remains to be.
    pub const fn matters(&self) -> bool {
        self.is_left() || matches!(self.fate, Fate::Restored)
    }

    const fn is_settled(&self) -> bool {
        matches!(self.fate, Fate::Restored | Fate::Already | Fate::Gone)
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        let Some(Entry { process, namespace, change, .. }) = &self.entry else {
            let Fate::Failed(why) = &self.fate else { return write!(f, "{file}") };
            return write!(f, "{file}: {why}; it stays: delete it once all is as it should be");
        };
        match &self.fate {
            Fate::Restored => write!(f, "{change}: restored ({process} had left it changed)"),
            Fate::Already => write!(f, "{change}: is so already ({process} had noted a change)"),
            Fate::Gone => write!(f, "{change}: nothing left to restore ({process} had changed it)"),
            Fate::Waits => write!(f, "{change}: to be restored ({process} has left it changed)"),
            Fate::Living => write!(f, "{change}: left alone, {process} lives and uses it"),
            Fate::Elsewhere => write!(
                f,
                "{change}: left alone, {process} changed it in network namespace {namespace}: run `rigctl restore` there, or \
                 delete {file} when that is gone"
            ),
            Fate::Failed(why) => write!(f, "{change}: not restored: {why}"),
        }
    }
}

/// Puts back what processes that are no more have left changed in this network namespace and noted in `folder`: the last
/// change first, of all of them, for two may have changed one thing in turn; and only those that `which` names. With `dry` nothing is
/// touched.
///
/// # Errors
/// The folder cannot be read, or is not to be trusted.
pub fn restore(
    folder: &Path,
    dry: bool,
    which: impl Fn(&Entry) -> bool,
) -> Result<Vec<Told>, String> {
    let failed = |why: io::Error| format!("{}: {why}", folder.display());
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        _ => trusted(folder).map_err(failed)?,
    }
    let here = owner::namespace().map_err(failed)?;
    let listed = fs::read_dir(folder).map_err(failed)?.map(|file| file.map(|file| file.path()));
    let mut files: Vec<PathBuf> = listed.collect::<io::Result<_>>().map_err(failed)?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort_by_cached_key(|file| core::cmp::Reverse(begun(file)));
    let mut all = Vec::new();
    for file in files {
        match settle(&file, dry, here, &which) {
            Ok(told) => all.extend(told),
            // Its process has undone everything meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                all.push(Told { file, entry: None, fate: Fate::Failed(error.to_string()) });
            }
        }
    }
    Ok(all)
}

/// When the process of a file began, to be compared with that of another: in this boot of the system by its ticks, which nobody sets;
/// before any of it, by the clock as it was when the file was made. What cannot be read comes before all of them.
fn begun(path: &Path) -> (bool, Duration, u64, PathBuf) {
    let first = || {
        let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
        let made = file.metadata().ok()?.created().ok();
        let made = made.and_then(|made| made.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        let mut bytes = Vec::new();
        file.take(LONGEST).read_to_end(&mut bytes).ok()?;
        let process = entry::read(&bytes).outstanding.into_iter().next()?.process;
        let is_of_this_boot = !process.is_of_another_boot();
        let made = if is_of_this_boot { Duration::ZERO } else { made };
        Some((is_of_this_boot, made, process.started))
    };
    let (is_of_this_boot, made, started) = first().unwrap_or_default();
    (is_of_this_boot, made, started, path.to_owned())
}

/// One file.
fn settle(
    path: &Path,
    dry: bool,
    here: u64,
    which: &impl Fn(&Entry) -> bool,
) -> io::Result<Vec<Told>> {
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let mut file = OpenOptions::new().read(true).append(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    // Whoever holds it lives, wherever that is.
    let held = match file.try_lock() {
        Ok(()) => false,
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(error)) => return Err(error),
    };
    let mut bytes = Vec::new();
    (&mut file).take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        // What is behind its beginning would be lost with it.
        return Err(io::Error::other(format!("it has more than {LONGEST} bytes")));
    }
    let Contents { outstanding, whole, unread } = entry::read(&bytes);
    let count = outstanding.len();
    let mut told = Vec::new();
    for entry in outstanding.into_iter().rev().filter(|entry| which(entry)) {
        let fate = if held || entry.process.lives() {
            Fate::Living
        } else if entry.process.is_of_another_boot() && !entry.change.outlives_the_system() {
            Fate::Gone
        } else if entry.namespace != here && entry.change.is_of_its_namespace() {
            Fate::Elsewhere
        } else if dry {
            Fate::Waits
        } else {
            undone(&entry)
        };
        told.push(Told { file: path.to_owned(), entry: Some(entry), fate });
    }
    if !held && !dry {
        let settled = told.iter().filter(|told| told.is_settled());
        let settled: Vec<u64> =
            settled.filter_map(|told| Some(told.entry.as_ref()?.number)).collect();
        if settled.len() == count && unread.is_none() {
            fs::remove_file(path)?;
        } else {
            // Behind a line that is cut none would begin.
            file.set_len(whole as u64)?;
            strike(&mut file, &settled)?;
        }
    }
    told.extend(unread.map(|why| Told {
        file: path.to_owned(),
        entry: None,
        fate: Fate::Failed(why),
    }));
    Ok(told)
}

fn undone(entry: &Entry) -> Fate {
    match entry.change.undo() {
        Ok(Undone::Now) => Fate::Restored,
        Ok(Undone::Already) => Fate::Already,
        Ok(Undone::Gone) => Fate::Gone,
        Err(why) => Fate::Failed(why),
    }
}

/// Strikes out what is settled.
fn strike(file: &mut File, settled: &[u64]) -> io::Result<()> {
    let text: String = settled.iter().map(|&number| Line::Undone(number).text()).collect();
    file.write_all(text.as_bytes())
}
