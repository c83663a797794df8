//! What a case says of rig ports: what is asked of their speeds, how they behave as the device's peers, and what is
//! recorded at them.

use super::names::Names;
use super::places::Places;
use super::traffic::classes;
use crate::Amount;
use crate::case::{Endpoint, PortNeed, Response};
use crate::{Takes, Tap};
use indexmap::IndexMap;
use rig_lab::fault::one_of;
use rig_lab::walk::{At, Fields};
use rig_lab::yaml::{Key, Value};
use rig_units::{Dur, Quanta};

/// Keys of the setup that name ports, and may name some that only other cases use.
pub(super) const OFFERED: [&str; 2] = ["endpoints", "taps"];

/// The setup's block of one name and the case's own, and the ports that the case uses.
#[derive(Debug)]
pub(super) struct Blocks<'w, 'a> {
    /// The key: `endpoints` or `taps`.
    pub(super) part: &'static str,
    pub(super) setup: Option<At<'w>>,
    pub(super) own: Option<At<'w>>,
    pub(super) used: &'a [String],
}

/// What the setup says of a port, and what the case says.
struct Entry<'w> {
    port: String,
    under: Option<At<'w>>,
    over: Option<At<'w>>,
}

impl<'w> Blocks<'w, '_> {
    /// What is said of the ports that the case uses. Of others only the setup may speak.
    fn entries(&self, want: &str) -> Option<Vec<Entry<'w>>> {
        let setup = all(self.setup.as_ref(), want)?;
        let own = all(self.own.as_ref(), want)?;
        for (key, at) in own.iter().filter(|(key, _)| !self.used.contains(&key.name)) {
            not_used(at, &key.name, self.used);
        }
        let of = |list: &[(&Key, At<'w>)], port: &str| {
            list.iter().find(|(key, _)| key.name == port).map(|(_, at)| at.clone())
        };
        let entry = |port: &String| {
            let (under, over) = (of(&setup, port), of(&own, port));
            let said = under.is_some() || over.is_some();
            said.then(|| Entry { port: port.clone(), under, over })
        };
        Some(self.used.iter().filter_map(entry).collect())
    }
}

fn all<'w>(at: Option<&At<'w>>, want: &str) -> Option<Vec<(&'w Key, At<'w>)>> {
    at.map_or_else(|| Some(Vec::new()), |at| at.entries(want))
}

fn not_used(at: &At<'_>, port: &str, used: &[String]) {
    let want = match used {
        [] => "a port of its streams and storms, and there is none".to_owned(),
        used => one_of(port, used.iter().map(String::as_str)),
    };
    at.at_key(format!("the case does not use a port `{port}`"), want);
}

/// What the setup offers to ports that no case uses is a mistake: `used` is what all cases together use.
pub(super) fn offered_to_none(setup: &Fields<'_>, used: &[String]) {
    // Where no case could be read, that is the mistake.
    if used.is_empty() {
        return;
    }
    for block in OFFERED.iter().filter_map(|part| setup.get(part)) {
        let Value::Map(_) = block.node.value else { continue };
        for (key, at) in block.entries("a mapping by rig port").unwrap_or_default() {
            if !used.contains(&key.name) {
                let want = one_of(&key.name, used.iter().map(String::as_str));
                at.at_key(format!("no case uses a port `{}`", key.name), want);
            }
        }
    }
}

