//! Reading a profile. The keys of `declared:` are those of the configuration types themselves, read off a complete
//! profile, so that a new field is at once a key of the file.

use crate::fault::one_of;
use crate::walk::{At, Fields};
use crate::yaml::{Node, Value};
use crate::{BadSetting, Declared, Kind, Mutation, Profile, Rule, RuleFamily, Setting, bundled};
use serde_json::Value as Json;

/// Reads a whole profile; `None` when a fault was noted.
pub(crate) fn profile(at: &At<'_>) -> Option<Profile> {
    let fields = at.fields(&["name", "about", "kind", "asic", "rule", "declared", "actual"])?;
    let line = |name: &str| {
        fields
            .need(name, "one line for people")
            .and_then(|at| at.text("one line"))
            .map(str::to_owned)
    };
    let name = fields.need("name", NAME).and_then(|at| name(&at));
    let (about, asic) = (line("about"), line("asic"));
    let kind = fields.need("kind", &Kind::wanted()).and_then(|at| at.choice(&Kind::NAMES));
    let rule = match kind {
        Some(kind) if !kind.is_guarded() => unguarded(kind, &fields),
        _ => fields.need("rule", "{family: broadcom, version: ...}").and_then(|at| rule(&at)),
    };
    let of_kind = kind.unwrap_or(Kind::Switch);
    let declared = fields.need("declared", "the configuration");
    let declared = declared.and_then(|at| declared_of(of_kind, &at));
    let mut profile = Profile::new(name?, about?, kind?, asic?, rule?, declared?);
    if let Some(at) = fields.get("actual") {
        actual(&at, &mut profile);
    }
    Some(profile)
}

const NAME: &str = "a name in lower case with dashes, such as broadcom-100g";

/// A name in lower case with dashes.
fn name(at: &At<'_>) -> Option<String> {
    let text = at.text(NAME)?;
    if crate::is_name(text) {
        return at.is_short(text).then(|| text.to_owned());
    }
    at.wrong(NAME);
    None
}

fn rule(at: &At<'_>) -> Option<Rule> {
    let fields = at.fields(&["family", "version"])?;
    let family =
        fields.need("family", "a rule family").and_then(|at| at.choice(&RuleFamily::NAMES));
    let version = fields
        .need("version", "where the rule was read or recorded")
        .and_then(|at| at.text("where the rule was read or recorded"));
    Some(Rule { family: family?, version: version?.to_owned() })
}

/// The rule of a device without a watchdog: whatever it is, nothing follows from it.
fn unguarded(kind: Kind, fields: &Fields<'_>) -> Option<Rule> {
    if let Some(at) = fields.get("rule") {
        let of = kind.called();
        at.fault(format!("a watchdog rule of {of}"), format!("no `rule`: {of} has no watchdog"));
        return None;
    }
    Some(Rule { family: RuleFamily::Broadcom, version: "none".to_owned() })
}

/// Values that are given as a whole although they are mappings: their keys are data.
const WHOLE: [&str; 2] = ["qos.dscp_to_tc", "qos.dscp_to_color"];

fn declared_of(kind: Kind, at: &At<'_>) -> Option<Declared> {
    let pattern = match pattern() {
        Ok(pattern) => pattern,
        Err(why) => {
            at.fault(format!("the bundled pattern is broken: {why}"), "a complete bundled profile");
            return None;
        }
    };
    let tree = serde_json::to_value(&pattern).unwrap_or_default();
    let mut reading = Reading { declared: pattern, whole: true, kind };
    reading.mapping(at, &tree, "");
    reading.whole.then_some(reading.declared)
}

