//! From the bytes of a frame to what it was: the way back from [`crate::codec`], and the way in for captures of others.
//!
//! A RoCE stream is known by source and destination address, UDP source port and queue pair; its 24-bit packet sequence
//! number is continued beyond 24 bits by the order of frames. What is not understood, or was harmed on the way (a wrong
//! ICRC), is [`What::Other`]. So is a frame that MACsec protects where there are no keys to open it. Of a NIC's connection a frame with a
//! wrong ICRC is told as such: it may be the NIC that sent it so.

use crate::{Dir, PfcFault, What, blue_rdma};
use core::net::{IpAddr, Ipv4Addr};
use rig_frames::ethernet::{self, ethertype};
use rig_frames::ip::{Ecn, Ip, UDP};
use rig_frames::packet::{Packet, RoceFrame};
use rig_frames::psn::Psn;
use rig_frames::roce::opcode::Payload;
use rig_frames::{MacAddr, fcs, pfc, udp, vlan};
use rig_testcases::wire::macsec::is_protected;
use rig_testcases::wire::{self, UDP_MAGIC, UDP_PORT};
use rig_testcases::{IpVersion, Roce, Script, Secured, StreamKind};
use rig_units::{Bytes, FCS, MIN_FRAME, Quanta};
use std::collections::BTreeMap;

mod nic;
mod opener;
pub use nic::{roce_kind, roce_of, to_nic};
use opener::Opener;

/// What the frames of one stream have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// UDP source port.
    pub udp_src: u16,
    /// Destination queue pair; `None` for plain UDP.
    pub qpn: Option<u32>,
}

/// A stream that was found in a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// What its frames have in common.
    pub flow: Flow,
    /// What its first frame was.
    pub kind: StreamKind,
    /// DSCP of its first frame.
    pub dscp: u8,
    /// Size of its first frame, FCS counted.
    pub size: Bytes,
}

/// Reads frames in the order of a capture.
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    streams: BTreeMap<Flow, u16>,
    /// The packet sequence number of each stream's first frame.
    firsts: Vec<u32>,
    /// Whether an unknown flow becomes a stream.
    open: bool,
    found: Vec<Found>,
    /// The last number seen of each stream at each place.
    last: BTreeMap<(u16, u16, Dir), u32>,
    /// `None` without keys.
    opener: Option<Opener>,
    /// Protected frames that nobody could open.
    closed: u64,
    /// Whether frames of NICs of blue-rdma pass.
    blue_rdma: bool,
}

impl Decoder {
    /// Knows the streams of a script and takes all else for [`What::Other`].
    pub fn of(script: &Script) -> Decoder {
        let flow = |(stream, spec): (u16, &rig_testcases::StreamSpec)| {
            let rdma = spec.kind != StreamKind::Udp;
            let flow = Flow {
                src: at(spec.over, wire::rig_address(spec.from, spec.address)),
                dst: at(spec.over, wire::destination(spec).1),
                udp_src: wire::udp_port(stream),
                qpn: rdma.then(|| wire::qpn(stream)),
            };
            (flow, stream)
        };
        let streams = (0..).zip(&script.streams).map(flow).collect();
        let firsts = script.streams.iter().map(|spec| spec.psn).collect();
        Decoder { streams, firsts, opener: Opener::of(script), ..Decoder::default() }
    }

    /// Knows no stream and makes one of each flow that it meets.
    pub fn discovering() -> Decoder {
        Decoder { open: true, ..Decoder::default() }
    }

    /// The streams found so far, by index.
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    /// The devices go on with another association: its packet numbers begin again.
    pub fn rekey(&mut self, an: u8) {
        if let Some(opener) = &mut self.opener {
            opener.rekey(an);
        }
    }

    /// The devices go on with the packet number `first`.
    pub fn renumber(&mut self, first: u64) {
        if let Some(opener) = &mut self.opener {
            opener.renumber(first);
        }
    }

    /// The same, and what has no ICRC that fits may be a frame of a NIC of blue-rdma.
    #[must_use]
    pub fn of_blue_rdma(self) -> Decoder {
        Decoder { blue_rdma: true, ..self }
    }

    /// How many protected frames nobody could open.
    pub const fn closed(&self) -> u64 {
        self.closed
    }

    /// What a frame was that passed `port` in direction `dir`, how MACsec protected it, and the tag of a frame of a stream or a connection.
    /// `frame` starts at the destination MAC and has no FCS; `len` is its length on the wire, without FCS, of which a capture
    /// may have kept less.
    pub fn read(
        &mut self,
        port: u16,
        dir: Dir,
        frame: &[u8],
        len: usize,
    ) -> (What, Option<Secured>, Option<vlan::Repr>) {
        if !is_protected(frame) {
            let what = self.clear(port, dir, frame, len);
            return (what, None, tag(&what, frame));
        }
        // Of a frame that is cut nobody knows the ICV.
        let opener = self.opener.as_mut().filter(|_| frame.len() == len);
        let Some((clear, secured)) = opener.and_then(|opener| opener.open(port, dir, frame)) else {
            self.closed += 1;
            return (What::Other { size: on_wire(len) }, None, None);
        };
        if clear.is_empty() {
            let size = Bytes(on_wire(len).0.saturating_sub(secured.overhead().into()));
            return (What::Other { size: size.max(MIN_FRAME) }, Some(secured), None);
        }
        let what = self.clear(port, dir, &clear, clear.len());
        (what, Some(secured), tag(&what, &clear))
    }

