//! One case: its parts read in the order in which they depend on one another, then held against each other.

use super::measure::{Traffic, measure};
use super::names::Names;
use super::{known, steps, sweep, traffic};
use crate::case::{CaseAction, CaseStep, PortNeed, Storm, Stream};
use crate::{Amount, Case, CaseId, Expect, Measure};
use indexmap::IndexMap;
use rig_lab::walk::{At, Fields};
use rig_lab::yaml::Value;
use rig_lab::{Declared, Place, RuleFamily, Setting, declare};
use rig_units::Dur;
use std::collections::BTreeMap;

const KEYS: [&str; 13] = [
    "why",
    "source",
    "dut",
    "configure",
    "ports",
    "streams",
    "storms",
    "sweep",
    "steps",
    "length",
    "trials",
    "measure",
    "expect",
];

/// Reads a case: one for each rule family it names. None when a fault was noted.
pub(super) fn read(suite: &str, name: &str, at: &At<'_>, setup: Option<&Fields<'_>>) -> Vec<Case> {
    read_one(suite, name, at, setup).unwrap_or_default()
}

fn read_one(suite: &str, name: &str, at: &At<'_>, setup: Option<&Fields<'_>>) -> Option<Vec<Case>> {
    let fields = at.fields(&KEYS)?;
    let reading = Reading { at, fields, setup, places: BTreeMap::new(), pattern: pattern(at)? };
    reading.case(suite, name)
}

fn pattern(at: &At<'_>) -> Option<Declared> {
    declare::pattern()
        .map_err(|why| at.fault(format!("the bundled pattern is broken: {why}"), "a whole program"))
        .ok()
}

struct Reading<'w, 'a> {
    at: &'a At<'w>,
    fields: Fields<'w>,
    setup: Option<&'a Fields<'w>>,
    places: BTreeMap<String, Place>,
    pattern: Declared,
}

/// Streams or storms of a case, and which of them belong together.
struct Group<T> {
    all: IndexMap<String, T>,
    groups: IndexMap<String, Vec<String>>,
}

