//! Where conversations begin: a socket in the file system, or one that has a name only. Either way the kernel says who
//! calls, and one is let in at a time.
//!
//! A name without a file leaves nothing behind however the process ends, and is seen within one network namespace only.
//! A file is seen from every namespace; one that a killed process left behind is taken over.

use super::Conversation;
use super::seat::{Seat, Visitor};
use crate::protocol::{self, Answer};
use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, listen, socket,
};
use nix::sys::stat::{Mode, fchmod};
use nix::unistd::geteuid;
use std::fs;
use std::io::{self, BufReader, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

/// How long it takes until a call is tried again that the system had no room for.
const RETRY: Duration = Duration::from_millis(200);

/// Where a device can be talked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// `-`: the standard input and output of its process.
    Stdio,
    /// `@NAME`: a socket without a file.
    Name(String),
    /// A socket in the file system.
    File(PathBuf),
}

impl FromStr for Place {
    type Err = String;
    fn from_str(text: &str) -> Result<Place, String> {
        match (text, text.strip_prefix('@')) {
            ("-", _) => Ok(Place::Stdio),
            ("", _) | (_, Some("")) => {
                Err("want the path of a socket, @NAME for one without a file, or -".to_owned())
            }
            (_, Some(name)) => Ok(Place::Name(name.to_owned())),
            (path, None) => Ok(Place::File(path.into())),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Stdio => f.write_str("-"),
            Place::Name(name) => write!(f, "@{name}"),
            Place::File(path) => path.display().fmt(f),
        }
    }
}

impl Place {
    /// Calls a device there.
    ///
    /// # Errors
    /// Nobody listens.
    pub fn call(&self) -> io::Result<UnixStream> {
        match self {
            Place::Stdio => Err(io::Error::other("a device on - talks to who started it only")),
            Place::Name(name) => UnixStream::connect_addr(&SocketAddr::from_abstract_name(name)?),
            Place::File(path) => UnixStream::connect(path),
        }
    }
}

/// An open socket. Dropping it takes its file away.
#[derive(Debug)]
pub struct Gate {
    place: Place,
    listener: UnixListener,
}

impl Gate {
    /// Opens a socket at `place`.
    ///
    /// # Errors
    /// What is in the way, and what mends it.
    pub fn open(place: &Place) -> Result<Gate, String> {
        let opened = match place {
            Place::Stdio => Err(io::Error::other("no socket belongs there")),
            Place::Name(name) => {
                SocketAddr::from_abstract_name(name).and_then(|addr| UnixListener::bind_addr(&addr))
            }
            Place::File(path) => listen_at(path).or_else(|error| {
                if error.kind() != io::ErrorKind::AddrInUse || !is_left_behind(path) {
                    return Err(error);
                }
                fs::remove_file(path)?;
                listen_at(path)
            }),
        };
        match opened {
            Ok(listener) => Ok(Gate { place: place.clone(), listener }),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(format!(
                "{place} is in use: a device is served there, or it is something else; choose another place"
            )),
            Err(error) => Err(format!("cannot listen at {place}: {error}")),
        }
    }

    /// Lets in who comes, one at a time, for as long as the process lives: of this process's user, or root. Everybody else
    /// is told why not, and `tell` hears of it. With `over` who comes takes over from who is there.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn admit(
        &self,
        conversation: Conversation,
        over: bool,
        mut tell: impl FnMut(&Turned) + Send + 'static,
    ) -> io::Result<()> {
        let listener = self.listener.try_clone()?;
        let seat = Arc::new(Seat::default());
        let admit = move || {
            let mut count = 0;
            loop {
                let taken = || listener.accept().map(|(line, _)| line);
                let line = next(taken, wait, |why| {
                    count += 1;
                    tell(&Turned { why: format!("a call cannot be taken: {why}"), count });
                });
                if let Err(why) = let_in(&seat, &line, over, &conversation) {
                    // Never waited for: what is said fits into the line, or nobody listens.
                    let _deaf = line.set_nonblocking(true);
                    let said = protocol::line(&Answer::Refused { why: why.clone() });
                    let _gone = (&line).write_all(said.as_bytes());
                    count += 1;
                    tell(&Turned { why, count });
                }
            }
        };
        thread::Builder::new().name("gate".into()).spawn(admit).map(drop)
    }
}

/// Somebody who was not let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turned {
    /// What was said to them.
    pub why: String,
    /// How many were turned away by now.
    pub count: u64,
}

/// The next one who calls. Where the system has no room for a call, such as a file that may still be opened, that is told
/// once, and it is tried again after each `wait`: who calls stays in the queue meanwhile.
fn next<T>(
    mut taken: impl FnMut() -> io::Result<T>,
    mut wait: impl FnMut(),
    mut deaf: impl FnMut(&io::Error),
) -> T {
    let mut told = false;
    loop {
        match taken() {
            Ok(line) => return line,
            // Who called has gone again.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted
                ) => {}
            Err(error) => {
                if !told {
                    deaf(&error);
                }
                told = true;
                wait();
            }
        }
    }
}

/// Waits for room. Nothing tells when there is some.
fn wait() {
    thread::park_timeout(RETRY);
}

