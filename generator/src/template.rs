//! The frames of one sender: one template, and the few fields that change from frame to frame.
//!
//! A slot that still holds the sender's last frame needs only these fields; the ICRC follows them without a pass over
//! the frame. Left out: fields that change a frame's length, and frames with a UDP checksum (RoCEv2 senders leave it
//! zero: IBTA Annex A17).

use core::ops::Range;
use rig_frames::ethernet::{self, ethertype};
use rig_frames::{Malformed, icrc, ipv4};
use rig_testcases::{MacsecMode, StreamSpec, wire};

/// Where the type of service of an untagged frame over IPv4 stands.
const TOS: usize = ethernet::LEN + 1;
/// Where its header checksum stands.
const IP_CHECKSUM: Range<usize> = ethernet::LEN + 10..ethernet::LEN + 12;
/// Where the UDP source port of such a frame stands.
pub const UDP_SOURCE: Range<usize> = ethernet::LEN + ipv4::LEN..ethernet::LEN + ipv4::LEN + 2;
/// Where the destination queue pair of an untagged RoCEv2 frame over IPv4 stands.
pub const QUEUE_PAIR: Range<usize> = 47..50;

/// What a field says in each frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The frame's number plus this, as many low bytes of it as the field has.
    Number(u64),
    /// When the frame was handed over, in nanoseconds of the clock that sends it.
    Stamp,
    /// One value after the other, and from the beginning again. Each is as long as the field.
    Cycle(Vec<Vec<u8>>),
}

impl Source {
    /// What it says in frame `number`, as `len` bytes, most significant first; `room` is where numbers are written.
    fn value<'a>(
        &'a self,
        number: u64,
        stamp_ns: u64,
        len: usize,
        room: &'a mut [u8; 8],
    ) -> &'a [u8] {
        match self {
            Source::Number(first) => *room = first.wrapping_add(number).to_be_bytes(),
            Source::Stamp => *room = stamp_ns.to_be_bytes(),
            Source::Cycle(values) => {
                let turn = number % u64::try_from(values.len()).unwrap_or(u64::MAX).max(1);
                return &values[usize::try_from(turn).unwrap_or(0)];
            }
        }
        &room[room.len() - len..]
    }
}

#[derive(Debug, Clone)]
struct Program {
    place: Place,
    len: usize,
    source: Source,
}

#[derive(Debug, Clone)]
enum Place {
    /// Under an ICRC.
    Sealed(icrc::Field),
    /// In a frame without one.
    Open(Range<usize>),
    /// The type of service, which the header checksum follows and the ICRC leaves out.
    Tos,
}

/// The frames of one sender.
#[derive(Debug, Clone)]
pub struct Template {
    bytes: Vec<u8>,
    programs: Vec<Program>,
    /// How the port protects them, where it speaks MACsec.
    macsec_mode: MacsecMode,
}

impl Template {
    /// Frames that are all alike: `bytes`, from the destination MAC on, without FCS.
    pub const fn new(bytes: Vec<u8>) -> Template {
        Template { bytes, programs: Vec::new(), macsec_mode: MacsecMode::Usual }
    }

    /// The same frames, protected so where their port speaks MACsec.
    #[must_use]
    pub const fn with_macsec(mut self, macsec_mode: MacsecMode) -> Template {
        self.macsec_mode = macsec_mode;
        self
    }

    /// How they are protected where their port speaks MACsec.
    pub const fn macsec_mode(&self) -> MacsecMode {
        self.macsec_mode
    }

    /// The frames of stream `index` of a script: its number in each.
    pub fn of_stream(index: u16, spec: &StreamSpec) -> Template {
        let bytes = wire::sent(spec, index, 0, spec.size);
        let plain = Template::new(bytes).with_macsec(spec.macsec);
        let Some(field) = wire::number(spec) else { return plain };
        plain
            .with(field, Source::Number(spec.psn.into()))
            .expect("the rig's own frames have their fields")
    }

