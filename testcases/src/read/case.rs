//! One case: its parts read in the order in which they depend on one another, then held against each other.

use super::dut::{Families, configure, dut};
use super::found::found;
use super::group::{Group, GroupKeys, group};
use super::known::known;
use super::measure::{Traffic, measure};
use super::names::Names;
use super::places::Places;
use super::ports::{self, Blocks};
use super::{apps, between, container, kills, nic, sense, steps, sweep, traffic};
use crate::app::App;
use crate::case::{CaseStep, Storm, Stream};
use crate::vocabulary::{Argument, Vocabulary};
use crate::{Accepts, Case, CaseId, Expect, Flow, Measure, Sweep, Tap};
use indexmap::IndexMap;
use rig_lab::walk::{At, Fields};
use rig_lab::yaml::Value;
use rig_lab::{Declared, Kind, Setting};
use rig_units::limits::TRIALS;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What all cases of a file share.
#[derive(Debug)]
pub(super) struct Context<'w> {
    /// What may be measured.
    pub(super) vocabulary: &'w dyn Vocabulary,
    /// The suite's name.
    pub(super) suite: String,
    /// What kind of device its cases are for.
    pub(super) device: Kind,
    /// The `setup:` block.
    pub(super) setup: Option<Fields<'w>>,
    /// A complete configuration: what settings there are.
    pub(super) pattern: Declared,
    /// Paths of settings that are lengths of time.
    pub(super) durations: Vec<String>,
}

const KEYS: [&str; 21] = [
    "why",
    "source",
    "dut",
    "found",
    "configure",
    "over",
    "ports",
    "streams",
    "flows",
    "apps",
    "between",
    "storms",
    "endpoints",
    "taps",
    "sweep",
    "steps",
    "length",
    "trials",
    "measure",
    "expect",
    "kills",
];

const STREAM: GroupKeys<Stream> =
    GroupKeys { part: "streams", keys: traffic::STREAM, read: traffic::stream };
const TO_NIC: GroupKeys<Stream> = GroupKeys {
    part: "streams",
    keys: &[
        "from", "class", "kind", "ecn", "size", "over", "every", "rate", "count", "psn", "of",
        "address", "gid",
    ],
    read: nic::stream,
};
const FLOW: GroupKeys<Flow> = GroupKeys {
    part: "flows",
    keys: &[
        "nic",
        "to",
        "class",
        "verb",
        "message",
        "mtu",
        "count",
        "psn",
        "address",
        "vlan",
        "over",
        "gid",
        "queue_pairs",
    ],
    read: nic::flow,
};
/// The same of containers that share a NIC.
const OF_CONTAINER: GroupKeys<Flow> = GroupKeys { keys: container::FLOW, ..FLOW };
const APP: GroupKeys<App> = GroupKeys { part: "apps", keys: apps::KEYS, read: apps::app };
const STORM: GroupKeys<Storm> = GroupKeys {
    part: "storms",
    keys: &["from", "classes", "quanta", "refresh", "every", "macsec"],
    read: traffic::storm,
};

/// Reads a case: one for each rule family it names. None when a fault was noted.
pub(super) fn read(context: &Context<'_>, name: &str, at: &At<'_>) -> Vec<Case> {
    let fields = at.fields(&KEYS);
    let read = fields.and_then(|fields| Reading { at, fields, context }.case(name));
    read.unwrap_or_default()
}

/// Senders of one kind by the key of their block: their names, and what each stands for.
type Called<'a> = (&'a str, &'a IndexMap<String, Vec<String>>);

struct Reading<'w, 'a> {
    at: &'a At<'w>,
    fields: Fields<'w>,
    context: &'a Context<'w>,
}

