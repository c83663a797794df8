//! When the driver gives up: its timer runs out so many times in a row, and not once more.

use super::super::judge_context::JudgeContext;
use super::super::judged::Judged;
use super::super::measurement::{Known, Red, Tells, by_source};
use super::{Come, End, Flow, OF_FLOW, packets, reading};
use crate::judge::answers::NOT_MEASURED;
use crate::spec::blue_rdma::{SOURCE, near, psn, timeout};
use crate::verdict::Doubt;
use rig_capture::blue_rdma::Says;
use rig_testcases::vocabulary::Entry;
use rig_units::Time;

/// `blue_rdma.gives_up`.
pub(in super::super) static GIVES_UP: Known = Known {
    entry: Entry {
        name: "blue_rdma.gives_up",
        about: "how often what never comes is sent again before the driver gives up, and that nothing leaves from then on",
        ..OF_FLOW
    },
    tells: Tells::Each("time that it is sent again"),
    red: Red::Mutated("gives-up", "deviation=never_gives_up"),
    expected: |_, context, _| {
        let retries = context.seen().blue_rdma().map_or(0, |declared| declared.retries);
        by_source(format!("{retries} times, as the driver is set to"), SOURCE)
    },
    judge: |measure, done, judged| gives_up(done, measure.named("flow"), judged),
    stamps: Some(packets),
    ..Known::USUAL
};

fn gives_up(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("blue_rdma.gives_up", flow, judged, |trial| {
        let seen = Flow::of(trial, flow, End::Sender)?;
        let Some(declared) = done.context.seen().blue_rdma() else {
            return Err(trial.doubt("it is no NIC of blue-rdma").into());
        };
        let Some(timer) = timeout(declared) else {
            return Err(trial.doubt("its timer does not run out in a lifetime").into());
        };
        let apart = done.context.apart();
        let mut come = Come::none_before(seen.first);
        let (mut reached, mut since, mut is_asked) = (seen.first, Time::ZERO, false);
        let mut rounds = Vec::new();
        let mut sent = Vec::new();
        for one in &seen.passed {
            if one.sent && one.frame.is_data() {
                let number = near(one.frame.psn, reached);
                sent.push((one.at, one.record, number));
                if number >= reached {
                    reached = number + 1;
                    // A timer begins with the first that is on its way.
                    since = if number == come.base { one.at } else { since };
                } else if number == come.base {
                    rounds.push(one.record);
                }
            } else if !one.sent {
                let base = come.base;
                come.told(&one.frame, reached);
                if come.base > base {
                    since = one.at;
                    rounds.clear();
                }
                // What an earlier one asked for may still wait to leave.
                is_asked |= matches!(one.frame.says, Says::Report { lost: true, .. });
            }
        }
        if come.base >= reached {
            let doubt = trial.doubt("nothing was left of which nobody said that it came");
            return Err(Doubt { reason: NOT_MEASURED, ..doubt }.into());
        }
        if is_asked {
            let why = "acknowledgements ask for packets, too, and what is sent again is not the timer's alone";
            return Err(trial.doubt(why).into());
        }
        // Each time all behind it leaves as well.
        let behind = usize::try_from(reached - come.base).unwrap_or(usize::MAX);
        let takes = apart.most(declared.driver) + seen.slots(behind.saturating_add(8));
        let once = apart.range(timer).most() + takes;
        let over = since + takes + once * (u64::from(declared.retries) + 1);
        if over >= seen.until {
            let why = format!("the driver may give up as late as {over}, and the trial is over");
            return Err(trial.doubt(&why).into());
        }
        let mut wrong = Vec::new();
        let missing = psn(come.base);
        if rounds.len() != usize::from(declared.retries) {
            let text = format!(
                "PSN {missing} is sent again {} times, where the driver gives up after {}",
                rounds.len(),
                declared.retries
            );
            wrong.push((rounds.last().copied().unwrap_or(0), text));
        }
        let after = sent.iter().find(|(at, ..)| *at > over);
        wrong.extend(after.map(|(_, record, number)| {
            (*record, format!("PSN {} leaves after the driver gave up", psn(*number)))
        }));
        let text =
            format!("PSN {missing} sent again {} times, and nothing after", declared.retries);
        Ok(reading(text, wrong, (rounds.len() + 1, "rounds")))
    });
}
