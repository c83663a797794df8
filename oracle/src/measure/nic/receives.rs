//! What a NIC says to SENDs for which its application may have posted no receive.

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, Unread, looked};
use super::super::measurement::{Known, Red, Tells, by_source};
use super::super::stamps;
use super::end::End;
use super::{BEHIND, OF_FLOW, Passage, spoilt};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::nic::receives::{Account, Fault, Packet, Promise, RnrRefusal};
use crate::judge::nic::turned_away::{self as judge, Numbered};
use crate::spec::nic::receives::{Application, SOURCE};
use crate::spec::nic::selective;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use core::cell::Cell;
use rig_capture::analyse::nic::Reached;
use rig_capture::{Span, Unit};
use rig_frames::psn::Psn;
use rig_frames::roce::aeth::RnrTimer;
use rig_lab::{Fault as Misuse, Part};
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Case, Measure, RoceKind, Verb};
use rig_units::{Dur, Time, Within};
use std::collections::{BTreeMap, BTreeSet};

/// `rc.receives`.
pub(in super::super) static RECEIVES: Known = Known {
    entry: Entry {
        name: "rc.receives",
        parts: Some(&[Part::Rc]),
        about: "RNR NAKs of a NIC: one for each SEND that finds no receive, with its number and the declared timer, and none else",
        source: SOURCE,
        sense: sends,
        ..OF_FLOW
    },
    tells: Tells::Each(
        "message that comes; where a receive is posted within the stamps of that, none",
    ),
    red: Red::Mutated("receives-run-out", "deviation=rnr_takes_anyway"),
    expected: |_, _, _| by_source("an RNR NAK for each message that finds no receive", SOURCE),
    judge: |measure, done, judged| receives(done, measure.named("flow"), judged),
    stamps: Some(|measure, context, script| {
        let to = context.case.flows.get(measure.named("flow"))?.to.as_str();
        let port = script.ports.iter().position(|name| name == to)?;
        let behind = *script.dut_ports.get(port)?;
        let again = context.nics().behind(behind)?.rc.receive_again?;
        stamps::told(again.least() / 4, "a quarter of what the application takes for a message")
    }),
    of_nic: |measure, case| Some(case.flows.get(measure.named("flow"))?.to.clone()),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// It is of SENDs from one NIC to another.
fn sends(measure: &Measure, case: &Case) -> Vec<Misuse> {
    let name = measure.named("flow");
    let is_such = |flow: &&rig_testcases::Flow| flow.verb.takes_buffer() && flow.nic != flow.to;
    let other = case.flows.get(name).filter(|flow| !is_such(flow));
    let fault = other.map(|_| {
        let found = format!("`rc.receives` of `{name}`, whose messages take no receive of a NIC");
        case.fault("measure", found, "a flow from one NIC to another with a `verb:` that sends")
    });
    fault.into_iter().collect()
}

/// The packets that a NIC refused for want of a receive, by its own RNR NAKs: from the one that each answers until that number comes again. It drops them, but for
/// those that it had taken before. Of a NIC of which none is declared nothing is let pass so, nor of a connection whose messages take no receive.
pub(super) fn turned_away(trial: &Trial, seen: &Passage<'_>) -> BTreeSet<usize> {
    let mut all = BTreeSet::new();
    if seen.nic.rc.receives.is_none() {
        return all;
    }
    let mut said: BTreeMap<u16, Vec<Numbered>> = BTreeMap::new();
    for one in &seen.left {
        if let RoceKind::NotReady(_) = one.roce.kind {
            let own = said.entry(one.roce.connection).or_default();
            own.push((one.at, Psn::new(one.roce.psn)));
        }
    }
    for (of, said) in said {
        let flow = trial.script.flow_of(of).map(|(_, flow)| flow);
        // Immediate data of a WRITE takes one, too (IBTA volume 1, 9.4.5).
        let takes = |verb: Verb| verb.takes_buffer() || verb.has_tail();
        if flow.is_some_and(|flow| !takes(flow.verb)) {
            continue;
        }
        let is_own = |one: &Reached| {
            one.connection == of && matches!(one.kind, RoceKind::Data { response: false, .. })
        };
        let own = seen.counted().filter(|(one, _)| is_own(one));
        let (records, came): (Vec<usize>, Vec<Numbered>) =
            own.map(|(one, at)| (one.record, (at, Psn::new(one.psn)))).unzip();
        let Some(&(_, begins)) = came.first() else { continue };
        let first = flow.map_or(begins, |flow| Psn::new(flow.psn));
        let dropped = judge::turned_away(first, &came, &said, seen.bound * 2);
        all.extend(dropped.into_iter().map(|place| records[place]));
    }
    all
}

/// What is declared of the application behind a NIC, and of what the NIC says for it.
fn declared(seen: &Passage<'_>) -> Result<(u16, Application, Promise), Unread> {
    let (rc, part) = (&seen.nic.rc, seen.part);
    if selective::is_kept(rc) {
        let why = format!(
            "`{part}` keeps what comes behind a hole: what of it finds a receive is left open"
        );
        return Err(Unread::NotApplicable(why));
    }
    let timer = rc.rnr_timer.and_then(RnrTimer::new);
    let (Some(posted), Some(again), Some(timer)) = (rc.receives, rc.receive_again, timer) else {
        return Err(Unread::NotApplicable(format!("`{part}.rc.receives` is not declared")));
    };
    let takes = seen.apart.range(again);
    let (latency, busy) = (seen.apart.range(rc.nak_latency), seen.busy);
    let (blur, until) = (seen.bound * 2, seen.until);
    let promise = Promise { timer, latency, busy, blur, until };
    Ok((posted, Application::of(posted, takes), promise))
}

fn receives(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    let told = Cell::new(None);
    done.each("rc.receives", flow, judged, |trial| {
        let end = End::receiver(trial, flow)?;
        let seen = Passage::of(done, trial, end.port);
        if let Some(spoilt) = spoilt::answers(&seen, end.connection) {
            return spoilt.read(trial);
        }
        let (posted, application, promise) = declared(&seen)?;
        let came = seen.counted().filter(|(one, _)| one.connection == end.connection);
        let (records, packets): (Vec<usize>, Vec<Packet>) = came
            .filter_map(|(one, at)| match one.kind {
                RoceKind::Data { first, last, response: false } => {
                    Some((one.record, Packet { at, psn: Psn::new(one.psn), first, last }))
                }
                _ => None,
            })
            .unzip();
        let own = || seen.left.iter().filter(|one| one.roce.connection == end.connection);
        let (said, refusals): (Vec<usize>, Vec<RnrRefusal>) = own()
            .filter_map(|one| match one.roce.kind {
                RoceKind::NotReady(timer) => {
                    let psn = Psn::new(one.roce.psn);
                    Some((one.record, RnrRefusal { at: one.at, psn, timer }))
                }
                _ => None,
            })
            .unzip();
        let acks = own().filter(|one| one.roce.kind == RoceKind::Ack);
        let acks: Vec<(Time, Psn)> = acks.map(|one| (one.at, Psn::new(one.roce.psn))).collect();
        let account = promise.account((application, end.first), &packets, &refusals, &acks);
        // One who takes longer is refused once more, and one who takes less once less, if that is by more than lies between two tries. Of what was
        // tried once nothing shows when it would have been taken.
        if account.refused > 0 && account.apart > Dur::ZERO {
            let again = seen.nic.rc.receive_again.unwrap_or(Within::ZERO);
            let clocks = seen.apart.range(again).width() - again.width();
            let off = account.apart + promise.blur * 2 + clocks;
            told.set(Some((format!("{}.rc.receive_again", seen.part), again, off)));
        }
        let at_once = seen.nic.rc.receive_again.is_some_and(|again| again.least() == Dur::ZERO);
        let timer = promise.timer;
        let shown = Shown { packets: &packets, refusals: &refusals, timer, posted, at_once };
        read(trial, flow, &account, &shown, (&records, &said))
    });
    if let Some(told) = told.take() {
        judged.resolved("rc.receives", &[told]);
    }
}

/// What the faults of an account are told by.
struct Shown<'a> {
    packets: &'a [Packet],
    refusals: &'a [RnrRefusal],
    /// What is declared.
    timer: RnrTimer,
    posted: u16,
    /// Whether the application may take no time at all: then nothing need be refused.
    at_once: bool,
}

