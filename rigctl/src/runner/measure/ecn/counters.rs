//! The device's counters of what early detection did in a queue, against what the wire shows of it.

use super::draws::Rule;
use super::{Done, Fate, Judged, Prediction, Read, Span, Unit, visits, wred};
use rig_capture::Counters;

/// Judges them: packets and bytes that were marked, and that were dropped. A frame that came marked is counted where it would
/// have been marked; what early detection drops is among all that the queue dropped.
pub(in super::super) fn judge(done: &Done<'_>, stream: &str, judged: &mut Judged) {
    let declared = &done.session.group.declared;
    done.each("ecn.counters", stream, judged, |trial| {
        let (index, spec) = trial.stream(stream)?;
        let visits = visits(trial, index, declared)?;
        let (mut marked, mut bytes) = (Span::exactly(0), Span::exactly(0));
        let (mut dropped, mut dropped_bytes, mut full) = (0, 0, 0);
        for visit in &visits {
            let of = &trial.script.streams[usize::from(visit.stream)];
            let rule = Rule::of(declared, &trial.script, visit.stream);
            let has_profile = rule.declared.wred.queues.contains(&spec.class);
            let surely = match &visit.passed {
                // What is to be marked, or has no profile, is lost by a full buffer alone.
                None if rule.fate == Fate::Mark || !has_profile => {
                    full += 1;
                    continue;
                }
                None => {
                    dropped += 1;
                    dropped_bytes += of.size.0;
                    continue;
                }
                Some(passed) if !visit.came_marked => Some(passed.marked),
                Some(passed) => match rule.fate {
                    Fate::Drop => Some(false),
                    Fate::Mark => {
                        let span = match rule.point {
                            rig_lab::Marking::Dequeue => passed.left,
                            rig_lab::Marking::Enqueue => visit.found,
                        };
                        let wred = &rule.declared.wred;
                        let own = wred::step(&rule.declared.buffer, wred, of.size)
                            * u64::from(wred.counts_itself);
                        let chance =
                            |depth| wred::chance(&rule.class.curve(wred), depth + own).certain();
                        chance(span.lo).filter(|_| chance(span.lo) == chance(span.hi))
                    }
                },
            };
            for (sum, one) in [(&mut marked, 1), (&mut bytes, of.size.0)] {
                sum.lo += if surely == Some(true) { one } else { 0 };
                sum.hi += if surely == Some(false) { 0 } else { one };
            }
        }
        let queue =
            format!("{}:{}", trial.observation.ports[usize::from(spec.to)].dut_port, spec.class);
        let group =
            format!("{}:{}", trial.observation.ports[usize::from(spec.from)].dut_port, spec.class);
        let counters = &trial.observation.counters;
        let at_group = "INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS";
        let checks = [
            Check::of(counters, &queue, "QUEUE_STAT_WRED_ECN_MARKED_PACKETS", marked),
            Check::of(counters, &queue, "QUEUE_STAT_WRED_ECN_MARKED_BYTES", bytes),
            Check::of(counters, &queue, "QUEUE_STAT_WRED_DROPPED_PACKETS", Span::exactly(dropped)),
            Check::of(
                counters,
                &queue,
                "QUEUE_STAT_WRED_DROPPED_BYTES",
                Span::exactly(dropped_bytes),
            ),
            // A lossless class loses to a full buffer at its group, not here.
            Check::of(
                counters,
                &queue,
                "QUEUE_STAT_DROPPED_PACKETS",
                Span { lo: dropped, hi: dropped + full },
            ),
            Check::of(counters, &group, at_group, Span { lo: 0, hi: full }),
        ];
        if let Some(missing) = checks.iter().find(|check| check.got.is_none()) {
            return Err(trial.doubt(&format!("the device offers no counter {}", missing.name)));
        }
        let wrong: Vec<&Check> = checks.iter().filter(|check| !check.holds()).collect();
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(0),
            formula: "",
            text: match wrong.first() {
                Some(check) => format!("{} grown by {}", check.name, show(check.want)),
                None => format!("each of {} counters grown by what the wire shows", checks.len()),
            },
            source: "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS; the wire is the count",
        };
        let got = wrong.first().map(|check| check.got.unwrap_or_default().to_string());
        let off = u64::try_from(wrong.len()).unwrap_or(u64::MAX);
        Ok(Some(Read { span: Span::exactly(off), want, got, records: Vec::new() }))
    });
}

/// One counter, and by how much it must have grown.
struct Check {
    name: String,
    want: Span,
    got: Option<u64>,
}

impl Check {
    fn of(counters: &Counters, object: &str, name: &str, want: Span) -> Check {
        let name = format!("{object} SAI_{name}");
        Check { want, got: counters.grew(&name), name }
    }

    fn holds(&self) -> bool {
        self.got.is_some_and(|got| Span::exactly(got).meets(self.want))
    }
}

fn show(span: Span) -> String {
    if span.lo == span.hi { span.lo.to_string() } else { format!("{} to {}", span.lo, span.hi) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_holds_within_its_span_and_without_one_never() {
        let check = |lo, hi, got| Check { name: String::new(), want: Span { lo, hi }, got };
        assert!(check(3, 3, Some(3)).holds() && check(3, 5, Some(3)).holds());
        assert!(check(3, 5, Some(5)).holds());
        assert!(!check(3, 3, Some(2)).holds() && !check(3, 5, Some(6)).holds());
        assert!(!check(0, 0, Some(1)).holds() && !check(0, 9, None).holds());
        let spans = [Span::exactly(4), Span { lo: 4, hi: 6 }].map(show);
        assert_eq!(spans, ["4", "4 to 6"]);
    }
}
