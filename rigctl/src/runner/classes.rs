//! What a case asks of the device's classes: a DSCP for each that it sends, and of those that it has paused that they are lossless and
//! guarded. A switch without a class of the kind does nothing wrong.

use super::misfit::configured;
use super::unfit::{Missing, Unfit};
use rig_lab::{Color, Declared, Part, Profile, Switch};
use rig_testcases::case::{CaseAction, Stream};
use rig_testcases::vocabulary::{ByMemory, ByPfc};
use rig_testcases::{Case, Measure, Wanted};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The case as far as the device has the classes for it; what it does without is added to `left_out`.
///
/// # Errors
/// Why nothing of it is left.
pub(super) fn of<'a>(
    profile: &Profile,
    case: &'a Case,
    left_out: &mut Vec<String>,
) -> Result<Cow<'a, Case>, Unfit> {
    // What a case changes on the way it is about.
    let Some(declared) = configured(profile, case).filter(|_| !changes(case)) else {
        return Ok(Cow::Borrowed(case));
    };
    if let Some(why) = unmapped(&declared, case) {
        return Err(Missing::Lab.so(why));
    }
    let Some(switch) = declared.switch() else { return Ok(Cow::Borrowed(case)) };
    let classes = Classes { switch, case };
    let lacking: Vec<(&Measure, String)> = case
        .measure
        .iter()
        .filter_map(|one| Some((one, classes.lacking(one)?)))
        .map(|(one, why)| (one, format!("{}: {why}", one.name())))
        .collect();
    if lacking.is_empty() {
        return Ok(Cow::Borrowed(case));
    }
    // What else the case measures beside a search it measures of the numbers that are found.
    let searched = lacking.iter().find(|(one, _)| !one.searches().is_empty());
    if let Some((_, why)) = searched {
        return Err(Missing::Lab.so(why.clone()));
    }
    if lacking.len() == case.measure.len() {
        let whys: BTreeSet<String> = lacking.into_iter().map(|(_, why)| why).collect();
        let whys = whys.into_iter().collect::<Vec<_>>().join("; ");
        return Err(Missing::Lab.so(format!("nothing of it can be measured: {whys}")));
    }
    let mut rest = case.clone();
    rest.measure.retain(|one| classes.lacking(one).is_none());
    left_out.extend(lacking.into_iter().map(|(_, why)| why));
    Ok(Cow::Owned(rest))
}

/// Whether the case sets another map or other classes on the way.
fn changes(case: &Case) -> bool {
    case.changed().any(|path| path.starts_with("qos."))
}

/// A class, with its colour, that no DSCP is mapped to.
fn unmapped(declared: &Declared, case: &Case) -> Option<String> {
    let streams = case.streams.values().map(|stream| (stream.class, stream.color));
    let flows = case.flows.values().map(|flow| (flow.class, Color::Green));
    let qos = declared.qos();
    let none = |(class, color): &(u8, Color)| qos.dscp_of(*class, *color).is_none();
    let (class, color) = streams.chain(flows).find(none)?;
    Some(match color {
        Color::Green => format!("it maps no DSCP to class {class} (qos.dscp_to_tc)"),
        color => {
            let color = color.name();
            format!("it maps no DSCP to class {class} and {color} (qos.dscp_to_tc, dscp_to_color)")
        }
    })
}

/// The classes of a switch, and a case for it.
struct Classes<'a> {
    switch: &'a Switch,
    case: &'a Case,
}

