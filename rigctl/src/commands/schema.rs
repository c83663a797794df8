//! `rigctl schema`: the JSON Schema of a kind of file.

use crate::cli::{SchemaArgs, SchemaKind};
use crate::stdout;
use rig_reports::Exit;

/// Prints it.
pub fn schema(args: &SchemaArgs) -> Exit {
    let schema = match args.kind {
        SchemaKind::Testcase => rig_testcases::schema(&rig_oracle::measure::Registry),
        SchemaKind::Lab => rig_lab::schema_lab(),
        SchemaKind::Dut => rig_lab::schema_dut(),
        SchemaKind::Results => rig_reports::results::schema(),
    };
    let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    stdout::json(&text);
    Exit::Passed
}
