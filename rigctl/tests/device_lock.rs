//! Two rigs and one device: whoever comes second is told who has it, and leaves it alone. The first one needs no interface for
//! that, nor root: here it is the test itself.

use rig_dut::{DeviceLock, device_lock};
use std::path::Path;
use std::process::{Command, Stdio};

const PROFILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/duts/broadcom.yaml");

/// The exit code of a run on the desk that goes to `out`, and what it said.
fn run(desk: &Path, out: &str) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
    command.args(["run", "--lab", "lab.yaml", "--only", "pfcwd::detection-*", "--out", out]);
    command.current_dir(desk).env("RIGCTL_STATE", desk.join("state"));
    let output = command.stdin(Stdio::null()).output().expect("rigctl starts");
    let told = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.code(), told.into_owned())
}

#[test]
fn a_device_that_another_rig_uses_is_left_alone_and_its_user_is_named() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let lab = format!(
        "about: \"nobody is there\"\ntransport: interfaces\ncable: 3m\nwire: {{interfaces: [rig-none-1, rig-none-2], bound: 4ms, \
         budget: 60s}}\nduts: [{{profile: {PROFILE}, control: dummy}}]\n"
    );
    std::fs::write(desk.path().join("lab.yaml"), lab).expect("writable");
    let name = device_lock::interface("rig-none-2").expect("/proc");
    let mut first = DeviceLock::take(&desk.path().join("state/journal"), &[name]).expect("free");
    first.writes_to(&desk.path().join("theirs"));
    let (code, told) = run(desk.path(), "out");
    assert_eq!(code, Some(4), "{told}");
    let holder = format!(
        "is in use by process {}, whose run folder is {}/theirs",
        std::process::id(),
        desk.path().display()
    );
    assert!(told.contains("error: interface rig-none-2 of network namespace"), "{told}");
    assert!(told.contains(&holder), "{told}");
    assert!(!desk.path().join("out").exists(), "it has begun nothing: {told}");
    drop(first);
    let (code, told) = run(desk.path(), "out");
    assert_eq!(code, Some(5), "nobody holds it now, and its control lets nothing run: {told}");
}
