//! What the tests of this folder share: a sender that behaves by the rule.

use crate::spec::nic::rp::Limiter;
use rig_lab::Rp;
use rig_units::{Bytes, Dur, PortSpeed, Time};

/// What a sender leaves on the wire that always has a frame and keeps the rule, with CNPs that arrive at `cnps`.
pub(super) fn greedy(
    rp: &Rp,
    line: PortSpeed,
    cnps: &[Time],
    bytes: Bytes,
    count: usize,
) -> Vec<(Time, Bytes)> {
    let mut limiter = Limiter::new(rp, line);
    let mut due = cnps.iter().map(|&at| at + rp.latency).peekable();
    let (mut at, mut first) = (Time(5), Time(5));
    (0..count)
        .map(|_| {
            while let Some(cnp) = due.next_if(|&cnp| cnp <= at) {
                limiter.cnp(cnp);
            }
            let frame = (at, bytes);
            let held = limiter.frame(at, bytes);
            let free = at + line.slot(bytes);
            at = free.max(first + held);
            first = if held > Dur::ZERO { at } else { first };
            frame
        })
        .collect()
}
