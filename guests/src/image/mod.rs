//! The image of a guest: a kernel and its first file system, made of Debian packages, and kept while these stay the same.
//!
//! Programs and libraries are this machine's own, the kernel is the one that Debian's `linux-image-amd64` depends on. It is
//! fetched by apt, which checks it against the signed index, and never installed.

mod cpio;
mod modules;
mod parts;

pub use parts::missing;

use crate::GuestFault;
use cpio::Archive;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const INIT: &str = include_str!("init.sh");
/// The package that depends on Debian's current kernel.
const KERNEL: &str = "linux-image-amd64";
/// What of the kernel's package is unpacked.
const UNPACKED: [&str; 9] = [
    "./boot/vmlinuz*",
    "*/kernel/crypto/*",
    "*/kernel/lib/*",
    "*/kernel/net/*",
    "*/kernel/drivers/virtio/*",
    "*/kernel/drivers/infiniband/*",
    "*/kernel/drivers/net/macsec*",
    "*/kernel/drivers/net/net_failover*",
    "*/kernel/drivers/net/virtio_net*",
];

/// Programs that BusyBox is where it is called so.
const APPLETS: [&str; 13] = [
    "sh", "mount", "cat", "insmod", "stty", "sed", "sleep", "grep", "uname", "timeout", "kill",
    "rm", "poweroff",
];

/// A guest that can be booted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The kernel, as a file that QEMU boots.
    pub kernel: PathBuf,
    /// Its first file system.
    pub initrd: PathBuf,
    /// The Debian package of the kernel, with its version.
    pub package: String,
    /// Whether it was there already.
    pub kept: bool,
}

/// Debian's kernel as apt's index has it.
struct Package {
    name: String,
    version: String,
    sha256: String,
}

impl Image {
    /// The image in `folder`, which is made, or made anew, where what it is made of has changed.
    ///
    /// # Errors
    /// What of this machine is missing; what apt or another program says.
    pub fn build(folder: &Path) -> Result<Image, GuestFault> {
        let files = parts::files()?;
        let package = package()?;
        let image = |kept| Image {
            kernel: folder.join("vmlinuz"),
            initrd: folder.join("initrd"),
            package: format!("{} {}", package.name, package.version),
            kept,
        };
        let recipe = recipe(&files, &package)?;
        let io =
            |why: std::io::Error| GuestFault::failed(format!("write in {}", folder.display()), why);
        fs::create_dir_all(folder).map_err(io)?;
        // Who else wants it meanwhile waits until it is made.
        let lock = fs::File::create(folder.join("lock")).map_err(io)?;
        lock.lock().map_err(io)?;
        let same = fs::read_to_string(folder.join("recipe")).is_ok_and(|old| old == recipe);
        if same && sound(folder) {
            return Ok(image(true));
        }
        // What is made beside an old recipe is no image until the new one stands there.
        let _was_none = fs::remove_file(folder.join("recipe"));
        let unpacked = folder.join("kernel");
        let _was_none = fs::remove_dir_all(&unpacked);
        fs::create_dir_all(&unpacked).map_err(io)?;
        let deb = fetched(folder, &package)?;
        unpack(&deb, &unpacked)?;
        let vmlinuz = fs::read_dir(unpacked.join("boot")).map_err(io)?.flatten().next();
        let vmlinuz =
            vmlinuz.ok_or_else(|| GuestFault::failed("find the kernel", "its package has none"))?;
        fs::rename(vmlinuz.path(), folder.join("vmlinuz")).map_err(io)?;
        let modules = modules::in_order(&unpacked)?;
        fs::write(folder.join("initrd"), archive(&files, &modules)?).map_err(io)?;
        fs::remove_dir_all(&unpacked).map_err(io)?;
        fs::remove_file(&deb).map_err(io)?;
        let sums = run(Command::new("sha256sum").args(["vmlinuz", "initrd"]).current_dir(folder))?;
        fs::write(folder.join("sums"), sums).map_err(io)?;
        fs::write(folder.join("recipe"), recipe).map_err(io)?;
        Ok(image(false))
    }
}

/// Whether kernel and file system are as they were made.
fn sound(folder: &Path) -> bool {
    let mut check = Command::new("sha256sum");
    check.args(["--check", "--status", "--strict", "sums"]).current_dir(folder);
    run(&mut check).is_ok()
}

