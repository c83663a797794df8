//! Watchdogs that take congestion for a storm, and times that no poll can tell.

use super::rule::{Check, Flaw, Lint, Linted};
use crate::spec::buffer::queue_at_xoff;
use crate::spec::pfcwd::Stimulus;
use crate::spec::pfcwd::{self, Rule};
use rig_lab::Pfcwd;
use rig_units::{Bytes, Dur, MIN_FRAME};

pub(super) const CONGESTION: Lint = Lint {
    name: "watchdog-on-congestion",
    about: "a next device like this one, full, pauses for longer than the watchdog waits: congestion is taken for a storm, and lossless frames are dropped",
    source: pfcwd::SOURCE,
    check: Check::Switch(congestion),
};

fn congestion(linted: &Linted<'_>) -> Option<Flaw> {
    let demand = linted.demand();
    let declared = linted.declared;
    if declared.qos.pfcwd_sw_enable.is_empty() {
        return None;
    }
    // What a poll has decided is done, however long that takes.
    let decided = Pfcwd { action_latency: None, ..declared.pfcwd.clone() };
    let rule = Rule::of(linted.family?, &decided);
    let earliest = Dur(rule.detection(&Stimulus { data_gap: Some(Dur::ZERO) })?.span().lo);
    let slowest = declared.ports.iter().map(|group| group.speed).min()?;
    let senders = u64::from(demand.ports.saturating_sub(1).max(1));
    let queue = queue_at_xoff(&demand.buffer, MIN_FRAME, senders);
    let shared = demand.buffer.headroom_pool.map_or(u64::MAX, |pool| pool.0);
    let headroom = senders.saturating_mul(demand.buffer.xoff.0).min(shared);
    let drains = slowest.serialise(Bytes(queue.saturating_add(headroom)));
    (drains >= earliest).then(|| Flaw {
        path: "pfcwd.detection_time",
        found: format!("a detection time of {}, with which the watchdog may fire after {earliest}", declared.pfcwd.detection_time),
        want: format!("more than {drains}"),
        numbers: format!("F4, F13: {senders} ports fill a queue with {queue}B, {headroom}B more of headroom, and at {slowest} that takes {drains} to leave"),
    })
}

pub(super) const UNWATCHED: Lint = Lint {
    name: "lossless-without-watchdog",
    about: "a class has PFC and no watchdog guards it: a storm on it stops it for as long as the storm lasts, and what is paused behind it",
    source: "Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM'16, section 4.3",
    check: Check::Switch(unwatched),
};

fn unwatched(linted: &Linted<'_>) -> Option<Flaw> {
    let _has_a_watchdog = linted.family?;
    let qos = &linted.declared.qos;
    let open: Vec<u8> = qos
        .pfc_enable
        .iter()
        .copied()
        .filter(|class| !qos.pfcwd_sw_enable.contains(class))
        .collect();
    let named = open.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
    (!open.is_empty()).then(|| Flaw {
        path: "qos.pfcwd_sw_enable",
        found: format!("no watchdog for class {named}"),
        want: format!("every class of pfc_enable: {:?}", qos.pfc_enable),
        numbers: format!("PFC for {:?}, watchdog for {:?}", qos.pfc_enable, qos.pfcwd_sw_enable),
    })
}

pub(super) const BETWEEN_POLLS: Lint = Lint {
    name: "watchdog-between-polls",
    about: "a detection or restoration time is no whole number of polls: what is configured is rounded up, and nobody can have it",
    source: pfcwd::SOURCE,
    check: Check::Switch(between_polls),
};

fn between_polls(linted: &Linted<'_>) -> Option<Flaw> {
    let pfcwd = &linted.declared.pfcwd;
    let _is_polled = linted.family.filter(|&family| Rule::of(family, pfcwd).is_polled())?;
    let times = [
        ("pfcwd.detection_time", Some(pfcwd.detection_time)),
        ("pfcwd.restoration_time", pfcwd.restoration_time),
    ];
    let poll = pfcwd.poll_interval;
    let is_between = |time: Dur| poll == Dur::ZERO || time % poll != Dur::ZERO;
    let (path, time) = times
        .into_iter()
        .find_map(|(path, time)| Some((path, time.filter(|&time| is_between(time))?)))?;
    if linted.declared.qos.pfcwd_sw_enable.is_empty() || poll == Dur::ZERO {
        return None;
    }
    let polls = time.div_ceil(poll);
    Some(Flaw {
        path,
        found: format!("{time} with polls every {poll}"),
        want: format!("a whole number of polls, such as {}", poll * polls),
        numbers: format!(
            "F13: ceil({time} / {poll}) = {polls} polls, {} to {}",
            poll * polls,
            poll * (polls + 1)
        ),
    })
}
