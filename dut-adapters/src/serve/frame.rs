//! From the bytes of a received frame to what the engine takes for it, and from a PFC frame of the engine to bytes.
//!
//! The device switches by the destination address of Ethernet alone: the addresses of the rig's ports are known, each
//! behind one port of the device. It neither learns addresses nor floods, and changes neither addresses nor TTL. A frame
//! for any other address (ARP, neighbour discovery, a host's chatter) is foreign to it.

use super::{tag, tos};
use rig_capture::codec;
use rig_frames::ethernet::{self, ethertype};
use rig_frames::ip::Ecn;
use rig_frames::mac_control::{self, Control};
use rig_frames::{MacAddr, pfc};
use rig_lab::Qos;
use rig_oracle::model::Packet;
use rig_testcases::wire;
use rig_units::{Bytes, FCS, MIN_FRAME, Quanta};

/// What a received frame is to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// A frame for the rig's port behind another port of the device.
    Data(Packet),
    /// PFC.
    Pfc(pfc::Repr),
    /// 802.3x PAUSE, which a port with PFC ignores.
    Pause,
    /// MAC Control that breaks its format; nobody may act on it.
    Malformed,
    /// For nobody that the device knows.
    Foreign,
}

/// What it takes to read frames: who is behind which port, and which class a code point belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reader {
    /// The device's port behind each of the rig's.
    behind: Vec<u16>,
    classes: [u8; 64],
}

impl Reader {
    /// Rig port `i` is cabled to device port `i`, for all of `ports`.
    pub(super) fn new(ports: u16, qos: &Qos) -> Reader {
        let class = |dscp: u8| qos.dscp_to_tc.get(&dscp).copied().unwrap_or(qos.default_tc);
        let mut classes = [0; 64];
        for (dscp, slot) in (0..).zip(&mut classes) {
            *slot = class(dscp);
        }
        Reader { behind: (0..ports).collect(), classes }
    }

    /// Rig port `i` is cabled to device port `behind[i]`.
    pub(super) fn cable(&mut self, behind: &[u16]) {
        self.behind = behind.to_vec();
    }

    /// What `frame` is, which arrived at `port` of the device.
    pub(super) fn read(&self, port: u16, frame: &[u8]) -> Heard {
        let Ok((link, rest)) = ethernet::Repr::parse(frame) else { return Heard::Foreign };
        if link.ethertype == ethertype::MAC_CONTROL {
            return match mac_control::parse(link.dst, rest) {
                Ok(Some(Control::Pfc(repr))) => Heard::Pfc(repr),
                Ok(Some(Control::Pause(_))) => Heard::Pause,
                Ok(None) | Err(_) => Heard::Malformed,
            };
        }
        let to = self.station(link.dst).filter(|&to| to != port);
        let Some(to) = to else { return Heard::Foreign };
        let (dscp, ecn) = tos::read(frame).unwrap_or((0, Ecn::NotEct));
        let class = self.classes[usize::from(dscp)];
        let size = (Bytes(frame.len() as u64) + FCS).max(MIN_FRAME);
        // No port has an MTU of 64 KiB: what is capped here is dropped as too long.
        let size = u16::try_from(size.0).unwrap_or(u16::MAX);
        let packet = Packet::data(0, port, to, class, dscp, size);
        let packet = packet.with_ect(ecn != Ecn::NotEct).with_ce(ecn == Ecn::Ce);
        Heard::Data(packet.with_pcp(tag::read(frame)).with_v6(tos::is_v6(frame)))
    }

    /// The device's port behind which the rig's port with this address is.
    fn station(&self, address: MacAddr) -> Option<u16> {
        let MacAddr([.., hi, lo]) = address;
        let port = u16::from_be_bytes([hi, lo]);
        let known = wire::rig_mac(port) == address;
        self.behind.get(usize::from(port)).copied().filter(|_| known)
    }

    /// The rig's port at `port` of the device, by which captures name it; its own number where there is none.
    pub(super) fn rig(&self, port: u16) -> u16 {
        let rig = (0..).zip(&self.behind).find(|&(_, &behind)| behind == port);
        rig.map_or(port, |(rig, _)| rig)
    }

    /// The bytes of a PFC frame that the device sends by `port`.
    pub(super) fn pfc(&self, port: u16, packet: &Packet) -> Vec<u8> {
        let source = wire::dut_mac(self.rig(port));
        let asks = |class: usize| (packet.enable & !packet.zero) >> class & 1 == 1;
        let quanta = |class| if asks(class) { packet.quanta } else { Quanta(0) };
        let frame = wire::pfc(source, packet.enable, core::array::from_fn(quanta));
        match packet.fault() {
            Some(fault) => codec::bad_pfc(frame, fault),
            None => frame,
        }
    }
}

