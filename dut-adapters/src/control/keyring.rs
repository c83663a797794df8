//! The keys of a lab on their way to a served device. Neither what is printed of the message nor a complaint about one shows
//! a key.

use rig_lab::{Keys, Secret};
use serde::de::Error;
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use zeroize::{Zeroize as _, Zeroizing};

/// Keys as they travel: `{"saks":["...", ...],"salt":"..."}` in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyring(pub Keys);

impl Serialize for Keyring {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let hex = |secret: &Secret| {
            let digits = secret.bytes().iter().flat_map(|byte| [byte >> 4, byte & 15]);
            let mut text = Zeroizing::new(String::with_capacity(secret.bytes().len() * 2));
            text.extend(digits.filter_map(|digit| char::from_digit(digit.into(), 16)));
            text
        };
        let mut fields = to.serialize_struct("Keyring", 2)?;
        let saks = self.0.saks.each_ref().map(hex);
        fields.serialize_field("saks", &saks.each_ref().map(|text| text.as_str()))?;
        fields.serialize_field("salt", hex(&self.0.salt).as_str())?;
        fields.end()
    }
}

impl<'de> Deserialize<'de> for Keyring {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Keyring, D::Error> {
        // Anything is taken in first: the reader's own complaint would quote what it did not expect.
        let mut value = Value::deserialize(from)?;
        let keys = keys(&value).map(Keyring).map_err(D::Error::custom);
        wipe(&mut value);
        keys
    }
}

/// Overwrites every text.
fn wipe(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(all) => all.iter_mut().for_each(wipe),
        Value::Object(fields) => fields.values_mut().for_each(wipe),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Keys, or what is wrong with them without saying what stands there.
fn keys(value: &Value) -> Result<Keys, String> {
    let secret = |name: &str, value: Option<&Value>, lengths: &[usize]| -> Result<Secret, String> {
        let text = value.and_then(Value::as_str).ok_or(format!("{name} is no text"))?;
        let secret = Secret::from_hex(text).map_err(|why| format!("{name}: {why}"))?;
        let len = secret.bytes().len();
        let allowed: Vec<String> = lengths.iter().map(ToString::to_string).collect();
        if lengths.contains(&len) {
            Ok(secret)
        } else {
            Err(format!("{name} has {len} bytes: want {}", allowed.join(" or ")))
        }
    };
    let saks = value.get("saks").and_then(Value::as_array).ok_or("no list of `saks`")?;
    let sak = |an: usize| secret(&format!("key {}", an + 1), saks.get(an), &Keys::LENGTHS);
    Ok(Keys {
        saks: [sak(0)?, sak(1)?, sak(2)?, sak(3)?],
        salt: secret("the salt", value.get("salt"), &[Keys::SALT])?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Order;
    use crate::protocol::{Ask, QUESTION, line, read};

    const KEY: &str = "00112233445566778899aabbccddeeff";

    fn keyring() -> Keyring {
        let secret = |text| Secret::from_hex(text).expect("hexadecimal digits");
        Keyring(Keys { saks: [KEY; 4].map(secret), salt: secret(&KEY[..24]) })
    }

    #[test]
    fn keys_arrive_as_they_were_sent_and_are_not_printed() {
        let ask = Ask::Do(Order::Key { keys: keyring() });
        let text = line(&ask);
        assert_eq!(read::<Ask>(QUESTION, &text), Ok(ask.clone()));
        let shown = format!("{ask:?}");
        assert!(shown.contains("Secret(16 bytes)") && !shown.contains("1122"), "{shown}");
    }

    #[test]
    fn a_complaint_about_keys_says_where_and_not_what() {
        let text = line(&Ask::Do(Order::Key { keys: keyring() }));
        for (from, to, want) in [
            ("ccddeeff\",\"0011", "ccddeeff99\",\"0011", "key 1 has 17 bytes: want 16 or 32"),
            ("eeff\"]", "eefg\"]", "key 4: character 32 is no hexadecimal digit"),
            ("\"salt\"", "\"sold\"", "the salt is no text"),
            ("\"saks\":[", "\"saks\":\"0011223344\",\"x\":[", "no list of `saks`"),
            ("\"saks\":[\"00", "\"saks\":[7,\"00", "key 1 is no text"),
        ] {
            let broken = text.replacen(from, to, 1);
            assert_ne!(broken, text, "{from}");
            let why = read::<Ask>(QUESTION, &broken).expect_err("broken").to_string();
            assert!(why.contains(want) && !why.contains("1122"), "{why}");
        }
    }
}
