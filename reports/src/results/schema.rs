//! JSON Schema of `results.json`.

use super::{FORMAT, Results};
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// The schema of what [`Results::to_json`] writes.
pub fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Results>().to_value();
    schema["title"] = json!("results.json of rigctl");
    schema["properties"]["format"] = json!({ "const": FORMAT });
    schema
}
