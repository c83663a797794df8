//! Which senders of the rig run at the same time.

use crate::{Action, Script};
use rig_units::{Dur, PortSpeed};
use std::collections::{BTreeMap, BTreeSet};

/// A sender of the rig, by its number in the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrafficSource {
    /// A stream.
    Stream(u16),
    /// A pause storm.
    Storm(u16),
}

/// The senders that run from each instant on at which the script starts or stops one, all steps of that instant done. `speed` is
/// that of a rig port: how long a counted stream sends follows from it. Between two instants senders only come to their end.
pub fn running(
    script: &Script,
    speed: &dyn Fn(u16) -> PortSpeed,
) -> Vec<(Dur, BTreeSet<TrafficSource>)> {
    // Those that run, with the end of those that end by themselves.
    let mut now: BTreeMap<TrafficSource, Option<Dur>> = BTreeMap::new();
    let mut all = Vec::new();
    for (index, step) in script.steps.iter().enumerate() {
        match step.action {
            Action::StartStream(id) => {
                let stream = &script.streams[usize::from(id)];
                let end = stream.length(speed(stream.from));
                now.insert(
                    TrafficSource::Stream(id),
                    end.map(|length| step.at.saturating_add(length)),
                );
            }
            Action::StartStorm(id) => {
                now.insert(TrafficSource::Storm(id), None);
            }
            Action::StopStream(id) => {
                now.remove(&TrafficSource::Stream(id));
            }
            Action::StopStorm(id) => {
                now.remove(&TrafficSource::Storm(id));
            }
            Action::StartFlow(_)
            | Action::StopFlow(_)
            | Action::Pfc(_)
            | Action::LinkDown(_)
            | Action::LinkUp(_)
            | Action::Configure(_)
            | Action::Device(_) => {}
        }
        if script.steps.get(index + 1).is_none_or(|next| next.at > step.at) {
            now.retain(|_, end| end.is_none_or(|end| end > step.at));
            all.push((step.at, now.keys().copied().collect()));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Step, StormSpec, StreamSpec};

    /// What runs from each instant on, streams by their number and storms as 100.
    fn told(count: Option<u64>, steps: Vec<(u64, Action)>) -> Vec<(u64, Vec<u16>)> {
        let mut script = Script::idle(2);
        script.streams =
            vec![StreamSpec { count, ..StreamSpec::probe(0, 1) }, StreamSpec::probe(0, 1)];
        script.storms = vec![StormSpec::steady(1)];
        script.steps =
            steps.into_iter().map(|(at, action)| Step { at: Dur::us(at), action }).collect();
        let number = |sender: &TrafficSource| match sender {
            TrafficSource::Stream(id) => *id,
            TrafficSource::Storm(_) => 100,
        };
        let all = running(&script, &|_| PortSpeed::G100).into_iter();
        all.map(|(at, of)| (at.0 / Dur::us(1).0, of.iter().map(number).collect())).collect()
    }

    #[test]
    fn senders_run_from_their_start_to_their_stop_and_the_order_within_an_instant_does_not_matter()
    {
        use Action::{StartStorm, StartStream, StopStorm, StopStream};
        let steps = vec![
            (0, StartStream(0)),
            (5, StartStream(1)),
            (5, StartStorm(0)),
            (5, StopStream(0)),
            (9, StopStorm(0)),
        ];
        assert_eq!(told(None, steps), [(0, vec![0]), (5, vec![1, 100]), (9, vec![1])]);
    }

    #[test]
    fn a_counted_stream_ends_by_itself_one_interval_after_its_last_frame() {
        // Two frames 500 us apart.
        for (at, runs) in [(999, vec![0, 1]), (1_000, vec![1])] {
            let steps = vec![(0, Action::StartStream(0)), (at, Action::StartStream(1))];
            assert_eq!(told(Some(2), steps)[1], (at, runs));
        }
    }
}
