//! A measured probability curve: what the trials leave possible at each point, and the predicted line through them.

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
    let Curve { measure, x, points } = curve;
    let axis = Axis::around(Unit::Ps, points.iter().map(|point| Span::exactly(point.x)));
    let missed = points.iter().filter(|point| !agrees(point)).count();
    let verdict = match missed {
        0 => format!("{}, each with its prediction inside", count(points.len(), "point")),
        _ => format!("{missed} of {} off the prediction", count(points.len(), "point")),
    };
    let grid: String = axis.ticks(7).iter().map(|(at, _)| rule("grid", *at)).collect();
    let levels: String = [0, 250_000, 500_000, 750_000, 1_000_000].map(level).concat();
    format!(
        "<div class=\"plot curve\">\n<div class=\"label\"><b>{}</b><span>probability over {}</span><span>{verdict}</span></div>\
         <svg class=\"lane\" height=\"{HEIGHT}\" aria-hidden=\"true\">{grid}{levels}{}</svg>\n<div></div>{}\n</div>\n",
        esc(measure),
        esc(x),
        stretched(&HEIGHT.to_string(), &(predicted(&axis, points) + &measured(&axis, points))),
        scale(&axis),
    )
}

/// Whether the trials leave the predicted probability possible.
const fn agrees(point: &CurvePoint) -> bool {
    point.measured.meets(Span::exactly(point.predicted))
}

/// Thousandths of the height from the top, for a probability in millionths.
fn height(ppm: u64) -> u64 {
    960 - ppm.min(1_000_000) * 920 / 1_000_000
}

/// A horizontal line with its probability.
fn level(ppm: u64) -> String {
    let y = height(ppm) * HEIGHT / 1_000;
    let label = Unit::Ppm.show(ppm);
    format!(
        "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{y}\" y2=\"{y}\"/><text x=\"4\" y=\"{}\">{label}</text>",
        y - 3
    )
}

fn predicted(axis: &Axis, points: &[CurvePoint]) -> String {
    let mut path = String::new();
    for (i, point) in points.iter().enumerate() {
        let pen = if i == 0 { 'M' } else { 'L' };
        path += &format!("{pen}{} {}", axis.at(point.x), height(point.predicted));
    }
    format!("<path class=\"line\" d=\"{path}\"/>")
}

/// A vertical bar from the least to the greatest, with a cap at each end.
fn measured(axis: &Axis, points: &[CurvePoint]) -> String {
    let mut bars = String::new();
    for point in points {
        let class = if agrees(point) { "met" } else { "missed" };
        let (x, top, bottom) =
            (axis.at(point.x), height(point.measured.hi), height(point.measured.lo));
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
        assert_eq!([0, 500_000, 1_000_000].map(height), [960, 500, 40]);
    }
}
