//! A measured curve: what the trials leave possible at each point, and the predicted line or band through them.

use super::axis::{Axis, WIDTH};
use super::escape::esc;
use super::intervals::{rule, scale};
use super::timeline::stretched;
use crate::text::count;
use rig_capture::{Span, Unit};
use rig_oracle::{Curve, CurvePoint};

/// Height in pixels.
const HEIGHT: u64 = 200;

/// The whole figure.
pub(super) fn plot(curve: &Curve) -> String {
    let Curve { measure, x, x_unit, unit, points, fitted: likeliest } = curve;
    let axis = Axis::around(*x_unit, points.iter().map(|point| Span::exactly(point.x)));
    let scale_of = Scale::of(curve);
    let missed = points.iter().filter(|point| !agrees(point)).count();
    let verdict = match missed {
        0 => format!("{}, each with its prediction inside", count(points.len(), "point")),
        _ => format!("{missed} of {} off the prediction", count(points.len(), "point")),
    };
    let grid: String = axis.ticks(7).iter().map(|(at, _)| rule("grid", *at)).collect();
    let levels: String = [0, 1, 2, 3, 4].map(|quarter| scale_of.level(quarter)).concat();
    let what = match unit {
        Unit::Ppm => "probability",
        Unit::Ps => "time",
        Unit::Frames => "frames",
        Unit::Bps => "rate",
        Unit::Bytes => "bytes",
        Unit::Count => "count",
    };
    format!(
        "<div class=\"plot curve\">\n<div class=\"label\"><b>{}</b><span>{what} over {}</span><span>{verdict}</span></div>\
         <svg class=\"lane\" height=\"{HEIGHT}\" aria-hidden=\"true\">{grid}{levels}{}</svg>\n<div></div>{}\n</div>\n",
        esc(measure),
        esc(x),
        stretched(
            &HEIGHT.to_string(),
            &(predicted(&axis, &scale_of, points)
                + &fitted(&axis, &scale_of, points, likeliest)
                + &measured(&axis, &scale_of, points))
        ),
        scale(&axis),
    )
}

/// Whether the trials leave something of what is predicted possible.
const fn agrees(point: &CurvePoint) -> bool {
    point.measured.meets(point.predicted)
}

/// What the height stands for.
struct Scale {
    unit: Unit,
    /// At the top.
    most: u64,
}

impl Scale {
    fn of(curve: &Curve) -> Scale {
        let shown = curve.points.iter().flat_map(|point| [point.measured.hi, point.predicted.hi]);
        let most = shown.filter(|value| *value < u64::MAX).max().unwrap_or(0);
        if curve.unit == Unit::Ppm {
            let round = [20_000, 40_000, 80_000, 200_000, 400_000, 1_000_000];
            let most = round.into_iter().find(|round| most <= *round);
            return Scale { unit: Unit::Ppm, most: most.unwrap_or(1_000_000) };
        }
        // Quarters of it are whole.
        Scale { unit: curve.unit, most: most.max(4).next_multiple_of(4) }
    }

    /// Thousandths of the height from the top.
    fn height(&self, value: u64) -> u64 {
        let share = u128::from(value.min(self.most)) * 920 / u128::from(self.most);
        960 - u64::try_from(share).unwrap_or(920)
    }

    /// A horizontal line with its value.
    fn level(&self, quarter: u64) -> String {
        let value = self.most / 4 * quarter;
        let y = self.height(value) * HEIGHT / 1_000;
        let label = self.unit.show(value);
        format!(
            "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{y}\" y2=\"{y}\"/><text x=\"4\" y=\"{}\">{label}</text>",
            y - 3
        )
    }
}

/// A line through what is predicted; two where that is an interval.
fn predicted(axis: &Axis, scale: &Scale, points: &[CurvePoint]) -> String {
    let line = |of: fn(&CurvePoint) -> u64| {
        let mut path = String::new();
        for (i, point) in points.iter().enumerate() {
            let pen = if i == 0 { 'M' } else { 'L' };
            path += &format!("{pen}{} {}", axis.at(point.x), scale.height(of(point)));
        }
        format!("<path class=\"line\" d=\"{path}\"/>")
    };
    let band = points.iter().any(|point| point.predicted.lo < point.predicted.hi);
    let upper = if band { line(|point| point.predicted.hi) } else { String::new() };
    line(|point| point.predicted.lo) + &upper
}

/// A broken line through what the likeliest device would show.
fn fitted(axis: &Axis, scale: &Scale, points: &[CurvePoint], fitted: &[u64]) -> String {
    let mut path = String::new();
    for (i, (point, value)) in points.iter().zip(fitted).enumerate() {
        let pen = if i == 0 { 'M' } else { 'L' };
        path += &format!("{pen}{} {}", axis.at(point.x), scale.height(*value));
    }
    if path.is_empty() { path } else { format!("<path class=\"fitted\" d=\"{path}\"/>") }
}

/// A vertical bar from the least to the greatest, with a cap at each end.
fn measured(axis: &Axis, scale: &Scale, points: &[CurvePoint]) -> String {
    let mut bars = String::new();
    for point in points {
        let class = if agrees(point) { "met" } else { "missed" };
        let (x, top, bottom) =
            (axis.at(point.x), scale.height(point.measured.hi), scale.height(point.measured.lo));
        let (left, right) = (x.saturating_sub(WIDTH / 200), x + WIDTH / 200);
        bars += &format!(
            "<path class=\"{class}\" d=\"M{x} {top}V{bottom}M{left} {top}H{right}M{left} {bottom}H{right}\"/>"
        );
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_point_that_excludes_its_prediction_is_counted_and_red() {
        let mut curve = fixture::curve().curves.remove(0);
        assert!(plot(&curve).contains("21 points, each with its prediction inside"));
        curve.points[3].measured = Span { lo: 500_000, hi: 600_000 };
        let drawn = plot(&curve);
        assert!(drawn.contains("1 of 21 points off the prediction"), "{drawn}");
        assert_eq!(drawn.matches("class=\"missed\"").count(), 1);
    }

    #[test]
    fn certainty_is_at_the_top_and_impossibility_at_the_bottom() {
        let scale = Scale::of(&fixture::curve().curves[0]);
        assert_eq!([0, 500_000, 1_000_000].map(|ppm| scale.height(ppm)), [960, 500, 40]);
    }

    #[test]
    fn a_curve_of_frames_reaches_up_to_the_most_of_them() {
        let point = |x, lost| CurvePoint {
            x,
            measured: Span::exactly(lost),
            predicted: Span { lo: lost, hi: lost + 1 },
        };
        let mut curve = fixture::curve().curves.remove(0);
        (curve.unit, curve.points) =
            (Unit::Frames, vec![point(1_000_000, 0), point(2_000_000, 22)]);
        let drawn = plot(&curve);
        assert!(drawn.contains(">24</text>") && drawn.contains("frames over"), "{drawn}");
        assert_eq!(drawn.matches("class=\"line\"").count(), 2, "both ends of what is predicted");
    }
}
