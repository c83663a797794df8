//! What is measured.

use super::amount::amount;
use super::names::Names;
use super::{carried, traffic, window};
use crate::case::{Count, Storm, Stream};
use crate::{Amount, First, Growth, Measure, NicMeasure, Threshold, Wanted};
use indexmap::IndexMap;
use rig_frames::ip::Ecn;
use rig_lab::fault::one_of;
use rig_lab::walk::{At, Fields};
use rig_units::Dur;

/// Names of measures in YAML. `config` is not among them: a case asks for it with `configure:` and `expect:`.
const NAMES: [&str; 34] = [
    "pfcwd.detection",
    "pfcwd.restoration",
    "pfcwd.fired",
    "pfcwd.action",
    "loss",
    "throughput",
    "share.withheld",
    "counters",
    "storm.coverage",
    "pfc.sent",
    "pfc.format",
    "buffer.xoff",
    "buffer.drop",
    "buffer.xon",
    "buffer.watermarks",
    "watermarks.copies",
    "pfc.latency",
    "pfc.response",
    "pfc.pause",
    "pfc.duty",
    "pfc.counters",
    "headroom.loss",
    "ecn.curve",
    "ecn.marks",
    "ecn.counters",
    "ecn.order",
    "macsec.counters",
    "macsec.frames",
    "macsec.pfc",
    "rc.receiver",
    "rc.completion",
    "rate.goodput",
    "rate.shares",
    "rate.fixed_point",
];

