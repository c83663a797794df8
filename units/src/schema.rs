//! JSON Schema of a quantity that is written as a string.

use schemars::{Schema, json_schema};

/// A string with a pattern, so that an editor underlines `200 msec` before a run does.
pub(crate) fn pattern(description: &str, pattern: &str) -> Schema {
    json_schema!({ "type": "string", "description": description, "pattern": pattern })
}
