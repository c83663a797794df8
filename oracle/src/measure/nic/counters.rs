//! The NIC's counters against what passed its port.

mod pauses;

use super::super::checks;
use super::super::judge_context::JudgeContext;
use super::super::judged::{Judged, looked};
use super::super::measurement::{Known, Needs, Red, Tells, by_source};
use super::super::stamps::{self, Stamps};
use super::datagrams::has_other_key;
use super::packets::Packets;
use super::recovered::{Recovered, recovered};
use super::{BEHIND, OF_NIC, Passage, receives};
use crate::judge::answers::NOT_MEASURED;
use crate::spec::nic::rc::timeout;
use crate::spec::nic::selective::{self, InSequence, Sequence};
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::analyse::CounterCheck;
use rig_capture::analyse::nic::Reached;
use rig_capture::{Dir, Observation, Record, Span, What};
use rig_frames::psn::Psn;
use rig_lab::Part;
use rig_testcases::vocabulary::Entry;
use rig_testcases::{FlowSpec, Injected, Measure, Roce, RoceKind, Script, Target, Verb, Which};
use rig_units::{Dur, Time, Within};
use std::collections::BTreeMap;

/// `nic.counters`.
pub(in super::super) static COUNTERS: Known = Known {
    entry: Entry {
        name: "nic.counters",
        parts: Some(&[Part::Np]),
        about: "the NIC's counters",
        source: "what the wire shows",
        over_ipv6: true,
        unreliable: true,
        ..OF_NIC
    },
    needs: |_| Needs::Counters,
    tells: Tells::Each("counter"),
    red: Red::Mutated("one-cnp-an-interval", "deviation=cnp_not_counted"),
    expected: |_, _, _| by_source(EXPECTED, SOURCE),
    judge: |measure, done, judged| judge(done, measure.named("port"), judged),
    of_nic: |measure, _| Some(measure.named("port").to_owned()),
    stamps: Some(stamps_of),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// A connection whose packet is lost each time that it is sent is given up after the last try. That none is left is known where each of them
/// surely came behind the last progress, a timeout before.
fn stamps_of(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<Stamps> {
    let (_, _, between) = script.between.as_ref()?;
    let is_lost = |on: u16| {
        between.inject.iter().any(|one| {
            let each = one.iteration.is_none() && matches!(one.which, Which::Psn(_));
            one.on == on && one.frames == Target::Data && each && one.tamper == Injected::Drop
        })
    };
    let mut flows = (0_u16..).zip(&script.flows);
    let (_, flow) = flows.find(|(index, flow)| {
        let port = script.ports.get(usize::from(flow.nic));
        port.is_some_and(|port| port == measure.named("port")) && is_lost(script.connection(*index))
    })?;
    let rc = &context.nics().behind(*script.dut_ports.get(usize::from(flow.nic))?)?.rc;
    let waits = timeout(rc)?.least().saturating_sub(rc.resend_latency.most());
    stamps::told(
        waits,
        "the last progress from the timeout behind it, so that the last try is known for it",
    )
}

const EXPECTED: &str = "np_cnp_sent, np_ecn_marked_roce_packets, out_of_sequence, duplicate_request, rx_icrc_encapsulated, \
     implied_nak_seq_err, local_ack_timeout_err, req_transport_retries_exceeded, req_rnr_retries_exceeded, rnr_nak_retry_err, packet_seq_err and, where the device has them, rdma_tx_packets, \
     rdma_rx_packets, rx_prio*_pause and tx_prio*_pause grown by what the wire shows of each, rp_cnp_handled and rp_cnp_ignored together by the CNPs that came; but for what its driver is known not to count";

const SOURCE: &str = "NVIDIA's counters of RoCE; the wire is the count";

/// By how much a counter may be off what the wire shows for what is under way when the trial ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct UnderWay {
    /// Less: so much had not reached the NIC, or had not taken effect.
    less: u64,
    /// More: so much had left the NIC, and not reached the rig.
    more: u64,
    /// Less: so much may have been lost between the rig's port and the NIC, which shows nowhere.
    lost: u64,
}

impl UnderWay {
    /// Whether no more than that explains a counter that is off.
    fn explains(self, check: &CounterCheck) -> bool {
        let Some(got) = check.got else { return false };
        match (check.want.lo.checked_sub(got), got.checked_sub(check.want.hi)) {
            (Some(short), _) if short > 0 => short <= self.less.saturating_add(self.lost),
            (_, Some(over)) if over > 0 => over <= self.more,
            _ => false,
        }
    }

    /// Why nobody can tell of a counter that it explains.
    fn told(self, check: &CounterCheck) -> String {
        let got = check.got.unwrap_or(0);
        let (count, way) = match got < check.want.lo {
            true if check.want.lo - got > self.less => {
                return format!(
                    "frames to the NIC may have been lost behind the rig's port, and {} grew by {got} where the wire shows {}",
                    check.name, check.want.lo
                );
            }
            true => (self.less, "to the NIC had not arrived, or not taken effect,"),
            false => (self.more, "of the NIC may still have been on their way"),
        };
        format!(
            "{count} frames {way} when the trial ended, and {} grew by {got} where the wire shows {}: a longer trial tells",
            check.name, check.want.lo
        )
    }
}

/// What may be under way when a trial ends.
struct Open {
    /// Frames to the NIC.
    arrive: UnderWay,
    /// CNPs of the NIC: it counts one that leaves.
    notify: UnderWay,
    /// CNPs to the NIC: it counts one that takes effect.
    obey: UnderWay,
}

impl Open {
    fn of(trial: &Trial, seen: &Passage<'_>) -> Open {
        let later = |takes: Dur, than: Time, of: &dyn Fn(&Reached) -> bool| {
            let late =
                |(one, passes): &(&Reached, Time)| of(one) && *passes + takes + seen.bound > than;
            count(seen.counted().filter(late).count())
        };
        let end = Time::ZERO + trial.script.length;
        let takes = |latency: Within| seen.apart.most(latency.most());
        let answered = takes(seen.nic.np.latency) + seen.busy + seen.bound;
        let earns = |one: &Reached| one.ce || seen.nic.np.nak_earns;
        let is_cnp = |one: &Reached| matches!(one.kind, RoceKind::Cnp { .. });
        Open {
            arrive: UnderWay { less: later(Dur::ZERO, end, &|_| true), ..UnderWay::default() },
            notify: UnderWay { more: later(answered, seen.until, &earns), ..UnderWay::default() },
            obey: UnderWay {
                less: later(takes(seen.nic.rp.latency), end, &is_cnp),
                ..UnderWay::default()
            },
        }
    }
}

fn count(all: usize) -> u64 {
    u64::try_from(all).unwrap_or(u64::MAX)
}

/// Judges what the NIC counted against the frames on the wire.
fn judge(done: &JudgeContext<'_>, port: &str, judged: &mut Judged) {
    done.each("nic.counters", port, judged, |trial| {
        let index = trial.port(port)?;
        let seen = Passage::of(done, trial, index);
        // What is left open of these is left open of no other.
        let (recovered, untold) = match recovered(trial, index, &seen) {
            Ok(all) => (all, None),
            Err(doubt) => (None, Some(doubt)),
        };
        let mut doubts = Vec::new();
        let mut checks = Vec::new();
        let mut absent = Vec::new();
        for (check, open) in against_the_wire(trial, index, &seen, recovered) {
            if check.got.is_none() && trial.observation.counters.absent.contains_key(&check.name) {
                absent.push(check.name);
            } else if open.explains(&check) {
                doubts.push(open.told(&check));
            } else {
                checks.push(check);
            }
        }
        if checks.is_empty() && doubts.is_empty() {
            return Err(trial.doubt(NONE).into());
        }
        // One that is off whatever is under way is wrong, however little is told of the others.
        if !checks.iter().any(CounterCheck::wrong) {
            if let Some(why) = doubts.first() {
                return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(why) }.into());
            }
            if let Some(untold) = untold {
                return Err(untold.into());
            }
        }
        let looked = looked(seen.reached.len() + seen.left.len(), "frames to and from the NIC");
        let mut read = checks::read(trial, &checks, looked, SOURCE)?;
        if !absent.is_empty() {
            read.want.text += &format!(" (its driver does not count {})", absent.join(", "));
        }
        Ok(read)
    });
}

