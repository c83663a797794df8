//! Who is to blame for a departure that the bare number does not tell: a watchdog that fired where nothing paused, a pause of
//! another class than the one that was to be paused, a sender of the rig that was told to stop and went on.

use super::ahead::in_the_way;
use super::judge_context::{JudgeContext, show};
use crate::measure::buffer_ledger::BufferLedger;
use crate::spec::buffer;
use crate::trials::kept::Kept;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::analyse::Loss;
use rig_capture::{Dir, DutEvent, DutEventKind, Span, Unit};
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
/// frames that are lost one after another. One that fired in an earlier trial and did not let go loses the first frame, too.
pub(super) fn watchdog(
    done: &JudgeContext<'_>,
    trial: &Trial,
    stream: u16,
    loss: &Loss,
) -> Option<String> {
    let (script, observation) = (&trial.script, &trial.observation);
    let spec = &script.streams[usize::from(stream)];
    let unpaused = |port: &u16| !is_paused(script, *port, spec.class);
    let ports: Vec<u16> = [spec.to, spec.from].into_iter().filter(unpaused).collect();
    let name = |port: &u16| &observation.ports[usize::from(*port)].dut_port;
    let own = |event: &&DutEvent| {
        event.class == spec.class && ports.iter().any(|port| *name(port) == event.port)
    };
    let mut events = observation.events.iter().flatten().filter(own);
    let fired = events.find(|event| event.kind == DutEventKind::Storm);
    let not = "nothing in the case pauses that queue, so it must not have";
    if let Some(fired) = fired {
        let at = show(Unit::Ps, Span::exactly(fired.at.0));
        return Some(format!(
            "the watchdog of {} fired for class {} at {at}: {not}",
            fired.port, spec.class
        ));
    }
    let sent = observation.of_stream(stream, (spec.from, Dir::Tx)).next();
    if sent.is_some_and(|(record, _)| loss.frames.first() == Some(&record)) {
        let before = done.trials.iter().map(Kept::outline);
        let before = before.filter(|other| other.number < trial.number).rev();
        let mut last = before.filter_map(|other| {
            let mut events = other.observation.events.iter().flatten();
            Some((other.number, events.rfind(own)?))
        });
        let held = last.next().filter(|(_, event)| event.kind == DutEventKind::Storm);
        if let Some((number, fired)) = held {
            return Some(format!(
                "the watchdog of {} fired for class {} in trial {number} and did not let go: {not}",
                fired.port, spec.class
            ));
        }
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

/// Why a loss says nothing of the device: the sender obeys no PFC and went on, once it was told to stop, for more frames than the
/// headroom has to hold.
pub(super) fn deaf(
    done: &JudgeContext<'_>,
    trial: &Trial,
    stream: u16,
    loss: &Loss,
) -> Option<Doubt> {
    let (script, observation) = (&trial.script, &trial.observation);
    let declared = done.context.seen().switch()?;
    let spec = &script.streams[usize::from(stream)];
    let obeys = script.endpoint(spec.from).obeys(spec.class);
    if obeys || !declared.qos.pfc_enable.contains(&spec.class) {
        return None;
    }
    let first = *loss.frames.first()?;
    let words = observation.words((spec.from, Dir::Rx), spec.class);
    let words: Vec<_> = words.take_while(|(record, ..)| *record < first).collect();
    let resumed = words.iter().rposition(|(.., quanta)| *quanta == Quanta(0));
    let (_, xoff, _) = words.get(resumed.map_or(0, |at| at + 1))?;
    // Between the crossing and the XOFF at the rig: the device, what is in its way, and the cable both ways.
    let trace = &observation.ports[usize::from(spec.from)];
    let takes = declared.emission().most()
        + in_the_way(declared, script, spec.from, spec.class)
        + trace.speed.slot(declared.macsec.pfc_size())
        + trace.speed.slot(spec.on_wire())
        + trace.cable * 2;
    let crossed = xoff.at.saturating_sub(takes);
    let came = observation.of_stream(stream, (spec.from, Dir::Tx));
    let came = came.filter(|(record, frame)| *record < first && frame.at >= crossed).count();
    let fits = BufferLedger::span(declared, |empty| {
        let others = empty.others(spec.from, spec.to);
        let full = buffer::first_drop(&declared.buffer, spec.size, &others);
        let xoff = buffer::first_xoff(&declared.buffer, spec.size, &others.counted());
        full.saturating_sub(xoff + 1)
    });
    let fits = fits.lo;
    (u64::try_from(came).unwrap_or(u64::MAX) > fits).then(|| {
        trial.doubt(&format!(
            "{} obeys no PFC and sent {came} frames of {} from the crossing on before one was lost, and the headroom has to hold {fits}: the loss says nothing of the device",
            script.ports[usize::from(spec.from)], spec.name
        ))
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
