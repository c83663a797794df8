//! Unreliable connections: that each packet is sent once, that nothing is said about it, and that what came whole is delivered and nothing else.

use super::super::checks;
use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, Unread, looked};
use super::super::measurement::{Known, Needs, Red, Tells, by_source};
use super::datagrams::has_other_key;
use super::rc::{End, says};
use super::{BEHIND, OF_FLOW, Passage, spoilt};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::spec::nic::unreliable::{Piece, SOURCE, out_of_turn, whole_messages};
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Span, Unit};
use rig_frames::psn::Psn;
use rig_lab::{Fault, Part};
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Case, Measure, RoceKind, Verb};
use rig_units::Time;
use std::collections::{BTreeMap, BTreeSet};

/// What all of them are: of a flow of an unreliable connection.
pub(super) const OF_UNRELIABLE: Entry = Entry {
    parts: Some(&[Part::Rc]),
    source: SOURCE,
    unreliable: true,
    sense: |measure, case| is_of(measure, case, is_connected),
    ..OF_FLOW
};

/// `uc.sender`.
pub(in super::super) static SENDER: Known = Known {
    entry: Entry {
        name: "uc.sender",
        about: "what a NIC sends on an unreliable connection: each packet once, in order, whatever becomes of it",
        ..OF_UNRELIABLE
    },
    tells: Tells::Each("packet"),
    red: Red::Mutated("messages-of-one-packet", "deviation=uc_waits_for_acks"),
    expected: |_, _, _| by_source("numbers in order, each once", SOURCE),
    judge: |measure, done, judged| sender("uc.sender", done, measure.named("flow"), judged),
    of_nic: |measure, case| Some(case.flows.get(measure.named("flow"))?.nic.clone()),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// `uc.receiver`.
pub(in super::super) static RECEIVER: Known = Known {
    entry: Entry {
        name: "uc.receiver",
        about: "what a NIC says to what comes by an unreliable connection: neither ACK nor NAK",
        ..OF_UNRELIABLE
    },
    tells: Tells::Each("frame"),
    red: Red::Mutated("nothing-is-said", "deviation=uc_acknowledges"),
    expected: |_, _, _| by_source("no acknowledgement and no NAK", SOURCE),
    judge: |measure, done, judged| receiver("uc.receiver", done, measure.named("flow"), judged),
    of_nic: |measure, case| Some(case.flows.get(measure.named("flow"))?.to.clone()),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// `uc.delivered`.
pub(in super::super) static DELIVERED: Known = Known {
    entry: Entry {
        name: "uc.delivered",
        about: "receives that completed at the NIC that a flow of SENDs goes to (`rdma_recvs`): one for each message that came whole, of all unreliable connections to it",
        sense: sends,
        ..OF_UNRELIABLE
    },
    needs: |_| Needs::Counters,
    tells: Tells::Each("message"),
    red: Red::Mutated("a-hole-drops-its-message", "deviation=uc_delivers_with_a_hole"),
    expected: |_, _, _| by_source("a receive completed for each message that came whole", SOURCE),
    judge: |measure, done, judged| delivered(done, measure.named("flow"), judged),
    of_nic: |measure, case| Some(case.flows.get(measure.named("flow"))?.to.clone()),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// Whether its connection is unreliable, and not none at all.
const fn is_connected(verb: Verb) -> bool {
    matches!(verb, Verb::SendUnreliable | Verb::WriteUnreliable)
}

/// It is of such a flow.
pub(super) fn is_of(measure: &Measure, case: &Case, is: impl Fn(Verb) -> bool) -> Vec<Fault> {
    let (what, name) = (measure.name(), measure.named("flow"));
    let other = case.flows.get(name).filter(|flow| !is(flow.verb) || flow.nic == flow.to);
    let fault = other.map(|_| {
        let found = format!("`{what}` of `{name}`, which is none of its flows");
        let want = match what {
            "ud.sender" | "ud.receiver" | "ud.delivered" => {
                "a flow from one NIC to another with `verb: ud-send`"
            }
            "uc.delivered" => "a flow from one NIC to another with `verb: uc-send`",
            _ => "a flow from one NIC to another with `verb: uc-send` or `uc-write`",
        };
        case.fault("measure", found, want)
    });
    fault.into_iter().collect()
}

/// It is of SENDs, and no others complete receives where they go.
fn sends(measure: &Measure, case: &Case) -> Vec<Fault> {
    let mut all = is_of(measure, case, |verb| verb == Verb::SendUnreliable);
    let Some(own) = case.flows.get(measure.named("flow")) else { return all };
    let takes = |verb: Verb| !is_connected(verb) && (verb.takes_buffer() || verb.has_tail());
    let beside = case.flows.iter().find(|(_, flow)| flow.to == own.to && takes(flow.verb));
    all.extend(beside.map(|(name, _)| {
        let found =
            format!("`uc.delivered` beside `{name}`, whose messages complete receives, too");
        case.fault("measure", found, "no other SENDs to the same NIC")
    }));
    all
}

pub(super) fn sender(what: &'static str, done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each(what, flow, judged, |trial| {
        let end = End::sender(trial, flow)?;
        let seen = Passage::of(done, trial, end.port);
        if let Some(spoilt) = spoilt::data(&seen, end.connection) {
            return spoilt.read(trial);
        }
        let own = seen.left.iter().filter(|one| one.roce.connection == end.connection);
        let data = own.filter(|one| matches!(one.roce.kind, RoceKind::Data { .. }));
        let (records, sent): (Vec<usize>, Vec<Psn>) =
            data.map(|one| (one.record, Psn::new(one.roce.psn))).unzip();
        let (_, spec) = trial.flow(flow)?;
        let packets = u64::from(spec.message.div_ceil(spec.mtu).max(1));
        let all = spec.count.map(|count| u64::from(count) * packets);
        let left = count(sent.len());
        let mut wrong: BTreeMap<usize, &str> =
            out_of_turn(end.first, &sent).into_iter().map(|at| (at, "out of turn")).collect();
        let asked = all.and_then(|all| usize::try_from(all).ok()).unwrap_or(usize::MAX);
        let unasked = sent.iter().enumerate().skip(asked);
        unasked.for_each(|(at, _)| {
            wrong.entry(at).or_insert("behind the last that was asked for");
        });
        let other = (0..sent.len()).filter(|&at| has_other_key(trial, records[at]));
        other.for_each(|at| {
            wrong.entry(at).or_insert("with another Q_Key");
        });
        if wrong.is_empty() && (left == 0 || all.is_some_and(|all| left < all)) {
            let why = format!("{left} packets of {flow} left by the end of the trial, and not all");
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let first = wrong.first_key_value().map(|(&at, how)| {
            let psn = sent[at];
            let again = *how == "out of turn" && sent[..at].contains(&psn);
            format!("PSN {} {}", psn.get(), if again { "sent again" } else { how })
        });
        let text = format!("{} packets, each once and in order", all.unwrap_or(left));
        let shown = wrong.first_key_value().map(|(&at, _)| records[at]);
        Ok(read(first, wrong.len(), text, shown, looked(sent.len(), "packets")))
    });
}

pub(super) fn receiver(
    what: &'static str,
    done: &JudgeContext<'_>,
    flow: &str,
    judged: &mut Judged,
) {
    done.each(what, flow, judged, |trial| {
        let end = End::receiver(trial, flow)?;
        let seen = Passage::of(done, trial, end.port);
        let came = seen.counted().filter(|(one, _)| one.connection == end.connection);
        let came: Vec<Time> = came.map(|(_, at)| at).collect();
        let rc = &seen.nic.rc;
        let answers = seen.apart.most(rc.ack_latency.most().max(rc.nak_latency.most()));
        let by = answers + seen.busy + seen.bound * 2;
        let own = seen.left.iter().filter(|one| one.roce.connection == end.connection);
        let said: Vec<_> = own.filter(|one| is_answer(one.roce.kind)).collect();
        if said.is_empty() && came.last().is_none_or(|last| *last + by > seen.until) {
            let why = format!("nothing of {flow} came that would have been answered by the end");
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let first = said.first().map(|one| {
            let what = match one.roce.kind {
                RoceKind::Ack => "an acknowledgement of",
                RoceKind::Nak | RoceKind::Denied => "a NAK that names",
                _ => "an RNR NAK that names",
            };
            format!("{what} PSN {}", one.roce.psn)
        });
        let text = format!("not a word about {} packets", came.len());
        let shown = said.first().map(|one| one.record);
        Ok(read(first, said.len(), text, shown, looked(came.len(), "packets")))
    });
}

/// Whether a reliable connection would say it to what comes.
fn is_answer(kind: RoceKind) -> bool {
    says(kind).is_some() || matches!(kind, RoceKind::NotReady(_) | RoceKind::Denied)
}

fn delivered(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("uc.delivered", flow, judged, |trial| {
        let (_, own) = trial.flow(flow)?;
        let seen = Passage::of(done, trial, own.to);
        let (mut came, mut complete) = (0, 0);
        let end = Time::ZERO + trial.script.length;
        for (index, _) in trial
            .script
            .flows
            .iter()
            .enumerate()
            .filter(|(_, spec)| spec.to == own.to && spec.verb == Verb::SendUnreliable)
        {
            let connection = trial.script.connection(u16::try_from(index).unwrap_or(u16::MAX));
            let pieces = pieces(trial, &seen, connection, end)?;
            came += pieces.len();
            complete += whole_messages(&pieces);
        }
        let name = &trial.observation.ports[usize::from(own.to)].dut_port;
        let name = format!("{name} rdma_recvs");
        let want = Span::exactly(count(complete));
        let Some(check) = checks::grown_if_there(&trial.observation.counters, &name, want) else {
            let why = "its driver counts no receives that completed (`rdma_recvs`)".to_owned();
            return Err(Unread::NotApplicable(why));
        };
        if came == 0 {
            return Err(trial.doubt(&format!("nothing of {flow} reached the NIC")).into());
        }
        let mut read = checks::read(trial, &[check], looked(came, "packets"), SOURCE)?;
        read.want.text = format!(
            "a receive completed for each of {complete} messages that came whole, and for no other"
        );
        read.got = read.got.map(|got| format!("{got} completed"));
        Ok(read)
    });
}

/// What came of a connection, all of it taken in by the end.
fn pieces(
    trial: &Trial,
    seen: &Passage<'_>,
    connection: u16,
    end: Time,
) -> Result<Vec<Piece>, Unread> {
    let mut numbers = BTreeSet::new();
    let mut all = Vec::new();
    for (one, at) in seen.counted().filter(|(one, _)| one.connection == connection) {
        let RoceKind::Data { first, last, .. } = one.kind else { continue };
        let why = if at + seen.bound * 2 > end {
            "a packet may not have been taken in when the trial ended"
        } else if !numbers.insert(one.psn) {
            "a packet came twice, and what becomes of its message no rule says"
        } else {
            all.push(Piece { psn: Psn::new(one.psn), first, last });
            continue;
        };
        return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(why) }.into());
    }
    Ok(all)
}

/// How many are wrong, and the first of them in words.
fn read(
    first: Option<String>,
    wrong: usize,
    text: String,
    record: Option<usize>,
    looked: crate::verdict::Looked,
) -> TrialReading {
    let got = first.map(|first| match wrong {
        1 => first,
        all => format!("{first}, and {} more", all - 1),
    });
    let unit = Unit::Count;
    let want = Prediction { unit, span: Span::exactly(0), formula: "", text, source: SOURCE };
    let records = record.into_iter().collect();
    TrialReading { span: Span::exactly(count(wrong)), want, got, records, looked }
}

fn count(all: usize) -> u64 {
    u64::try_from(all).unwrap_or(u64::MAX)
}
