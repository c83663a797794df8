//! How long a flow may take at the most, by what is declared of its NICs and of the way between: what a case wants in an ordinary lab is more
//! than slower ports, longer cables or later answers leave.
//!
//! All that left the sender's port takes its time there, one frame after the other, and what a CNP slows down as long as the rule holds it back by the
//! CNPs that came. Each RNR NAK asks for a wait. Each time that the sender goes back it waits for as long as a
//! receiver may take to ask, a NIC to go back, and both ways between the two; where nobody asked, for its timer. That a NIC goes back once too
//! often, or sends what nobody asked for, is not to be seen here: `rc.sender` and `rc.receiver` judge each.

use super::super::super::judge_context::JudgeContext;
use super::super::limited::Limited;
use super::super::{Passage, small};
use super::got::Carried;
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::spec::nic::rc::timeout;
use crate::spec::nic::selective;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::analyse::nic::Reached;
use rig_capture::{Span, Unit};
use rig_frames::psn::Psn;
use rig_lab::{Rp, Scope};
use rig_testcases::{RoceKind, Verb};
use rig_units::{Bytes, Dur, Time, Within};
use std::collections::BTreeSet;

/// What a flow may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Longest {
    /// From its first packet to the last acknowledgement, or to the last packet of what is read.
    takes: Dur,
    /// When that is over, in the trial.
    pub(super) until: Dur,
    /// From the first acknowledgement to the last: the way is the same for both.
    apart: Dur,
    /// How much longer one acknowledgement may take than another.
    pub(super) uneven: Dur,
}

impl Longest {
    /// Of what one NIC sends to another or reads from it; `None` of anything else.
    pub(super) fn of(done: &JudgeContext<'_>, trial: &Trial, flow: &str) -> Option<Longest> {
        let (.., between) = trial.script.between.as_ref()?;
        let (index, spec) = trial.flow(flow).ok()?;
        if spec.nic == spec.to {
            return None;
        }
        let connection = trial.script.connection(index);
        let (own, other) = (Passage::of(done, trial, spec.nic), Passage::of(done, trial, spec.to));
        let data = if spec.verb == Verb::Read { &other } else { &own };
        let port = &trial.observation.ports[usize::from(spec.nic)];
        let sizes = data.left.iter().map(|one| one.roce.size);
        let longest = sizes.clone().max()?;
        let slots: Dur = sizes.map(|size| port.speed.slot(Bytes(size.into()))).sum();
        let slowed = slowed(data, connection).then(|| {
            let of_limiter = (spec.verb != Verb::Read).then(|| more_than_slots(done, trial, flow));
            of_limiter.flatten().unwrap_or_else(|| {
                // One that is told to slow down may be as slow as its least rate.
                let of_flow = data.left.iter().filter(|one| one.roce.connection == connection);
                let bytes: Bytes = of_flow.map(|one| Bytes(one.roce.size.into())).sum();
                data.nic.rp.min_rate.serialise(bytes)
            })
        });
        let slots = slots + slowed.unwrap_or(Dur::ZERO);
        let ends = [spec.nic, spec.to].map(|port| &trial.observation.ports[usize::from(port)]);
        let way = ends.iter().fold(between.delay, |all, end| {
            let spread = end.approach.as_ref().map_or(Dur::ZERO, rig_capture::Approach::spread);
            all + end.way(longest) + spread + port.speed.slot(Bytes(longest.into()))
        });
        let trip = way * 2 + data.busy + trial.observation.bound() * 4;
        let [asks, answers] = [&own, &other].map(|seen| seen.nic.rc);
        let waits = timeout(&asks).map_or(Dur::ZERO, Within::most);
        let held = answers.ack_held.map_or(Dur::ZERO, Within::most);
        // A timer runs from the last acknowledgement that came.
        let told_by = |nak: Within| nak.most().max(answers.ack_latency.most() + held);
        let backs = if spec.verb == Verb::Read {
            // Each request is an answer's way of its own, and what is asked for anew waited for the hole or the timer.
            let requests = own.left.iter().filter(|one| {
                one.roce.connection == connection && one.roce.kind == RoceKind::ReadRequest
            });
            let fresh = u64::from(spec.count.unwrap_or(0));
            let requests = u64::try_from(requests.count()).unwrap_or(u64::MAX);
            let again = requests.saturating_sub(fresh);
            let asked = trip + told_by(asks.nak_latency) + asks.resend_latency.most();
            asked * requests + waits * again
        } else {
            let told = told(&own, connection);
            // Who was told to may be about to.
            let (backs, unasked) = goes_back(&own, connection);
            let backs = backs.max(told);
            let asked = trip + told_by(answers.nak_latency) + asks.resend_latency.most();
            asked * backs + waits * unasked + refused(&own, connection)
        };
        // Behind a fence each message waits for the acknowledgement of the one before it.
        let may_wait = spec.verb == Verb::SendRegistered && own.nic.rc.fmr_fence != Some(false);
        // And so does each atomic operation for the answer to the one before it.
        let may_wait = may_wait || spec.verb.is_atomic();
        let messages = if may_wait { u64::from(spec.count.unwrap_or(0)) } else { 0 };
        let backs = backs + (trip + answers.ack_latency.most() + held) * messages;
        let end = trip + answers.ack_latency.most() + held;
        let misses = misses(&own) + misses(&other);
        // What leaves without waiting for anything, and with nothing done to it, is through when its last packet is.
        let waits_for_none = backs == Dur::ZERO && between.inject.is_empty();
        let answer = port.speed.slot(small(&trial.script));
        let late: Dur = [&own, &other].map(|seen| late(seen, connection, answer)).into_iter().sum();
        // An answer may wait for a frame of its own NIC's that is leaving.
        let late = late + other.busy;
        let held_by_misses = if waits_for_none { misses.min(late) } else { misses };
        let all = slots + backs + held_by_misses;
        // One acknowledgement may be on its way for longer than another, and wait for a frame that is leaving.
        let spread = |end: &&rig_capture::PortTrace| {
            end.approach.as_ref().map_or(Dur::ZERO, rig_capture::Approach::spread)
        };
        let uneven: Dur = ends.iter().map(spread).sum::<Dur>() * 2 + other.busy + data.busy;
        // The first that comes may be a NAK.
        let first = answers.ack_latency.least().min(answers.nak_latency.least());
        let later = answers.ack_latency.most().saturating_sub(first);
        let uneven = uneven + later + held + trial.observation.bound() * 4;
        let [takes, apart] = [all + end, all + uneven].map(|all| own.apart.most(all));
        let uneven = own.apart.most(uneven + misses);
        let first = own.left.iter().find(|one| one.roce.connection == connection);
        let until = takes + Dur(first.map_or(0, |first| first.at.0));
        Some(Longest { takes, until, apart: apart.min(takes), uneven })
    }

