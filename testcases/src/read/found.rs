//! `found:`, what a case takes as it finds it on a device that nobody can configure.

use crate::found::Accepts;
use indexmap::IndexMap;
use rig_lab::field::Holds;
use rig_lab::fields;
use rig_lab::walk::At;
use rig_lab::yaml::Value;
use rig_lab::{Declared, Setting, declare, settings};

const FORM: &str = "settings in the form of a profile's `declared:`";
const WANT: &str = "any, in-proportion, as-set or a range such as {min: 100ms, max: 400ms} with one of them or both";

/// Reads the blocks, a later one over an earlier one. Whatever the last one names is among `set`: what the case sets or sweeps.
pub(super) fn found(
    blocks: &[At<'_>],
    own: Option<&At<'_>>,
    pattern: &Declared,
    set: &[&str],
) -> Option<IndexMap<String, Accepts>> {
    let mut all = IndexMap::new();
    let mut whole = true;
    for at in blocks {
        whole &= below("", at, pattern, &mut |path, _, accepts| match accepts {
            Some(accepts) if set.contains(&path) => {
                all.insert(path.to_owned(), accepts);
            }
            _ => {
                all.shift_remove(path);
            }
        });
    }
    if let Some(at) = own {
        whole &= below("", at, pattern, &mut |path, at, _| {
            if !set.contains(&path) {
                let found = format!("`{path}` is found, and the case does not set it");
                at.at_key(found, "a setting of its `dut:` or its `sweep:`");
            }
        });
    }
    whole.then_some(all)
}

/// Hands each setting on that stands at `path` or below it; whether all of it can be read.
fn below(
    path: &str,
    at: &At<'_>,
    pattern: &Declared,
    each: &mut dyn FnMut(&str, &At<'_>, Option<Accepts>),
) -> bool {
    if let Some(field) = fields::field(path) {
        if !field.by_case {
            at.at_key(format!("no case sets `{path}`"), "a setting that a case may make");
            return false;
        }
        let accepts = accepts(path, field.holds, at, pattern);
        return accepts.map(|accepts| each(path, at, accepts)).is_some();
    }
    if fields::keys(None, path).is_empty() {
        // There is no such setting, which this says where it stands.
        declare::below(path, at, pattern);
        return false;
    }
    let Some(entries) = at.entries(FORM) else { return false };
    let mut whole = true;
    for (key, at) in entries {
        let path = if path.is_empty() { key.name.clone() } else { format!("{path}.{}", key.name) };
        whole &= below(&path, &at, pattern, each);
    }
    whole
}

/// What may be found; `None` within: nothing but what is set, whatever an earlier block says.
fn accepts(path: &str, holds: Holds, at: &At<'_>, pattern: &Declared) -> Option<Option<Accepts>> {
    match &at.node.value {
        Value::Text(word) if word == "as-set" => Some(None),
        Value::Text(word) if word == "any" => Some(Some(Accepts::Any)),
        Value::Text(word) if word == "in-proportion" => {
            let goes = matches!(holds, Holds::Time | Holds::Size | Holds::Exponent);
            if !goes {
                at.fault(
                    format!("`{path}` is no length of time and no size"),
                    "any, or a range: nothing goes with it",
                );
            }
            goes.then_some(Some(Accepts::InProportion))
        }
        Value::Map(_) => {
            let fields = at.fields(&["min", "max"])?;
            let end = |name: &str| fields.maybe(name, |at| number(path, &at, pattern));
            let (least, most) = (end("min"), end("max"));
            let (least, most) = (least?, most?);
            if least.is_none() && most.is_none() {
                at.wrong(WANT);
                return None;
            }
            let of = |end: &Option<serde_json::Value>| {
                end.as_ref().and_then(|end| settings::number(path, end))
            };
            if let (Some(low), Some(high)) = (of(&least), of(&most))
                && low > high
            {
                at.fault("a range that holds nothing", "a `min` up to its `max`");
                return None;
            }
            Some(Some(Accepts::Within { least, most }))
        }
        _ => {
            at.wrong(WANT);
            None
        }
    }
}

/// A value of the setting that can be compared.
fn number(path: &str, at: &At<'_>, pattern: &Declared) -> Option<serde_json::Value> {
    let value = declare::plain(at.node, path);
    let setting = Setting { path: path.to_owned(), value: value.clone() };
    if let Err(bad) = pattern.with(&setting) {
        declare::refused(at, &bad);
        return None;
    }
    if settings::number(path, &value).is_none() {
        at.fault(format!("`{path}` has no order"), "any");
        return None;
    }
    Some(value)
}