/// Lets one in, on a thread of its own; or why not.
fn let_in(
    seat: &Arc<Seat>,
    line: &UnixStream,
    over: bool,
    conversation: &Conversation,
) -> Result<(), String> {
    let visitor = Visitor::of(line).map_err(|why| format!("nobody knows who calls: {why}"))?;
    if !visitor.may_enter() {
        return Err(format!(
            "{visitor} may not steer this device: want user {}, or root",
            geteuid()
        ));
    }
    let broken = |why: io::Error| format!("no room for a conversation: {why}");
    let cut = line.try_clone().map_err(broken)?;
    let (own, from) = (line.try_clone().map_err(broken)?, line.try_clone().map_err(broken)?);
    seat.take(&visitor, cut, over).map_err(|who| {
        format!(
            "{who} has this device: end it first, or serve the device with --force, which lets who comes take over"
        )
    })?;
    let (leave, conversation) = (Arc::clone(seat), conversation.clone());
    let talk = move || {
        // Who hangs up in the middle of a line has heard enough.
        let _broken = conversation.hold(BufReader::new(from), &own);
        leave.leave();
    };
    let started = thread::Builder::new().name("conversation".into()).spawn(talk);
    started.map(drop).map_err(|why| {
        seat.leave();
        broken(why)
    })
}

/// A socket in the file system that is its user's alone from the first moment on, whatever the umask lets through.
fn listen_at(path: &Path) -> io::Result<UnixListener> {
    let own = socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    // The file gets the mode that the socket has.
    fchmod(&own, Mode::S_IRUSR | Mode::S_IWUSR)?;
    bind(own.as_raw_fd(), &UnixAddr::new(path)?)?;
    listen(&own, Backlog::MAXCONN)?;
    Ok(own.into())
}

impl Drop for Gate {
    fn drop(&mut self) {
        if let Place::File(path) = &self.place {
            // It may be gone already.
            let _gone = fs::remove_file(path);
        }
    }
}

/// Whether there is a socket at `path` that nobody listens at.
fn is_left_behind(path: &Path) -> bool {
    let socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    socket && UnixStream::connect(path).err().is_some_and(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desk() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    #[test]
    fn places_are_told_apart_by_their_first_letter() {
        assert_eq!("-".parse(), Ok(Place::Stdio));
        assert_eq!("@dut".parse(), Ok(Place::Name("dut".to_owned())));
        assert_eq!("./-".parse(), Ok(Place::File("./-".into())));
        for text in ["-", "@dut", "/run/dut.sock"] {
            assert_eq!(text.parse::<Place>().unwrap().to_string(), text);
        }
        for text in ["", "@"] {
            assert!(text.parse::<Place>().unwrap_err().contains("want the path of a socket"));
        }
    }

    #[test]
    fn a_call_that_there_is_no_room_for_is_waited_with_and_told_once() {
        let full = || Err(io::Error::from_raw_os_error(nix::libc::EMFILE));
        let gone = || Err(io::Error::from_raw_os_error(nix::libc::ECONNABORTED));
        let mut calls =
            [full(), gone(), full(), full(), Ok('a'), Ok('b'), full(), Ok('c')].into_iter();
        let (mut waits, mut told) = (0, Vec::new());
        let mut call = || {
            next(
                || calls.next().expect("no call after the last"),
                || waits += 1,
                |why| {
                    told.push(why.to_string());
                },
            )
        };
        assert_eq!([call(), call(), call()], ['a', 'b', 'c']);
        assert_eq!(waits, 4);
        assert_eq!(told, ["Too many open files (os error 24)"; 2]);
    }

    #[test]
    fn a_file_goes_with_its_gate() {
        let desk = desk();
        let place = Place::File(desk.path().join("s"));
        let gate = Gate::open(&place).expect("a gate");
        assert!(place.call().is_ok());
        let busy = Gate::open(&place).expect_err("one gate a place");
        assert!(busy.contains("is in use"), "{busy}");
        assert!(place.call().is_ok(), "the first one stays open");
        drop(gate);
        assert!(!desk.path().join("s").exists());
        assert!(place.call().is_err());
    }

    #[test]
    fn a_socket_that_nobody_listens_at_is_taken_over_and_no_other_file_is() {
        let desk = desk();
        let (socket, file) = (desk.path().join("s"), desk.path().join("f"));
        // A listener that is dropped leaves its file, as a killed process does.
        drop(UnixListener::bind(&socket).expect("a socket"));
        fs::write(&file, "precious").expect("writable");
        assert!(socket.exists());
        assert!(Gate::open(&Place::File(socket)).is_ok());
        assert!(Gate::open(&Place::File(file.clone())).unwrap_err().contains("is in use"));
        assert_eq!(fs::read(&file).expect("still there"), b"precious");
        let nowhere = Gate::open(&Place::File(desk.path().join("no/such/folder")));
        assert!(nowhere.unwrap_err().contains("cannot listen at"));
    }

    #[test]
    fn a_name_without_a_file_is_free_again_when_its_gate_is_gone() {
        let place = Place::Name(format!("rig-gate-test-{}", std::process::id()));
        let gate = Gate::open(&place).expect("a gate");
        assert!(Gate::open(&place).unwrap_err().contains("is in use"));
        drop(gate);
        assert!(Gate::open(&place).is_ok());
        assert!(Gate::open(&Place::Stdio).is_err());
    }
}
