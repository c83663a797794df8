//! How far off a timestamp may be before a measure shows nothing: by what is declared, and by what a script does.
//!
//! The time between two frames is open by twice what each stamp is off, either way. A stretch of time is told from none where that is no more
//! than the stretch: where a stamp is off by half of it at most. Within that a measure widens what it reads by what stamps leave open, and says
//! how small a departure shows.

use super::throughput::offered;
use crate::spec::pause::pause_time;
use crate::trials::context::Context;
use rig_testcases::running::{TrafficSource, running};
use rig_testcases::{Action, Measure, Script, StreamRate, StreamSpec};
use rig_units::{Bytes, Dur, Percent, PortSpeed, Quanta, Rate};

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

/// What stamps have to be for some of a case to show anything: of its measures the finest.
pub fn stamps(context: &Context<'_>, script: &Script) -> Option<Stamps> {
    let measures = context.case.measure.iter();
    let all = measures.filter_map(|one| (super::of(one).stamps?)(one, context, script));
    all.min_by_key(|one| one.within)
}

/// A stretch of time that has to be told from none.
pub(super) fn told(stretch: Dur, what: &str) -> Option<Stamps> {
    let why = format!("{what} ({stretch}) has to be told");
    (stretch > Dur::ZERO).then(|| Stamps { within: stretch / 2, why })
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
    let times: Vec<Dur> = script.steps.iter().map(|step| step.at).chain([script.length]).collect();
    let apart = times.windows(2).map(|two| two[1].saturating_sub(two[0]));
    let shortest = apart.filter(|apart| *apart > Dur::ZERO).min()?;
    told(shortest, "the shortest time between two steps")
}

/// The pauses that the rig asks the device for at a port: the shortest, the time between two of a storm with gaps among them.
pub(super) fn pauses(context: &Context<'_>, script: &Script, port: u16) -> Option<Stamps> {
    let speed = speed(context, script, port);
    let storms = script.storms.iter().filter(|storm| storm.from == port);
    let of_storms = storms.flat_map(|storm| {
        let pause = pause_time(storm.quanta, speed);
        [pause, storm.every.saturating_sub(pause)]
    });
    let by_hand = by_hand(script, port).map(|quanta| pause_time(quanta, speed));
    let all = of_storms.chain(by_hand).filter(|time| *time > Dur::ZERO);
    told(all.min()?, "the shortest pause, or the time between two")
}

/// The pauses that the rig asks for at a port by hand.
pub(super) fn by_hand(script: &Script, port: u16) -> impl Iterator<Item = Quanta> + '_ {
    script.steps.iter().filter_map(move |step| match &step.action {
        Action::Pfc(pfc) if pfc.from == port && pfc.quanta > Quanta(0) => Some(pfc.quanta),
        _ => None,
    })
}

/// Whether frames come to the queue of a stream while others leave it: its port is offered more than it carries, or a storm with gaps holds it, and
/// none without gaps does.
pub(super) fn drains_as_it_fills(context: &Context<'_>, script: &Script, of: u16) -> bool {
    let spec = &script.streams[usize::from(of)];
    let speed = |port: u16| speed(context, script, port);
    let line = speed(spec.to);
    let carries =
        offered(StreamRate::Load(Rate::Share(Percent { ppm: 1_000_000 })), spec.on_wire(), line);
    running(script, &speed).into_iter().any(|(_, senders)| {
        let storms = (0_u16..).zip(&script.storms).filter(|(at, storm)| {
            let runs = senders.contains(&TrafficSource::Storm(*at));
            runs && storm.from == spec.to && storm.classes >> spec.class & 1 == 1
        });
        let gaps: Vec<bool> =
            storms.map(|(_, storm)| storm.every > pause_time(storm.quanta, line)).collect();
        let streams = (0_u16..)
            .zip(&script.streams)
            .filter(|(at, one)| senders.contains(&TrafficSource::Stream(*at)) && one.to == spec.to);
        let offers: u64 =
            streams.map(|(_, one)| offered(one.rate, one.on_wire(), speed(one.from))).sum();
        let fills = gaps.contains(&true) || offers > carries;
        senders.contains(&TrafficSource::Stream(of)) && fills && !gaps.contains(&false)
    })
}
