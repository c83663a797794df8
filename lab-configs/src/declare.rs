//! Reading a profile. The keys of `declared:` are the rows of [`fields`], so that a new field is at once a key of the file.
//! A profile that extends another says what differs: what it leaves out is the other's, but for how the other departs from what it declares.

use crate::fault::one_of;
use crate::field::Holds;
use crate::fields::{self, join};
use crate::file_kind::FileKind;
use crate::walk::{At, Fields};
use crate::yaml::{Node, Value};
use crate::{BadSetting, Declared, Kind, Mutation, Profile, Rule, RuleFamily, Setting};
use serde_json::Value as Json;

/// Reads a profile; `find` reads the one of a name, which the profile extends at that place. `None` when a fault was noted.
pub(crate) fn profile(
    at: &At<'_>,
    find: &mut dyn FnMut(&At<'_>, &str) -> Option<Profile>,
) -> Option<Profile> {
    FileKind::Profile.may_be(at).then_some(())?;
    let keys = ["name", "about", "extends", "kind", "asic", "rule", "declared", "actual"];
    let fields = at.fields(&keys)?;
    let parent = fields.maybe("extends", |at| find(&at, &name(&at)?))?;
    let line = |name: &str, want: &str| {
        fields.need(name, want).and_then(|at| at.text(want)).map(str::to_owned)
    };
    let name = fields.need("name", NAME).and_then(|at| name(&at));
    let about = line("about", "one line for people");
    let asic = match &parent {
        Some(parent) if fields.get("asic").is_none() => Some(parent.asic.clone()),
        _ => line("asic", ASIC),
    };
    let kind = match &parent {
        Some(parent) => of_its_parent(&fields, parent.kind),
        None => fields
            .need("kind", &Kind::wanted(Kind::OF_PROFILES))
            .and_then(|at| at.choice(Kind::OF_PROFILES)),
    };
    let rule = match (kind, &parent) {
        (Some(kind), _) if !kind.is_guarded() => unguarded(kind, &fields),
        (_, Some(parent)) if fields.get("rule").is_none() => Some(parent.rule.clone()),
        _ => fields
            .need("rule", "{family: broadcom, version: ...}, or none without a watchdog")
            .and_then(
                |at| if at.node.written() == NO_RULE { Some(None) } else { rule(&at).map(Some) },
            ),
    };
    let of_kind = kind.unwrap_or(Kind::Switch);
    let declared = match (fields.get("declared"), parent.map(|parent| parent.declared)) {
        (None, Some(declared)) => Some(declared),
        (_, parent) => fields
            .need("declared", "the configuration")
            .and_then(|at| declared_of(of_kind, parent, &at)),
    };
    let mut profile = Profile::new(name?, about?, kind?, asic?, rule?, declared?);
    if let Some(at) = fields.get("actual") {
        actual(&at, &mut profile);
    }
    Some(profile)
}

/// The kind of a profile that extends one of `kind`.
fn of_its_parent(fields: &Fields<'_>, kind: Kind) -> Option<Kind> {
    let Some(at) = fields.get("kind") else { return Some(kind) };
    let own = at.choice(Kind::OF_PROFILES)?;
    if own != kind {
        at.fault(format!("a {own} that extends a {kind}"), format!("`{kind}`, or no `kind`"));
    }
    Some(kind)
}

const ASIC: &str =
    "a word for the ASIC, such as tomahawk3: for people, no behaviour follows from it";
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

/// What a profile says of the rule of a device that could have a watchdog and has none.
pub(crate) const NO_RULE: &str = "none";

fn rule(at: &At<'_>) -> Option<Rule> {
    let fields = at.fields(&["family", "version"])?;
    let family =
        fields.need("family", "a rule family").and_then(|at| at.choice(&RuleFamily::NAMES));
    let version = fields
        .need("version", "where the rule was read or recorded")
        .and_then(|at| at.text("where the rule was read or recorded"));
    Some(Rule { family: family?, version: version?.to_owned() })
}

/// No rule, of a device without a watchdog; `None` where one is given.
fn unguarded(kind: Kind, fields: &Fields<'_>) -> Option<Option<Rule>> {
    if let Some(at) = fields.get("rule") {
        let of = kind.called();
        at.fault(format!("a watchdog rule of {of}"), format!("no `rule`: {of} has no watchdog"));
        return None;
    }
    Some(None)
}

fn declared_of(kind: Kind, parent: Option<Declared>, at: &At<'_>) -> Option<Declared> {
    let inherits = parent.is_some();
    let declared = match parent.map_or_else(|| crate::sample::least(kind), Ok) {
        Ok(declared) => declared,
        Err(why) => {
            at.fault(format!("the rows of fields are broken: {why}"), "a whole program");
            return None;
        }
    };
    let mut reading = Reading { declared, whole: true, kind, inherits };
    reading.mapping(at, "");
    reading.whole.then_some(reading.declared)
}

/// Reads single settings: a mapping in the form of `declared:`, of which any part may be there, or dotted paths. Each is
/// held against `pattern`, so that an unknown path or a value that does not fit is noted where it stands.
pub fn settings<'w>(at: &At<'w>, pattern: &Declared) -> Vec<(Setting, At<'w>)> {
    below("", at, pattern)
}

