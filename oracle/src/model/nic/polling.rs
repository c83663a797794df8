//! A core between applications and the queue pairs of a NIC (FreeFlow's router): it looks into one mailbox after the other and hands the
//! request that it finds to the NIC. The rule is `docs/freeflow.md`.
//!
//! Looks at mailboxes that are empty take no time; so where the core does not sleep it is at the next request the instant that it has
//! nothing else to do. An application that has more to send writes its next request as soon as the last one is through.
//!
//! Left out on purpose: what an application does with a completion, and what it has under way at most.

use rig_lab::declared::RdmaRouter;
use rig_lab::deviation::RdmaRouterFaults;
use rig_testcases::{Container, Memory};
use rig_units::{Bytes, Dur, L2Rate, Time};

/// Looks at the mappings before a request is given up that names memory which none of them knows, where it is looked up again.
const LOOKS: u64 = 5;

/// What an application wants of a queue pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Messages left; `None`: no end of them.
    pub(super) left: Option<u32>,
    /// Bytes of one.
    pub(super) message: u32,
    /// Whether the data is copied before it is asked for.
    pub(super) copied: bool,
    /// Whose it is.
    pub(super) container: Container<u16>,
}

/// Messages of a queue pair that the NIC was not asked for yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Asking {
    /// The queue pair's place.
    slot: u16,
    wanted: Wanted,
    /// From when on the request is in the mailbox.
    from: Time,
    /// Until when the bucket is paid for, in picoseconds; none: it is full.
    paid: Option<i128>,
}

/// What the core does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Doing {
    /// It looks into mailboxes, or sleeps between two rounds.
    #[default]
    Looks,
    /// It hands over the request of this mailbox until then.
    Hands(usize, Time),
}

/// The core and its mailboxes.
#[derive(Debug, Clone, Default)]
pub(super) struct Polling {
    /// One for each queue pair, in the order in which they were made.
    boxes: Vec<Asking>,
    doing: Doing,
    /// The mailbox that it looks into next, and from when on.
    at: usize,
    from: Time,
}

impl Polling {
    /// A core that begins to look at `from`.
    pub(super) fn new(from: Time) -> Polling {
        Polling { from, ..Polling::default() }
    }

    /// An application has messages for a queue pair from `now` on. Beyond the quota of its container it gets none.
    pub(super) fn ask(
        &mut self,
        (router, faults): (&RdmaRouter, &RdmaRouterFaults),
        now: Time,
        slot: u16,
        mut wanted: Wanted,
    ) {
        let container = wanted.container;
        let counts = |one: &Wanted| {
            one.left != Some(0)
                && (faults.quota_of_host || one.container.number == container.number)
        };
        let others = self.boxes.iter().filter(|one| one.slot != slot && counts(&one.wanted));
        if router.quota.is_some_and(|quota| others.count() >= usize::from(quota)) {
            return;
        }
        let mut from = now + copies(router, &wanted);
        if container.memory == Memory::New {
            from += router.registration;
            if faults.registration_waits_for_dead_host && router.hosts_gone > 0 {
                wanted.left = Some(0);
            }
        }
        let before = self.boxes.iter().position(|one| one.slot == slot);
        let paid = before.and_then(|at| self.boxes[at].paid);
        let asking = Asking { slot, wanted, from, paid };
        match before {
            Some(at) => self.boxes[at] = asking,
            None => self.boxes.push(asking),
        }
        if faults.cap_of_last {
            self.boxes.iter_mut().for_each(|one| one.wanted.container.cap = container.cap);
        }
    }

    /// Nothing more is asked for a queue pair.
    pub(super) fn stop(&mut self, slot: u16) {
        if let Some(one) = self.boxes.iter_mut().find(|one| one.slot == slot) {
            one.wanted.left = Some(0);
        }
    }

    /// Does what is due at `now`: the queue pair of which a request is through, if one is.
    pub(super) fn on_wake(
        &mut self,
        now: Time,
        router: &RdmaRouter,
        faults: &RdmaRouterFaults,
    ) -> Option<u16> {
        let through = match self.doing {
            Doing::Hands(index, until) if until <= now => {
                self.doing = Doing::Looks;
                (self.at, self.from) = (if faults.turns_not_kept { 0 } else { index + 1 }, now);
                let one = &mut self.boxes[index];
                let asked = one.wanted.left != Some(0);
                // An error of a request is the end of its queue pair.
                let refused = one.is_unknown() && !faults.bad_rkey_posted;
                let left = one.wanted.left.map(|left| left.saturating_sub(1));
                one.wanted.left = if refused { Some(0) } else { left };
                one.from = now + copies(router, &one.wanted);
                (asked && !refused).then_some(one.slot)
            }
            _ => None,
        };
        if self.doing == Doing::Looks
            && let Some((at, index)) = self.look(router, faults)
            && at <= now
        {
            self.pay(index, at, router, faults);
            self.doing = Doing::Hands(index, at + self.takes(index, router, faults));
        }
        through
    }

    /// When it has to be woken next.
    pub(super) fn next(&self, router: &RdmaRouter, faults: &RdmaRouterFaults) -> Option<Time> {
        match self.doing {
            Doing::Hands(_, until) => Some(until),
            Doing::Looks => self.look(router, faults).map(|(at, _)| at),
        }
    }