/// The streams and storms that a measure's names point at.
pub(super) struct Traffic<'a> {
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
    let storm_stream = |more: &[&str]| {
        let allowed: Vec<&str> = ["storm", "stream"].iter().chain(more).copied().collect();
        let fields = at.fields(&allowed)?;
        let pairs = pairs(&fields, traffic)?;
        Some((fields, pairs))
    };
    let each = |pairs: Vec<(String, String)>, make: &dyn Fn(String, String) -> Measure| {
        Some(pairs.into_iter().map(|(storm, stream)| make(storm, stream)).collect())
    };
    match key.name.as_str() {
        "pfcwd.detection" => {
            let (fields, pairs) = storm_stream(&["at_most"])?;
            let at_most: Option<Dur> = match fields.get("at_most") {
                Some(at) => Some(traffic::interval(&at)?),
                None => None,
            };
            each(pairs, &|storm, stream| Measure::Detection { storm, stream, at_most })
        }
        "pfcwd.restoration" => {
            let (_, pairs) = storm_stream(&[])?;
            each(pairs, &|storm, stream| Measure::Restoration { storm, stream })
        }
        "pfcwd.fired" => {
            let (fields, pairs) = storm_stream(&["expect"])?;
            let expect = match fields.get("expect") {
                Some(at) => Some(at.choice(&[("always", true), ("never", false)])?),
                None => None,
            };
            each(pairs, &|storm, stream| Measure::Fired { storm, stream, expect })
        }
        "pfcwd.action" => {
            let (_, pairs) = storm_stream(&[])?;
            each(pairs, &|storm, stream| Measure::ActionTaken { storm, stream })
        }
        "counters" => {
            let (_, pairs) = storm_stream(&[])?;
            each(pairs, &|storm, stream| Measure::Counters { storm, stream })
        }
        "loss" => loss(at, traffic),
        "throughput" => {
            let (streams, (from, until)) = sharing(at, traffic)?;
            Some(vec![Measure::Throughput { streams, from, until }])
        }
        "share.withheld" => {
            let (streams, (from, until)) = sharing(at, traffic)?;
            Some(vec![Measure::Withheld { streams, from, until }])
        }
        "storm.coverage" => {
            let fields = at.fields(&["storm"])?;
            let storms = traffic.names.storm(&fields.need("storm", "a storm")?)?;
            Some(storms.into_iter().map(|storm| Measure::Coverage { storm }).collect())
        }
        "pfc.sent" => pfc_sent(at, traffic),
        "pfc.format" => ports(at, &|port| Measure::PfcFormat { port }),
        "buffer.xoff" => {
            let (streams, growth) = growing(at, traffic)?;
            Some(vec![Measure::Threshold(Threshold::Xoff { streams, growth })])
        }
        "buffer.drop" => {
            let (streams, growth) = growing(at, traffic)?;
            Some(vec![Measure::Threshold(Threshold::Drop { streams, growth })])
        }
        "buffer.xon" => xon(at, traffic),
        "ecn.curve" => ecn_curve(at, traffic),
        "ecn.marks" => {
            let fields = at.fields(&["stream", "expect"])?;
            let streams = traffic.names.stream(&fields.need("stream", "a stream of the case")?)?;
            let expect = fields.need("expect", "none, some or all")?.choice(&[
                ("none", Wanted::None),
                ("some", Wanted::Some),
                ("all", Wanted::All),
            ])?;
            let marks = |stream| Measure::EcnMarks { stream, expect };
            Some(streams.into_iter().map(marks).collect())
        }
        "ecn.counters" => streams(at, traffic, &|stream| Measure::EcnCounters { stream }),
        "ecn.order" => {
            let fields = at.fields(&["stream", "first"])?;
            let streams = traffic.names.stream(&fields.need("stream", "a load of the case")?)?;
            let first = match fields.get("first") {
                None => First::Ecn,
                Some(at) => at.choice(&[("ecn", First::Ecn), ("pfc", First::Pfc)])?,
            };
            Some(streams.into_iter().map(|stream| Measure::EcnOrder { stream, first }).collect())
        }
        "buffer.watermarks" => streams(at, traffic, &|stream| Measure::Watermarks { stream }),
        "watermarks.copies" => streams(at, traffic, &|stream| Measure::Copies { stream }),
        "pfc.latency" => streams(at, traffic, &|stream| Measure::XoffLatency { stream }),
        "pfc.response" => streams(at, traffic, &|stream| Measure::Response { stream }),
        "pfc.pause" => streams(at, traffic, &|stream| Measure::PauseLength { stream }),
        "headroom.loss" => {
            let fields = at.fields(&["stream", "expect"])?;
            let streams = traffic.names.stream(&fields.need("stream", "a load of the case")?)?;
            let expect = match fields.get("expect") {
                None => Wanted::Predicted,
                Some(at) => at.choice(&[("none", Wanted::None), ("some", Wanted::Some)])?,
            };
            let each = streams.into_iter().map(|stream| Measure::HeadroomLoss { stream, expect });
            Some(each.collect())
        }
        "pfc.counters" => {
            let fields = at.fields(&["port", "class"])?;
            let ports = fields.need("port", "the rig port at the other end");
            let class = fields.need("class", "0 to 7").and_then(|at| traffic::class(&at));
            let (ports, class) = (traffic::ports(&ports?)?, class?);
            Some(ports.into_iter().map(|port| Measure::PfcCounters { port, class }).collect())
        }
        "macsec.counters" => ports(at, &|port| Measure::MacsecCounters { port }),
        "macsec.frames" => ports(at, &|port| Measure::MacsecFrames { port }),
        "macsec.pfc" => {
            let (_, pairs) = storm_stream(&[])?;
            each(pairs, &|storm, stream| Measure::MacsecPfc { storm, stream })
        }
        name if NicMeasure::OF_PORT.contains(&name) => {
            let fields = at.fields(&["port"])?;
            let ports = traffic::ports(&fields.need("port", "the rig port in front of the NIC")?)?;
            let each = ports.into_iter().filter_map(|port| NicMeasure::of_port(name, port));
            Some(each.map(Measure::Nic).collect())
        }
        name if NicMeasure::OF_FLOW.contains(&name) => {
            let fields = at.fields(&["flow"])?;
            let flows = traffic.names.flow(&fields.need("flow", "a flow of the case")?)?;
            let each = flows.into_iter().filter_map(|flow| NicMeasure::of_flow(name, flow));
            Some(each.map(Measure::Nic).collect())
        }
        "rate.goodput" => carried::goodput(at, traffic.names),
        "rc.completion" => carried::completion(at, traffic.names),
        "rate.shares" => window::shares(at, traffic.names),
        "rate.fixed_point" => window::fixed_point(at, traffic.names),
        "rc.receiver" => {
            let fields = at.fields(&["stream", "flow"])?;
            let named = match (fields.get("stream"), fields.get("flow")) {
                (Some(at), None) => traffic.names.stream(&at)?,
                (None, Some(at)) => traffic.names.flow(&at)?,
                (None, None) | (Some(_), Some(_)) => {
                    at.fault("a receiver of nothing, or of two things", "`stream:` or `flow:`");
                    return None;
                }
            };
            let each = named.into_iter().map(|of| Measure::Nic(NicMeasure::Receiver { of }));
            Some(each.collect())
        }
        "pfc.duty" => {
            let (fields, pairs) = storm_stream(&["from", "until"])?;
            let when = |name: &str| {
                fields
                    .need(name, "an instant of the trial")
                    .and_then(|at| amount(&at, traffic.names))
            };
            let (from, until) = (when("from")?, when("until")?);
            each(pairs, &|storm, stream| Measure::Duty {
                storm,
                stream,
                from: from.clone(),
                until: until.clone(),
            })
        }
        name => {
            let all = NAMES.into_iter().chain(NicMeasure::OF_PORT).chain(NicMeasure::OF_FLOW);
            at.at_key(format!("there is no measure `{name}`"), one_of(name, all));
            None
        }
    }
}

