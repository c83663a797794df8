//! A case's sweep, as configurations of the device and points of variables within each.

use super::threshold_search::{self, Counts};
use super::values::Values;
use rig_capture::Unit;
use rig_lab::{BadSetting, Declared, Setting};
use rig_testcases::{Case, Lookup, Measure, Sweep};
use rig_units::{Bytes, Dur, Length, PortSpeed};
use std::collections::BTreeMap;

/// One configuration of the device: a session of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Where in the sweep: `pfcwd.detection_time=250ms`; empty without one.
    pub label: String,
    /// What the device is configured to.
    pub settings: Vec<Setting>,
    /// The declared configuration that follows.
    pub declared: Declared,
    /// What of it the sweep varies, if it does.
    pub varied: Option<Varied>,
}

/// What a sweep varies from one configuration to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Varied {
    /// The cables.
    Cable(Length),
    /// The speed of every port.
    Speed(PortSpeed),
    /// The frame size of a stream.
    Size(String, Bytes),
    /// A setting of the device, by its path, and its value as the case has it.
    Setting(String, String),
}

/// One point of the variables, within a group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Point {
    /// Where in the sweep: `storm-length=250ms`; empty without one.
    pub label: String,
    /// The swept lengths of time by name.
    pub swept: BTreeMap<String, Dur>,
    /// The pause that a storm of that length makes, where it is a storm's length that is swept.
    pub pause: Option<Dur>,
    /// How many frames each searched stream sends.
    pub counts: Counts,
}

/// How a storm makes a pause: frames so far apart, each pausing for so long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cadence {
    /// From one frame to the next.
    pub every: Dur,
    /// The pause of one frame.
    pub pause: Dur,
}

impl Cadence {
    /// How long the storm is to run for a pause of at least `wanted`, and the pause that it then makes: the last frame's
    /// is part of it. A nanosecond more lets the last frame go.
    pub fn run_for(self, wanted: Dur) -> (Dur, Dur) {
        let frames = wanted.saturating_sub(self.pause).div_ceil(self.every);
        // Longer than any trial is refused as a step: until then it only must not wrap.
        let refreshed = self.every.saturating_mul(frames);
        (refreshed.saturating_add(Dur::ns(1)), refreshed.saturating_add(self.pause))
    }
}

/// Every configuration that the case's sweep asks for; one without a sweep of settings.
///
/// # Errors
/// A setting that the configuration cannot hold.
pub fn groups(case: &Case, declared: &Declared) -> Result<Vec<Group>, BadSetting> {
    let group = |label: String, swept: Option<Setting>| {
        // What is swept takes the place of what the case sets once.
        let once = case
            .settings
            .iter()
            .filter(|set| swept.as_ref().is_none_or(|swept| swept.path != set.path));
        let settings: Vec<Setting> = once.cloned().chain(swept.clone()).collect();
        let declared = settings
            .iter()
            .try_fold(declared.clone(), |declared, setting| declared.with(setting))?;
        Ok(Group { label, settings, declared, varied: None })
    };
    let mut all = Vec::new();
    for sweep in &case.sweep {
        match sweep {
            Sweep::Setting { path, values } => {
                for value in values {
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    let setting = Setting { path: path.clone(), value: value.clone() };
                    let group = group(format!("{path}={text}"), Some(setting))?;
                    all.push(Group { varied: Some(Varied::Setting(path.clone(), text)), ..group });
                }
            }
            Sweep::Cable { .. } | Sweep::Speed { .. } | Sweep::Size { .. } => {
                for (label, varied) in varied(sweep) {
                    let mut group = group(label, None)?;
                    if let Varied::Speed(speed) = varied {
                        group.declared = group.declared.at(speed);
                    }
                    all.push(Group { varied: Some(varied), ..group });
                }
            }
            Sweep::Values { .. } | Sweep::Across { .. } => {}
        }
    }
    if all.is_empty() {
        all.push(group(String::new(), None)?);
    }
    Ok(all)
}

