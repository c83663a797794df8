//! A length of time as a data sheet says it: a value, a range, a limit, or a typical value and how far off one may be.

use crate::parse::{BadQuantity, Text};
use crate::schema::pattern;
use crate::{Dur, Ppm, limits};
use core::fmt;
use core::ops::Add;
use core::str::FromStr;
use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;

/// A length of time between two that are meant, too. A device has one inside it, or another each time; of which it is declared nobody
/// may say more.
#[derive(Debug, Clone, Copy)]
pub struct Within {
    least: Dur,
    most: Dur,
    said: Said,
}

/// The words in which it was said.
#[derive(Debug, Clone, Copy)]
enum Said {
    /// `2us` or `1us..3us`.
    Span,
    /// `{max: 2us}`: from nothing on.
    Max,
    /// `{min: 1us, max: 3us}`.
    Limits,
    /// `{typ: 2us, tol: 10%}`: as much to either side.
    Typical(Ppm),
}

impl Within {
    const WHAT: &str = "a duration or a range of them";
    const WANT: &str =
        "2us, 1us..3us, {max: 2us}, {min: 1us, max: 3us} or {typ: 2us, tol: 10%}, up to 86400s";
    /// No time at all.
    pub const ZERO: Within = Within::exactly(Dur::ZERO);

    /// One value and no other.
    pub const fn exactly(value: Dur) -> Within {
        Within { least: value, most: value, said: Said::Span }
    }

    /// Anything from `least` to `most`, which is not below it.
    pub const fn between(least: Dur, most: Dur) -> Within {
        Within { least, most, said: Said::Span }
    }

    /// Anything up to `most`.
    pub const fn at_most(most: Dur) -> Within {
        Within { least: Dur::ZERO, most, said: Said::Max }
    }

    /// The shortest that is meant.
    pub const fn least(self) -> Dur {
        self.least
    }

    /// The longest that is meant.
    pub const fn most(self) -> Dur {
        self.most
    }

    /// How far apart the two are: zero of one value.
    pub fn width(self) -> Dur {
        self.most - self.least
    }

    /// Whether `value` is meant.
    pub fn includes(self, value: Dur) -> bool {
        (self.least..=self.most).contains(&value)
    }

    /// Whether all that `other` means is meant.
    pub fn covers(self, other: Within) -> bool {
        self.includes(other.least) && self.includes(other.most)
    }

    /// Each `num / den` times as long, rounded down; said in the same words.
    #[must_use]
    pub fn scaled(self, num: u64, den: u64) -> Within {
        Within { least: self.least.scaled(num, den), most: self.most.scaled(num, den), ..self }
    }

    /// `n` of them one after the other, each any that is meant; none is longer than a time may be. One is said in the same words.
    #[must_use]
    pub fn times(self, n: u64) -> Within {
        let times = |time: Dur| time.saturating_mul(n).min(limits::TIME);
        let said = if n == 1 || self == Within::ZERO { self.said } else { Said::Span };
        Within { least: times(self.least), most: times(self.most), said }
    }

    /// The value that a number drawn from all numbers comes to: each of the whole picoseconds equally often.
    pub fn drawn(self, word: u64) -> Dur {
        let values = u128::from(self.width().0) + 1;
        let above = (u128::from(word) * values) >> 64;
        self.least + Dur(u64::try_from(above).unwrap_or(0))
    }

    /// What keys of a mapping say together; what is wrong with them, and what is wanted.
    fn of_keys(keys: &Keys) -> Result<Within, String> {
        match *keys {
            Keys { min: None, max: Some(most), typ: None, tol: None } => Ok(Within::at_most(most)),
            Keys { min: Some(least), max: Some(most), typ: None, tol: None } if least > most => {
                Err(format!("min `{least}` is above max {most}: want min at most max"))
            }
            Keys { min: Some(least), max: Some(most), typ: None, tol: None } => {
                Ok(Within { least, most, said: Said::Limits })
            }
            Keys { min: None, max: None, typ: Some(typ), tol: Some(Tolerance(tol)) } => {
                let long = || format!("`{typ}` and {tol} more is too long: want {}", Dur::WANT);
                Within::around(typ, tol).ok_or_else(long)
            }
            Keys { min: Some(least), max: None, typ: None, tol: None } => {
                Err(format!("`{least}` or longer says no most: want {{min: {least}, max: ...}}"))
            }
            Keys { typ: Some(typ), tol: None, .. } => Err(format!(
                "`{typ}` says not how far off one may be: want {{typ: {typ}, tol: 10%}}"
            )),
            _ => Err(format!("these keys say no range: want {}", Within::WANT)),
        }
    }

    /// As much to either side of `typ`, to the next picosecond outward.
    fn around(typ: Dur, tol: Ppm) -> Option<Within> {
        let off = u128::from(typ.0) * u128::from(tol.0);
        let off = Dur(u64::try_from(off.div_ceil(Ppm::ONE.0.into())).ok()?);
        let most = typ.saturating_add(off);
        let range = Within { least: typ.saturating_sub(off), most, said: Said::Typical(tol) };
        (most <= limits::TIME).then_some(range)
    }

    /// The keys and values of a mapping; nothing of what is said without one.
    fn mapping(self) -> Vec<(&'static str, String)> {
        let (least, most) = (self.least.to_string(), self.most.to_string());
        match self.said {
            Said::Span => Vec::new(),
            Said::Max => vec![("max", most)],
            Said::Limits => vec![("min", least), ("max", most)],
            Said::Typical(tol) => {
                vec![("typ", self.middle().to_string()), ("tol", tol.to_string())]
            }
        }
    }

