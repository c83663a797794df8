//! The 802.1Q tags of frames: a device that is set to no VLAN of its own passes them on as they came.

use super::judge_context::TrialReading;
use super::judged::looked;
use super::legs::SWITCHES;
use super::measurement::{Known, Red, Tells, by_source};
use crate::Prediction;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::passage::Passages;
use rig_capture::{Span, Unit};
use rig_frames::vlan;
use rig_testcases::vocabulary::{Entry, Looks, STREAM};

/// `tags`.
pub(super) static TAGS: Known = Known {
    entry: Entry {
        name: "tags",
        parts: Some(&[]),
        about: "each frame arrives with the 802.1Q tag that it was sent with, its priority unchanged, or without one as it was sent",
        source: SOURCE,
        fields: &[STREAM],
        looks: &[Looks::FOLLOWS],
        ..Entry::USUAL
    },
    // What arrives has the tag or has it not: nothing is called faulty by chance.
    ways: 0,
    tells: Tells::Each("frame"),
    red: Red::Mutated("tags-kept", "deviation=pcp_rewritten"),
    expected: |measure, context, points| {
        let script = points.first().and_then(|point| context.script(point).ok());
        let name = measure.named("stream");
        let sent = script.and_then(|script| {
            script.streams.into_iter().find(|spec| spec.name == name).map(|spec| spec.vlan)
        });
        by_source(format!("each frame arrives {}", shown(sent.flatten())), SOURCE)
    },
    judge: |measure, done, judged| {
        let stream = measure.named("stream");
        done.each("tags", stream, judged, |trial| Ok(read(trial, stream)?));
    },
    crosses: |_, _| SWITCHES,
    over_memories: |_| true,
    ..Known::USUAL
};

const SOURCE: &str = "IEEE 802.1Q 6.9.3 and 9.6, its priorities regenerated as they are by default";

/// How many of the frames that arrived had another tag than they were sent with. What did not arrive is the business of `loss`.
fn read(trial: &Trial, stream: &str) -> Result<TrialReading, Doubt> {
    let Trial { script, observation, .. } = trial;
    let (index, spec) = trial.stream(stream)?;
    let port = &observation.ports[usize::from(spec.to)];
    if !port.sees_tags {
        let name = &port.name;
        return Err(trial.doubt(&format!("whatever tag a frame has, {name} is not shown it")));
    }
    let tag = |record: usize| observation.records[record].vlan;
    let passages = Passages::of(observation, script, index).all;
    let came: Vec<[usize; 2]> = passages
        .iter()
        .filter_map(|frame| Some([frame.sent.record, frame.received?.record]))
        .collect();
    let other = || came.iter().filter(|[sent, received]| tag(*sent) != tag(*received));
    let want = Prediction {
        unit: Unit::Frames,
        span: Span::exactly(0),
        formula: "",
        text: format!("each of {} frames arrives {}", came.len(), shown(spec.vlan)),
        source: SOURCE,
    };
    let count = other().count();
    let got = other().next().map(|[_, received]| format!("{count} {}", shown(tag(*received))));
    Ok(TrialReading {
        span: Span::exactly(u64::try_from(count).unwrap_or(u64::MAX)),
        want,
        got,
        records: other().flatten().copied().collect(),
        looked: looked(came.len(), "frames that arrived"),
    })
}

fn shown(tag: Option<vlan::Repr>) -> String {
    tag.map_or("without a tag".to_owned(), |tag| {
        let dei = if tag.dei { ", drop eligible" } else { "" };
        format!("tagged VLAN {}, PCP {}{dei}", tag.vid.get(), tag.pcp.get())
    })
}
