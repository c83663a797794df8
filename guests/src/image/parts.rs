//! What of this machine goes into a guest, which programs make one, and the Debian packages that have them.

use crate::GuestFault;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs that build or boot a guest.
const TOOLS: [(&str, &str); 6] = [
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("setpriv", "util-linux"),
    ("apt-get", "apt"),
    ("dpkg-deb", "dpkg"),
    ("ldd", "libc-bin"),
    ("sha256sum", "coreutils"),
];

/// Programs that run in it.
const PROGRAMS: [(&str, &str); 14] = [
    ("busybox", "busybox-static"),
    ("bridge", "iproute2"),
    ("ip", "iproute2"),
    ("rdma", "iproute2"),
    ("tc", "iproute2"),
    ("perl", "perl-base"),
    ("ib_send_bw", "perftest"),
    ("ib_write_bw", "perftest"),
    ("ib_read_bw", "perftest"),
    ("ib_atomic_bw", "perftest"),
    ("ib_send_lat", "perftest"),
    ("ib_write_lat", "perftest"),
    ("ib_read_lat", "perftest"),
    ("ib_atomic_lat", "perftest"),
];

const FOLDERS: [&str; 4] = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"];
/// Where the library of verbs looks for drivers.
const DRIVER: &str = "/etc/libibverbs.d/rxe.driver";
const DRIVERS: &str = "/usr/lib/x86_64-linux-gnu/libibverbs";
const PROVIDERS: (&str, &str) = ("the verbs driver of rxe", "ibverbs-providers");

/// What is not there, each with the package that has it.
pub fn missing() -> Vec<(&'static str, &'static str)> {
    let all = TOOLS.iter().chain(&PROGRAMS).copied();
    let mut lacks: Vec<_> = all.filter(|(name, _)| program(name).is_none()).collect();
    if driver().is_none() {
        lacks.push(PROVIDERS);
    }
    lacks
}

/// A program of this machine by its name.
fn program(name: &str) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())
}

/// The driver's library.
fn driver() -> Option<PathBuf> {
    let is_it = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("librxe-") && name.ends_with(".so")
    };
    let mut all = std::fs::read_dir(DRIVERS).ok()?.flatten().map(|entry| entry.path());
    all.find(is_it).filter(|_| Path::new(DRIVER).is_file())
}

/// Files for the guest: where each goes, and where it is here.
///
/// # Errors
/// What is missing; a program whose libraries cannot be found.
pub(super) fn files() -> Result<Vec<(String, PathBuf)>, GuestFault> {
    let lacks = missing();
    let Some(driver) = driver().filter(|_| lacks.is_empty()) else {
        return Err(GuestFault::Missing(lacks));
    };
    let mut files =
        vec![(inside(Path::new(DRIVER)), PathBuf::from(DRIVER)), (inside(&driver), driver.clone())];
    let mut linked = vec![driver];
    for (name, _) in PROGRAMS {
        let path = program(name).expect("nothing is missing");
        let folder = if name == "busybox" { "bin" } else { "usr/bin" };
        files.push((format!("{folder}/{name}"), path.clone()));
        linked.push(path);
    }
    for library in libraries(&linked)? {
        files.push((inside(&library), library));
    }
    files.sort();
    files.dedup();
    Ok(files)
}

fn inside(path: &Path) -> String {
    path.to_string_lossy().trim_start_matches('/').to_owned()
}

/// The shared libraries of programs and of the loader, as `ldd` finds them.
fn libraries(of: &[PathBuf]) -> Result<Vec<PathBuf>, GuestFault> {
    let said = Command::new("ldd").args(of).output();
    let said = said.map_err(|error| GuestFault::failed("run ldd", error))?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let mut all = Vec::new();
    for line in text.lines().filter(|line| line.starts_with('\t')) {
        if line.contains("not found") {
            return Err(GuestFault::failed("find a library of a guest's program", line.trim()));
        }
        let path = line.split_whitespace().find(|word| word.starts_with('/'));
        all.extend(path.map(PathBuf::from));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_the_package_that_has_it() {
        let fault =
            GuestFault::Missing(vec![("ib_send_bw", "perftest"), ("ib_read_bw", "perftest")]);
        assert_eq!(
            fault.to_string(),
            "a guest needs ib_send_bw, ib_read_bw, which this machine has not: `apt-get install --no-install-recommends perftest`"
        );
        assert_eq!(program("no-such-program"), None);
    }
}
