//! How small a departure a judgement shows. Every judgement says it: in figures where there are any, else why there are none.

use crate::spec::steps::Kept;
use crate::verdict::Taken;
use core::fmt;
use core::ops::Bound;
use rig_capture::{Reading, Span, Unit};
use rig_units::{Bytes, Dur, Within};

/// How small a departure a judgement shows, of what it measured and of what is declared of the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// Of the measured value, in words; never empty.
    shows: String,
    /// Values of declared parameters that it does not tell apart.
    pub alike: Vec<Alike>,
}

/// Values of one declared parameter that a judgement does not tell from the declared one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alike {
    /// Its path, such as `pfcwd.detection_time`.
    pub parameter: String,
    /// What it is counted in.
    pub unit: Unit,
    /// The least of them.
    pub least: Bound<u64>,
    /// The greatest of them.
    pub most: Bound<u64>,
    /// Whether a value outside is told for certain, or with the power that trials are planned for.
    pub certain: bool,
}

impl Resolution {
    /// A yes or a no: there is nothing smaller.
    pub fn yes_or_no() -> Resolution {
        Resolution::of_text("exact: yes or no")
    }

    /// Of readings that are each an interval as wide as `blur` at least, where `predicted` is expected: a value that is off by more
    /// than that shows for certain.
    pub fn certain(unit: Unit, predicted: Span, blur: u64) -> Resolution {
        Resolution::outside(unit, widened(predicted, blur, blur), "")
    }

    /// Of a value that chance has a part in: one outside of `span` shows with the power that trials are planned for.
    pub fn likely(unit: Unit, span: Span) -> Resolution {
        if span == (Span { lo: 0, hi: u64::MAX }) {
            return Resolution::none("what was seen tells no value from another");
        }
        Resolution::outside(unit, span, ", at a power of 0.99")
    }

    /// The same of what each trial gave by itself: the sharpest of them tells.
    pub fn of_each(unit: Unit, predicted: Span, taken: &[Taken]) -> Resolution {
        // What never happened was not read off an interval.
        let read = taken.iter().filter(|one| one.span.hi != u64::MAX);
        let blur = read.map(|one| one.span.hi - one.span.lo).min();
        Resolution::certain(unit, predicted, blur.unwrap_or(0))
    }

    /// There is none, and why.
    pub fn none(why: &str) -> Resolution {
        Resolution::of_text(&format!("none: {why}"))
    }

    /// As a report has kept it.
    pub fn of_text(text: &str) -> Resolution {
        Resolution { shows: text.to_owned(), alike: Vec::new() }
    }

    /// The same with values of parameters that are not told apart.
    #[must_use]
    pub fn with(mut self, alike: impl IntoIterator<Item = Alike>) -> Resolution {
        self.alike.extend(alike);
        self
    }

    /// The same with something that a reader wants to know beside it.
    #[must_use]
    pub fn beside(mut self, remark: &str) -> Resolution {
        self.shows = format!("{}, {remark}", self.shows);
        self
    }

    fn outside(unit: Unit, span: Span, power: &str) -> Resolution {
        let shown = Reading { unit, span, frames: Vec::new() };
        let text = match (span.lo, span.hi) {
            (0, u64::MAX) => return Resolution::none("any value is as predicted"),
            (u64::MAX, _) => "exact: that it happens at all shows".to_owned(),
            (lo, u64::MAX) => format!("less than {} shows{power}", unit.show(lo)),
            (lo, hi) if lo == hi => format!("exact: anything but {} shows{power}", unit.show(lo)),
            (0, hi) => format!("more than {} shows{power}", unit.show(hi)),
            _ => format!("anything outside of {shown} shows{power}"),
        };
        Resolution::of_text(&text)
    }
}

/// `span` with so much more at either end.
pub fn widened(span: Span, below: u64, above: u64) -> Span {
    Span { lo: span.lo.saturating_sub(below), hi: span.hi.saturating_add(above) }
}

