//! Streams and storms.

use super::amount::millionths;
use crate::case::{Count, Refresh, Storm, Stream};
use crate::{MacsecMode, StreamKind, StreamRate, wire};
use rig_frames::ip::Ecn;
use rig_frames::vlan::{self, Pcp, Vid};
use rig_lab::fault::one_of;
use rig_lab::walk::{At, Fields};
use rig_lab::yaml::Value;
use rig_lab::{Color, IpVersion};
use rig_units::{Bytes, Dur, Quanta, Rate};

/// What a stream or storm made of a list of ports is called: `NAME-PORT`.
pub(super) type Named<T> = Vec<(String, T)>;

/// The keys of a stream.
pub(super) const STREAM: &[&str] = &[
    "from", "to", "class", "color", "kind", "ecn", "size", "vlan", "over", "every", "rate",
    "count", "macsec",
];

/// Reads a stream; a list of ports makes one for each.
pub(super) fn stream(name: &str, fields: &Fields<'_>) -> Option<Named<Stream>> {
    let from =
        fields.need("from", "the rig port it leaves by, such as p1").and_then(|at| ports(&at));
    let to =
        fields.need("to", "the rig port it is addressed to, such as p2").and_then(|at| ports(&at));
    let class = fields.need("class", "0 to 7").and_then(|at| class(&at));
    let kind = fields.need("kind", "rocev2-write").and_then(|at| {
        at.choice(&[
            ("rocev2-write", StreamKind::RoceWrite),
            ("rocev2-send", StreamKind::RoceSend),
            ("udp", StreamKind::Udp),
        ])
    });
    let color = fields.or("color", Color::Green, |at| at.choice(&Color::NAMES))?;
    let ecn = fields.or("ecn", Ecn::Ect0, |at| at.choice(&ECN))?;
    let size = fields.need("size", "the frame size, FCS counted, such as 1024B");
    let size = size.and_then(|at| Some((at.quantity::<Bytes>()?, at)));
    let vlan = fields.maybe("vlan", |at| tag(&at))?;
    let over = over(fields)?;
    let rate = rate(fields, "`every: 500us` for a probe or `rate: 45%` for a load");
    let count = fields.maybe("count", |at| count(&at))?;
    let macsec = macsec_mode(fields)?;
    let (class, kind, (size, size_at), rate) = (class?, kind?, size?, rate?);
    fits(&size_at, headers(kind, vlan, over), size);
    let pairs = pair(fields, &from?, &to?)?;
    Some(each(name, pairs, |(from, to)| {
        let usual = Stream::usual((from, to), class, kind, size, rate);
        Stream { color, ecn, vlan, over, count, macsec, ..usual }
    }))
}

/// One thing for each ending of a name; one alone has the name as it is.
pub(super) fn each<P, T>(name: &str, endings: Vec<(String, P)>, made: impl Fn(P) -> T) -> Named<T> {
    let single = endings.len() == 1;
    let named = endings.into_iter().map(|(ending, of)| {
        let name = if single { name.to_owned() } else { format!("{name}-{ending}") };
        (name, made(of))
    });
    named.collect()
}

/// One thing for each of some ports.
pub(super) fn each_port<T>(name: &str, ports: Vec<String>, made: impl Fn(String) -> T) -> Named<T> {
    each(name, ports.into_iter().map(|port| (port.clone(), port)).collect(), made)
}

/// How often a stream sends; `want` says it for one that has no rate.
pub(super) fn rate(fields: &Fields<'_>, want: &str) -> Option<StreamRate> {
    match fields.either("every", "rate") {
        Some((true, at)) => interval(&at).map(StreamRate::Every),
        Some((false, at)) => at.quantity::<Rate>().map(StreamRate::Load),
        None => {
            if fields.get("every").is_none() && fields.get("rate").is_none() {
                fields.at.at_key("it has no rate", want);
            }
            None
        }
    }
}

/// After how many frames a stream ends.
fn count(at: &At<'_>) -> Option<Count> {
    const MOST: i64 = 100_000_000;
    if let Value::Text(word) = &at.node.value {
        if word == "searched" {
            return Some(Count::Searched);
        }
        at.wrong("a number of frames, or `searched`");
        return None;
    }
    at.whole(1..=MOST, "a number of frames, or `searched`").map(Count::Frames)
}

