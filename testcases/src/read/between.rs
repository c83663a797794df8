//! The rig between two NICs.

use super::places::Places;
use super::traffic;
use crate::middlebox::{Bottleneck, Injected, Injection, Middlebox, Target, Which};
use rig_frames::roce::aeth::RnrTimer;
use rig_lab::Curve;
use rig_lab::walk::{At, Fields};
use rig_lab::yaml::Value;
use rig_units::{Dur, Ppm};

const WANT: &str = "a list such as [{on: sender, frames: data, every: 50, do: ce}]";

/// Reads the blocks, a later one over an earlier one.
pub(super) fn between(blocks: &[At<'_>], places: &mut Places) -> Option<Middlebox<String>> {
    let mut read = Middlebox { delay: Dur::ZERO, inject: Vec::new(), bottleneck: None };
    for at in blocks {
        places.insert("between".to_owned(), at.spot());
        let fields = at.fields(&["delay", "inject", "bottleneck"])?;
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
        if let Some(at) = fields.get("bottleneck") {
            read.bottleneck = Some(bottleneck(&at, places)?);
        }
    }
    Some(read)
}

fn bottleneck(at: &At<'_>, places: &mut Places) -> Option<Bottleneck<String>> {
    let fields = at.fields(&["to", "speed", "kmin", "kmax", "pmax", "buffer"])?;
    for (key, at) in ["to", "speed"].into_iter().filter_map(|key| Some((key, fields.get(key)?))) {
        places.insert(format!("between.bottleneck.{key}"), at.spot());
    }
    let to = fields.need("to", "the rig port in front of the NIC that receives, such as p2");
    let to = to.and_then(|at| traffic::port(&at));
    let speed = fields.need("speed", "a speed below that of the port, such as 40Gbps");
    let speed = speed.and_then(|at| at.quantity());
    let size = |key: &str, want: &str| {
        let at = fields.need(key, want)?;
        Some((at.quantity()?, at))
    };
    let kmin = size("kmin", "the depth from which on data may be marked, such as 100KB");
    let kmax = size("kmax", "the depth from which on all data is marked, such as 400KB");
    let buffer = size("buffer", "what may wait, such as 4MB");
    let pmax = fields.need("pmax", "the chance of a mark just below kmax, such as 10%");
    let pmax = pmax.and_then(|at| at.quantity());
    let ((kmin, at_kmin), (kmax, _), (buffer, at_buffer)) = (kmin?, kmax?, buffer?);
    if let Some((found, want)) = Curve::crossed(kmin, kmax) {
        at_kmin.fault(found, want);
    }
    if buffer < kmax {
        let found = format!("a buffer of {buffer} is full before the depth is {kmax}");
        at_buffer.fault(found, format!("at least the kmax of {kmax}"));
    }
    Some(Bottleneck { to: to?, speed: speed?, curve: Curve { kmin, kmax, pmax: pmax? }, buffer })
}

fn injection(at: &At<'_>) -> Option<Injection<String>> {
    let fields = at.fields(&[
        "on",
        "frames",
        "psn",
        "nth",
        "every",
        "run",
        "during",
        "chance",
        "iteration",
        "do",
    ])?;
    let on = fields.need("on", "a flow").and_then(|at| at.text("the name of a flow"));
    let frames = fields.need("frames", "data, ack, nak, cnp or read-request");
    let frames = frames.and_then(|at| at.choice(&Target::NAMES));
    let which = which(&fields);
    let iteration = fields.maybe("iteration", |at| at.whole(1..=1_000, "a round, from 1"))?;
    let tamper = fields.need(
        "do",
        "ce, drop, duplicate, bad-icrc, bad-key, rocev2, blue-rdma, {delay: 20us}, {behind: 3} or {rnr: 14}",
    );
    let named = matches!(which, Some(Which::Psn(_))) && frames == Some(Target::Data);
    let tamper = tamper.and_then(|at| match injected(&at)? {
        Injected::NotReady(_) if which.is_some() && frames.is_some() && !named => {
            let want = "rnr with `frames: data` and `psn:`, the first packet of a message";
            at.fault("a receiver that is not ready for something else than a message", want);
            None
        }
        other @ (Injected::Rocev2 | Injected::BlueRdma)
            if which.is_some() && frames.is_some() && !named =>
        {
            let (word, of) = match other {
                Injected::Rocev2 => ("rocev2", "RoCEv2"),
                _ => ("blue-rdma", "blue-rdma"),
            };
            let want =
                format!("{word} with `frames: data` and `psn:`, a packet that begins no message");
            at.fault(format!("something else than one packet of data as one of {of}"), want);
            None
        }
        tamper => Some(tamper),
    });
    Some(Injection {
        on: on?.to_owned(),
        frames: frames?,
        which: which?,
        iteration,
        tamper: tamper?,
    })
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
    const KEYS: [&str; 4] = ["psn", "nth", "every", "chance"];
    let named: Vec<&str> = KEYS.into_iter().filter(|key| fields.get(key).is_some()).collect();
    let [key] = named[..] else {
        fields.at.at_key(
            format!("it names {} frames", named.len()),
            "one of psn, nth, every and chance",
        );
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
    if key == "chance" {
        let chance: Ppm = at.quantity()?;
        if chance == Ppm(0) {
            at.fault("a chance of nothing", "a probability above 0, such as 0.1%");
            return None;
        }
        return Some(Which::Drawn(chance));
    }
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
        let fields = at.fields(&["delay", "behind", "rnr"])?;
        if let Some(at) = fields.get("delay") {
            return traffic::interval(&at).map(Injected::Delay);
        }
        if let Some(at) = fields.get("rnr") {
            let code = at.whole(0..=31, "the code of an RNR timer, such as 14 for 1.28 ms")?;
            return RnrTimer::new(code).map(Injected::NotReady);
        }
        let behind = fields.need("behind", "so many frames; or delay: 20us, or rnr: 14")?;
        return behind.whole(1..=1_000, "a number of frames").map(Injected::Behind);
    }
    at.choice(&[
        ("ce", Injected::Ce),
        ("drop", Injected::Drop),
        ("duplicate", Injected::Duplicate),
        ("bad-icrc", Injected::BadIcrc),
        ("bad-key", Injected::OtherKey),
        ("rocev2", Injected::Rocev2),
        ("blue-rdma", Injected::BlueRdma),
    ])
}
