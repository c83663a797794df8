//! A test in a process of its own, with a shim to open.

use rig_generator::port::{Backend, Config, Dpdk};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What tells a child that it is one: where its shim is.
const CHILD: &str = "RIG_DPDK_CHILD";

/// Whether this is the child that does what `test` is about. The parent starts it, and holds it to its word.
pub(crate) fn alone(test: &str) -> bool {
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let Some(shim) = shim() else { return false };
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(["--exact", test, "--nocapture"]).env(CHILD, shim);
    let ran = command.output().expect("a child");
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{}\n{out}\n{err}", ran.status);
    assert!(out.contains("1 passed"), "no test of the name {test}: {out}");
    assert!(!out.contains("EAL"), "DPDK has no business on stdout: {out}");
    say(&err);
    false
}

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
pub(crate) fn say(what: &str) {
    if !what.is_empty() {
        eprintln!("{what}");
    }
}

/// The shim, built once for all tests; `None` with a word on stderr where it cannot be.
fn shim() -> Option<&'static Path> {
    static SHIM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = SHIM.get_or_init(|| {
        let shim = Path::new(env!("CARGO_TARGET_TMPDIR")).join("librig_dpdk.so");
        let mut command = Command::new(env!("CARGO"));
        command.args(["run", "--quiet", "--package", "xtask", "--", "dpdk-shim"]).arg(&shim);
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        let ran = command.output().map_err(|error| error.to_string())?;
        if ran.status.success() {
            Ok(shim)
        } else {
            Err(String::from_utf8_lossy(&ran.stderr).into_owned())
        }
    });
    match built {
        Ok(shim) => Some(shim),
        Err(why) if std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1") => {
            panic!("{why}");
        }
        Err(why) => {
            say(&format!("skipped: {why}"));
            None
        }
    }
}

/// DPDK with these devices and nothing of the machine's.
pub(crate) fn dpdk(devices: &[&str]) -> Dpdk {
    let usual = ["--no-huge", "-m", "512", "--no-pci", "--no-telemetry", "-l", "0"];
    // No file is shared with another process, so that one name does for all.
    let apart = ["--file-prefix=rigctl-tests", "--no-shconf"];
    let eal =
        usual.into_iter().chain(apart).chain(devices.iter().copied()).map(str::to_owned).collect();
    let shim = std::env::var_os(CHILD).map(PathBuf::from).expect("a child knows its shim");
    let shim = (!cfg!(feature = "dpdk")).then_some(shim);
    Dpdk { eal, shim, places: Vec::new() }
}

/// A port of that name over DPDK with these devices, for frames of up to `longest` bytes.
pub(crate) fn config(name: &str, devices: &[&str], longest: usize) -> Config {
    Config {
        backend: Backend::Dpdk,
        longest,
        slots: 64,
        ring: 1_024,
        dpdk: dpdk(devices),
        ..Config::new(name)
    }
}