/// Largest frame that any device of this kind takes.
const LARGEST: Bytes = Bytes(16_383);

/// What frames may say of congestion, by name.
pub(crate) const ECN: [(&str, Ecn); 4] =
    [("ect0", Ecn::Ect0), ("ect1", Ecn::Ect1), ("not-ect", Ecn::NotEct), ("ce", Ecn::Ce)];

/// Whether a frame of this size holds its headers, which take `least`, and is none that no device takes. What the device of a lab takes is its MTU.
pub(super) fn fits(at: &At<'_>, least: Bytes, size: Bytes) -> bool {
    let found = if size < least {
        format!("a frame of {size} does not hold its headers")
    } else if size > LARGEST {
        format!("a frame of {size} is longer than the longest that any device takes")
    } else {
        return true;
    };
    at.fault(found, format!("{}B to {}B, FCS counted", least.0, LARGEST.0));
    false
}

/// The smallest frame that a stream can have.
pub(super) fn least(stream: &Stream) -> Bytes {
    headers(stream.kind, stream.vlan, stream.over)
}

/// The smallest frame of a kind that a port of the rig sends, with its tag and over its version of IP: one that is longer there than it says here would be judged by
/// a size that it never had.
fn headers(kind: StreamKind, vlan: Option<vlan::Repr>, over: IpVersion) -> Bytes {
    wire::least_size(kind) + wire::tag_size(vlan) + wire::longer(over)
}

/// Reads which version of IP frames go over.
pub(super) fn over(fields: &Fields<'_>) -> Option<IpVersion> {
    fields.or("over", IpVersion::V4, |at| at.choice(&IpVersion::NAMES))
}

/// Reads an 802.1Q tag (IEEE 802.1Q 9.6). Of its identifiers two name no VLAN (Table 9-2).
pub(super) fn tag(at: &At<'_>) -> Option<vlan::Repr> {
    let fields = at.fields(&["id", "pcp"])?;
    let id = fields.need("id", "the VLAN, 1 to 4094").and_then(|at| {
        let why = match at.node.value {
            Value::Whole(0) => "0 is a priority tag, which names no VLAN",
            Value::Whole(4095) => "4095 is reserved",
            _ => return at.whole(1..=4094, "a VLAN"),
        };
        at.fault(format!("`vlan.id`: {why}"), "a whole number from 1 to 4094");
        None
    });
    let pcp = fields.need("pcp", "the priority code point, 0 to 7");
    let pcp = pcp.and_then(|at| at.whole(0..=7, "a priority code point"));
    Some(vlan::Repr { vid: Vid::new(id?)?, pcp: Pcp::new(pcp?)?, dei: false })
}

/// Pairs senders with receivers; one of either stands for as many as there are of the other.
fn pair(
    fields: &Fields<'_>,
    from: &[String],
    to: &[String],
) -> Option<Vec<(String, (String, String))>> {
    let count = from.len().max(to.len());
    if (from.len() != count && from.len() != 1) || (to.len() != count && to.len() != 1) {
        let found = format!("{} ports send to {}", from.len(), to.len());
        fields.at.at_key(found, "lists of the same length, or one port on one side");
        return None;
    }
    let pick =
        |list: &[String], i: usize| list.get(i).or(list.first()).cloned().unwrap_or_default();
    let pairs: Vec<_> = (0..count)
        .map(|i| {
            let (from_i, to_i) = (pick(from, i), pick(to, i));
            let ending = if from.len() == 1 { to_i.clone() } else { from_i.clone() };
            (ending, (from_i, to_i))
        })
        .collect();
    if let Some((port, _)) = pairs.iter().map(|(_, pair)| pair).find(|(from, to)| from == to) {
        let found = format!("a stream from {port} to itself");
        fields.at.at_key(found, "different ports: the switch sends nothing back");
        return None;
    }
    Some(pairs)
}