/// What is asked of the speeds of the ports that the case uses.
pub(super) fn needs(blocks: &[At<'_>], used: &[String]) -> Option<IndexMap<String, PortNeed>> {
    let mut needs = IndexMap::new();
    for at in blocks {
        for (key, at) in at.entries("a mapping such as {p1: fast, p2: slow}")? {
            if !used.contains(&key.name) {
                not_used(&at, &key.name, used);
            }
            let need = at.choice(&[("fast", PortNeed::Fast), ("slow", PortNeed::Slow)]);
            needs.insert(key.name.clone(), need?);
        }
    }
    Some(needs)
}

/// Ports as peers of the device, a case's fields over the setup's.
pub(super) fn endpoints(
    blocks: &Blocks<'_, '_>,
    names: &Names<'_>,
    places: &mut Places,
) -> Option<IndexMap<String, Endpoint>> {
    const KEYS: [&str; 4] = ["obeys", "response", "pfc", "pn"];
    let entries = blocks.entries("a mapping such as {p1: {obeys: [3, 4]}}")?;
    let mut read = IndexMap::new();
    for Entry { port, under, over } in &entries {
        if let Some(at) = over.as_ref().or(under.as_ref()) {
            places.insert(format!("{}.{port}", blocks.part), at.spot());
        }
        let under = under.as_ref().and_then(|at| at.fields(&KEYS));
        let fields = match over {
            Some(at) => at.fields(&KEYS).map(|fields| fields.over(under)),
            None => under,
        };
        let Some(fields) = fields else { continue };
        for (key, at) in KEYS.iter().filter_map(|key| Some((key, fields.get(key)?))) {
            places.insert(format!("{}.{port}.{key}", blocks.part), at.spot());
        }
        let obeys = fields.or("obeys", u8::MAX, |at| obeys(&at));
        let none = Response::Time(Amount::Exactly(Dur::ZERO));
        let response = fields.or("response", none, |at| response(&at, names));
        let pfc = fields.or("pfc", Takes::Either, |at| at.choice(&Takes::NAMES));
        let pn = fields.or("pn", 1, |at| at.whole(1..=u32::MAX.into(), "a packet number"));
        if let (Some(obeys), Some(response), Some(pfc), Some(pn)) = (obeys, response, pfc, pn) {
            read.insert(port.clone(), Endpoint { obeys, response, pfc, pn });
        }
    }
    (read.len() == entries.len()).then_some(read)
}

/// The classes in which a port obeys PFC.
fn obeys(at: &At<'_>) -> Option<u8> {
    match &at.node.value {
        Value::Text(_) => at.choice(&[("all", u8::MAX), ("none", 0)]),
        Value::List(_) => {
            let listed = classes(at, true)?;
            Some(listed.iter().fold(0, |vector, class| vector | 1 << class))
        }
        Value::Null | Value::Bool(_) | Value::Whole(_) | Value::Real(_) | Value::Map(_) => {
            at.wrong("all, none or a list of classes such as [3, 4]");
            None
        }
    }
}

/// What a port takes to react to PFC.
fn response(at: &At<'_>, names: &Names<'_>) -> Option<Response> {
    const LONGEST: Dur = Dur::s(1);
    let text = at.node.written();
    if names.variables.contains(&text) {
        return names.variable(at, &text).then_some(Response::Time(Amount::Swept(text)));
    }
    if let Ok(quanta) = text.parse::<Quanta>() {
        return Some(Response::Quanta(quanta));
    }
    match text.parse::<Dur>() {
        Ok(time) if time <= LONGEST => Some(Response::Time(Amount::Exactly(time))),
        Ok(time) => {
            at.fault(format!("a port that reacts to PFC after {time}"), "at most 1s");
            None
        }
        Err(_) => {
            let found = format!("{} is not a response time", at.node.describe());
            at.fault(found, "quanta such as 60q, or a length of time such as 400ns");
            None
        }
    }
}

/// What is recorded at ports; a case's word stands over the setup's.
pub(super) fn taps(blocks: &Blocks<'_, '_>, places: &mut Places) -> Option<IndexMap<String, Tap>> {
    let entries = blocks.entries("a mapping such as {p1: all, p2: pfc}")?;
    let mut read = IndexMap::new();
    for Entry { port, under, over } in &entries {
        let Some(at) = over.as_ref().or(under.as_ref()) else { continue };
        places.insert(format!("{}.{port}", blocks.part), at.spot());
        if let Some(tap) = at.choice(&Tap::NAMES) {
            read.insert(port.clone(), tap);
        }
    }
    (read.len() == entries.len()).then_some(read)
}
