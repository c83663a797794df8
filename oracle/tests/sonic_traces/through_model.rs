//! The model's watchdog publishes what SONiC's scripts published, each event at the same poll.

use crate::load::{Kind, Poll, Recorded, Trace, own, traces};
use rig_lab::{Charge, Pfcwd, PfcwdFaults, RuleFamily};
use rig_oracle::model::pfcwd::{Counters, Event, Watchdog};
use rig_units::Dur;

/// What a replay published: what changed the status, and what was ignored.
#[derive(Debug, PartialEq, Eq)]
struct Replay {
    events: Vec<Recorded>,
    ignored: Vec<Recorded>,
}

fn config(trace: &Trace) -> Pfcwd {
    Pfcwd {
        detection_time: Dur::ms(trace.detection_time_ms),
        restoration_time: trace.restoration_time_ms.map(Dur::ms),
        poll_interval: Dur::ms(trace.poll_interval_ms),
        action: trace.action,
        charge: match trace.family {
            RuleFamily::Mellanox => Charge::Elapsed,
            RuleFamily::Broadcom
            | RuleFamily::Cisco8000
            | RuleFamily::Barefoot
            | RuleFamily::IntervalCounter
            | RuleFamily::Hardware => Charge::Interval,
        },
        ..Pfcwd::dropping()
    }
}

/// Counters that the family does not read are left at nothing, so that reading one of them shows.
fn counters(poll: &Poll) -> Counters {
    Counters {
        at: poll.at,
        pfc_rx_pkts: poll.pfc_rx_pkts.unwrap_or_default(),
        xon_rx_pkts: 0,
        on2off_rx_pkts: poll.on2off_rx_pkts.unwrap_or_default(),
        rx_pause_duration_us: poll.rx_pause_duration_us.unwrap_or_default(),
        queue_packets: poll.queue_packets.unwrap_or_default(),
        queue_occupancy_bytes: poll.queue_occupancy_bytes.unwrap_or_default(),
        paused: poll.queue_pause_status.unwrap_or_default(),
        port_counter_timestamp_ns: poll.port_counter_timestamp_ns,
        debug_storm: false,
    }
}

fn replay(trace: &Trace) -> Replay {
    let mut watchdog = Watchdog::new(trace.family, &config(trace), PfcwdFaults::NONE);
    let mut replay = Replay { events: Vec::new(), ignored: Vec::new() };
    for (poll_index, poll) in trace.polls.iter().enumerate() {
        if let Some(published) = watchdog.poll(&counters(poll)) {
            let event = match published.event {
                Event::Storm => Kind::Storm,
                Event::Restore => Kind::Restore,
            };
            let kind = if published.heeded { &mut replay.events } else { &mut replay.ignored };
            kind.push(Recorded { poll_index, event });
        }
    }
    replay
}

fn recorded(trace: &Trace) -> Replay {
    Replay { events: trace.events.clone(), ignored: trace.ignored_events.clone() }
}

fn differs(trace: &Trace) -> Option<String> {
    let (got, want) = (replay(trace), recorded(trace));
    (got != want).then(|| {
        let Trace { id, kind, jitter, params, .. } = trace;
        format!("{id} ({kind}, jitter {jitter}) {params}\n  want {want:?}\n  got  {got:?}")
    })
}

#[test]
fn every_trace_replays_to_the_poll() {
    let differing: Vec<String> = traces().iter().filter_map(differs).collect();
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
}

/// The checker seen to fail: a trace whose counters were tampered with no longer agrees.
#[test]
fn one_counter_shifted_at_the_detecting_poll_is_noticed() {
    let noticed = |family: RuleFamily, shift: fn(&mut Poll)| {
        let all = own();
        let mut firing = all.iter().filter(|trace| {
            let storm = trace.events.first().is_some_and(|first| first.event == Kind::Storm);
            trace.family == family && storm
        });
        let mut trace = firing.next().expect("a trace of the family with a storm").clone();
        assert_eq!(differs(&trace), None);
        let detecting = trace.events[0].poll_index;
        shift(&mut trace.polls[detecting]);
        differs(&trace).is_some()
    };
    assert!(noticed(RuleFamily::Broadcom, |poll| {
        poll.on2off_rx_pkts = poll.on2off_rx_pkts.map(|count| count + 1);
    }));
    assert!(noticed(RuleFamily::Mellanox, |poll| {
        poll.queue_packets = poll.queue_packets.map(|count| count + 1);
    }));
    assert!(noticed(RuleFamily::Cisco8000, |poll| poll.queue_pause_status = Some(false)));
    assert!(noticed(RuleFamily::Barefoot, |poll| {
        poll.queue_packets = poll.queue_packets.map(|count| count + 1);
    }));
}
