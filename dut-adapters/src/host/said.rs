//! What a host has said: files of `/sys` and what programs print, by path. Kept as text, or read from a folder as it is asked for.
//!
//! Invariants: nothing outside the folder is read, whatever its links say; nothing is longer than a file of `/sys` can be.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

/// The longest file that is read, in bytes. What `ethtool -S` prints of a NIC with hundreds of queues is a tenth of it.
const LONGEST: u64 = 1 << 20;
/// The most bytes that a whole host may say: hundreds of NICs say less.
pub(super) const MOST: u64 = 64 << 20;

/// The line with which a host begins, and the one with which it ends: what lies between them is whole. What a login shell prints before or
/// behind it is none of it.
const HEAD: &str = "# rigctl dut nic --raw";
pub(super) const END: &str = "# end of rigctl dut nic --raw";

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    /// What can be read there.
    Text(String),
    /// Where it leads.
    Link(String),
    /// Why it cannot be read.
    Unread(String),
}

/// What a host has said.
#[derive(Debug, Clone)]
pub struct Said {
    /// Where it comes from, before each path in messages.
    from: String,
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    Told(BTreeMap<String, Entry>),
    Folder(PathBuf),
}

impl Said {
    /// What stands at `place`: a file as [`gather`](fn@super::gather) has written it, or a folder with a `sys` in it.
    ///
    /// # Errors
    /// What is not there, or is neither of them, and what would be taken.
    pub fn at(place: &Path) -> Result<Said, String> {
        let shown = place.display();
        let want = "   = want: a folder with sys/class/infiniband/DEVICE/ports/1/hw_counters in it, or a file that `rigctl dut nic --raw` \
                    has written";
        let kind = fs::metadata(place).map_err(|why| format!("{shown}: {why}\n{want}"))?;
        if kind.is_dir() {
            let root = place.canonicalize().map_err(|why| format!("{shown}: {why}"))?;
            return Ok(Said { from: shown.to_string(), source: Source::Folder(root) });
        }
        let text = text_of(place, MOST).map_err(|why| format!("{shown}: {why}\n{want}"))?;
        Said::told(&shown.to_string(), &text).map_err(|why| format!("{why}\n{want}"))
    }

    /// What a host has told in one text: a line with `F`, `L` or `E` and a path, behind it the lines of the file, where the link leads, or
    /// why it cannot be read, each after a tab. A file whose text ends with no newline has one more here.
    ///
    /// # Errors
    /// The line that is none of these, or what is not whole: a text that is cut short, or one of two hosts.
    pub fn told(from: &str, text: &str) -> Result<Said, String> {
        let mut all = BTreeMap::new();
        let mut lines = (1..).zip(text.lines()).peekable();
        if !lines.by_ref().any(|(_, line)| line == HEAD) {
            return Err(headless(from, text));
        }
        loop {
            let Some((number, line)) = lines.next() else {
                let count = text.lines().count();
                return Err(format!("{from}:{count}: it is cut short: no line `{END}` follows"));
            };
            if line == END {
                break;
            }
            let odd = || {
                let begins: String = line.chars().take(60).collect();
                format!(
                    "{from}:{number}: `{begins}` begins nothing that a host says: F, L or E, a blank, and a path"
                )
            };
            if line == HEAD {
                return Err(format!(
                    "{from}:{number}: another host begins here, where one has not ended"
                ));
            }
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (kind, path) = line.split_once(' ').ok_or_else(odd)?;
            if !path.starts_with('/') {
                return Err(odd());
            }
            let mut said = String::new();
            while let Some((_, more)) = lines.next_if(|(_, more)| more.starts_with('\t')) {
                said.push_str(&more[1..]);
                said.push('\n');
            }
            let first = said.lines().next().unwrap_or("it says nothing").to_owned();
            let entry = match kind {
                "F" => Entry::Text(said),
                "L" => Entry::Link(first),
                "E" => Entry::Unread(first),
                _ => return Err(odd()),
            };
            if all.insert(path.to_owned(), entry).is_some() {
                return Err(format!("{from}:{number}: {path} is told a second time"));
            }
        }
        if let Some((number, _)) = lines.find(|(_, line)| *line == HEAD) {
            return Err(format!("{from}:{number}: another host begins here: a file is of one"));
        }
        Ok(Said { from: from.to_owned(), source: Source::Told(all) })
    }

