//! The waits of a sender whose timer adapts: a list in place of one time.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How long a sender waits before each try that follows another without progress, in sixteenths of what its timeout says: one number for each, and the last
/// for all that follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adaptive(pub [u8; Adaptive::MOST]);

impl Adaptive {
    const MOST: usize = 8;
    const WANT: &str =
        "one to eight numbers from 1 to 255, in sixteenths of the timeout: [1, 2, 4, 6, 16, 32]";

    /// The longest of its waits, in whole timeouts, rounded up.
    pub(crate) fn longest(&self) -> u64 {
        u64::from(self.0.iter().copied().max().unwrap_or(16)).div_ceil(16)
    }
}

impl Serialize for Adaptive {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let last = self.0[Adaptive::MOST - 1];
        let repeats = self.0.iter().rev().take_while(|wait| **wait == last).count();
        self.0[..=Adaptive::MOST - repeats].serialize(s)
    }
}

impl<'de> Deserialize<'de> for Adaptive {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Adaptive, D::Error> {
        let list = Vec::<u8>::deserialize(d)?;
        let last = list.last().copied().filter(|_| list.len() <= Adaptive::MOST);
        let Some(last) = last.filter(|_| !list.contains(&0)) else {
            return Err(D::Error::custom(format!("want {}", Adaptive::WANT)));
        };
        let mut waits = [last; Adaptive::MOST];
        waits[..list.len()].copy_from_slice(&list);
        Ok(Adaptive(waits))
    }
}

impl schemars::JsonSchema for Adaptive {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Adaptive".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": Adaptive::WANT,
            "type": "array",
            "items": { "type": "integer", "minimum": 1, "maximum": 255 },
            "minItems": 1,
            "maxItems": Adaptive::MOST,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_try_has_its_number_and_all_that_follow_have_the_last() {
        let adaptive: Adaptive = serde_json::from_str("[1,2,33]").unwrap();
        assert_eq!(adaptive.0, [1, 2, 33, 33, 33, 33, 33, 33]);
        assert_eq!(adaptive.longest(), 3);
        for list in ["[1,2,33]", "[7]", "[1,2,3,4,5,6,7,8]"] {
            let adaptive: Adaptive = serde_json::from_str(list).unwrap();
            assert_eq!(serde_json::to_string(&adaptive).unwrap(), list);
        }
        for wrong in ["[]", "[0]", "[256]", "[1,1,1,1,1,1,1,1,1]", "7"] {
            assert!(serde_json::from_str::<Adaptive>(wrong).is_err(), "{wrong}");
        }
    }
}