impl Shown<'_> {
    /// The fault in words, with the packet and the RNR NAK that show it.
    fn told(&self, fault: &Fault) -> (String, Option<usize>, Option<usize>) {
        let psn = |packet: usize| self.packets[packet].psn.get();
        match *fault {
            Fault::NotRefused { packet, taken: true } => (
                format!(
                    "PSN {} was taken and acknowledged, though no receive was posted for it",
                    psn(packet)
                ),
                Some(packet),
                None,
            ),
            Fault::NotRefused { packet, taken: false } => (
                format!(
                    "no RNR NAK, and no word at all, for PSN {}, for which no receive was posted",
                    psn(packet)
                ),
                Some(packet),
                None,
            ),
            Fault::Needless { packet, refusal } => (
                format!("an RNR NAK for PSN {}, for which a receive was posted", psn(packet)),
                Some(packet),
                Some(refusal),
            ),
            Fault::WrongPsn { packet, refusal } => (
                format!(
                    "an RNR NAK that names PSN {} where the message that found no receive begins with PSN {}",
                    self.refusals[refusal].psn.get(),
                    psn(packet)
                ),
                Some(packet),
                Some(refusal),
            ),
            Fault::WrongTimer { refusal } => {
                let (got, want) = (self.refusals[refusal].timer, self.timer);
                let text = format!(
                    "an RNR NAK of timer code {} where {} is declared",
                    got.get(),
                    want.get()
                );
                (text, None, Some(refusal))
            }
            Fault::Unasked { refusal } => (
                format!(
                    "an RNR NAK that names PSN {} when no message was to be answered so",
                    self.refusals[refusal].psn.get()
                ),
                None,
                Some(refusal),
            ),
        }
    }
}

