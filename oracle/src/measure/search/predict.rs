//! What the closed forms say of a number of frames that is searched.

use super::seen::named;
use super::sought::Searched;
use crate::Prediction;
use crate::measure::buffer_ledger::BufferLedger;
use crate::spec::{buffer, share};
use crate::trials::threshold_search::{Event, Stage};
use rig_capture::{Span, Unit};
use rig_lab::Switch;
use rig_testcases::{Script, StreamSpec};
use rig_units::Dur;

/// What the closed forms say.
pub(super) fn predicted(
    declared: &Switch,
    search: &Searched<'_>,
    stage: &Stage,
    script: &Script,
) -> Prediction {
    let before: Vec<&str> = search
        .streams
        .iter()
        .copied()
        .take_while(|name| stage.streams.first().is_some_and(|first| first != name))
        .collect();
    let own = stage.streams.first().and_then(|name| named(script, name));
    let Some(spec) = own else { return frames(Span::exactly(0), String::new(), "") };
    let buffer = &declared.buffer;
    let occ = buffer::occupied(buffer, spec.size);
    let limit = limit_text(declared);
    match stage.event {
        Event::Xoff if stage.streams.len() > 1 => {
            let specs: Vec<&StreamSpec> =
                stage.streams.iter().filter_map(|name| named(script, name)).collect();
            let (lo, hi) = BufferLedger::empty(declared).together(&specs);
            frames(
                Span { lo, hi },
                format!("{} streams grow together by {occ}B a frame: {limit}", specs.len()),
                "F4, F5",
            )
        }
        Event::Xoff => {
            let fill = BufferLedger::of(declared, script, &before);
            let others = fill.others(spec.from);
            let n = fill.first_xoff(spec);
            let text = format!(
                "the first n with {occ}B x n - {} above {limit}, others holding {}B of the pool",
                buffer.reserved, others.pool
            );
            frames(Span::exactly(n), text, "F4, F5")
        }
        Event::Drop if stage.streams.len() > 1 => {
            let fill = BufferLedger::empty(declared);
            let frames_held = fill.first_drop(spec);
            let senders = u64::try_from(stage.streams.len()).unwrap_or(u64::MAX);
            let (span, text) = overrun(declared, script, spec, senders, frames_held);
            frames(span, text, "F5, F12")
        }
        Event::Drop => {
            let fill = BufferLedger::of(declared, script, &before);
            let n = fill.first_drop(spec);
            let text = if fill.is_lossless(spec.class) {
                let xoff = fill.first_xoff(spec);
                format!("XOFF at {xoff}, then headroom of {} in frames of {occ}B", buffer.xoff)
            } else {
                match buffer.lossy_static_th {
                    Some(limit) => format!("a lossy queue within its {limit}, in frames of {occ}B"),
                    None => format!(
                        "a lossy queue within 2^{} x what is left of {}",
                        buffer.lossy_dynamic_th, buffer.lossy_pool
                    ),
                }
            };
            frames(Span::exactly(n), text, "F5")
        }
        Event::Xon => {
            let fill = BufferLedger::empty(declared);
            let stay = before.first().and_then(|name| named(script, name));
            let all = stay.and_then(|stay| stay.count).unwrap_or(0) + spec.count.unwrap_or(0);
            let n = buffer::xon_after(buffer, spec.size, &fill.others(spec.from), all);
            let text = format!(
                "of {all} frames of {occ}B so many leave that the rest is within max({}, limit - {}), the headroom empty",
                buffer.xon, buffer.xon_offset
            );
            frames(Span::exactly(n.unwrap_or(0)), text, "F4")
        }
    }
}

/// Several senders at the speed of the port that they send to.
fn overrun(
    declared: &Switch,
    script: &Script,
    spec: &StreamSpec,
    senders: u64,
    held: u64,
) -> (Span, String) {
    let speed = declared.port_speed(script.dut_ports[usize::from(spec.to)]);
    let slot = speed.map_or(Dur::us(1), |speed| speed.slot(spec.on_wire()));
    let passing = declared.transit().most().0.div_ceil(slot.0);
    let scheduler = &declared.scheduler;
    let drain = slot.max(share::shaped(scheduler, spec.on_wire()));
    let saved = scheduler.pbs.map_or(0, |saved| saved.0 / spec.size.0);
    let (lo, hi) = buffer::overrun(held, senders, passing, (slot, drain), saved);
    let drained = if drain > slot {
        format!("a frame drained every {drain}")
    } else {
        "one of them drained".to_owned()
    };
    let text = format!(
        "{senders} senders at line rate, {drained}: {held} frames held at the first loss, {passing} in the pipeline at most"
    );
    (Span { lo, hi }, text)
}

/// The limit of a lossless group in words.
fn limit_text(declared: &Switch) -> String {
    let buffer = &declared.buffer;
    match (buffer.static_th, buffer.port_dynamic_th) {
        (Some(fixed), _) => fixed.to_string(),
        (None, Some(port)) => format!(
            "2^{} x what is left of the port's 2^{port} x what is left of {}",
            buffer.dynamic_th, buffer.pool
        ),
        (None, None) => format!("2^{} x what is left of {}", buffer.dynamic_th, buffer.pool),
    }
}

fn frames(span: Span, text: String, formula: &'static str) -> Prediction {
    Prediction { unit: Unit::Frames, span, formula, text, source: buffer::SOURCE }
}