/// Reads a storm; a list of ports makes one for each.
pub(super) fn storm(name: &str, fields: &Fields<'_>) -> Option<Named<Storm>> {
    let from =
        fields.need("from", "the rig port it leaves by, such as p2").and_then(|at| ports(&at));
    let listed = fields.need("classes", "the classes it pauses, such as [3]");
    let listed = listed.and_then(|at| classes(&at, false));
    let quanta = fields.or("quanta", Quanta::MAX, |at| {
        at.quantity().filter(|&quanta: &Quanta| {
            if quanta == Quanta(0) {
                at.fault("a storm of 0q resumes instead of pausing", "1q to 65535q");
            }
            quanta != Quanta(0)
        })
    });
    let refresh = match fields.either("refresh", "every") {
        Some((true, at)) => of_pause(&at).map(Refresh::OfPause),
        Some((false, at)) => interval(&at).map(Refresh::Every),
        None => Some(Refresh::OfPause(500_000)),
    };
    let (from, classes, quanta, refresh) = (from?, listed?, quanta?, refresh?);
    let macsec = macsec_mode(fields)?;
    let storm = |from| Storm { from, classes: classes.clone(), quanta, refresh, macsec };
    Some(each_port(name, from, storm))
}

/// How frames are protected.
pub(super) fn macsec_mode(fields: &Fields<'_>) -> Option<MacsecMode> {
    let Some(at) = fields.get("macsec") else { return Some(MacsecMode::Usual) };
    if let Value::Map(_) = at.node.value {
        let fields = at.fields(&["late", "an"])?;
        if let Some(an) = fields.get("an") {
            return an.whole(0..=3, "an association number").map(MacsecMode::Of);
        }
        let late = fields.need("late", "by how many packet numbers, such as 5; or an: 2")?;
        return late.whole(1..=0x4000_0000, "a number of frames").map(MacsecMode::Late);
    }
    let word = at.node.written();
    let named = MacsecMode::NAMES.iter().find(|&&(name, _)| name == word);
    if named.is_none() {
        let found = match at.node.value {
            Value::Text(_) => format!("unknown word `{word}`"),
            _ => format!("{} is not what belongs here", at.node.describe()),
        };
        let names = MacsecMode::NAMES.iter().map(|&(name, _)| name).chain(["{late: 5}", "{an: 2}"]);
        at.fault(found, one_of(&word, names));
    }
    named.map(|&(_, macsec_mode)| macsec_mode)
}

/// `0.5x`: a share of the pause time, in millionths.
fn of_pause(at: &At<'_>) -> Option<u64> {
    let text = match &at.node.value {
        Value::Text(text) => text.strip_suffix('x').and_then(millionths),
        Value::Null
        | Value::Bool(_)
        | Value::Whole(_)
        | Value::Real(_)
        | Value::List(_)
        | Value::Map(_) => None,
    };
    let share = text.filter(|&share| (1..=1_000_000_000).contains(&share));
    if share.is_none() {
        at.wrong("a share of the pause time such as 0.5x, or `every: 100us` instead");
    }
    share
}

/// A length of time that is not zero.
pub(super) fn interval(at: &At<'_>) -> Option<Dur> {
    let dur: Dur = at.quantity()?;
    if dur == Dur::ZERO {
        at.fault("an interval of nothing", "a length of time above zero, such as 500us");
        return None;
    }
    Some(dur)
}

/// One port or a list of different ones.
pub(super) fn ports(at: &At<'_>) -> Option<Vec<String>> {
    let all = at.one_or_many();
    let read: Vec<String> = all.iter().filter_map(port).collect();
    if read.is_empty() && all.is_empty() {
        at.fault("no port", PORT);
    }
    (read.len() == all.len() && !read.is_empty()).then_some(read)
}

const PORT: &str = "a rig port: p1, p2, ...";

/// A rig port: `p1` is cabled to the device's first port.
pub(super) fn port(at: &At<'_>) -> Option<String> {
    let text = at.text(PORT)?;
    if crate::resolve::port_number(text).is_none() {
        at.fault(format!("`{text}` is not the name of a rig port"), PORT);
        return None;
    }
    Some(text.to_owned())
}

pub(super) fn class(at: &At<'_>) -> Option<u8> {
    at.whole(0..=7, "a class")
}

/// A list of different classes. Single PFC frames may enable none.
pub(super) fn classes(at: &At<'_>, none: bool) -> Option<Vec<u8>> {
    let all = at.list("a list of classes, such as [3]")?;
    let read: Vec<u8> = all.iter().filter_map(class).collect();
    if read.len() != all.len() {
        return None;
    }
    let mut sorted = read.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() != read.len() {
        at.fault("a class stands twice", "each class once");
        return None;
    }
    if read.is_empty() && !none {
        at.fault("a storm that pauses no class", "a list of classes, such as [3]");
        return None;
    }
    Some(read)
}
