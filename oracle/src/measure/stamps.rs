//! How far off a timestamp may be before a measure shows nothing: by what is declared, and by what a script does.
//!
//! The time between two frames is open by twice what each stamp is off, either way. A stretch of time is told from none where that is no more
//! than the stretch: where a stamp is off by half of it at most. Within that a measure widens what it reads by what stamps leave open, and says
//! how small a departure shows.

use crate::spec::pause::pause_time;
use crate::trials::context::Context;
use crate::trials::flow_time::round_trip;
use rig_testcases::{Action, MacsecMode, Measure, Script, StreamSpec};
use rig_units::{Bytes, Dur, PortSpeed, Quanta};

/// How far off a timestamp may be, and why not more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamps {
    /// At most.
    pub within: Dur,
    /// What would not be told any more.
    pub why: String,
}

/// What tells how far off stamps may be for a measure. It says nothing of one that holds however far off they are.
pub(super) type NeedsStamps = fn(&Measure, &Context<'_>, &Script) -> Option<Stamps>;

/// A stretch of time that has to be told from none: each of two stamps is off by less than half of it.
pub(super) fn told(stretch: Dur, what: &str) -> Option<Stamps> {
    let why = format!("{what} ({stretch}) has to be told");
    (stretch > Dur(2)).then(|| Stamps { within: (stretch - Dur(1)) / 2, why })
}

/// One whose frames are to be told apart, each from the next.
pub(super) fn frames(slot: Dur, what: &str) -> Stamps {
    let why = format!("{what}: a frame ({slot}) has to be told from the next");
    Stamps { within: slot.saturating_sub(Dur(1)), why }
}

/// The finest of several.
pub(super) fn finest<const N: usize>(all: [Option<Stamps>; N]) -> Option<Stamps> {
    all.into_iter().flatten().min_by_key(|one| one.within)
}

/// The rig's own queue between two NICs, which marks by its depth: the time in which that grows from where none is marked to where all are.
pub(super) fn bottleneck(script: &Script) -> Option<Stamps> {
    let (_, _, between) = script.between.as_ref()?;
    let queue = between.bottleneck.as_ref()?;
    let depth = Bytes(queue.curve.kmax.0.saturating_sub(queue.curve.kmin.0));
    told(
        queue.speed.serialise(depth),
        "the time in which the queue between them grows from kmin to kmax",
    )
}

/// How long a counted stream takes to send.
pub(super) fn length(context: &Context<'_>, script: &Script, name: &str) -> Option<Stamps> {
    let (_, spec) = stream(script, name)?;
    told(spec.length(speed(context, script, spec.from))?, &format!("the time that {name} takes"))
}

/// Messages of which one waits for what comes back of another: an eighth of a round trip between the two NICs of a flow.
pub(super) fn turns(context: &Context<'_>, script: &Script, name: &str) -> Option<Stamps> {
    let flow = script.flows.iter().find(|flow| flow.name == name)?;
    let trip = round_trip(context, script, Bytes(flow.mtu.into()));
    told(trip / 8, "an eighth of a round trip between the two NICs")
}

/// The speed of the device's port behind a rig port.
pub(super) fn speed(context: &Context<'_>, script: &Script, port: u16) -> PortSpeed {
    let dut_port = script.dut_ports.get(usize::from(port)).copied().unwrap_or_default();
    context.group.declared.port_speed(dut_port).unwrap_or(PortSpeed::G100)
}

/// The stream of a script that has a name, with its number.
pub(super) fn stream<'a>(script: &'a Script, name: &str) -> Option<(u16, &'a StreamSpec)> {
    (0_u16..).zip(&script.streams).find(|(_, spec)| spec.name == name)
}

/// What happens at different instants of a script: the shortest time between two of its steps.
pub(super) fn steps(script: &Script) -> Option<Stamps> {
    told(shortest(script)?, "the shortest time between two steps")
}

fn shortest(script: &Script) -> Option<Dur> {
    let times: Vec<Dur> = script.steps.iter().map(|step| step.at).chain([script.length]).collect();
    let apart = times.windows(2).map(|two| two[1].saturating_sub(two[0]));
    apart.filter(|apart| *apart > Dur::ZERO).min()
}