impl Alike {
    /// Of a time that is declared as `declared`: one that is `off` outside of that shows wherever it is measured.
    pub fn of_time(parameter: &str, declared: Within, off: Dur) -> Alike {
        let least = declared.least().saturating_sub(off);
        // Nothing is less than nothing.
        let least =
            if declared.least() < off { Bound::Unbounded } else { Bound::Included(least.0) };
        let most = Bound::Included((declared.most() + off).0);
        Alike { parameter: parameter.to_owned(), unit: Unit::Ps, least, most, certain: true }
    }

    /// Of a size of which a device may hold what lies in `declared`: one that is `off` outside of that shows wherever it is measured.
    pub fn of_size(parameter: &str, declared: Kept, Bytes(off): Bytes) -> Alike {
        let Span { lo, hi } = widened(Span { lo: declared.least.0, hi: declared.most.0 }, off, off);
        let least = if declared.least.0 < off { Bound::Unbounded } else { Bound::Included(lo) };
        let most = Bound::Included(hi);
        Alike { parameter: parameter.to_owned(), unit: Unit::Bytes, least, most, certain: true }
    }

    /// Whether it holds a value.
    pub fn holds(&self, value: u64) -> bool {
        use core::ops::RangeBounds;
        (self.least, self.most).contains(&value)
    }

    /// A value as it stands in a profile.
    fn show(&self, value: u64) -> String {
        match self.unit {
            Unit::Ps => Dur(value).to_string(),
            Unit::Ppm => format!("{value}ppm"),
            Unit::Frames | Unit::Bps | Unit::Bytes | Unit::Count => self.unit.show(value),
        }
    }

    /// Its values: `(100ms, 200ms]`.
    pub fn values(&self) -> String {
        let least = match self.least {
            Bound::Included(value) => format!("[{}", self.show(value)),
            Bound::Excluded(value) => format!("({}", self.show(value)),
            Bound::Unbounded => format!("[{}", self.show(0)),
        };
        let most = match self.most {
            Bound::Included(value) => format!("{}]", self.show(value)),
            Bound::Excluded(value) => format!("{})", self.show(value)),
            Bound::Unbounded => "any)".to_owned(),
        };
        let power = if self.certain { "" } else { " at a power of 0.99" };
        format!("{least}, {most}{power}")
    }
}

impl fmt::Display for Alike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.parameter, self.values())
    }
}

impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shows)?;
        let mut alike = self.alike.iter();
        if let Some(first) = alike.next() {
            write!(f, "; alike: {first}")?;
        }
        alike.try_for_each(|one| write!(f, ", {one}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_of_readings_shows_what_lies_outside_by_its_width() {
        let told =
            |lo, hi, blur| Resolution::certain(Unit::Frames, Span { lo, hi }, blur).to_string();
        assert_eq!(told(0, 0, 0), "exact: anything but 0 shows");
        assert_eq!(told(10, 20, 3), "anything outside of 7 to 23 shows");
        assert_eq!(told(1, u64::MAX, 0), "less than 1 shows");
        assert_eq!(told(2, 20, 3), "more than 23 shows");
        assert_eq!(told(0, u64::MAX, 0), "none: any value is as predicted");
        assert_eq!(told(u64::MAX, u64::MAX, 0), "exact: that it happens at all shows");
    }

    #[test]
    fn what_is_alike_ends_where_the_next_value_shows() {
        let one = Alike::of_time("pfc.response", Within::exactly(Dur::us(2)), Dur::us(1));
        assert_eq!(one.to_string(), "pfc.response in [1us, 3us]");
        let [at, past] = [3_000_000, 3_000_001];
        assert!(one.holds(at) && !one.holds(past) && !one.holds(999_999));
        // One that is nothing at all is not told, either.
        let one = Alike::of_time("pfc.response", Within::exactly(Dur::us(2)), Dur::us(3));
        assert!(one.holds(0) && one.to_string() == "pfc.response in [0ms, 5us]");
    }
}
