//! Any capture as an observation: pcapng, or pcap in micro- or nanoseconds, packed by gzip or not.

use super::{infer, raw, zip};
use crate::Observation;
use crate::blue_rdma::Dialogue;
use crate::connection::Connection;
use core::fmt;
use rig_testcases::Script;
use rig_testcases::file::{self, Unread};
use rig_units::limits::{self, CAPTURE_BYTES};
use rig_units::{Dur, PortSpeed};
use std::path::Path;

/// Bytes of memory that a frame takes while it is understood, all that is made of it counted.
const A_FRAME: usize = 768;

/// What a capture does not say of the place it was taken at.
#[derive(Clone, Copy)]
pub struct Assume<'a> {
    /// The class of a DSCP.
    pub class_of: &'a dyn Fn(u8) -> u8,
    /// The speed of an interface that does not tell its own.
    pub speed: PortSpeed,
    /// Time a bit needs through the cables.
    pub cable: Dur,
}

/// A capture, understood.
#[derive(Debug, Clone)]
pub struct Capture {
    /// What was seen. A file that ends in the middle says so in the integrity.
    pub observation: Observation,
    /// The streams and storms that were found in it, as if they had been asked for.
    pub script: Script,
    /// Whether the rig took it, of a NIC.
    pub of_nic: bool,
    /// What can be told of each stream of the script where frames are missing from the file.
    pub kept: Vec<Kept>,
    /// Where and why frames are missing from the file, one sentence each.
    pub holes: Vec<String>,
    /// What the file's comments say of loads: the port's name, and the comment.
    pub loads: Vec<(String, String)>,
    /// What had to be guessed, one sentence each.
    pub notes: Vec<String>,
    /// The reliable connections among the frames, by the first packet of each.
    pub connections: Vec<Connection>,
    /// What queue pairs of blue-rdma send each other among the frames, by the first packet of each.
    pub dialogues: Vec<Dialogue>,
}

/// How much of a stream a file shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Every frame.
    Whole,
    /// Some, and how many there were: in the observation's counts.
    Counted,
    /// Some, and nobody says of how many.
    Part,
}

/// A file that is no capture, or a broken one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// As the caller named it.
    pub file: String,
    /// The byte at which the part begins that is wrong; `None` when the file could not be read at all.
    pub at: Option<usize>,
    /// What is wrong.
    pub what: String,
}

impl Fault {
    /// A file that is not read at all.
    pub fn unread(file: String, unread: &Unread) -> Fault {
        Fault { file, at: None, what: format!("cannot be read: {unread}") }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "{}: byte {at}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

impl core::error::Error for Fault {}

/// Reads a capture file.
///
/// # Errors
/// When the file cannot be read, is no capture, or is broken before its first frame or in the middle. A file that merely
/// ends too early is none of these.
pub fn read(path: &Path, assume: Assume<'_>) -> Result<Capture, Fault> {
    let file = path.display().to_string();
    let bytes = bytes(path)?;
    parse(&file, &bytes, assume)
}

/// The bytes of a capture file, for who reads them more than once.
///
/// # Errors
/// As [`read`], before anything of it is understood.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Fault> {
    let file = || path.display().to_string();
    file::read(path, CAPTURE_BYTES).map_err(|unread| Fault::unread(file(), &unread))
}

/// Understands the bytes of a capture file; `file` is its name for messages. In one that is packed, places are those of what it
/// holds.
///
/// # Errors
/// As [`read`].
pub fn parse(file: &str, bytes: &[u8], assume: Assume<'_>) -> Result<Capture, Fault> {
    let fault = |(at, what): raw::Located| Fault { file: file.to_owned(), at: Some(at), what };
    let plain = zip::unzip(bytes, CAPTURE_BYTES).map_err(|what| fault((0, what)))?;
    let bytes = &plain[..];
    let frames = if bytes.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]) {
        raw::pcapng(bytes)
    } else {
        raw::pcap(bytes)
    }
    .map_err(fault)?;
    within(&frames).map_err(|what| Fault { file: file.to_owned(), at: None, what })?;
    // Where memory is limited, a sentence instead of the end: what follows takes as much for each frame, at most.
    let room = frames.frames.len().saturating_mul(A_FRAME);
    Vec::<u8>::new().try_reserve_exact(room).map_err(|_| {
        let found = format!("its {} frames take {room} bytes of memory", frames.frames.len());
        Fault { file: file.to_owned(), at: None, what: format!("{found}, and there are fewer") }
    })?;
    Ok(infer::capture(&frames, assume))
}

/// Refuses frames further apart than any capture is long: in picoseconds they would not fit beside each other.
fn within(frames: &raw::Raw<'_>) -> Result<(), String> {
    let at = || (1..).zip(&frames.frames).map(|(number, frame)| (frame.at, number));
    let (Some((first, _)), Some((last, number))) = (at().min(), at().max()) else { return Ok(()) };
    let apart = last - first;
    if apart <= u128::from(limits::SPAN.0) {
        return Ok(());
    }
    let seconds = apart / u128::from(Dur::s(1).0);
    Err(format!(
        "frame {number} is stamped {seconds}s after the first one: want {}",
        limits::span().want
    ))
}
