//! What applications above NICs do.

use super::group::Group;
use super::traffic::Named;
use crate::app::{App, AppKey, AppStep, MOST_PACKETS, WrittenStep};
use crate::case::{CaseAction, CaseStep};
use crate::{Flow, Verb};
use indexmap::IndexMap;
use rig_frames::psn::Psn;
use rig_lab::walk::{At, Fields};
use rig_lab::yaml::{Node, Value};
use rig_units::Dur;
use std::collections::BTreeSet;

/// The keys of an application.
pub(super) const KEYS: &[&str] = &["steps", "rounds", "credits", "queue_pairs"];

/// How many queue pairs serve its steps.
const PAIRS: [(&str, bool); 2] = [("each", false), ("one", true)];

/// The most steps of a round.
const MOST_STEPS: usize = 16;

const STEPS: &str = "a list of flows in the order of their messages, such as [data, done]";

/// Reads an application.
pub(super) fn app(name: &str, fields: &Fields<'_>) -> Option<Named<App>> {
    let listed = fields.need("steps", STEPS)?;
    let all = listed.list(STEPS)?;
    if all.is_empty() || all.len() > MOST_STEPS {
        listed.fault(format!("{} steps", all.len()), format!("1 to {MOST_STEPS} steps"));
        return None;
    }
    let steps: Vec<WrittenStep> = all.iter().filter_map(step).collect();
    let whole = |key: &str, most, of: &str| {
        fields.need(key, of).and_then(|at| at.whole(1..=most, of)) as Option<u32>
    };
    let rounds = whole("rounds", 1_000_000, "a number of rounds")?;
    let credits = fields.or("credits", 1, |at| at.whole(1..=1_000_000, "a number of rounds"))?;
    let one_pair = fields.or("queue_pairs", false, |at| at.choice(&PAIRS))?;
    let app = App { steps, rounds, credits, one_pair };
    (app.steps.len() == all.len()).then(|| vec![(name.to_owned(), app)])
}

/// A flow alone, or one with what goes with it.
fn step(at: &At<'_>) -> Option<WrittenStep> {
    const WANT: &str = "the name of a flow";
    let Value::Map(_) = at.node.value else {
        let flow = at.text(WANT)?.to_owned();
        return Some(WrittenStep {
            flow,
            think: Dur::ZERO,
            chunks: 1,
            at_once: 1,
            buffers: None,
            checksum: false,
        });
    };
    let fields = at.fields(&["flow", "think", "chunks", "at_once", "buffers", "checksum"])?;
    let flow = fields.need("flow", WANT)?.text(WANT)?.to_owned();
    let think = fields.or("think", Dur::ZERO, |at| at.quantity::<Dur>())?;
    let chunks = fields.or("chunks", 1, |at| at.whole(1..=65_536, "a number of messages"));
    let most: u32 = chunks.unwrap_or(65_536);
    let at_once = |at: At<'_>| at.whole(1..=most.into(), "no more than `chunks`");
    let at_once = fields.or("at_once", 1, at_once)?;
    let buffers = |at: At<'_>| at.whole(1..=1_000_000, "a number of registered buffers");
    let buffers = fields.maybe("buffers", buffers)?;
    let checksum = fields.or("checksum", false, |at| switch(&at))?;
    let chunks = chunks?;
    Some(WrittenStep { flow, think, chunks, at_once, buffers, checksum })
}

/// Whether something is on.
fn switch(at: &At<'_>) -> Option<bool> {
    let Value::Bool(on) = at.node.value else {
        at.fault(format!("{} is not what belongs here", at.node.describe()), "true or false");
        return None;
    };
    Some(on)
}

/// What the steps of a case name to be started, before any of them is read.
pub(super) fn started(steps: Option<&Node>) -> BTreeSet<&str> {
    let Some(Value::List(steps)) = steps.map(|node| &node.value) else { return BTreeSet::new() };
    let mut all = BTreeSet::new();
    for step in steps {
        let Value::Map(keys) = &step.value else { continue };
        let start = keys.iter().find(|(key, _)| key.name == "start");
        match start.map_or(&Value::Null, |(_, node)| &node.value) {
            Value::Text(name) => all.extend([name.as_str()]),
            Value::List(names) => all.extend(names.iter().filter_map(|node| match &node.value {
                Value::Text(name) => Some(name.as_str()),
                _ => None,
            })),
            _ => {}
        }
    }
    all
}

