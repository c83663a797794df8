//! One value at one dotted path of the declared configuration: how cases require, sweeps vary and `--mutate` changes it.
//!
//! Values are set in the serialised form of the configuration types, whose fields [`fields`] lists, so that a new field is at once a
//! requirement, a sweep and a mutant.

use crate::field::Holds;
use crate::{Declared, fields};
use core::fmt;
use rig_units::Within;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One value at one path, such as `pfcwd.detection_time` = `200ms`. `null` unsets an optional value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Dotted path below `declared:`.
    pub path: String,
    /// The value, as it would stand in the YAML file.
    pub value: Value,
}

/// A setting that the configuration cannot hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadSetting {
    /// There is no such path; the nearest ones are given.
    UnknownPath {
        /// The path asked for.
        path: String,
        /// Existing paths that look like it, the nearest first.
        near: Vec<String>,
    },
    /// The value does not fit the path.
    BadValue {
        /// The path.
        path: String,
        /// What is wrong, and what would be accepted.
        why: String,
    },
}

impl fmt::Display for BadSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadSetting::UnknownPath { path, near } if near.is_empty() => {
                write!(f, "there is no setting `{path}`")
            }
            BadSetting::UnknownPath { path, near } => {
                write!(f, "there is no setting `{path}`; near it: {}", near.join(", "))
            }
            BadSetting::BadValue { path, why } => write!(f, "`{path}`: {why}"),
        }
    }
}

impl core::error::Error for BadSetting {}

impl Declared {
    /// The value at `path`; `None` when there is no such path or an optional value is unset.
    pub fn get(&self, path: &str) -> Option<Value> {
        let tree = serde_json::to_value(self).ok()?;
        path.split('.').try_fold(&tree, |at, key| at.get(key)).cloned()
    }

    /// What is declared at `path` where that may be a range; `None` where it may not, or nothing is set.
    pub fn range(&self, path: &str) -> Option<Within> {
        fields::field(path).filter(|field| field.holds == Holds::Range)?;
        Within::deserialize(&self.get(path)?).ok()
    }

    /// This configuration with one setting changed.
    ///
    /// # Errors
    /// When there is no such path or the value does not fit it.
    pub fn with(&self, setting: &Setting) -> Result<Declared, BadSetting> {
        let Setting { path, value } = setting;
        let bad = |why: String| BadSetting::BadValue { path: path.clone(), why };
        let mut tree = serde_json::to_value(self).map_err(|e| bad(e.to_string()))?;
        let unknown = || BadSetting::UnknownPath { path: path.clone(), near: near(path) };
        let (parents, last) = path.rsplit_once('.').unwrap_or(("", path));
        let parents = parents.split('.').filter(|key| !key.is_empty());
        let mut at = &mut tree;
        for key in parents {
            at = at.get_mut(key).ok_or_else(unknown)?;
        }
        let mapping = at.as_object_mut().ok_or_else(unknown)?;
        if !mapping.contains_key(last) && !fields::is_optional(path) {
            return Err(unknown());
        }
        mapping.insert(last.to_owned(), value.clone());
        serde_json::from_value(tree).map_err(|e| bad(e.to_string()))
    }

    /// This configuration with an override: an absolute value, or one relative to what is configured (`x1.1`, `+10ms`,
    /// `-10ms`). Of a range `x1.1` and `+10ms` count from its most, `x0.9` and `-10ms` from its least, so that a device leaves it. What
    /// is relative to a value that is not set changes nothing.
    ///
    /// # Errors
    /// When there is no such path or the value does not fit it.
    pub fn overridden(&self, path: &str, text: &str) -> Result<Declared, BadSetting> {
        let unset = fields::is_optional(path) && self.get(path).is_none();
        if unset && relative::is_relative(text) {
            return Ok(self.clone());
        }
        self.with(&Setting { path: path.to_owned(), value: absolute(self, path, text)? })
    }

    /// Whether the configuration is already what `setting` asks for.
    ///
    /// # Errors
    /// When there is no such path or the value does not fit it.
    pub fn satisfies(&self, setting: &Setting) -> Result<bool, BadSetting> {
        Ok(self.with(setting)? == *self)
    }

    /// The paths at which two configurations differ.
    pub fn differences(&self, other: &Declared) -> Vec<String> {
        let [a, b] = [self, other].map(|one| serde_json::to_value(one).unwrap_or_default());
        let differs = |path: &String| {
            let pointer = format!("/{}", path.replace('.', "/"));
            a.pointer(&pointer) != b.pointer(&pointer)
        };
        fields::paths().into_iter().filter(differs).collect()
    }
}

/// Existing paths that look like this one.
fn near(path: &str) -> Vec<String> {
    nearest(path, fields::paths().iter().map(String::as_str))
}

/// Whether an adapter may set `path` on behalf of a case.
pub fn configurable(path: &str) -> bool {
    fields::field(path).is_some_and(|field| field.by_case)
}

/// The words that look most like `word`, for "did you mean": at most three, the nearest first.
pub fn nearest<'a>(word: &str, all: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut ranked: Vec<(usize, &str)> =
        all.map(|candidate| (distance(word, candidate), candidate)).collect();
    ranked.sort_unstable();
    let close = |&&(d, candidate): &&(usize, &str)| d <= word.len().max(candidate.len()) / 2;
    ranked.iter().filter(close).take(3).map(|&(_, candidate)| candidate.to_owned()).collect()
}

/// Edit distance (Levenshtein).
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// The value that `text` asks for at `path`: itself, or the configured one times `x1.1`, plus `+10ms`, minus `-10ms`.
/// Numbers and booleans are read as such, `never` unsets an optional value, all else is a string.
///
/// # Errors
/// When a relative value meets a setting that is not a quantity or a number.
fn absolute(declared: &Declared, path: &str, text: &str) -> Result<Value, BadSetting> {
    relative::apply(declared, path, text)
}

mod relative {
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
                Err(BadSetting::UnknownPath { path: path.to_owned(), near: near(path) })
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
}

#[cfg(test)]
mod tests;
