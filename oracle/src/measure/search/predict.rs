//! What the closed forms say of a number of frames that is searched.

use super::seen::named;
use super::sought::Searched;
use crate::Prediction;
use crate::measure::buffer_ledger::BufferLedger;
use crate::spec::buffer::{Off, Others};
use crate::spec::{buffer, share};
use crate::trials::threshold_search::{Event, Stage};
use rig_capture::{Span, Unit};
use rig_lab::{Buffer, Switch};
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
            // The first of them crosses no sooner than if all lay low, and no later than if all lay high.
            let lo = BufferLedger::span(declared, |empty| empty.together(&specs).0).lo;
            let hi = BufferLedger::span(declared, |empty| empty.together(&specs).1).hi;
            frames(
                Span { lo, hi },
                format!("{} streams grow together by {occ}B a frame: {limit}", specs.len()),
                "F4, F5",
            )
        }
        Event::Xoff => {
            let fill = BufferLedger::of(declared, script, &before);
            let others = fill.others(spec.from, spec.to);
            let n = BufferLedger::span_behind(declared, (script, &before), |fill| {
                fill.first_xoff(spec)
            });
            let text = format!(
                "the first n with {occ}B x n - {} above {limit}, others holding {}B of the pool",
                buffer.reserved, others.pool
            );
            frames(n, text, "F4, F5")
        }
        Event::Drop if stage.streams.len() > 1 => {
            let held = BufferLedger::span(declared, |empty| empty.first_drop(spec));
            let all = stage.streams.iter().filter_map(|name| named(script, name));
            let gaps: Vec<Dur> = all.map(|one| gap(declared, script, one)).collect();
            let (least, _) = overrun(declared, script, spec, &gaps, held.lo);
            let (most, text) = overrun(declared, script, spec, &gaps, held.hi);
            frames(Span { lo: least.lo, hi: most.hi }, text, "F5, F12")
        }
        Event::Drop => {
            let fill = BufferLedger::of(declared, script, &before);
            let n = BufferLedger::span_behind(declared, (script, &before), |fill| {
                fill.first_drop(spec)
            });
            let text = if fill.is_lossless(spec.class) {
                let xoff = fill.first_xoff(spec);
                let headroom = buffer::headroom_alone(buffer);
                format!("XOFF at {xoff}, then headroom of {headroom} in frames of {occ}B")
            } else {
                match buffer.lossy_static_th {
                    Some(limit) => format!("a lossy queue within its {limit}, in frames of {occ}B"),
                    None => format!(
                        "a lossy queue within 2^{} x what is left of {}",
                        buffer.lossy_dynamic_th, buffer.lossy_pool
                    ),
                }
            };
            frames(n, text, "F5")
        }
        Event::Xon => {
            let stay = before.first().and_then(|name| named(script, name));
            let all = stay.and_then(|stay| stay.count).unwrap_or(0) + spec.count.unwrap_or(0);
            // So many made this device pause their sender, and one less did not: that says which of the limits it has.
            let alone = |off| Others::ALONE.with(off);
            let leave = |off| buffer::xon_after(buffer, spec.size, &alone(off), all);
            let own = |off: &Off| buffer::first_xoff(buffer, spec.size, &alone(*off)) == all;
            let mut leave_of: Vec<u64> = Off::all(declared).filter(own).filter_map(leave).collect();
            if leave_of.is_empty() {
                leave_of = Off::all(declared).filter_map(leave).collect();
            }
            let lo = leave_of.iter().copied().min().unwrap_or(0);
            let hi = leave_of.iter().copied().max().unwrap_or(0);
            // A group that may go on as soon as it was paused: no rule says whether a device sees that before anything leaves.
            let n = Span { lo, hi: if lo == 0 { hi.max(1) } else { hi } };
            let text = format!(
                "of {all} frames of {occ}B so many leave that the rest is within max({}, limit - {}){}, the headroom empty",
                buffer.xon,
                buffer.xon_offset,
                margin_text(declared)
            );
            frames(n, text, "F4")
        }
    }
}

/// How soon the frames of a stream follow one another where its own port sends them.
pub(super) fn gap(declared: &Switch, script: &Script, spec: &StreamSpec) -> Dur {
    let speed = declared.port_speed(script.dut_ports[usize::from(spec.from)]);
    speed.map_or(Dur::us(1), |speed| spec.pace(speed).gap())
}

/// Several senders, each by its own port, and the port that they send to.
fn overrun(
    declared: &Switch,
    script: &Script,
    spec: &StreamSpec,
    gaps: &[Dur],
    held: u64,
) -> (Span, String) {
    let speed = declared.port_speed(script.dut_ports[usize::from(spec.to)]);
    let slot = speed.map_or(Dur::us(1), |speed| speed.slot(spec.on_wire()));
    let passing = declared.transit().most().0.div_ceil(slot.0);
    let scheduler = &declared.scheduler;
    let shaped = share::shaped(scheduler, spec.on_wire());
    let [soonest, drain] = [shaped.least(), shaped.most()].map(|takes| slot.max(takes));
    let saved = scheduler.pbs.map_or(0, |saved| saved.0 / spec.size.0);
    // The later a frame drains, the fewer are taken before one is lost.
    let [(few, _), (_, many)] =
        [drain, soonest].map(|drain| buffer::overrun(held, gaps, passing, (slot, drain), saved));
    let drained = if drain > slot {
        format!("a frame drained every {drain}")
    } else {
        "one of them drained".to_owned()
    };
    let every = gaps.iter().map(Dur::to_string).collect::<Vec<_>>().join(" and ");
    let senders = if gaps.iter().all(|gap| *gap == slot) {
        format!("{} senders at line rate", gaps.len())
    } else {
        format!("senders of a frame every {every}")
    };
    let drained = if gaps.iter().all(|gap| *gap == drain) || drain > slot {
        drained
    } else {
        format!("a frame drained every {drain}")
    };
    let text = format!(
        "{senders}, {drained}: {held} frames held at the first loss, {passing} in the pipeline at most"
    );
    (Span { lo: few, hi: many }, text)
}

/// The limit of a lossless group in words.
fn limit_text(declared: &Switch) -> String {
    let buffer = &declared.buffer;
    let limit = match (buffer.static_th, buffer.port_dynamic_th) {
        (Some(fixed), _) => fixed.to_string(),
        (None, Some(port)) => format!(
            "2^{} x what is left of the port's 2^{port} x what is left of {}",
            buffer.dynamic_th, buffer.pool
        ),
        (None, None) => format!("2^{} x what is left of {}", buffer.dynamic_th, buffer.pool),
    };
    limit + &of_memory(buffer) + &margin_text(declared)
}

/// Whose the pools are that are predicted from, in words: nothing where there is one memory.
pub(super) fn of_memory(buffer: &Buffer) -> String {
    match buffer.memories() {
        1 => String::new(),
        memories => format!(" (of each of {memories} packet memories)"),
    }
}

/// What the declared margin and the declared delay add to a threshold, in words.
fn margin_text(declared: &Switch) -> String {
    let margin = declared.buffer.margin.map(|cells| format!(", give or take {cells} cells"));
    let late = declared.buffer.accounting_delay;
    let late = late.map(|delay| format!(", and what came within {} before", delay.most()));
    margin.unwrap_or_default() + &late.unwrap_or_default()
}

fn frames(span: Span, text: String, formula: &'static str) -> Prediction {
    Prediction { unit: Unit::Frames, span, formula, text, source: buffer::SOURCE }
}
