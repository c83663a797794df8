//! Rows against the types of the configuration, as their JSON Schema describes them, and against one another.

use super::*;
use crate::Nics;
use crate::declared::{BlueNics, Router};
use crate::field::Holds;
use crate::sample::{sample, value};
use crate::settings::Setting;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value as Json;

/// The form of a configuration, every definition in its place.
fn form<T: JsonSchema>() -> Json {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// Every path of every kind of device, as [`leaves`] tells it.
fn real() -> Vec<(String, Json, bool)> {
    let mut real: Vec<(String, Json, bool)> = Vec::new();
    for form in [form::<Switch>(), form::<Nics>(), form::<Router>(), form::<BlueNics>()] {
        let mut own = Vec::new();
        leaves(&form, "", &mut own);
        own.retain(|(path, ..)| real.iter().all(|(known, ..)| known != path));
        real.append(&mut own);
    }
    real
}

/// Every path of `form` with its own form, down to where a row stands.
fn leaves(form: &Json, path: &str, all: &mut Vec<(String, Json, bool)>) {
    let needed: Vec<&str> =
        form["required"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    for (key, below) in form["properties"].as_object().expect("a mapping") {
        let path = join(path, key);
        if field(&path).is_none() && below["properties"].is_object() {
            leaves(below, &path, all);
        } else {
            all.push((path, below.clone(), needed.contains(&key.as_str())));
        }
    }
}

#[test]
fn every_path_of_the_configuration_has_exactly_one_row_and_every_row_a_path() {
    let mut real: Vec<String> = real().into_iter().map(|(path, ..)| path).collect();
    real.sort();
    assert_eq!(paths(), real);
}

/// What a form holds, told from its schema alone.
fn holds(form: &Json) -> Holds {
    let (ty, number) = (form["type"].to_string(), form["format"].as_str().unwrap_or_default());
    let whole = form.to_string();
    if whole.contains("\"typ\"") {
        return Holds::Range;
    }
    match form["pattern"].as_str().unwrap_or_default() {
        pattern if pattern.contains("ms|s)") => Holds::Time,
        pattern if pattern.contains("KiB") => Holds::Size,
        pattern if pattern.contains("ppm") => Holds::Chance,
        pattern if pattern.contains("L2") => Holds::Rate,
        pattern if pattern.ends_with("q$") => Holds::Quanta,
        _ if ty.contains("array") => Holds::List,
        _ if ty.contains("boolean") => Holds::Switch,
        _ if number == "int8" => Holds::Exponent,
        _ if number.starts_with("uint") => Holds::Count,
        _ if whole.contains("additionalProperties") => Holds::Whole,
        _ if whole.contains("\"integer\"") => Holds::Count,
        _ if whole.contains("\"const\":") || whole.contains("\"enum\":") => Holds::Word,
        _ => Holds::Name,
    }
}

#[test]
fn a_row_says_what_its_field_holds_and_whether_it_must_be_there() {
    for (path, form, needed) in real() {
        let row = field(&path).expect("every path has a row");
        assert_eq!(holds(&form), row.holds, "{path}: {form}");
        assert_eq!(needed, !row.is_optional(), "{path}");
    }
}

#[test]
fn a_sample_of_each_kind_can_be_made_and_set_to_what_each_row_says() {
    for (_, kind) in Kind::NAMES {
        let sample = sample(kind).expect("rows that fit");
        for path in paths().into_iter().filter(|path| sample.get(path).is_some()) {
            let Some(such_as) = must_be(&path) else { continue };
            let setting = Setting { path, value: value(&such_as) };
            assert!(sample.with(&setting).is_ok(), "{setting:?}");
        }
    }
}

#[test]
fn every_mutant_of_a_row_fits_it_and_words_and_switches_say_what_is_tried() {
    let sample = sample(Kind::Nic).expect("rows that fit");
    for (path, field) in all() {
        for value in field.mutants() {
            assert!(sample.overridden(&path, value).is_ok(), "{path}={value}");
        }
        if matches!(field.holds, Holds::Switch | Holds::Word) {
            assert!(!field.mutants().is_empty(), "{path}");
        }
    }
}

#[test]
fn a_value_in_a_whole_one_belongs_to_its_row() {
    for (path, row) in [
        ("wred.red.kmin", Some("red")),
        ("wred.red", Some("red")),
        ("qos.dscp_to_tc.3", Some("dscp_to_tc")),
        ("nic.np.interval", Some("interval")),
        ("wred.redd", None),
        ("wred", None),
        ("", None),
    ] {
        assert_eq!(field(path).map(|field| field.name), row, "{path}");
    }
    assert!(is_optional("wred.red") && !is_optional("wred.red.kmin"));
}

#[test]
fn a_part_that_may_be_off_need_not_be_there_and_another_must() {
    let must = ["", "macsec", "peer", "watermark", "nic", "nic.np", "mtu", "pfc.emission"];
    let said = must.map(|path| must_be(path).unwrap_or_default());
    let want = ["{ports: ...}", "", "", "", "{generation: ...}", "{enable: ...}", "9122B", ""];
    assert_eq!(said, want);
    assert_eq!(keys(Some(Kind::Nic), ""), ["ports", "mtu", "clock", "nic", "peer"]);
    assert_eq!(keys(Some(Kind::Router), ""), ["ports", "mtu", "clock", "forwarding_delay"]);
    assert_eq!(
        keys(None, "nic"),
        ["generation", "np", "rp", "rc", "receive", "pfc", "host", "ets", "estats"]
    );
    assert_eq!(keys(None, "macsec.enable"), [""; 0]);
}
