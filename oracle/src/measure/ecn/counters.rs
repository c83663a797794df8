//! The device's counters of what early detection did in a queue, against what the wire shows of it.

use super::super::checks;
use super::super::judge_context::JudgeContext;
use super::super::judged::{Judged, looked};
use super::super::measurement::{Known, Needs, Red, Tells, by_source};
use super::super::through::Through;
use super::averages::Averages;
use super::draws::Rule;
use super::{Fate, OF_QUEUE, Span, visits};
use rig_capture::DutCounter;
use rig_lab::{Marking, Part};
use rig_testcases::vocabulary::{Entry, STREAM};

/// `ecn.counters`.
pub(in super::super) static COUNTERS: Known = Known {
    entry: Entry {
        name: "ecn.counters",
        parts: Some(&[Part::Wred]),
        about: "the WRED and ECN counters of the queue that a stream is sent to; those of bytes, of its group, and of all that passed the queue and both ports, where the device has them",
        source: "what the wire shows",
        fields: &[STREAM],
        looks: &OF_QUEUE,
        ..Entry::USUAL
    },
    needs: |_| Needs::Counters,
    tells: Tells::Each("counter"),
    red: Red::Mutated("marked-before-stays-marked-broadcom", "deviation=ce_not_counted"),
    expected: |_, _, _| {
        let text = format!(
            "{} grown by each frame that is marked, {} by each that early detection drops, {} by these and by what a full queue drops",
            DutCounter::QueueMarked.name(),
            DutCounter::QueueDroppedEarly.name(),
            DutCounter::QueueDropped.name()
        );
        by_source(text, DutCounter::ECN_SOURCE)
    },
    judge: |measure, done, judged| judge(done, measure.named("stream"), judged),
    ..Known::USUAL
};

/// Judges them: packets and bytes that were marked, and that were dropped. A frame that came marked is counted where it would
/// have been marked, and one that a full queue loses may have been counted where marks are made as frames come; what early detection drops is among all that the queue dropped.
fn judge(done: &JudgeContext<'_>, stream: &str, judged: &mut Judged) {
    let declared = done.context.switch();
    done.each("ecn.counters", stream, judged, |trial| {
        let (index, spec) = trial.stream(stream)?;
        let visits = visits(trial, index, declared)?;
        let own = Rule::of(declared, &trial.script, index);
        let averages = Averages::of(trial, &visits, &own);
        let (mut marked, mut bytes) = (Span::exactly(0), Span::exactly(0));
        let (mut dropped, mut dropped_bytes, mut full) = (Span::exactly(0), Span::exactly(0), 0);
        for (rank, visit) in visits.iter().enumerate() {
            let of = &trial.script.streams[usize::from(visit.stream)];
            let rule = Rule::of(declared, &trial.script, visit.stream);
            let has_profile = rule.declared.wred.queues.contains(&spec.class);
            // A frame that is marked before there is room for it may be counted, and lost then (`red_enqueue` in Linux's sch_red.c).
            let marks_first = has_profile && rule.point == Marking::Enqueue;
            let mut lost_marked = |marks: bool| {
                if marks && marks_first {
                    marked.hi += 1;
                    bytes.hi += of.size.0;
                }
            };
            let surely = match &visit.passed {
                // What is to be marked, or has no profile, is lost by a full buffer alone.
                None if rule.fate == Fate::Mark || !has_profile => {
                    lost_marked(true);
                    full += 1;
                    continue;
                }
                // Where the buffer may have been full nobody can say which of the two it was.
                None => {
                    let surely = rule.has_room(visit.found, of.size);
                    for (sum, one) in [(&mut dropped, 1), (&mut dropped_bytes, of.size.0)] {
                        sum.lo += if surely { one } else { 0 };
                        sum.hi += one;
                    }
                    lost_marked(rule.fate == Fate::MarkOrDrop && !surely);
                    full += u64::from(!surely);
                    continue;
                }
                Some(passed) if !visit.came_marked => Some(passed.marked),
                Some(passed) => match rule.fate {
                    Fate::Drop => Some(false),
                    Fate::Mark | Fate::MarkOrDrop => {
                        let seen = match rule.point {
                            Marking::Dequeue => rule.with_itself(passed.left, of.size),
                            Marking::Enqueue => rule.with_itself(visit.found, of.size),
                        };
                        let ranked = (rank, visit);
                        match rule.chances(spec.class, seen, averages.as_ref(), ranked) {
                            (lo, _) if lo >= 1.0 => Some(true),
                            (_, hi) if hi <= 0.0 => Some(false),
                            _ => None,
                        }
                    }
                },
            };
            for (sum, one) in [(&mut marked, 1), (&mut bytes, of.size.0)] {
                sum.lo += if surely == Some(true) { one } else { 0 };
                sum.hi += if surely == Some(false) { 0 } else { one };
            }
        }
        let port = |rig: u16| trial.observation.ports[usize::from(rig)].dut_port.as_str();
        let counters = &trial.observation.counters;
        let of_queue = |counter: DutCounter| counter.of(port(spec.to), spec.class);
        let of_group = DutCounter::GroupDropped.of(port(spec.from), spec.class);
        let mut all = vec![
            checks::grown(counters, &of_queue(DutCounter::QueueMarked), marked),
            checks::grown(counters, &of_queue(DutCounter::QueueDroppedEarly), dropped),
            // A lossless class loses to a full buffer at its group, not here.
            checks::grown(
                counters,
                &of_queue(DutCounter::QueueDropped),
                Span { lo: dropped.lo, hi: dropped.lo + full },
            ),
        ];
        let Through { received, sent } = Through::of(trial, declared, spec);
        let left = visits.iter().filter(|visit| visit.passed.is_some()).count() as u64;
        let queue = Span { lo: left, hi: left + (sent.hi - sent.lo) };
        // Not every device counts bytes of what it marks and drops, has groups, or counts all that passes.
        let beside = [
            (DutCounter::PortReceived.of(port(spec.from), spec.class), received),
            (DutCounter::PortSent.of(port(spec.to), spec.class), sent),
            (of_queue(DutCounter::QueueSent), queue),
            (of_queue(DutCounter::QueueMarkedBytes), bytes),
            (of_queue(DutCounter::QueueDroppedEarlyBytes), dropped_bytes),
            (of_group, Span { lo: 0, hi: full }),
        ];
        let beside = beside.into_iter();
        all.extend(beside.filter_map(|(name, want)| checks::grown_if_there(counters, &name, want)));
        let source = DutCounter::ECN_SOURCE;
        checks::read(trial, &all, looked(visits.len(), "frames sent to the queue"), source)
    });
}
