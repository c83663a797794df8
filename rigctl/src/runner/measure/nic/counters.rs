//! The NIC's counters against what passed its port.

use super::super::{Done, Judged, checks};
use super::Seen;
use rig_capture::Span;
use rig_testcases::RoceKind;

const SOURCE: &str = "NVIDIA's counters of RoCE; the wire is the count";

/// Judges what the NIC counted against the frames on the wire.
pub(super) fn judge(done: &Done<'_>, port: &str, judged: &mut Judged) {
    done.each("nic.counters", port, judged, |trial| {
        let index = trial.port(port)?;
        let seen = Seen::of(done, trial, index);
        let name = &trial.observation.ports[usize::from(index)].dut_port;
        let count = |all: usize| u64::try_from(all).unwrap_or(u64::MAX);
        let left = |is: fn(&RoceKind) -> bool| {
            count(seen.left.iter().filter(|left| is(&left.roce.kind)).count())
        };
        let reached =
            |is: fn(&RoceKind) -> bool| seen.reached.iter().filter(move |one| is(&one.kind));
        let cnps = count(reached(|kind| matches!(kind, RoceKind::Cnp { .. })).count());
        let marked = reached(|kind| !matches!(kind, RoceKind::Cnp { .. })).filter(|one| one.ce);
        let grown = |counter: &str, want: u64| {
            let counters = &trial.observation.counters;
            checks::grown(counters, format!("{name} {counter}"), Span::exactly(want))
        };
        let notified = ["rp_cnp_handled", "rp_cnp_ignored"].map(|counter| grown(counter, cnps));
        let mut all = vec![
            grown("np_cnp_sent", left(|kind| matches!(kind, RoceKind::Cnp { .. }))),
            grown("np_ecn_marked_roce_packets", count(marked.count())),
            grown("out_of_sequence", 0),
            grown("packet_seq_err", count(reached(|kind| *kind == RoceKind::Nak).count())),
        ];
        // Each CNP is either handled or ignored.
        let [handled, ignored] = notified;
        if let (Some(some), Some(rest)) = (handled.got, ignored.got) {
            let name = format!("{} and {}", handled.name, ignored.name);
            let got = Some(some + rest);
            all.push(rig_capture::analyse::CounterCheck { name, got, ..handled });
        } else {
            all.extend([handled, ignored]);
        }
        checks::read(trial, &all, SOURCE).map(Some)
    });
}