/// Tells flows of which application they are, and lets `start:` know the applications as groups of flows. `place` says where an application stands.
/// Whether nothing is wrong with any.
pub(super) fn bind<'w>(
    apps: &Group<App>,
    flows: &mut Group<Flow>,
    place: impl Fn(&str) -> At<'w>,
) -> bool {
    let mut fits = apps.whole;
    for ((name, app), number) in apps.all.iter().zip(0..) {
        let at = place(name);
        if flows.whole {
            fits &= check(&at, app, &flows.all);
        }
        let members: Vec<String> = app.steps.iter().map(|step| step.flow.clone()).collect();
        let of = u8::try_from(app.steps.len()).unwrap_or(u8::MAX);
        let owner = owner(app, &flows.all);
        let is_stream = is_stream(app, &flows.all);
        for (step, nth) in app.steps.iter().zip(0..) {
            let Some(flow) = flows.all.get_mut(&step.flow) else { continue };
            let (rounds, credits) = (app.rounds, app.credits);
            let (chunks, think, one_pair) = (step.chunks, step.think, app.one_pair);
            let (buffers, checksum) = (step.buffers, step.checksum);
            let key = owner.as_ref().and_then(|owner| role(flow, owner));
            let step = AppStep {
                app: number,
                nth,
                of,
                rounds,
                credits,
                chunks,
                at_once: step.at_once,
                think,
                one_pair,
                key,
                buffers,
                checksum,
                is_stream,
            };
            flow.count = Some(step.messages());
            flow.app = Some(step);
        }
        if flows.groups.contains_key(name) {
            at.at_key(format!("`{name}` is a flow and an application"), "different names");
            fits = false;
        } else {
            flows.groups.insert(name.clone(), members);
        }
    }
    fits
}

/// Whether its steps are all one end's, each by a queue pair of its own, and the other end learns of each message.
fn is_stream(app: &App, flows: &IndexMap<String, Flow>) -> bool {
    let all = || app.steps.iter().filter_map(|step| flows.get(&step.flow));
    let lead = all().next().map(|flow| &flow.nic);
    !app.one_pair && all().all(|flow| Some(&flow.nic) == lead && tells(flow.verb))
}

/// Whose memory is registered anew for each round: the NIC of its one step that says so, with one message a round.
fn owner(app: &App, flows: &IndexMap<String, Flow>) -> Option<String> {
    let verb = |step: &&WrittenStep| flows.get(&step.flow).map(|flow| flow.verb);
    let mut all = app.steps.iter().filter(|step| verb(step) == Some(Verb::SendRegistered));
    let one = all.next().filter(|one| one.chunks == 1)?;
    if all.next().is_some() {
        return None;
    }
    Some(flows.get(&one.flow)?.nic.clone())
}

/// What messages of a flow have to do with a key of memory of that NIC.
fn role(flow: &Flow, owner: &str) -> Option<AppKey> {
    match (flow.verb, flow.nic == owner) {
        (Verb::SendRegistered, true) => Some(AppKey::Registers),
        (Verb::Write | Verb::WriteImmediate | Verb::Read, false) => Some(AppKey::Names),
        (Verb::SendInvalidate, false) => Some(AppKey::Revokes),
        _ => None,
    }
}

/// What speaks against an application, by its flows.
fn check(at: &At<'_>, app: &App, flows: &IndexMap<String, Flow>) -> bool {
    let no = |found: String, want: &str| {
        at.at_key(found, want);
        false
    };
    let mut ends = BTreeSet::new();
    for step in &app.steps {
        let name = &step.flow;
        let Some(flow) = flows.get(name) else {
            let known: Vec<&str> = flows.keys().map(String::as_str).collect();
            let want = format!("one of the case's flows: {}", known.join(", "));
            return no(format!("a step `{name}`, and there is no such flow"), &want);
        };
        if flow.app.is_some() || app.steps.iter().filter(|one| one.flow == *name).count() > 1 {
            return no(
                format!("`{name}` is a step twice"),
                "a flow of its own for each step: either is a connection",
            );
        }
        if flow.verb.is_unreliable() || flow.verb.is_atomic() {
            return no(
                format!("`{name}` is a step, and nobody learns when its messages are complete"),
                "a `verb:` of a reliable connection that moves data, such as send, write or read",
            );
        }
        if flow.count.is_some() {
            return no(
                format!("`{name}` is a step, and has a `count` of its own"),
                "no `count`: the application's `rounds` are",
            );
        }
        let packets = flow.message.0.div_ceil(flow.mtu.0.max(1));
        let of_all = u64::from(app.rounds) * u64::from(step.chunks) * packets;
        if of_all > MOST_PACKETS.into() {
            return no(
                format!(
                    "`{name}` is {of_all} packets: {} rounds of {} messages of {packets}",
                    app.rounds, step.chunks
                ),
                &format!("fewer `rounds` or `chunks`: at most {MOST_PACKETS} packets of a step"),
            );
        }
        let mut pair = [flow.nic.clone(), flow.to.clone()];
        pair.sort();
        ends.insert(pair);
    }
    let apart = ends.first().is_some_and(|[one, other]| one != other);
    if ends.len() != 1 || !apart {
        return no(
            "its flows are not all between the same two NICs".to_owned(),
            "`nic` and `to` of each are those two, whichever way",
        );
    }
    if app.one_pair && !check_pair(at, app, flows) {
        return false;
    }
    // A buffer is free again when its owner knows that the round is over.
    let last = &flows[&app.steps[app.steps.len() - 1].flow];
    let pooled = app.steps.iter().find(|step| step.buffers.is_some_and(|all| all < app.rounds));
    if let Some(step) = pooled.filter(|step| flows[&step.flow].nic != last.nic && !tells(last.verb))
    {
        return no(
            format!("`buffers` of `{}`, whose end does not learn when a round is over", step.flow),
            "a last step of its own, or one that tells it, with `verb: send` or write-immediate",
        );
    }
    // Round after round: the first step waits for the last, where it has to.
    let all = app.steps.len() - usize::from(app.rounds <= app.credits);
    let next = app.steps.iter().cycle().skip(1).take(all);
    for (step, next) in app.steps.iter().zip(next) {
        let (before, after) = (&flows[&step.flow], &flows[&next.flow]);
        if before.nic != after.nic && !tells(before.verb) {
            return no(
                format!(
                    "`{}` waits for `{}`, of which the other end learns nothing",
                    next.flow, step.flow
                ),
                "a step between that tells it, with `verb: send` or write-immediate",
            );
        }
    }
    true
}