/// The longest pause that the rig asks the device for at a port: of several those are judged that show. Of one who obeys within `hidden` nothing shows
/// until then.
pub(super) fn pauses(
    context: &Context<'_>,
    script: &Script,
    (port, hidden): (u16, Dur),
) -> Option<Stamps> {
    let storms = script.storms.iter().filter(|storm| storm.from == port);
    let all = storms.map(|storm| storm.quanta).chain(by_hand(script, port));
    let longest = pause_time(all.max()?, speed(context, script, port));
    told(longest.saturating_sub(hidden) / 2, "half of what shows of the longest pause")
}

/// The share of a storm with gaps: what it takes of the shortest time between two steps.
pub(super) fn gaps(context: &Context<'_>, script: &Script, storm: &str) -> Option<Stamps> {
    let storm = script.storms.iter().find(|spec| spec.name == storm)?;
    let pause = pause_time(storm.quanta, speed(context, script, storm.from)).min(storm.every);
    let taken = shortest(script)?.scaled(pause.0, storm.every.0.max(1));
    told(taken, "what the storm takes of the shortest time between two steps")
}

/// The storms that a script starts: each has to be told from one that lapses. Where a process serves the device each trial is held against how late
/// both were in it; there the lab's bound alone must not hide a pause.
pub(super) fn storms(context: &Context<'_>, script: &Script) -> Option<Stamps> {
    let is_started =
        |storm: u16| script.steps.iter().any(|step| step.action == Action::StartStorm(storm));
    let started = (0_u16..).zip(&script.storms).filter(|(storm, _)| is_started(*storm));
    // One that does not validate is to hold nothing.
    let started = started.filter(|(_, storm)| !matches!(storm.macsec, MacsecMode::Tampered(_)));
    let needs = started.filter_map(|(_, storm)| {
        let pause = pause_time(storm.quanta, speed(context, script, storm.from));
        if context.is_served() {
            return told(pause, &format!("a pause of {}", storm.name));
        }
        let room = pause.saturating_sub(storm.every);
        told(room, &format!("that {} is asked for again before its pause is over", storm.name))
    });
    needs.min_by_key(|one| one.within)
}

/// How much of a storm is paused: that it is asked for again before its pause is over, or, of one with gaps, a quarter of a pause.
/// Where a process serves the device each trial is held against how late it was itself.
pub(super) fn covered(context: &Context<'_>, script: &Script, name: &str) -> Option<Stamps> {
    let storm = script.storms.iter().find(|storm| storm.name == name)?;
    let pause = pause_time(storm.quanta, speed(context, script, storm.from));
    match pause.saturating_sub(storm.every) {
        _ if context.is_served() => None,
        Dur::ZERO => told(pause / 4, &format!("a quarter of a pause of {name}")),
        room => told(room, &format!("that {name} is asked for again before its pause is over")),
    }
}

/// That a frame surely comes while a storm with gaps pauses its class: what shows of a pause behind the response has to hold all that is open of the
/// two, and as much again for frames to fall into.
pub(super) fn met(
    context: &Context<'_>,
    script: &Script,
    (name, response): (&str, Dur),
) -> Option<Stamps> {
    let storm = script.storms.iter().find(|storm| storm.name == name)?;
    let pause = pause_time(storm.quanta, speed(context, script, storm.from));
    if storm.every < pause || context.is_served() {
        return None;
    }
    let shows = pause.saturating_sub(response);
    told(shows / 4, &format!("a quarter of what shows of a pause of {name}"))
}

/// The pauses that the rig asks for at a port by hand.
pub(super) fn by_hand(script: &Script, port: u16) -> impl Iterator<Item = Quanta> + '_ {
    script.steps.iter().filter_map(move |step| match &step.action {
        Action::Pfc(pfc) if pfc.from == port && pfc.quanta > Quanta(0) => Some(pfc.quanta),
        _ => None,
    })
}
