//! Whose change it is: a process, by what no other has, and the network namespace that it was made in.

use core::fmt;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;

/// A process. Its number alone is given to another one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    /// Its number.
    pub pid: u32,
    /// When it was started, in ticks since the system was.
    pub started: u64,
    /// The system's start, by the name that the kernel gave it.
    pub boot: String,
}

impl Owner {
    /// This process.
    ///
    /// # Errors
    /// There is no /proc.
    pub fn this() -> io::Result<Owner> {
        let pid = std::process::id();
        let stat = fs::read_to_string("/proc/self/stat")?;
        let (_, started) = state(&stat).ok_or_else(|| io::Error::other("/proc/self/stat"))?;
        Ok(Owner { pid, started, boot: boot()? })
    }

    /// Whether the system has been started anew since.
    pub fn is_of_another_boot(&self) -> bool {
        boot().is_ok_and(|boot| boot != self.boot)
    }

    /// Whether it lives. One that has ended and that nobody has asked about yet does not.
    pub fn lives(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        let same = state(&stat).is_some_and(|(state, started)| {
            started == self.started && !['Z', 'X'].contains(&state)
        });
        same && !self.is_of_another_boot()
    }

    /// The name of its file.
    pub(super) fn file_name(&self) -> String {
        format!("{}-{}.jsonl", self.pid, self.started)
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.pid)
    }
}

/// The state and the start of a process. Its name, in brackets, may have anything in it.
fn state(stat: &str) -> Option<(char, u64)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?.chars().next()?;
    // Field 22 of proc(5), of which the first two stand before the bracket and the third is the state.
    Some((state, fields.nth(22 - 4)?.parse().ok()?))
}

fn boot() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// The network namespace of this thread, by the kernel's number.
///
/// # Errors
/// There is no /proc.
pub fn namespace() -> io::Result<u64> {
    Ok(fs::metadata("/proc/thread-self/ns/net")?.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_start_and_lives_until_it_ends() {
        let own = Owner::this().expect("/proc");
        assert!(own.lives() && !own.is_of_another_boot());
        assert!(!Owner { started: own.started + 1, ..own.clone() }.lives());
        let earlier = Owner { boot: "another".to_owned(), ..own };
        assert!(!earlier.lives() && earlier.is_of_another_boot());
    }

    #[test]
    fn a_process_that_nobody_has_reaped_has_ended() {
        let mut child = std::process::Command::new("true").spawn().expect("true starts");
        let stat = loop {
            let stat =
                fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("not reaped");
            if stat.contains(") Z ") {
                break stat;
            }
            std::thread::yield_now();
        };
        let (_, started) = state(&stat).expect("a line of proc(5)");
        let boot = boot().expect("/proc");
        assert!(!Owner { pid: child.id(), started, boot }.lives());
        child.wait().expect("it has ended");
    }

    #[test]
    fn a_name_with_brackets_and_blanks_hides_nothing() {
        let rest = (4..=22).map(|field| field.to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(state(&format!("7 (a) Z (b) S {rest} 23")), Some(('S', 22)));
        assert_eq!(state("7 (a) S 4 5"), None);
    }
}
