//! Measured and predicted values for people.

use crate::text::count;
use rig_capture::{Span, Unit};
use rig_oracle::Judgement;

/// A microsecond in picoseconds.
const US: u64 = 1_000_000;

/// An interval: `203.41ms to 204.1ms`, `200ms to under 300ms`, `0 frames`, `at least 200ms`. `u64::MAX` stands for no
/// limit at the top of an interval, and for what never happened at both ends.
pub(crate) fn span(unit: Unit, span: Span) -> String {
    match (span.lo, span.hi) {
        (u64::MAX, u64::MAX) => "never".to_owned(),
        (0, u64::MAX) => "anything".to_owned(),
        (lo, u64::MAX) => format!("at least {}", value(unit, lo)),
        (lo, hi) if lo == hi => value(unit, lo),
        (0, hi) if unit == Unit::Ps && (hi + 1) % US == 0 => {
            format!("under {}", value(unit, hi + 1))
        }
        // What is predicted up to an instant and without it would else read `299.999999ms`.
        (lo, hi) if unit == Unit::Ps && (hi + 1) % US == 0 => {
            format!("{} to under {}", value(unit, lo), value(unit, hi + 1))
        }
        (lo, hi) if unit == Unit::Frames => format!("{lo} to {}", value(unit, hi)),
        (lo, hi) => format!("{} to {}", value(unit, lo), value(unit, hi)),
    }
}

/// One value with its unit.
pub(crate) fn value(unit: Unit, value: u64) -> String {
    let text = unit.show(value);
    match unit {
        Unit::Frames if value == 1 => format!("{text} frame"),
        Unit::Frames => format!("{text} frames"),
        Unit::Ps | Unit::Ppm | Unit::Bps | Unit::Bytes | Unit::Count => text,
    }
}

/// How far the value may lie from the middle of what was measured: `±345us`, `exact`, `unbounded`.
pub(crate) fn uncertainty(unit: Unit, half: Option<u64>) -> String {
    match half {
        None => "unbounded".to_owned(),
        Some(0) => "exact".to_owned(),
        Some(half) => format!("\u{b1}{}", value(unit, half)),
    }
}

/// Half the width of an interval, rounded up so that it covers it; `None` where it has no upper end. What never happened
/// did so exactly.
pub(crate) fn half(span: Span) -> Option<u64> {
    match (span.lo, span.hi) {
        (u64::MAX, u64::MAX) => Some(0),
        (_, u64::MAX) => None,
        (lo, hi) => Some((hi - lo).div_ceil(2)),
    }
}

/// What the readings of single trials came to, where a judgement rests on such.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spread {
    /// The middle one, by its own middle.
    pub(crate) median: u64,
    /// From the least middle to the greatest; `None` where something never happened.
    pub(crate) spread: Option<u64>,
    /// How far a value may lie from the middle of its reading, in the least certain one.
    pub(crate) uncertainty: Option<u64>,
}

impl Spread {
    /// Of `judgement`; `None` where its interval was estimated from all trials together.
    pub(crate) fn of(judgement: &Judgement) -> Option<Spread> {
        let taken = &judgement.taken;
        let lo = taken.iter().map(|taken| taken.span.lo).min()?;
        let hi = taken.iter().map(|taken| taken.span.hi).max()?;
        let span = judgement.reading.span;
        let happened = || taken.iter().filter(|taken| taken.span.lo != u64::MAX);
        let hull = |all: (u64, u64)| (span.lo, span.hi) == all;
        let ends = happened()
            .map(|taken| taken.span)
            .reduce(|a, b| Span { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi) });
        if !hull((lo, hi)) && !ends.is_some_and(|ends| hull((ends.lo, ends.hi))) {
            return None;
        }
        let mut middles: Vec<u64> = taken.iter().map(|taken| taken.span.middle()).collect();
        middles.sort_unstable();
        let (least, greatest) = (middles[0], middles[middles.len() - 1]);
        let halves = taken.iter().map(|taken| half(taken.span));
        Some(Spread {
            median: middles[(middles.len() - 1) / 2],
            spread: (greatest != u64::MAX).then_some(greatest - least),
            uncertainty: halves.reduce(|a, b| Some(a?.max(b?))).flatten(),
        })
    }
}

