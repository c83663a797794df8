//! The schemas in `docs/schema` are the ones of this program, the repository's files keep to them, and their keys are
//! those that the reader takes.

use rig_lab::yaml::Source;
use rig_oracle::measure::Registry;
use rig_testcases::schema;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn schemas() -> [(&'static str, Value); 3] {
    [
        ("testcase", schema(&Registry)),
        ("lab", rig_lab::schema_lab()),
        ("dut", rig_lab::schema_dut()),
    ]
}

/// With `RIG_WRITE_SCHEMAS=1` they are written instead.
#[test]
fn the_committed_schemas_are_current() {
    for (name, schema) in schemas() {
        let path = root().join(format!("docs/schema/{name}.json"));
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("RIG_WRITE_SCHEMAS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == text,
            "{} is not current: RIG_WRITE_SCHEMAS=1 writes it",
            path.display()
        );
    }
}

fn yaml(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|ext| ext == "yaml")).collect()
}

#[test]
fn the_files_of_the_repository_keep_to_their_schemas_and_name_them() {
    let [(_, testcase), (_, lab), (_, dut)] = schemas();
    let kinds = [
        ("testcases", "../docs/schema/testcase.json", testcase),
        ("lab-configs", "../docs/schema/lab.json", lab),
        ("lab-configs/duts", "../../docs/schema/dut.json", dut),
    ];
    let mut files = 0;
    for (folder, name, schema) in kinds {
        for path in yaml(folder) {
            let text = std::fs::read_to_string(&path).unwrap();
            let first = format!("# yaml-language-server: $schema={name}");
            assert_eq!(text.lines().next(), Some(first.as_str()), "{}", path.display());
            let value = Source::new("x.yaml", &text).parse().unwrap().json();
            let mut wrong = Vec::new();
            check(&schema, &schema, &value, "", &mut wrong);
            assert!(wrong.is_empty(), "{}: {wrong:?}", path.display());
            files += 1;
        }
    }
    assert!(files > 15, "{files}");
}

#[test]
fn a_field_that_a_part_needs_is_underlined_unless_the_profile_extends_another() {
    let schema = rig_lab::schema_dut();
    let wrong = |text: &str| {
        let value = Source::new("x.yaml", text).parse().unwrap().json();
        let mut wrong = Vec::new();
        check(&schema, &schema, &value, "", &mut wrong);
        wrong
    };
    let without = |key: &str, file: &str| {
        let text = std::fs::read_to_string(root().join("lab-configs/duts").join(file)).unwrap();
        let kept = text.lines().filter(|line| !line.trim().starts_with(key));
        kept.map(|line| format!("{line}\n")).collect::<String>()
    };
    let switch = without("refresh:", "broadcom.yaml");
    assert_eq!(wrong(&switch), [".declared.pfc: refresh is missing"]);
    assert_eq!(wrong(&switch.replace("kind:", "extends: mellanox\nkind:")), [""; 0]);
    assert_eq!(wrong(&without("retries:", "gen1.yaml")), [".declared.nic.rc: retries is missing"]);
    assert_eq!(wrong(&without("-", "gen1.yaml")), [""; 0]);
}

/// What of JSON Schema these schemas use, patterns left out.
fn check(root: &Value, schema: &Value, value: &Value, path: &str, wrong: &mut Vec<String>) {
    let mut note = |what: &str| wrong.push(format!("{path}: {what}"));
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(reference.trim_start_matches('#')).expect("a definition");
        return check(root, target, value, path, wrong);
    }
    for key in ["anyOf", "oneOf"] {
        let Some(all) = schema.get(key).and_then(Value::as_array) else { continue };
        let fits = |one: &Value| {
            let mut wrong = Vec::new();
            check(root, one, value, path, &mut wrong);
            wrong.is_empty()
        };
        if !all.iter().any(fits) {
            note("none of the alternatives");
        }
    }
    if let Some(condition) = schema.get("if") {
        let mut unmet = Vec::new();
        check(root, condition, value, path, &mut unmet);
        let branch = if unmet.is_empty() { "then" } else { "else" };
        schema.get(branch).into_iter().for_each(|one| check(root, one, value, path, wrong));
    }
    for one in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        check(root, one, value, path, wrong);
    }
    let mut note = |what: &str| wrong.push(format!("{path}: {what}"));
    if let Some(all) = schema.get("enum").and_then(Value::as_array)
        && !all.contains(value)
    {
        note("not in the list");
    }
    if schema.get("const").is_some_and(|only| only != value) {
        note("not the constant");
    }
    let types =
        schema.get("type").map(|of| of.as_array().cloned().unwrap_or_else(|| vec![of.clone()]));
    let is = |of: &Value| match of.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        // The YAML reader keeps the digits of what is not whole.
        Some("number") => {
            value.is_number() || value.as_str().is_some_and(|text| text.parse::<f64>().is_ok())
        }
        Some("boolean") => value.is_boolean(),
        _ => value.is_null(),
    };
    if types.is_some_and(|types| !types.iter().any(is)) {
        note("of another type");
    }
    if let Some(items) = schema.get("items") {
        for (i, value) in value.as_array().into_iter().flatten().enumerate() {
            check(root, items, value, &format!("{path}[{i}]"), wrong);
        }
    }
    let fields = value.as_object().into_iter().flatten();
    let dotted = schema.get("patternProperties").is_some();
    for (key, value) in fields {
        let path = format!("{path}.{key}");
        match (schema.pointer(&format!("/properties/{key}")), schema.get("additionalProperties")) {
            (Some(schema), _) => check(root, schema, value, &path, wrong),
            (None, _) if dotted && key.contains('.') => {}
            (None, _) if dotted && key.parse::<u8>().is_ok() => {}
            (None, Some(Value::Bool(false))) => wrong.push(format!("{path}: no such key")),
            (None, Some(schema)) => check(root, schema, value, &path, wrong),
            (None, None) => {}
        }
    }
    for key in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        let key = key.as_str().unwrap_or_default();
        if value.is_object() && value.get(key).is_none() {
            wrong.push(format!("{path}: {key} is missing"));
        }
    }
}