/// All that an image follows from, as text.
fn recipe(files: &[(String, PathBuf)], package: &Package) -> Result<String, GuestFault> {
    let sums = run(Command::new("sha256sum").args(files.iter().map(|(_, path)| path)))?;
    let (wanted, applets) = (modules::WANTED.join(" "), APPLETS.join(" "));
    Ok(format!(
        "{} {} {}\n{wanted}\n{applets}\n{sums}{INIT}",
        package.name, package.version, package.sha256
    ))
}

/// The package that [`KERNEL`] depends on.
fn package() -> Result<Package, GuestFault> {
    let none = |what: &str| {
        GuestFault::failed(format!("find {what}"), "apt's index has none: `apt-get update`")
    };
    let depends = run(Command::new("apt-cache").args(["depends", KERNEL]))?;
    let name = depends.lines().find_map(|line| line.trim().strip_prefix("Depends: "));
    let name = name.ok_or_else(|| none(KERNEL))?.to_owned();
    let shown = run(Command::new("apt-cache").args(["show", "--no-all-versions", &name]))?;
    let field = |field: &str| {
        let line = shown.lines().find_map(|line| line.strip_prefix(field));
        line.map(|value| value.trim().to_owned()).ok_or_else(|| none(&name))
    };
    Ok(Package { version: field("Version:")?, sha256: field("SHA256:")?, name })
}

/// The package's file, fetched into `folder`.
fn fetched(folder: &Path, package: &Package) -> Result<PathBuf, GuestFault> {
    let ends = |path: &Path| path.extension().is_some_and(|ending| ending == "deb");
    let debs = || fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    debs().filter(|path| ends(path)).for_each(|old| drop(fs::remove_file(old)));
    let version = format!("{}={}", package.name, package.version);
    // Without rights to become another user, which apt otherwise does.
    let options = ["-qq", "-o", "APT::Sandbox::User=root", "download", &version];
    run(Command::new("apt-get").args(options).current_dir(folder))?;
    let deb = debs().find(|path| ends(path));
    let deb = deb.ok_or_else(|| GuestFault::failed("fetch the kernel", "apt-get left no file"))?;
    let sum = run(Command::new("sha256sum").arg(&deb))?;
    match sum.split_whitespace().next() {
        Some(sum) if sum == package.sha256 => Ok(deb),
        sum => Err(GuestFault::failed(
            format!("trust {}", deb.display()),
            format!(
                "its SHA-256 is {}, apt's index says {}",
                sum.unwrap_or("unknown"),
                package.sha256
            ),
        )),
    }
}

/// Unpacks what a guest needs of the kernel's package.
fn unpack(deb: &Path, into: &Path) -> Result<(), GuestFault> {
    let mut command = Command::new("sh");
    command.args(["-c", "deb=$1; into=$2; shift 2; dpkg-deb --fsys-tarfile \"$deb\" | tar -x -C \"$into\" --wildcards \"$@\"", "sh"]);
    run(command.arg(deb).arg(into).args(UNPACKED)).map(drop)
}

/// The guest's first file system.
fn archive(files: &[(String, PathBuf)], modules: &[PathBuf]) -> Result<Vec<u8>, GuestFault> {
    let read = |path: &PathBuf| {
        fs::read(path)
            .map_err(|error| GuestFault::failed(format!("read {}", path.display()), error))
    };
    let mut archive = Archive::default();
    ["proc", "sys", "dev", "tmp", "run"].into_iter().for_each(|folder| archive.folder(folder));
    archive.file("init", INIT.as_bytes());
    APPLETS.into_iter().for_each(|applet| archive.link(&format!("bin/{applet}"), "busybox"));
    for (inside, path) in files {
        archive.file(inside, &read(path)?);
    }
    let mut list = String::new();
    for path in modules {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        list += &format!("/lib/modules/{name}\n");
        archive.file(&format!("lib/modules/{name}"), &read(path)?);
    }
    archive.file("modules", list.as_bytes());
    Ok(archive.finish())
}

/// What a program writes to standard output.
fn run(command: &mut Command) -> Result<String, GuestFault> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done =
        command.output().map_err(|error| GuestFault::failed(format!("run {name}"), error))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    Err(GuestFault::failed(format!("run {name}"), format!("{}: {said}", done.status)))
}
