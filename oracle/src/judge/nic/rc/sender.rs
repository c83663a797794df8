//! A sender's numbers: in order, back to where a NAK says, and back to what is not acknowledged after a timeout.
//!
//! What the rule leaves open is allowed: packets in order while a NAK is under way to its effect, and either number where an
//! acknowledgement overtakes a sender that went back, or comes between a NAK and its effect.

use super::nak::Nak;
use super::resent::{Event, Resent, Sent, Untried, behind_the_port};
use super::running::Running;
use super::standing::{By, Standing, may_stand};
use super::tries::Tries;
use super::{Fault, Sight};
use crate::spec::nic::rc::{Says, may_begin, rnr_retries, timeout, timeout_between};
use crate::spec::nic::selective;
use rig_capture::Span;
use rig_frames::psn::Psn;
use rig_lab::Rc;
use rig_units::{Dur, Time, Within};

/// Judges what a sender of one queue pair sent, in order, with all that came back to it, in order. `first`: the number of its
/// first packet.
pub fn sender(rc: &Rc, first: Psn, sent: &[Sent], came: &[Event], sight: &Sight) -> Resent {
    let start = Standing::of(first, Time::ZERO, By::Itself);
    let runs_on = rc.timer_runs_on == Some(true);
    let mut sender = Sender {
        rc,
        timeout: if runs_on { timeout(rc) } else { timeout_between(rc, 0, 0) },
        sight,
        next: first,
        top: first,
        beside: None,
        packets: 0,
        standings: vec![start],
        naks: Vec::new(),
        active: Time::ZERO,
        running: runs_on.then(Running::default),
        tries: Tries::default(),
        refusals: 0,
        refused: None,
        dead: None,
        given_up: None,
        resent: Resent::default(),
    };
    let mut came = came.iter().enumerate().peekable();
    for (packet, one) in sent.iter().enumerate() {
        // What names a number that was not sent yet came later, whatever the stamps say.
        while let Some((index, event)) = came.next_if(|(_, event)| {
            event.at <= one.at
                || (event.at <= one.at + sight.blur() && sender.names_sent(event, one))
        }) {
            // What leaves before it is not late for it, whichever of the two is read first.
            sender.came(index, event, event.at.min(one.at));
        }
        sender.sent(packet, one);
    }
    for (index, event) in came {
        sender.came(index, event, event.at);
    }
    sender.ended(sent.len());
    sender.resent.faults.sort_unstable();
    sender.resent
}

/// A sender whose last try brought nothing in time: what comes after that comes to a connection that is dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GivenUp {
    /// By this instant.
    By(Time),
    /// Or not: what came at this instant may have been in time. What it sends later shows that it was.
    Perhaps(Time),
}

struct Sender<'a> {
    rc: &'a Rc,
    /// How long it waits now, if it does not for ever: after as many timeouts in a row as there surely were, or may have been.
    timeout: Option<Within>,
    sight: &'a Sight,
    /// The number that is next in order, and the first that was never sent. Who sends again what is missing alone goes on with the latter.
    next: Psn,
    top: Psn,
    /// Behind what it sent again for another reason than a NAK, who goes on with that may go on here, too: no source says.
    beside: Option<Psn>,
    /// How many packets it has sent.
    packets: usize,
    standings: Vec<Standing>,
    naks: Vec<Nak>,
    /// The last instant at which anything started the timeout anew, by any reading of the rule.
    active: Time,
    /// Of one whose timer is left running when all is acknowledged.
    running: Option<Running>,
    tries: Tries,
    /// RNR NAKs since the last progress.
    refusals: u32,
    /// While it waits for a receiver that is not ready: between when and when it tries that again, and its timeout runs anew.
    refused: Option<(Time, Time)>,
    /// When a receiver said once too often that it is not ready: nothing more is sent, and no timeout runs.
    dead: Option<Time>,
    /// Whether its timeout ran out after the last try, before what came then could start it anew.
    given_up: Option<GivenUp>,
    resent: Resent,
}

