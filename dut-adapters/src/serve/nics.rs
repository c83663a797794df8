//! The frames of a served device that is a NIC: from bytes to what its connections take them for, and back.
//!
//! On the wire a connection has one number for as long as a case says; the engine gets another one each time that connections
//! begin anew. So nothing of earlier ones is left, as after connection management has torn them down: what they still have to
//! send goes nowhere.

use super::frame::Heard;
use super::operands;
use crate::Emulated;
use crate::roce;
use rig_capture::blue_rdma::Frame;
use rig_capture::decode::to_nic;
use rig_frames::ethernet::{self, ethertype};
use rig_frames::vlan::{self, Pcp};
use rig_lab::{Kind, Profile};
use rig_oracle::model::blue_rdma::Said;
use rig_oracle::model::{Network, Packet};
use rig_testcases::Verb;
use rig_testcases::wire;

/// The connections of a NIC.
#[derive(Debug, Clone)]
pub(super) struct Nics {
    /// The host of the engine that is the NIC behind each port of the rig.
    hosts: Vec<u16>,
    /// What the engine calls the first connection.
    first: u16,
    /// How many connections there are.
    used: u16,
    /// What each connection that sends by itself does.
    verbs: Vec<(u16, Verb)>,
    /// Whether there are two, with the rig between them.
    is_pair: bool,
    /// The connections between the two: whatever comes of one is from the other NIC.
    between: Vec<u16>,
    /// The tag of each connection that has one.
    tags: Vec<(u16, vlan::Repr)>,
    /// What frames say, if they are of blue-rdma.
    said: Option<Said>,
}

impl Nics {
    /// Of a device that is a NIC; `None`: it is a switch.
    pub(super) fn of(profile: &Profile, emulated: &mut Emulated) -> Option<Nics> {
        let said = (profile.kind == Kind::BlueRdma).then(|| emulated.rig().said());
        profile.kind.has_nics().then(|| Nics {
            hosts: (0..profile.declared.port_count()).map(|port| emulated.nic_host(port)).collect(),
            first: 0,
            used: 0,
            verbs: Vec::new(),
            is_pair: profile.declared.nics().is_some_and(|nics| nics.peer.is_some()),
            between: Vec::new(),
            tags: Vec::new(),
            said,
        })
    }

    /// All connections begin anew.
    pub(super) fn disconnect(&mut self) {
        self.first = self.first.wrapping_add(self.used);
        self.used = 0;
        self.verbs.clear();
        self.between.clear();
        self.tags.clear();
    }

    /// What the engine calls a connection.
    pub(super) fn name(&mut self, connection: u16) -> u16 {
        self.used = self.used.max(connection.saturating_add(1));
        self.first.wrapping_add(connection)
    }

    /// A connection is from one port to another.
    pub(super) fn join(&mut self, connection: u16) {
        self.between.extend(self.is_pair.then_some(connection));
    }

    /// A connection begins to do something by itself; what the engine calls it.
    pub(super) fn begin(&mut self, connection: u16, verb: Verb, tag: Option<vlan::Repr>) -> u16 {
        self.tags.retain(|(known, _)| *known != connection);
        self.tags.extend(tag.map(|tag| (connection, tag)));
        self.verbs.retain(|(known, _)| *known != connection);
        self.verbs.push((connection, verb));
        self.name(connection)
    }

    /// What a frame is that arrived at `port`, cabled to rig port `rig`, in clear and no MAC Control.
    pub(super) fn read(&mut self, port: u16, rig: u16, frame: &[u8]) -> Heard {
        let to =
            ethernet::Repr::parse(frame).ok().filter(|(link, _)| link.dst == wire::dut_mac(rig));
        let Some(roce) = to.and_then(|_| to_nic(rig, frame)) else { return Heard::Foreign };
        let name = self.name(roce.connection);
        let own = self.hosts[usize::from(port)];
        let other = self.hosts.iter().copied().find(|host| *host != own);
        let from = other.filter(|_| self.between.contains(&roce.connection)).unwrap_or(port);
        // What it answers is in the class of its code point, as NICs have it by default.
        let packet = roce::packet(&roce, name, (from, own), roce.dscp >> 3);
        Heard::Data(operands::taken(packet, frame).with_pcp(pcp(frame)))
    }

    /// What a frame of blue-rdma is that arrived at `port`, cabled to rig port `rig`, from the NIC behind another one.
    pub(super) fn hear(
        &mut self,
        (port, rig): (u16, u16),
        frame: &[u8],
        network: &Network,
    ) -> Heard {
        let to = ethernet::Repr::parse(frame).is_ok_and(|(link, _)| link.dst == wire::dut_mac(rig));
        let Some(said) = Frame::read(rig, true, frame).filter(|_| to) else {
            return Heard::Foreign;
        };
        let connection = self.name(said.connection);
        let own = self.hosts[usize::from(port)];
        // There are two of them, and either has one at its other end.
        let other = self.hosts.iter().copied().find(|host| *host != own).unwrap_or(own);
        Heard::Data(network.saying(Frame { connection, ..said }, (other, own)))
    }

    /// Whether its NICs are of blue-rdma.
    pub(super) const fn are_blue_rdma(&self) -> bool {
        self.said.is_some()
    }

    /// The bytes of a frame that leaves by a port, cabled to rig port `rig`; `None` where its connection is gone.
    pub(super) fn bytes(&self, rig: u16, packet: &Packet) -> Option<Vec<u8>> {
        let connection = packet.stream.wrapping_sub(self.first);
        if connection >= self.used {
            return None;
        }
        if let Some(frame) = self.said.as_ref().and_then(|said| said.of(packet)) {
            return Some(Frame { connection, ce: packet.ce(), ..frame }.bytes(rig, false));
        }
        let roce = roce::roce(packet, connection, true)?;
        let verb = self.verbs.iter().find(|(known, _)| *known == connection);
        let verb = verb.map_or(Verb::Write, |(_, verb)| *verb);
        let own = self.tags.iter().find(|(known, _)| *known == connection).map(|(_, tag)| *tag);
        let tag =
            packet.pcp().and_then(Pcp::new).zip(own).map(|(pcp, tag)| vlan::Repr { pcp, ..tag });
        let bytes = wire::nic::frame_behind(tag, verb, (rig, false), &roce);
        Some(operands::given(packet, bytes))
    }
}

/// The priority in the tag of a frame.
fn pcp(frame: &[u8]) -> Option<u8> {
    let (link, rest) = ethernet::Repr::parse(frame).ok()?;
    let tag = (link.ethertype == ethertype::VLAN).then(|| vlan::Repr::parse(rest).ok())?;
    tag.map(|(tag, _, _)| tag.pcp.get())
}

/// Whether a frame is MAC Control: pauses are for every kind of device.
pub(super) fn is_control(frame: &[u8]) -> bool {
    ethernet::Repr::parse(frame).is_ok_and(|(link, _)| link.ethertype == ethertype::MAC_CONTROL)
}
