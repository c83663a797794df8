//! What a case may not say although each of its parts is well formed: contradictions between them.

use super::recorded;
use crate::case::{CaseAction, Count, Refresh, Stream};
use crate::{Amount, Case, Expect, Flow, Measure, Sweep};
use rig_lab::fault::one_of;
use rig_lab::walk::At;
use rig_lab::{IpVersion, Kind, Pfcwd, Scheduler};
use rig_units::Dur;
use std::collections::BTreeMap;

/// Notes every contradiction of a case.
pub(super) fn check(at: &At<'_>, case: &Case) {
    gaps(at, case);
    order(at, case);
    limits(at, case);
    measured(at, case);
    searched(at, case);
    notified(at, case);
    unreliable(at, case);
    shared(at, case);
    tagged(at, case);
    over_ipv6(at, case);
    gids(at, case);
    for measure in &case.measure {
        (measure.entry.sense)(measure, case).into_iter().for_each(|fault| at.note(fault));
    }
    recorded::check(at, case);
}

/// What rests on acknowledgements, where a flow of the case has none.
fn unreliable(at: &At<'_>, case: &Case) {
    let Some((name, _)) = case.flows.iter().find(|(_, flow)| flow.verb.is_unreliable()) else {
        return;
    };
    for measure in case.measure.iter().filter(|measure| !measure.entry.unreliable) {
        let found = format!("`{}` beside `{name}`, an unreliable connection", measure.name());
        let want = "a measure of `uc.` or `ud.`, or nic.counters";
        at.note(case.fault("measure", found, want));
    }
}

/// What takes a connection for that of one flow, where an application has one for several.
fn shared(at: &At<'_>, case: &Case) {
    let shares = |flow: &Flow| flow.app.is_some_and(|step| step.one_pair);
    let Some((name, _)) = case.flows.iter().find(|(_, flow)| shares(flow)) else { return };
    for measure in case.measure.iter().filter(|measure| !measure.entry.shares_pairs) {
        let found = format!(
            "`{}` beside `{name}`, which shares its queue pair with other steps",
            measure.name()
        );
        at.note(case.fault("measure", found, "a measure of `app.`"));
    }
}

/// What counts on frames without a tag, where those of a flow have one.
fn tagged(at: &At<'_>, case: &Case) {
    let Some((name, _)) = case.flows.iter().find(|(_, flow)| flow.vlan.is_some()) else { return };
    for measure in case.measure.iter().filter(|measure| !measure.entry.tagged) {
        let found = format!("`{}` beside `{name}`, whose frames are tagged", measure.name());
        at.note(case.fault("measure", found, "rc.tags, rc.class or cnp.format"));
    }
}

/// What knows no other version of IP than the fourth, where a flow, or a stream to a NIC, goes over the sixth.
fn over_ipv6(at: &At<'_>, case: &Case) {
    let mut flows = case.flows.iter().filter(|(_, flow)| flow.over == IpVersion::V6);
    let to_nic = |stream: &Stream| stream.over == IpVersion::V6 && stream.from == stream.to;
    let mut streams = case.streams.iter().filter(|(_, stream)| to_nic(stream));
    let (flow, stream) = (flows.next().map(|(name, _)| name), streams.next().map(|(name, _)| name));
    let Some(name) = flow.or(stream) else { return };
    if case.kind == Kind::BlueRdma {
        let (what, group) = if flow.is_some() { ("flow", "flows") } else { ("stream", "streams") };
        let found = format!("a {what} over IPv6, which a NIC of blue-rdma does not know");
        case.note(at, &format!("{group}.{name}.over"), found, "ipv4");
    }
    for measure in case.measure.iter().filter(|measure| !measure.entry.over_ipv6) {
        let found = format!("`{}` beside `{name}`, which goes over IPv6", measure.name());
        at.note(case.fault("measure", found, "rc.gid, rc.class, cnp.answers or cnp.format"));
    }
}

/// A NIC of blue-rdma has one address.
fn gids(at: &At<'_>, case: &Case) {
    let named = |flow: &Flow| flow.gid != 0 || flow.nic != flow.to && flow.address != 0;
    let flows = case.flows.iter().filter(|(_, flow)| named(flow)).map(|(name, _)| name);
    for name in flows.filter(|_| case.kind == Kind::BlueRdma) {
        let found = "a GID beside the usual one, and a NIC of blue-rdma has one address";
        case.note(at, &format!("flows.{name}.gid"), found.to_owned(), "no `gid`");
    }
}

