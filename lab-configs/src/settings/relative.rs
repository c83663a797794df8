//! Values relative to what is configured: times `x1.1`, plus `+10ms`, minus `-10ms`.

use super::{BadSetting, Declared, Value, fields, near};
use rig_units::{Bytes, Dur, L2Rate, Ppm, Quanta, Within};

/// Whether `text` asks for a change rather than for a value.
pub(super) fn is_relative(text: &str) -> bool {
    Change::read(text).is_some()
}

pub(super) fn apply(declared: &Declared, path: &str, text: &str) -> Result<Value, BadSetting> {
    let Some(change) = Change::read(text) else {
        return Ok(plain(text));
    };
    let why = |why: &str| BadSetting::BadValue { path: path.to_owned(), why: why.to_owned() };
    let Some(configured) = declared.get(path) else {
        return if fields::is_optional(path) {
            Err(why("is not set, so there is nothing to change relative to"))
        } else {
            Err(BadSetting::UnknownPath {
                path: path.to_owned(),
                near: near(declared.kind(), path),
            })
        };
    };
    if let Some(range) = declared.range(path) {
        let beyond = change.of_range(range).map(|n| Value::String(Dur(n).to_string()));
        return beyond.ok_or_else(|| why(&format!("`{text}` cannot be applied to `{range}`")));
    }
    let changed = match &configured {
        Value::String(text) if text.parse::<Quanta>().is_ok() => {
            let configured = text.parse().map_or(0, |Quanta(n)| u64::from(n));
            // There is no longer pause than the longest.
            let most = |n: u64| Quanta(u16::try_from(n).unwrap_or(u16::MAX)).to_string();
            change
                .of(configured, |t| t.parse().map(|Quanta(n)| u64::from(n)).ok())
                .map(|n| Value::String(most(n)))
        }
        Value::String(text) if text.parse::<Ppm>().is_ok() => {
            let configured = text.parse().map_or(0, |Ppm(n)| u64::from(n));
            // Nothing is more than certain.
            let most = |n: u64| Ppm(u32::try_from(n).map_or(Ppm::ONE.0, |n| n.min(Ppm::ONE.0)));
            change
                .of(configured, |t| t.parse().map(|Ppm(n)| u64::from(n)).ok())
                .map(|n| Value::String(most(n).to_string()))
        }
        Value::String(text) => match (text.parse::<Dur>(), text.parse::<Bytes>()) {
            (Ok(dur), _) => {
                change.of(dur.0, |t| t.parse().map(|Dur(n)| n).ok()).map(|n| Dur(n).to_string())
            }
            (_, Ok(size)) => change
                .of(size.0, |t| t.parse().map(|Bytes(n)| n).ok())
                .map(|n| Bytes(n).to_string()),
            _ => text.parse::<L2Rate>().ok().and_then(|L2Rate { bps }| {
                let bps = change.of(bps, |t| t.parse().map(|L2Rate { bps }| bps).ok())?;
                Some(L2Rate { bps }.to_string())
            }),
        }
        .map(Value::String),
        Value::Number(n) => n.as_i64().and_then(|n| change.of_signed(n)).map(Value::from),
        _ => None,
    };
    changed.ok_or_else(|| why(&format!("`{text}` cannot be applied to `{configured}`")))
}

/// `null` for `never`, numbers and booleans as such, all else a string.
fn plain(text: &str) -> Value {
    match text {
        "never" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => text.parse::<i64>().map_or_else(|_| Value::String(text.to_owned()), Value::from),
    }
}

enum Change<'a> {
    Times(u64),
    Plus(&'a str),
    Minus(&'a str),
}

impl<'a> Change<'a> {
    fn read(text: &'a str) -> Option<Change<'a>> {
        if let Some(factor) = text.strip_prefix('x') {
            let (whole, fraction) = factor.split_once('.').unwrap_or((factor, ""));
            let digits = format!("{fraction:0<6}");
            let whole: u64 = whole.parse().ok()?;
            let millionths: u64 =
                if digits.len() == 6 { digits.parse().ok()? } else { return None };
            return Some(Change::Times(whole.checked_mul(1_000_000)?.checked_add(millionths)?));
        }
        let plus = text.strip_prefix('+').map(Change::Plus);
        plus.or_else(|| text.strip_prefix('-').map(Change::Minus))
    }

    /// Of a number that may be below zero: `+1` and `-1` are steps.
    fn of_signed(&self, configured: i64) -> Option<i64> {
        match self {
            Change::Times(_) => {
                let scaled = self.of(u64::try_from(configured).ok()?, |_| None)?;
                i64::try_from(scaled).ok()
            }
            Change::Plus(text) => configured.checked_add(text.parse().ok()?),
            Change::Minus(text) => configured.checked_sub(text.parse().ok()?),
        }
    }

    /// Of a range: what is more goes beyond its most, what is less stays below its least.
    fn of_range(&self, range: Within) -> Option<u64> {
        let less = matches!(self, Change::Times(..1_000_000) | Change::Minus(_));
        let end = if less { range.least() } else { range.most() };
        self.of(end.0, |text| text.parse().map(|Dur(n)| n).ok())
    }

    fn of(&self, configured: u64, read: impl Fn(&str) -> Option<u64>) -> Option<u64> {
        match self {
            Change::Times(millionths) => {
                let scaled = u128::from(configured) * u128::from(*millionths) / 1_000_000;
                u64::try_from(scaled).ok()
            }
            Change::Plus(text) => configured.checked_add(read(text)?),
            Change::Minus(text) => configured.checked_sub(read(text)?),
        }
    }
}