impl<'w> Reading<'w, '_> {
    fn case(mut self, suite: &str, name: &str) -> Option<Vec<Case>> {
        self.places.insert(String::new(), self.at.place());
        let why = self.fields.need("why", "why a lab cares, in one line");
        let why = why.and_then(|at| at.text("why a lab cares, in one line"));
        let source = self.source();
        let (families, settings) = self.dut();
        let configure = self.configure();
        let streams = self.traffic("streams", STREAM, traffic::stream);
        let storms = self.traffic("storms", STORM, traffic::storm);
        self.distinct(&streams.groups, &storms.groups);
        let durations = self.durations();
        let swept = self.fields.get("sweep");
        let variables = swept.as_ref().map(sweep::variables).unwrap_or_default();
        let names =
            Names::new(streams.groups.clone(), storms.groups.clone(), variables, &durations);
        let sweep = match &swept {
            Some(at) => sweep::sweep(at, &self.pattern, &names),
            None => Some(Vec::new()),
        };
        let steps = self.steps(&names);
        let traffic = Traffic { streams: &streams.all, storms: &storms.all, names: &names };
        let mut measures = self.measures(&traffic);
        let expect = self.expect(!configure.is_empty(), &mut measures);
        let length = match self.fields.get("length") {
            Some(at) => super::amount::amount(&at, &names).map(Some),
            None => Some(None),
        };
        let trials = match self.fields.get("trials") {
            Some(at) => at.whole(1..=100_000, "a number of trials").map(Some),
            None => Some(None),
        };
        self.all_used(&names);
        let ports = self.ports(&streams, &storms, steps.as_deref(), measures.as_deref());
        let used = |group: &Group<Stream>, name: &str| used(&group.groups, &names, name);
        let mut case = Case {
            id: CaseId { suite: suite.to_owned(), case: name.to_owned() },
            line: self.at.place().line,
            why: why?.to_owned(),
            source: source?,
            family: None,
            settings: settings?,
            configure,
            ports: ports?,
            streams: streams
                .all
                .clone()
                .into_iter()
                .filter(|(name, _)| used(&streams, name))
                .collect(),
            storms: storms
                .all
                .clone()
                .into_iter()
                .filter(|(name, _)| self::used(&storms.groups, &names, name))
                .collect(),
            sweep: sweep?,
            steps: steps?,
            length: length?,
            trials: trials?,
            measure: measures?,
            expect: expect?,
            places: self.places,
        };
        super::sense::check(self.at, &case);
        Some(match families? {
            Families::Any => vec![case],
            Families::One(family) => {
                case.family = Some(family);
                vec![case]
            }
            Families::Each(families) => {
                let each = families.into_iter().map(|family| {
                    let mut case = case.clone();
                    case.id.case = format!("{name}-{family}");
                    case.family = Some(family);
                    case
                });
                each.collect()
            }
        })
    }

    /// The part `name` of the setup.
    fn below(&self, name: &str) -> Option<At<'w>> {
        self.setup?.get(name)
    }

    fn source(&self) -> Option<Vec<String>> {
        const WANT: &str = "where it comes from, such as [\"sonic-mgmt tests/pfcwd\"]";
        let all = self.fields.need("source", WANT)?.list(WANT)?;
        let read: Vec<String> =
            all.iter().filter_map(|at| at.text("a source in words")).map(str::to_owned).collect();
        if all.is_empty() {
            self.at.at_key("it has no source", WANT);
        }
        (read.len() == all.len()).then_some(read)
    }

    /// What the device must be: families, and settings with the case's own over those of the setup.
    fn dut(&mut self) -> (Option<Families>, Option<Vec<Setting>>) {
        let mut families = Some(Families::Any);
        let mut settings: IndexMap<String, Setting> = IndexMap::new();
        let mut whole = true;
        let parts = [self.below("dut"), self.fields.get("dut")];
        for at in parts.iter().flatten() {
            let Some(entries) = at.entries("a mapping of settings") else {
                whole = false;
                continue;
            };
            for (key, at) in entries {
                if key.name == "rule_family" {
                    families = read_families(&at);
                    continue;
                }
                for (setting, at) in declare::below(&key.name, &at, &self.pattern) {
                    self.places.insert(format!("dut.{}", setting.path), at.place());
                    settings.insert(setting.path.clone(), setting);
                }
            }
        }
        (families, whole.then(|| settings.into_values().collect()))
    }

    fn configure(&mut self) -> Vec<Setting> {
        let Some(at) = self.fields.get("configure") else { return Vec::new() };
        let read: Vec<_> =
            at.one_or_many().iter().flat_map(|at| declare::settings(at, &self.pattern)).collect();
        if read.is_empty() {
            at.fault("nothing to configure", "a setting, or a list of settings tried one by one");
        }
        let keep = |(setting, at): (Setting, At<'_>)| {
            self.places.insert(format!("configure.{}", setting.path), at.place());
            setting
        };
        read.into_iter().map(keep).collect()
    }

    /// Reads the streams or storms of the setup and of the case, the case's keys over the setup's of the same name.
    fn traffic<T>(
        &mut self,
        part: &str,
        keys: &[&str],
        read: fn(&str, &Fields<'_>) -> Option<traffic::Named<T>>,
    ) -> Group<T> {
        let entries = |at: Option<At<'w>>| {
            at.and_then(|at| at.entries("a mapping by name")).unwrap_or_default()
        };
        let (below, own) = (entries(self.below(part)), entries(self.fields.get(part)));
        let mut group = Group { all: IndexMap::new(), groups: IndexMap::new() };
        let named = |list: &[(&'w rig_lab::yaml::Key, At<'w>)], name: &str| {
            list.iter().find(|(key, _)| key.name == name).map(|(_, at)| at.clone())
        };
        let mut all: Vec<&str> =
            below.iter().chain(&own).map(|(key, _)| key.name.as_str()).collect();
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|name| seen.insert(*name));
        for name in all {
            let (under, over) = (named(&below, name), named(&own, name));
            let Some(at) = over.as_ref().or(under.as_ref()) else { continue };
            if !rig_lab::is_name(name) {
                at.at_key(
                    format!("`{name}` cannot be a name"),
                    "lower case with dashes, such as victim",
                );
                continue;
            }
            // A name stays known whatever its fields say, or one typo would look like many.
            group.groups.insert(name.to_owned(), vec![name.to_owned()]);
            let under = under.as_ref().and_then(|at| at.fields(keys));
            let fields = match &over {
                Some(at) => at.fields(keys).map(|fields| fields.over(under)),
                None => under,
            };
            let Some(members) = fields.and_then(|fields| read(name, &fields)) else { continue };
            let place = at.place();
            let list = members.iter().map(|(member, _)| member.clone()).collect();
            group.groups.insert(name.to_owned(), list);
            for (member, value) in members {
                self.places.insert(format!("{part}.{member}"), place.clone());
                group.all.insert(member, value);
            }
        }
        group
    }

    /// One name, one thing: steps start streams and storms alike.
    fn distinct(
        &self,
        streams: &IndexMap<String, Vec<String>>,
        storms: &IndexMap<String, Vec<String>>,
    ) {
        for name in storms.keys().filter(|name| streams.contains_key(*name)) {
            let at = self.fields.get("storms").or_else(|| self.below("storms"));
            let at = at.as_ref().map_or_else(|| self.at.clone(), |at| at.down(name));
            at.at_key(format!("`{name}` is a stream and a storm"), "different names");
        }
    }

    /// Paths of the configuration that are lengths of time.
    fn durations(&self) -> Vec<String> {
        let is_dur = |path: &String| match self.pattern.get(path) {
            Some(serde_json::Value::String(text)) => text.parse::<Dur>().is_ok(),
            _ => false,
        };
        self.pattern.paths().into_iter().filter(is_dur).collect()
    }

    fn steps(&mut self, names: &Names<'_>) -> Option<Vec<CaseStep>> {
        const WANT: &str = "a list of steps, such as {at: 20ms, start: storm, for: 600ms}";
        let at = match self.fields.get("steps") {
            Some(at) => at,
            None if self.fields.get("configure").is_some() => return Some(Vec::new()),
            None => {
                self.fields.need("steps", WANT);
                return None;
            }
        };
        let all = at.list(WANT)?;
        if all.is_empty() {
            at.fault("no steps", WANT);
        }
        let mut read = Vec::new();
        for at in &all {
            if let Some(step) = steps::step(at, names, &self.pattern) {
                self.places.insert(format!("steps[{}]", read.len()), at.place());
                read.push(step);
            }
        }
        (read.len() == all.len()).then_some(read)
    }

    fn measures(&mut self, traffic: &Traffic<'_>) -> Option<Vec<Measure>> {
        const WANT: &str =
            "a list of measures, such as pfcwd.detection: {storm: storm, stream: victim}";
        let at = match self.fields.get("measure") {
            Some(at) => at,
            None if self.fields.get("configure").is_some() => return Some(Vec::new()),
            None => {
                self.fields.need("measure", WANT);
                return None;
            }
        };
        let all = at.list(WANT)?;
        if all.is_empty() {
            at.fault("nothing is measured", WANT);
        }
        let read: Vec<_> = all.iter().filter_map(|at| measure(at, traffic)).collect();
        (read.len() == all.len()).then(|| read.concat())
    }

    /// What the case as a whole expects. A refusal or acceptance becomes a measure of its own.
    fn expect(&self, configures: bool, measures: &mut Option<Vec<Measure>>) -> Option<Expect> {
        const WANT: &str = "rejected or accepted, with configure:, or {verdict: inconclusive, reason: storm-lapse}";
        let Some(at) = self.fields.get("expect") else {
            if configures {
                self.at.at_key(
                    "`expect` is missing",
                    "`expect: rejected` or `expect: accepted`, with configure:",
                );
            }
            return Some(Expect::Pass);
        };
        if let Value::Map(_) = at.node.value {
            let fields = at.fields(&["verdict", "reason"])?;
            let verdict = fields.need("verdict", "inconclusive");
            let verdict = verdict.and_then(|at| at.choice(&[("inconclusive", ())]));
            let reason = fields.need("reason", "storm-lapse");
            let reason = reason.and_then(|at| at.choice(&[("storm-lapse", "storm-lapse")]));
            return verdict
                .and(reason)
                .map(|reason| Expect::Inconclusive { reason: reason.to_owned() });
        }
        if !configures {
            let want = "{verdict: inconclusive, reason: storm-lapse}; rejected and accepted go with configure:";
            at.wrong(want);
            return None;
        }
        let Value::Text(word) = &at.node.value else {
            at.wrong(WANT);
            return None;
        };
        if !known(&at, "outcome", word, ["rejected", "accepted"].into_iter()) {
            return None;
        }
        measures.as_mut()?.push(Measure::Config { rejected: word == "rejected" });
        Some(Expect::Pass)
    }

    /// What the case itself defines must be used; what the setup offers may be.
    fn all_used(&self, names: &Names<'_>) {
        for (part, what) in [("streams", "started"), ("storms", "started"), ("sweep", "used")] {
            let own = self.fields.get(part).and_then(|at| match at.node.value {
                Value::Map(_) => at.entries("a mapping by name"),
                _ => None,
            });
            for (key, at) in own.unwrap_or_default() {
                if !names.used(&key.name) && !key.name.starts_with("dut.") {
                    at.at_key(
                        format!("`{}` is never {what}", key.name),
                        "a step or a measure that names it",
                    );
                }
            }
        }
    }

    /// Every rig port the case uses, in order, and what is asked of them.
    fn ports(
        &self,
        streams: &Group<Stream>,
        storms: &Group<Storm>,
        steps: Option<&[CaseStep]>,
        measures: Option<&[Measure]>,
    ) -> Option<IndexMap<String, PortNeed>> {
        let mut needs = IndexMap::new();
        let parts = [self.below("ports"), self.fields.get("ports")];
        let mut used: Vec<&str> =
            streams.all.values().flat_map(|s| [s.from.as_str(), s.to.as_str()]).collect();
        used.extend(storms.all.values().map(|storm| storm.from.as_str()));
        for step in steps.unwrap_or_default() {
            match &step.what {
                CaseAction::Pfc { from: port, .. } | CaseAction::LinkDown { port, .. } => {
                    used.push(port);
                }
                CaseAction::Start { .. } | CaseAction::Stop { .. } | CaseAction::Configure(_) => {}
            }
        }
        for measure in measures.unwrap_or_default() {
            if let Measure::PfcSent { port, .. } | Measure::PfcFormat { port } = measure {
                used.push(port);
            }
        }
        for at in parts.iter().flatten() {
            for (key, at) in at.entries("a mapping such as {p1: fast, p2: slow}")? {
                if !used.contains(&key.name.as_str()) {
                    let want = rig_lab::fault::one_of(&key.name, used.iter().copied());
                    at.at_key(format!("no stream or storm uses a port `{}`", key.name), want);
                }
                needs.insert(key.name.clone(), traffic::need(&at)?);
            }
        }
        Some(needs)
    }
}

const STREAM: &[&str] = &["from", "to", "class", "kind", "size", "every", "rate"];
const STORM: &[&str] = &["from", "classes", "quanta", "refresh", "every"];

/// Whether a member's group, or the member itself, is named anywhere.
fn used(groups: &IndexMap<String, Vec<String>>, names: &Names<'_>, member: &str) -> bool {
    names.used(member)
        || groups
            .iter()
            .any(|(group, all)| names.used(group) && all.iter().any(|name| name == member))
}

enum Families {
    Any,
    One(RuleFamily),
    Each(Vec<RuleFamily>),
}

fn read_families(at: &At<'_>) -> Option<Families> {
    if let Value::List(all) = &at.node.value {
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
        return (read.len() == all.len() && !read.is_empty()).then_some(Families::Each(read));
    }
    at.choice(&RuleFamily::NAMES).map(Families::One)
}

/// The name that a length of time depends on.
pub(super) fn literal(amount: &Amount) -> Option<Dur> {
    match amount {
        Amount::Exactly(dur) => Some(*dur),
        Amount::Of { .. } | Amount::Swept(_) => None,
    }
}
