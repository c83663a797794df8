//! Reliable connections: what a receiver answers, and how a sender goes back.

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, Unread, looked};
use super::super::measurement::told;
use super::super::measurement::{Known, Red, Tells};
pub(super) use super::end::{End, says};
use super::{BEHIND, OF_FLOW, Passage, declared_recovery, message, receives, spoilt};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::nic::rc::{self, Answer, Asked, Event, Fault, Resent, Sent, Sight, Untried};
use crate::spec::nic::rc::{
    Data, Packet, SOURCE, Says, is_clear, not_ready, replies, rnr_retries, timeout_after,
};
use crate::spec::nic::selective;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use core::cell::Cell;
use rig_capture::analyse::nic::{Left, Reached};
use rig_capture::{Span, Unit};
use rig_frames::psn::Psn;
use rig_lab::{AckTimeout, Part, Rc};
use rig_testcases::vocabulary::{Entry, Looks, ValueKind, optional};
use rig_testcases::{Case, Measure, RoceKind, Verb};
use rig_units::{Dur, Within};

/// `rc.sender`.
pub(in super::super) static SENDER: Known = Known {
    entry: Entry {
        name: "rc.sender",
        parts: Some(&[Part::Rc]),
        about: "what a NIC sends after a NAK or none (go-back-N, or selective repeat)",
        source: "IBTA volume 1, chapter 9.7.5 and 9.9",
        over_ipv6: true,
        ..OF_FLOW
    },
    tells: Tells::Each("packet; one that is off by more than the port and the timestamps explain"),
    red: Red::Mutated("lost-packet", "nic.rc.resend_latency=x1.5"),
    expected: |_, _, _| {
        told("numbers in order; after a NAK from the one that it names", RULES, SOURCE)
    },
    judge: |measure, done, judged| sender(done, measure.named("flow"), judged),
    of_nic: |measure, case| end_of(measure, case, |reads| !reads),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// `rc.receiver`.
pub(in super::super) static RECEIVER: Known = Known {
    entry: Entry {
        name: "rc.receiver",
        parts: Some(&[Part::Rc]),
        about: "what a NIC acknowledges, and how it asks for what is missing",
        source: "IBTA volume 1, chapter 9.7.5 and 9.9",
        over_ipv6: true,
        fields: &[
            optional("stream", ValueKind::Stream, "the stream that it receives, or `flow`"),
            optional("flow", ValueKind::Flow, "the flow that it receives, or `stream`"),
        ],
        check: |given| {
            let one = given.says("stream") != given.says("flow");
            if !one {
                given.at.fault("a receiver of nothing, or of two things", "`stream:` or `flow:`");
            }
            one
        },
        looks: &[Looks::EVERY_FRAME],
        ..Entry::USUAL
    },
    tells: Tells::Each("reply; one that is off by more than the port and the timestamps explain"),
    red: Red::Mutated("hole-and-nak", "deviation=nak_repeated"),
    expected: |_, _, _| {
        told("an acknowledgement as often as declared, one NAK for each hole", RULES, SOURCE)
    },
    judge: |measure, done, judged| {
        let of = measure.arguments.name("stream").unwrap_or_else(|| measure.named("flow"));
        receiver(done, of, judged);
    },
    of_nic: |measure, case| end_of(measure, case, |reads| reads),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// What both ends keep to.
const RULES: &str = "go-back-N; selective repeat where a NIC is declared so";

/// The rig port in front of the end of a flow that began it, where `began` says so of whether it reads; else of the other end.
fn end_of(measure: &Measure, case: &Case, began: fn(bool) -> bool) -> Option<String> {
    let flow = case.flows.get(measure.named("flow"))?;
    let end = if began(flow.verb == Verb::Read) { &flow.nic } else { &flow.to };
    Some(end.clone())
}

/// What an RNR NAK says to a sender of this NIC.
fn waits(seen: &Passage<'_>, kind: RoceKind) -> Option<Says> {
    let RoceKind::NotReady(timer) = kind else { return None };
    Some(not_ready(&seen.nic.rc, seen.apart.range(Within::exactly(timer.wait()))))
}

pub(super) const fn sight(seen: &Passage<'_>) -> Sight {
    Sight { bound: seen.bound, busy: seen.busy, allowance: Some(seen.busy), until: seen.until }
}

/// What reached an end that receives, in order, each with its record.
pub(super) fn packets(trial: &Trial, end: &End, seen: &Passage<'_>) -> (Vec<usize>, Vec<Packet>) {
    let refused = receives::turned_away(trial, seen);
    let is_own = |one: &Reached| one.connection == end.connection && !refused.contains(&one.record);
    let reached = seen.counted().filter(|(one, _)| is_own(one));
    let data = reached.filter_map(|(one, at)| match one.kind {
        RoceKind::Data { last, response, .. } if response == end.reads.is_some() => {
            let packet = Packet { at, psn: Psn::new(one.psn), last };
            Some((one.record, packet))
        }
        _ => None,
    });
    data.unzip()
}

/// What the requester of a READ asked for, in order, each with its record.
pub(super) fn asked(end: &End, seen: &Passage<'_>) -> (Vec<usize>, Vec<Asked>) {
    let mut again = end.again();
    let own = |one: &Left| one.roce.connection == end.connection;
    let left = seen.left.iter().enumerate().filter(|(_, one)| own(one));
    let asked = left.filter(|(_, one)| one.roce.kind == RoceKind::ReadRequest);
    asked
        .map(|(place, one)| {
            let anew = again(one.roce.kind, one.roce.psn).is_some();
            let behind = if anew { seen.waited_its_turn(place) } else { Dur::ZERO };
            (one.record, Asked { at: one.at, psn: Psn::new(one.roce.psn), behind })
        })
        .unzip()
}

/// Why a requester of a READ is not judged.
pub(super) const OPEN: &str = "a response fills a hole before the question for it has left, or may have: what is asked for from then on is left open";

/// How a NIC's timer is named and declared, beside how far outside of that one shows.
fn timer(part: &str, rc: &Rc, off: Dur) -> Option<(String, Within, Dur)> {
    let waits = timeout_after(rc, 0)?;
    // A share beside it is drawn anew each time: with it whatever is late by less may be right, and what is later by less wrong.
    let share = rc
        .timeout_late_share
        .zip(rc.timeout_late)
        .map(|(_, late)| (waits.width() - late.width(), late));
    let beside = |(share, late): (Dur, Within)| {
        Within::between(late.least().saturating_sub(share), late.most() + share)
    };
    let declared = share.map(beside).or(rc.timeout_late);
    let declared = declared.unwrap_or(Within::at_most(waits.width()));
    Some((format!("{part}.rc.timeout_late"), declared, off))
}

/// Of what two trials tell of a timer what tells more.
fn soonest<T>(
    one: Option<(T, Within, Dur)>,
    other: Option<(T, Within, Dur)>,
) -> Option<(T, Within, Dur)> {
    one.into_iter().chain(other).min_by_key(|(.., off)| *off)
}

/// How what an acknowledgement takes is named and declared, beside how far outside of that it shows. Of how long it was held and of the rest
/// only both together are seen. `alone`: whether one stood for none before it.
fn acknowledges(
    rc: &Rc,
    alone: bool,
    of: impl Fn(&str, Within) -> (String, Within, Dur),
) -> Vec<(String, Within, Dur)> {
    let (latency, held) = (of("ack_latency", rc.ack_latency), rc.ack_held);
    let Some(held) = held.map(|held| of("ack_held", held)) else { return vec![latency] };
    // One that stands for others may be held not at all for all that anybody knows.
    let within = if alone { held.1 } else { Within::at_most(held.1.most()) };
    let of_held = held.2 + latency.1.width();
    vec![(latency.0, latency.1, latency.2 + within.width()), (held.0, within, of_held)]
}

/// Judges what a NIC says to the packets that reach it.
fn receiver(done: &JudgeContext<'_>, name: &str, judged: &mut Judged) {
    let told = Cell::new(Vec::new());
    done.each("rc.receiver", name, judged, |trial| {
        let end = End::receiver(trial, name)?;
        let seen = Passage::of(done, trial, end.port);
        if let Some(spoilt) = spoilt::answers(&seen, end.connection) {
            return spoilt.read(trial);
        }
        let (records, packets) = packets(trial, &end, &seen);
        if packets.is_empty() {
            return Err(trial.doubt(&format!("nothing of {name} reached the NIC")).into());
        }
        let asks = End::sender(trial, name).ok().map(|asks| Passage::of(done, trial, asks.port));
        let free = asks.filter(|asks| asks.nic.rc.resend_extra.is_some()).map(|asks| asks.part);
        message::none_late(trial, name, end.first, &packets, free)?;
        // What an atomic operation found is said of each: it waits for no other, and stands for none.
        let atomic = trial.flow(name).is_ok_and(|(_, spec)| spec.verb.is_atomic());
        let held = seen.nic.rc.ack_held.filter(|_| !atomic);
        let rc = &Rc { ack_held: held, ..seen.nic.rc };
        let sight = sight(&seen);
        if let Some(reading) = &end.reads {
            if let Some(why) = declared_recovery::of_a_read(done, trial, name) {
                return Err(Unread::NotApplicable(why));
            }
            if !is_clear(rc, Data::Responses, end.first, &packets) {
                return Err(trial.doubt(OPEN).into());
            }
            let (asked_by, asked) = asked(&end, &seen);
            let answered = rc::requester(rc, reading, &asked, &packets, &sight);
            if answered.expired.is_some_and(|expired| expired > 0) {
                let behind = asked.iter().map(|ask| ask.behind).fold(sight.busy, Dur::max);
                told.set(timer(seen.part, rc, behind + sight.bound * 4).into_iter().collect());
            }
            let text = format!(
                "{} requests for {} packets: one a message, one a hole, one a timeout",
                asked.len(),
                packets.len()
            );
            return Ok(read(rc, &answered.faults, text, &records, &asked_by));
        }
        let (replied, answers) = answers(&end, &seen);
        let data = (Data::Requests, end.first);
        let answered = rc::receiver(rc, data, &packets, &answers, &sight);
        // A reply that is off by more than the port and both stamps explain is no other's.
        let off = sight.busy + sight.bound * 4;
        let of = |name: &str, declared| (format!("{}.rc.{name}", seen.part), declared, off);
        let naks = (!answered.naks.is_empty()).then(|| of("nak_latency", rc.nak_latency));
        let acks = if answered.acks.is_empty() {
            Vec::new()
        } else {
            acknowledges(rc, answered.alone, of)
        };
        told.set(acks.into_iter().chain(naks).collect());
        let text = format!(
            "one in {} of {} packets acknowledged and the last of each message, one NAK for each hole",
            rc.ack_every,
            packets.len()
        );
        let read = read(rc, &answered.faults, text, &records, &replied);
        Ok(declared_recovery::named(read, rc, ("receiver", seen.part), |other| {
            rc::receiver(other, data, &packets, &answers, &sight).faults.is_empty()
        }))
    });
    let told = told.take();
    if !told.is_empty() {
        judged.resolved("rc.receiver", &told);
    }
}

/// What a sender sent and what came back to it, each with its record, and what it comes to.
pub(super) struct Resends {
    records: Vec<usize>,
    came_by: Vec<usize>,
    naks: usize,
    refusals: usize,
    /// How much later than it is due what it sends again may leave.
    kept: Dur,
    pub(super) resent: Resent,
}

pub(super) fn resends(end: &End, seen: &Passage<'_>) -> Resends {
    resends_of(end, seen, seen.nic.rc)
}

/// What a NIC said on a connection to what it received, in order, each with its record.
pub(super) fn answers(end: &End, seen: &Passage<'_>) -> (Vec<usize>, Vec<Answer>) {
    let left = seen.left.iter().zip(&seen.behind);
    let own = left.filter(|(one, _)| one.roce.connection == end.connection);
    own.filter_map(|(one, &behind)| {
        let (at, says, psn) = (one.at, says(one.roce.kind)?, Psn::new(one.roce.psn));
        Some((one.record, Answer { at, says, psn, behind }))
    })
    .unzip()
}

/// Frames in their order, each with its record.
type Recorded<Frame> = (Vec<usize>, Vec<Frame>);

/// What a sender sent, and what came back to it, each with its record, and how well that was seen.
pub(super) fn sent_and_came(
    end: &End,
    seen: &Passage<'_>,
) -> (Recorded<Sent>, Recorded<Event>, Sight) {
    let own = |connection: u16| connection == end.connection;
    let data = seen.left.iter().enumerate().filter(|(_, one)| own(one.roce.connection));
    let data = data.filter(|(_, one)| matches!(one.roce.kind, RoceKind::Data { .. }));
    let (mut behind, mut next) = (Dur::ZERO, end.first);
    let sent = data
        .map(|(place, one)| {
            let psn = Psn::new(one.roce.psn);
            if psn != next {
                behind = behind.max(seen.waited_its_turn(place));
            }
            next = psn.advance(1);
            (one.record, Sent { at: one.at, psn })
        })
        .unzip();
    let mut again = end.again();
    let came = seen
        .counted()
        .filter(|(one, _)| own(one.connection))
        .filter_map(|(one, at)| {
            let says = says(one.kind).or_else(|| waits(seen, one.kind));
            let says = says.or_else(|| again(one.kind, one.psn))?;
            Some((one.record, Event { at, says, psn: Psn::new(one.psn) }))
        })
        .unzip();
    let slowed = is_slowed(seen);
    let sight = sight(seen);
    // A way back is a packet in its turn.
    let turns = (seen.busy + seen.turn).max(behind.saturating_sub(seen.busy));
    let allowance = sight.allowance.filter(|_| !slowed).map(|_| turns);
    (sent, came, Sight { allowance, ..sight })
}

/// The same of a NIC that recovers otherwise.
fn resends_of(end: &End, seen: &Passage<'_>, mut rc: Rc) -> Resends {
    let ((records, sent), (came_by, came), sight) = sent_and_came(end, seen);
    // A responder sends what it is asked for: only a requester takes its time to go back, and waits for an acknowledgement.
    if end.reads.is_some() {
        (rc.resend_latency, rc.resend_extra) = (Within::ZERO, None);
        rc.timeout = AckTimeout::NEVER;
    }
    let resent = rc::sender(&rc, end.first, &sent, &came, &sight);
    let of = |is: fn(&Says) -> bool| came.iter().filter(|one| is(&one.says)).count();
    let naks = of(|says| *says == Says::Nak);
    let refusals = of(|says| matches!(says, Says::NotReady { .. }));
    let kept = sight.busy + sight.allowance.unwrap_or(Dur::ZERO);
    Resends { records, came_by, naks, refusals, kept, resent }
}

/// Whether flows may be held back: one that is goes back when its rate allows it.
fn is_slowed(seen: &Passage<'_>) -> bool {
    seen.reached.iter().any(|one| matches!(one.kind, RoceKind::Cnp { .. }))
}

/// Judges the order in which a NIC sends the packets of a flow.
fn sender(done: &JudgeContext<'_>, name: &str, judged: &mut Judged) {
    let told = Cell::new([None, None, None]);
    done.each("rc.sender", name, judged, |trial| {
        let end = End::sender(trial, name)?;
        let seen = Passage::of(done, trial, end.port);
        if let Some(spoilt) = spoilt::data(&seen, end.connection) {
            return spoilt.read(trial);
        }
        if let Some(why) = declared_recovery::of_a_read(done, trial, name) {
            return Err(Unread::NotApplicable(why));
        }
        let Resends { records, came_by, naks, refusals, kept, resent } = resends(&end, &seen);
        if end.reads.is_none() && !is_slowed(&seen) {
            let (rc, off) = (&seen.nic.rc, kept + seen.bound * 4);
            let resends = || (format!("{}.rc.resend_latency", seen.part), rc.resend_latency, off);
            let [of_naks, of_timer, of_refusals] = told.take();
            let again = rc.rnr_late.filter(|_| !resent.tried_again.is_empty());
            let again = again.map(|late| (format!("{}.rc.rnr_late", seen.part), late, off));
            told.set([
                (!resent.restarts.is_empty()).then(resends).or(of_naks),
                soonest(resent.anew.and_then(|anew| timer(seen.part, rc, off + anew)), of_timer),
                again.or(of_refusals),
            ]);
        }
        if records.is_empty() {
            return Err(trial.doubt(&format!("{name} sent nothing")).into());
        }
        if let Some(untried) = resent.untried.filter(|_| resent.faults.is_empty()) {
            let why = not_tried(name, &seen, untried);
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let again = match selective::is_kept(&seen.nic.rc) {
            false => "on from the one that it names",
            true => "the one that it names and no other again",
        };
        let mut text =
            format!("{} packets in order, and after each of {naks} NAKs {again}", records.len());
        if refusals > 0 {
            text += &format!(", and after each of {refusals} RNR NAKs when its time is over");
        }
        let rc = &seen.nic.rc;
        let read = read(rc, &resent.faults, text, &records, &came_by);
        Ok(declared_recovery::named(read, rc, ("sender", seen.part), |other| {
            resends_of(&end, &seen, *other).resent.faults.is_empty()
        }))
    });
    let told: Vec<_> = told.take().into_iter().flatten().collect();
    if !told.is_empty() {
        judged.resolved("rc.sender", &told);
    }
}

/// Why a sender that was to try again, and had not by the trial's end, is not judged.
fn not_tried(name: &str, seen: &Passage<'_>, untried: Untried) -> String {
    let Untried { at, until, refusals } = untried;
    let tried = refusals.saturating_sub(1);
    let of = match rnr_retries(&seen.nic.rc) {
        Some(tries) => format!("{tried} of {tries} tries"),
        None => format!("{tried} tries, which have no end,"),
    };
    let [at, until, end] = [at, until, seen.until].map(|at| Unit::Ps.show(at.0));
    let next = match seen.nic.rc.rnr_late {
        Some(_) => format!("the next is due by {until}"),
        None => format!(
            "as nothing is declared as {}.rc.rnr_late the next may be ever so late",
            seen.part
        ),
    };
    format!(
        "{name}: {of} were seen since the last progress; an RNR NAK came at {at}, the trial ended at {end}, and {next}"
    )
}

/// Why the sender of a flow need not have tried its receiver again by the trial's end, where it has not.
pub(super) fn untried(trial: &Trial, name: &str, seen: &Passage<'_>) -> Option<String> {
    let end = End::sender(trial, name).ok()?;
    let untried = resends(&end, seen).resent.untried?;
    Some(not_tried(name, seen, untried))
}

/// What a receiver asked for again.
pub(super) struct AskedAgain {
    first: Psn,
    /// The packets, by their place from the flow's first on, each behind that which the NAK named that brought it.
    pub(super) places: Vec<[u64; 2]>,
}

impl AskedAgain {
    /// The place of a packet by its number.
    pub(super) fn place(&self, psn: u32) -> Option<usize> {
        usize::try_from(Psn::new(psn).ahead_of(self.first)?).ok()
    }
}

/// The packets of a flow that its receiver has to ask for with a NAK, and that came when that may have brought them, `back` after the NAK: not before, as
/// what a timeout brought.
pub(super) fn asked_again(
    trial: &Trial,
    name: &str,
    seen: &Passage<'_>,
    back: Dur,
) -> Option<AskedAgain> {
    let end = End::receiver(trial, name).ok()?;
    let (_, packets) = packets(trial, &end, seen);
    let due = replies(&seen.nic.rc, Data::Requests, end.first, &packets);
    let mut places = Vec::new();
    // The first NAK that no packet has answered yet: one that fills its hole by itself lets the next NAK follow, and the way back is for the first.
    let mut open = None;
    for nak in due.iter().filter(|due| due.says == Says::Nak) {
        let place = nak.psn.ahead_of(end.first).map(u64::from)?;
        let (ready, named) = *open.get_or_insert((nak.ready.from, place));
        let after = packets[nak.packet..].iter().find(|packet| packet.psn == nak.psn);
        if after.is_some_and(|packet| packet.at + seen.bound * 2 >= ready + back) {
            places.push([named, place]);
            open = None;
        }
    }
    Some(AskedAgain { first: end.first, places })
}

/// What is wrong, with the frames that show the first of it.
fn read(
    rc: &Rc,
    faults: &[Fault],
    text: String,
    packets: &[usize],
    replies: &[usize],
) -> TrialReading {
    let (formula, source) = declared_recovery::rule(rc);
    let got = faults.first().map(|first| match faults.len() {
        1 => first.told().to_owned(),
        all => format!("{}, and {} faults more", first.told(), all - 1),
    });
    let shown = faults.first().map(|first| first.shown_by());
    let (packet, reply) = shown.unwrap_or((None, None));
    let packet = packet.and_then(|packet| packets.get(packet));
    let reply = reply.and_then(|reply| replies.get(reply));
    let want = Prediction { unit: Unit::Count, span: Span::exactly(0), formula, text, source };
    let span = Span::exactly(u64::try_from(faults.len()).unwrap_or(u64::MAX));
    let records = packet.into_iter().chain(reply).copied().collect();
    TrialReading { span, want, got, records, looked: looked(packets.len(), "packets") }
}
