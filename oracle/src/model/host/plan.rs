//! What a host sends by itself: streams and storms, and when their next frames are due.

use crate::model::packet::{Packet, PacketKind, bit};
use rig_testcases::MacsecMode;
use rig_units::{Dur, Pace, Quanta, Time};

/// A stream of equal frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    /// Names the stream to whoever stops it.
    pub id: u16,
    /// What its frames are: data or CNPs.
    pub kind: PacketKind,
    /// The stream, or the connection of a NIC, that its frames name; usually the same as `id`.
    pub names: u16,
    /// The number of its first frame.
    pub first: u32,
    /// The class by which the host pauses it.
    pub class: u8,
    /// The DSCP in its frames.
    pub dscp: u8,
    /// Frame size, FCS counted.
    pub size: u16,
    /// From one frame to the next.
    pub pace: Pace,
    /// The host it goes to.
    pub dst: u16,
    /// How many frames; `None` goes on until it is stopped.
    pub count: Option<u32>,
    /// Whether its frames are ECN-capable.
    pub ect: bool,
    /// Whether they are marked when they are sent.
    pub ce: bool,
    /// Marks its frames for recorders.
    pub record: bool,
    /// How its frames are protected by a host that speaks MACsec.
    pub macsec_mode: MacsecMode,
    /// The priority in the 802.1Q tag of its frames; `None`: they have no tag.
    pub pcp: Option<u8>,
    /// Which of its addresses the host sends them from; 0 is the usual one. Those of IPv6 are [`over_v6`].
    pub address: u8,
}

/// The name of a host at one of its addresses. Only what tells senders apart by their addresses looks at it; frames find their way by
/// the host alone, or by the cable.
pub fn at(host: u16, address: u8) -> u16 {
    assert!(address == 0 || host < 256, "few hosts have several addresses");
    host | u16::from(address) << 8
}

/// The number of the same address over IPv6.
pub const fn over_v6(address: u8) -> u8 {
    address | OVER_V6
}

/// In the number of an address: it is one of IPv6.
const OVER_V6: u8 = 0x80;

/// The same host at its usual address.
pub(crate) const fn usual(host: u16) -> u16 {
    host & 0xff
}

/// The port by which a host is reached, at whichever of its addresses; by host, the ports of a device.
#[inline(always)]
pub(crate) fn way_to(route: &[u16], host: u16) -> Option<u16> {
    let way = route.get(usize::from(host));
    way.or_else(|| route.get(usize::from(usual(host)))).copied()
}

/// At which of its addresses a host is meant, of a network of few.
pub const fn number(host: u16) -> u8 {
    host.to_be_bytes()[0] & 0x7f
}

/// PFC frames at fixed intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storm {
    /// Names the storm.
    pub id: u16,
    /// Bit `c` is set when class `c` is addressed.
    pub enable: u8,
    /// The addressed classes whose time is zero (XON).
    pub zero: u8,
    /// Pause time of the other addressed classes.
    pub quanta: Quanta,
    /// From one frame to the next.
    pub every: Dur,
    /// How many frames; `None` goes on until it is stopped.
    pub count: Option<u32>,
    /// How its frames are protected by a host that speaks MACsec.
    pub macsec_mode: MacsecMode,
}

/// Size of a PFC frame on Ethernet, FCS counted.
pub const PFC_SIZE: u16 = 64;

/// Something that leaves at its due times, so many times more.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// Names it to whoever stops it.
    pub(super) id: u16,
    /// When the next frame is due.
    pub(super) due: Time,
    left: Option<u32>,
    pace: Pace,
    /// The next frame.
    pub(super) packet: Packet,
    pub(super) macsec_mode: MacsecMode,
}

impl Plan {
    /// A stream of `host` whose first frame is due at `now`.
    pub(super) fn stream(host: u16, now: Time, stream: &Stream) -> Plan {
        let Stream { id, kind, names, class, dscp, size, pace, dst, count, .. } = *stream;
        let Stream { ect, ce, record, pcp, macsec_mode, .. } = *stream;
        assert!(
            matches!(kind, PacketKind::Data | PacketKind::Cnp),
            "a stream is of data or of CNPs"
        );
        let from = at(host, stream.address & !OVER_V6);
        let mut packet = Packet::data(names, from, dst, class, dscp, size);
        packet.kind = kind;
        packet.seq = stream.first;
        let packet = packet.with_ect(ect).with_ce(ce).with_record(record).with_pcp(pcp);
        let packet = packet.with_v6(stream.address & OVER_V6 != 0);
        Plan { id, due: now, left: count, pace, packet, macsec_mode }
    }

    /// A storm of `host` whose first frame is due at `now`.
    pub(super) fn storm(host: u16, now: Time, storm: &Storm) -> Plan {
        let Storm { id, enable, zero, quanta, every, count, macsec_mode } = *storm;
        let mut packet = Packet::pfc(enable, zero, quanta, PFC_SIZE).with_record(true);
        packet.stream = id;
        packet.src = host;
        Plan { id, due: now, left: count, pace: Pace::every(every), packet, macsec_mode }
    }

    /// Goes on to the next frame.
    #[inline]
    fn advance(&mut self) {
        // The number of a CNP is always 0.
        if self.packet.kind != PacketKind::Cnp {
            self.packet.seq = self.packet.seq.wrapping_add(1);
        }
        self.due = self.pace.next(self.due);
        if let Some(left) = &mut self.left {
            *left -= 1;
        }
    }
}

/// What has been due longest among the classes that are not closed, and since when.
#[inline]
pub(super) fn first(plans: &[Plan], closed: u8) -> Option<(Time, usize)> {
    let mut first = None;
    for (index, plan) in plans.iter().enumerate() {
        let open = closed & bit(plan.packet.class) == 0;
        if open && first.is_none_or(|(due, _)| plan.due < due) {
            first = Some((plan.due, index));
        }
    }
    first
}

/// Goes on to the next frame of a plan, or forgets the plan after its last.
#[inline]
pub(super) fn go_on(plans: &mut Vec<Plan>, index: usize) {
    let plan = &mut plans[index];
    plan.advance();
    if plan.left == Some(0) {
        plans.remove(index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_found_at_each_of_its_addresses() {
        let route = [4, 5];
        let hosts = [1, at(1, 3), at(0, 99), 2, at(2, 3)];
        let ways = hosts.map(|host| way_to(&route, host));
        assert_eq!(ways, [Some(5), Some(5), Some(4), None, None]);
    }
}
