//! Datagrams: that each leaves once, as one packet with the key of its queue, that nothing is said about it, and that it is told where there is a receive.

use super::super::checks;
use super::super::judge_context::JudgeContext;
use super::super::judged::{Judged, Unread, looked};
use super::super::measurement::{Known, Needs, Red, Tells, by_source};
use super::unreliable::{OF_UNRELIABLE, is_of, receiver, sender};
use super::{BEHIND, Passage};
use crate::judge::answers::NOT_MEASURED;
use crate::spec::nic::datagrams::{Posts, SOURCE, taken};
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Span, What};
use rig_lab::Fault;
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Case, Measure, RoceKind, Verb};
use rig_units::Time;

/// What all of them are: of a flow of datagrams.
const OF_DATAGRAMS: Entry = Entry { source: SOURCE, sense: of_datagrams, ..OF_UNRELIABLE };

/// `ud.sender`.
pub(in super::super) static SENDER: Known = Known {
    entry: Entry {
        name: "ud.sender",
        about: "what a NIC sends of datagrams: one packet for each, once, in order, with the Q_Key of the queue that it goes to",
        ..OF_DATAGRAMS
    },
    tells: Tells::Each("packet"),
    red: Red::Mutated("datagrams-are-not-answered", "deviation=ud_splits"),
    expected: |_, _, _| by_source("numbers in order, each once, as many as messages", SOURCE),
    judge: |measure, done, judged| sender("ud.sender", done, measure.named("flow"), judged),
    of_nic: |measure, case| Some(case.flows.get(measure.named("flow"))?.nic.clone()),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// `ud.receiver`.
pub(in super::super) static RECEIVER: Known = Known {
    entry: Entry {
        name: "ud.receiver",
        about: "what a NIC says to datagrams that come: neither ACK nor NAK, nor that no receive is there",
        ..OF_DATAGRAMS
    },
    tells: Tells::Each("frame"),
    red: Red::Mutated("datagrams-are-not-answered", "deviation=ud_acknowledges"),
    expected: |_, _, _| by_source("no acknowledgement and no NAK", SOURCE),
    judge: |measure, done, judged| receiver("ud.receiver", done, measure.named("flow"), judged),
    of_nic: |measure, case| Some(case.flows.get(measure.named("flow"))?.to.clone()),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// `ud.delivered`.
pub(in super::super) static DELIVERED: Known = Known {
    entry: Entry {
        name: "ud.delivered",
        about: "receives that completed at the NIC that a flow of datagrams goes to (`rdma_recvs`): one for each that came with the right Q_Key while a receive was posted, whatever its number",
        sense: alone,
        ..OF_DATAGRAMS
    },
    needs: |_| Needs::Counters,
    tells: Tells::Each("datagram"),
    red: Red::Mutated("datagrams-in-any-order", "deviation=ud_wants_order"),
    expected: |_, _, _| {
        by_source("a receive completed for each datagram with the right key that found one", SOURCE)
    },
    judge: |measure, done, judged| delivered(done, measure.named("flow"), judged),
    of_nic: |measure, case| Some(case.flows.get(measure.named("flow"))?.to.clone()),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// It is of such a flow.
fn of_datagrams(measure: &Measure, case: &Case) -> Vec<Fault> {
    is_of(measure, case, |verb| verb == Verb::Datagram)
}

/// It is of datagrams, and no other messages complete receives where they go.
fn alone(measure: &Measure, case: &Case) -> Vec<Fault> {
    let mut all = of_datagrams(measure, case);
    let Some(own) = case.flows.get(measure.named("flow")) else { return all };
    let takes = |verb: Verb| verb != Verb::Datagram && (verb.takes_buffer() || verb.has_tail());
    let beside = case.flows.iter().find(|(_, flow)| flow.to == own.to && takes(flow.verb));
    all.extend(beside.map(|(name, _)| {
        let found =
            format!("`ud.delivered` beside `{name}`, whose messages complete receives, too");
        case.fault("measure", found, "no SEND but datagrams to the same NIC")
    }));
    all
}

fn delivered(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("ud.delivered", flow, judged, |trial| {
        let (_, own) = trial.flow(flow)?;
        let seen = Passage::of(done, trial, own.to);
        let rc = &seen.nic.rc;
        let posts = rc.receives.zip(rc.receive_again);
        let posts = posts.map(|(first, again)| Posts { first, again: seen.apart.range(again) });
        let (mut came, mut span, mut others) = (0, Span::exactly(0), 0);
        for (index, _) in (0_u16..)
            .zip(&trial.script.flows)
            .filter(|(_, spec)| spec.to == own.to && spec.verb == Verb::Datagram)
        {
            let connection = trial.script.connection(index);
            let all = arrived(trial, &seen, connection)?;
            let with_key: Vec<Time> =
                all.iter().filter(|(_, other)| !other).map(|(at, _)| *at).collect();
            let (fewest, most) = taken(&with_key, posts, seen.bound * 2);
            came += all.len();
            others += all.len() - with_key.len();
            span = Span { lo: span.lo + count(fewest), hi: span.hi + count(most) };
        }
        let name = &trial.observation.ports[usize::from(own.to)].dut_port;
        let name = format!("{name} rdma_recvs");
        let Some(check) = checks::grown_if_there(&trial.observation.counters, &name, span) else {
            let why = "its driver counts no receives that completed (`rdma_recvs`)".to_owned();
            return Err(Unread::NotApplicable(why));
        };
        if came == 0 {
            return Err(trial.doubt(&format!("nothing of {flow} reached the NIC")).into());
        }
        let mut read = checks::read(trial, &[check], looked(came, "datagrams"), SOURCE)?;
        let want = match span.lo == span.hi {
            true => span.lo.to_string(),
            false => format!("{} to {}", span.lo, span.hi),
        };
        let lacking = count(came - others).saturating_sub(span.hi);
        let found = match posts {
            Some(_) => format!("{lacking} or more found no receive"),
            None => "each found a receive".to_owned(),
        };
        read.want.text = format!(
            "{want} receives completed: of {came} datagrams that came {others} had another Q_Key, and {found}"
        );
        read.got = read.got.map(|got| format!("{got} completed"));
        Ok(read)
    });
}

/// What came of a flow, all of it taken in by the end, and whether its Q_Key was another.
fn arrived(
    trial: &Trial,
    seen: &Passage<'_>,
    connection: u16,
) -> Result<Vec<(Time, bool)>, Unread> {
    let end = Time::ZERO + trial.script.length;
    let own = seen.counted().filter(|(one, _)| one.connection == connection);
    let data = own.filter(|(one, _)| matches!(one.kind, RoceKind::Data { .. }));
    let each = data.map(|(one, at)| {
        if at + seen.bound * 2 > end {
            let why = "a datagram may not have been taken in when the trial ended";
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(why) }.into());
        }
        Ok((at, has_other_key(trial, one.record)))
    });
    each.collect()
}

/// Whether a record is a datagram with another Q_Key than that of its queue.
pub(super) fn has_other_key(trial: &Trial, record: usize) -> bool {
    matches!(trial.observation.records[record].what, What::Roce(roce) if roce.other_key)
}

fn count(all: usize) -> u64 {
    u64::try_from(all).unwrap_or(u64::MAX)
}
