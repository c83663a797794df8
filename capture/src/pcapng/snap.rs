//! How much of a frame a file keeps: what follows the headers of a frame of data says nothing, nor does an ICRC that is right.

use crate::{Record, What, blue_rdma};
use rig_frames::{icrc, vlan};
use rig_testcases::{IpVersion, Roce, RoceKind, Script, wire};

/// Ethernet, IPv4, UDP, BTH and RETH are 70 bytes; a plain frame's number ends at byte 52. Whole words. Over IPv6 it is 20 bytes more.
const HEADERS: usize = 72;

/// What a SecTAG with an SCI adds in front of them, in whole words.
const SECTAG: usize = 16;

/// Behind the ICRC; no record has it.
const FCS: usize = 4;

/// How many bytes of a record's frame are kept, at most. A frame that was harmed is kept whole: what is wrong with it may be
/// at its end.
pub(super) fn kept(record: &Record, script: &Script) -> usize {
    let more = |over: IpVersion| usize::try_from(wire::longer(over).0).unwrap_or(0);
    let (tag, corrupt) = match record.secured {
        Some(secured) => (SECTAG, secured.tamper.is_some()),
        None => (0, false),
    };
    let tag = tag + record.vlan.map_or(0, |_| vlan::LEN);
    match record.what {
        _ if corrupt => usize::MAX,
        What::Data { stream, .. } => {
            let spec = script.streams.get(usize::from(stream));
            HEADERS + tag + more(spec.map_or(IpVersion::V4, |spec| spec.over))
        }
        What::Roce(Roce { kind: RoceKind::Data { .. }, corrupt: false, over, .. }) => {
            HEADERS + tag + more(over)
        }
        // What is right follows from the rest, and looks like chance: it would be half of what an acknowledgement takes.
        What::Roce(Roce { corrupt: false, size, .. }) if record.secured.is_none() => {
            usize::from(size) - FCS - icrc::LEN
        }
        // The payload is zeros.
        What::BlueRdma(frame) if frame.is_data() => usize::from(blue_rdma::OVERHEAD) - FCS,
        What::Other { .. }
        | What::Pfc { .. }
        | What::BadPfc { .. }
        | What::Roce(_)
        | What::BlueRdma(_) => usize::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dir;
    use rig_frames::ip::Ecn;
    use rig_testcases::Verb;
    use rig_units::Time;

    /// A frame of a NIC with its bytes, of the size that they have.
    fn of_nic(kind: RoceKind, corrupt: bool) -> (Record, Vec<u8>) {
        let (connection, psn, ecn) = (3, 77, Ecn::Ect0);
        let roce = Roce { ecn, dscp: 3, corrupt, ..Roce::of(connection, kind, psn, 78) };
        let bytes = wire::nic::frame(Verb::Write, 0, false, &roce);
        let size = u16::try_from(bytes.len()).expect("short") + 4;
        let what = What::Roce(Roce { size, ..roce });
        (Record { at: Time::ZERO, port: 0, dir: Dir::Rx, what, secured: None, vlan: None }, bytes)
    }

    #[test]
    fn an_answer_lacks_its_icrc_unless_that_is_what_is_wrong_with_it() {
        let kinds =
            [RoceKind::Ack, RoceKind::Nak, RoceKind::Cnp { fault: None }, RoceKind::ReadRequest];
        for kind in kinds {
            let (record, bytes) = of_nic(kind, false);
            let kept = kept(&record, &Script::idle(1));
            assert_eq!(kept, bytes.len() - icrc::LEN, "{kind:?}");
            assert_eq!(icrc::holds(&bytes), Ok(true), "{kind:?}: it is the last of it");
            assert_eq!(
                super::kept(&of_nic(kind, true).0, &Script::idle(1)),
                usize::MAX,
                "{kind:?}"
            );
        }
    }

    #[test]
    fn a_tag_costs_no_byte_of_what_stands_behind_it() {
        let (plain, _) = of_nic(RoceKind::Data { first: true, last: true, response: false }, false);
        let tag = [0x60, 100, 0x08, 0x00];
        let (tag, ..) = vlan::Repr::parse(&tag).expect("a tag");
        let kept = |record: &Record| kept(record, &Script::idle(1));
        assert_eq!(kept(&Record { vlan: Some(tag), ..plain }), kept(&plain) + vlan::LEN);
    }
}
