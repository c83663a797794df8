//! Where a value goes on a plot, in whole thousandths of a percent of its width: equal runs give equal bytes.

use rig_capture::{Span, Unit};

/// The width of every plot in the units of [`Axis::at`].
pub(super) const WIDTH: u64 = 100_000;

/// An axis from `lo` to `hi`, which lie apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Axis {
    unit: Unit,
    lo: u64,
    hi: u64,
}

impl Axis {
    /// From `lo` to `hi`; moves `hi` up where they coincide.
    pub(super) fn new(unit: Unit, lo: u64, hi: u64) -> Axis {
        Axis { unit, lo, hi: hi.max(lo.saturating_add(1)) }
    }

    /// Around `spans`, with a margin. `u64::MAX` is no value (no limit, or never) and counts for nothing.
    pub(super) fn around(unit: Unit, spans: impl IntoIterator<Item = Span>) -> Axis {
        let (mut lo, mut hi) = (u64::MAX, 0);
        for span in spans.into_iter().filter(|span| span.lo < u64::MAX) {
            lo = lo.min(span.lo);
            hi = hi.max(if span.hi == u64::MAX { span.lo } else { span.hi });
        }
        let lo = lo.min(hi);
        let least = if unit == Unit::Ps { 1_000_000 } else { 1 };
        let margin = if hi > lo { (hi - lo) / 10 } else { hi / 10 }.max(least);
        Axis::new(unit, lo.saturating_sub(margin), hi.saturating_add(margin))
    }

    /// Where `value` goes, from 0 to [`WIDTH`]; what lies outside goes to the edge.
    pub(super) fn at(&self, value: u64) -> u64 {
        let value = value.clamp(self.lo, self.hi) - self.lo;
        let scaled = u128::from(value) * u128::from(WIDTH) / u128::from(self.hi - self.lo);
        u64::try_from(scaled).unwrap_or(WIDTH)
    }

    /// Round values along the axis, at most `most` of them, with their labels.
    pub(super) fn ticks(&self, most: u64) -> Vec<(u64, String)> {
        let width = self.hi - self.lo;
        let powers = std::iter::successors(Some(1_u64), |power| power.checked_mul(10));
        let mut steps = powers.flat_map(|power| [1, 2, 5].map(|digit| power.saturating_mul(digit)));
        let step = steps.find(|step| width / step < most).unwrap_or(u64::MAX);
        let first = self.lo.div_ceil(step).checked_mul(step);
        let ticks = std::iter::successors(first, |tick| tick.checked_add(step));
        let inside = ticks.take_while(|&tick| tick <= self.hi);
        inside.map(|tick| (self.at(tick), self.label(tick))).collect()
    }

    fn label(&self, value: u64) -> String {
        if value == 0 { "0".to_owned() } else { self.unit.show(value) }
    }
}

/// A position as SVG wants it: `12.345%`.
pub(super) fn percent(at: u64) -> String {
    let text = format!("{}.{:03}", at / 1_000, at % 1_000);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000_000;

    #[test]
    fn the_ends_of_an_axis_are_the_edges_of_its_plot() {
        let axis = Axis::new(Unit::Ps, 200, 300);
        assert_eq!(
            [100, 200, 250, 300, 400].map(|value| axis.at(value)),
            [0, 0, 50_000, WIDTH, WIDTH]
        );
        assert_eq!([0, 12_345, 50_000, WIDTH].map(percent), ["0%", "12.345%", "50%", "100%"]);
    }

    #[test]
    fn ticks_are_round_and_labelled_in_the_unit() {
        let labels =
            |axis: Axis| axis.ticks(7).into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        assert_eq!(
            labels(Axis::new(Unit::Ps, 0, 900 * MS)),
            ["0", "200ms", "400ms", "600ms", "800ms"]
        );
        assert_eq!(
            labels(Axis::new(Unit::Ps, 190 * MS, 310 * MS)),
            ["200ms", "220ms", "240ms", "260ms", "280ms", "300ms"]
        );
        assert_eq!(labels(Axis::new(Unit::Frames, 0, 4)), ["0", "1", "2", "3", "4"]);
    }

    #[test]
    fn a_limit_that_is_none_does_not_stretch_the_axis() {
        let spans = [Span { lo: 200 * MS, hi: u64::MAX }, Span { lo: 210 * MS, hi: 220 * MS }];
        assert_eq!(Axis::around(Unit::Ps, spans), Axis::new(Unit::Ps, 198 * MS, 222 * MS));
        let never = [Span { lo: 200 * MS, hi: 300 * MS }, Span::exactly(u64::MAX)];
        assert_eq!(Axis::around(Unit::Ps, never), Axis::new(Unit::Ps, 190 * MS, 310 * MS));
    }

    proptest! {
        #[test]
        fn every_axis_has_a_few_ticks_in_order_inside_it(lo: u64, hi: u64) {
            let axis = Axis::new(Unit::Frames, lo.min(hi), lo.max(hi));
            let ticks = axis.ticks(7);
            prop_assert!(ticks.len() <= 7);
            prop_assert!(ticks.is_sorted());
            prop_assert!(ticks.iter().all(|(at, _)| *at <= WIDTH));
        }

        #[test]
        fn positions_keep_the_order_of_values(lo: u64, hi: u64, a: u64, b: u64) {
            let axis = Axis::around(Unit::Bps, [Span { lo: lo.min(hi), hi: lo.max(hi) }]);
            prop_assert_eq!(axis.at(a.min(b)) <= axis.at(a.max(b)), true);
        }
    }
}
