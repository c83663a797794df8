//! What a software RDMA router lets through, from what it takes for a request, what a container copies, and the bucket.
//!
//! One core looks into mailboxes that hold one request each. So of K requests of a queue pair none comes sooner than what each of the
//! bounds says, and where nothing else is in the way, nor others begin or end meanwhile, the greatest of them is the time that they take:
//!
//! | bound | K requests of M bytes, of N by all queue pairs |
//! | --- | --- |
//! | the core | N `request`, and K `sleep` |
//! | the container | K (`request` + M 8 / `copy`) of SENDs: it copies when the mailbox is empty again |
//! | the bucket | ((K + 1) M - `burst`) 8 / `cap`, from the first request on: it is full then |
//! | the wire | all that leaves the port meanwhile |
//!
//! Beside others, whatever they ask for, each mailbox has its turn at the core, and each queue pair one at the port, frame by frame. So of N queue pairs
//! one is through no later than its bucket lets it, or than a turn of all N for each of its messages and for each of their frames.
//!
//! Source: FreeFlow (Kim et al., NSDI'19), sections 5.2 and 6; `docs/freeflow.md`.

use rig_lab::declared::RdmaRouter;
use rig_units::{Bytes, Dur, L2Rate, Within};

/// Where it comes from, for reports.
pub const SOURCE: &str = "FreeFlow: Kim et al., NSDI'19, sections 5.2 and 6; docs/freeflow.md";

/// What lies between the first packets of the first message of a queue pair and of a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Requests of its own after the first.
    pub own: u64,
    /// Requests of all queue pairs after that.
    pub all: u64,
    /// Queue pairs of which there are some.
    pub sharing: u64,
    /// Whether all of them ask for the same all the time, so that they take turns.
    pub in_turn: bool,
    /// Payload of a message.
    pub message: Bytes,
    /// Whether the container copies it.
    pub copied: bool,
    /// What leaves the port meanwhile takes so long.
    pub wire: Dur,
    /// The longest frame takes so long.
    pub frame: Dur,
    /// Where queue pairs take turns at the port frame by frame: those that may ask for anything, and the frames of a message.
    pub turns: Option<Turns>,
}

/// Who takes turns with a queue pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turns {
    /// Queue pairs in all, those that are silent among them.
    pub of: u64,
    /// Frames of a message.
    pub packets: u64,
}

/// The bound that says how long a stretch takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// The one core, or the container that copies for it.
    Core,
    /// The token bucket.
    Bucket,
    /// The port.
    Wire,
}

impl Bound {
    /// What holds the messages back, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Bound::Core => "the core",
            Bound::Bucket => "the bucket",
            Bound::Wire => "the port",
        }
    }
}

/// How long a container copies for a message.
pub fn copies(router: &RdmaRouter, message: Bytes, copied: bool) -> Dur {
    router.copy.filter(|_| copied).map_or(Dur::ZERO, |rate| rate.serialise(message))
}

/// From the application's call to the NIC, alone on the host: the copy, a sleep of which no end was seen yet, and the request.
pub fn hand_over(router: &RdmaRouter, message: Bytes, copied: bool) -> Within {
    let least = copies(router, message, copied) + router.request;
    Within::between(least, least + router.sleep)
}

/// From the call of an application whose memory is not registered yet: the registration, and the hand-over after it.
pub fn registered(router: &RdmaRouter, message: Bytes, copied: bool) -> Within {
    let after = hand_over(router, message, copied);
    Within::between(after.least() + router.registration, after.most() + router.registration)
}

/// Whether a container that has `others` queue pairs with messages left gets one more.
pub fn admits(router: &RdmaRouter, others: usize) -> bool {
    router.quota.is_none_or(|quota| others < usize::from(quota))
}

/// A queue pair that has more to send, beside others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beside {
    /// Queue pairs beside that may have a turn meanwhile, be it to be refused.
    pub others: u64,
    /// Payload of a message.
    pub message: Bytes,
    /// Whether the container copies it.
    pub copied: bool,
    /// Its frames.
    pub packets: u64,
    /// What they take on the port.
    pub wire: Dur,
    /// The longest frame of any takes so long.
    pub frame: Dur,
}

/// The longest that lies between the first packets of two messages, one after the other, of a queue pair that has more to send. Each of the
/// others has one turn at the core meanwhile, and a frame on the port for each of its own.
pub fn gap(router: &RdmaRouter, of: &Beside) -> Dur {
    let copies = copies(router, of.message, of.copied);
    let turns = router.request * of.others;
    // A copy that outlasts a sleep misses a look, and so does a bucket that fills meanwhile.
    let looks = if copies > Dur::ZERO { router.sleep * 2 } else { router.sleep };
    let core = router.request + turns + copies + looks;
    let bucket = router.cap.map_or(Dur::ZERO, |cap| cap.serialise(of.message) + turns + looks);
    if of.others == 0 {
        return core.max(bucket).max(of.wire);
    }
    core.max(bucket) + of.wire + of.frame * (of.packets * of.others + 1)
}

