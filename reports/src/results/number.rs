//! Whole numbers in JSON, whose readers often have no more than 53 bits: what is greater is a string of digits. `null`
//! stands for what has no limit, and for what never happened; a word beside it says which.

use core::fmt;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserializer, Serializer, de};

/// The greatest whole number up to which a 64-bit float holds every one.
const EXACT: u64 = 1 << 53;

/// A number.
pub(crate) mod whole {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        match *number {
            small @ ..=EXACT => to.serialize_u64(small),
            great => to.collect_str(&great),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        from.deserialize_any(Digits { null: false })
    }

    pub(crate) fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9]+$" })
    }
}

/// A number, or `null` for the greatest that there is.
pub(crate) mod bound {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        match *number {
            u64::MAX => to.serialize_none(),
            _ => whole::serialize(number, to),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        from.deserialize_any(Digits { null: true })
    }

    pub(crate) fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string", "null"], "minimum": 0, "pattern": "^[0-9]+$" })
    }
}

/// Of a number that may be missing.
pub(crate) fn optional_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["integer", "null"], "minimum": 0 })
}

/// Reads either form, and what `rig-results/1` wrote: any number as such.
struct Digits {
    null: bool,
}

impl de::Visitor<'_> for Digits {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number, as such or as a string of digits")?;
        if self.null { f.write_str(", or null") } else { Ok(()) }
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<u64, E> {
        text.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
    }

    fn visit_unit<E: de::Error>(self) -> Result<u64, E> {
        if self.null { Ok(u64::MAX) } else { Err(E::invalid_type(de::Unexpected::Unit, &self)) }
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Pair {
        #[serde(with = "super::whole")]
        seed: u64,
        #[serde(with = "super::bound")]
        hi: u64,
    }

    #[test]
    fn what_a_float_cannot_hold_is_a_string_and_no_limit_is_null() {
        let text = |seed, hi| serde_json::to_string(&Pair { seed, hi }).expect("plain data");
        let exact = 1 << 53;
        assert_eq!(text(exact, 7), r#"{"seed":9007199254740992,"hi":7}"#);
        assert_eq!(
            text(exact + 1, exact + 1),
            r#"{"seed":"9007199254740993","hi":"9007199254740993"}"#
        );
        assert_eq!(text(u64::MAX, u64::MAX), r#"{"seed":"18446744073709551615","hi":null}"#);
        for (seed, hi) in [(0, 0), (exact + 1, u64::MAX), (u64::MAX, exact)] {
            let pair = Pair { seed, hi };
            assert_eq!(serde_json::from_str::<Pair>(&text(seed, hi)).expect("read back"), pair);
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [r#"{"seed":null,"hi":1}"#, r#"{"seed":"ten","hi":1}"#, r#"{"seed":-1,"hi":1}"#]
        {
            assert!(serde_json::from_str::<Pair>(text).is_err(), "{text}");
        }
    }
}
