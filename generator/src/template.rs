//! The frames of one sender: one template, and the few fields that change from frame to frame.
//!
//! A slot that still holds the sender's last frame needs only these fields; the ICRC follows them without a pass over
//! the frame. Left out: fields that change a frame's length, and frames with a UDP checksum (RoCEv2 senders leave it
//! zero: IBTA Annex A17).

use core::ops::Range;
use rig_frames::ethernet::{self, ethertype};
use rig_frames::{Malformed, icrc, ipv4};
use rig_testcases::{StreamKind, StreamSpec, wire};

/// Where the type of service of an untagged frame over IPv4 stands.
const TOS: usize = ethernet::LEN + 1;
/// Where its header checksum stands.
const IP_CHECKSUM: Range<usize> = ethernet::LEN + 10..ethernet::LEN + 12;
/// Where the UDP source port of such a frame stands.
pub const UDP_SOURCE: Range<usize> = ethernet::LEN + ipv4::LEN..ethernet::LEN + ipv4::LEN + 2;
/// Where the destination queue pair of an untagged RoCEv2 frame over IPv4 stands.
pub const QUEUE_PAIR: Range<usize> = 47..50;
/// Where the packet sequence number of an untagged RoCEv2 frame over IPv4 stands.
pub const PSN: Range<usize> = 51..54;
/// Where the number of a plain UDP frame of the rig's own stands, behind the magic.
pub(crate) const UDP_NUMBER: Range<usize> = 46..50;

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
}

impl Template {
    /// Frames that are all alike: `bytes`, from the destination MAC on, without FCS.
    pub const fn new(bytes: Vec<u8>) -> Template {
        Template { bytes, programs: Vec::new() }
    }

    /// The frames of stream `index` of a script: its number in each.
    pub fn of_stream(index: u16, spec: &StreamSpec) -> Template {
        let bytes = wire::sent(spec, index, 0, spec.size);
        let plain = Template::new(bytes);
        let field = match spec.kind {
            StreamKind::RoceWrite | StreamKind::RoceSend => PSN,
            StreamKind::Udp => UDP_NUMBER,
        };
        plain.with(field, Source::Number(0)).expect("the rig's own frames have their fields")
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
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rig_frames::packet::{self, Packet};
    use rig_testcases::StreamRate;
    use rig_units::{Bytes, Dur};

    fn stream(kind: StreamKind, size: u64) -> StreamSpec {
        StreamSpec {
            overhead: Bytes(0),
            macsec: rig_testcases::Shield::Usual,
            name: "s".into(),
            from: 0,
            to: 1,
            class: 3,
            dscp: 3,
            kind,
            ecn: rig_frames::ip::Ecn::Ect0,
            size: Bytes(size),
            rate: StreamRate::Every(Dur::us(1)),
            count: None,
        }
    }

    #[test]
    fn the_frames_are_those_that_the_script_means() {
        for kind in [StreamKind::RoceWrite, StreamKind::RoceSend, StreamKind::Udp] {
            let spec = stream(kind, 254);
            let template = Template::of_stream(5, &spec);
            let mut slot = vec![0; 300];
            let mut primed = false;
            for number in [0_u32, 1, 255, 256, 0x00ff_ffff] {
                template.write(&mut slot, primed, number.into(), 0);
                primed = true;
                let want = wire::data(&spec, 5, number, spec.size, false);
                assert_eq!(slot[..template.len()], want, "{kind:?} {number}");
            }
        }
    }

    #[test]
    fn a_psn_wraps_at_24_bits() {
        let template = Template::of_stream(0, &stream(StreamKind::RoceWrite, 254));
        assert_eq!(template.frame(1 << 24, 0), template.frame(0, 0));
    }

    #[test]
    fn a_stamp_and_a_cycle_of_queue_pairs_stand_in_the_frame_and_the_icrc_holds() {
        let pairs: Vec<Vec<u8>> = (0..3).map(|n| vec![0, 1, n]).collect();
        let template = Template::of_stream(0, &stream(StreamKind::RoceSend, 254))
            .with(QUEUE_PAIR, Source::Cycle(pairs))
            .and_then(|template| template.with(60..68, Source::Stamp))
            .expect("fields");
        let frame = template.frame(4, 0x0102_0304_0506_0708);
        assert_eq!(frame[60..68], [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(frame[QUEUE_PAIR], [0, 1, 1]);
        assert_eq!(icrc::holds(&frame), Ok(true));
        let mut later = frame;
        template.stamp(&mut later, 9);
        assert_eq!(later, template.frame(4, 9));
    }

    proptest! {
        #[test]
        fn the_header_checksum_follows_the_type_of_service(values: [u8; 4]) {
            let spec = stream(StreamKind::RoceWrite, 254);
            let template = Template::of_stream(0, &spec).with_tos(&values);
            let mut slot = template.frame(0, 0);
            for (number, tos) in (0..).zip(values) {
                template.write(&mut slot, true, number, 0);
                let Ok(Packet::Roce { frame, icrc_ok: true }) = packet::parse(&slot) else {
                    return Err(TestCaseError::fail("the checksum or the ICRC is wrong"));
                };
                let packet::Path { ip: rig_frames::ip::Ip::V4(ip), .. } = frame.path else {
                    return Err(TestCaseError::fail("IPv4 stays IPv4"));
                };
                prop_assert_eq!(ip.dscp.get() << 2 | ip.ecn as u8, tos);
            }
        }
    }
}
