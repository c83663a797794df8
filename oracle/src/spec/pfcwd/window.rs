//! An interval of lengths of time with open or closed ends, as the formulas state them.

use core::fmt;
use rig_capture::Span;
use rig_units::{Apart, Dur, Within};

/// One end of a [`Window`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The value itself belongs to the window.
    Closed(Dur),
    /// Only what lies inside of it does.
    Open(Dur),
}

impl End {
    /// The value, in or out.
    pub const fn value(self) -> Dur {
        match self {
            End::Closed(dur) | End::Open(dur) => dur,
        }
    }
}

/// Every value that a formula allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The lower end.
    pub from: End,
    /// The upper end.
    pub until: End,
}

impl Window {
    /// `from <= T < until`
    pub const fn half_open(from: Dur, until: Dur) -> Window {
        Window { from: End::Closed(from), until: End::Open(until) }
    }

    /// The same in whole picoseconds, both ends included.
    pub fn span(self) -> Span {
        let lo = match self.from {
            End::Closed(dur) => dur.0,
            End::Open(dur) => dur.0 + 1,
        };
        let hi = match self.until {
            End::Closed(dur) => dur.0,
            End::Open(dur) => dur.0.saturating_sub(1),
        };
        Span { lo, hi: hi.max(lo) }
    }

    /// Whether `value` is allowed.
    pub fn contains(self, value: Dur) -> bool {
        let span = self.span();
        span.lo <= value.0 && value.0 <= span.hi
    }

    /// The same, counted from an instant that lies `by` before.
    pub fn later(self, by: Dur) -> Window {
        let shift = |end| match end {
            End::Closed(dur) => End::Closed(dur + by),
            End::Open(dur) => End::Open(dur + by),
        };
        Window { from: shift(self.from), until: shift(self.until) }
    }

    /// The same of what comes after each instant of it by something of `latency`.
    pub fn delayed(self, latency: Within) -> Window {
        Window { from: self.later(latency.least()).from, until: self.later(latency.most()).until }
    }

    /// The same by another clock, which may be so far apart from the one that it is counted by.
    pub fn seen(self, apart: Apart) -> Window {
        let each = |end, seen: &dyn Fn(Dur) -> Dur| match end {
            End::Closed(dur) => End::Closed(seen(dur)),
            End::Open(dur) => End::Open(seen(dur)),
        };
        let from = each(self.from, &|dur| apart.least(dur));
        Window { from, until: each(self.until, &|dur| apart.most(dur)) }
    }

    /// The smallest window that holds both.
    pub fn hull(self, other: Window) -> Window {
        let from = if other.span().lo < self.span().lo { other.from } else { self.from };
        let until = if other.span().hi > self.span().hi { other.until } else { self.until };
        Window { from, until }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from == self.until {
            return write!(f, "T = {}", self.from.value());
        }
        let sign = |end| if matches!(end, End::Closed(_)) { "<=" } else { "<" };
        let Window { from, until } = *self;
        write!(f, "{} {} T {} {}", from.value(), sign(from), sign(until), until.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_ends_leave_the_value_out() {
        let window = Window { from: End::Open(Dur(10)), until: End::Closed(Dur(20)) };
        assert_eq!(window.span(), Span { lo: 11, hi: 20 });
        assert!(!window.contains(Dur(10)) && window.contains(Dur(20)));
        assert_eq!(Window::half_open(Dur(10), Dur(20)).span(), Span { lo: 10, hi: 19 });
    }

    #[test]
    fn a_window_reads_as_the_formula_does() {
        let text = Window::half_open(Dur::ms(200), Dur::ms(300)).to_string();
        assert_eq!(text, "200ms <= T < 300ms");
        let five = End::Closed(Dur::ms(5));
        assert_eq!(Window { from: five, until: five }.to_string(), "T = 5ms");
    }

    #[test]
    fn a_hull_keeps_the_outer_ends() {
        let a = Window::half_open(Dur(10), Dur(20));
        let b = Window { from: End::Open(Dur(5)), until: End::Closed(Dur(19)) };
        assert_eq!(a.hull(b), Window { from: End::Open(Dur(5)), until: End::Open(Dur(20)) });
    }
}