fn read(
    trial: &Trial,
    flow: &str,
    account: &Account,
    shown: &Shown<'_>,
    (packets, refusals): (&[usize], &[usize]),
) -> Result<TrialReading, Unread> {
    let messages = trial.flow(flow)?.1.count;
    if account.faults.is_empty() {
        // That nothing is refused shows something where there is a receive for each message, and all of them came.
        let for_all = shown.at_once || messages.is_some_and(|all| u32::from(shown.posted) >= all);
        let came = u32::try_from(account.came).unwrap_or(u32::MAX);
        let all_came = messages.is_some_and(|all| came >= all);
        if (account.due, account.refused) == (0, 0) && !(for_all && all_came) {
            let why = format!("no message of {flow} surely came without a receive");
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
    }
    let first = account.faults.first().map(|fault| shown.told(fault));
    let got = first.as_ref().map(|(first, ..)| match account.faults.len() {
        1 => first.clone(),
        all => format!("{first}, and {} faults more", all - 1),
    });
    let (packet, refusal) = first.map_or((None, None), |(_, packet, refusal)| (packet, refusal));
    let packet = packet.and_then(|packet| packets.get(packet));
    let refusal = refusal.and_then(|refusal| refusals.get(refusal));
    let want = Prediction {
        unit: Unit::Count,
        span: Span::exactly(0),
        formula: "D(i) = max(C(i), D(i - 1)) + receive_again",
        text: format!(
            "an RNR NAK for each message that finds no receive, {} of {} that came, and for no other",
            account.refused, account.came
        ),
        source: SOURCE,
    };
    let span = Span::exactly(u64::try_from(account.faults.len()).unwrap_or(u64::MAX));
    let records = packet.into_iter().chain(refusal).copied().collect();
    Ok(TrialReading { span, want, got, records, looked: looked(account.came, "messages") })
}