impl Classes<'_> {
    /// Why what `one` measures says nothing of the device.
    fn lacking(&self, one: &Measure) -> Option<String> {
        let qos = &self.switch.qos;
        let streams = one.streams();
        let named = || streams.iter().filter_map(|stream| self.case.streams.get(*stream));
        // A watchdog is measured on other streams, too: those that meet the storm are its own.
        if let Some(storm) = self.case.storms.get(one.named("storm"))
            && one.entry.guarded
        {
            // Of a group each has its own, also where it enters by the stormed port.
            let meets = |stream: &&Stream| {
                let at_port = [&stream.to, &stream.from].contains(&&storm.from);
                at_port && storm.classes.contains(&stream.class)
            };
            let unguarded = |stream: &&Stream| !qos.pfcwd_sw_enable.contains(&stream.class);
            let class = named().filter(meets).find(unguarded)?.class;
            return Some(format!("no watchdog guards class {class} (qos.pfcwd_sw_enable)"));
        }
        if one.entry.pfc == ByPfc::Streams
            && let Some(stream) = named().find(|stream| !qos.lossless(stream.class))
        {
            return Some(format!("class {} is not lossless (qos.pfc_enable)", stream.class));
        }
        let wanted = one.wanted("expect");
        // An XOFF of its own.
        if one.entry.pfc != ByPfc::No
            && wanted == Wanted::Some
            && let Some(class) = one.arguments.class("class").filter(|class| !qos.lossless(*class))
        {
            return Some(format!("class {class} is not lossless (qos.pfc_enable)"));
        }
        if one.entry.loses
            && wanted == Wanted::All
            && let Some(stream) = named().find(|stream| {
                let dropped = self.switch.pfcwd.big_red_switch || self.holds(stream).is_some();
                dropped && !qos.pfcwd_sw_enable.contains(&stream.class)
            })
        {
            let class = stream.class;
            return Some(format!("no watchdog guards class {class} (qos.pfcwd_sw_enable)"));
        }
        let kept = self.kept_whole(one);
        if let Some(stream) = kept.into_iter().find(|stream| !qos.lossless(stream.class)) {
            return Some(format!("class {} is not lossless (qos.pfc_enable)", stream.class));
        }
        // What is held is what there comes to be too much of.
        if one.entry.loses
            && wanted == Wanted::Some
            && let Some((stream, storm)) = named().find_map(|stream| self.unheld(stream))
        {
            return Some(unheld(stream, storm));
        }
        // What one stream finds in the buffer rests on all that are there, and so do marks.
        let marks = one.entry.parts.is_some_and(|parts| parts.contains(&Part::Wred));
        if marks || one.entry.memory != ByMemory::No {
            let started = self.started();
            let streams =
                self.case.streams.iter().filter(|(name, _)| started.contains(name.as_str()));
            let mut streams = streams.map(|(_, stream)| stream);
            return streams.find_map(|stream| self.unheld(stream)).map(|of| unheld(of.0, of.1));
        }
        None
    }

    /// The streams that `one` names and that are among several of which the case wants nothing lost, though together they offer a port
    /// more than it carries.
    fn kept_whole(&self, one: &Measure) -> Vec<&Stream> {
        let measures = &self.case.measure;
        let whole = |name: &&str| {
            measures.iter().any(|one| {
                let kept = one.entry.loses && one.wanted("expect") == Wanted::None;
                kept && one.streams().contains(name)
            })
        };
        let exceeding = measures.iter().filter(|one| one.entry.exceeds).map(Measure::streams);
        let kept = exceeding.filter(|names| names.iter().all(whole));
        let kept: BTreeSet<&str> = kept.flatten().collect();
        let asked = one.entry.exceeds || one.entry.loses && one.wanted("expect") == Wanted::None;
        let own = one.streams().into_iter().filter(|name| asked && kept.contains(name));
        own.filter_map(|name| self.case.streams.get(name)).collect()
    }

    /// What the case starts, by name.
    fn started(&self) -> BTreeSet<&str> {
        let started = self.case.steps.iter().filter_map(|step| match &step.what {
            CaseAction::Start { names, .. } => Some(names),
            _ => None,
        });
        started.flatten().map(String::as_str).collect()
    }

    /// The storm that pauses a stream's class where it leaves.
    fn holds(&self, stream: &Stream) -> Option<&str> {
        let started = self.started();
        let mut storms = self.case.storms.iter().map(|(name, storm)| (name.as_str(), storm));
        let holds = storms.find(|(name, storm)| {
            let own = storm.from == stream.to && storm.classes.contains(&stream.class);
            own && started.contains(name)
        });
        holds.map(|(name, _)| name)
    }

    /// A stream whose class does not obey, and the storm that pauses it.
    fn unheld<'a>(&'a self, stream: &'a Stream) -> Option<(&'a Stream, &'a str)> {
        let lossy = !self.switch.qos.lossless(stream.class);
        Some((stream, self.holds(stream).filter(|_| lossy)?))
    }
}

fn unheld(stream: &Stream, storm: &str) -> String {
    let class = stream.class;
    format!("class {class} is not lossless (qos.pfc_enable), and `{storm}` is to hold frames of it")
}

#[cfg(test)]
mod tests;
