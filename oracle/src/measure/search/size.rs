//! The sizes that a device must have been configured to, from the numbers of frames that were found.

use super::predict::of_memory;
use super::{Searched, Sought, Tried, found, trials};
use crate::Prediction;
use crate::judge::Found;
use crate::measure::buffer_ledger::BufferLedger;
use crate::measure::judge_context::{JudgeContext, TrialReading, judgement};
use crate::measure::judged::{At, Judged, looked};
use crate::spec::buffer;
use rig_capture::{Span, Unit};
use rig_testcases::StreamSpec;

/// Judges the pool behind an XOFF, or the headroom behind a loss, of the first group of a search: what it found alone in
/// the buffer. Nothing where the number says nothing of it: static limits, groups that grow together, lossy queues.
pub(super) fn judge(
    done: &JudgeContext<'_>,
    index: usize,
    search: &Searched<'_>,
    judged: &mut Judged,
) {
    let declared = done.context.switch();
    // A threshold that lies off says nothing of the size behind it beyond what the number itself does.
    if declared.buffer.margin.is_some() || declared.buffer.accounting_delay.is_some() {
        return;
    }
    let lossless = |spec: &StreamSpec| declared.qos.lossless(spec.class);
    let Some((at, trial, spec)) = first(done, index, search).filter(|(_, _, spec)| lossless(spec))
    else {
        return;
    };
    let (buffer, others) =
        (&declared.buffer, BufferLedger::empty(declared).others(spec.from, spec.to));
    let ends =
        |of: &dyn Fn(u64) -> Option<Span>| Some(Span { lo: of(at.lo)?.lo, hi: of(at.hi)?.hi });
    let (what, span, want) = match search.sought {
        Sought::Xoff if buffer.static_th.is_none() => {
            let pool = ends(&|n| buffer::pool_from(buffer, spec.size, &others, n));
            ("pool", pool, buffer.pool)
        }
        Sought::Drop => {
            let xoff = xoff_of(done, &spec.name);
            let headroom = xoff.and_then(|xoff| {
                ends(&|n| buffer::headroom_from(buffer, spec.size, &others, xoff, n))
            });
            ("headroom", headroom, buffer::headroom_alone(buffer))
        }
        Sought::Xoff | Sought::Xon => return,
    };
    let Some(span) = span else { return };
    let prediction = Prediction {
        unit: Unit::Bytes,
        span: Span::exactly(want.0),
        formula: "F5",
        text: format!("the declared {want}, to a frame{}", of_memory(buffer)),
        source: buffer::SOURCE,
    };
    let looked = looked(1, "numbers that were found");
    let read = TrialReading { span, want: prediction, got: None, records: Vec::new(), looked };
    let on = format!("{what} behind {}", spec.name);
    let place = done.context.group.label.clone();
    if let Some(one) = judgement(search.name, &on, place, &[(trial, read)]) {
        judged.file(At::Whole, one);
    }
}

/// What the first stage of a search found for one stream alone, and a trial that shows it.
fn first<'a>(
    done: &JudgeContext<'a>,
    index: usize,
    search: &Searched<'_>,
) -> Option<(Span, u32, &'a StreamSpec)> {
    let stage = search.stages().into_iter().next()?;
    let [name] = &stage.streams[..] else { return None };
    let trials = trials(done, index, 0);
    let tried: Vec<Tried<'_>> = trials
        .iter()
        .filter_map(|(trial, mark)| Tried::of(done.context, trial, mark, &stage))
        .collect();
    let Found::At(span) = found(&tried) else { return None };
    let shown = tried.iter().find(|one| one.held == span.hi)?.trial;
    let script = &shown.outline().script;
    let spec = script.streams.iter().find(|spec| spec.name == *name)?;
    Some((span, shown.number(), spec))
}

/// The XOFF of a stream where the case searches for that as well and found one number.
fn xoff_of(done: &JudgeContext<'_>, stream: &str) -> Option<u64> {
    let mut measures = done.context.case.measure.iter().enumerate();
    measures.find_map(|(index, measure)| {
        let search = Searched::asked(measure).filter(|search| search.sought == Sought::Xoff)?;
        let (span, _, spec) = first(done, index, &search)?;
        (spec.name == stream && span.lo == span.hi).then_some(span.hi)
    })
}