/// Why nothing is told of a device whose driver has none of them.
const NONE: &str = "its driver counts nothing that the wire shows";

/// Each counter, and by how much it may be off.
fn against_the_wire(
    trial: &Trial,
    index: u16,
    seen: &Passage<'_>,
    recovered: Option<Recovered>,
) -> Vec<(CounterCheck, UnderWay)> {
    let name = &trial.observation.ports[usize::from(index)].dut_port;
    let left = |is: fn(&RoceKind) -> bool| {
        count(seen.left.iter().filter(|left| is(&left.roce.kind)).count())
    };
    let reached = |is: fn(&RoceKind) -> bool| seen.reached.iter().filter(move |one| is(&one.kind));
    let grown = |counter: &str, want: u64| {
        let counters = &trial.observation.counters;
        checks::grown(counters, &format!("{name} {counter}"), Span::exactly(want))
    };
    let if_there = |counter: &str, want: Span| {
        let counters = &trial.observation.counters;
        checks::grown_if_there(counters, &format!("{name} {counter}"), want)
    };
    let cnps = count(reached(|kind| matches!(kind, RoceKind::Cnp { .. })).count());
    let marked = reached(|kind| !matches!(kind, RoceKind::Cnp { .. })).filter(|one| one.ce);
    let refused = reached(|kind| matches!(kind, RoceKind::NotReady(_))).count();
    let naks = reached(|kind| *kind == RoceKind::Nak).count();
    let (ahead, behind) = out_of_order(trial, seen);
    let Open { arrive, notify, obey } = Open::of(trial, seen);
    let mut all = vec![
        (grown("np_cnp_sent", left(|kind| matches!(kind, RoceKind::Cnp { .. }))), notify),
        (grown("np_ecn_marked_roce_packets", count(marked.count())), arrive),
        (grown("out_of_sequence", ahead), arrive),
        (grown("duplicate_request", behind), arrive),
        (grown("rx_icrc_encapsulated", spoilt(&trial.observation, index)), arrive),
    ];
    // What is counted of holes of unreliable connections is left to a NIC.
    let unreliable = |spec: &FlowSpec| spec.to == index && spec.verb.is_unreliable();
    if trial.script.flows.iter().any(unreliable) {
        let is = |check: &CounterCheck, of: &str| check.name.ends_with(of);
        let left_open =
            |check: &CounterCheck| is(check, "out_of_sequence") || is(check, "duplicate_request");
        all.retain(|(check, _)| !left_open(check));
    }
    let datagrams = |spec: &FlowSpec| spec.to == index && spec.verb == Verb::Datagram;
    if trial.script.flows.iter().any(datagrams) {
        let other = seen.reached.iter().filter(|one| has_other_key(trial, one.record)).count();
        let check = if_there("qkey_viol_cntr", Span::exactly(count(other)));
        all.extend(check.map(|check| (check, arrive)));
    }
    if let Some(recovered) = recovered {
        let counters = &trial.observation.counters;
        let holes = count(recovered.holes);
        let holes = checks::grown(
            counters,
            &format!("{name} implied_nak_seq_err"),
            Span { lo: holes, hi: holes + count(recovered.reopened) },
        );
        all.push((holes, arrive));
        let (surely, either) = (count(recovered.timeouts), count(recovered.either));
        let timeouts = checks::grown(
            counters,
            &format!("{name} local_ack_timeout_err"),
            Span { lo: surely, hi: surely + either },
        );
        all.push((timeouts, UnderWay::default()));
        // Drivers before Linux 6.11 have neither.
        let ends = [
            ("req_transport_retries_exceeded", recovered.given_up, UnderWay::default()),
            ("req_rnr_retries_exceeded", recovered.refused, arrive),
        ];
        all.extend(ends.into_iter().filter_map(|(counter, want, open)| {
            Some((if_there(counter, Span::exactly(count(want)))?, open))
        }));
    }
    let Packets { sent, received } = Packets::of(&trial.script, seen);
    // One at least it had: the flow came to its end.
    let taken = UnderWay { lost: received.lo.saturating_sub(1), ..arrive };
    let packets =
        [("rdma_tx_packets", sent, UnderWay::default()), ("rdma_rx_packets", received, taken)];
    let packets = packets.into_iter();
    all.extend(packets.filter_map(|(counter, want, open)| Some((if_there(counter, want)?, open))));
    all.push((grown("rnr_nak_retry_err", count(refused)), arrive));
    all.push((grown("packet_seq_err", count(naks)), arrive));
    // Each CNP is either handled or ignored.
    let [handled, ignored] =
        ["rp_cnp_handled", "rp_cnp_ignored"].map(|counter| grown(counter, cnps));
    if let (Some(some), Some(rest)) = (handled.got, ignored.got) {
        let name = format!("{} and {}", handled.name, ignored.name);
        all.push((CounterCheck { name, got: Some(some + rest), ..handled }, obey));
    } else {
        all.extend([handled, ignored].map(|one| (one, obey)));
    }
    all.extend(pauses::counted(trial, (index, name), seen));
    all
}