/// A stream whose number of frames is searched, and nothing else beside the search: every trial is another one.
fn searched(at: &At<'_>, case: &Case) {
    let searches =
        |name: &String| case.measure.iter().any(|m| m.searches().contains(&name.as_str()));
    for (name, stream) in &case.streams {
        if stream.count == Some(Count::Searched) && !searches(name) {
            let found = format!("the number of frames of `{name}` is searched by no measure");
            let want = "buffer.xoff, buffer.drop or buffer.xon of it, or a number";
            case.note(at, &format!("streams.{name}.count"), found, want);
        }
    }
    for (i, step) in case.steps.iter().enumerate() {
        let (names, found, want) = match &step.what {
            CaseAction::Start { names, lasting: Some(_) } => {
                let want = "a start without `for:`, or a stream without `count`";
                (names, "ends after its last frame and at a time", want)
            }
            CaseAction::Stop { names } => {
                let want = "no stop of it, or a stream without `count`";
                (names, "ends after its last frame and is stopped", want)
            }
            _ => continue,
        };
        let counted =
            |name: &&String| case.streams.get(*name).is_some_and(|stream| stream.count.is_some());
        if let Some(name) = names.iter().find(counted) {
            case.note(at, &format!("steps[{i}]"), format!("`{name}` {found}"), want);
        }
    }
    if !case.measure.iter().any(|measure| !measure.searches().is_empty()) {
        return;
    }
    let beside = |m: &&Measure| m.searches().is_empty() && !m.entry.beside_a_search;
    if let Some(other) = case.measure.iter().find(beside) {
        let found = format!("`{}` beside a measure that searches", other.name());
        case.note(at, "", found, "a case of its own: every trial of a search is another one");
    }
    if case.sweep.iter().any(Sweep::is_variable) {
        let found = "a variable is swept beside a measure that searches".to_owned();
        case.note(at, "sweep", found, "settings of the device: `dut.buffer.dynamic_th: [...]`");
    }
}

/// CNPs are for a flow of the case.
fn notified(at: &At<'_>, case: &Case) {
    for (name, stream) in &case.streams {
        let Some(of) = &stream.of else { continue };
        if case.flows.contains_key(of) {
            continue;
        }
        let flows: Vec<&str> = case.flows.keys().map(String::as_str).collect();
        let want = match flows.as_slice() {
            [] => "a flow that is started, and there is none".to_owned(),
            flows => one_of(of, flows.iter().copied()),
        };
        case.note(at, &format!("streams.{name}.of"), format!("there is no flow `{of}`"), want);
    }
}

/// A storm with gaps by design needs a case that is about the gaps.
fn gaps(at: &At<'_>, case: &Case) {
    let lapse_expected =
        matches!(&case.expect, Expect::Inconclusive { reason } if reason == "storm-lapse");
    for (name, storm) in &case.storms {
        let covered = |measure: &Measure| measure.gaps_of() == Some(name);
        let gaps = matches!(storm.refresh, Refresh::OfPause(share) if share > 1_000_000);
        if gaps && !lapse_expected && !case.measure.iter().any(covered) {
            let found = format!(
                "the storm `{name}` cannot be gap-free: it is refreshed after its pause has run out"
            );
            let want = "at most 1x; or a case that measures storm.coverage or expects {verdict: inconclusive, reason: storm-lapse}";
            case.note(at, &format!("storms.{name}.refresh"), found, want);
        }
        if lapse_expected && !gaps && matches!(storm.refresh, Refresh::OfPause(_)) {
            let found = format!("the storm `{name}` is gap-free, so it cannot lapse");
            case.note(
                at,
                &format!("storms.{name}"),
                found,
                "a refresh above 1x, or another `expect:`",
            );
        }
    }
}

