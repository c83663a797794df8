//! What a case asks of the device: its rule family, settings, and settings whose refusal is measured.

use super::places::Places;
use rig_lab::walk::At;
use rig_lab::yaml::Value;
use rig_lab::{Declared, Kind, RuleFamily, Setting, declare};

use indexmap::IndexMap;

/// The rule families that a case is written for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Families {
    /// Whatever the device follows.
    Any,
    /// This one.
    One(RuleFamily),
    /// One case for each.
    Each(Vec<RuleFamily>),
}

/// Reads the `dut:` blocks, a later one over an earlier one.
pub(super) fn dut(
    blocks: &[At<'_>],
    (kind, pattern): (Kind, &Declared),
    places: &mut Places,
) -> (Option<Families>, Option<Vec<Setting>>) {
    let mut families = Some(Families::Any);
    let mut settings: IndexMap<String, Setting> = IndexMap::new();
    let mut whole = true;
    for at in blocks {
        let Some(entries) = at.entries("a mapping of settings") else {
            whole = false;
            continue;
        };
        for (key, at) in entries {
            let part = key.name.split('.').next().unwrap_or_default();
            let has = |kind: Kind| match part {
                "rule_family" => kind.is_guarded(),
                part => kind.has(part),
            };
            let other = Kind::NAMES.into_iter().find(|&(_, other)| has(other));
            if let Some((want, _)) = other.filter(|_| !has(kind)) {
                let want = format!("a setting of a {kind}; `{}` is one of a {want}", key.name);
                at.at_key(format!("`{}` of a {kind}", key.name), want);
                whole = false;
                continue;
            }
            if key.name == "rule_family" {
                families = read_families(&at);
                continue;
            }
            for (setting, at) in declare::below(&key.name, &at, pattern) {
                places.insert(format!("dut.{}", setting.path), at.spot());
                settings.insert(setting.path.clone(), setting);
            }
        }
    }
    (families, whole.then(|| settings.into_values().collect()))
}

fn read_families(at: &At<'_>) -> Option<Families> {
    let Value::List(all) = &at.node.value else {
        return at.choice(&RuleFamily::NAMES).map(Families::One);
    };
    let listed = at.one_or_many();
    let read: Vec<RuleFamily> =
        listed.iter().filter_map(|at| at.choice(&RuleFamily::NAMES)).collect();
    if all.is_empty() {
        at.fault("no rule family", "a rule family, or a list of them");
    }
    let mut sorted = read.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() < read.len() {
        at.fault("a rule family stands twice", "each once");
    }
    (read.len() == all.len() && !read.is_empty()).then_some(Families::Each(read))
}

/// Reads `configure:`, a setting or a list of settings that are tried one by one.
pub(super) fn configure(at: &At<'_>, pattern: &Declared, places: &mut Places) -> Vec<Setting> {
    let read: Vec<_> =
        at.one_or_many().iter().flat_map(|at| declare::settings(at, pattern)).collect();
    let empty = match &at.node.value {
        Value::List(all) => all.is_empty(),
        Value::Map(all) => all.is_empty(),
        Value::Null | Value::Bool(_) | Value::Whole(_) | Value::Real(_) | Value::Text(_) => false,
    };
    if empty {
        at.fault("nothing to configure", "a setting, or a list of settings tried one by one");
    }
    let keep = |(setting, at): (Setting, At<'_>)| {
        places.insert(format!("configure.{}", setting.path), at.spot());
        setting
    };
    read.into_iter().map(keep).collect()
}