/// The keys that the reader lists when it meets one that it does not know.
fn taken(text: &str) -> BTreeSet<String> {
    let faults = rig_testcases::read::suite(&Source::new("t.yaml", text), &Registry).unwrap_err();
    let fault = faults.iter().find(|fault| fault.found.contains("`zz`")).expect("zz is no key");
    let list = fault.want.trim_start_matches("one of ").split(';').next().unwrap_or_default();
    let words = list.split(", ").map(|word| word.trim_matches('`').to_owned());
    words.filter(|word| !word.is_empty()).collect()
}

#[test]
fn the_keys_of_the_schema_are_those_that_the_reader_takes() {
    let schema = schema(&Registry);
    let keys = |pointer: &str| -> BTreeSet<String> {
        let properties = schema.pointer(pointer).and_then(Value::as_object).expect(pointer);
        properties.keys().cloned().collect()
    };
    let case = |inside: &str| format!("about: x\ndevice: switch\ncases: {{a: {{{inside}}}}}");
    let measure = |name: &str| {
        (case(&format!("measure: [{{{name}: {{zz: 1}}}}]")), format!("measure/properties/{name}"))
    };
    let of_case = |inside: &str, name: &str| (case(inside), name.to_owned());
    let mut all = vec![
        of_case("zz: 1", "case"),
        of_case("streams: {s: {zz: 1}}", "stream"),
        of_case("storms: {s: {zz: 1}}", "storm"),
        of_case(
            "streams: {s: {from: p1, to: p2, class: 3, kind: udp, size: 64B, every: 1ms}}, endpoints: {p1: {zz: 1}}, \
             why: x, source: [x], steps: [{at: 0s, start: s}], measure: [{loss: {stream: s}}]",
            "endpoint",
        ),
        of_case("steps: [{zz: 1}]", "step"),
        of_case("steps: [{at: 1s, pfc: {zz: 1}}]", "step/properties/pfc"),
        of_case("length: {zz: 1}", "amount/anyOf/2"),
        of_case("sweep: {v: {zz: 1}}", "sweep/additionalProperties/anyOf/1"),
        of_case("expect: {zz: 1}", "case/properties/expect/anyOf/1"),
        of_case("kills: {zz: 1}", "case/properties/kills"),
        ("about: x\ndevice: switch\nsetup: {zz: 1}\ncases: {}".to_owned(), "setup".to_owned()),
    ];
    let of_nic = |inside: &str, name: &str| {
        (format!("about: x\ndevice: nic\ncases: {{a: {{{inside}}}}}"), name.to_owned())
    };
    all.push(of_nic("streams: {s: {zz: 1}}", "to_nic"));
    let flow = |device: &str| {
        format!("about: x\ndevice: {device}\ncases: {{a: {{flows: {{s: {{zz: 1}}}}}}}}")
    };
    all.push((flow("rdma-router"), "flow".to_owned()));
    // A NIC that no containers share takes all of it but whose flow it is.
    let mut of_container = taken(&flow("rdma-router"));
    of_container.retain(|key| !taken(&flow("nic")).contains(key));
    assert_eq!(of_container, BTreeSet::from(["container".to_owned()]));
    all.push(of_nic("between: {zz: 1}", "between"));
    let narrow = "between/properties/bottleneck";
    all.push(of_nic("between: {bottleneck: {zz: 1}}", narrow));
    all.push(of_nic("between: {inject: [{zz: 1}]}", "injection"));
    all.extend(keys("/$defs/measure/properties").iter().map(|name| measure(name)));
    for (text, name) in all {
        assert_eq!(taken(&text), keys(&format!("/$defs/{name}/properties")), "{name}");
    }
    assert_eq!(taken("zz: 1"), keys("/properties"));
}
