//! What a measure may be told, out of the vocabulary.

use super::{list, object, of, to};
use crate::vocabulary::{Entry, Field, Kind, Need, Vocabulary, WINDOW};
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

fn kind(kind: Kind) -> Value {
    let words = |words: Vec<&str>| json!({ "enum": words });
    match kind {
        Kind::Storm | Kind::Stream | Kind::Flow | Kind::OneStorm | Kind::OneSearched => to("name"),
        Kind::Ports => to("ports"),
        Kind::OnePort => to("port"),
        Kind::Streams | Kind::Flows => list("name"),
        Kind::SomeStreams | Kind::Searched => to("names"),
        Kind::Class => to("class"),
        Kind::Duration | Kind::Interval => to("duration"),
        Kind::Amount => to("amount"),
        Kind::Rate => of::<L2Rate>(),
        Kind::Share => of::<Ppm>(),
        Kind::Whole(_) => json!({ "type": "integer", "minimum": 1 }),
        Kind::Word(all) => words(all.to_vec()),
        Kind::Wanted(all) => words(all.iter().map(|(word, _)| *word).collect()),
        Kind::Count => json!({ "enum": ["none", "some", "all", 0] }),
        Kind::Windows => json!({ "type": "array", "minItems": 2, "items": told(&WINDOW) }),
    }
}