/// Storms and the streams that show them. The stream must pass a stormed queue: leave the device by the stormed port,
/// or enter by it.
fn pairs(fields: &Fields<'_>, traffic: &Traffic<'_>) -> Option<Vec<(String, String)>> {
    let storms =
        fields.need("storm", "a storm of the case").and_then(|at| traffic.names.storm(&at));
    let stream_at = fields.need("stream", "a stream of the case");
    let streams = stream_at.as_ref().and_then(|at| traffic.names.stream(at));
    let (storms, streams, at) = (storms?, streams?, stream_at?);
    let count = storms.len().max(streams.len());
    if ![1, count].contains(&storms.len()) || ![1, count].contains(&streams.len()) {
        let found = format!("{} storms and {} streams", storms.len(), streams.len());
        at.fault(found, "as many of one as of the other, or a single one");
        return None;
    }
    let pick =
        |list: &[String], i: usize| list.get(i).or(list.first()).cloned().unwrap_or_default();
    let pairs: Vec<_> = (0..count).map(|i| (pick(&storms, i), pick(&streams, i))).collect();
    let apart = pairs.iter().find(|(storm, stream)| {
        match (traffic.storms.get(storm), traffic.streams.get(stream)) {
            (Some(storm), Some(stream)) => {
                let at_port = stream.to == storm.from || stream.from == storm.from;
                !at_port || !storm.classes.contains(&stream.class)
            }
            _ => false,
        }
    });
    if let Some((storm, stream)) = apart {
        let found = format!("the stream `{stream}` does not pass a queue that `{storm}` pauses");
        at.fault(found, "a stream of a stormed class, to or from the stormed port");
        return None;
    }
    Some(pairs)
}

const WANTED: [(&str, Wanted); 3] =
    [("none", Wanted::None), ("some", Wanted::Some), ("all", Wanted::All)];

/// `expect:` of a number of frames; 0 is `none`.
fn wanted(fields: &Fields<'_>) -> Option<Wanted> {
    match fields.get("expect") {
        None => Some(Wanted::Predicted),
        Some(at) if matches!(at.node.value, rig_lab::yaml::Value::Whole(0)) => Some(Wanted::None),
        Some(at) => at.choice(&WANTED),
    }
}