/// Every value of a sweep of the bench or of frame sizes, with its label.
fn varied(sweep: &Sweep) -> Vec<(String, Varied)> {
    let cable = |length: &Length| (format!("cable={length}"), Varied::Cable(*length));
    let speed = |speed: &PortSpeed| (format!("speed={speed}"), Varied::Speed(*speed));
    let sized = |stream: &str, size: &Bytes| {
        (format!("{stream}.size={size}"), Varied::Size(stream.to_owned(), *size))
    };
    match sweep {
        Sweep::Cable { lengths } => lengths.iter().map(cable).collect(),
        Sweep::Speed { speeds } => speeds.iter().map(speed).collect(),
        Sweep::Size { stream, sizes } => sizes.iter().map(|size| sized(stream, size)).collect(),
        Sweep::Setting { .. } | Sweep::Values { .. } | Sweep::Across { .. } => Vec::new(),
    }
}

/// What the values of a variable may name: counted streams, too, by the time that they take to send.
struct Lasting<'a> {
    case: &'a Case,
    values: &'a Values<'a>,
}

impl Lookup for Lasting<'_> {
    fn duration(&self, name: &str) -> Option<Dur> {
        let values = self.values;
        values.duration(name).or_else(|| self.case.lasts(name, values.declared, values))
    }
}

/// Every point of the case's variables; one without a sweep of variables.
///
/// # Errors
/// The name of a prediction or value that this device does not have.
pub(super) fn points(
    case: &Case,
    values: &Values<'_>,
    cadence: Option<Cadence>,
) -> Result<Vec<Point>, String> {
    let mut all = Vec::new();
    let mut add = |name: &str, value: Dur| all.push(point(name, value, cadence));
    for sweep in &case.sweep {
        match sweep {
            Sweep::Setting { .. }
            | Sweep::Cable { .. }
            | Sweep::Speed { .. }
            | Sweep::Size { .. } => {}
            Sweep::Values { name, values: amounts } => {
                for amount in amounts {
                    add(name, amount.resolve(&Lasting { case, values })?);
                }
            }
            Sweep::Across { name, prediction, points } => {
                let span = values.predicted.and_then(|names| names.interval(prediction));
                let span = span.ok_or_else(|| prediction.clone())?;
                for at in across(span.lo, span.hi, *points) {
                    add(name, at);
                }
            }
        }
    }
    if all.is_empty() {
        all.push(Point::default());
    }
    let searched = case.measure.iter().flat_map(Measure::searches);
    let counts: Counts = searched.map(|name| (name.to_owned(), threshold_search::LIKE)).collect();
    for point in &mut all {
        point.counts.clone_from(&counts);
    }
    Ok(all)
}

/// The point at which the variable `name` stands for `value`: with a cadence, for the storm that makes such a pause.
pub(super) fn point(name: &str, value: Dur, cadence: Option<Cadence>) -> Point {
    let (stands_for, pause) = match cadence {
        Some(cadence) => {
            let (run, pause) = cadence.run_for(value);
            (run, Some(pause))
        }
        None => (value, None),
    };
    let label = format!("{name}={}", Unit::Ps.show(pause.unwrap_or(value).0));
    let swept = BTreeMap::from([(name.to_owned(), stands_for)]);
    Point { label, swept, pause, counts: Counts::new() }
}

/// So many lengths spread evenly over an interval, half a step in from either end, in whole microseconds.
fn across(lo: u64, hi: u64, points: u32) -> impl Iterator<Item = Dur> {
    let points = u64::from(points.max(1));
    (0..points).map(move |i| {
        let at = lo
            + u64::try_from(u128::from(hi - lo) * u128::from(2 * i + 1) / u128::from(2 * points))
                .unwrap_or(0);
        Dur(at / 1_000_000 * 1_000_000)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_evenly_inside_the_interval() {
        let lo = Dur::ms(200).0;
        let hi = Dur::ms(300).0;
        assert_eq!(
            across(lo, hi, 4).collect::<Vec<_>>(),
            [Dur::us(212_500), Dur::us(237_500), Dur::us(262_500), Dur::us(287_500)]
        );
    }
}