/// How well a value is known, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    /// How far trials lie apart: `99.98ms over 10 trials`; `None` of one, and of a value that rests on all of them together.
    pub(crate) spread: Option<String>,
    /// How far off it may be: of readings `each ±345us`, of a value that rests on all trials `±2 frames from 10 trials
    /// together`.
    pub(crate) uncertainty: String,
}

impl Known {
    /// Of `judgement`.
    pub(crate) fn of(judgement: &Judgement) -> Known {
        let Judgement { reading, taken, trials, .. } = judgement;
        let unit = reading.unit;
        let trials = count(*trials as usize, "trial");
        match (Spread::of(judgement), taken.len()) {
            (Some(one), 1) => Known {
                spread: None,
                uncertainty: format!("{} from {trials}", uncertainty(unit, one.uncertainty)),
            },
            (Some(all), _) => {
                let apart = all.spread.map_or("unbounded".to_owned(), |apart| value(unit, apart));
                let each = uncertainty(unit, all.uncertainty);
                Known {
                    spread: Some(format!("{apart} over {trials}")),
                    uncertainty: format!("each {each}"),
                }
            }
            (None, _) => {
                let half = uncertainty(unit, half(reading.span));
                Known { spread: None, uncertainty: format!("{half} from {trials} together") }
            }
        }
    }

    /// Both on one line: `spread 99.98ms over 10 trials, each ±345us`.
    pub(crate) fn line(&self) -> String {
        let spread = self.spread.as_ref().map(|spread| format!("spread {spread}, "));
        spread.unwrap_or_default() + &self.uncertainty
    }
}

/// The unit that `results.json` calls `name`.
pub(crate) fn unit(name: &str) -> Option<Unit> {
    [Unit::Ps, Unit::Frames, Unit::Ppm, Unit::Bps, Unit::Bytes, Unit::Count]
        .into_iter()
        .find(|unit| unit.name() == name)
}

/// What was measured, on what and where in the sweep: `pfcwd.detection storm@p2 class 3, detection_time=250ms`.
pub(crate) fn name(judgement: &Judgement) -> String {
    join(judgement.measure, &judgement.subject, &judgement.point)
}

/// The same of its parts, of which `subject` and `point` may be empty.
pub(crate) fn join(measure: &str, subject: &str, point: &str) -> String {
    let mut name = measure.to_owned();
    if !subject.is_empty() {
        name = format!("{name} {subject}");
    }
    if !point.is_empty() {
        name = format!("{name}, {point}");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    #[test]
    fn an_interval_says_its_unit_once_where_that_reads_better() {
        assert_eq!(span(Unit::Ps, Span { lo: 200 * MS, hi: 300 * MS }), "200ms to 300ms");
        assert_eq!(span(Unit::Ps, Span { lo: 200 * MS, hi: 300 * MS - 1 }), "200ms to under 300ms");
        assert_eq!(span(Unit::Ps, Span { lo: 0, hi: 200 * MS - 1 }), "under 200ms");
        assert_eq!(span(Unit::Frames, Span { lo: 3, hi: 5 }), "3 to 5 frames");
        assert_eq!(span(Unit::Frames, Span::exactly(1)), "1 frame");
        assert_eq!(span(Unit::Frames, Span::exactly(0)), "0 frames");
    }

    #[test]
    fn an_interval_without_an_upper_end_says_so() {
        assert_eq!(span(Unit::Ps, Span { lo: 2 * MS, hi: u64::MAX }), "at least 2ms");
        assert_eq!(span(Unit::Frames, Span { lo: 0, hi: u64::MAX }), "anything");
        assert_eq!(span(Unit::Ps, Span::exactly(u64::MAX)), "never");
        assert_eq!(uncertainty(Unit::Ps, half(Span { lo: 2, hi: u64::MAX })), "unbounded");
    }

    #[test]
    fn half_a_width_is_rounded_up_so_that_it_covers_the_interval() {
        assert_eq!(uncertainty(Unit::Frames, half(Span { lo: 3, hi: 6 })), "±2 frames");
        assert_eq!(uncertainty(Unit::Ps, half(Span::exactly(7))), "exact");
    }
}
