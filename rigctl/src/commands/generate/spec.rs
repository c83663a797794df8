//! Streams as they are written on the command line: keys with values, every fault of all of them at once.

use super::values::{self, KINDS, Shape};
use crate::cli::StreamFlags;
use crate::commands::input::Bad;
use core::fmt::Display;
use core::str::FromStr;
use rig_frames::psn::Psn;
use rig_generator::flow::{Flow, FlowKind};
use rig_generator::{Rhythm, Template};
use rig_lab::settings::nearest;
use rig_units::{Bytes, Dur, L1_OVERHEAD, MIN_FRAME, Pace, PortSpeed, Quanta, Rate};
use std::collections::BTreeMap;

/// The keys, each a flag of the same name.
const KEYS: [&str; 20] = [
    "name", "kind", "pfc", "size", "rate", "every", "rhythm", "dscp", "ecn", "class", "qpn", "psn",
    "udp-port", "stamp", "mac", "ip", "start", "count", "for", "cnp",
];
/// The longest frame, FCS counted: what an MTU of 9216 carries.
const LONGEST: Bytes = Bytes(9_234);
const DEFAULT_SIZE: Bytes = Bytes(1_024);

/// A stream that can be sent.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    pub(super) name: String,
    /// As on the command line.
    pub(super) kind: &'static str,
    /// FCS counted.
    pub(super) size: Bytes,
    pub(super) template: Template,
    pub(super) rhythm: Rhythm,
    /// Mean time from one frame to the next.
    pub(super) mean: Dur,
    /// The class whose pause stops it; none stops PFC frames.
    pub(super) class: Option<u8>,
    /// From the start of the run.
    pub(super) start: Dur,
    pub(super) count: Option<u64>,
    /// How long it sends, by the clock on the wall.
    pub(super) length: Option<Dur>,
}

/// The keys and values of one stream, and what they are called in a complaint.
struct Words<'a> {
    said: String,
    values: BTreeMap<&'a str, &'a str>,
    bad: Vec<String>,
}

/// The streams that the command line asks for, on a port of `speed`.
pub(super) fn streams(flags: &StreamFlags, speed: PortSpeed) -> Result<Vec<Stream>, Bad> {
    let mut bad = Bad::default();
    let mut all = Vec::new();
    let own = flags.pairs();
    if !own.is_empty() {
        all.push(Words { said: String::new(), values: own.into_iter().collect(), bad: Vec::new() });
    }
    all.extend(flags.stream.iter().map(|text| Words::of(text)));
    if all.is_empty() {
        bad.note("no stream: want `--kind roce-write --rate 10Gbps-L1`, `--pfc 3:65535q` or `--stream 'kind=...,rate=...'`");
    }
    let mut streams: Vec<Stream> = Vec::new();
    for (number, mut words) in (1..).zip(all) {
        let stream = words.stream(number, speed);
        let (said, complaints) = (words.said, words.bad);
        bad.all(complaints.into_iter().map(|why| format!("{said}{why}")).collect());
        streams.extend(stream);
    }
    let load: u128 = streams.iter().map(|stream| stream.load(speed)).sum();
    if load > 1_000_000 {
        let percent = |ppm: u128| format!("{}.{:02}%", ppm / 10_000, ppm % 10_000 / 100);
        bad.note(format!(
            "the streams ask for {} of the port ({speed}): want at most 100% together, or a higher `--speed`",
            percent(load)
        ));
    }
    bad.or(streams)
}