/// Starts and stops of one sender, as far as they are literal.
fn order(at: &At<'_>, case: &Case) {
    let mut running: BTreeMap<&str, Option<Dur>> = BTreeMap::new();
    let mut steps: Vec<(usize, Dur)> = Vec::new();
    for (i, step) in case.steps.iter().enumerate() {
        match literal(&step.at) {
            Some(when) => steps.push((i, when)),
            // A step whose time is not literal leaves open what comes before what.
            None => return stopped_never_started(at, case),
        }
    }
    steps.sort_by_key(|&(_, when)| when);
    for (i, when) in steps {
        let place = format!("steps[{i}]");
        match &case.steps[i].what {
            CaseAction::Start { names, lasting } => {
                for name in names {
                    if running
                        .get(name.as_str())
                        .is_some_and(|end| end.is_none_or(|end| end > when))
                    {
                        let found = format!("`{name}` is started at {when}, while it is running");
                        case.note(at, &place, found, "a start after its stop");
                    }
                    let end = lasting.as_ref().and_then(literal).map(|lasting| when + lasting);
                    let open = lasting.is_some() && end.is_none();
                    running.insert(name, if open { Some(when) } else { end });
                }
            }
            CaseAction::Stop { names } => {
                for name in names {
                    if running.remove(name.as_str()).is_none() {
                        let found = format!("`{name}` is stopped at {when}, before it is started");
                        case.note(at, &place, found, "a stop after its start");
                    }
                }
            }
            CaseAction::Pfc { .. }
            | CaseAction::LinkDown { .. }
            | CaseAction::Configure(_)
            | CaseAction::Device(_) => {}
        }
    }
}

fn stopped_never_started(at: &At<'_>, case: &Case) {
    let started = |name: &String| {
        case.steps.iter().any(
            |step| matches!(&step.what, CaseAction::Start { names, .. } if names.contains(name)),
        )
    };
    for (i, step) in case.steps.iter().enumerate() {
        let CaseAction::Stop { names } = &step.what else { continue };
        for name in names.iter().filter(|name| !started(name)) {
            let found = format!("`{name}` is stopped and never started");
            case.note(at, &format!("steps[{i}]"), found, "a step that starts it");
        }
    }
}

/// What a case requires must be something a device takes; what it must refuse stands under `configure:`.
fn limits(at: &At<'_>, case: &Case) {
    for setting in &case.settings {
        if setting.path == "scheduler.queues" {
            let queues = serde_json::from_value(setting.value.clone()).unwrap_or_default();
            let scheduler = Scheduler { queues, ..Scheduler::default() };
            for (path, found, want) in scheduler.out_of_range() {
                case.note(at, &format!("dut.{path}"), found, want);
            }
        }
        let (from, to) = match setting.path.as_str() {
            "pfcwd.detection_time" => Pfcwd::DETECTION_RANGE,
            "pfcwd.restoration_time" => Pfcwd::RESTORATION_RANGE,
            _ => continue,
        };
        let value = setting.value.as_str().and_then(|text| text.parse::<Dur>().ok());
        if let Some(value) = value.filter(|&value| value < from || value > to) {
            let found = format!("a device refuses {} = {value}", setting.path);
            let want = format!(
                "{from} to {to}; to measure the refusal: `configure:` and `expect: rejected`"
            );
            case.note(at, &format!("dut.{}", setting.path), found, want);
        }
    }
}

/// A measure of a sender that never sends measures nothing.
fn measured(at: &At<'_>, case: &Case) {
    let started = |name: &str| {
        case.steps.iter().any(|step| match &step.what {
            CaseAction::Start { names, .. } => names.iter().any(|started| started == name),
            CaseAction::Stop { .. }
            | CaseAction::Pfc { .. }
            | CaseAction::LinkDown { .. }
            | CaseAction::Configure(_)
            | CaseAction::Device(_) => false,
        })
    };
    let all = case.streams.keys().chain(case.flows.keys()).chain(case.storms.keys());
    for name in all.filter(|name| !started(name)) {
        let key = match (case.streams.contains_key(name), case.flows.contains_key(name)) {
            (true, _) => "streams",
            (_, true) => "flows",
            _ => "storms",
        };
        let found = format!("`{name}` is measured and never started");
        case.note(at, &format!("{key}.{name}"), found, "a step that starts it");
    }
}

/// A length of time that depends on nothing.
fn literal(amount: &Amount) -> Option<Dur> {
    match amount {
        Amount::Exactly(dur) => Some(*dur),
        Amount::Of { .. } | Amount::Swept(_) => None,
    }
}

impl Case {
    /// Notes a fault at one of the case's places.
    fn note(&self, at: &At<'_>, key: &str, found: String, want: impl Into<String>) {
        at.note(self.fault(key, found, want));
    }
}
