//! What two programs of perftest say to each other over a line that the rig passes on: which connections they agree on.
//!
//! The rig loses nothing of TCP, so each side's bytes come in their order; what comes again is passed over, also where it comes again in
//! one segment with what is new.

use super::exchange::{DESTINATION, DONE, Destination, FIGURE, LineKind, Opening};
use crate::peer::QpPair;
use core::net::{Ipv4Addr, Ipv6Addr};
use rig_frames::ethernet::{self, ethertype};
use rig_frames::ipv4;

/// Protocol number of TCP.
const TCP: u8 = 6;
/// The shortest header of TCP, in bytes.
const HEADER: usize = 20;
/// The flag that begins a conversation.
const SYN: u8 = 2;
/// Bytes in front of the first destination: version, two numbers of four bytes, and the path MTU as text.
const OPENING: usize = 26;

/// Who began a conversation: address and port.
type Began = (Ipv4Addr, u16);

/// Listens to the line between a client and the server at one port.
#[derive(Debug)]
pub(crate) struct Overheard {
    port: u16,
    began: Option<Began>,
    client: Said,
    server: Said,
    /// How many connections have been told.
    told: usize,
}

/// What one side has said so far.
#[derive(Debug, Default)]
struct Said {
    /// Number of the next byte.
    next: u32,
    bytes: Vec<u8>,
    /// How much of it has been read.
    read: usize,
    destinations: Vec<Destination>,
    /// What came was nothing that perftest says: the rest is not read.
    strange: bool,
}

impl Overheard {
    /// Nothing heard yet of conversations with the server at `port`.
    pub(crate) fn new(port: u16) -> Overheard {
        let (client, server) = (Said::default(), Said::default());
        Overheard { port, began: None, client, server, told: 0 }
    }

    /// A frame passed, of any kind. Connections that both sides have named with it, the server's end as the own one.
    pub(crate) fn heard(&mut self, frame: &[u8]) -> Vec<QpPair> {
        let Some((src, dst, segment)) = Segment::of(frame) else { return Vec::new() };
        let from_client = segment.to == self.port;
        if !from_client && segment.from != self.port {
            return Vec::new();
        }
        let began = if from_client { (src, segment.from) } else { (dst, segment.to) };
        if from_client && segment.syn {
            *self = Overheard { began: Some(began), ..Overheard::new(self.port) };
        }
        if self.began != Some(began) {
            return Vec::new();
        }
        let said = if from_client { &mut self.client } else { &mut self.server };
        said.take(&segment);
        self.agreed()
    }

    /// Pairs that are new. The one that is named first by one side meets the one that is named first by the other.
    fn agreed(&mut self) -> Vec<QpPair> {
        let Some(mtu) = self.client.opening().map(|opening| opening.mtu_bytes()) else {
            return Vec::new();
        };
        let both = self.client.destinations.iter().zip(&self.server.destinations);
        let address = |of: &Destination| Ipv6Addr::from(of.gid).to_canonical();
        let pair = |(client, server): (&Destination, &Destination)| QpPair {
            own: server.qpn,
            peer: client.qpn,
            peer_psn: client.psn,
            own_psn: server.psn,
            own_ip: address(server),
            peer_ip: address(client),
            mtu,
        };
        let new: Vec<QpPair> = both.skip(self.told).map(pair).collect();
        self.told += new.len();
        new
    }
}

impl Said {
    fn take(&mut self, segment: &Segment<'_>) {
        if segment.syn {
            *self = Said { next: segment.seq.wrapping_add(1), ..Said::default() };
            return;
        }
        // A sender that repeats merges what was not acknowledged with what it has to say since (RFC 9293, 3.8.6.2.1). What is ahead of
        // what has come is as far off in numbers that wrap.
        let again = usize::try_from(self.next.wrapping_sub(segment.seq)).unwrap_or(usize::MAX);
        let Some(new) = segment.payload.get(again..) else { return };
        self.next = self.next.wrapping_add(u32::try_from(new.len()).unwrap_or(0));
        self.bytes.extend_from_slice(new);
        while !self.strange && self.message() {}
    }

    /// Reads the next message; `false` where it is not there as a whole.
    fn message(&mut self) -> bool {
        self.read = self.read.max(OPENING);
        let rest = self.bytes.get(self.read..).unwrap_or_default();
        let Some(begin) = rest.first_chunk() else { return false };
        let length = match LineKind::of(*begin) {
            LineKind::Destination => DESTINATION,
            LineKind::Figure => FIGURE,
            LineKind::Done => DONE.len(),
        };
        let Some(message) = rest.get(..length) else { return false };
        if let Ok(line) = <&[u8; DESTINATION]>::try_from(message) {
            match Destination::parse(line) {
                Ok(one) if self.destinations.iter().all(|known| known.qpn != one.qpn) => {
                    self.destinations.push(one);
                }
                // It is said again each time that the two wait for each other.
                Ok(_) => {}
                Err(_) => self.strange = true,
            }
        }
        self.read += length;
        true
    }

    /// How it began, once that is there.
    fn opening(&self) -> Option<Opening> {
        let (version, rest) = self.bytes.get(..OPENING)?.split_first_chunk()?;
        let (cycle_buffer, rest) = rest.split_first_chunk()?;
        let (cache_line, rest) = rest.split_first_chunk()?;
        let mtu = Opening::mtu_of(*rest.first_chunk()?).ok()?;
        let [cycle_buffer, cache_line] = [*cycle_buffer, *cache_line].map(u32::from_be_bytes);
        Some(Opening { version: *version, cycle_buffer, cache_line, mtu })
    }
}