impl<'w> Reading<'w, '_> {
    fn case(&self, name: &str) -> Option<Vec<Case>> {
        let pattern = &self.context.pattern;
        let mut places = Places::from([(String::new(), self.at.spot())]);
        let why = self.fields.need("why", "why a lab cares, in one line");
        let why = why.and_then(|at| at.text("why a lab cares, in one line"));
        let source = self.source();
        let device = self.context.device;
        let (families, settings) = dut(&self.blocks("dut"), (device, pattern), &mut places);
        let tried = self.fields.get("configure");
        let tried = tried.map(|at| configure(&at, pattern, &mut places)).unwrap_or_default();
        let to_device = if device.has_nics() { &TO_NIC } else { &STREAM };
        let streams = self.group(to_device, &mut places);
        let of_flow = if device == Kind::RdmaRouter { &OF_CONTAINER } else { &FLOW };
        let mut flows = self.group(of_flow, &mut places);
        self.flows_of_nics();
        let bound = self.apps(&mut flows, &mut places);
        let between = between::between(&self.blocks("between"), &mut places);
        let storms = self.group(&STORM, &mut places);
        self.distinct(("streams", &streams.groups), ("storms", &storms.groups));
        self.distinct(("streams", &streams.groups), ("flows", &flows.groups));
        self.distinct(("flows", &flows.groups), ("storms", &storms.groups));
        let whole = streams.whole && flows.whole && storms.whole && bound;
        let swept = self.fields.get("sweep");
        let variables = swept.as_ref().map(sweep::variables).unwrap_or_default();
        let durations = &self.context.durations;
        let counted = streams.all.iter().filter(|(_, stream)| stream.count.is_some());
        let flow = flows.all.iter().filter(|(_, flow)| flow.count.is_some());
        let counted = counted.map(|(name, _)| name).chain(flow.map(|(name, _)| name));
        let counted = counted.cloned().collect();
        let names = Names::new(streams.groups, storms.groups, counted, variables, durations);
        let names = names.with_flows(flows.groups);
        let sweep = match &swept {
            Some(at) => sweep::sweep(at, pattern, &names, &streams.all),
            None => Some(Vec::new()),
        };
        let found = self.found(settings.as_deref(), sweep.as_deref());
        let steps = self.steps(&names, &mut places);
        let traffic = Traffic {
            vocabulary: self.context.vocabulary,
            streams: &streams.all,
            storms: &storms.all,
            names: &names,
        };
        let mut measures = self.measures(&traffic, &mut places);
        let expect = self.expect(&mut measures);
        let spared = self.fields.maybe("kills", |at| kills::spared(&at, pattern));
        let length = self.fields.maybe("length", |at| super::amount::amount(&at, &names));
        let trials = |at: At<'_>| at.whole(1..=i64::from(TRIALS), "a number of trials");
        let trials = self.fields.maybe("trials", trials);
        let over = self.over();
        if steps.is_some() && measures.is_some() && length.is_some() {
            self.late_peers(&names);
            self.all_used(&names);
            container::taken_over(&flows.all, &|name| names.used(name), self.at);
            apps::whole(&flows.all, steps.as_deref().unwrap_or_default(), self.at);
        }
        let mut case = Case {
            id: CaseId { suite: self.context.suite.clone(), case: name.to_owned() },
            line: self.at.spot().line(),
            kind: device,
            why: why?.to_owned(),
            source: source?,
            family: None,
            settings: settings?,
            found: found?,
            configure: tried,
            over: over?,
            ports: IndexMap::new(),
            endpoints: IndexMap::new(),
            taps: IndexMap::new(),
            streams: streams.all.into_iter().filter(|(name, _)| names.used(name)).collect(),
            flows: flows.all.into_iter().filter(|(name, _)| names.used(name)).collect(),
            between: between?,
            storms: storms.all.into_iter().filter(|(name, _)| names.used(name)).collect(),
            sweep: sweep?,
            steps: steps?,
            length: length?,
            trials: trials?,
            measure: measures?,
            expect: expect?,
            spared: spared?,
            places: Arc::new(places),
        };
        let mut used = case.rig_ports();
        if !whole {
            // Which ports a sender uses that could not be read nobody knows: any port that the case names may be one.
            let more: BTreeSet<String> =
                self.named_ports().filter(|port| !used.contains(port)).collect();
            used.extend(more);
        }
        let needs = ports::needs(&self.blocks("ports"), &used);
        let endpoints = ports::endpoints(
            &self.of_ports("endpoints", &used),
            &names,
            Arc::make_mut(&mut case.places),
        );
        let taps = ports::taps(&self.of_ports("taps", &used), Arc::make_mut(&mut case.places));
        (case.ports, case.endpoints, case.taps) = (needs?, endpoints?, taps?);
        whole.then_some(())?;
        if device.has_nics() {
            // Whatever is measured of a NIC rests on every frame.
            for port in used {
                case.taps.entry(port).or_insert(Tap::All);
            }
        }
        sense::check(self.at, &case);
        if let Some(at) = self.fields.get("kills") {
            kills::check(&at, &case);
        }
        Some(match families? {
            Families::Any => vec![case],
            Families::One(family) => vec![Case { family: Some(family), ..case }],
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

    /// The kind of device that must be among those of a system.
    fn over(&self) -> Option<Option<Kind>> {
        let Some(at) = self.fields.get("over") else { return Some(None) };
        let kinds: Vec<(&str, Kind)> = Kind::passing().collect();
        let want = Kind::wanted(&kinds);
        if !matches!(self.context.device, Kind::System | Kind::Nic) {
            let kind = self.context.device.called();
            let want = "device: system, or device: nic of a NIC that stands behind one";
            at.fault(format!("a case about {kind} over another device"), want);
            return None;
        }
        let text = at.text(&want)?;
        let found = kinds.iter().find(|(name, _)| *name == text);
        if found.is_none() {
            at.wrong(&want);
        }
        found.map(|(_, kind)| Some(*kind))
    }

    /// The blocks of one name: the setup's, then the case's.
    fn blocks(&self, part: &str) -> Vec<At<'w>> {
        let setup = self.context.setup.as_ref().and_then(|setup| setup.get(part));
        setup.into_iter().chain(self.fields.get(part)).collect()
    }

    /// What the case takes as it finds it, of what it sets or sweeps.
    fn found(
        &self,
        settings: Option<&[Setting]>,
        sweep: Option<&[Sweep]>,
    ) -> Option<IndexMap<String, Accepts>> {
        let swept = sweep?.iter().filter_map(|sweep| match sweep {
            Sweep::Setting { path, .. } => Some(path.as_str()),
            _ => None,
        });
        let set = settings?.iter().map(|setting| setting.path.as_str());
        let set: Vec<&str> = set.chain(swept).collect();
        let own = self.fields.get("found");
        found(&self.blocks("found"), own.as_ref(), &self.context.pattern, &set)
    }

    fn group<T>(&self, kind: &GroupKeys<T>, places: &mut Places) -> Group<T> {
        let setup = self.context.setup.as_ref().and_then(|setup| setup.get(kind.part));
        group(kind, setup.as_ref(), self.fields.get(kind.part).as_ref(), places)
    }

    /// Reads applications, of which the flows learn; whether nothing is wrong with them.
    fn apps(&self, flows: &mut Group<Flow>, places: &mut Places) -> bool {
        let Some(last) = self.blocks("apps").pop() else { return true };
        if self.context.device != Kind::Nic {
            let want = "`device: nic` at the top of the file";
            last.at_key(format!("`apps` of {}", self.context.device.called()), want);
            return false;
        }
        let mut read = self.group(&APP, places);
        let steps = self.fields.get("steps");
        let started = apps::started(steps.as_ref().map(|at| at.node));
        // What the setup offers and the case does not start binds no flow of it.
        read.all.retain(|name, _| started.contains(name.as_str()));
        apps::bind(&read, flows, |name| {
            let has = |at: &At<'_>| {
                at.entries("").is_some_and(|all| all.iter().any(|(key, _)| key.name == name))
            };
            let of = self.blocks("apps").into_iter().rfind(has);
            of.map_or_else(|| self.at.clone(), |at| at.down(name))
        })
    }

    /// One name, one thing: steps start streams and storms alike.
    fn distinct(&self, one: Called<'_>, other: Called<'_>) {
        let single = |part: &str| part.trim_end_matches('s').to_owned();
        for name in other.1.keys().filter(|name| one.1.contains_key(*name)) {
            let at = self.blocks(other.0).pop();
            let at = at.map_or_else(|| self.at.clone(), |at| at.down(name));
            let found = format!("`{name}` is a {} and a {}", single(one.0), single(other.0));
            at.at_key(found, "different names");
        }
    }

    /// A switch sends nothing by itself.
    fn flows_of_nics(&self) {
        for part in ["flows", "between"] {
            let Some(at) = self.blocks(part).pop() else { continue };
            if !self.context.device.has_nics() {
                let want = "`device: nic` at the top of the file; a switch has `streams`";
                at.at_key(format!("`{part}` of a switch"), want);
            }
        }
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

    /// What a case needs that does not try settings.
    fn unless_configured(&self, key: &str, want: &str) -> Option<Option<At<'w>>> {
        if self.fields.get("configure").is_some() {
            return Some(self.fields.get(key));
        }
        self.fields.need(key, want).map(Some)
    }

    fn steps(&self, names: &Names<'_>, places: &mut Places) -> Option<Vec<CaseStep>> {
        const WANT: &str = "a list of steps, such as {at: 20ms, start: storm, for: 600ms}";
        let Some(at) = self.unless_configured("steps", WANT)? else { return Some(Vec::new()) };
        let all = at.list(WANT)?;
        if all.is_empty() {
            at.fault("no steps", WANT);
        }
        let mut read = Vec::new();
        for at in &all {
            if let Some(step) = steps::step(at, names, &self.context.pattern) {
                places.insert(format!("steps[{}]", read.len()), at.spot());
                read.push(step);
            }
        }
        (read.len() == all.len()).then_some(read)
    }

    fn measures(&self, traffic: &Traffic<'_>, places: &mut Places) -> Option<Vec<Measure>> {
        const WANT: &str =
            "a list of measures, such as pfcwd.detection: {storm: storm, stream: victim}";
        let Some(at) = self.unless_configured("measure", WANT)? else { return Some(Vec::new()) };
        let all = at.list(WANT)?;
        if all.is_empty() {
            at.fault("nothing is measured", WANT);
        }
        places.insert("measure".to_owned(), at.spot());
        let read: Vec<_> = all
            .iter()
            .filter_map(|at| Some((at, measure(at, traffic)?)))
            .filter(|(at, read)| read.iter().all(|one| self.has_what_is_measured(at, one)))
            .map(|(_, read)| read)
            .collect();
        (read.len() == all.len()).then(|| read.concat())
    }

    /// Whether the kind of device has what a measure is about; notes where it has not.
    fn has_what_is_measured(&self, at: &At<'_>, measure: &Measure) -> bool {
        let device = self.context.device;
        let lacks = measure.parts().iter().find(|part| !device.has(part.key()));
        if let Some(part) = lacks {
            let found = format!("`{}` of {}", measure.name(), device.called());
            at.fault(found, format!("a measure of what it has: there is no `{}`", part.key()));
        }
        lacks.is_none()
    }

    /// What the case as a whole expects. A refusal or acceptance becomes a measure of its own.
    fn expect(&self, measures: &mut Option<Vec<Measure>>) -> Option<Expect> {
        const WANT: &str = "rejected or accepted, with configure:, or {verdict: inconclusive, reason: storm-lapse}";
        let configures = self.fields.get("configure").is_some();
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
        let wanted = if word == "rejected" { "rejected" } else { "accepted" };
        let settings = Measure::of(self.context.vocabulary.settings());
        measures.as_mut()?.push(settings.with("expect", Argument::Word(wanted)));
        Some(Expect::Pass)
    }

    /// A peer that reacts after a variable uses it.
    fn late_peers(&self, names: &Names<'_>) {
        for block in self.blocks("endpoints") {
            let Value::Map(ports) = &block.node.value else { continue };
            for (_, port) in ports {
                let Value::Map(fields) = &port.value else { continue };
                let responses = fields.iter().filter(|(key, _)| key.name == "response");
                for (_, response) in responses {
                    names.late(&response.written());
                }
            }
        }
    }

    /// What the case itself defines must be used; what the setup offers may be.
    fn all_used(&self, names: &Names<'_>) {
        for (part, what) in [
            ("streams", "started"),
            ("flows", "started"),
            ("apps", "started"),
            ("storms", "started"),
            ("sweep", "used"),
        ] {
            let own = self.fields.get(part).and_then(|at| match at.node.value {
                Value::Map(_) => at.entries("a mapping by name"),
                _ => None,
            });
            for (key, at) in own.unwrap_or_default() {
                if !names.used(&key.name) && (part != "sweep" || sweep::is_variable(&key.name)) {
                    at.at_key(
                        format!("`{}` is never {what}", key.name),
                        "a step or a measure that names it",
                    );
                }
            }
        }
    }

    /// The setup's block and the case's own that speak of rig ports.
    /// The ports that its blocks of ports name.
    fn named_ports(&self) -> impl Iterator<Item = String> {
        let blocks = ports::OFFERED.iter().chain(&["ports"]).flat_map(|part| self.blocks(part));
        let named = |at: At<'w>| match &at.node.value {
            Value::Map(entries) => {
                entries.iter().map(|(key, _)| key.name.clone()).collect::<Vec<_>>()
            }
            _ => Vec::new(),
        };
        blocks.flat_map(named)
    }

    fn of_ports<'a>(&self, part: &'static str, used: &'a [String]) -> Blocks<'w, 'a> {
        let setup = self.context.setup.as_ref().and_then(|setup| setup.get(part));
        Blocks { part, setup, own: self.fields.get(part), used }
    }
}
