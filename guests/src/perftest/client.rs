//! The rig as a perftest client, as far as a server has to be told before anything is sent to it.

use super::exchange::{DESTINATION, DONE, Destination, GREETINGS, Opening};
use std::io::{self, Read, Write};

/// Tells a server where the rig's queue pair is; what the server opens with, and where its own is. It receives when this returns: a server says where it is for the second
/// time once its queue pair is ready, and one that has something to do before the first message (`posts`: what SENDs go to) for the fourth time when it is done with that. `met` hears where
/// it is before it sends anything.
///
/// # Errors
/// The line breaks, or what comes is nothing that perftest says.
pub(crate) fn greet(
    line: &mut (impl Read + Write),
    opening: &Opening,
    (ours, posts): (&Destination, bool),
    met: impl FnOnce(&Destination) -> io::Result<()>,
) -> io::Result<(Opening, Destination)> {
    let Opening { version, cycle_buffer, cache_line, mtu } = opening;
    let version = told(line, *version)?;
    let cycle_buffer = u32::from_be_bytes(told(line, cycle_buffer.to_be_bytes())?);
    let cache_line = u32::from_be_bytes(told(line, cache_line.to_be_bytes())?);
    let theirs = Opening::mtu_of(told(line, [b'0' + mtu, 0])?).map_err(io::Error::other)?;
    let opened = Opening { version, cycle_buffer, cache_line, mtu: theirs };
    if theirs < *mtu {
        let bytes = opened.mtu_bytes();
        let why = format!("the server's path MTU is {bytes} bytes, less than what is to be sent");
        return Err(io::Error::other(why));
    }
    let first: [u8; DESTINATION] = told(line, ours.emit())?;
    let theirs = Destination::parse(&first).map_err(io::Error::other)?;
    met(&theirs)?;
    for _ready in 1..if posts { GREETINGS } else { 2 } {
        let _again: [u8; DESTINATION] = told(line, ours.emit())?;
    }
    Ok((opened, theirs))
}

/// Tells a server that the rig is done: once more where it is, and that.
///
/// # Errors
/// The line breaks.
pub(crate) fn part(line: &mut (impl Read + Write), ours: &Destination) -> io::Result<()> {
    let _again: [u8; DESTINATION] = told(line, ours.emit())?;
    let _done: [u8; DONE.len()] = told(line, DONE)?;
    Ok(())
}

/// Says something, and hears as much.
fn told<const N: usize>(line: &mut (impl Read + Write), say: [u8; N]) -> io::Result<[u8; N]> {
    line.write_all(&say)?;
    line.flush()?;
    let mut heard = [0; N];
    line.read_exact(&mut heard)?;
    Ok(heard)
}
