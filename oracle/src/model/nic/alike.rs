//! What a NIC answers with goes as what it answers came: over the same version of IP, from the address that was asked, behind a tag where that
//! had one.

use super::{Config, tags};
use crate::model::packet::{Packet, PacketKind};

/// What is another in the name of a NIC at the other one of two of its GIDs: the first and the second, the third and the fourth.
const OTHER_GID: u16 = 1 << 8;
/// The names of hosts at their usual addresses, of networks of few: at another one they are greater.
const ONE_ADDRESS: u16 = 0xff;

/// An answer to `packet` as it leaves.
#[inline(always)]
pub(super) fn like(packet: &Packet, config: &Config, answer: Packet) -> Packet {
    let answer = tags::like(packet, config, answer);
    if packet.is_v6() || packet.dst > ONE_ADDRESS || config.faults.rc.ack_from_other_gid {
        return with(packet, config, answer);
    }
    answer
}

#[cold]
#[inline(never)]
fn with(packet: &Packet, config: &Config, mut answer: Packet) -> Packet {
    let (rc, np) = (&config.faults.rc, &config.faults.np);
    let is_cnp = answer.kind == PacketKind::Cnp;
    if !rc.answers_from_first_gid {
        answer.src = packet.dst;
    }
    if rc.ack_from_other_gid && answer.kind == PacketKind::Ack {
        answer.src ^= OTHER_GID;
    }
    if !packet.is_v6() || is_cnp && np.cnp_over_ipv4 {
        return answer;
    }
    if rc.ipv6_answers_in_class_0 && !is_cnp {
        answer.dscp = 0;
    }
    answer.over_v6()
}
