//! What can be told of a stream of which frames are missing from the file: how many there were, where the file's comments say
//! so.

use super::raw::Raw;
use super::read::Kept;
use crate::decode::Found;
use crate::{Observation, StreamCount};

/// Of each stream that was found. Where the comments count its frames, the observation's counts become theirs.
pub(super) fn kept(raw: &Raw<'_>, found: &[Found], observation: &mut Observation) -> Vec<Kept> {
    if raw.holes.is_empty() {
        return vec![Kept::Whole; found.len()];
    }
    let names: Vec<Option<&str>> = found.iter().map(|found| name(raw, found)).collect();
    let of = |(count, name): (&mut StreamCount, &Option<&str>)| {
        let alone = names.iter().filter(|other| *other == name).count() == 1;
        let Some(name) = name.filter(|_| alone) else { return Kept::Part };
        let loads = raw.loads.iter().filter_map(|(_, text)| load(text));
        let loads: Vec<_> = loads.filter(|(of, ..)| *of == name).collect();
        let sum = |dir: &str| loads.iter().filter(|(_, of, _)| *of == dir).map(|of| of.2).sum();
        match (loads.is_empty(), count.received) {
            // A probe is there whole wherever probes were recorded; where none arrived they may not have been.
            (true, 1..) => return Kept::Whole,
            (true, 0) => return Kept::Part,
            (false, _) => {}
        }
        let (sent, received) = (sum("sent"), sum("received"));
        if (sent, received) == (count.sent, count.received) {
            return Kept::Whole;
        }
        *count = StreamCount { sent, received, ..*count };
        Kept::Counted
    };
    observation.streams.iter_mut().zip(&names).map(of).collect()
}

/// The name of a stream in the comment of the section, by its UDP source port and queue pair: `stream load: p1 to p2,
/// class 3, UDP source port 49152, queue pair 0x100`.
fn name<'a>(raw: &'a Raw<'_>, found: &Found) -> Option<&'a str> {
    let mut end = format!(", UDP source port {}", found.flow.udp_src);
    if let Some(qpn) = found.flow.qpn {
        end.push_str(&format!(", queue pair {qpn:#x}"));
    }
    let line = raw.about.iter().find(|line| line.ends_with(&end))?;
    let rest = line.strip_prefix("stream ").or_else(|| line.strip_prefix("flow "))?;
    rest.split_once(':').map(|(name, _)| name)
}

/// Stream, direction and number of frames of a load's comment.
fn load(text: &str) -> Option<(&str, &str, u64)> {
    let field = |key: &str| {
        let all = text.split(' ').filter_map(|field| field.split_once('='));
        all.filter(|(of, _)| *of == key).map(|(_, value)| value).next()
    };
    Some((field("stream")?, field("dir")?, field("frames")?.parse().ok()?))
}