impl<'a> Words<'a> {
    /// `kind=udp,rhythm=burst:8,1us,100us`: what has no `=` belongs to the value before.
    fn of(text: &'a str) -> Words<'a> {
        let mut words = Words {
            said: format!("`--stream {text}`: "),
            values: BTreeMap::new(),
            bad: Vec::new(),
        };
        let mut start = 0;
        let mut parts: Vec<&str> = Vec::new();
        for (at, _) in text.match_indices(',') {
            let next = &text[at + 1..];
            if next.split(',').next().is_some_and(|next| next.contains('=')) {
                parts.push(&text[start..at]);
                start = at + 1;
            }
        }
        parts.push(&text[start..]);
        for part in parts {
            match part.split_once('=') {
                Some((key, value)) if KEYS.contains(&key) => {
                    if words.values.insert(key, value).is_some() {
                        words.bad.push(format!("`{key}` stands there twice"));
                    }
                }
                Some((key, _)) => {
                    let near = nearest(key, KEYS.into_iter())
                        .first()
                        .map(|near| format!("; did you mean `{near}`?"));
                    let keys = KEYS.join(", ");
                    words
                        .bad
                        .push(format!("no key `{key}`: want {keys}{}", near.unwrap_or_default()));
                }
                None => {
                    words.bad.push(format!("`{part}`: want KEY=VALUE, such as kind=roce-write"));
                }
            }
        }
        words
    }

    /// The value of `key` as `read` understands it, or `usual` where there is none.
    fn get<T>(&mut self, key: &str, usual: T, read: impl Fn(&str) -> Result<T, String>) -> T {
        match self.values.get(key).map(|text| (*text, read(text))) {
            None => usual,
            Some((_, Ok(value))) => value,
            Some((text, Err(want))) => {
                let dashes = if self.said.is_empty() { "--" } else { "" };
                self.bad.push(format!("`{dashes}{key} {text}`: want {want}"));
                usual
            }
        }
    }

    fn quantity<T: FromStr<Err: Display>>(&mut self, key: &str) -> Option<T> {
        self.get(key, None, |text| {
            text.parse().map(Some).map_err(|why: T::Err| {
                let why = why.to_string();
                why.split_once("want ").map_or(why.clone(), |(_, want)| want.to_owned())
            })
        })
    }

    fn stream(&mut self, number: u32, speed: PortSpeed) -> Option<Stream> {
        let kind = self.kind();
        let mut flow = Flow::between(0, 1, kind, DEFAULT_SIZE);
        flow.stamped = self.get("stamp", false, |text| match text {
            "" | "on" => Ok(true),
            "off" => Ok(false),
            _ => Err("on or off".to_owned()),
        });
        flow.size = self.quantity("size").unwrap_or(flow.size);
        if kind == FlowKind::Cnp {
            // What NICs send them with: network control.
            flow.dscp = values::dscp("48").unwrap_or_default();
        }
        flow.dscp = self.get("dscp", flow.dscp.clone(), values::dscp);
        flow.ecn = self.get("ecn", flow.ecn.clone(), values::ecn);
        flow.queue_pair = self.get("qpn", flow.queue_pair.clone(), values::queue_pairs);
        flow.udp_source = self.get("udp-port", flow.udp_source.clone(), values::udp_ports);
        flow.psn = self.get("psn", flow.psn, |text| {
            let first = values::list(text, (1 << 24) - 1).ok().filter(|all| all.len() == 1);
            first.map(|all| Psn::new(all[0])).ok_or_else(|| "one number below 2^24".to_owned())
        });
        flow.mac = self.get("mac", flow.mac, |text| {
            ends(text, "two Ethernet addresses: 02:00:00:00:00:01-02:00:00:00:00:02")
        });
        flow.ip =
            self.get("ip", flow.ip, |text| ends(text, "two IPv4 addresses: 10.0.0.1-10.0.1.1"));
        self.sizes(&flow);
        let size = flow.frame_size();
        let timing = self.rhythm(kind, size, speed);
        let class = self.class(&flow);
        let name_of = self.get("name", number.to_string(), |text| Ok(text.to_owned()));
        let start = self.quantity("start").unwrap_or(Dur::ZERO);
        let length = self.quantity("for");
        let count = self.get("count", None, |text| {
            let count = text.parse().ok().filter(|&count: &u64| count > 0);
            count.map(Some).ok_or_else(|| "a number of frames, at least 1".to_owned())
        });
        // From here on everything has been read that can be.
        let (rhythm, mean) = timing?;
        let slot = speed.slot(size);
        if mean < slot {
            self.bad.push(format!(
                "a frame of {size} every {mean} is more than {speed} carries: it takes {slot} on the wire"
            ));
        }
        if !self.bad.is_empty() {
            return None;
        }
        let template =
            flow.template().map_err(|refused| self.bad.push(refused.to_string())).ok()?;
        let (name, kind) = (name_of, name(kind));
        Some(Stream { name, kind, size, template, rhythm, mean, class, start, count, length })
    }

    fn kind(&mut self) -> FlowKind {
        let asked = ["kind", "pfc", "cnp"].into_iter().filter(|key| self.values.contains_key(key));
        if asked.count() > 1 {
            self.bad.push("want one of `kind`, `pfc` and `cnp`".to_owned());
        }
        if self.values.contains_key("cnp") {
            return FlowKind::Cnp;
        }
        let none = FlowKind::Pfc { classes: 0, quanta: Quanta(0) };
        let pfc = self.get("pfc", none, values::pfc);
        if self.values.contains_key("pfc") {
            return pfc;
        }
        self.get("kind", FlowKind::RoceWrite, |text| {
            let found = KINDS.iter().find(|(name, _)| *name == text).map(|(_, kind)| *kind);
            found.ok_or_else(|| {
                let names = KINDS.map(|(name, _)| name).join(", ");
                format!("one of {names}; PFC frames are asked for by `pfc`")
            })
        })
    }

    fn sizes(&mut self, flow: &Flow) {
        let fixed = matches!(flow.kind, FlowKind::Cnp | FlowKind::Pfc { .. });
        if fixed && self.values.contains_key("size") {
            let size = flow.frame_size();
            self.bad
                .push(format!("a {} frame has {size} always: leave `size` out", name(flow.kind)));
        }
        if fixed && flow.stamped {
            self.bad.push(format!("a {} frame has no payload: leave `stamp` out", name(flow.kind)));
        }
        let least = flow.least();
        if !fixed && !(least..=LONGEST).contains(&flow.size) {
            let stamped = if flow.stamped { " with a stamp" } else { "" };
            self.bad.push(format!(
                "`size {}`: want {least} to {LONGEST} for {}{stamped}, FCS counted",
                flow.size,
                name(flow.kind)
            ));
        }
    }

    /// When its frames are due, and their mean gap.
    fn rhythm(&mut self, kind: FlowKind, size: Bytes, speed: PortSpeed) -> Option<(Rhythm, Dur)> {
        let shape = self.get("rhythm", Shape::Even, values::shape);
        let rate: Option<Rate> = self.quantity("rate");
        let every: Option<Dur> = self.quantity("every");
        let own = matches!(shape, Shape::Burst { .. } | Shape::Ramp { .. });
        let pace = match (rate, every, kind) {
            (Some(_), Some(_), _) => {
                self.bad.push("`rate` and `every` say the same thing: want one of them".to_owned());
                return None;
            }
            (Some(_), None, _) | (None, Some(_), _) if own => {
                self.bad.push(
                    "a burst or a ramp has its own gaps: leave `rate` and `every` out".to_owned(),
                );
                return None;
            }
            (Some(rate), None, _) => Some(rate.pace(size.max(MIN_FRAME), speed)),
            (None, Some(Dur(0)), _) => {
                self.bad.push("`every 0ms`: want a time above zero".to_owned());
                return None;
            }
            (None, Some(every), _) => Some(Pace::every(every)),
            // Twice within the pause, as a storm is held.
            (None, None, FlowKind::Pfc { quanta, .. }) if !own && quanta > Quanta(0) => {
                Some(Pace::every((speed.pause(quanta) / 2).max(speed.slot(MIN_FRAME))))
            }
            (None, None, _) => None,
        };
        let refused = self.values.contains_key("rate") || self.values.contains_key("every");
        if pace.is_none() && !own {
            if !refused {
                self.bad.push(
                    "how fast? want `rate` (10Gbps-L1, 10Gbps-L2, 45%), `every` (100us) or `rhythm`".to_owned(),
                );
            }
            return None;
        }
        Some(match (shape, pace) {
            (Shape::Burst { frames, within, every }, _) => {
                (Rhythm::bursts(frames, within, every), every / u64::from(frames))
            }
            (Shape::Ramp { from, to, frames }, _) => (Rhythm::ramp(from, to, frames), from.min(to)),
            (Shape::Poisson { seed }, Some(pace)) => {
                (Rhythm::poisson(pace.gap(), speed.slot(size), seed), pace.gap())
            }
            (Shape::Even | Shape::Poisson { .. }, pace) => {
                let pace = pace?;
                (Rhythm::Even(pace), pace.gap())
            }
        })
    }

    /// The class whose pause stops it: the one said, or the one that its DSCP usually maps to.
    fn class(&mut self, flow: &Flow) -> Option<u8> {
        let dscp = flow.dscp.first().map_or(0, |dscp| dscp.get());
        let usual = if dscp < 8 { dscp } else { dscp >> 3 };
        let class = self.get("class", usual, |text| {
            let class = text.parse().ok().filter(|&class: &u8| class < 8);
            class.ok_or_else(|| "a class from 0 to 7: its pause stops the stream".to_owned())
        });
        (!matches!(flow.kind, FlowKind::Pfc { .. })).then_some(class)
    }
}

impl Stream {
    /// How much of a port of `speed` it takes, in millionths.
    fn load(&self, speed: PortSpeed) -> u128 {
        let slot = speed.serialise(self.size + L1_OVERHEAD);
        u128::from(slot.0) * 1_000_000 / u128::from(self.mean.0.max(1))
    }
}

fn name(kind: FlowKind) -> &'static str {
    match kind {
        FlowKind::Pfc { .. } => "pfc",
        FlowKind::RoceWrite => "roce-write",
        FlowKind::RoceSend => "roce-send",
        FlowKind::Cnp => "cnp",
        FlowKind::Udp => "udp",
    }
}

/// Source and destination, a dash between.
fn ends<T: FromStr>(text: &str, want: &str) -> Result<(T, T), String> {
    let ends =
        text.split_once('-').and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    ends.ok_or_else(|| want.to_owned())
}
