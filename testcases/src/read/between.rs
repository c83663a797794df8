//! The rig between two NICs.

use super::traffic;
use crate::between::{Between, Injected, Injection, Target, Which};
use rig_lab::walk::{At, Fields};
use rig_lab::yaml::Value;
use rig_units::Dur;

const WANT: &str = "a list such as [{on: sender, frames: data, every: 50, do: ce}]";

/// Reads the blocks, a later one over an earlier one.
pub(super) fn between(blocks: &[At<'_>]) -> Option<Between<String>> {
    let mut read = Between { delay: Dur::ZERO, inject: Vec::new() };
    for at in blocks {
        let fields = at.fields(&["delay", "inject"])?;
        if let Some(at) = fields.get("delay") {
            read.delay = at.quantity()?;
        }
        if let Some(at) = fields.get("inject") {
            let all = at.list(WANT)?;
            let each: Vec<_> = all.iter().filter_map(injection).collect();
            if each.len() != all.len() {
                return None;
            }
            read.inject = each;
        }
    }
    Some(read)
}

fn injection(at: &At<'_>) -> Option<Injection<String>> {
    let fields =
        at.fields(&["on", "frames", "psn", "nth", "every", "run", "during", "iteration", "do"])?;
    let on = fields.need("on", "a flow").and_then(|at| at.text("the name of a flow"));
    let frames = fields.need("frames", "data, ack, nak, cnp or read-request");
    let frames = frames.and_then(|at| at.choice(&Target::NAMES));
    let which = which(&fields);
    let iteration = match fields.get("iteration") {
        Some(at) => Some(at.whole(1..=1_000, "a round, from 1")?),
        None => None,
    };
    let harm = fields.need("do", "ce, drop, duplicate, bad-icrc, {delay: 20us} or {behind: 3}");
    let harm = harm.and_then(|at| injected(&at));
    Some(Injection { on: on?.to_owned(), frames: frames?, which: which?, iteration, harm: harm? })
}

fn which(fields: &Fields<'_>) -> Option<Which> {
    if let Some(at) = fields.get("during") {
        let lasting = traffic::interval(&at)?;
        let every = fields.need("every", "from one beginning to the next, such as 500us")?;
        let every = traffic::interval(&every)?;
        if lasting > every {
            at.fault(format!("{lasting} in each {every}"), "no longer than all of it");
            return None;
        }
        return Some(Which::During { lasting, every });
    }
    const KEYS: [&str; 3] = ["psn", "nth", "every"];
    let named: Vec<&str> = KEYS.into_iter().filter(|key| fields.get(key).is_some()).collect();
    let [key] = named[..] else {
        fields.at.at_key(format!("it names {} frames", named.len()), "one of psn, nth and every");
        return None;
    };
    let at = fields.get(key)?;
    let run = match (key, fields.get("run")) {
        (_, None) => 1,
        ("every", Some(at)) => at.whole(1..=i64::from(u32::MAX), "a number from 1")?,
        (_, Some(at)) => {
            at.fault("a run without `every`", "`run` with `every` only");
            return None;
        }
    };
    Some(match key {
        "psn" => Which::Psn(at.whole(0..=0xff_ffff, "a number, counted from the first packet")?),
        "nth" => Which::Nth(at.whole(1..=i64::from(u32::MAX), "a number from 1")?),
        _ => {
            let every: u32 = at.whole(1..=i64::from(u32::MAX), "a number from 1")?;
            if run > every {
                at.fault(format!("a run of {run} in every {every}"), "no more than all of them");
                return None;
            }
            Which::Every { every, run }
        }
    })
}

fn injected(at: &At<'_>) -> Option<Injected> {
    if let Value::Map(_) = at.node.value {
        let fields = at.fields(&["delay", "behind"])?;
        if let Some(at) = fields.get("delay") {
            return traffic::interval(&at).map(Injected::Delay);
        }
        let behind = fields.need("behind", "so many frames; or delay: 20us")?;
        return behind.whole(1..=1_000, "a number of frames").map(Injected::Behind);
    }
    at.choice(&[
        ("ce", Injected::Ce),
        ("drop", Injected::Drop),
        ("duplicate", Injected::Duplicate),
        ("bad-icrc", Injected::BadIcrc),
    ])
}