    /// The next mailbox in which it finds a request that may go, and when.
    fn look(&self, router: &RdmaRouter, faults: &RdmaRouterFaults) -> Option<(Time, usize)> {
        let ready = |index: usize| self.ready(index, router, faults).map(|at| (at, index));
        let count = self.boxes.len();
        let ahead = self.at.min(count)..count;
        if router.sleep == Dur::ZERO {
            // It goes round and round: of those that are ready at once the next one from where it is.
            let all = ahead.chain(0..self.at.min(count)).filter_map(ready);
            return all
                .map(|(at, index)| (at.max(self.from), index))
                .min_by_key(|&(found, _)| found);
        }
        let mut of_this_round = ahead.filter_map(ready).filter(|&(at, _)| at <= self.from);
        if let Some((_, index)) = of_this_round.next() {
            return Some((self.from, index));
        }
        // The round ends here, and the next ones begin a sleep apart.
        let later = (0..count).filter_map(ready).map(|(at, index)| {
            let sleeps = at.since(self.from).unwrap_or(Dur::ZERO).0.div_ceil(router.sleep.0).max(1);
            (self.from + router.sleep * sleeps, index)
        });
        later.min()
    }

    /// From when on a mailbox has a request for which there are tokens.
    fn ready(&self, index: usize, router: &RdmaRouter, faults: &RdmaRouterFaults) -> Option<Time> {
        let one = &self.boxes[index];
        if one.wanted.left == Some(0)
            || faults.mailboxes_out_of_reach.is_some_and(|looked| index >= looked as usize)
        {
            return None;
        }
        let Some([cost, burst]) = tokens((index, &one.wanted), router, faults) else {
            return Some(one.from);
        };
        if cost > burst {
            return None;
        }
        let paid = one.paid.map_or(0, |paid| paid + cost);
        let paid = u64::try_from(paid.max(0)).unwrap_or(u64::MAX);
        Some(one.from.max(Time(paid)))
    }

    /// Takes the tokens for a request at `now`.
    fn pay(&mut self, index: usize, now: Time, router: &RdmaRouter, faults: &RdmaRouterFaults) {
        let one = &mut self.boxes[index];
        let Some([cost, burst]) = tokens((index, &one.wanted), router, faults) else { return };
        let since = if faults.bucket_never_full { 0 } else { i128::from(now.0) };
        let full = since - burst;
        one.paid = Some(one.paid.map_or(full, |paid| paid.max(full)) + cost);
    }

    /// How long the request of a mailbox takes the core.
    fn takes(&self, index: usize, router: &RdmaRouter, faults: &RdmaRouterFaults) -> Dur {
        let mut takes = router.request;
        if let Some(each) = faults.bad_rkey_stalls_all
            && self.boxes[index].is_unknown()
        {
            takes += Dur::us(each.into()) * LOOKS;
        }
        if let Some(each) = faults.scan_grows_with_queues {
            let others = self.boxes.iter().enumerate().filter(|(at, _)| *at != index);
            let idle = others.filter(|(_, one)| one.wanted.left == Some(0)).count();
            takes += Dur::ns(each.into()) * u64::try_from(idle).unwrap_or(0);
        }
        takes
    }
}

impl Asking {
    /// Whether its requests name memory that no host has announced.
    const fn is_unknown(&self) -> bool {
        matches!(self.wanted.container.memory, Memory::Unknown)
    }
}

/// How long the copy of a message takes.
fn copies(router: &RdmaRouter, wanted: &Wanted) -> Dur {
    match router.copy {
        Some(rate) if wanted.copied => rate.serialise(Bytes(wanted.message.into())),
        _ => Dur::ZERO,
    }
}

/// What a message costs of a bucket, and what the bucket holds, both as the time in which it comes, in picoseconds; `None`: there is none.
/// The queue pair is that of a mailbox.
fn tokens(
    (index, wanted): (usize, &Wanted),
    router: &RdmaRouter,
    faults: &RdmaRouterFaults,
) -> Option<[i128; 2]> {
    let has_none = faults.buckets_run_out.is_some_and(|buckets| index >= buckets as usize);
    let short = |cap: L2Rate| match faults.cap_of_container_short {
        Some(percent) => L2Rate { bps: cap.bps / 100 * u64::from(100 - percent.min(99)) },
        None => cap,
    };
    let cap = wanted.container.cap.map(short).or(router.cap);
    let cap = cap.filter(|_| !faults.bucket_bypassed && !has_none)?;
    let takes = |bytes: u64| i128::from(time_of(bytes, cap, faults.bucket_quantised).0);
    Some([takes(wanted.message.into()), takes(router.burst.0)])
}

/// How long tokens for so many bytes take to come.
fn time_of(bytes: u64, cap: L2Rate, in_whole_units: bool) -> Dur {
    if !in_whole_units {
        return cap.serialise(Bytes(bytes));
    }
    // Fifths of a nanosecond a byte.
    const UNITS: u64 = 5_000_000_000;
    const UNIT: Dur = Dur(200);
    UNIT * (UNITS / (cap.bps / 8).max(1) * bytes)
}

#[cfg(test)]
mod tests;
