//! Curves over what a sweep varies from one configuration to the next: cables, speeds, frame sizes, settings that are amounts.

use rig_capture::Unit;
use rig_oracle::trials::context::Context;
use rig_oracle::trials::points::Varied;
use rig_oracle::verdict::{Curve, CurvePoint, Judgement};
use rig_units::{Bytes, Dur, L2Rate};
use std::collections::BTreeMap;

/// The curves so far, by measure, what it was measured along and on, and both units.
#[derive(Debug, Default)]
pub struct SweepCurves(BTreeMap<(&'static str, String, Unit, Unit), Curve>);

impl SweepCurves {
    /// Adds what one configuration showed; nothing where the sweep is over something else.
    pub fn add(&mut self, context: &Context<'_>, judgements: &[Judgement]) {
        let Some((x, x_unit, over)) = axis(context) else { return };
        for one in judgements {
            let unit = one.reading.unit;
            let along = format!("{over}, {}", one.subject);
            let key = (one.measure, along.clone(), x_unit, unit);
            let curve = self.0.entry(key).or_insert_with(|| Curve {
                measure: one.measure,
                x: along,
                x_unit,
                unit,
                points: Vec::new(),
                fitted: Vec::new(),
            });
            let (measured, predicted) = (one.reading.span, one.prediction.span);
            curve.points.push(CurvePoint { x, measured, predicted });
        }
    }

    /// All of them, but for those that have a point or two, or say the same everywhere.
    pub fn curves(self) -> impl Iterator<Item = Curve> {
        self.0.into_values().filter(tells).map(|mut curve| {
            curve.points.sort_by_key(|point| point.x);
            curve
        })
    }
}

/// Whether more is to be seen of it than of its points in words.
fn tells(curve: &Curve) -> bool {
    let says = |point: &CurvePoint| (point.measured, point.predicted);
    curve.points.len() > 2 && curve.points.iter().any(|point| says(point) != says(&curve.points[0]))
}

/// Where on a curve a configuration lies, the unit of that, and what it is.
fn axis(context: &Context<'_>) -> Option<(u64, Unit, String)> {
    Some(match context.group.varied.as_ref()? {
        Varied::Cable(_) => (context.cable().0, Unit::Ps, "the time through a cable".to_owned()),
        Varied::Speed(speed) => (speed.bps(), Unit::Bps, "the speed of the ports".to_owned()),
        Varied::Size(stream, size) => (size.0, Unit::Bytes, format!("the frame size of {stream}")),
        Varied::Setting(path, value) => {
            let (x, unit) = amount(value)?;
            (x, unit, path.clone())
        }
    })
}

/// The value of a setting that is an amount, and the unit of it; `None` of words and of ranges.
fn amount(value: &str) -> Option<(u64, Unit)> {
    let time = || value.parse().ok().map(|time: Dur| (time.0, Unit::Ps));
    let size = || value.parse().ok().map(|size: Bytes| (size.0, Unit::Bytes));
    let rate = || value.parse().ok().map(|rate: L2Rate| (rate.bps, Unit::Bps));
    let count = || value.parse().ok().map(|count: u64| (count, Unit::Count));
    count().or_else(time).or_else(size).or_else(rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_capture::Span;

    #[test]
    fn amounts_have_a_place_on_an_axis_and_words_have_none() {
        assert_eq!(amount("8"), Some((8, Unit::Count)));
        assert_eq!(amount("3us"), Some((3_000_000, Unit::Ps)));
        assert_eq!(amount("1MiB"), Some((1 << 20, Unit::Bytes)));
        assert_eq!(amount("12Gbps-L2"), Some((12_000_000_000, Unit::Bps)));
        for word in ["drop", "1us..2us", "true", ""] {
            assert_eq!(amount(word), None, "{word}");
        }
    }

    #[test]
    fn what_says_the_same_everywhere_is_no_curve() {
        let point = |x, value| {
            let both = Span::exactly(value);
            CurvePoint { x, measured: both, predicted: both }
        };
        let left = |values: &[u64]| {
            let points = values.iter().zip([3, 1, 2]).map(|(value, x)| point(x, *value)).collect();
            let curve = Curve {
                measure: "nic.pauses",
                x: String::new(),
                x_unit: Unit::Count,
                unit: Unit::Count,
                points,
                fitted: Vec::new(),
            };
            let all = SweepCurves(BTreeMap::from([(
                ("nic.pauses", String::new(), Unit::Count, Unit::Count),
                curve,
            )]));
            let x = |curve: Curve| curve.points.iter().map(|point| point.x).collect();
            all.curves().map(x).collect::<Vec<Vec<u64>>>()
        };
        assert_eq!(left(&[7, 7, 7]), Vec::<Vec<u64>>::new());
        assert_eq!(left(&[7, 8]), Vec::<Vec<u64>>::new());
        assert_eq!(left(&[7, 7, 8]), [[1, 2, 3]]);
    }
}
