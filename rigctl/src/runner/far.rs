//! A case over a way that is longer than its timers, or with NICs that are slower: one whose timer runs out before any answer can be
//! back, or before it has gone back for a NAK, goes back again and again, whatever the case is about. There the timers have greater
//! codes, all of them by as much, and what the case delays so that a timer is first is late in proportion. In real time an answer takes as long as a machine
//! lets it wait. So long as nothing is done to
//! a flow's frames it sends as much more in virtual time, as a timer shows nothing in a flow that is done before it.
//!
//! A packet that is to come after the one that was sent in its place is as late as that takes. One that comes before fills its hole by itself, and
//! whoever has not asked by then need not ask for what it has thrown away behind it: where the sender has no timer the flow is over, and no NIC
//! is wrong (IBTA volume 1, 9.7.5.1: a NAK binds the responder once it is returned; until then the requester's timer is all there is).

use rig_lab::{Lab, Nic, Profile};
use rig_oracle::measure;
use rig_oracle::trials::context::Context;
use rig_oracle::trials::flow_time::round_trip;
use rig_oracle::trials::points::{Point, groups};
use rig_oracle::trials::seed::Seed;
use rig_testcases::{Case, FlowSpec, Injected, Script, Sweep, Target};
use rig_units::{Bytes, Dur, Within};
use serde_json::Value;

/// The code of IBTA's local ACK timeout that is a unit of 4.096 us.
const UNIT: Dur = Dur::ns(4_096);
/// In real time a frame is stamped, or waits for a processor, in so many places on its way from one NIC to the other and back, in each for as long as a stamp
/// may be off.
const PLACES: u64 = 4;
/// The greatest code.
const MOST: u64 = 31;

/// The case as it is run there; what is otherwise is added to `left_out`.
pub(super) fn of(lab: &Lab, profile: &Profile, mut case: Case, left_out: &mut Vec<String>) -> Case {
    let least = codes(&case).min();
    if least.is_none() && late(&case).next().is_none() {
        return case;
    }
    let Some(answered) = answered(lab, profile, &case) else { return case };
    let whole = answered.scaled(16, sixteenths(&case));
    let by = least.map_or(0, |least| more(least, whole));
    if codes(&case).any(|code| code + by > MOST) {
        return case;
    }
    if by > 0 {
        outlast(&mut case, by);
        // In real time a flow of a guest would last for minutes.
        if lab.transport.is_virtual() && case.between.inject.is_empty() {
            let alone = case.flows.values_mut().filter(|flow| flow.app.is_none());
            let counts = alone.filter_map(|flow| flow.count.as_mut());
            counts.for_each(|count| *count = count.saturating_mul(1 << by));
        }
        left_out.push(format!(
            "timers of less than the {answered} that an answer may take here: all are {} times as long",
            1_u64 << by
        ));
    }
    let soonest = late(&case).min();
    let times =
        soonest.map_or(0, |late| (0..MOST).find(|by| late * (1 << by) > answered).unwrap_or(0));
    if times > 0 {
        delay(&mut case, times, |frames| frames == Target::Data);
        left_out.push(format!(
            "packets that come late by less than the {answered} until those sent in their place: all are {} times as late",
            1_u64 << times
        ));
    }
    case
}

/// By how much packets of data are late that are sent again meanwhile.
fn late(case: &Case) -> impl Iterator<Item = Dur> {
    case.between.inject.iter().filter_map(|one| match one.tamper {
        Injected::Delay(late) if one.frames == Target::Data => Some(late),
        _ => None,
    })
}

/// Makes what the case delays late in proportion.
fn delay(case: &mut Case, by: u64, of: impl Fn(Target) -> bool) {
    for injection in case.between.inject.iter_mut().filter(|one| of(one.frames)) {
        if let Injected::Delay(late) = &mut injection.tamper {
            *late = late.saturating_mul(1 << by);
        }
    }
}

