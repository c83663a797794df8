//! What a measure may be told, out of the vocabulary.

use super::{list, object, of, to};
use crate::vocabulary::{Entry, Field, Need, ValueKind, Vocabulary, WINDOW};
use rig_units::{L2Rate, Ppm};
use serde_json::{Map, Value, json};

pub(super) fn measure(vocabulary: &dyn Vocabulary) -> Value {
    let entry = |entry: &&'static Entry| {
        let mut schema = told(entry.fields);
        schema["description"] = json!(format!("{} ({})", entry.about, entry.source));
        (entry.name.to_owned(), schema)
    };
    let all: Map<String, Value> = vocabulary.entries().iter().map(entry).collect();
    let mut measure = object(&all.into(), &[]);
    measure["minProperties"] = json!(1);
    measure["maxProperties"] = json!(1);
    measure
}

/// A mapping with these keys.
fn told(fields: &[Field]) -> Value {
    let property = |field: &Field| {
        let mut schema = kind(field.kind);
        // What a quantity says of itself tells how it is written.
        if schema.get("description").is_none() {
            schema["description"] = json!(field.about);
        }
        (field.key.to_owned(), schema)
    };
    let all: Map<String, Value> = fields.iter().map(property).collect();
    let required = fields.iter().filter(|field| matches!(field.need, Need::Required(_)));
    let required: Vec<&str> = required.map(|field| field.key).collect();
    object(&all.into(), &required)
}

fn kind(kind: ValueKind) -> Value {
    let words = |words: Vec<&str>| json!({ "enum": words });
    match kind {
        ValueKind::Storm
        | ValueKind::Stream
        | ValueKind::Flow
        | ValueKind::OneStorm
        | ValueKind::OneSearched => to("name"),
        ValueKind::Ports => to("ports"),
        ValueKind::OnePort => to("port"),
        ValueKind::Streams | ValueKind::Flows => list("name"),
        ValueKind::SomeStreams | ValueKind::Searched => to("names"),
        ValueKind::Class => to("class"),
        ValueKind::Duration | ValueKind::Interval => to("duration"),
        ValueKind::Amount => to("amount"),
        ValueKind::Rate => of::<L2Rate>(),
        ValueKind::Share => of::<Ppm>(),
        ValueKind::Whole(_) => json!({ "type": "integer", "minimum": 1 }),
        ValueKind::Word(all) => words(all.to_vec()),
        ValueKind::Wanted(all) => words(all.iter().map(|(word, _)| *word).collect()),
        ValueKind::Count => json!({ "enum": ["none", "some", "all", 0] }),
        ValueKind::Windows => json!({ "type": "array", "minItems": 2, "items": told(&WINDOW) }),
    }
}
