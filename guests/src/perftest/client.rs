//! The rig as a perftest client: what a server has to be told before anything is sent to it, and after.

use super::exchange::{DESTINATION, DONE, Destination, FIGURE, Opening};
use std::io::{self, Read, Write};

/// How often both say where they are until each of their queue pairs is connected.
pub(crate) const TOLD: u8 = 2;
/// The same until both have seen to it, but for what SENDs go to.
pub(crate) const READY: u8 = 3;

/// Tells a server where each of the rig's queue pairs is; what the server opens with, and where its own are. Both say so for so many `times`: of each twice, when
/// it is found and when it is connected, and of the first again as often as the server has something to do before messages come ([`TOLD`], [`READY`], [`GREETINGS`]). `met` hears where each is, beside the rig's, before the server sends
/// anything.
///
/// # Errors
/// The line breaks, or what comes is nothing that perftest says.
pub(crate) fn greet(
    line: &mut (impl Read + Write),
    opening: &Opening,
    (ours, times): (&[Destination], u8),
    mut met: impl FnMut(&Destination, &Destination) -> io::Result<()>,
) -> io::Result<(Opening, Vec<Destination>)> {
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
    let mut all = Vec::new();
    for own in ours {
        let each: [u8; DESTINATION] = told(line, own.emit())?;
        let theirs = Destination::parse(&each).map_err(io::Error::other)?;
        met(own, &theirs)?;
        all.push(theirs);
    }
    for own in ours {
        let _each_again: [u8; DESTINATION] = told(line, own.emit())?;
    }
    for _ready in TOLD..times {
        let _first: [u8; DESTINATION] = told(line, ours[0].emit())?;
    }
    Ok((opened, all))
}

/// What a client of bandwidth that is not told what came tells of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rate {
    /// Bytes of each message.
    pub(crate) size: u64,
    /// Messages over all queue pairs.
    pub(crate) messages: u64,
    /// Bytes a second, by the unit that the server shows: 2^20 of them, or 10^9 bits.
    pub(crate) rate: f64,
    /// Millions of messages a second.
    pub(crate) rate_of_messages: f64,
}

/// Tells a server that the rig is done: once more where it is, and that. One that has seen nothing of what came at it is told the `rate` in between.
///
/// # Errors
/// The line breaks.
pub(crate) fn part(
    line: &mut (impl Read + Write),
    ours: &Destination,
    rate: Option<Rate>,
) -> io::Result<()> {
    if let Some(Rate { size, messages, rate, rate_of_messages }) = rate {
        let _it_waits_for_this: [u8; DESTINATION] = told(line, ours.emit())?;
        let [size, messages] = [size, messages].map(u64::to_be_bytes);
        // The highest and the mean.
        let [rate, of_messages] = [rate, rate_of_messages].map(f64::to_be_bytes);
        for figure in [size, messages, rate, rate, of_messages] {
            let _its_own: [u8; FIGURE] = told(line, figure)?;
        }
    }
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