/// Gives all timers greater codes, by as much, and what is to be seen of them the time that it takes.
fn outlast(case: &mut Case, by: u64) {
    let longer = |value: &mut Value| {
        if let Some(code) = value.as_u64().filter(|code| *code > 0) {
            *value = (code + by).into();
        }
    };
    case.settings
        .iter_mut()
        .filter(|set| is_timer(&set.path))
        .for_each(|set| longer(&mut set.value));
    for sweep in &mut case.sweep {
        if let Sweep::Setting { path, values } = sweep
            && is_timer(path)
        {
            values.iter_mut().for_each(longer);
        }
    }
    delay(case, by, |frames| frames != Target::Data);
}

/// Whether a setting is how long a sender waits.
pub(super) fn is_timer(path: &str) -> bool {
    path.ends_with("rc.timeout")
}

/// The codes that the case sets; 0 waits for ever.
fn codes(case: &Case) -> impl Iterator<Item = u64> {
    let once = case.settings.iter().filter(|set| is_timer(&set.path)).map(|set| &set.value);
    let swept = case.sweep.iter().filter_map(|sweep| match sweep {
        Sweep::Setting { path, values } if is_timer(path) => Some(values),
        _ => None,
    });
    once.chain(swept.flatten()).filter_map(Value::as_u64).filter(|code| *code > 0)
}

/// Of the sixteenths of its timeout that a sender waits before a try the fewest; all of them where no timer adapts.
fn sixteenths(case: &Case) -> u64 {
    let lists = case.settings.iter().filter(|set| set.path.ends_with("rc.adaptive"));
    let parts = lists.filter_map(|set| set.value.as_array()).flatten().filter_map(Value::as_u64);
    parts.filter(|part| *part > 0).min().unwrap_or(16)
}

/// By how much a code has to be greater for a timer that outlasts an answer.
fn more(code: u64, answered: Dur) -> u64 {
    let outlasts = |by: &u64| UNIT * (1 << (code + by).min(MOST)) > answered;
    (0..=MOST).find(outlasts).unwrap_or(0)
}

/// How long a packet may be without its answer between two NICs; `None` where no flow goes from one to another.
pub(super) fn answered(lab: &Lab, profile: &Profile, case: &Case) -> Option<Dur> {
    case.flows.values().find(|flow| flow.nic != flow.to)?;
    profile.declared.nics()?;
    let late = if lab.transport.is_virtual() { Dur::ZERO } else { lab.transport.bound() * PLACES };
    let of = |context: &Context<'_>, script: &Script| {
        let frame = |flow: &FlowSpec| Bytes(flow.mtu.into()) + flow.headers();
        let frames = script.flows.iter().map(frame);
        let longest = frames.max()?;
        let trip = round_trip(context, script, longest);
        let declared = &context.group.declared;
        let speeds = (0..declared.port_count()).filter_map(|port| declared.port_speed(port));
        let slot = speeds.min()?.slot(longest);
        // Where something is lost a timer is to outlast the NAK and the way back, too, and what is sent again before what is missing.
        let lossy = !case.between.inject.is_empty();
        let answers = context.nics().all().map(|(_, Nic { rc, .. })| {
            let again = slot * u64::from(rc.resend_extra.unwrap_or(0));
            let asked = rc.nak_latency.most() + rc.resend_latency.most() + again;
            let acknowledged = rc.ack_latency.most() + rc.ack_held.map_or(Dur::ZERO, Within::most);
            acknowledged + if lossy { asked } else { Dur::ZERO }
        });
        Some(trip + answers.max()? + late)
    };
    let groups = groups(case, &profile.declared).ok()?;
    let each = groups.into_iter().filter_map(|group| {
        let context = measure::context(lab, profile, case, group, Seed::of_run(0));
        let script = context.script(&Point::default()).ok()?;
        of(&context, &script)
    });
    each.max()
}

#[cfg(test)]
mod tests;