/// What speaks against one queue pair for all steps.
fn check_pair(at: &At<'_>, app: &App, flows: &IndexMap<String, Flow>) -> bool {
    let no = |found: String, want: &str| {
        at.at_key(found, want);
        false
    };
    let of = |step: &WrittenStep| &flows[&step.flow];
    let lead = of(&app.steps[0]);
    for step in &app.steps {
        let flow = of(step);
        if (flow.class, flow.mtu) != (lead.class, lead.mtu) {
            let found = format!(
                "`{}` in another class than `{}`, or with another mtu",
                step.flow, app.steps[0].flow
            );
            return no(found, "one `class` and one `mtu`: it is one queue pair");
        }
        let same = app.steps.iter().find(|other| of(other).nic == flow.nic);
        if let Some(other) = same.filter(|other| of(other).psn != flow.psn) {
            let found = format!("`{}` begins at another `psn` than `{}`", step.flow, other.flow);
            return no(found, "one `psn` for all that an end sends: it is one queue pair");
        }
        let other = app.steps.iter().find(|other| of(other).nic != flow.nic);
        if let Some(other) = other.filter(|other| near(of(other).psn, flow.psn)) {
            let found = format!(
                "`{}` and `{}` begin at numbers that are near each other",
                step.flow, other.flow
            );
            let want = format!(
                "a `psn` of the flows of either end, {MOST_PACKETS} or more apart, so that a number tells who sent it"
            );
            return no(found, &want);
        }
    }
    let packets = |step: &WrittenStep| {
        let flow = of(step);
        (
            flow.nic.clone(),
            u64::from(app.rounds)
                * u64::from(step.chunks)
                * flow.message.0.div_ceil(flow.mtu.0.max(1)),
        )
    };
    for end in [&lead.nic, &lead.to] {
        let all: u64 = app
            .steps
            .iter()
            .map(packets)
            .filter(|(nic, _)| nic == end)
            .map(|(_, packets)| packets)
            .sum();
        if all > MOST_PACKETS.into() {
            let want =
                format!("fewer `rounds` or `chunks`: at most {MOST_PACKETS} packets of an end");
            return no(format!("{all} packets of the NIC behind {end}"), &want);
        }
    }
    // What is behind a message of its own is posted with it, and when that was shows on no wire.
    let pairs = app.steps.iter().zip(app.steps.iter().skip(1));
    let thinks = pairs.into_iter().find(|(before, step)| {
        step.think > Dur::ZERO && of(before).nic == of(step).nic && of(before).verb != Verb::Read
    });
    thinks.is_none_or(|(before, step)| {
        let found = format!(
            "`think` before `{}`, which is right behind `{}` in its queue pair",
            step.flow, before.flow
        );
        no(found, "`think` before what waits for the other end, or for a READ")
    })
}

/// Whether two first numbers are so near that packets of either end may have the same.
fn near(one: u32, other: u32) -> bool {
    let apart = Psn::new(one).ahead_of(Psn::new(other));
    let apart = apart.or_else(|| Psn::new(other).ahead_of(Psn::new(one)));
    apart.is_none_or(|apart| apart < MOST_PACKETS)
}

/// Whether the application at the other end learns of a message.
fn tells(verb: Verb) -> bool {
    verb.takes_buffer() || verb.has_tail()
}

/// Notes steps of a case that start or stop some flows of an application and not all.
pub(super) fn whole(flows: &IndexMap<String, Flow>, steps: &[CaseStep], at: &At<'_>) {
    let of = |name: &String| flows.get(name).and_then(|flow| flow.app);
    for step in steps {
        let (CaseAction::Start { names, .. } | CaseAction::Stop { names }) = &step.what else {
            continue;
        };
        let here: Vec<AppStep> = names.iter().filter_map(of).collect();
        let lacks = |one: &&AppStep| {
            here.iter().filter(|other| other.app == one.app).count() != usize::from(one.of)
        };
        if let Some(lone) = here.iter().find(lacks) {
            let steps =
                flows.iter().filter(|(_, flow)| flow.app.is_some_and(|of| of.app == lone.app));
            let steps: Vec<&str> = steps.map(|(name, _)| name.as_str()).collect();
            at.at_key(
                format!("some steps of the application of {} without the others", steps.join(", ")),
                "`start:` and `stop:` with the application's name",
            );
        }
    }
}
