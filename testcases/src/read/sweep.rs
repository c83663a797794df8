//! What varies.

use super::amount::amount;
use super::names::Names;
use super::traffic::{fits, least};
use crate::Sweep;
use crate::case::Stream;
use core::str::FromStr;
use indexmap::IndexMap;
use rig_lab::fault::one_of;
use rig_lab::walk::At;
use rig_lab::yaml::{Key, Value};
use rig_lab::{BadSetting, Declared, Setting, declare, is_name};
use rig_units::limits::{self, POINTS};
use rig_units::{BadQuantity, Bytes};

/// Predictions whose interval a variable may run across.
pub const INTERVALS: [&str; 1] = ["trigger-ramp"];

/// The keys of sweeps over cables and port speeds; no variable is called so.
const CABLE: &str = "cable";
const SPEED: &str = "speed";

/// The variables of a sweep, before anything else of the case is read.
pub(super) fn variables(at: &At<'_>) -> Vec<String> {
    let Value::Map(fields) = &at.node.value else { return Vec::new() };
    let names = fields.iter().map(|(key, _)| key.name.clone());
    names.filter(|name| is_variable(name)).collect()
}

/// Whether a key names a variable: the others have a dot, or stand for the bench.
pub(super) fn is_variable(key: &str) -> bool {
    !key.contains('.') && key != CABLE && key != SPEED
}

/// Reads a sweep.
pub(super) fn sweep(
    at: &At<'_>,
    pattern: &Declared,
    names: &Names<'_>,
    streams: &IndexMap<String, Stream>,
) -> Option<Vec<Sweep>> {
    let entries = at.entries("{dut.pfcwd.detection_time: [200ms, 250ms]} or {variable: [...]}")?;
    // Counted before anything of it is worked out.
    let points = points(&entries);
    if points > POINTS as u64 {
        at.at_key(format!("a sweep of {points} points"), limits::points().want);
        return None;
    }
    let all: Vec<Sweep> = entries
        .iter()
        .filter_map(|(key, at)| match key.name.strip_prefix("dut.") {
            Some(path) => setting(path, at, pattern),
            None if key.name == CABLE => {
                let lengths = quantities(at, "a list of lengths, such as [3m, 300m, 10km]")?;
                Some(Sweep::Cable { lengths })
            }
            None if key.name == SPEED => {
                let speeds = quantities(at, "a list of port speeds, such as [10Gbps, 400Gbps]")?;
                Some(Sweep::Speed { speeds })
            }
            None if key.name.starts_with("streams.") => size(key, at, streams),
            None if is_name(&key.name) => variable(&key.name, at, names),
            None => {
                let want = "`dut.` and a setting, `streams.NAME.size`, `cable`, `speed`, or a variable's name in lower \
                            case with dashes";
                at.at_key(format!("`{}` cannot be swept", key.name), want);
                None
            }
        })
        .collect();
    (all.len() == entries.len()).then_some(all)
}

/// How many points a sweep has: configurations of the device, one after the other, times values of variables.
fn points(entries: &[(&Key, At<'_>)]) -> u64 {
    let count = |at: &At<'_>| match &at.node.value {
        Value::List(all) => all.len() as u64,
        Value::Map(fields) => {
            let points = fields.iter().find(|(key, _)| key.name == "points");
            match points.map(|(_, node)| &node.value) {
                Some(Value::Whole(points)) => u64::try_from(*points).unwrap_or(0),
                _ => 0,
            }
        }
        _ => 0,
    };
    let sum = |variables: bool| {
        let of = entries.iter().filter(|(key, _)| is_variable(&key.name) == variables);
        of.map(|(_, at)| count(at)).fold(0, u64::saturating_add).max(1)
    };
    sum(false).saturating_mul(sum(true))
}

fn setting(path: &str, at: &At<'_>, pattern: &Declared) -> Option<Sweep> {
    let listed = at.list("a list of values")?;
    filled(at, listed.len())?;
    let mut values = Vec::new();
    for value_at in &listed {
        let value = declare::plain(value_at.node, path);
        match pattern.with(&Setting { path: path.to_owned(), value: value.clone() }) {
            Ok(_) => values.push(value),
            Err(bad @ BadSetting::UnknownPath { .. }) => {
                declare::refused(at, &bad);
                return None;
            }
            Err(bad @ BadSetting::BadValue { .. }) => declare::refused(value_at, &bad),
        }
    }
    (values.len() == listed.len()).then(|| Sweep::Setting { path: path.to_owned(), values })
}

/// A list of quantities of one kind.
fn quantities<T: FromStr<Err = BadQuantity>>(at: &At<'_>, want: &str) -> Option<Vec<T>> {
    let listed = at.list(want)?;
    filled(at, listed.len())?;
    let read: Vec<T> = listed.iter().filter_map(At::quantity).collect();
    (read.len() == listed.len()).then_some(read)
}

/// The sizes of one stream's frames.
fn size(key: &Key, at: &At<'_>, streams: &IndexMap<String, Stream>) -> Option<Sweep> {
    let of = key.name.strip_prefix("streams.").and_then(|rest| rest.strip_suffix(".size"));
    let Some((name, stream)) = of.and_then(|name| streams.get_key_value(name)) else {
        let found = format!("`{}` cannot be swept", key.name);
        at.at_key(found, "`streams.NAME.size` of a stream of the case");
        return None;
    };
    let sizes: Vec<Bytes> = quantities(at, "a list of frame sizes, such as [64B, 1024B]")?;
    let listed = at.list("a list of frame sizes")?;
    let fit =
        sizes.iter().zip(&listed).filter(|(size, at)| fits(at, least(stream), **size)).count();
    (fit == sizes.len()).then(|| Sweep::Size { stream: name.clone(), sizes })
}

fn variable(name: &str, at: &At<'_>, names: &Names<'_>) -> Option<Sweep> {
    if !at.is_short(name) {
        return None;
    }
    if let Value::List(_) = at.node.value {
        let listed = at.list("a list of lengths of time")?;
        filled(at, listed.len())?;
        let values: Vec<_> = listed.iter().filter_map(|at| amount(at, names)).collect();
        return (values.len() == listed.len())
            .then(|| Sweep::Values { name: name.to_owned(), values });
    }
    let fields = at.fields(&["across", "points"])?;
    let across = fields.need("across", "a prediction").and_then(|at| {
        let word = at.text("a prediction")?;
        if !INTERVALS.contains(&word) {
            at.fault(
                format!("there is no prediction `{word}`"),
                one_of(word, INTERVALS.into_iter()),
            );
            return None;
        }
        Some(word.to_owned())
    });
    let points = fields
        .need("points", "how many")
        .and_then(|at| at.whole(2..=i64::try_from(POINTS).unwrap_or(i64::MAX), "points"));
    Some(Sweep::Across { name: name.to_owned(), prediction: across?, points: points? })
}

fn filled(at: &At<'_>, count: usize) -> Option<()> {
    if count == 0 {
        at.fault("a sweep over nothing", "at least one value");
        return None;
    }
    Some(())
}