    /// Whether a trial that ended before the flow did tells that it takes longer.
    ///
    /// # Errors
    /// The trial is shorter than what the flow may take.
    pub(super) fn fits(self, trial: &Trial, flow: &str) -> Result<(), Doubt> {
        if self.until <= trial.script.length {
            return Ok(());
        }
        let why = format!(
            "{flow} may take {} by what is declared, until {}, and the trial for {}",
            self.takes, self.until, trial.script.length
        );
        Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) })
    }

    /// The bytes that got through between the first step from `from` on and the last one, and the least that this is a second.
    pub(super) fn least(self, carried: &Carried<'_>, from: Time) -> Option<(u64, u64)> {
        let (bytes, _) = carried.through(from)?;
        let least = u128::from(bytes) * 8 * 1_000_000_000_000 / u128::from(self.apart.0.max(1));
        Some((bytes, u64::try_from(least).unwrap_or(u64::MAX)))
    }

    /// What is wanted of a rate where no more than this is left of what the case wants.
    pub(super) fn of_rate(self, want: Prediction, carried: &Carried<'_>, from: Time) -> Prediction {
        let Some((bytes, least)) = self.least(carried, from) else { return want };
        if least >= want.span.lo {
            return want;
        }
        let text = format!(
            "{}, or the {} that are left by what is declared: {bytes} B in {}",
            want.text,
            Unit::Bps.show(least),
            self.apart
        );
        Prediction { span: Span { lo: least, ..want.span }, text, ..want }
    }
}