    fn middle(self) -> Dur {
        self.least + self.width() / 2
    }
}

/// Two are equal that mean the same, in whatever words.
impl PartialEq for Within {
    fn eq(&self, other: &Within) -> bool {
        (self.least, self.most) == (other.least, other.most)
    }
}

impl Eq for Within {}

impl From<Dur> for Within {
    fn from(value: Dur) -> Within {
        Within::exactly(value)
    }
}

/// One after the other. What adds nothing leaves the words as they are.
impl Add for Within {
    type Output = Within;
    fn add(self, other: Within) -> Within {
        match (self == Within::ZERO, other == Within::ZERO) {
            (_, true) => self,
            (true, false) => other,
            (false, false) => Within {
                least: self.least + other.least,
                most: self.most + other.most,
                said: Said::Span,
            },
        }
    }
}

/// As it was said, which reads back as the same in a file.
impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mapping = self.mapping();
        if !mapping.is_empty() {
            let keys: Vec<String> =
                mapping.iter().map(|(key, value)| format!("{key}: {value}")).collect();
            return f.pad(&format!("{{{}}}", keys.join(", ")));
        }
        if self.least == self.most {
            return fmt::Display::fmt(&self.least, f);
        }
        f.pad(&format!("{}..{}", self.least, self.most))
    }
}

/// `2us` or `1us..3us`: what is said in one word.
impl FromStr for Within {
    type Err = BadQuantity;
    fn from_str(text: &str) -> Result<Within, BadQuantity> {
        let bad = |what| BadQuantity::new(what, Within::WANT, text);
        let time = |text: &str| text.parse::<Dur>().map_err(|_| bad(Within::WHAT));
        let (least, most) = text.split_once("..").unwrap_or((text, text));
        let (least, most) = (time(least)?, time(most)?);
        if least > most {
            return Err(bad("a range: its least is above its most"));
        }
        Ok(Within { least, most, said: Said::Span })
    }
}

impl serde::Serialize for Within {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mapping = self.mapping();
        if mapping.is_empty() {
            return s.collect_str(self);
        }
        let mut map = s.serialize_map(Some(mapping.len()))?;
        for (key, value) in mapping {
            map.serialize_entry(key, &value)?;
        }
        map.end()
    }
}

impl<'de> serde::Deserialize<'de> for Within {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Within, D::Error> {
        d.deserialize_any(Form)
    }
}

/// Either form of a range.
struct Form;

impl<'de> Visitor<'de> for Form {
    type Value = Within;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Within::WANT)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Within, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Within, A::Error> {
        let mut keys = Keys::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "min" => keys.min = Some(map.next_value()?),
                "max" => keys.max = Some(map.next_value()?),
                "typ" => keys.typ = Some(map.next_value()?),
                "tol" => keys.tol = Some(map.next_value()?),
                _ => {
                    let text = format!("unknown key `{key}`: want {}", Within::WANT);
                    return Err(A::Error::custom(text));
                }
            }
        }
        Within::of_keys(&keys).map_err(A::Error::custom)
    }
}

/// What a mapping says.
#[derive(Default)]
struct Keys {
    min: Option<Dur>,
    max: Option<Dur>,
    typ: Option<Dur>,
    tol: Option<Tolerance>,
}

/// How far off a typical value one may be, to either side.
#[derive(Clone, Copy)]
struct Tolerance(Ppm);

impl Tolerance {
    const WANT: &str = "a tolerance from 0% to 100%, such as 10% or 200ppm";
}

impl FromStr for Tolerance {
    type Err = BadQuantity;
    fn from_str(text: &str) -> Result<Tolerance, BadQuantity> {
        let bad = |_| BadQuantity::new("a tolerance", Tolerance::WANT, text);
        text.parse().map(Tolerance).map_err(bad)
    }
}

impl<'de> serde::Deserialize<'de> for Tolerance {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Tolerance, D::Error> {
        d.deserialize_str(Text::<Tolerance>::expecting(Tolerance::WANT))
    }
}

impl schemars::JsonSchema for Within {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Within".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let time = |about: &str| pattern(about, r"^[0-9]+(\.[0-9]+)?(ps|ns|us|ms|s)$");
        let (min, max) = (time("the shortest"), time("the longest"));
        let (typ, tol) = (time("what is typical"), r"^[0-9]+(\.[0-9]+)?(%|ppm)$");
        let tol = pattern("how far off it may be, to either side", tol);
        schemars::json_schema!({
            "description": "a length of time, or the range of it that a data sheet states",
            "anyOf": [
                pattern(
                    "a duration such as 2us, or a range such as 1us..3us",
                    r"^[0-9]+(\.[0-9]+)?(ps|ns|us|ms|s)(\.\.[0-9]+(\.[0-9]+)?(ps|ns|us|ms|s))?$",
                ),
                {
                    "type": "object",
                    "required": ["max"],
                    "additionalProperties": false,
                    "properties": { "min": min, "max": max },
                },
                {
                    "type": "object",
                    "required": ["typ", "tol"],
                    "additionalProperties": false,
                    "properties": { "typ": typ, "tol": tol },
                },
            ],
        })
    }
}

#[cfg(test)]
mod tests;
