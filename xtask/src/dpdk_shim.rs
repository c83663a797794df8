//! Builds the DPDK shim as the shared object that rigctl opens at run time.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What is missing on this machine, each with what mends it.
pub(crate) fn lacks() -> Vec<String> {
    let mut lacks = Vec::new();
    let mut program = |name: &str, package: &str| {
        let there = run(Command::new(name).arg("--version")).is_ok();
        if !there {
            lacks.push(format!("there is no `{name}`: `apt-get install {package}`"));
        }
        there
    };
    program("cc", "gcc");
    if program("pkg-config", "pkg-config")
        && let Err(why) = pkg_config("--modversion")
    {
        let why = why.lines().next().unwrap_or_default().to_owned();
        lacks.push(format!(
            "there is no DPDK 22.11 or later ({why}): `apt-get install libdpdk-dev`"
        ));
    }
    lacks
}

/// Builds the shim and says where it is; whether that worked.
pub(crate) fn report(root: &Path, out: Option<PathBuf>) -> bool {
    let lacks = lacks();
    lacks.iter().for_each(|lack| eprintln!("{lack}"));
    if !lacks.is_empty() {
        return false;
    }
    let out = out.unwrap_or_else(|| target(root).join("librig_dpdk.so"));
    match build(root, &out) {
        Ok(version) => {
            println!("{}: for DPDK {}", out.display(), version.trim());
            true
        }
        Err(why) => {
            eprintln!("{why}");
            false
        }
    }
}

/// Where builds go: one folder above a program, which looks for the shim there.
fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Compiles the shim; the version of DPDK that it is for.
fn build(root: &Path, out: &Path) -> Result<String, String> {
    let version = pkg_config("--modversion")?;
    if let Some(folder) = out.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let (before, behind) = (pkg_config("--cflags")?, pkg_config("--libs")?);
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Wl,-z,now"]);
    cc.args(before.split_whitespace());
    cc.arg(root.join("generator/dpdk/shim.c")).arg("-o").arg(out).args(behind.split_whitespace());
    run(&mut cc).map_err(|why| format!("the shim does not compile:\n{why}"))?;
    Ok(version)
}

fn pkg_config(what: &str) -> Result<String, String> {
    let found = run(Command::new("pkg-config").args([what, "libdpdk >= 22.11"]))?;
    Ok(String::from_utf8_lossy(&found.stdout).into_owned())
}

/// Runs `command`; what it says on stderr when it fails.
fn run(command: &mut Command) -> Result<Output, String> {
    match command.output() {
        Ok(done) if done.status.success() => Ok(done),
        Ok(done) => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err("not found".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
