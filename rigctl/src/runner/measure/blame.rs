//! Who is to blame for a departure that the bare number does not tell: a watchdog that fired where nothing paused, a pause of
//! another class than the one that was to be paused.

use super::show;
use crate::runner::trial::Trial;
use rig_capture::analyse::Loss;
use rig_capture::{Dir, DutEventKind, Span, Unit};
use rig_testcases::{Action, Script};
use rig_units::Quanta;

/// Whether the case itself pauses a class at a port of the rig, by a storm or by hand.
fn is_paused(script: &Script, port: u16, class: u8) -> bool {
    let on = |classes: u8| classes >> class & 1 == 1;
    script.steps.iter().any(|step| match &step.action {
        Action::StartStorm(storm) => {
            let storm = &script.storms[usize::from(*storm)];
            storm.from == port && on(storm.classes)
        }
        Action::Pfc(frames) => {
            frames.from == port && frames.quanta > Quanta(0) && on(frames.enable)
        }
        _ => false,
    })
}

/// That a watchdog fired on a queue of `stream` which nothing in the case pauses, and when: by the device's own word, else by
/// frames that are lost one after another.
pub(super) fn watchdog(trial: &Trial, stream: u16, loss: &Loss) -> Option<String> {
    let (script, observation) = (&trial.script, &trial.observation);
    let spec = &script.streams[usize::from(stream)];
    let unpaused = |port: &u16| !is_paused(script, *port, spec.class);
    let ports: Vec<u16> = [spec.to, spec.from].into_iter().filter(unpaused).collect();
    let name = |port: &u16| &observation.ports[usize::from(*port)].dut_port;
    let fired = observation.events.iter().flatten().find(|event| {
        let own = ports.iter().any(|port| *name(port) == event.port);
        event.kind == DutEventKind::Storm && event.class == spec.class && own
    });
    let not = "nothing in the case pauses that queue, so it must not have";
    if let Some(fired) = fired {
        let at = show(Unit::Ps, Span::exactly(fired.at.0));
        return Some(format!(
            "the watchdog of {} fired for class {} at {at}: {not}",
            fired.port, spec.class
        ));
    }
    // A device that tells nothing: what a drop action leaves is a run of losses without an arrival in between.
    let (first, last) = (*loss.frames.first()?, *loss.frames.last()?);
    let run = observation.of_stream(stream, (spec.from, Dir::Tx));
    let run = run.filter(|(record, _)| (first..=last).contains(record)).count();
    let whole = observation.events.is_none() && loss.frames.len() > 2 && run == loss.frames.len();
    (whole && ports.len() == 2).then(|| {
        let at = |record: usize| show(Unit::Ps, Span::exactly(observation.records[record].at.0));
        format!(
            "each that was sent from {} to {}, as where a watchdog drops: {not}",
            at(first),
            at(last)
        )
    })
}

/// Other classes than `class` that the device told the rig's `port` to pause although the case sends it nothing of them from
/// there: `12 XOFFs for class 4, of which p1 sends nothing`.
pub(super) fn other_class(trial: &Trial, port: u16, class: u8) -> Option<String> {
    let script = &trial.script;
    let sends = |class: u8| {
        script.streams.iter().any(|spec| (spec.from, spec.class) == (port, class))
            || script.flows.iter().any(|flow| (flow.nic, flow.class) == (port, class))
    };
    let count = |class: u8| {
        let words = trial.observation.words((port, Dir::Rx), class);
        words.filter(|(_, _, quanta)| *quanta > Quanta(0)).count()
    };
    let wrong = (0..8).filter(|other| *other != class && !sends(*other));
    let (other, xoffs) = wrong.map(|other| (other, count(other))).find(|(_, xoffs)| *xoffs > 0)?;
    let plural = if xoffs == 1 { "" } else { "s" };
    let name = &script.ports[usize::from(port)];
    Some(format!(
        "{xoffs} XOFF{plural} for class {other}, of which {name} sends nothing, where class {class} was to be paused"
    ))
}
