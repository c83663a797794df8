//! What stands behind one key of a measure, by its kind.

use super::amount::amount;
use super::measure::{Traffic, arguments};
use super::traffic;
use crate::case::Count;
use crate::vocabulary::{Argument, Field, Given, Need, ValueKind, WINDOW};
use crate::{Wanted, Window};
use rig_lab::walk::At;
use rig_lab::yaml;
use rig_units::L2Rate;

const WANTED: [(&str, Wanted); 3] =
    [("none", Wanted::None), ("some", Wanted::Some), ("all", Wanted::All)];
const SEARCHED: &str = "streams of the case with `count: searched`, such as [a, b]";

/// Reads the value of a field.
pub(super) fn value(field: &Field, at: &At<'_>, traffic: &Traffic<'_>) -> Option<Argument> {
    let names = traffic.names;
    let want = match field.need {
        Need::Required(want) => want,
        Need::Optional => field.about,
    };
    Some(match field.kind {
        ValueKind::Storm | ValueKind::OneStorm => Argument::Names(names.storm(at)?),
        ValueKind::Stream => Argument::Names(names.stream(at)?),
        ValueKind::Flow => Argument::Names(names.flow(at)?),
        ValueKind::Ports => Argument::Names(traffic::ports(at)?),
        ValueKind::OnePort => Argument::Names(vec![traffic::port(at)?]),
        ValueKind::OneSearched | ValueKind::Searched => Argument::Names(searched(at, traffic)?),
        ValueKind::Streams => {
            let all = at.list("a list of streams")?;
            Argument::Names(streams(at, &all, "the streams that share a port", traffic)?)
        }
        ValueKind::SomeStreams => Argument::Names(streams(at, &at.one_or_many(), want, traffic)?),
        ValueKind::Flows => Argument::Names(flows(at, traffic)?),
        ValueKind::Class => Argument::Class(traffic::class(at)?),
        ValueKind::Duration => Argument::Dur(at.quantity()?),
        ValueKind::Interval => Argument::Dur(traffic::interval(at)?),
        ValueKind::Amount => Argument::Amount(amount(at, names)?),
        ValueKind::Rate => Argument::Rate(at.quantity::<L2Rate>()?.bps),
        ValueKind::Share => Argument::Share(at.quantity()?),
        ValueKind::Whole(what) => Argument::Whole(at.whole(1..=i64::from(u32::MAX), what)?),
        ValueKind::Word(words) => {
            let words: Vec<_> = words.iter().map(|&word| (word, word)).collect();
            Argument::Word(at.choice(&words)?)
        }
        ValueKind::Wanted(words) => Argument::Wanted(at.choice(words)?),
        ValueKind::Count if matches!(at.node.value, yaml::Value::Whole(0)) => {
            Argument::Wanted(Wanted::None)
        }
        ValueKind::Count => Argument::Wanted(at.choice(&WANTED)?),
        ValueKind::Windows => Argument::Windows(windows(at, want, traffic)?),
    })
}

/// Every stream of a list, which must name one.
fn streams(at: &At<'_>, all: &[At<'_>], want: &str, traffic: &Traffic<'_>) -> Option<Vec<String>> {
    let read: Vec<_> = all.iter().filter_map(|at| traffic.names.stream(at)).collect();
    if all.is_empty() {
        at.fault("no stream", want);
    }
    (read.len() == all.len() && !all.is_empty()).then(|| read.concat())
}

/// Streams whose number of frames is searched.
fn searched(at: &At<'_>, traffic: &Traffic<'_>) -> Option<Vec<String>> {
    let streams = streams(at, &at.one_or_many(), SEARCHED, traffic)?;
    let fixed = |name: &&String| {
        traffic.streams.get(*name).is_some_and(|stream| stream.count != Some(Count::Searched))
    };
    if let Some(name) = streams.iter().find(fixed) {
        at.fault(format!("the number of frames of `{name}` is not searched"), SEARCHED);
        return None;
    }
    Some(streams)
}

/// Flows that share a path.
fn flows(at: &At<'_>, traffic: &Traffic<'_>) -> Option<Vec<String>> {
    let all = at.list("a list of flows")?;
    let read: Vec<_> = all.iter().filter_map(|at| traffic.names.flow(at)).collect();
    let flows = read.concat();
    if read.len() == all.len() && flows.len() < 2 {
        at.fault(format!("{} flows share a path", flows.len()), "at least two");
    }
    let mut twice = (1..flows.len()).filter(|&i| flows[..i].contains(&flows[i]));
    if let Some(i) = twice.next() {
        at.fault(format!("`{}` twice", flows[i]), "each flow once");
    }
    (read.len() == all.len()).then_some(flows)
}

fn windows(at: &At<'_>, want: &str, traffic: &Traffic<'_>) -> Option<Vec<Window>> {
    let all = at.list(want)?;
    let read = all.iter().filter_map(|at| {
        let (fields, (of, whole)) = arguments(at, &WINDOW, traffic)?;
        let given = Given { at, fields: &fields, of: &of, streams: traffic.streams };
        given.ordered();
        of.window().filter(|_| whole)
    });
    let windows: Vec<Window> = read.collect();
    (windows.len() == all.len()).then_some(windows)
}