fn loss(at: &At<'_>, traffic: &Traffic<'_>) -> Option<Vec<Measure>> {
    let fields = at.fields(&["stream", "expect"])?;
    let streams =
        fields.need("stream", "a stream of the case").and_then(|at| traffic.names.stream(&at));
    let expect = wanted(&fields)?;
    Some(streams?.into_iter().map(|stream| Measure::Loss { stream, expect }).collect())
}

/// Streams that share a port, and from when until when.
fn sharing(at: &At<'_>, traffic: &Traffic<'_>) -> Option<(Vec<String>, (Amount, Amount))> {
    let fields = at.fields(&["streams", "from", "until"])?;
    let streams = fields.need("streams", "the streams that share a port, such as [a, b]");
    let streams = streams.and_then(|at| {
        let all = at.list("a list of streams")?;
        let read: Vec<_> = all.iter().filter_map(|at| traffic.names.stream(at)).collect();
        if all.is_empty() {
            at.fault("no stream", "the streams that share a port");
        }
        (read.len() == all.len() && !all.is_empty()).then(|| read.concat())
    });
    let when = |name: &str| {
        fields.need(name, "an instant of the trial").and_then(|at| amount(&at, traffic.names))
    };
    let (from, until) = (when("from"), when("until"));
    let (streams, from, until) = (streams?, from?, until?);
    if let (Amount::Exactly(from), Amount::Exactly(until)) = (&from, &until)
        && until <= from
    {
        at.fault(format!("from {from} until {until}"), "an end after the beginning");
    }
    Some((streams, (from, until)))
}

/// A measure for each port.
fn ports(at: &At<'_>, make: &dyn Fn(String) -> Measure) -> Option<Vec<Measure>> {
    let fields = at.fields(&["port"])?;
    let ports = traffic::ports(&fields.need("port", "the rig port at the other end")?)?;
    Some(ports.into_iter().map(make).collect())
}

/// A measure for each stream.
fn streams(
    at: &At<'_>,
    traffic: &Traffic<'_>,
    make: &dyn Fn(String) -> Measure,
) -> Option<Vec<Measure>> {
    let fields = at.fields(&["stream"])?;
    let streams = traffic.names.stream(&fields.need("stream", "a stream of the case")?)?;
    Some(streams.into_iter().map(make).collect())
}

const SEARCHED: &str = "streams of the case with `count: searched`, such as [a, b]";

/// Streams that grow one after the other, or together.
fn growing(at: &At<'_>, traffic: &Traffic<'_>) -> Option<(Vec<String>, Growth)> {
    let fields = at.fields(&["streams", "together"])?;
    if let Some((in_turn, at)) = fields.either("streams", "together") {
        let growth = if in_turn { Growth::InTurn } else { Growth::Together };
        let streams = searched(&at, traffic)?;
        // Whose limit it is that they share, if any, is the device's to say: a group's or a queue's.
        let place = |name: &String| {
            traffic.streams.get(name).map(|of| (of.from.clone(), of.to.clone(), of.class))
        };
        for (i, name) in streams.iter().enumerate() {
            if let Some(other) = streams[..i].iter().find(|other| place(other) == place(name)) {
                let found = format!("`{other}` and `{name}` fill the same group and queue");
                at.fault(found, "streams that differ in a port or in their class");
                return None;
            }
        }
        return Some((streams, growth));
    }
    if fields.get("streams").is_none() && fields.get("together").is_none() {
        at.at_key(
            "it names no stream",
            "`streams: [a, b]`, one after the other, or `together: [a, b]`",
        );
    }
    None
}

