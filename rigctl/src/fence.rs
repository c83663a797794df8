//! Where this process may write, where the kernel can hold it to that (Landlock): a command that reads what it is given and writes
//! into one folder cannot write anywhere else, start a program, or reach another host, whatever it was made to do by what it read.
//!
//! What is open stays as it was: standard output, and files that were opened before. Reading is left alone: files name
//! others, which are not known before they are read.

use crate::stderr;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope,
};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

/// The newest that was tried; an older kernel holds to as much as it knows.
const KNOWN: ABI = ABI::V7;

/// Where something may be written.
#[derive(Debug, Clone, Copy)]
pub enum Gap<'a> {
    /// Anything, below an open folder.
    Below(BorrowedFd<'a>),
    /// A file that is written beside and put in its place, and so any file below the folder that it is in.
    Beside(&'a Path),
}

/// From here on this thread, and those that it starts, may write nowhere else, for good. A kernel without Landlock changes nothing; one
/// that refuses it is told of, and the work goes on.
pub fn close(gaps: &[Gap<'_>]) {
    if let Err(why) = closed(gaps) {
        stderr::note(&format!("this process could not be kept from writing elsewhere: {why}"));
    }
}

/// Whether this kernel holds a process to where it may write.
pub fn is_there() -> bool {
    let rules = Ruleset::default().handle_access(AccessFs::from_write(ABI::V1));
    let rules = rules.and_then(Ruleset::create);
    rules.is_ok_and(|rules| Option::<OwnedFd>::from(rules).is_some())
}

fn closed(gaps: &[Gap<'_>]) -> Result<(), RulesetError> {
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_write(KNOWN) | AccessFs::Execute)?
        .handle_access(AccessNet::from_all(KNOWN))?
        .scope(Scope::from_all(KNOWN))?
        .create()?;
    for gap in gaps {
        rules = match gap {
            Gap::Below(folder) => rules.add_rule(PathBeneath::new(folder, below()))?,
            // One that is not there cannot be written into either, which is told where it is tried.
            Gap::Beside(file) => match PathFd::new(above(file)) {
                Ok(folder) => rules.add_rule(PathBeneath::new(folder, beside()))?,
                Err(_) => rules,
            },
        };
    }
    rules.restrict_self().map(|_as_far_as_the_kernel_knows| ())
}

fn below() -> BitFlags<AccessFs> {
    let files = AccessFs::MakeReg | AccessFs::WriteFile | AccessFs::Truncate;
    files | AccessFs::RemoveFile | AccessFs::MakeDir | AccessFs::RemoveDir
}

fn beside() -> BitFlags<AccessFs> {
    AccessFs::MakeReg | AccessFs::WriteFile | AccessFs::RemoveFile
}

fn above(file: &Path) -> &Path {
    file.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::errno::Errno;
    use std::fs::{self, File};
    use std::io;
    use std::net::TcpListener;
    use std::os::fd::AsFd;
    use std::process::Command;
    use std::thread;

    /// What a thread may do: write below a folder, beside a file, elsewhere; start a program; listen.
    fn tried(fence: bool) -> Option<[Option<Errno>; 7]> {
        let desk = tempfile::tempdir().expect("a temporary folder");
        let place = |name: &str| desk.path().join(name);
        for folder in ["out", "reports", "elsewhere"] {
            fs::create_dir(place(folder)).expect("writable");
        }
        fs::write(place("elsewhere/kept"), "kept").expect("writable");
        let open = File::create(place("elsewhere/open")).expect("writable");
        let works = || {
            let out = File::open(place("out")).expect("readable");
            let junit = place("reports/junit.xml");
            if fence {
                closed(&[Gap::Below(out.as_fd()), Gap::Beside(&junit)]).expect("no kernel refuses");
            }
            assert!(fs::read(place("elsewhere/kept")).is_ok(), "it may read");
            io::Write::write_all(&mut &open, b"open").expect("what was open stays so");
            fs::create_dir(place("out/suite")).expect("below");
            fs::write(place("out/suite/case"), "case").expect("below");
            fs::write(place("out/suite/case"), "again").expect("below");
            fs::write(place("reports/.junit.xml"), "report").expect("beside");
            fs::rename(place("reports/.junit.xml"), &junit).expect("beside");
            let errno = |done: io::Result<()>| done.err().and_then(|why| Errno::try_from(why).ok());
            let program = Command::new("true").output().map(drop);
            [
                errno(fs::write(place("elsewhere/new"), "new")),
                errno(fs::write(place("elsewhere/kept"), "other")),
                errno(fs::remove_file(place("elsewhere/kept"))),
                errno(fs::create_dir(place("reports/folder"))),
                errno(std::os::unix::fs::symlink("elsewhere", place("out/link"))),
                errno(program),
                errno(TcpListener::bind("127.0.0.1:0").map(drop)),
            ]
        };
        // It is a thread's.
        let tried = thread::scope(|scope| scope.spawn(works).join()).expect("it does what it may");
        (!fence || has_landlock()).then_some(tried)
    }

    fn has_landlock() -> bool {
        let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
        assert!(is_there() || !required, "the kernel has no Landlock (RIG_REQUIRE_ALL=1)");
        if !is_there() {
            eprintln!("skipped: this kernel has no Landlock");
        }
        is_there()
    }

    #[test]
    fn behind_the_fence_nothing_is_written_elsewhere_and_nothing_started() {
        assert_eq!(tried(false), Some([None; 7]), "without it all of that is done");
        let Some(tried) = tried(true) else { return };
        assert_eq!(tried, [Some(Errno::EACCES); 7]);
    }
}
