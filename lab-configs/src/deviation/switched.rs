//! A deviation as it is switched on: by name, with its value if one was given.

use super::Deviation;
use crate::BadSetting;
use crate::fault::one_of;
use core::fmt;
use core::str::FromStr;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A deviation that is switched on, with its value if one was given. Written `drop_leaks` or `drop_leaks:3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switched {
    /// The row of its part's table.
    pub name: &'static Deviation,
    /// Its value; see [`Deviation::about`] for the meaning.
    pub value: Option<u32>,
}

impl fmt::Display for Switched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Some(value) => write!(f, "{}:{value}", self.name),
            None => write!(f, "{}", self.name),
        }
    }
}

impl FromStr for Switched {
    type Err = BadSetting;
    fn from_str(text: &str) -> Result<Switched, BadSetting> {
        let bad = |why: String| BadSetting::BadValue { path: "deviation".to_owned(), why };
        let (name, value) = match text.split_once(':') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let Some(deviation) = Deviation::named(name) else {
            let want = one_of(name, Deviation::all().map(Deviation::name));
            return Err(bad(format!("there is no deviation `{name}`: want {want}")));
        };
        deviation.switched(value).map_err(bad)
    }
}

impl Serialize for Switched {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Switched {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Switched, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Switched {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "deviation".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "a deviation by name, with its value where it takes one: drop_leaks:3",
            "pattern": r"^[a-z_]+(:[0-9]+)?$",
        })
    }
}