    /// What a frame was, as [`Decoder::read`] says it.
    #[cfg(test)]
    fn decode(&mut self, port: u16, dir: Dir, frame: &[u8], len: usize) -> What {
        self.read(port, dir, frame, len).0
    }

    /// What a frame in clear was.
    fn clear(&mut self, port: u16, dir: Dir, frame: &[u8], len: usize) -> What {
        let size = on_wire(len);
        let other = What::Other { size };
        if let Some(what) = pfc(frame, len) {
            return what;
        }
        let cut = frame.len() < len;
        let mut whole = Vec::new();
        let frame = if cut {
            // The headers are there; what the capture left out of the payload reads as zeros.
            whole.extend_from_slice(frame);
            whole.resize(len.min(usize::from(u16::MAX)), 0);
            &whole[..]
        } else {
            frame
        };
        let read = nic::read(frame);
        if self.blue_rdma
            && !matches!(read, Ok(Packet::Roce { icrc_ok: true, .. }))
            && let Some(said) = blue_rdma::Frame::read(port, dir == Dir::Tx, frame)
        {
            return What::BlueRdma(said);
        }
        let data = match read {
            Ok(Packet::Roce { frame: parsed, icrc_ok }) => {
                let is_whole = icrc_ok || cut;
                let data = roce(&parsed);
                let of_rig = |data: &Data| self.open || self.streams.contains_key(&data.flow);
                if !data.as_ref().is_some_and(of_rig)
                    && let Ok(size) = u16::try_from(size.0)
                    && let Some(roce) = nic::roce(port, &parsed, size, frame)
                {
                    return What::Roce(Roce { corrupt: !is_whole, ..roce });
                }
                data.filter(|_| is_whole)
            }
            Ok(Packet::Other { ethertype: ethertype::IPV4 | ethertype::IPV6, .. }) => plain(frame),
            _ => None,
        };
        let (Some(data), Ok(size)) = (data, u16::try_from(size.0)) else { return other };
        let Some(stream) = self.stream(&data, size) else { return other };
        let seq = match data.number {
            Number::Whole(seq) => seq,
            Number::Low24(psn) => {
                let first = self.firsts.get(usize::from(stream)).copied().unwrap_or(0);
                let number = Psn::new(psn.get().wrapping_sub(first));
                self.continued((stream, port, dir), number)
            }
        };
        self.last.insert((stream, port, dir), seq);
        What::Data { stream, seq, size, ce: data.ecn == Ecn::Ce }
    }

    fn stream(&mut self, data: &Data, size: u16) -> Option<u16> {
        if let Some(&stream) = self.streams.get(&data.flow) {
            return Some(stream);
        }
        if !self.open {
            return None;
        }
        let stream = u16::try_from(self.found.len()).ok()?;
        let size = Bytes(size.into());
        self.found.push(Found { flow: data.flow, kind: data.kind, dscp: data.dscp, size });
        self.streams.insert(data.flow, stream);
        Some(stream)
    }

    /// The number nearest to the last one at this place whose low 24 bits are `psn`.
    fn continued(&self, place: (u16, u16, Dir), psn: Psn) -> u32 {
        let Some(&last) = self.last.get(&place) else { return psn.get() };
        match psn.ahead_of(Psn::new(last)) {
            Some(gap) => last.saturating_add(gap),
            None => Psn::new(last).ahead_of(psn).map_or(psn.get(), |gap| last.saturating_sub(gap)),
        }
    }
}

/// The 802.1Q tag of a frame of a stream, or of a connection.
fn tag(what: &What, frame: &[u8]) -> Option<vlan::Repr> {
    let (link, rest) = ethernet::Repr::parse(frame).ok()?;
    let tagged =
        link.ethertype == ethertype::VLAN && matches!(what, What::Data { .. } | What::Roce(_));
    tagged.then(|| vlan::Repr::parse(rest).ok())?.map(|(tag, _, _)| tag)
}

/// The address of who has this one, of a version of IP.
fn at(over: IpVersion, address: Ipv4Addr) -> IpAddr {
    match over {
        IpVersion::V4 => address.into(),
        IpVersion::V6 => wire::v6(address).into(),
    }
}

/// Size of a frame of `len` bytes, FCS counted.
fn on_wire(len: usize) -> Bytes {
    (Bytes(len as u64) + FCS).max(MIN_FRAME)
}

