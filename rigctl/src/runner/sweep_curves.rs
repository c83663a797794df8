//! Curves over what a sweep varies from one configuration to the next: cables, speeds, frame sizes.

use rig_capture::Unit;
use rig_oracle::trials::context::Context;
use rig_oracle::trials::points::Varied;
use rig_oracle::verdict::{Curve, CurvePoint, Judgement};
use std::collections::BTreeMap;

/// The curves so far, by measure, what it was measured on, and unit.
#[derive(Debug, Default)]
pub struct SweepCurves(BTreeMap<(&'static str, String, Unit), Curve>);

impl SweepCurves {
    /// Adds what one configuration showed; nothing where the sweep is over something else.
    pub fn add(&mut self, context: &Context<'_>, judgements: &[Judgement]) {
        let Some((x, x_unit, over)) = axis(context) else { return };
        for one in judgements {
            let unit = one.reading.unit;
            let key = (one.measure, one.subject.clone(), unit);
            let curve = self.0.entry(key).or_insert_with(|| Curve {
                measure: one.measure,
                x: format!("{over}, {}", one.subject),
                x_unit,
                unit,
                points: Vec::new(),
                fitted: Vec::new(),
            });
            let (measured, predicted) = (one.reading.span, one.prediction.span);
            curve.points.push(CurvePoint { x, measured, predicted });
        }
    }

    /// All of them.
    pub fn curves(self) -> impl Iterator<Item = Curve> {
        self.0.into_values()
    }
}

/// Where on a curve a configuration lies, the unit of that, and what it is.
fn axis(context: &Context<'_>) -> Option<(u64, Unit, String)> {
    Some(match context.group.varied.as_ref()? {
        Varied::Cable(_) => (context.cable().0, Unit::Ps, "the time through a cable".to_owned()),
        Varied::Speed(speed) => (speed.bps(), Unit::Bps, "the speed of the ports".to_owned()),
        Varied::Size(stream, size) => (size.0, Unit::Bytes, format!("the frame size of {stream}")),
    })
}