    /// A path with where it comes from.
    pub(super) fn shown(&self, path: &str) -> String {
        let from = &self.from;
        match &self.source {
            Source::Folder(_) => format!("{from}{path}"),
            Source::Told(_) => format!("{from}: {path}"),
        }
    }

    /// What stands at `path`; `None` where there is nothing.
    pub(super) fn entry(&self, path: &str) -> Option<Entry> {
        match &self.source {
            Source::Told(all) => all.get(path).cloned(),
            Source::Folder(root) => {
                let at = root.join(path.trim_start_matches('/'));
                let kind = fs::symlink_metadata(&at).ok()?;
                if kind.is_symlink() && !at.is_file() {
                    let target = fs::read_link(&at).ok()?;
                    return Some(Entry::Link(target.to_string_lossy().into_owned()));
                }
                let text = within(root, &at).and_then(|at| text_of(&at, LONGEST));
                Some(text.map_or_else(|why| Entry::Unread(why.to_string()), Entry::Text))
            }
        }
    }

    /// The text that stands at `path`; `None` where none can be read.
    pub(super) fn entry_text(&self, path: &str) -> Option<String> {
        match self.entry(path) {
            Some(Entry::Text(text)) => Some(text),
            Some(Entry::Link(_) | Entry::Unread(_)) | None => None,
        }
    }

    /// The first line of what stands at `path`, without blanks around it; `None` where that is nothing.
    pub(super) fn line(&self, path: &str) -> Option<String> {
        let text = self.entry_text(path)?;
        text.lines().next().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned)
    }

    /// The last part of where a link at `path` leads, which is the name of a driver or the address of a device.
    pub(super) fn leads(&self, path: &str) -> Option<String> {
        let Some(Entry::Link(target)) = self.entry(path) else { return None };
        target.rsplit('/').next().map(str::to_owned)
    }

    /// What stands below `folder`, by name, sorted.
    pub(super) fn names(&self, folder: &str) -> Vec<String> {
        let mut names = BTreeSet::new();
        match &self.source {
            Source::Told(all) => {
                let begins = format!("{folder}/");
                let below = all.range(begins.clone()..).map(|(path, _)| path);
                for path in below.take_while(|path| path.starts_with(&begins)) {
                    names.extend(path[begins.len()..].split('/').next().map(str::to_owned));
                }
            }
            Source::Folder(root) => {
                let at = within(root, &root.join(folder.trim_start_matches('/')));
                let listed = at.and_then(fs::read_dir).into_iter().flatten().flatten();
                names.extend(listed.filter_map(|entry| entry.file_name().into_string().ok()));
            }
        }
        names.into_iter().collect()
    }
}

/// What to say of a text without the line with which a host begins.
fn headless(from: &str, text: &str) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty());
    let but = first.map_or_else(
        || "it says nothing: does a shell answer there?".to_owned(),
        |line| format!("it begins with `{}`", line.chars().take(60).collect::<String>()),
    );
    format!("{from}: it has no line `{HEAD}`: {but}")
}

/// The file that `at` is, below `root`.
fn within(root: &Path, at: &Path) -> io::Result<PathBuf> {
    let real = at.canonicalize()?;
    if real.starts_with(root) {
        return Ok(real);
    }
    Err(io::Error::other(format!("it leads out of the folder, to {}", real.display())))
}

/// The text of a file, of at most so many bytes.
fn text_of(at: &Path, most: u64) -> io::Result<String> {
    if !fs::metadata(at)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut text = String::new();
    fs::File::open(at)?.take(most + 1).read_to_string(&mut text).map_err(|why| {
        match why.kind() {
            ErrorKind::InvalidData => io::Error::other("it is no text in UTF-8"),
            _ => why,
        }
    })?;
    if text.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes")));
    }
    Ok(text)
}
