//! What an analyser reads off an observation: an interval that surely holds the value, and the frames that show it.

use crate::FrameRef;
use core::fmt;
use rig_units::Dur;

/// What a reading counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// Picoseconds.
    Ps,
    /// Frames.
    Frames,
    /// Millionths: of a probability or of a rate.
    Ppm,
    /// Bits a second, in frames (FCS counted, preamble and gap not).
    Bps,
    /// Bytes.
    Bytes,
    /// Things that are neither frames nor time: counters that are off, settings that were refused.
    Count,
}

impl Unit {
    /// Its name in `results.json`.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Ps => "ps",
            Unit::Frames => "frames",
            Unit::Ppm => "ppm",
            Unit::Bps => "bps",
            Unit::Bytes => "bytes",
            Unit::Count => "count",
        }
    }

    /// A value of this unit for people: `203.41ms`, `12 frames`, `0.25`.
    pub fn show(self, value: u64) -> String {
        match self {
            Unit::Ps => show_dur(Dur(value)),
            Unit::Frames | Unit::Count => format!("{value}"),
            Unit::Bytes => format!("{value}B"),
            Unit::Ppm => {
                let text = format!("{}.{:06}", value / 1_000_000, value % 1_000_000);
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            Unit::Bps => show_rate(value),
        }
    }
}

/// A rate for people, in the unit that suits it and to its thousandth.
fn show_rate(bps: u64) -> String {
    let (thousandth, unit) = match bps {
        1_000_000_000.. => (1_000_000, "Gbps"),
        1_000_000.. => (1_000, "Mbps"),
        _ => return format!("{bps} bps"),
    };
    let thousandths = bps / thousandth;
    format!("{}.{:03} {unit}", thousandths / 1_000, thousandths % 1_000)
}

/// A length of time for people, in the unit that suits it and to its nanosecond.
fn show_dur(dur: Dur) -> String {
    let (whole, rest, digits, unit) = match dur.0 {
        ps if ps >= 1_000_000_000 => (ps / 1_000_000_000, ps % 1_000_000_000 / 1_000, 6, "ms"),
        ps if ps >= 1_000_000 => (ps / 1_000_000, ps % 1_000_000 / 1_000, 3, "us"),
        ps => (ps / 1_000, ps % 1_000, 3, "ns"),
    };
    let text = format!("{whole}.{rest:0digits$}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// An interval of values, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The least.
    pub lo: u64,
    /// The greatest.
    pub hi: u64,
}

impl Span {
    /// One value.
    pub const fn exactly(value: u64) -> Span {
        Span { lo: value, hi: value }
    }

    /// Whether the two have a value in common.
    pub const fn meets(self, other: Span) -> bool {
        self.lo <= other.hi && other.lo <= self.hi
    }

    /// The smallest one that holds both.
    #[must_use]
    pub fn hull(self, other: Span) -> Span {
        Span { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// The same interval, `dur` picoseconds later.
    pub const fn later(self, dur: Dur) -> Span {
        Span { lo: self.lo + dur.0, hi: self.hi + dur.0 }
    }

    /// How long after an instant within `start` an instant within this one lies; not below zero.
    pub const fn since(self, start: Span) -> Span {
        Span { lo: self.lo.saturating_sub(start.hi), hi: self.hi.saturating_sub(start.lo) }
    }

    /// The value in the middle.
    pub const fn middle(self) -> u64 {
        self.lo + (self.hi - self.lo) / 2
    }
}

/// One measured value: surely within `span`; the width is the measurement's own uncertainty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What it counts.
    pub unit: Unit,
    /// Where the value surely lies.
    pub span: Span,
    /// The frames that show it.
    pub frames: Vec<FrameRef>,
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Reading { unit, span, .. } = self;
        if span.lo == span.hi {
            f.write_str(&unit.show(span.lo))
        } else if span.hi == u64::MAX {
            write!(f, "{} or more", unit.show(span.lo))
        } else {
            write!(f, "{} to {}", unit.show(span.lo), unit.show(span.hi))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_told_in_the_unit_that_suits_it() {
        let rates = [100_000_000_000, 1_000_000_000, 999_999_999, 1_970_000, 999_999, 0];
        let told = rates.map(|bps| Unit::Bps.show(bps));
        let want =
            ["100.000 Gbps", "1.000 Gbps", "999.999 Mbps", "1.970 Mbps", "999999 bps", "0 bps"];
        assert_eq!(told, want);
    }
}