/// How long a turn of so many queue pairs takes that ask for the same, each with a frame on the port.
pub fn turn(router: &RdmaRouter, sharing: u64, (message, copied): (Bytes, bool), wire: Dur) -> Dur {
    let own = copies(router, message, copied) + router.sleep;
    let bucket = router.cap.map_or(Dur::ZERO, |cap| cap.serialise(message));
    (router.request + wire) * sharing + own.max(bucket)
}

/// The most messages by which two queue pairs differ that take turns, in whatever stretch: one at either end.
pub const APART: u64 = 2;

/// How long a stretch takes, and by what.
pub fn takes(router: &RdmaRouter, of: &Stretch) -> (Within, Bound) {
    let copies = copies(router, of.message, of.copied);
    let alone = of.sharing <= 1;
    // With a sleep, a copy that outlasts it misses a look: how many are missed depends on both.
    let missed = if copies > Dur::ZERO { router.sleep * of.own } else { Dur::ZERO };
    let own = (router.request + copies) * of.own;
    let rounds = router.sleep * of.own;
    let core = own.max(router.request * of.all + rounds);
    let bucket = router.cap.map_or(Dur::ZERO, |cap| tokens(cap, router.burst, of));
    let (most, by) = [(core, Bound::Core), (bucket, Bound::Bucket), (of.wire, Bound::Wire)]
        .into_iter()
        .fold((Dur::ZERO, Bound::Wire), |most, one| if one.0 > most.0 { one } else { most });
    // A bucket that gets full before it is looked into again loses what comes then, with each message.
    let wait = router.sleep + copies + router.request * of.sharing;
    let overflows = |cap: L2Rate| cap.serialise(router.burst) < cap.serialise(of.message) + wait;
    let lost = if router.cap.is_some_and(overflows) { wait * of.own } else { Dur::ZERO };
    // Others do not hold back by more than all of them once, at either end; nor does a look that the bucket let pass come sooner.
    let turn = if alone { Dur::ZERO } else { (router.request + of.frame) * of.sharing };
    let look = if by == Bound::Bucket || !alone { router.sleep } else { Dur::ZERO };
    let least = match alone || of.in_turn {
        true => most.saturating_sub(turn),
        // What others have waiting is not known: only what is its own is certain.
        false => own.max(router.request * of.own + rounds).max(bucket).saturating_sub(turn),
    };
    // Where others come and go, each bound may be the greatest for a part of the stretch: together they take no longer than one after
    // the other.
    let one_by_one = (core + bucket + of.wire, turn, by);
    let (most, turn, by) = match of.turns {
        _ if alone || of.in_turn => (most, turn, by),
        None => one_by_one,
        Some(turns) => {
            let together = taking_turns(router, of, turns, (copies, bucket));
            if together.0 + together.1 < one_by_one.0 + turn { together } else { one_by_one }
        }
    };
    (Within::between(least.saturating_sub(look), most + turn + look + missed + lost), by)
}

/// How long a stretch takes at most where everybody has a turn at the core for each message of its own and at the port for each of its frames: without a turn
/// of either more, which is the second; and by what.
fn taking_turns(
    router: &RdmaRouter,
    of: &Stretch,
    turns: Turns,
    (copies, bucket): (Dur, Dur),
) -> (Dur, Dur, Bound) {
    // A copy that outlasts a sleep misses a look.
    let looks = if copies > Dur::ZERO { router.sleep * 2 } else { router.sleep };
    let core = router.request * turns.of + copies + looks;
    let wire = of.frame * turns.of;
    let (all_core, all_wire) = (core * of.own, wire * (turns.packets * of.own));
    let most = bucket.max(all_core).max(all_wire);
    let by = match most {
        most if most == bucket => Bound::Bucket,
        most if most == all_core => Bound::Core,
        _ => Bound::Wire,
    };
    (most, core + wire, by)
}

/// How long the tokens for a stretch take to come, at the declared rate, from the first request on.
fn tokens(cap: L2Rate, burst: Bytes, of: &Stretch) -> Dur {
    let needed = of.message.0.saturating_mul(of.own + 1);
    cap.serialise(Bytes(needed.saturating_sub(burst.0)))
}

#[cfg(test)]
mod tests;