/// What is read of a segment of TCP (RFC 9293, 3.1).
#[derive(Debug)]
struct Segment<'a> {
    from: u16,
    to: u16,
    seq: u32,
    syn: bool,
    payload: &'a [u8],
}

impl Segment<'_> {
    /// Of an Ethernet frame with IPv4, with its addresses.
    fn of(frame: &[u8]) -> Option<(Ipv4Addr, Ipv4Addr, Segment<'_>)> {
        let (header, packet) = ethernet::Repr::parse(frame).ok()?;
        if header.ethertype != ethertype::IPV4 {
            return None;
        }
        let (ip, segment) = ipv4::Repr::parse(packet).ok()?;
        let header: &[u8; HEADER] = segment.first_chunk().filter(|_| ip.protocol == TCP)?;
        let [a, b, c, d, s0, s1, s2, s3, _, _, _, _, offset, flags, ..] = *header;
        Some((
            ip.src,
            ip.dst,
            Segment {
                from: u16::from_be_bytes([a, b]),
                to: u16::from_be_bytes([c, d]),
                seq: u32::from_be_bytes([s0, s1, s2, s3]),
                syn: flags & SYN != 0,
                payload: segment.get(usize::from(offset >> 4) * 4..)?,
            },
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::messages;
    use super::*;
    use rig_frames::MacAddr;
    use rig_frames::ip::Dscp;

    const PORT: u16 = 18_515;

    /// A frame between the two, from the client or from the server.
    fn frame(from_client: bool, seq: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
        let mut ends = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
        let mut ports = [40_000, PORT];
        if !from_client {
            ends.reverse();
            ports.reverse();
        }
        let mut segment = ports.map(u16::to_be_bytes).concat();
        segment.extend(seq.to_be_bytes());
        segment.extend([0, 0, 0, 0, 5 << 4, flags, 0, 0, 0, 0, 0, 0]);
        segment.extend(payload);
        let dscp = Dscp::new(0).expect("zero has six bits");
        let ip = ipv4::Repr { protocol: TCP, ..ipv4::Repr::udp(ends[0], ends[1], dscp) };
        let (dst, src) = (MacAddr([2; 6]), MacAddr([4; 6]));
        let header = ethernet::Repr { dst, src, ethertype: ethertype::IPV4 };
        [&header.emit()[..], &ip.emit(segment.len()), &segment].concat()
    }

    /// What is heard of a recorded conversation that is cut into segments of `most` bytes, each of which comes `times` times.
    fn heard(program: &str, most: usize, times: usize) -> Vec<QpPair> {
        let mut overheard = Overheard::new(PORT);
        let mut told = Vec::new();
        // Numbers that wrap on the way.
        let mut next = [u32::MAX - 20, u32::MAX - 90];
        for (side, from_client) in [true, false].into_iter().enumerate() {
            told.extend(overheard.heard(&frame(from_client, next[side], SYN, &[])));
            next[side] = next[side].wrapping_add(1);
        }
        for (side, mark) in ['>', '<'].into_iter().enumerate() {
            let said = messages(program, mark).concat();
            for part in said.chunks(most) {
                for _ in 0..times {
                    told.extend(overheard.heard(&frame(side == 0, next[side], 0, part)));
                }
                next[side] = next[side].wrapping_add(u32::try_from(part.len()).expect("short"));
            }
        }
        told
    }

    #[test]
    fn a_recorded_conversation_tells_its_connection_once_however_it_is_cut() {
        for program in ["ib_send_bw", "ib_write_bw", "ib_read_bw", "ib_atomic_bw"] {
            let whole = heard(program, 1_400, 1);
            let [one] = &whole[..] else { panic!("{program}: {whole:?}") };
            let named = |side| {
                let said = messages(program, side).into_iter();
                let mut lines = said.filter_map(|said| <[u8; DESTINATION]>::try_from(said).ok());
                Destination::parse(&lines.next().expect("it named one")).expect("as recorded")
            };
            let (client, server) = (named('>'), named('<'));
            assert_eq!((one.peer, one.peer_psn, one.own), (client.qpn, client.psn, server.qpn));
            assert_eq!((one.own_psn, one.mtu), (server.psn, 1024));
            assert_eq!(heard(program, 7, 2), whole, "{program}");
        }
    }

    #[test]
    fn a_segment_that_repeats_what_came_and_goes_on_is_read_from_there_on() {
        let mut overheard = Overheard::new(PORT);
        let mut told = Vec::new();
        for (from_client, mark) in [(true, '>'), (false, '<')] {
            // Numbers that wrap on the way.
            let first = u32::MAX - 20;
            told.extend(overheard.heard(&frame(from_client, first.wrapping_sub(1), SYN, &[])));
            let said = messages("ib_send_bw", mark).concat();
            for end in (7..said.len() + 7).step_by(7).map(|end| end.min(said.len())) {
                // The last 20 bytes and the 7 that are new, in one.
                let begin = end.saturating_sub(27);
                let seq = first.wrapping_add(u32::try_from(begin).expect("short"));
                told.extend(overheard.heard(&frame(from_client, seq, 0, &said[begin..end])));
            }
        }
        assert_eq!(told, heard("ib_send_bw", 1_400, 1));
    }

    #[test]
    fn what_is_said_elsewhere_tells_nothing() {
        let mut overheard = Overheard::new(PORT + 1);
        let said = messages("ib_send_bw", '>').concat();
        assert_eq!(overheard.heard(&frame(true, 0, SYN, &[])), []);
        assert_eq!(overheard.heard(&frame(true, 1, 0, &said)), []);
        assert_eq!(overheard.heard(&said), []);
    }
}