/// Requests that came ahead of the one that was expected, and those that had been taken before.
fn out_of_order(trial: &Trial, seen: &Passage<'_>) -> (u64, u64) {
    let mut expected: BTreeMap<u16, Psn> = BTreeMap::new();
    let mut windows: BTreeMap<u16, Sequence> = BTreeMap::new();
    let (mut ahead, mut behind) = (0, 0);
    let refused = receives::turned_away(trial, seen);
    for one in seen.reached.iter().filter(|one| !refused.contains(&one.record)) {
        let psn = Psn::new(one.psn);
        // Both ends of a flow know its first number; what the rig sends is learnt at its first packet.
        let flow = trial.script.flow_of(one.connection);
        let first = flow.map_or(psn, |(_, flow)| Psn::new(flow.psn));
        if let RoceKind::Data { response: false, last, .. } = one.kind
            && selective::is_kept(&seen.nic.rc)
        {
            let window = windows.entry(one.connection).or_insert(Sequence::new(first));
            match window.takes(psn, last) {
                InSequence::First { .. } => {}
                InSequence::Behind => ahead += 1,
                InSequence::Again | InSequence::Old => behind += 1,
            }
            continue;
        }
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
        let want = expected.entry(one.connection).or_insert(first);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_explains_so_much_one_way_and_no_more() {
        let check = |got| CounterCheck {
            name: "np_cnp_sent".to_owned(),
            want: Span::exactly(5),
            got,
            frames: Vec::new(),
        };
        let of = |less, more| {
            [3, 4, 5, 6, 7].map(|got| UnderWay { less, more, lost: 0 }.explains(&check(Some(got))))
        };
        assert_eq!(of(0, 0), [false; 5]);
        assert_eq!(of(1, 0), [false, true, false, false, false]);
        assert_eq!(of(0, 2), [false, false, false, true, true]);
        assert!(!UnderWay { less: 9, more: 9, lost: 9 }.explains(&check(None)));
        let lost = UnderWay { less: 1, more: 0, lost: 3 };
        assert_eq!([0, 1, 4].map(|got| lost.explains(&check(Some(got)))), [false, true, true]);
        assert!(lost.told(&check(Some(1))).starts_with("frames to the NIC may have been lost"));
        let told = UnderWay { less: 0, more: 2, lost: 0 }.told(&check(Some(6)));
        assert!(told.contains("np_cnp_sent grew by 6 where the wire shows 5"), "{told}");
    }
}
