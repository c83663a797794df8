//! What is measured: entries of the vocabulary with their arguments.

use super::argument::value;
use super::names::Names;
use crate::Measure;
use crate::case::{Storm, Stream};
use crate::vocabulary::{Argument, Arguments, Entry, Field, Given, Need, Vocabulary};
use indexmap::IndexMap;
use rig_lab::fault::one_of;
use rig_lab::walk::{At, Fields};

/// The streams and storms that a measure's names point at.
#[derive(Debug)]
pub(super) struct Traffic<'a> {
    pub(super) vocabulary: &'a dyn Vocabulary,
    pub(super) streams: &'a IndexMap<String, Stream>,
    pub(super) storms: &'a IndexMap<String, Storm>,
    pub(super) names: &'a Names<'a>,
}

/// Reads one entry of `measure:`; groups of streams and storms make one measure for each member.
pub(super) fn measure(at: &At<'_>, traffic: &Traffic<'_>) -> Option<Vec<Measure>> {
    let entries = at.entries("{measure: {...}} with one of the measures")?;
    let [(key, at)] = entries.as_slice() else {
        at.fault(format!("{} measures in one entry", entries.len()), "one measure an entry");
        return None;
    };
    let Some(entry) = traffic.vocabulary.entry(&key.name) else {
        let all = traffic.vocabulary.entries();
        let all = all.iter().map(|entry| entry.name);
        at.at_key(format!("there is no measure `{}`", key.name), one_of(&key.name, all));
        return None;
    };
    let (fields, (of, whole)) = arguments(at, entry.fields, traffic)?;
    let members = members(entry, &fields, &of, traffic);
    let given = Given { at, fields: &fields, of: &of, streams: traffic.streams };
    let right = (entry.check)(&given);
    let members = members.filter(|_| whole && right)?.into_iter();
    Some(members.map(|arguments| Measure { entry, arguments }).collect())
}

/// The arguments for some fields, as far as they can be read, and whether that is all of them.
pub(super) fn arguments<'w>(
    at: &At<'w>,
    fields: &[Field],
    traffic: &Traffic<'_>,
) -> Option<(Fields<'w>, (Arguments, bool))> {
    let keys: Vec<&str> = fields.iter().map(|field| field.key).collect();
    let written = at.fields(&keys)?;
    let (mut of, mut whole) = (Arguments::default(), true);
    for field in fields {
        let at = match field.need {
            Need::Required(want) => written.need(field.key, want),
            Need::Optional => written.get(field.key),
        };
        let read = at.as_ref().and_then(|at| value(field, at, traffic));
        whole &= read.is_some() || at.is_none() && field.need == Need::Optional;
        if let Some(value) = read {
            of.set(field.key, value);
        }
    }
    Some((written, (of, whole)))
}

/// The arguments of each member of a group. Of storms and streams there are as many, or one for all.
fn members(
    entry: &Entry,
    fields: &Fields<'_>,
    of: &Arguments,
    traffic: &Traffic<'_>,
) -> Option<Vec<Arguments>> {
    let groups: Vec<(&'static str, Vec<String>)> = entry
        .fields
        .iter()
        .filter(|field| field.kind.is_group())
        .filter_map(|field| Some((field.key, of.names(field.key)?.to_vec())))
        .collect();
    let count = groups.iter().map(|(_, names)| names.len()).max().unwrap_or(1);
    if let [(_, storms), (_, streams)] = groups.as_slice()
        && let Some(at) = fields.get("storm").and(fields.get("stream"))
        && (![1, count].contains(&storms.len()) || ![1, count].contains(&streams.len()))
    {
        let found = format!("{} storms and {} streams", storms.len(), streams.len());
        at.fault(found, "as many of one as of the other, or a single one");
        return None;
    }
    let member = |i: usize| {
        let mut one = of.clone();
        for (key, names) in &groups {
            let name = names.get(i).or(names.first()).cloned();
            one.set(key, Argument::Names(name.into_iter().collect()));
        }
        one
    };
    let all: Vec<Arguments> = (0..count).map(member).collect();
    let passes = |of: &Arguments| match (of.name("storm"), of.name("stream")) {
        (Some(storm), Some(stream)) => passes(storm, stream, traffic),
        _ => true,
    };
    if let (Some(apart), Some(at)) = (all.iter().find(|of| !passes(of)), fields.get("stream")) {
        let name = |key| apart.name(key).unwrap_or_default();
        let (stream, storm) = (name("stream"), name("storm"));
        let found = format!("the stream `{stream}` does not pass a queue that `{storm}` pauses");
        at.fault(found, "a stream of a stormed class, to or from the stormed port");
        return None;
    }
    Some(all)
}

/// Whether a stream passes a stormed queue: leaves the device by the stormed port, or enters by it.
fn passes(storm: &str, stream: &str, traffic: &Traffic<'_>) -> bool {
    match (traffic.storms.get(storm), traffic.streams.get(stream)) {
        (Some(storm), Some(stream)) => {
            let at_port = stream.to == storm.from || stream.from == storm.from;
            at_port && storm.classes.contains(&stream.class)
        }
        _ => true,
    }
}
