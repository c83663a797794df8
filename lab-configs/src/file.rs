//! How a file that a person named is read: a regular one, whole, up to a size. Nothing is waited for, and nothing that never
//! ends is begun.

use core::fmt;
use std::fs::{FileType, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// The name on the command line of what comes by standard input.
pub const STDIN: &str = "-";
/// How messages call it.
pub const STDIN_SAID: &str = "standard input";

/// Why a file is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// What there is, as a sentence without a full stop: `it is a pipe`.
    pub found: String,
    /// What would be read.
    pub want: String,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unread { found, want } = self;
        write!(f, "{found}: want {want}")
    }
}

impl core::error::Error for Unread {}

/// The bytes of a regular file of at most `most` bytes.
///
/// # Errors
/// When there is none, it is something else or larger, or it does not fit into memory. A pipe is not waited for.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, Unread> {
    let unread = |found: String| Unread { found, want: want(most) };
    let failed = |error: io::Error| unread(reason(&error));
    // To open a device or a pipe can be felt by others: it is looked at first.
    regular(std::fs::metadata(path).map_err(failed)?.file_type()).map_err(unread)?;
    // Whatever was put there since does not hold us up, and is looked at itself.
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = options.open(path).map_err(failed)?;
    let meta = file.metadata().map_err(failed)?;
    regular(meta.file_type()).map_err(unread)?;
    if meta.len() > most {
        return Err(unread(format!("it has {} bytes", meta.len())));
    }
    bounded(file, most)
}

/// All that comes out of a pipe that was asked for by name, at most `most` bytes.
///
/// # Errors
/// When there is more, it breaks off, or it does not fit into memory.
pub fn bounded(from: impl Read, most: u64) -> Result<Vec<u8>, Unread> {
    let unread = |found: String| Unread { found, want: want(most) };
    let mut bytes = Vec::new();
    let read = from.take(most.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| unread(reason(&error)))?;
    if bytes.len() as u64 > most {
        return Err(unread(format!("there are more than {most} bytes")));
    }
    Ok(bytes)
}

fn want(most: u64) -> String {
    rig_units::limits::bytes(most)
}

/// Whether it is a regular file; what it is otherwise.
fn regular(kind: FileType) -> Result<(), String> {
    let what = match kind {
        _ if kind.is_file() => return Ok(()),
        _ if kind.is_dir() => "folder",
        _ if kind.is_fifo() => "pipe",
        _ if kind.is_socket() => "socket",
        _ => "device",
    };
    Err(format!("it is a {what}"))
}

/// An I/O error without the number of the operating system.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "may not be read (permission denied)".to_owned(),
        io::ErrorKind::OutOfMemory => "it does not fit into memory".to_owned(),
        // That it cannot be read says whoever names the file.
        _ => format!("the system says: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_bound_is_read_and_one_of_a_byte_more_is_not() {
        let desk = tempfile::tempdir().expect("a folder");
        let file = desk.path().join("file");
        std::fs::write(&file, "12345").expect("written");
        assert_eq!(read(&file, 5).expect("it fits"), b"12345");
        let more = read(&file, 4).expect_err("too large").to_string();
        assert_eq!(more, "it has 5 bytes: want a regular file of at most 4 bytes");
    }

    #[test]
    fn what_has_no_length_is_bounded_as_it_comes() {
        let more = bounded(io::repeat(0), 1 << 16).expect_err("it never ends");
        assert_eq!(more.found, "there are more than 65536 bytes");
        assert_eq!(bounded(&b"123"[..], 3).expect("it fits"), b"123");
    }

    #[test]
    fn a_file_of_the_kernel_that_says_it_is_empty_is_read_as_far_as_it_goes() {
        // A regular file, and its length is 0.
        assert!(!read(Path::new("/proc/self/status"), 1 << 16).expect("readable").is_empty());
        assert!(read(Path::new("/proc/self/status"), 16).is_err());
    }

    #[test]
    fn why_reading_breaks_off_is_said_without_saying_that_it_does() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("the medium is gone"))
            }
        }
        let why = bounded(Broken, 1).expect_err("nothing comes").found;
        assert_eq!(why, "the system says: the medium is gone");
    }

    #[test]
    fn folders_and_devices_are_named_for_what_they_are() {
        let desk = tempfile::tempdir().expect("a folder");
        let found = |path: &Path| read(path, 1).expect_err("no file").found;
        assert_eq!(found(desk.path()), "it is a folder");
        assert_eq!(found(Path::new("/dev/zero")), "it is a device");
        assert_eq!(found(&desk.path().join("none")), "there is no such file");
    }
}
