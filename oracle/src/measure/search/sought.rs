//! Numbers of frames that are searched: where a device sends XOFF, where it drops, where it sends XON. Without any idea of what is
//! found.

use super::super::counted_late;
use super::super::measurement::{Known, Red};
use super::super::served;
use super::super::stamps::{self, Stamps};
use super::super::unfilled;
use crate::trials::context::Context;
use crate::trials::threshold_search::{Event, Stage};
use rig_lab::{Accounting, Declared, Fault, Part};
use rig_testcases::vocabulary::{
    ByMemory, ByPfc, Entry, Field, Given, Looks, StreamEnds, ValueKind, named, optional, required,
};
use rig_testcases::{Case, Measure, Script, Tap};
use std::collections::BTreeSet;

/// `buffer.xoff`.
pub(in super::super) static XOFF: Known = Known {
    entry: Entry {
        name: "buffer.xoff",
        parts: Some(&[Part::Buffer]),
        pfc: ByPfc::Streams,
        memory: ByMemory::Shared,
        about: "the number of frames held that makes the device send XOFF",
        source: "F4, F5",
        ..GROWN
    },
    red: Red::Mutated("thresholds-in-turn-broadcom", "buffer.dynamic_th=+1"),
    unpromised: Some(counted_late::by_several),
    over_memories: |measure| !measure.says("together"),
    ..Known::SEARCH
};

/// `buffer.drop`.
pub(in super::super) static DROP: Known = Known {
    entry: Entry {
        name: "buffer.drop",
        parts: Some(&[Part::Buffer]),
        memory: ByMemory::Held,
        about: "the number of frames of which the last is the first that is lost",
        source: "F5",
        ..GROWN
    },
    red: Red::Mutated("shared-headroom-pool-broadcom", "buffer.headroom_pool=x0.9"),
    stamps: Some(counted_as_they_drain),
    unpromised: Some(|measure, context, script| {
        let names = measure.searches();
        let drains = served::drains(measure, context, script);
        drains
            .or_else(|| unfilled::never_grows(&names, context, script))
            .or_else(|| counted_late::by_several(measure, context, script))
    }),
    over_memories: |measure| !measure.says("together"),
    ..Known::SEARCH
};

/// `buffer.xon`.
pub(in super::super) static XON: Known = Known {
    entry: Entry {
        name: "buffer.xon",
        parts: Some(&[Part::Buffer]),
        pfc: ByPfc::Streams,
        memory: ByMemory::Shared,
        about: "of a group held at its XOFF, the number of frames that must leave for the device to send XON",
        source: "F4, F5",
        fields: &[
            required(
                "stay",
                ValueKind::OneSearched,
                "a stream with `count: searched`",
                "the stream that stays held",
            ),
            required(
                "leave",
                ValueKind::OneSearched,
                "a stream with `count: searched`",
                "the stream of the same group whose frames leave",
            ),
        ],
        check: one_group_two_ports,
        looks: &SEARCHED,
        ..Entry::USUAL
    },
    red: Red::Mutated("xon-point-broadcom", "buffer.xon_offset=x2"),
    unpromised: Some(counted_late::by_any),
    ..Known::SEARCH
};

/// Of several that grow at once some are drained meanwhile: who is off by the time of a frame holds another number of them.
fn counted_as_they_drain(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
) -> Option<Stamps> {
    let names = measure.names("together");
    let named = script.streams.iter().filter(|spec| names.contains(&spec.name));
    let slot =
        named.map(|spec| stamps::speed(context, script, spec.from).slot(spec.on_wire())).min();
    Some(stamps::frames(slot?, "what it counts is drained meanwhile"))
}

/// What is asked of streams that grow.
const GROWN: Entry =
    Entry { fields: &GROWING, check: apart, looks: &SEARCHED, fits: one_limit, ..Entry::USUAL };

/// Streams that grow one after the other, or together.
const GROWING: [Field; 2] = [
    optional(
        "streams",
        ValueKind::Searched,
        "one after the other, each held at what was found for it",
    ),
    optional("together", ValueKind::Searched, "all at once, by the same number of frames"),
];

/// What has to be seen of a stream whose number of frames is searched.
const SEARCHED: [Looks; 2] =
    [Looks::FOLLOWS, Looks::of(named, StreamEnds::In, Tap::Pfc, "looks for PFC frames")];

/// Which number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sought {
    /// The number of frames held that makes the device send XOFF (F4, F5).
    Xoff,
    /// The number of frames of which the last is the first that is lost: a lossless group's headroom is full, or a lossy queue at
    /// its limit (F5).
    Drop,
    /// Of a group held at its XOFF, the number of frames that must leave for the device to send XON.
    Xon,
}

