//! What a file claims to notice: the parts that it covers, and the cases that no wrong device turns red.

use super::{line, object};
use rig_lab::Part;
use serde_json::{Value, json};

pub(super) fn covers() -> Value {
    let parts = Part::NAMES.map(|(name, _)| name);
    json!({
        "description": "the parts of a device in which a deviation must turn some case of the file red; absent: all",
        "anyOf": [
            { "const": "none" },
            { "enum": parts },
            { "type": "array", "minItems": 1, "items": { "enum": parts } },
        ],
    })
}

pub(super) fn kills() -> Value {
    let mut kills = object(
        &json!({
            "none": line("why none can"),
            "tried": line("the mutant that was tried by hand, as behind --mutate"),
        }),
        &["none", "tried"],
    );
    kills["description"] =
        json!("of a void measurement or a refusal alone: no wrong device turns the case red");
    kills
}
