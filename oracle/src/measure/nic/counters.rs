//! The NIC's counters against what passed its port.

use super::super::checks;
use super::super::judge_context::JudgeContext;
use super::super::judged::{Judged, looked};
use super::super::measurement::{Known, Needs, Red, Tells, by_source};
use super::{BEHIND, OF_NIC, Seen, rc};
use crate::judge::answers::NOT_MEASURED;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::analyse::CounterCheck;
use rig_capture::analyse::nic::Reached;
use rig_capture::{Dir, Observation, Record, Span, What};
use rig_frames::psn::Psn;
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Roce, RoceKind};
use rig_units::Time;
use std::collections::BTreeMap;

/// `nic.counters`.
pub(in super::super) static COUNTERS: Known = Known {
    entry: Entry {
        name: "nic.counters",
        about: "the NIC's counters",
        source: "what the wire shows",
        ..OF_NIC
    },
    needs: |_| Needs::Counters,
    tells: Tells::Each("counter"),
    red: Red::Mutated("one-cnp-an-interval", "deviation=cnp_not_counted"),
    expected: |_, _, _| by_source(EXPECTED, SOURCE),
    judge: |measure, done, judged| judge(done, measure.named("port"), judged),
    of_nic: |measure, _| Some(measure.named("port").to_owned()),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

const EXPECTED: &str = "np_cnp_sent, np_ecn_marked_roce_packets, out_of_sequence, duplicate_request, rx_icrc_encapsulated, implied_nak_seq_err, \
     local_ack_timeout_err, rnr_nak_retry_err and packet_seq_err grown by what the wire shows of each, rp_cnp_handled and \
     rp_cnp_ignored together by the CNPs that came";

const SOURCE: &str = "NVIDIA's counters of RoCE; the wire is the count";

/// Why counters say nothing of a NIC behind other devices.
const UNDER_WAY: &str = "the NIC may have counted an answer that is still on its way when the trial ends: a longer trial tells";

/// Whether an answer to what reached the NIC, as late as declared, may not have come by the trial's end. Of a NIC at the end of the rig's
/// cable nobody asks: what it counts is read as soon as it is on the wire.
fn is_under_way(observation: &Observation, port: u16, seen: &Seen<'_>) -> bool {
    let behind = observation.ports[usize::from(port)].approach.is_some();
    let answered = seen.apart.most(seen.nic.np.latency.most()) + seen.busy + seen.bound * 2;
    behind && seen.counted().any(|(_, passes)| passes + answered > seen.until)
}

/// Judges what the NIC counted against the frames on the wire.
fn judge(done: &JudgeContext<'_>, port: &str, judged: &mut Judged) {
    done.each("nic.counters", port, judged, |trial| {
        let index = trial.port(port)?;
        let seen = Seen::of(done, trial, index);
        if is_under_way(&trial.observation, index, &seen) {
            return Err(trial.doubt(UNDER_WAY).into());
        }
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
            checks::grown(counters, &format!("{name} {counter}"), Span::exactly(want))
        };
        let notified = ["rp_cnp_handled", "rp_cnp_ignored"].map(|counter| grown(counter, cnps));
        let (ahead, behind) = out_of_order(trial, &seen.reached);
        let [holes, timeouts] = rc::holes_and_timeouts(trial, index, &seen)?.map(count);
        let mut all = vec![
            grown("np_cnp_sent", left(|kind| matches!(kind, RoceKind::Cnp { .. }))),
            grown("np_ecn_marked_roce_packets", count(marked.count())),
            grown("out_of_sequence", ahead),
            grown("duplicate_request", behind),
            grown("rx_icrc_encapsulated", spoilt(&trial.observation, index)),
            grown("implied_nak_seq_err", holes),
            grown("local_ack_timeout_err", timeouts),
            grown(
                "rnr_nak_retry_err",
                count(reached(|kind| matches!(kind, RoceKind::NotReady(_))).count()),
            ),
            grown("packet_seq_err", count(reached(|kind| *kind == RoceKind::Nak).count())),
        ];
        // Each CNP is either handled or ignored.
        let [handled, ignored] = notified;
        if let (Some(some), Some(rest)) = (handled.got, ignored.got) {
            let name = format!("{} and {}", handled.name, ignored.name);
            let got = Some(some + rest);
            all.push(CounterCheck { name, got, ..handled });
        } else {
            all.extend([handled, ignored]);
        }
        // A frame that had not arrived when the trial ended is on the wire, and was not counted.
        let end = Time::ZERO + trial.script.length;
        let open = seen.reached.iter().filter(|one| one.at + seen.bound > end).count();
        let off = |one: &CounterCheck| one.got.is_some_and(|got| got < one.want.lo && one.want.lo - got <= count(open));
        if let Some(off) = all.iter().find(|one| off(one)) {
            let why = format!(
                "{open} frames to the NIC had not arrived when it ended, so that {} may be short of what the wire shows",
                off.name
            );
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let looked = looked(seen.reached.len() + seen.left.len(), "frames to and from the NIC");
        checks::read(trial, &all, looked, SOURCE)
    });
}

/// Requests that came ahead of the one that was expected, and those that had been taken before.
fn out_of_order(trial: &Trial, reached: &[Reached]) -> (u64, u64) {
    let mut expected: BTreeMap<u16, Psn> = BTreeMap::new();
    let (mut ahead, mut behind) = (0, 0);
    for one in reached {
        let psn = Psn::new(one.psn);
        let numbers = match one.kind {
            RoceKind::Data { response: false, .. } => 1,
            // A READ request takes the numbers of all that it asks for: to the end of its message.
            RoceKind::ReadRequest => {
                let Some((_, flow)) = trial.script.flow_of(one.connection) else { continue };
                let packets = flow.message.div_ceil(flow.mtu);
                let place = psn.ahead_of(Psn::new(flow.psn)).unwrap_or(0) % packets;
                packets - place
            }
            _ => continue,
        };
        // A NIC learns a connection at its first packet.
        let want = expected.entry(one.connection).or_insert(psn);
        match psn.ahead_of(*want) {
            Some(0) => *want = want.advance(numbers),
            Some(_) => ahead += 1,
            None => behind += 1,
        }
    }
    (ahead, behind)
}

/// Frames to a port's NIC whose ICRC is wrong.
fn spoilt(observation: &Observation, port: u16) -> u64 {
    let is = |record: &&Record| {
        let corrupt = matches!(record.what, What::Roce(Roce { corrupt: true, .. }));
        corrupt && (record.port, record.dir) == (port, Dir::Tx)
    };
    u64::try_from(observation.records.iter().filter(is).count()).unwrap_or(u64::MAX)
}