impl Sender<'_> {
    fn standing(&self) -> Standing {
        self.standings[self.standings.len() - 1]
    }

    /// The first number that is not acknowledged once this has come.
    const fn unacked(event: &Event) -> Psn {
        match event.says {
            Says::Ack => event.psn.advance(1),
            Says::Nak | Says::NotReady { .. } => event.psn,
        }
    }

    /// Whether all that it speaks of was sent: what it acknowledges, or what it misses and the packet behind that which shows the hole. An RNR
    /// NAK follows the very packet that it names, and so does a READ that is asked for again from its last packet on: one of the same time
    /// is taken for later unless this is a way back that nothing else explains.
    fn names_sent(&self, event: &Event, one: &Sent) -> bool {
        let sent = |behind| self.top.ahead_of(event.psn.advance(behind)).is_some();
        let begins = || {
            let explained = self.naks.iter().any(|nak| may_begin(self.rc, nak.psn, one.psn));
            one.psn == event.psn && one.psn != self.next && !explained
        };
        match event.says {
            Says::Ack => sent(1),
            Says::Nak => sent(2) || begins(),
            Says::NotReady { .. } => begins(),
        }
    }

    /// Takes in what came; by `waited` nothing had left that the timeout may have asked for.
    fn came(&mut self, index: usize, event: &Event, waited: Time) {
        let unacked = Self::unacked(event);
        let Some(progress) = unacked.ahead_of(self.standing().unacked) else { return };
        if self.top.ahead_of(unacked).is_none() {
            return;
        }
        // It waited for this longer than it may: whatever leaves next, it is not what the timeout asked for.
        if (progress > 0 || matches!(event.says, Says::NotReady { .. }))
            && let Some(packet) = self.packets.checked_sub(1).filter(|_| self.overdue(waited))
        {
            self.resent.faults.push(Fault::NoTimeout { packet });
        }
        if progress > 0 || event.says != Says::Ack {
            self.given_up = self.given_up.or_else(|| self.gives_up(event.at));
        }
        if progress > 0 {
            self.standings.push(Standing::of(unacked, event.at, By::Told));
            let (more, taken_in) = (unacked != self.top, self.taken_in());
            self.running.iter_mut().for_each(|one| one.progress(event.at, more, taken_in));
            self.tries.ended(event.at, self.sight.blur());
            self.adapt();
            self.refusals = 0;
            for nak in &mut self.naks {
                nak.binds &= nak.psn.ahead_of(unacked).is_some();
            }
        }
        if progress > 0 || event.says != Says::Ack {
            self.active = self.active.max(event.at);
        }
        let (takes, rnr) = match event.says {
            Says::Ack => return,
            Says::Nak => (self.rc.resend_latency, None),
            Says::NotReady { least, most } => {
                self.refusals += 1;
                // After the last try it gives up.
                let last = rnr_retries(self.rc).is_some_and(|tries| self.refusals > tries);
                if last {
                    self.dead.get_or_insert(event.at);
                    self.naks.iter_mut().for_each(|nak| nak.binds = false);
                } else {
                    let until = self.refused.map_or(Time::ZERO, |(_, until)| until);
                    self.refused = Some((event.at + least, until.max(event.at + most)));
                }
                (Within::between(least, most), Some(last))
            }
        };
        let binds = rnr != Some(true) && self.given_up.is_none();
        self.naks.push(Nak { index, psn: event.psn, at: event.at, takes, rnr, binds });
    }

    /// How long what was on its way out, or what a timeout made leave meanwhile, may still leave after something came.
    fn taken_in(&self) -> Dur {
        self.rc.resend_latency.most() + self.sight.busy + self.sight.blur()
    }

    /// Whether no try is left, whichever order of progress and timeouts stamps leave open.
    fn tried_all(&self) -> bool {
        self.tries.least(self.taken_in()) >= u32::from(self.rc.retries)
    }

    /// Whether the timeout has run out by `at` after the last try.
    fn gives_up(&self, at: Time) -> Option<GivenUp> {
        let timeout = self.waits().filter(|_| self.tries.most() >= usize::from(self.rc.retries))?;
        let blur = self.sight.blur();
        let held = self.refused.map_or(Time::ZERO, |(from, _)| from);
        let soonest = self.begun(&self.standing(), at).max(held) + timeout.least();
        let latest = self.runs_from().1 + timeout.most();
        if self.tried_all() && at > latest + blur {
            return Some(GivenUp::By(latest));
        }
        (at + blur >= soonest).then_some(GivenUp::Perhaps(at))
    }

    fn sent(&mut self, packet: usize, one: &Sent) {
        // What was on its way out when its time was over says nothing.
        let out = self.sight.busy + self.sight.blur();
        if matches!(self.given_up, Some(GivenUp::Perhaps(at)) if one.at > at + out) {
            self.given_up = None;
        }
        if self.standing().unacked == self.top {
            let ran_out = self.timeout.map(|most| self.active + most.most() + self.taken_in());
            self.running.iter_mut().for_each(|running| running.begins(one.at, ran_out));
            self.standings.push(Standing::of(self.top, one.at, By::Sent));
            self.active = self.active.max(one.at);
            self.refused = None;
        }
        let blur = self.sight.blur();
        let open = |nak: &Nak| one.at + blur >= nak.at + nak.takes.least();
        let begins = |nak: &Nak| may_begin(self.rc, nak.psn, one.psn) && open(nak);
        let which = self.naks.iter().rposition(begins);
        // What went back for one of two may have been for both: later than for either it is the timeout's.
        let over = |nak: &Nak| !nak.binds && !nak.in_time(one.at, self.sight);
        let which = which.filter(|at| !over(&self.naks[*at]) || self.expired(one).is_none());
        // A packet in order may be the first after a NAK, too, where that may be another than it names.
        let selects = selective::is_kept(self.rc);
        let either = one.psn == self.next && self.rc.resend_extra.is_some() && !selects;
        let alone = selects && which.is_some_and(|which| self.naks[which].rnr.is_none());
        let in_order = one.psn == self.next || self.beside == Some(one.psn);
        if let Some(nak) = self.too_soon(one) {
            self.resent.faults.push(Fault::TooSoon { packet, nak });
            // What goes on in order may still go back when it is time.
            if one.psn != self.next {
                self.naks.clear();
            }
            self.active = self.active.max(one.at);
        } else if let Some(which) = which.filter(|_| !either) {
            self.restart(packet, self.earliest(which, one, begins), one);
        } else if self.beside == Some(one.psn) && self.timed_out(packet, one) {
            // Who sends again one packet at a time does so for the next as the timer runs out once more.
        } else if in_order || self.overtaken(one) {
            if let Some(which) = which {
                self.naks[which].binds = false;
            }
            self.in_order(packet, one.at);
        } else if self.next.ahead_of(one.psn).is_none() {
            self.resent.faults.push(Fault::Skipped { packet });
        } else if let Some(which) = self.way_back(one) {
            // It may have been the timeout's as well.
            if self.expired(one).is_some() {
                self.resent.either += usize::from(self.naks[which].rnr.is_some());
                self.tries.perhaps(one.at, self.taken_in());
            }
            self.restart(packet, which, one);
        } else if self.timed_out(packet, one) {
            // It is counted there.
        } else if let Some(which) =
            self.naks.iter().rposition(|nak| open(nak) && self.passed(nak, one))
        {
            self.restart(packet, which, one);
        } else {
            let wrong = self.naks.iter().rfind(|nak| nak.psn != one.psn && open(nak));
            let fault = match wrong {
                Some(nak) => Fault::WrongRestart { packet, nak: nak.index },
                None => Fault::Unprompted { packet },
            };
            self.resent.faults.push(fault);
            self.naks.clear();
            self.active = self.active.max(one.at);
        }
        // It has tried again: its timeout runs from here on.
        let tries = which.is_some() || one.psn != self.next;
        if tries && self.refused.is_some_and(|(from, _)| one.at + blur >= from) {
            self.refused = None;
            self.active = self.active.max(one.at);
        }
        self.packets = packet + 1;
        self.next = one.psn.advance(1);
        if self.next.ahead_of(self.top).is_some() {
            self.top = self.next;
        }
        if selects {
            self.beside = Some(self.next).filter(|next| !alone && *next != self.top);
            self.next = self.top;
        }
    }

    /// The RNR NAK whose time is not over, where this leaves in it and is not what was on its way out when it came.
    fn too_soon(&self, one: &Sent) -> Option<usize> {
        let blur = self.sight.blur();
        let stops = self.taken_in();
        let waits = |nak: &&Nak| {
            let in_order = one.psn == self.next && one.psn != nak.psn;
            nak.rnr.is_some()
                && one.at + blur < nak.at + nak.takes.least()
                && if in_order { one.at > nak.at + stops } else { one.at > nak.at + blur }
        };
        self.naks.iter().find(waits).map(|nak| nak.index)
    }

    /// Whether acknowledgements have overtaken a sender that went back, and this is the first number after them.
    fn overtaken(&self, one: &Sent) -> bool {
        self.may_stand(one.at).any(|standing| standing.unacked == one.psn)
            && one.psn.ahead_of(self.beside.unwrap_or(self.next)).is_some()
    }

    /// Whether an acknowledgement has told meanwhile of more than a NAK names, and this is the first number after it.
    fn passed(&self, nak: &Nak, one: &Sent) -> bool {
        self.may_stand(one.at).any(|standing| standing.unacked == one.psn)
            && one.psn.ahead_of(nak.psn).is_some()
    }

    /// The NAK behind which acknowledgements told of more than it names, where this is the way back for it and is in time for that.
    fn way_back(&self, one: &Sent) -> Option<usize> {
        let blur = self.sight.blur();
        self.naks.iter().rposition(|nak| {
            let opens = one.at + blur >= nak.at + nak.takes.least();
            opens && nak.in_time(one.at, self.sight) && self.passed(nak, one)
        })
    }

    /// The standings that a packet which left at `at` may have known of. What comes in takes no longer to be acted on than a NAK.
    fn may_stand(&self, at: Time) -> impl Iterator<Item = &Standing> {
        let blur = self.sight.blur();
        may_stand(&self.standings, at, blur, blur + self.rc.resend_latency.most())
    }

    /// When the timer of one that stands so was started at the earliest, as it is at `at`.
    fn begun(&self, standing: &Standing, at: Time) -> Time {
        let running = self.running.as_ref().map(|running| running.since(at, self.taken_in()));
        running.map_or(standing.since, |since| since.min(standing.since))
    }

    /// The earliest NAK that this may be the way back for, `which` the latest: each takes its own time to its effect, and a sender that goes back
    /// for one may go back for the next, too. Of one that is held back by its rate nobody knows how long, so that it is the latest.
    fn earliest(&self, which: usize, one: &Sent, begins: impl Fn(&Nak) -> bool) -> usize {
        if self.sight.allowance.is_none() {
            return which;
        }
        let fits = |nak: &Nak| {
            let opens = one.at + self.sight.blur() >= nak.at + nak.takes.least();
            nak.in_time(one.at, self.sight) && (begins(nak) || (opens && self.passed(nak, one)))
        };
        self.naks[..which].iter().position(fits).unwrap_or(which)
    }

    fn restart(&mut self, packet: usize, which: usize, one: &Sent) {
        let at = one.at;
        let Nak { index, at: nak, rnr, .. } = self.naks[which];
        if rnr.is_none() && self.expired(one).is_some() {
            self.resent.either += 1;
        }
        if rnr == Some(true) {
            self.resent.faults.push(Fault::TooMany { packet });
        }
        let (took, blur) = (at.since(nak).unwrap_or(Dur::ZERO), self.sight.blur());
        if !self.naks[which].in_time(at, self.sight) {
            self.resent.faults.push(Fault::LateRestart { packet, nak: index });
        }
        let span = Span { lo: took.saturating_sub(blur).0, hi: (took + blur).0 };
        if rnr.is_some() {
            self.resent.tried_again.push((packet, index, span));
        } else {
            self.resent.restarts.push((packet, index, span));
        }
        // What is next in order anyway may be the way back, and may not: then that is still to come.
        let open = one.psn == self.next && self.sight.allowance.is_some();
        let still = self.naks.drain(..=which).next_back().filter(|_| open);
        self.naks.splice(..0, still);
        for nak in &mut self.naks {
            nak.binds &= !may_begin(self.rc, nak.psn, one.psn);
        }
        self.active = self.active.max(at);
    }

    fn in_order(&mut self, packet: usize, at: Time) {
        let after = self.sight.busy + self.sight.blur();
        let late = |nak: &&Nak| nak.binds && at > nak.at + nak.takes.most() + after;
        let dead = match self.given_up {
            Some(GivenUp::By(dead)) => Some(dead),
            Some(GivenUp::Perhaps(_)) | None => self.dead,
        };
        if dead.is_some_and(|dead| at > dead + self.taken_in()) {
            self.resent.faults.push(Fault::TooMany { packet });
        } else if let Some(nak) = self.naks.iter().find(late) {
            self.resent.faults.push(Fault::WrongRestart { packet, nak: nak.index });
            self.naks.clear();
        } else if self.overdue(at) {
            self.resent.faults.push(Fault::NoTimeout { packet });
            self.active = at;
        }
    }

    /// How long it waits now: nothing is under way otherwise, it waits for ever, or it has given up.
    fn waits(&self) -> Option<Within> {
        let lives = self.dead.is_none() && self.given_up.is_none();
        self.timeout.filter(|_| self.standing().unacked != self.top && lives)
    }

    /// There was another try, or there was progress: it may wait for another time from now on. A timer that is left running was started for any.
    fn adapt(&mut self) {
        if self.running.is_some() {
            return;
        }
        let least = usize::try_from(self.tries.least(self.taken_in())).unwrap_or(usize::MAX);
        self.timeout = timeout_between(self.rc, least, self.tries.most().max(least));
    }

    /// From when on its timeout runs at the earliest and at the latest: not while it waits for a receiver that is not ready.
    fn runs_from(&self) -> (Time, Time) {
        let (from, until) = self.refused.unwrap_or_default();
        (self.active.max(from), self.active.max(until))
    }

    /// Whether a sender should have gone back for want of progress before `at`.
    fn overdue(&self, at: Time) -> bool {
        let Some(allowance) = self.sight.allowance else { return false };
        let Some(timeout) = self.waits() else { return false };
        let late = timeout.most() + self.sight.busy + self.sight.blur() + allowance;
        self.tries.most() < usize::from(self.rc.retries) && at > self.runs_from().1 + late
    }

    /// How far the sender was whose timeout this may be the first packet after, and how long that takes.
    fn expired(&self, one: &Sent) -> Option<(Standing, Within)> {
        let (blur, timeout) = (self.sight.blur(), self.timeout?);
        let fits = |standing: &&Standing| {
            may_begin(self.rc, standing.unacked, one.psn)
                && one.at + blur >= self.begun(standing, one.at) + timeout.least()
        };
        Some((*self.may_stand(one.at).find(fits)?, timeout))
    }

    /// Takes a packet for the first after a timeout, if it may be.
    fn timed_out(&mut self, packet: usize, one: &Sent) -> bool {
        let blur = self.sight.blur();
        let Some((standing, timeout)) = self.expired(one) else { return false };
        let begun = self.begun(&standing, one.at);
        let between = |from: Time, to: Time| to.since(from).unwrap_or_default();
        let (took, least) = (between(begun, one.at), between(standing.since, one.at));
        let anew = between(begun, self.runs_from().1);
        let span = Span { lo: least.saturating_sub(blur).0, hi: (took + blur).0 };
        self.resent.ran_out((packet, span), anew, behind_the_port(took, timeout, self.sight.busy));
        if self.overdue(one.at) {
            self.resent.faults.push(Fault::NoTimeout { packet });
        }
        self.tries.again(one.at, self.taken_in());
        self.adapt();
        if self.tries.in_a_row() > u32::from(self.rc.retries) {
            self.resent.faults.push(Fault::TooMany { packet });
        }
        self.naks.iter_mut().for_each(|nak| nak.binds = false);
        // Its timer began anew as it ran out, and the packet may have waited for the port since.
        let waited = Time(one.at.0.saturating_sub((self.sight.busy + blur).0));
        let since = waited.max(begun + timeout.least()).min(one.at);
        self.running.iter_mut().for_each(|running| running.starts(since));
        self.standings.push(Standing { from: one.at, since, by: By::Itself, ..self.standing() });
        self.active = self.active.max(one.at);
        true
    }

    fn ended(&mut self, sent: usize) {
        let Sight { busy, allowance, until, .. } = *self.sight;
        let may = self.tries.most() >= usize::from(self.rc.retries);
        let (earliest, latest) = self.runs_from();
        if let Some(timeout) = self.waits()
            && let Some(stretch) = until.since(earliest).filter(|took| *took >= timeout.least())
        {
            self.resent.either += 1 + behind_the_port(stretch, timeout, busy);
        }
        self.resent.gave_up = match (self.given_up, self.waits().filter(|_| may)) {
            (Some(GivenUp::By(_)), _) => Some(true),
            (Some(GivenUp::Perhaps(_)), _) => None,
            (None, Some(timeout)) if self.tried_all() && until >= latest + timeout.most() => {
                Some(true)
            }
            (None, Some(timeout)) if until >= earliest + timeout.least() => None,
            (None, _) => Some(false),
        };
        self.resent.refused = self.dead.is_some();
        let untried = self.naks.iter().rfind(|nak| nak.binds && nak.rnr.is_some());
        self.resent.untried = untried.map(|&Nak { at, takes, .. }| {
            let until = at + takes.most();
            Untried { at, until, refusals: self.refusals }
        });
        let Some(allowance) = allowance else { return };
        let after = busy + self.sight.blur() + allowance;
        let late = |nak: &&Nak| nak.binds && until > nak.at + nak.takes.most() + after;
        if let Some(nak) = self.naks.iter().find(late) {
            self.resent.faults.push(Fault::NoRestart { nak: nak.index });
            self.resent.untried = None;
        } else if sent > 0 && self.overdue(until) {
            self.resent.faults.push(Fault::NoTimeout { packet: sent - 1 });
        }
    }
}
