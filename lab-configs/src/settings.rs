//! One value at one dotted path of the declared configuration: how cases require, sweeps vary and `--mutate` changes it.
//!
//! Values are set in the serialised form of the configuration types, whose fields [`fields`] lists, so that a new field is at once a
//! requirement, a sweep and a mutant.

use crate::field::Holds;
use crate::{Declared, Kind, Switch, fields};
use core::fmt;
use rig_units::{Bytes, Dur, L2Rate, Ppm, Within};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use slots::Slots;

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
        let (slot, below) = self.slot(path)?;
        let tree = Some(slot.tree()).filter(|tree| !tree.is_null())?;
        let Some(below) = below else { return Some(tree) };
        below.split('.').try_fold(&tree, |at, key| at.get(key)).cloned()
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
        let mut next = self.clone();
        set(&mut next, self.kind(), setting).map(|()| next)
    }

    /// This configuration with an override: an absolute value, or one relative to what is configured (`x1.1`, `+10ms`,
    /// `-10ms`). Of a range `x1.1` and `+10ms` count from its most, `x0.9` and `-10ms` from its least, so that a device leaves it. What
    /// is relative to a value that is not set changes nothing, nor does what is of a part that the device has not.
    ///
    /// # Errors
    /// When there is no such path or the value does not fit it.
    pub fn overridden(&self, path: &str, text: &str) -> Result<Declared, BadSetting> {
        if self.lacks(path) {
            let mut kinds = Kind::OF_PROFILES.iter().map(|(_, kind)| *kind);
            let other = kinds.find(|kind| kind.has(part(path)));
            let other = other.and_then(|kind| crate::sample(kind).ok());
            return other
                .map_or(Ok(()), |of| of.overridden(path, text).map(drop))
                .map(|()| self.clone());
        }
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
        if self.lacks(&setting.path) {
            return Ok(false);
        }
        // What is written as it is set needs no look at the whole.
        let is_written_so = self.get(&setting.path).as_ref() == Some(&setting.value);
        Ok(is_written_so || self.with(setting)? == *self)
    }

    /// Whether `path` is of a part that other devices have.
    fn lacks(&self, path: &str) -> bool {
        let own = part(path);
        // A field that stands beside the parts is there, set or not; so is a part that every device of the kind has.
        let is_field = own == path || !fields::is_optional(own);
        let is_there = self.kind().has(own) && (is_field || self.get(own).is_some());
        fields::field(path).is_some() && !is_there
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

impl Switch {
    /// This configuration with one setting changed.
    ///
    /// # Errors
    /// When there is no such path or the value does not fit it.
    pub fn with(&self, setting: &Setting) -> Result<Switch, BadSetting> {
        let mut next = self.clone();
        set(&mut next, Kind::Switch, setting).map(|()| next)
    }
}

/// Changes one setting of what a device of `kind` is configured to.
fn set(all: &mut impl Slots, kind: Kind, setting: &Setting) -> Result<(), BadSetting> {
    let Setting { path, value } = setting;
    let unknown = || BadSetting::UnknownPath { path: path.clone(), near: near(kind, path) };
    let slot = all.slot_mut(path).filter(|_| kind.has(part(path)));
    let (slot, below) = slot.ok_or_else(unknown)?;
    let tree = match below {
        None => value.clone(),
        Some(below) => {
            let mut tree = slot.tree();
            let (parents, last) = below.rsplit_once('.').unwrap_or(("", below));
            let mut at = &mut tree;
            for key in parents.split('.').filter(|key| !key.is_empty()) {
                at = at.get_mut(key).ok_or_else(unknown)?;
            }
            let mapping = at.as_object_mut().ok_or_else(unknown)?;
            if !mapping.contains_key(last) && !fields::is_optional(path) {
                return Err(unknown());
            }
            mapping.insert(last.to_owned(), value.clone());
            tree
        }
    };
    let bad =
        |e: serde_json::Error| BadSetting::BadValue { path: path.clone(), why: e.to_string() };
    slot.read(tree).map_err(bad)
}

/// Paths of a device of `kind` that look like this one.
fn near(kind: Kind, path: &str) -> Vec<String> {
    let all = fields::paths();
    let own = all.iter().filter(|path| kind.has(part(path)));
    nearest(path, own.map(String::as_str))
}

/// The key of the part that a path belongs to.
pub(crate) fn part(path: &str) -> &str {
    path.split('.').next().unwrap_or_default()
}

/// A value of `path` as a number, by which values of one path compare: picoseconds, bytes, millionths, bits a second. `None` of what
/// has no order.
pub fn number(path: &str, value: &Value) -> Option<i128> {
    let text = || value.as_str();
    match fields::field(path)?.holds {
        Holds::Time => text()?.parse().ok().map(|Dur(n)| n.into()),
        Holds::Size => text()?.parse().ok().map(|Bytes(n)| n.into()),
        Holds::Chance => text()?.parse().ok().map(|Ppm(n)| n.into()),
        Holds::Rate => text()?.parse().ok().map(|L2Rate { bps }| bps.into()),
        Holds::Count | Holds::Exponent => value.as_i64().map(Into::into),
        Holds::Range
        | Holds::Quanta
        | Holds::Switch
        | Holds::Word
        | Holds::Name
        | Holds::List
        | Holds::Whole => None,
    }
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

mod relative;
mod slots;

#[cfg(test)]
mod tests;
