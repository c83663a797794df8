//! Consoles of guests: where each boot writes what its kernel says, and which of them are this process's.

use rig_guests::GuestRole;
use std::fs;
use std::path::{Path, PathBuf};

/// What the name of a console begins with, before the number of the process that the guest is of.
const CONSOLE: &str = "console-";
/// What it ends with: QEMU's own words stand beside it, with another ending.
const END: &str = "end";

/// The console of a boot of this process's guest in a role, counted from 1.
pub(super) fn file(folder: &Path, role: GuestRole, boot: u32) -> PathBuf {
    let role = match role {
        GuestRole::Nic => "nic",
        GuestRole::OtherNic => "other",
        GuestRole::Switch(_) => "switch",
    };
    folder.join(format!("{CONSOLE}{}.{role}-{boot}.{END}", std::process::id()))
}

/// The line between two guests of this process.
pub(super) fn line(folder: &Path) -> PathBuf {
    folder.join(format!("{CONSOLE}{}.line", std::process::id()))
}

/// The process of a guest whose console, or what stands beside it, has this name; and what else the name says.
fn of(name: &str) -> Option<(u32, &str)> {
    let name = name.strip_prefix(CONSOLE)?;
    let (process, rest) = name.split_once('.').unwrap_or((name, ""));
    Some((process.parse().ok()?, rest))
}

/// Forgets the consoles of processes that have ended. Nothing hangs on it.
pub(super) fn sweep(folder: &Path) {
    forget(folder, |process| !Path::new("/proc").join(process.to_string()).exists());
}

/// Forgets the consoles of a process that had this one's number before it: its first guest is still to be booted.
pub(super) fn forget_former(folder: &Path) {
    forget(folder, |process| process == std::process::id());
}

fn forget(folder: &Path, is_over: impl Fn(u32) -> bool) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().and_then(of).is_some_and(|(process, _)| is_over(process)) {
            let _no_harm = fs::remove_file(entry.path());
        }
    }
}

/// The consoles of this process's guests, by role and boot: `nic-1`, and where it is.
pub fn consoles(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut consoles = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let own = name.to_str().and_then(of).filter(|(process, _)| *process == std::process::id());
        let boot = own.and_then(|(_, rest)| rest.strip_suffix(END)?.strip_suffix('.'));
        // Whoever else writes there: what is no file is none of QEMU's.
        let boot = boot.filter(|_| entry.file_type().is_ok_and(|of| of.is_file()));
        consoles.extend(boot.map(|boot| (boot.to_owned(), entry.path())));
    }
    consoles.sort();
    consoles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consoles_of_processes_that_have_ended_are_swept_and_nothing_else() {
        let desk = tempfile::tempdir().expect("a folder");
        let own = std::process::id();
        // No process has a number beyond 2^22.
        let of_own = ["line", "nic-1.end", "nic-1.qemu", "other-1.end", "other-1.qemu"];
        let of_own = of_own.map(|ending| format!("console-{own}.{ending}"));
        let stays = of_own.into_iter().chain(["recipe".to_owned()]).collect::<Vec<_>>();
        let goes = ["console-4194999.nic-1.end", "console-4194999.nic-1.qemu"];
        let goes = goes.map(str::to_owned);
        for name in stays.iter().chain(&goes) {
            fs::write(desk.path().join(name), "").expect("writable");
        }
        sweep(desk.path());
        let is_there = |name: &String| desk.path().join(name).exists();
        assert!(stays.iter().all(is_there) && !goes.iter().any(is_there));
    }

    #[test]
    fn of_a_process_that_had_the_same_number_nothing_stays() {
        let desk = tempfile::tempdir().expect("a folder");
        fs::write(file(desk.path(), GuestRole::Nic, 7), "of another run").expect("writable");
        forget_former(desk.path());
        assert_eq!(consoles(desk.path()), []);
        fs::create_dir(file(desk.path(), GuestRole::Nic, 1)).expect("writable");
        assert_eq!(consoles(desk.path()), []);
    }

    #[test]
    fn each_boot_of_this_process_has_its_console() {
        let desk = tempfile::tempdir().expect("a folder");
        for (role, boot) in [(GuestRole::OtherNic, 1), (GuestRole::Nic, 2), (GuestRole::Nic, 1)] {
            let console = file(desk.path(), role, boot);
            for path in [&console, &console.with_extension("qemu")] {
                fs::write(path, "").expect("writable");
            }
        }
        fs::write(desk.path().join("console-4194999.nic-1.end"), "").expect("writable");
        let found: Vec<String> = consoles(desk.path()).into_iter().map(|(boot, _)| boot).collect();
        assert_eq!(found, ["nic-1", "nic-2", "other-1"]);
    }
}