/// What tells a data frame from another.
struct Data {
    flow: Flow,
    kind: StreamKind,
    dscp: u8,
    ecn: Ecn,
    number: Number,
}

enum Number {
    Whole(u32),
    Low24(Psn),
}

/// A RoCE frame that carries data; acknowledgements, requests without data and CNPs are none.
fn roce(frame: &RoceFrame) -> Option<Data> {
    let opcode = frame.bth.opcode;
    if opcode.payload() == Payload::None {
        return None;
    }
    let (src, dst, dscp, ecn) = match &frame.path.ip {
        Ip::V4(ip) => (ip.src.into(), ip.dst.into(), ip.dscp, ip.ecn),
        Ip::V6(ip) => (ip.src.into(), ip.dst.into(), ip.dscp, ip.ecn),
    };
    let qpn = Some(frame.bth.dest_qp.get());
    let write = opcode.name().contains("WRITE");
    Some(Data {
        flow: Flow { src, dst, udp_src: frame.path.udp_src, qpn },
        kind: if write { StreamKind::RoceWrite } else { StreamKind::RoceSend },
        dscp: dscp.get(),
        ecn,
        number: Number::Low24(frame.bth.psn),
    })
}

/// A frame of a plain UDP stream of the rig's own.
fn plain(frame: &[u8]) -> Option<Data> {
    let (link, rest) = ethernet::Repr::parse(frame).ok()?;
    let (kind, packet) = match link.ethertype {
        ethertype::VLAN => vlan::Repr::parse(rest).map(|(_, kind, rest)| (kind, rest)).ok()?,
        kind => (kind, rest),
    };
    let (ip, datagram) = Ip::parse(kind, packet).ok()?;
    if ip.protocol() != UDP {
        return None;
    }
    let (src, dst): (IpAddr, IpAddr) = match &ip {
        Ip::V4(ip) => (ip.src.into(), ip.dst.into()),
        Ip::V6(ip) => (ip.src.into(), ip.dst.into()),
    };
    let (udp, payload) = udp::Repr::parse(&ip, datagram).ok()?;
    let seq = payload.strip_prefix(&UDP_MAGIC)?.first_chunk()?;
    if udp.dst_port != UDP_PORT {
        return None;
    }
    Some(Data {
        flow: Flow { src, dst, udp_src: udp.src_port, qpn: None },
        kind: StreamKind::Udp,
        dscp: ip.dscp().get(),
        ecn: ip.ecn(),
        number: Number::Whole(u32::from_be_bytes(*seq)),
    })
}

/// A PFC frame, good or bad; `None` when it is no PFC frame at all. `len` may count the FCS, which some taps keep.
fn pfc(frame: &[u8], len: usize) -> Option<What> {
    const LEN: usize = 60;
    let (header, rest) = ethernet::Repr::parse(frame).ok()?;
    let (tagged, kind, control) = match (header.ethertype, rest) {
        (ethertype::VLAN, [_, _, hi, lo, rest @ ..]) => {
            (true, u16::from_be_bytes([*hi, *lo]), rest)
        }
        (kind, rest) => (false, kind, rest),
    };
    let (opcode, fields) = control.split_first_chunk()?;
    if kind != ethertype::MAC_CONTROL || u16::from_be_bytes(*opcode) != pfc::OPCODE {
        return None;
    }
    let with_fcs = frame.len() == LEN + fcs::LEN && fcs::holds(frame);
    let [reserved, enable, ..] = *fields else {
        let (fault, enable, quanta) = (PfcFault::Padding, 0, [Quanta(0); 8]);
        return Some(What::BadPfc { fault, enable, quanta });
    };
    let times = fields.get(2..pfc::LEN - 2);
    let padding = fields.get(pfc::LEN - 2..).unwrap_or_default();
    let padding = &padding[..padding.len() - if with_fcs { fcs::LEN } else { 0 }];
    let fault = if header.dst != MacAddr::MAC_CONTROL {
        Some(PfcFault::Destination)
    } else if header.src.is_group() || header.src == MacAddr::default() {
        Some(PfcFault::Source)
    } else if tagged {
        Some(PfcFault::Tagged)
    } else if reserved != 0 {
        Some(PfcFault::Reserved)
    } else if times.is_none() || padding.iter().any(|&byte| byte != 0) {
        // A byte too many is a fault of its own, zero or not.
        Some(PfcFault::Padding)
    } else if len != LEN && !with_fcs {
        Some(PfcFault::Size)
    } else {
        None
    };
    let (pairs, _) = times.unwrap_or_default().as_chunks::<2>();
    let mut quanta = [Quanta(0); 8];
    for (quanta, pair) in quanta.iter_mut().zip(pairs) {
        *quanta = Quanta(u16::from_be_bytes(*pair));
    }
    Some(match fault {
        Some(fault) => What::BadPfc { fault, enable, quanta },
        None => What::Pfc { enable, quanta },
    })
}

#[cfg(test)]
mod tests;
