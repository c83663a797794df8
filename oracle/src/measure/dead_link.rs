//! What a queue counts as dropped whose port has no link, and that port: nothing. What is sent there was never in the queue, and a counter that
//! goes on growing has somebody look for congestion where a cable is out. Where the frames go a switch decides before it has chosen a port: those
//! that it routes have no next hop there any more, those that it bridges go wherever else their address may be.
//!
//! Not every device shows what its ports discard; of one that does not the queue alone is told.

use super::checks;
use super::judge_context::JudgeContext;
use super::judged::{Judged, looked};
use super::measurement::{Known, Needs, Red, Tells, by_source};
use rig_capture::analyse;
use rig_capture::fate::Delays;
use rig_capture::{Dir, DutCounter, Span};
use rig_lab::Part;
use rig_testcases::Action;
use rig_testcases::vocabulary::{Entry, Looks, STREAM};
use rig_units::Time;

const SOURCE: &str = "row 31; test_tx_drop_counter_with_snappi.py of sonic-mgmt";

/// `queue.dead_link`.
pub(super) static DROPS: Known = Known {
    entry: Entry {
        name: "queue.dead_link",
        parts: Some(&[Part::Buffer]),
        loses: true,
        about: "the drop counter of the queue that a stream is sent to while the link of its port is down, and that of the port where the device shows one",
        source: "what the wire shows",
        fields: &[STREAM],
        looks: &[Looks::FOLLOWS],
        ..Entry::USUAL
    },
    needs: |_| Needs::Counters,
    tells: Tells::Each("counter"),
    red: Red::Mutated(
        "drops-over-a-dead-link-are-not-the-queues-broadcom",
        "deviation=dead_link_counted",
    ),
    expected: |_, _, _| {
        let [queue, port] =
            [DutCounter::QueueDropped, DutCounter::PortDiscarded].map(DutCounter::name);
        let text = format!("{queue} grown by none of its frames, nor {port} where there is one");
        by_source(text, SOURCE)
    },
    judge: |measure, done, judged| judge(done, measure.named("stream"), judged),
    over_memories: |_| true,
    ..Known::USUAL
};

/// The frames are sent while the link is down, and none of them arrives: none of them is the queue's.
fn judge(done: &JudgeContext<'_>, stream: &str, judged: &mut Judged) {
    let delays = Delays::from(done.context.seen());
    done.each("queue.dead_link", stream, judged, |trial| {
        let (index, spec) = trial.stream(stream)?;
        let mut steps = trial.script.steps.iter();
        let down = steps.find_map(|step| match step.action {
            Action::LinkDown(port) if port == spec.to => Some(step.at),
            _ => None,
        });
        let starts = trial.script.steps.iter().find_map(|step| match step.action {
            Action::StartStream(other) if other == index => Some(step.at),
            _ => None,
        });
        if down.zip(starts).is_none_or(|(down, starts)| down >= starts) {
            let why = format!("the link that {stream} is sent to is not down as it begins");
            return Err(trial.doubt(&why).into());
        }
        // Whatever else keeps frames from arriving over one that is up again.
        let back = trial.script.steps.iter().filter_map(|step| match step.action {
            Action::LinkUp(port) if port == spec.to => Some(step.at),
            _ => None,
        });
        let sent = trial.observation.of_stream(index, (spec.from, Dir::Tx));
        let last = sent.last().map(|(_, record)| record.at);
        if back.min().zip(last).is_some_and(|(back, last)| last >= Time::ZERO + back) {
            let why =
                format!("the link that {stream} is sent to is up again before its last frame");
            return Err(trial.doubt(&why).into());
        }
        let loss = analyse::loss(&trial.observation, &trial.script, index, delays);
        if loss.sent == 0 {
            return Err(trial.doubt(&format!("nothing of {stream} was sent")).into());
        }
        if loss.received > 0 {
            let (came, sent) = (loss.received, loss.sent);
            let why =
                format!("{came} of {sent} frames of {stream} came over the link that is down");
            return Err(trial.doubt(&why).into());
        }
        let port = &trial.observation.ports[usize::from(spec.to)].dut_port;
        let counters = &trial.observation.counters;
        let [queue, port] = [DutCounter::QueueDropped, DutCounter::PortDiscarded]
            .map(|counter| counter.of(port, spec.class));
        // What else was lost on its way there may have been counted, before the link went down and since.
        let others = |of_queue: bool| {
            let all = (0_u16..).zip(&trial.script.streams);
            let own = all.filter(|(other, one)| {
                *other != index && one.to == spec.to && (!of_queue || one.class == spec.class)
            });
            let lost = own.map(|(other, _)| {
                let loss = analyse::loss(&trial.observation, &trial.script, other, delays);
                loss.lost + loss.open
            });
            Span { lo: 0, hi: lost.sum() }
        };
        let mut all = vec![checks::grown(counters, &queue, others(true))];
        if counters.has(&port) || counters.moving.contains(&port) {
            all.push(checks::grown(counters, &port, others(false)));
        }
        let count = usize::try_from(loss.sent).unwrap_or(usize::MAX);
        checks::read(trial, &all, looked(count, "frames to a port without a link"), SOURCE)
    });
}
