//! Which of a device's counters are worth a lane of the timeline: what the stormed queue counts, and what the queues by
//! which the shown stream comes in and leaves.

use crate::{DutCounter, Samples};
use rig_testcases::{Action, Script, Switch};
use rig_units::Time;

/// A timeline shows at most so many counters.
const MOST_LANES: usize = 6;

/// A queue of the device that bears on a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Queue {
    /// The one that is stormed, if one is.
    Struck,
    /// The one by which the stream leaves.
    Out,
    /// The one of the port at which it comes in.
    In,
}

/// A counter worth a lane.
#[derive(Debug, Clone, Copy)]
enum Worth {
    Of(DutCounter),
    /// One of the watchdog's, by what follows `PFC_WD_QUEUE_STATS_`.
    Watchdog(&'static str),
}

/// Counters that show what a storm, a watchdog or congestion does, the most telling first.
const WORTH: [(Queue, Worth); 17] = [
    (Queue::Struck, Worth::Of(DutCounter::PfcReceived)),
    (Queue::Struck, Worth::Watchdog("DEADLOCK_DETECTED")),
    (Queue::Struck, Worth::Watchdog("DEADLOCK_RESTORED")),
    (Queue::In, Worth::Of(DutCounter::PfcSent)),
    (Queue::Struck, Worth::Of(DutCounter::QueueSent)),
    (Queue::Struck, Worth::Watchdog("TX_DROPPED_PACKETS")),
    (Queue::Struck, Worth::Watchdog("RX_DROPPED_PACKETS")),
    (Queue::Struck, Worth::Watchdog("TX_PACKETS")),
    (Queue::Struck, Worth::Watchdog("RX_PACKETS")),
    (Queue::Struck, Worth::Of(DutCounter::QueueDropped)),
    (Queue::Out, Worth::Of(DutCounter::QueueSent)),
    (Queue::Out, Worth::Of(DutCounter::QueueDropped)),
    (Queue::Out, Worth::Of(DutCounter::QueueHeld)),
    (Queue::In, Worth::Of(DutCounter::GroupHeld)),
    (Queue::In, Worth::Of(DutCounter::GroupDropped)),
    (Queue::Struck, Worth::Of(DutCounter::PfcPaused)),
    (Queue::Struck, Worth::Of(DutCounter::PfcEnded)),
];

/// The counters to read during a trial about `storm`, seen in `stream`, the most telling first.
pub fn worth_reading(script: &Script, storm: Option<u16>, stream: u16) -> Vec<String> {
    let mut names = Vec::new();
    for (queue, worth) in WORTH {
        let Some((port, class)) = place(script, storm, stream, queue) else { continue };
        let port = Switch::port_name(script.dut_ports[usize::from(port)]);
        let name = match worth {
            Worth::Of(counter) => counter.of(&port, class),
            Worth::Watchdog(what) => format!("{port}:{class} PFC_WD_QUEUE_STATS_{what}"),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Rig port and class of a queue.
fn place(script: &Script, storm: Option<u16>, stream: u16, queue: Queue) -> Option<(u16, u8)> {
    let spec = &script.streams[usize::from(stream)];
    match queue {
        Queue::Out => Some((spec.to, spec.class)),
        Queue::In => Some((spec.from, spec.class)),
        Queue::Struck => {
            let (port, classes) = paused_by(script, storm)?;
            let lowest = u8::try_from(classes.trailing_zeros()).unwrap_or(spec.class);
            let same = classes == 0 || classes >> spec.class & 1 == 1;
            Some((port, if same { spec.class } else { lowest }))
        }
    }
}

/// Rig port and classes of the storm. One that the case is not about is better than none, and PFC frames sent by hand
/// are, too.
fn paused_by(script: &Script, storm: Option<u16>) -> Option<(u16, u8)> {
    if let Some(storm) = script.storms.get(usize::from(storm.unwrap_or(0))) {
        return Some((storm.from, storm.classes));
    }
    script.steps.iter().find_map(|step| match &step.action {
        Action::Pfc(frames) => Some((frames.from, frames.enable)),
        _ => None,
    })
}

/// The lanes: of what was read in the order of worth, the first six that changed.
pub fn changed(samples: &Samples) -> Vec<(String, Vec<(Time, u64)>)> {
    samples.steps.iter().filter(|(_, steps)| steps.len() > 1).take(MOST_LANES).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;
    use rig_testcases::{PfcFrames, Step};
    use rig_units::{Dur, Quanta};

    fn script() -> Script {
        Sample::new().done(Dur::ms(1)).1
    }

    fn places(script: &Script, storm: Option<u16>) -> [Option<(u16, u8)>; 3] {
        [Queue::Struck, Queue::Out, Queue::In].map(|queue| place(script, storm, 0, queue))
    }

    #[test]
    fn of_a_storm_the_stormed_queue_and_the_pauses_on_the_way_in_are_read() {
        // p1 sends class 3 to p2, which storms it; the device calls them Ethernet0 and Ethernet4.
        let names = worth_reading(&script(), Some(0), 0);
        assert_eq!(
            names[..6],
            [
                "Ethernet4 SAI_PORT_STAT_PFC_3_RX_PKTS",
                "Ethernet4:3 PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED",
                "Ethernet4:3 PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED",
                "Ethernet0 SAI_PORT_STAT_PFC_3_TX_PKTS",
                "Ethernet4:3 SAI_QUEUE_STAT_PACKETS",
                "Ethernet4:3 PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS",
            ]
        );
        let mut once = names.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), names.len(), "no name twice: {names:?}");
    }

    #[test]
    fn a_storm_of_another_class_and_port_is_read_where_it_strikes() {
        let mut script = script();
        script.storms[0].classes = 0b1001_0000;
        script.storms[0].from = 2;
        assert_eq!(places(&script, Some(0)), [Some((2, 4)), Some((1, 3)), Some((0, 3))]);
        assert_eq!(worth_reading(&script, Some(0), 0)[0], "Ethernet8 SAI_PORT_STAT_PFC_4_RX_PKTS");
    }

    #[test]
    fn without_a_storm_the_streams_way_is_read() {
        let mut script = script();
        script.storms.clear();
        assert_eq!(places(&script, None), [None, Some((1, 3)), Some((0, 3))]);
        let names = worth_reading(&script, None, 0);
        assert_eq!(
            names[..2],
            ["Ethernet0 SAI_PORT_STAT_PFC_3_TX_PKTS", "Ethernet4:3 SAI_QUEUE_STAT_PACKETS",]
        );
    }

    #[test]
    fn frames_sent_by_hand_strike_a_queue_too() {
        let mut script = script();
        script.storms.clear();
        let frames = |enable| PfcFrames {
            odd: rig_testcases::PfcOdd::No,
            macsec: rig_testcases::MacsecMode::Usual,
            from: 2,
            enable,
            quanta: Quanta(0),
            count: 1,
            every: Dur::ms(1),
        };
        for (enable, struck) in [(0b1000, 3), (0, 3), (0b1_0000, 4)] {
            script.steps = vec![Step { at: Dur::ZERO, action: Action::Pfc(frames(enable)) }];
            assert_eq!(places(&script, None)[0], Some((2, struck)), "{enable:#b}");
        }
    }

    #[test]
    fn a_storm_that_is_not_what_the_case_is_about_is_read_all_the_same() {
        assert_eq!(places(&script(), None), places(&script(), Some(0)));
    }

    #[test]
    fn only_what_changed_gets_a_lane_and_at_most_six_do() {
        let counter = |n: u64| {
            let mut steps = vec![(Time::ZERO, 7)];
            steps.extend((n % 2 == 1).then_some((Time(n), 8)));
            (format!("counter {n}"), steps)
        };
        let steps: Vec<_> = (0..20).map(counter).collect();
        let timeline_counters = changed(&Samples { every: Dur::ms(1), steps: steps.clone() });
        let odd: Vec<_> = steps.into_iter().skip(1).step_by(2).take(6).collect();
        assert_eq!(timeline_counters, odd);
    }
}
