//! The 802.1Q tags of what a NIC sends on its connections, whoever began them: the VLAN that it comes in, and the priority that a switch may go by.

use super::super::judge_context::JudgeContext;
use super::super::judged::Judged;
use super::super::measurement::{Known, Red, Tells, by_source};
use super::class::called;
use super::{OF_NIC, Passage, each_frame};
use crate::trials::trial::Trial;
use rig_capture::analyse::nic::Left;
use rig_frames::vlan::{self, Pcp};
use rig_lab::Part;
use rig_testcases::RoceKind;
use rig_testcases::vocabulary::Entry;

/// `rc.tags`.
pub(in super::super) static TAGS: Known = Known {
    entry: Entry {
        name: "rc.tags",
        parts: Some(&[Part::Rc, Part::Np]),
        about: "the 802.1Q tag of what a NIC sends on its connections: VLAN and priority of its flow, of a CNP the priority that `nic.np.pcp` declares; none where its flow has none",
        source: SOURCE,
        tagged: true,
        over_ipv6: true,
        ..OF_NIC
    },
    tells: Tells::Each("frame"),
    red: Red::Mutated("tags-of-what-is-sent", "deviation=ack_untagged"),
    expected: |_, _, _| {
        by_source("the tag of its flow on every frame, with the declared priority on a CNP", SOURCE)
    },
    judge: |measure, done, judged| judge(done, measure.named("port"), judged),
    of_nic: |measure, _| Some(measure.named("port").to_owned()),
    ..Known::USUAL
};

const SOURCE: &str = "IEEE 802.1Q 9.6; IBTA volume 1, annex A17: the service level of a queue pair is the priority of its frames; NVIDIA cnp_802p_prio";

fn judge(done: &JudgeContext<'_>, port: &str, judged: &mut Judged) {
    done.each("rc.tags", port, judged, |trial| {
        let index = trial.port(port)?;
        if !trial.observation.ports[usize::from(index)].sees_tags {
            let why = format!("whatever tag a frame has, {port} is not shown it");
            return Err(trial.doubt(&why).into());
        }
        let seen = Passage::of(done, trial, index);
        let (mut all, mut wrong) = (0, Vec::new());
        for one in &seen.left {
            let Some(want) = wanted(trial, one, &seen) else { continue };
            all += 1;
            let got = trial.observation.records[one.record].vlan;
            let what = called(one.roce.kind).unwrap_or("a CNP");
            let is = fault(got, want);
            wrong.extend(is.map(|is| (one.record, format!("{what} {is}"))));
        }
        Ok(each_frame::reading(all, wrong, "with the tag of its connection", SOURCE))
    });
}

/// What a frame has to have in its tag, and who says so.
#[derive(Debug)]
struct Wanted {
    tag: Option<vlan::Repr>,
    /// The priority; `None`: nothing is known of it.
    pcp: Option<Pcp>,
    by: String,
}

/// What the frame of a flow has to have; `None` of any other.
fn wanted(trial: &Trial, one: &Left, seen: &Passage<'_>) -> Option<Wanted> {
    let (_, flow) = trial.script.flow_of(one.roce.connection)?;
    let tag = flow.vlan;
    Some(match one.roce.kind {
        RoceKind::Cnp { .. } => {
            let pcp = seen.nic.np.pcp.and_then(Pcp::new);
            Wanted { tag, pcp, by: format!("`{}.np.pcp` declares", seen.part) }
        }
        _ => Wanted { tag, pcp: tag.map(|tag| tag.pcp), by: "its connection has".to_owned() },
    })
}

/// What is wrong with the tag of a frame, in words.
fn fault(got: Option<vlan::Repr>, want: Wanted) -> Option<String> {
    let Wanted { tag, pcp, by } = want;
    match (got, tag) {
        (None, None) => None,
        (None, Some(tag)) => {
            Some(format!("without a tag where its connection is in VLAN {}", tag.vid.get()))
        }
        (Some(got), None) => {
            Some(format!("in VLAN {} where its connection has no tag", got.vid.get()))
        }
        (Some(got), Some(tag)) if got.vid != tag.vid => {
            Some(format!("in VLAN {} where its connection is in {}", got.vid.get(), tag.vid.get()))
        }
        (Some(got), Some(_)) => pcp
            .filter(|pcp| got.pcp != *pcp)
            .map(|pcp| format!("with PCP {} where {by} {}", got.pcp.get(), pcp.get())),
    }
}