/// One search.
#[derive(Debug)]
pub(super) struct Searched<'a> {
    pub(super) name: &'static str,
    pub(super) sought: Sought,
    /// Counted streams. Of an XON the one that stays held, and the one of the same group whose frames leave.
    pub(super) streams: Vec<&'a str>,
    /// Whether the groups of several grow all at once, by the same number of frames. Else one after the other, each earlier one
    /// held at the number that was found for it.
    pub(super) together: bool,
}

impl<'a> Searched<'a> {
    /// What a measure of a case searches, if it is a search.
    pub(super) fn asked(measure: &'a Measure) -> Option<Searched<'a>> {
        let all = [(&XOFF, Sought::Xoff), (&DROP, Sought::Drop), (&XON, Sought::Xon)];
        let (_, sought) = all.into_iter().find(|(one, _)| one.entry.name == measure.name())?;
        let (name, streams) = (measure.name(), measure.searches());
        Some(Searched { name, sought, streams, together: measure.says("together") })
    }

    /// The numbers that it consists of, in the order in which they are found.
    pub(super) fn stages(&self) -> Vec<Stage> {
        let (event, less) = match self.sought {
            Sought::Xoff | Sought::Xon => (Event::Xoff, 0),
            // Held short of its first loss, so that what it holds is known.
            Sought::Drop => (Event::Drop, 1),
        };
        let stage = |streams: &[&str]| Stage {
            streams: streams.iter().map(ToString::to_string).collect(),
            event,
            from: None,
            less,
        };
        if self.together {
            return vec![stage(&self.streams)];
        }
        let mut stages: Vec<Stage> = self.streams.chunks(1).map(stage).collect();
        if let ([stay, leave], Sought::Xon) = (stages.as_mut_slice(), self.sought) {
            (leave.event, leave.from) = (Event::Xon, stay.streams.first().cloned());
        }
        stages
    }
}

/// Whose limit it is that streams share, if any, is the device's to say: a group's or a queue's.
fn apart(given: &Given<'_>) -> bool {
    let Some((in_turn, at)) = given.fields.either("streams", "together") else {
        if !given.says("streams") && !given.says("together") {
            let want = "`streams: [a, b]`, one after the other, or `together: [a, b]`";
            given.at.at_key("it names no stream", want);
        }
        return false;
    };
    let key = if in_turn { "streams" } else { "together" };
    let names = given.of.names(key).unwrap_or_default();
    let place = |name: &String| {
        given.streams.get(name).map(|of| (of.from.clone(), of.to.clone(), of.class))
    };
    for (i, name) in names.iter().enumerate() {
        if let Some(other) = names[..i].iter().find(|other| place(other) == place(name)) {
            let found = format!("`{other}` and `{name}` fill the same group and queue");
            at.fault(found, "streams that differ in a port or in their class");
            return false;
        }
    }
    true
}

fn one_group_two_ports(given: &Given<'_>) -> bool {
    let (Some(stay), Some(leave)) = (given.of.name("stay"), given.of.name("leave")) else {
        return true;
    };
    let group = |name: &str| given.streams.get(name).map(|of| (&of.from, of.class, of.size));
    let port = |name: &str| given.streams.get(name).map(|of| &of.to);
    if group(stay) != group(leave) || port(stay) == port(leave) {
        given.at.fault(
            format!("`{stay}` and `{leave}` do not fill one group towards two ports"),
            "two streams of one port, class and frame size, addressed to different ports",
        );
        return false;
    }
    true
}

/// Refuses streams that grow together of which some share what the device limits, and some do not: of a mixture nothing is predicted.
fn one_limit(
    measure: &Measure,
    case: &Case,
    declared: &Declared,
    script: &Script,
) -> Result<(), Fault> {
    let Some(switch) = declared.switch() else { return Ok(()) };
    let streams = measure.names("together");
    let own = script.streams.iter().filter(|spec| streams.contains(&spec.name));
    let limited = own.map(|spec| match switch.buffer.accounting {
        Accounting::Ingress => (spec.from, spec.class),
        Accounting::Voq => (spec.to, spec.class),
    });
    let limits = limited.collect::<BTreeSet<_>>().len();
    if limits <= 1 || limits == streams.len() {
        return Ok(());
    }
    let what = match switch.buffer.accounting {
        Accounting::Ingress => "group",
        Accounting::Voq => "queue",
    };
    let found =
        format!("some of the streams of `{}` share a {what}, and some do not", measure.name());
    let want = format!("streams that are all of one {what}, or each of its own");
    Err(case.fault(&format!("streams.{}", streams[0]), found, want))
}
