//! How many packets a NIC sent and received, for those that count them: each packet, what is sent again too.

use super::Passage;
use rig_capture::Span;
use rig_testcases::{FlowSpec, RoceKind, Script};
use std::collections::BTreeMap;

/// By how much a NIC's counts of packets must have grown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packets {
    /// Of those that it sent. Where a flow is not finished, more may have left at the trial's end than the rig has seen.
    pub(super) sent: Span,
    /// Of those that it received. One that comes when its flow is finished may find the queue pair gone, and so may each of a flow
    /// that is never finished: its program is ended with the trial.
    pub(super) received: Span,
}

impl Packets {
    /// As the wire shows them.
    pub(super) fn of(script: &Script, seen: &Passage<'_>) -> Packets {
        let reached =
            seen.reached.iter().map(|one| (one.connection, one.kind, one.psn, one.record));
        let left = seen.left.iter();
        let left = left.map(|one| (one.roce.connection, one.roce.kind, one.roce.psn, one.record));
        let all: Vec<_> = reached.chain(left).collect();
        // Of each flow that came to its end the record that says so.
        let mut finished: BTreeMap<u16, usize> = BTreeMap::new();
        for &(connection, kind, psn, record) in &all {
            let Some((_, flow)) = script.flow_of(connection) else { continue };
            let ends = matches!(kind, RoceKind::Ack | RoceKind::Data { response: true, .. });
            if ends && last(flow) == Some(psn) {
                let first = finished.entry(connection).or_insert(record);
                *first = record.min(*first);
            }
        }
        let is_over = all.iter().all(|(connection, ..)| finished.contains_key(connection));
        let in_time = seen.reached.iter().filter(|one| {
            finished.get(&one.connection).is_some_and(|finished| one.record <= *finished)
        });
        let [left, reached] = [seen.left.len(), seen.reached.len()].map(count);
        Packets {
            sent: Span { lo: left, hi: if is_over { left } else { u64::MAX } },
            received: Span { lo: count(in_time.count()), hi: reached },
        }
    }
}

/// The number of a flow's last packet; none where it has no end.
fn last(flow: &FlowSpec) -> Option<u32> {
    let packets = flow.message.div_ceil(flow.mtu).checked_mul(flow.count?)?;
    Some(flow.psn.wrapping_add(packets.checked_sub(1)?) & 0xff_ffff)
}

fn count(all: usize) -> u64 {
    u64::try_from(all).unwrap_or(u64::MAX)
}
