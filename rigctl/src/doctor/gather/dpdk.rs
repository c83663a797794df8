//! DPDK, as far as it can be found without loading it.

use super::super::facts::Dpdk;
use rig_generator::port;
use std::path::Path;
use std::process::{Command, Stdio};

/// Where the libraries of distributions are.
const FOLDERS: [&str; 5] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
];

/// What is installed.
pub(super) fn dpdk() -> Dpdk {
    Dpdk { version: packaged().or_else(library), shim: shim() }
}

/// By pkg-config, where there is one.
fn packaged() -> Option<String> {
    let mut ask = Command::new("pkg-config");
    let answer = ask.args(["--modversion", "libdpdk"]).stderr(Stdio::null()).output().ok()?;
    let version = String::from_utf8(answer.stdout).ok()?;
    answer.status.success().then(|| version.trim().to_owned())
}

/// By its library, where it was installed without what is needed to build against it.
fn library() -> Option<String> {
    FOLDERS.iter().find_map(|folder| {
        let names = std::fs::read_dir(folder).ok()?.flatten();
        let mut names: Vec<String> =
            names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| name.starts_with("librte_eal.so."));
        names.sort();
        names.into_iter().next_back()
    })
}

/// Around this program, or where libraries are.
fn shim() -> Option<String> {
    let own = std::env::current_exe().unwrap_or_default();
    // The last of these is a bare name, which stands for the folders below.
    let around = port::Dpdk::usual_places(&own).into_iter().filter(|place| place.is_absolute());
    let system = FOLDERS.map(|folder| Path::new(folder).join(port::Dpdk::SHIM));
    let mut places = around.chain(system);
    places.find(|place| place.exists()).map(|place| place.display().to_string())
}
