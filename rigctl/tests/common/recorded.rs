//! A server as a recording of it says, spread into files, with an `ethtool` that answers from there, and a kernel that DCB netlink is handed to.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::thread;
use std::time::Duration;

pub(crate) const MLX5: &str = include_str!("../../../dut-adapters/testdata/host/mlx5.txt");

const ETHTOOL: &str = r#"#!/bin/sh
case "$1" in -i) exec cat "ethtool/$2/driver" ;; -S) exec cat "ethtool/$2/statistics" ;; *) exit 1 ;; esac
"#;

const DCB_KERNEL: &str = include_str!("dcb_kernel.py");
const PERL: &str = r#"#!/bin/sh
python=/usr/bin/python3
[ -x $python ] || python=python3
exec $python "${0%/*}/dcb_kernel.py" "$@"
"#;

/// A program of these lines.
pub(crate) fn program(at: &Path, text: &str) {
    fs::create_dir_all(at.parent().expect("a folder")).expect("a folder");
    fs::write(at, text).expect("writable");
    fs::set_permissions(at, fs::Permissions::from_mode(0o755)).expect("ours");
}

/// What `text` says stands in the folder `host` below, links to devices left out.
pub(crate) fn spread(desk: &Path, text: &str) {
    let folder = desk.join("host");
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let mut said = String::new();
        while let Some(more) = lines.next_if(|more| more.starts_with('\t')) {
            said.push_str(&more[1..]);
            said.push('\n');
        }
        let Some((kind, path)) = line.split_once(" /") else { continue };
        let at = folder.join(path);
        fs::create_dir_all(at.parent().expect("a folder")).expect("a folder");
        match kind {
            "F" => fs::write(&at, said).expect("writable"),
            "L" if !path.ends_with("/device") => symlink(said.trim(), &at).expect("a link"),
            _ => {}
        }
    }
    program(&folder.join("bin/ethtool"), ETHTOOL);
    program(&folder.join("bin/dcb_kernel.py"), DCB_KERNEL);
    program(&folder.join("bin/perl"), PERL);
}

/// Waits for a file, a minute at the most.
#[expect(clippy::disallowed_methods, reason = "what is waited for is another process")]
pub(crate) fn wait_for(at: &Path) {
    let come = (0..600).any(|_| {
        thread::sleep(Duration::from_millis(100));
        at.exists()
    });
    assert!(come, "{}", at.display());
}