/// The engine's frames that do what `pfc` does. A frame of the engine has one length of pause for all its classes, so
/// there is one for each length that is asked for; every class is in exactly one of them. Of a protected frame with more
/// than one length the others are replays of the first to the engine: no rig sends such.
pub(super) fn pauses(pfc: &pfc::Repr) -> impl Iterator<Item = Packet> {
    let quanta = pfc.quanta;
    let asking = move |length: Quanta| {
        let classes = (0_u8..).zip(quanta).filter(move |&(_, asked)| asked == Some(length));
        classes.fold(0, |mask, (class, _)| mask | 1 << class)
    };
    let first = move |&(class, length): &(usize, Quanta)| {
        quanta[..class].iter().all(|&earlier| earlier != Some(length))
    };
    let lengths = quanta.into_iter().enumerate().filter_map(|(class, asked)| Some((class, asked?)));
    lengths.filter(first).map(move |(_, length)| {
        let classes: u8 = asking(length);
        let zero = if length == Quanta(0) { classes } else { 0 };
        Packet::pfc(classes, zero, length, SIZE)
    })
}

/// Size of a PFC frame, FCS counted.
const SIZE: u16 = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use rig_capture::decode::Decoder;
    use rig_capture::{Dir, PfcFault, What};
    use rig_frames::{ipv4, pause};
    use rig_oracle::model::PacketKind;
    use rig_testcases::{IpVersion, StreamKind, StreamRate, StreamSpec};
    use rig_units::Dur;

    fn qos() -> Qos {
        Qos {
            dscp_to_tc: [(3, 3), (4, 4)].into(),
            default_tc: 1,
            pfc_enable: vec![3, 4],
            pfcwd_sw_enable: vec![3, 4],
            dscp_to_color: None,
        }
    }

    fn reader() -> Reader {
        Reader::new(3, &qos())
    }

    fn stream(kind: StreamKind, from: u16, to: u16) -> StreamSpec {
        let name = "probe".to_owned();
        let rate = StreamRate::Every(Dur::us(1));
        let ecn = Ecn::Ect0;
        StreamSpec { name, kind, ecn, rate, ..StreamSpec::probe(from, to) }
    }

    fn control(frame: &[u8]) -> Heard {
        reader().read(0, frame)
    }

    #[test]
    fn a_frame_of_every_kind_of_stream_is_known_by_address_code_point_and_size() {
        for kind in [StreamKind::RoceWrite, StreamKind::RoceSend, StreamKind::Udp] {
            let frame = wire::data(&stream(kind, 0, 2), 5, 77, Bytes(254), false);
            let want = Packet::data(0, 0, 2, 3, 3, 254).with_ect(true);
            assert_eq!(reader().read(0, &frame), Heard::Data(want), "{kind:?}");
            let marked = wire::data(&stream(kind, 0, 2), 5, 77, Bytes(254), true);
            assert_eq!(reader().read(0, &marked), Heard::Data(want.with_ce(true)), "{kind:?}");
            let over_v6 = StreamSpec { over: IpVersion::V6, ..stream(kind, 0, 2) };
            let frame = wire::data(&over_v6, 5, 77, Bytes(254), true);
            let want = want.with_v6(true).with_ce(true);
            assert_eq!(reader().read(0, &frame), Heard::Data(want), "{kind:?}");
        }
    }

    #[test]
    fn a_code_point_without_a_class_of_its_own_gets_the_default_and_so_does_what_is_not_ip() {
        let spec = StreamSpec { dscp: 46, ..stream(StreamKind::Udp, 1, 0) };
        let Heard::Data(data) = reader().read(1, &wire::data(&spec, 0, 0, Bytes(64), false)) else {
            panic!()
        };
        assert_eq!((data.class, data.dscp, data.size), (1, 46, 64));
        let link =
            ethernet::Repr { dst: wire::rig_mac(0), src: wire::rig_mac(1), ethertype: 0x88b5 };
        let other = wire::filled(link.emit().to_vec(), Bytes(64));
        let want = Packet::data(0, 1, 0, 1, 0, 64);
        assert_eq!(reader().read(1, &other), Heard::Data(want));
    }

    #[test]
    fn what_is_for_nobody_or_for_where_it_came_from_is_foreign() {
        let beyond = wire::data(&stream(StreamKind::Udp, 0, 3), 0, 0, Bytes(64), false);
        let back = wire::data(&stream(StreamKind::Udp, 1, 0), 0, 0, Bytes(64), false);
        let mut broadcast = back.clone();
        broadcast[..6].copy_from_slice(&MacAddr::BROADCAST.0);
        for frame in [&beyond, &back, &broadcast, &back[..13].to_vec()] {
            assert_eq!(reader().read(0, frame), Heard::Foreign);
        }
    }

    #[test]
    fn stations_may_be_cabled_to_any_port() {
        let mut reader = reader();
        reader.cable(&[2, 0]);
        let frame = wire::data(&stream(StreamKind::Udp, 0, 1), 0, 0, Bytes(64), false);
        let Heard::Data(data) = reader.read(2, &frame) else { panic!() };
        assert_eq!((data.src, data.dst), (2, 0));
        let xoff = reader.pfc(0, &Packet::pfc(1 << 3, 0, Quanta::MAX, 64));
        assert_eq!(xoff[6..12], wire::dut_mac(1).0);
    }

    #[test]
    fn control_frames_are_told_apart() {
        let mac = wire::rig_mac(1);
        let xoff = pfc::Repr::all(1 << 3, Quanta(9));
        assert_eq!(control(&mac_control::frame_pfc(mac, &xoff)), Heard::Pfc(xoff));
        let stop = pause::Repr { quanta: Quanta(9) };
        assert_eq!(control(&mac_control::frame_pause(mac, &stop)), Heard::Pause);
        let mut elsewhere = mac_control::frame_pfc(mac, &xoff);
        elsewhere[..6].copy_from_slice(&MacAddr::BROADCAST.0);
        assert_eq!(control(&elsewhere), Heard::Malformed);
        let mut unknown = mac_control::frame_pfc(mac, &xoff);
        unknown[15] = 7;
        assert_eq!(control(&unknown), Heard::Malformed);
    }

    #[test]
    fn classes_with_one_length_of_pause_share_a_frame_of_the_engine() {
        let mut quanta = [None; 8];
        (quanta[0], quanta[3], quanta[4]) = (Some(Quanta(7)), Some(Quanta(0)), Some(Quanta(7)));
        (quanta[6], quanta[7]) = (Some(Quanta(9)), Some(Quanta(0)));
        let all: Vec<Packet> = pauses(&pfc::Repr { quanta }).collect();
        let want = [
            Packet::pfc(1 << 0 | 1 << 4, 0, Quanta(7), 64),
            Packet::pfc(1 << 3 | 1 << 7, 1 << 3 | 1 << 7, Quanta(0), 64),
            Packet::pfc(1 << 6, 0, Quanta(9), 64),
        ];
        assert_eq!(all, want);
        assert!(all.iter().all(|packet| packet.kind == PacketKind::Pfc));
        assert_eq!(pauses(&pfc::Repr::default()).count(), 0);
    }

    #[test]
    fn a_pfc_frame_of_the_engine_becomes_one_on_the_wire() {
        let xon = Packet::pfc(1 << 3 | 1 << 4, 1 << 4, Quanta(5), 64);
        let mut quanta = [None; 8];
        (quanta[3], quanta[4]) = (Some(Quanta(5)), Some(Quanta(0)));
        let frame = reader().pfc(1, &xon);
        assert_eq!(frame, mac_control::frame_pfc(wire::dut_mac(1), &pfc::Repr { quanta }));
    }

    #[test]
    fn a_fault_of_the_engines_frame_is_on_the_wire() {
        let xoff = Packet::pfc(1 << 3, 0, Quanta(5), 64);
        for fault in PfcFault::ALL {
            let frame = reader().pfc(1, &xoff.with_fault(fault));
            let seen = Decoder::discovering().read(1, Dir::Rx, &frame, frame.len()).0;
            let What::BadPfc { fault: found, enable, quanta } = seen else { panic!("{seen:?}") };
            assert_eq!((found, enable, quanta[3]), (fault, 1 << 3, Quanta(5)));
        }
    }

    #[test]
    fn the_longest_frame_is_still_a_frame() {
        let mut spec = stream(StreamKind::Udp, 0, 1);
        spec.size = Bytes(9_000);
        let frame = wire::data(&spec, 0, 0, spec.size, false);
        assert!(frame.len() > ipv4::LEN);
        let Heard::Data(data) = reader().read(0, &frame) else { panic!() };
        assert_eq!(data.size, 9_000);
        let Heard::Data(data) = reader().read(0, &[frame, vec![0; 70_000]].concat()) else {
            panic!()
        };
        assert_eq!(data.size, u16::MAX);
    }
}