/// Streams whose number of frames is searched.
fn searched(at: &At<'_>, traffic: &Traffic<'_>) -> Option<Vec<String>> {
    let all = at.one_or_many();
    let read: Vec<_> = all.iter().filter_map(|at| traffic.names.stream(at)).collect();
    if all.is_empty() {
        at.fault("no stream", SEARCHED);
    }
    if read.len() != all.len() || all.is_empty() {
        return None;
    }
    let streams = read.concat();
    let fixed = |name: &&String| {
        traffic.streams.get(*name).is_some_and(|stream| stream.count != Some(Count::Searched))
    };
    if let Some(name) = streams.iter().find(fixed) {
        at.fault(format!("the number of frames of `{name}` is not searched"), SEARCHED);
        return None;
    }
    Some(streams)
}

/// Two streams of one priority group.
fn xon(at: &At<'_>, traffic: &Traffic<'_>) -> Option<Vec<Measure>> {
    let fields = at.fields(&["stay", "leave"])?;
    let one = |key: &str| {
        let at = fields.need(key, "a stream with `count: searched`")?;
        searched(&at, traffic)?.into_iter().next()
    };
    let (stay, leave) = (one("stay")?, one("leave")?);
    let group = |name: &String| {
        traffic.streams.get(name).map(|stream| (&stream.from, stream.class, stream.size))
    };
    let port = |name: &String| traffic.streams.get(name).map(|stream| &stream.to);
    if group(&stay) != group(&leave) || port(&stay) == port(&leave) {
        let found = format!("`{stay}` and `{leave}` do not fill one group towards two ports");
        at.fault(
            found,
            "two streams of one port, class and frame size, addressed to different ports",
        );
        return None;
    }
    Some(vec![Measure::Threshold(Threshold::Xon { stay, leave })])
}

/// Streams to one queue.
fn ecn_curve(at: &At<'_>, traffic: &Traffic<'_>) -> Option<Vec<Measure>> {
    let fields = at.fields(&["streams"])?;
    let at = fields.need("streams", "streams of the case to one queue, such as [a, b]")?;
    let all = at.one_or_many();
    let read: Vec<_> = all.iter().filter_map(|at| traffic.names.stream(at)).collect();
    let streams = (read.len() == all.len() && !all.is_empty()).then(|| read.concat())?;
    let queue = |name: &String| traffic.streams.get(name).map(|of| (&of.to, of.class));
    if let Some(other) = streams.iter().find(|name| queue(name) != queue(&streams[0])) {
        let found = format!("`{}` and `{other}` go to different queues", streams[0]);
        at.fault(found, "streams to one port in one class; a measure for each queue");
        return None;
    }
    // Frames of one curve: what is dropped goes by another one than what is marked, and so may each colour.
    let rule =
        |name: &String| traffic.streams.get(name).map(|of| (of.ecn == Ecn::NotEct, of.color));
    if let Some(other) = streams.iter().find(|name| rule(name) != rule(&streams[0])) {
        let found = format!("`{}` and `{other}` may go by different curves", streams[0]);
        at.fault(found, "streams of one colour, all `ecn: not-ect` or none; a measure for each");
        return None;
    }
    Some(vec![Measure::EcnCurve { streams }])
}

fn pfc_sent(at: &At<'_>, traffic: &Traffic<'_>) -> Option<Vec<Measure>> {
    let fields = at.fields(&["port", "class", "after", "expect"])?;
    let port =
        fields.need("port", "the rig port that receives them").and_then(|at| traffic::port(&at));
    let class = match fields.get("class") {
        Some(at) => Some(traffic::class(&at)?),
        None => None,
    };
    let after = match fields.get("after") {
        Some(at) => Some(traffic.names.storm(&at)?.into_iter().next()?),
        None => None,
    };
    let expect = wanted(&fields)?;
    if class.is_none() && (expect != Wanted::None || after.is_some()) {
        at.fault("it names no class", "`class: 0` to 7, or `expect: none` for the whole trial");
        return None;
    }
    Some(vec![Measure::PfcSent { port: port?, class, after, expect }])
}
