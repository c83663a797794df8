//! Reading the keys of a lab. No message shows what stands in the place of one.

use crate::keys::{Keys, Secret};
use crate::walk::At;
use crate::yaml::Value;

const KEYS: &str = "four keys, one for each association number, of 32 or 64 hexadecimal digits";
const SALT: &str = "a salt of 24 hexadecimal digits";

/// The lab's block `macsec`.
pub(super) fn read(at: &At<'_>) -> Option<Keys> {
    let Value::Map(_) = at.node.value else {
        at.fault(kind(&at.node.value), "a mapping with keys, salt");
        return None;
    };
    let fields = at.fields(&["keys", "salt"])?;
    let keys = fields.need("keys", KEYS).and_then(|at| saks(&at));
    let salt = fields.need("salt", SALT);
    let salt = salt.and_then(|at| secret(&at, &[Keys::SALT], SALT));
    Some(Keys { saks: keys?, salt: salt? })
}

fn saks(at: &At<'_>) -> Option<[Secret; 4]> {
    let Value::List(listed) = &at.node.value else {
        at.fault(format!("{}, no list of keys", kind(&at.node.value)), KEYS);
        return None;
    };
    let read: Vec<Secret> =
        at.one_or_many().iter().filter_map(|at| secret(at, &Keys::LENGTHS, KEYS)).collect();
    if listed.len() != 4 {
        let count = listed.len();
        at.fault(format!("{count} key{}", if count == 1 { "" } else { "s" }), KEYS);
        return None;
    }
    read.try_into().ok()
}

fn secret(at: &At<'_>, lengths: &[usize], want: &str) -> Option<Secret> {
    // Unquoted digits alone read as a number, which has lost leading zeros.
    let Value::Text(text) = &at.node.value else {
        let found = match &at.node.value {
            Value::Whole(_) | Value::Real(_) => "a bare number: quote a key that looks like one",
            other => kind(other),
        };
        at.fault(found, want);
        return None;
    };
    match Secret::from_hex(text) {
        Ok(secret) if lengths.contains(&secret.bytes().len()) => Some(secret),
        Ok(secret) => {
            at.fault(format!("{} hexadecimal digits", secret.bytes().len() * 2), want);
            None
        }
        Err(why) => {
            at.fault(format!("no key: {why}"), want);
            None
        }
    }
}

/// What stands there, and nothing of what it says.
const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a truth value",
        Value::Whole(_) | Value::Real(_) => "a bare number",
        Value::Text(_) => "one text",
        Value::List(_) => "a list",
        Value::Map(_) => "a mapping",
    }
}

#[cfg(test)]
mod tests;
