//! Descriptors that the driver writes for hardware to send by: one for a chunk of a message, and one for each packet that is sent again.
//!
//! No packet shows where a chunk ends: the driver's own counter says how many there were, the wire how many there should have been.

use super::super::judge_context::JudgeContext;
use super::super::judged::Judged;
use super::super::measurement::{Known, Needs, Red, Tells, by_source};
use super::{End, Flow, OF_FLOW, counter_of, of_either, reading};
use crate::spec::blue_rdma::{SOURCE, chunks, near};
use rig_testcases::Verb;
use rig_testcases::vocabulary::Entry;
use rig_units::Dur;

/// `blue_rdma.descriptors`.
pub(in super::super) static DESCRIPTORS: Known = Known {
    entry: Entry {
        name: "blue_rdma.descriptors",
        about: "descriptors that the driver of the NIC that sends a flow wrote: one for 64 KiB of a message, one for a READ request, one for each packet that is sent again",
        sense: of_either,
        ..OF_FLOW
    },
    needs: |_| Needs::Counters,
    tells: Tells::Each("descriptor"),
    red: Red::Mutated("descriptors-of-chunks", "deviation=descriptor_a_packet"),
    expected: |_, _, _| {
        by_source("64 KiB of a message each, and a packet each of what is sent again", SOURCE)
    },
    judge: |measure, done, judged| descriptors(done, measure.named("flow"), judged),
    ..Known::USUAL
};

fn descriptors(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("blue_rdma.descriptors", flow, judged, |trial| {
        let seen = Flow::of(trial, flow, End::Sender)?;
        let name = counter_of(trial, seen.spec, rig_capture::blue_rdma::DESCRIPTORS)?;
        let asks = seen.spec.verb == Verb::Read;
        let own = seen.passed.iter().filter(|one| one.sent && one.frame.is_own());
        let (mut reached, mut again) = (seen.first, 0);
        let (mut begins, mut ends, mut last) = (None, None, 0);
        for one in own {
            let number = near(one.frame.psn, reached);
            again += u64::from(number < reached);
            reached = reached.max(number + 1);
            begins.get_or_insert(one.at);
            (ends, last) = (Some(one.at), one.record);
        }
        let (Some(begins), Some(ends)) = (begins, ends) else {
            return Err(trial.doubt("nothing of the flow left").into());
        };
        let packets = u64::try_from(reached - seen.first).unwrap_or(0);
        let of_message = u64::try_from(seen.packets).unwrap_or(1);
        let total = seen.spec.count.map(|count| u64::from(count) * if asks { 1 } else { of_message });
        if total != Some(packets) || ends + seen.slots(4) > seen.until {
            let why = "something was still to leave when the trial ended: a longer one tells";
            return Err(trial.doubt(why).into());
        }
        let Some(got) = trial.observation.counters.grew(&name) else {
            return Err(trial.doubt(&format!("the device offers no counter {name}")).into());
        };
        let messages = u64::from(seen.spec.count.unwrap_or(0));
        let of_one = if asks { 1 } else { chunks(seen.spec.message.into()) };
        let want = messages * of_one + again;
        let lasts = ends.since(begins).unwrap_or_default() + seen.slots(1);
        let text = format!(
            "{name} grown by {want} for {packets} packets, {again} of them sent again: {} thousand a second",
            thousands(want, lasts),
        );
        let wrong = (got != want).then(|| {
            let text = format!(
                "{name} grew by {got} where {want} are due: {} thousand a second",
                thousands(got, lasts)
            );
            (last, text)
        });
        Ok(reading(text, wrong.into_iter().collect(), (usize::try_from(want).unwrap_or(0), "descriptors")))
    });
}

/// So many within a time, in thousands a second.
fn thousands(count: u64, lasts: Dur) -> u64 {
    const PS: u128 = 1_000_000_000;
    u64::try_from(u128::from(count) * PS / u128::from(lasts.0.max(1))).unwrap_or(u64::MAX)
}
