//! The messages of the exchange, bytes to meaning and back. Nothing here waits for anything.

use core::fmt;
use rig_frames::psn::Psn;
use rig_frames::roce::Qpn;

/// Length of a destination on the wire, in bytes, its NUL counted.
pub(super) const DESTINATION: usize = 108;
/// Length of a figure of a report.
pub(super) const FIGURE: usize = 8;
/// How often either side says where it is until one that waits for messages does so: when it is found, when it is told, when its queue pair is ready, and when what messages go to
/// is posted. As it is in perftest 4.5 where there is one queue pair, of SENDs and in all programs of latency.
pub(crate) const GREETINGS: u8 = 4;
/// What perftest 4.5 calls itself.
const VERSION: &[u8; 4] = b"6.06";
/// What ends a conversation.
pub(super) const DONE: [u8; 5] = *b"done\0";

/// A message that is none of perftest's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadExchange {
    /// Which field of which message.
    pub field: &'static str,
    /// Where it begins in the message, in bytes.
    pub offset: usize,
    /// What stands there.
    pub found: String,
}

impl fmt::Display for BadExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BadExchange { field, offset, found } = self;
        write!(f, "{field} at byte {offset}: got {}", found.escape_debug())
    }
}

impl core::error::Error for BadExchange {}

/// How perftest begins: what both sides state before they name a queue pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    /// The version, as text filled up with NUL.
    pub version: [u8; 16],
    /// Bytes after which a sender begins its buffer anew.
    pub cycle_buffer: u32,
    /// Bytes of a line of the processor's cache.
    pub cache_line: u32,
    /// The path MTU as verbs number it: 1 is 256 bytes, 5 is 4096.
    pub mtu: u8,
}

impl Opening {
    /// That of the rig as a client: the version of perftest 4.5.
    pub(crate) fn of_rig(mtu: u8) -> Opening {
        let mut version = [0; 16];
        version[..VERSION.len()].copy_from_slice(VERSION);
        Opening { version, cycle_buffer: 4_096, cache_line: 64, mtu }
    }

    /// Bytes that a packet of this path MTU carries at most.
    pub const fn mtu_bytes(&self) -> u16 {
        128 << self.mtu
    }

    /// The number of a path MTU of so many bytes; `None` where there is none.
    pub(super) fn mtu_numbered(bytes: u64) -> Option<u8> {
        (1..=5).find(|number| 128_u64 << number == bytes)
    }

    /// The path MTU of its text: a digit and a NUL.
    pub(super) fn mtu_of(text: [u8; 2]) -> Result<u8, BadExchange> {
        match text {
            [digit @ b'1'..=b'5', 0] => Ok(digit - b'0'),
            other => Err(BadExchange {
                field: "path MTU",
                offset: 0,
                found: String::from_utf8_lossy(&other).into_owned(),
            }),
        }
    }
}

/// A queue pair and the memory behind it, as one perftest tells the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Destination {
    /// Local identifier: zero with RoCE.
    pub lid: u16,
    /// READs and atomics that its owner takes at once.
    pub out_reads: u16,
    /// Queue pair.
    pub qpn: Qpn,
    /// Number of the first packet that it will send.
    pub psn: Psn,
    /// Key to the memory.
    pub rkey: u32,
    /// Virtual address of the memory.
    pub virtual_address: u64,
    /// Address of its port, of IPv4 in its mapped form.
    pub gid: [u8; 16],
    /// Shared receive queue: zero where there is none.
    pub srqn: u32,
}

/// Fields in front of the GID, each with its digits.
const DIGITS: [(&str, usize); 6] =
    [("LID", 4), ("outstanding reads", 4), ("QPN", 6), ("PSN", 6), ("rkey", 8), ("address", 16)];

impl Destination {
    /// Reads the line: hexadecimal numbers of a fixed width, a colon behind each, and a NUL.
    ///
    /// # Errors
    /// The first field that is no such number.
    pub fn parse(line: &[u8; DESTINATION]) -> Result<Destination, BadExchange> {
        let mut at = 0;
        let mut next = |field: &'static str, digits: usize| {
            let text = &line[at..at + digits];
            let offset = at;
            let bad = || BadExchange {
                field,
                offset,
                found: String::from_utf8_lossy(&line[offset..=offset + digits]).into_owned(),
            };
            let mut value = 0_u64;
            for &digit in text {
                let digit = char::from(digit).to_digit(16).ok_or_else(bad)?;
                value = value << 4 | u64::from(digit);
            }
            at += digits + 1;
            if line[at - 1] == b':' { Ok(value) } else { Err(bad()) }
        };
        let mut front = [0; DIGITS.len()];
        for (value, (field, digits)) in front.iter_mut().zip(DIGITS) {
            *value = next(field, digits)?;
        }
        let mut gid = [0; 16];
        for byte in &mut gid {
            *byte = low(next("GID", 2)?);
        }
        let srqn = low32(next("SRQ", 8)?);
        if line[DESTINATION - 1] != 0 {
            let found = char::from(line[DESTINATION - 1]).to_string();
            return Err(BadExchange { field: "end", offset: DESTINATION - 1, found });
        }
        let [lid, out_reads, qpn, psn, rkey, virtual_address] = front;
        Ok(Destination {
            lid: low16(lid),
            out_reads: low16(out_reads),
            qpn: Qpn::new(low32(qpn)).expect("six digits are 24 bits"),
            psn: Psn::new(low32(psn)),
            rkey: low32(rkey),
            virtual_address,
            gid,
            srqn,
        })
    }

    /// Writes the line.
    pub fn emit(&self) -> [u8; DESTINATION] {
        let Destination { lid, out_reads, qpn, psn, rkey, virtual_address, gid, srqn } = self;
        let mut text = format!(
            "{lid:04x}:{out_reads:04x}:{:06x}:{:06x}:{rkey:08x}:{virtual_address:016x}:",
            qpn.get(),
            psn.get()
        );
        for byte in gid {
            text += &format!("{byte:02x}:");
        }
        text += &format!("{srqn:08x}:\0");
        text.into_bytes().try_into().expect("every field has its width")
    }
}

/// Which message begins so. A figure is a whole number or a floating-point number in network order, and none that perftest
/// reports begins with four hexadecimal digits and a colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Destination,
    Figure,
    Done,
}

impl LineKind {
    /// Of the first five bytes.
    pub(super) fn of(begin: [u8; 5]) -> LineKind {
        let [digits @ .., colon] = begin;
        if begin == DONE {
            LineKind::Done
        } else if colon == b':' && digits.iter().all(u8::is_ascii_hexdigit) {
            LineKind::Destination
        } else {
            LineKind::Figure
        }
    }
}

fn low(value: u64) -> u8 {
    value.to_be_bytes()[7]
}

fn low16(value: u64) -> u16 {
    let [.., a, b] = value.to_be_bytes();
    u16::from_be_bytes([a, b])
}

fn low32(value: u64) -> u32 {
    let [.., a, b, c, d] = value.to_be_bytes();
    u32::from_be_bytes([a, b, c, d])
}