    /// The same frames with one more changing field.
    ///
    /// # Errors
    /// When the field decides where the ICRC lies.
    ///
    /// # Panics
    /// When the field lies outside the frame or in its ICRC, is longer than 8 bytes without being a cycle, or a value of
    /// a cycle has another length.
    pub fn with(mut self, at: Range<usize>, source: Source) -> Result<Template, Malformed> {
        let len = at.len();
        assert!(at.end <= self.bytes.len(), "a field lies within its frame");
        match &source {
            Source::Cycle(values) => {
                assert!(values.iter().all(|value| value.len() == len), "values fit their field");
                assert!(!values.is_empty(), "a cycle has values");
            }
            Source::Number(_) | Source::Stamp => assert!(len <= 8, "a number has up to 8 bytes"),
        }
        let sealed = icrc::holds(&self.bytes) == Ok(true);
        let place = if at == (TOS..TOS + 1) && self.is_ipv4() {
            Place::Tos
        } else if sealed {
            Place::Sealed(icrc::Field::new(&self.bytes, at)?)
        } else {
            Place::Open(at)
        };
        self.programs.push(Program { place, len, source });
        Ok(self)
    }

    /// The same frames with DSCP and ECN going round through `values`: whole ToS bytes.
    ///
    /// # Panics
    /// When the frame is not IPv4 without a tag, or `values` is empty.
    #[must_use]
    pub fn with_tos(self, values: &[u8]) -> Template {
        assert!(self.is_ipv4(), "a type of service needs IPv4");
        let values = values.iter().map(|&tos| vec![tos]).collect();
        self.with(TOS..TOS + 1, Source::Cycle(values)).expect("the ICRC leaves it out")
    }

    fn is_ipv4(&self) -> bool {
        self.bytes.get(12..14) == Some(&ethertype::IPV4.to_be_bytes())
    }

    /// Length of each frame, without FCS.
    pub const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether the frames have no bytes.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Writes frame `number` into `slot`, which holds another frame of this template if `primed`.
    ///
    /// # Panics
    /// When the slot is shorter than the frame.
    #[inline]
    pub fn write(&self, slot: &mut [u8], primed: bool, number: u64, stamp_ns: u64) {
        let frame = &mut slot[..self.bytes.len()];
        if !primed {
            frame.copy_from_slice(&self.bytes);
        }
        for Program { place, len, source } in &self.programs {
            let mut room = [0; 8];
            let value = source.value(number, stamp_ns, *len, &mut room);
            match place {
                Place::Sealed(field) => field.set(frame, value),
                Place::Open(at) => frame[at.clone()].copy_from_slice(value),
                Place::Tos => set_tos(frame, value[0]),
            }
        }
    }

    /// Whether each frame says when it was handed over.
    pub fn is_stamped(&self) -> bool {
        self.programs.iter().any(|program| program.source == Source::Stamp)
    }

    /// Writes another time into a frame of this template, where it has a place for that.
    pub fn stamp(&self, slot: &mut [u8], stamp_ns: u64) {
        for Program { place, len, source } in &self.programs {
            if *source == Source::Stamp {
                let stamp = stamp_ns.to_be_bytes();
                let value = &stamp[stamp.len() - len..];
                match place {
                    Place::Sealed(field) => field.set(slot, value),
                    Place::Open(at) => slot[at.clone()].copy_from_slice(value),
                    Place::Tos => set_tos(slot, value[0]),
                }
            }
        }
    }

    /// Frame `number` by itself.
    pub fn frame(&self, number: u64, stamp_ns: u64) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes.len()];
        self.write(&mut bytes, false, number, stamp_ns);
        bytes
    }
}

/// Another type of service, and the header checksum that follows it (RFC 1624, equation 3).
fn set_tos(frame: &mut [u8], tos: u8) {
    let old = u32::from(!u16::from(frame[TOS]));
    frame[TOS] = tos;
    let checksum = &mut frame[IP_CHECKSUM];
    let was = u32::from(!u16::from_be_bytes([checksum[0], checksum[1]]));
    // The version and header length beside it stay: they cancel out.
    let sum = was + (old & 0xffff) + u32::from(tos);
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    let sum = !u16::try_from(folded).unwrap_or(u16::MAX);
    checksum.copy_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
mod tests;
