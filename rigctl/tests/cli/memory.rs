//! A case of many trials takes next to no more memory than one of few.

#![expect(clippy::disallowed_methods, reason = "what is waited for here is another process")]

use crate::support::{Desk, STORM, ended, suite};

const MEASURES: &str = "    measure:
      - pfcwd.detection: {storm: storm, stream: victim}
";

/// The most memory that a run of so many trials had, in kB.
fn most(trials: u32) -> u64 {
    let desk = Desk::new();
    let text = suite(&format!("{STORM}{MEASURES}"));
    let text = text.replace("trials: 1\n", &format!("trials: {trials}\n"));
    desk.write("many.yaml", &text);
    let mut command = desk.command(env!("CARGO_BIN_EXE_rigctl"));
    // What the rig holds is asked, not what glibc's allocator keeps in holes between what is held: by itself it raises the size from
    // which on memory is given back at once, and then how much it keeps depends on the order of sizes.
    let command = command.env("MALLOC_MMAP_THRESHOLD_", "131072");
    let mut child =
        command.args(["run", "many.yaml", "--out", "out"]).spawn().expect("rigctl starts");
    let (status, mut most) = (format!("/proc/{}/status", child.id()), 0);
    while child.try_wait().expect("a child").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let own = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let own = own.and_then(|own| own.trim().strip_suffix(" kB")?.parse().ok());
        most = own.unwrap_or(0).max(most);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(ended(child).code(), Some(0));
    let run = &desk.json("out/results.json")["cases"][0]["trials"]["run"];
    assert_eq!(run.as_u64(), Some(trials.into()), "{run}");
    most
}

#[test]
fn memory_does_not_grow_with_trials() {
    // Frames and counters as they are were three quarters of a megabyte a trial and more; ten thousand of them have 200 MB.
    let (few, many) = (most(50), most(550));
    assert!(few > 1_000, "{few} kB");
    assert!(many < few + 500 * 20, "{few} kB for 50 trials, {many} kB for 550");
}