/// A complete configuration: what keys there are, and of what form their values.
///
/// # Errors
/// Never, unless the bundled profile is broken; says how.
pub fn pattern() -> Result<Declared, String> {
    let broken = |faults: Vec<crate::Fault>| {
        faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let tree = bundled::pattern().parse().map_err(broken)?.json();
    let declared = tree.get("declared").cloned().unwrap_or_default();
    serde_json::from_value(declared).map_err(|e| e.to_string())
}

/// Reads single settings: a mapping in the form of `declared:`, of which any part may be there, or dotted paths. Each is
/// held against `pattern`, so that an unknown path or a value that does not fit is noted where it stands.
pub fn settings<'w>(at: &At<'w>, pattern: &Declared) -> Vec<(Setting, At<'w>)> {
    below("", at, pattern)
}

/// Reads the settings below one key of such a mapping.
pub fn below<'w>(path: &str, at: &At<'w>, pattern: &Declared) -> Vec<(Setting, At<'w>)> {
    let form = serde_json::to_value(pattern).unwrap_or_default();
    let keys = path.split('.').filter(|key| !key.is_empty());
    let form = keys.fold(&form, |form, key| form.get(key).unwrap_or(&Json::Null));
    if !form.is_object() || WHOLE.contains(&path) {
        let setting = Setting { path: path.to_owned(), value: plain(at.node, path) };
        return match pattern.with(&setting) {
            Ok(_) => vec![(setting, at.clone())],
            Err(bad) => {
                refused(at, &bad);
                Vec::new()
            }
        };
    }
    let entries = at.entries("settings in the form of a profile's `declared:`").unwrap_or_default();
    let each = entries.into_iter().map(|(key, value)| {
        let path = if path.is_empty() { key.name.clone() } else { format!("{path}.{}", key.name) };
        below(&path, &value, pattern)
    });
    each.collect::<Vec<_>>().concat()
}

struct Reading {
    declared: Declared,
    whole: bool,
    kind: Kind,
}

impl Reading {
    /// Reads a mapping whose keys are those of `pattern`.
    fn mapping(&mut self, at: &At<'_>, pattern: &Json, path: &str) {
        let form = match pattern {
            Json::Object(form) if !WHOLE.contains(&path) => form,
            _ => return self.leaf(at, path),
        };
        let below = |key: &str| match path {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        };
        // What may be absent is absent from the pattern, too, when it is not set there.
        let unset = Declared::OPTIONAL.iter().filter_map(|optional| {
            let (parent, key) = optional.rsplit_once('.')?;
            (parent == path && !form.contains_key(key)).then_some(key)
        });
        let all = form.keys().map(String::as_str).chain(unset);
        let known: Vec<&str> = all.filter(|key| !path.is_empty() || self.kind.has(key)).collect();
        let Some(fields) = at.fields(&known) else {
            self.whole = false;
            return;
        };
        for key in known {
            let form = form.get(key).unwrap_or(&Json::Null);
            match fields.get(key) {
                Some(value) => self.mapping(&value, form, &below(key)),
                None if Declared::OPTIONAL.contains(&below(key).as_str()) => {
                    self.set(at, &below(key), Json::Null);
                }
                None if Declared::OPTIONAL_PARTS.contains(&below(key).as_str()) => {
                    self.set(at, &below(key), Json::Null);
                }
                // A part of which nothing needs to be set.
                None if parts(&below(key)).next().is_some()
                    && form_is_optional(&below(key), form) =>
                {
                    for optional in parts(&below(key)) {
                        self.set(at, optional, Json::Null);
                    }
                }
                None => {
                    fields.need(key, &format!("such as {}", example(form)));
                    self.whole = false;
                }
            }
        }
    }

    fn leaf(&mut self, at: &At<'_>, path: &str) {
        let value = plain(at.node, path);
        self.set(at, path, value);
    }

    fn set(&mut self, at: &At<'_>, path: &str, value: Json) {
        match self.declared.with(&Setting { path: path.to_owned(), value }) {
            Ok(declared) => self.declared = declared,
            Err(bad) => {
                refused(at, &bad);
                self.whole = false;
            }
        }
    }
}

/// The optional values below `path`.
fn parts(path: &str) -> impl Iterator<Item = &'static str> {
    Declared::OPTIONAL
        .into_iter()
        .filter(move |optional| optional.rsplit_once('.').is_some_and(|(parent, _)| parent == path))
}