/// How long misses of its cache of connections may hold what reached a NIC: the first packet of each, where there is room for all of them.
fn misses(seen: &Passage<'_>) -> Dur {
    let connections: BTreeSet<u16> = seen.reached.iter().map(|one| one.connection).collect();
    let places = usize::try_from(seen.nic.receive.cache).unwrap_or(usize::MAX);
    let misses = if connections.len() <= places { connections.len() } else { seen.reached.len() };
    seen.nic.receive.miss * u64::try_from(misses).unwrap_or(u64::MAX)
}

/// How long those that came before it held the last packet of a connection that reached a NIC, and what answers it: those that a miss held up together are
/// answered one after the other, each in `slot`, and one that is marked twice.
fn late(seen: &Passage<'_>, connection: u16, slot: Dur) -> Dur {
    let (mut free, mut late) = (Time::ZERO, Dur::ZERO);
    for (one, passes) in seen.counted() {
        let answers = match one.kind {
            RoceKind::Data { .. } | RoceKind::ReadRequest => 1 + u64::from(one.ce),
            _ => 0,
        };
        free = free.max(passes) + slot * answers;
        if one.connection == connection {
            late = free.since(one.at).unwrap_or(Dur::ZERO);
        }
    }
    late + seen.bound
}

/// How much longer than at the speed of its port the frames of a flow's limiter may take by the CNPs that came; `None` where they leave that open.
fn more_than_slots(done: &JudgeContext<'_>, trial: &Trial, flow: &str) -> Option<Dur> {
    let limited = Limited::of(done, trial, flow).ok()?;
    let most: Dur = limited.holds()?.into_iter().map(|[_, most]| most).sum();
    let slots = limited.frames.iter().map(|(.., bytes)| limited.line.slot(*bytes)).sum();
    Some(most.saturating_sub(slots))
}

/// Whether its sender may have been told to slow down.
fn slowed(seen: &Passage<'_>, connection: u16) -> bool {
    let Rp { enable, scope, .. } = seen.nic.rp;
    let its_own = |of: u16| scope != Scope::Qp || of == connection;
    let told = |one: &Reached| matches!(one.kind, RoceKind::Cnp { .. }) && its_own(one.connection);
    enable && seen.reached.iter().any(told)
}

/// How often the data of a connection begins anew at a number that had left before, and how often so with no NAK since the time before: a
/// NAK that comes when a timer has acted already asks for nothing that was not done.
fn goes_back(seen: &Passage<'_>, connection: u16) -> (u64, u64) {
    let own = seen.left.iter().filter(|one| one.roce.connection == connection);
    let data = own.filter(|one| matches!(one.roce.kind, RoceKind::Data { .. }));
    let sent: Vec<(usize, Psn)> = data.map(|one| (one.record, Psn::new(one.roce.psn))).collect();
    // One that sends again what is missing alone goes back with each packet of that.
    let mut top = sent.first().map_or(Psn::new(0), |one| one.1);
    let alone = selective::is_kept(&seen.nic.rc);
    let back = sent.windows(2).filter(move |two| {
        let from = if alone { top } else { two[0].1 };
        let back = two[1].1.ahead_of(from).is_none_or(|ahead| ahead == 0);
        top = if back { top } else { two[1].1 };
        back
    });
    let back = back.map(|two| two[1].0);
    let naks: Vec<usize> = asking(seen, connection).collect();
    let (mut backs, mut unasked, mut before) = (0, 0, 0);
    for record in back {
        backs += 1;
        unasked += u64::from(!naks.iter().any(|nak| (before..record).contains(nak)));
        before = record;
    }
    (backs, unasked)
}

/// The NAKs and RNR NAKs that told its sender to, by their records.
fn asking(seen: &Passage<'_>, connection: u16) -> impl Iterator<Item = usize> {
    let own = seen.reached.iter().filter(move |one| one.connection == connection);
    let told = own.filter(|one| matches!(one.kind, RoceKind::Nak | RoceKind::NotReady(_)));
    told.map(|one| one.record)
}

/// For how long RNR NAKs asked its sender to wait, all together.
fn refused(seen: &Passage<'_>, connection: u16) -> Dur {
    let own = seen.reached.iter().filter(|one| one.connection == connection);
    let waits = own.filter_map(|one| match one.kind {
        RoceKind::NotReady(timer) => Some(timer.wait()),
        _ => None,
    });
    waits.sum()
}

/// How many they are.
fn told(seen: &Passage<'_>, connection: u16) -> u64 {
    u64::try_from(asking(seen, connection).count()).unwrap_or(u64::MAX)
}