/// Reads the settings below one key of such a mapping.
pub fn below<'w>(path: &str, at: &At<'w>, pattern: &Declared) -> Vec<(Setting, At<'w>)> {
    if fields::keys(None, path).is_empty() {
        let setting = Setting { path: path.to_owned(), value: plain(at.node, path) };
        return match pattern.with(&setting) {
            Ok(_) => vec![(setting, at.clone())],
            Err(bad) => {
                refused(at, &bad);
                Vec::new()
            }
        };
    }
    let form = "settings in the form of a profile's `declared:`";
    let entries = at.entries(&of_a_list(at, path).unwrap_or_else(|| form.to_owned()));
    let entries = entries.unwrap_or_default();
    let each =
        entries.into_iter().map(|(key, value)| below(&join(path, &key.name), &value, pattern));
    each.collect::<Vec<_>>().concat()
}

struct Reading {
    declared: Declared,
    whole: bool,
    kind: Kind,
    /// Whether what is left out is there already.
    inherits: bool,
}

impl Reading {
    /// Reads a field, or a mapping of fields.
    fn mapping(&mut self, at: &At<'_>, path: &str) {
        let known = fields::keys(Some(self.kind), path);
        if known.is_empty() {
            return self.leaf(at, path);
        }
        let list = of_a_list(at, path).inspect(|line| at.wrong(line));
        let Some(given) = list.is_none().then(|| at.fields(&known)).flatten() else {
            self.whole = false;
            return;
        };
        for key in known {
            let path = join(path, key);
            match (given.get(key), fields::must_be(&path)) {
                (Some(value), _) => self.part(&value, &path),
                (None, None) => {}
                (None, Some(_)) if self.inherits => {}
                (None, Some(such_as)) => {
                    given.need(key, &format!("such as {such_as}"));
                    self.whole = false;
                }
            }
        }
    }

    /// Reads a field, or a part, which is there from now on if it was not: whole, whatever is inherited.
    fn part(&mut self, at: &At<'_>, path: &str) {
        let inherits = self.inherits;
        if fields::field(path).is_none() && self.declared.get(path).is_none() {
            let sample = crate::sample(self.kind).ok().and_then(|sample| sample.get(path));
            self.set(at, path, sample.unwrap_or_default());
            self.inherits = false;
        }
        self.mapping(at, path);
        self.inherits = inherits;
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

/// The line to write where a list stands in place of the part that it belongs to, as queues did in place of their scheduler.
fn of_a_list(at: &At<'_>, path: &str) -> Option<String> {
    let Value::List(_) = at.node.value else { return None };
    fields::list_of(path).map(|name| format!("{path}: {{{name}: [...]}}"))
}

/// A value as it is set: `never` unsets what may be unset.
pub fn plain(node: &Node, path: &str) -> Json {
    match &node.value {
        Value::Text(text) if text == "never" && fields::is_optional(path) => Json::Null,
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
        BadSetting::BadValue { path, why } => {
            let (found, want) = apart(why);
            let word = at.node.written();
            let before = BEFORE.iter().find(|(of, before, _)| of == path && *before == word);
            let want = before.map_or(want, |(.., now)| (*now).to_owned());
            let holds = fields::field(path).map(|field| field.holds);
            if is_range(at.node) && holds.is_some_and(is_one_number) {
                // It is what the device was set to, and one device has one.
                at.fault(format!("a range, where `{path}` is one value"), want);
                return;
            }
            at.naming(&found).fault(found, want);
        }
    }
}

/// Whether a setting is a number, and none that a device draws.
const fn is_one_number(holds: Holds) -> bool {
    match holds {
        Holds::Time | Holds::Size | Holds::Chance | Holds::Rate | Holds::Quanta => true,
        Holds::Count | Holds::Exponent => true,
        Holds::Range | Holds::Switch | Holds::Word | Holds::Name | Holds::List | Holds::Whole => {
            false
        }
    }
}

/// Whether it is written as what a sheet says of a value that differs from device to device.
fn is_range(node: &Node) -> bool {
    match &node.value {
        Value::Map(fields) => {
            let of_range = |name: &str| ["min", "max", "typ", "tol"].contains(&name);
            !fields.is_empty() && fields.iter().all(|(key, _)| of_range(&key.name))
        }
        Value::Text(text) => text.contains(".."),
        _ => false,
    }
}

/// Words that a setting once took, and what says the same now.
const BEFORE: [(&str, &str, &str); 2] = [
    ("pfcwd.jitter", "tick", "50us..1.1ms: how late a poll may come, which `tick` stood for"),
    ("pfcwd.jitter", "none", "never, or no `jitter`: polls that are never late"),
];

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