/// Whether `form` has no value that must be set.
fn form_is_optional(path: &str, form: &Json) -> bool {
    let is_optional = |key: &String| parts(path).any(|part| part == format!("{path}.{key}"));
    form.as_object().is_some_and(|form| form.keys().all(is_optional))
}

/// A value as it is set: `never` unsets what may be unset.
pub fn plain(node: &Node, path: &str) -> Json {
    match &node.value {
        Value::Text(text) if text == "never" && Declared::OPTIONAL.contains(&path) => Json::Null,
        _ => node.json(),
    }
}

/// Notes what the configuration objects to.
pub fn refused(at: &At<'_>, bad: &BadSetting) {
    match bad {
        BadSetting::UnknownPath { path, near } => {
            let want = match near.as_slice() {
                [] => "a path below `declared:` of a DUT profile".to_owned(),
                near => near.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(" or "),
            };
            at.at_key(format!("there is no setting `{path}`"), want);
        }
        BadSetting::BadValue { why, .. } => {
            let (found, want) = apart(why);
            at.naming(&found).fault(found, want);
        }
    }
}

/// The two halves of what serde or a quantity says: what stands there, and what is wanted.
fn apart(why: &str) -> (String, String) {
    if let Some((found, want)) = why.split_once(": want ") {
        return (found.to_owned(), want.to_owned());
    }
    if let Some((found, want)) = why.split_once(", expected ") {
        if let Some(word) =
            found.strip_prefix("unknown variant `").and_then(|w| w.strip_suffix('`'))
        {
            let list: Vec<&str> = want.split('`').skip(1).step_by(2).collect();
            return (format!("unknown word `{word}`"), one_of(word, list.into_iter()));
        }
        let found = found.replace("invalid type: ", "").replace("invalid value: ", "");
        let found = found.replace("integer `", "the bare number `").replace("string ", "");
        let want = match want {
            "u8" | "u16" => "a whole number",
            "u32" => "a whole number from 0 to 4294967295",
            "u64" => "a whole number from 0 to 18446744073709551615",
            "a boolean" => "true or false",
            other => other,
        };
        return (format!("{found} is not what belongs here"), want.to_owned());
    }
    (why.to_owned(), "a value that fits".to_owned())
}

/// A value of the pattern, as it would be written.
fn example(form: &Json) -> String {
    match form {
        Json::String(text) => text.clone(),
        Json::Object(fields) => format!("{{{}: ...}}", fields.keys().next().map_or("", |k| k)),
        other => other.to_string(),
    }
}

fn actual(at: &At<'_>, profile: &mut Profile) {
    let Some(fields) = at.fields(&["overrides", "deviations"]) else { return };
    let overrides = fields.get("overrides").and_then(|at| at.entries("a mapping of PATH: VALUE"));
    for (key, at) in overrides.unwrap_or_default() {
        let value = match &at.node.value {
            Value::Text(text) | Value::Real(text) => text.clone(),
            Value::Null => "never".to_owned(),
            Value::Bool(b) => b.to_string(),
            Value::Whole(n) => n.to_string(),
            Value::List(_) | Value::Map(_) => {
                at.wrong("one value, absolute (223ms) or relative (x1.1, +10ms, -10ms)");
                continue;
            }
        };
        let mutation = Mutation::Override { path: key.name.clone(), value };
        if let Err(bad) = profile.mutate(&mutation) {
            refused(&at, &bad);
        }
    }
    const WANT: &str = "a list of names of deviations, such as [drop_leaks:3]";
    let listed = fields.get("deviations").and_then(|at| at.list(WANT));
    for at in listed.unwrap_or_default() {
        let Some(text) = at.text("the name of a deviation") else { continue };
        match text.parse() {
            Ok(switched) => {
                // A deviation has no value that could fail to fit: `mutate` refuses overrides only.
                let _ = profile.mutate(&Mutation::Deviation(switched));
            }
            Err(bad) => refused(&at, &bad),
        }
    }
}
