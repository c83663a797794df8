//! The rules of one watchdog, on counters written by hand.

use super::countdown::Countdown;
use super::*;
use proptest::prelude::*;
use rig_lab::Charge;
use rig_units::{Dur, Time};

const FAMILIES: [RuleFamily; 5] = [
    RuleFamily::Broadcom,
    RuleFamily::Mellanox,
    RuleFamily::Cisco8000,
    RuleFamily::Barefoot,
    RuleFamily::IntervalCounter,
];

/// P = 100 ms, D = 300 ms, R = 300 ms.
fn config(family: RuleFamily) -> Pfcwd {
    Pfcwd {
        detection_time: Dur::ms(300),
        restoration_time: Some(Dur::ms(300)),
        charge: if family == RuleFamily::Mellanox { Charge::Elapsed } else { Charge::Interval },
        ..Pfcwd::dropping()
    }
}

/// One port's class under a storm: an XOFF frame every millisecond in each span, the pause ending with the span,
/// and single XON frames outside of them. Before the first span a data frame leaves every 100 us; it then holds data.
struct Line {
    storms: Vec<(u64, u64)>,
    xons: Vec<u64>,
}

impl Line {
    fn storm(from_ms: u64, to_ms: u64) -> Line {
        Line { storms: vec![(from_ms, to_ms)], xons: Vec::new() }
    }

    fn at(&self, us: u64) -> Counters {
        let ms = us / 1_000;
        let begun = |&&(from, _): &&(u64, u64)| from * 1_000 <= us;
        let frames = self.storms.iter().filter(begun).map(|(from, to)| ms.min(to - 1) - from + 1);
        let paused =
            self.storms.iter().filter(begun).map(|(from, to)| us.min(to * 1_000) - from * 1_000);
        let xons = self.xons.iter().filter(|&&xon| xon * 1_000 <= us).count() as u64;
        let first = self.storms.first().map_or(u64::MAX, |&(from, _)| from * 1_000);
        Counters {
            at: Time::ZERO + Dur::us(us),
            pfc_rx_pkts: frames.sum::<u64>() + xons,
            xon_rx_pkts: xons,
            on2off_rx_pkts: self.storms.iter().filter(|(_, to)| to * 1_000 <= us).count() as u64,
            rx_pause_duration_us: paused.sum(),
            queue_packets: us.min(first) / 100,
            queue_occupancy_bytes: if us > first { 64_000 } else { 0 },
            paused: self.storms.iter().any(|(from, to)| (from * 1_000..to * 1_000).contains(&us)),
            port_counter_timestamp_ns: Some(us * 1_000),
            debug_storm: false,
        }
    }

    /// What a watchdog that polls every 100 ms from `phase_us` on publishes up to 5 s, with the times in microseconds.
    fn watched(&self, mut watchdog: Watchdog, phase_us: u64) -> Vec<(u64, Event)> {
        let polls = (0..50).map(|poll| phase_us + poll * 100_000);
        let events = polls.filter_map(|us| Some((us, watchdog.poll(&self.at(us))?)));
        events.filter(|(_, published)| published.heeded).map(|(us, p)| (us, p.event)).collect()
    }
}

fn run(family: RuleFamily, line: &Line, faults: PfcwdFaults) -> Vec<(u64, Event)> {
    line.watched(Watchdog::new(family, &config(family), faults), 50_000)
}

fn storms(events: &[(u64, Event)]) -> usize {
    events.iter().filter(|(_, event)| *event == Event::Storm).count()
}

/// Delay in microseconds of the first restoration after `from_ms`.
fn restored_after(events: &[(u64, Event)], from_ms: u64) -> Option<u64> {
    let restored =
        events.iter().find(|&&(us, event)| event == Event::Restore && us >= from_ms * 1_000);
    restored.map(|(us, _)| us - from_ms * 1_000)
}

proptest! {
    /// F13, with data and without jitter; the storm outlasts detection.
    #[test]
    fn detection_and_restoration_lie_in_their_intervals(phase_us in 1..=100_000_u64, start in 200..400_u64) {
        let line = Line::storm(start, start + 1_000);
        for family in FAMILIES {
            let events = line.watched(Watchdog::new(family, &config(family), PfcwdFaults::NONE), phase_us);
            // The interval counter goes round again while the storm lasts.
            let again = family == RuleFamily::IntervalCounter;
            prop_assert!(events.len() == 2 || again, "{:?} {:?}", family, &events);
            let took = events[0].0 - start * 1_000;
            // Data leaves every 100 us up to the storm, so the open lower ends of mellanox and barefoot move by that.
            let (from, to) = match family {
                RuleFamily::Broadcom => (300_000, 400_000),
                RuleFamily::Mellanox | RuleFamily::Barefoot => (299_900, 400_001),
                RuleFamily::Cisco8000
                | RuleFamily::IntervalCounter
                // It has no polls.
                | RuleFamily::Hardware => (200_000, 300_001),
            };
            prop_assert!((from..to).contains(&took), "{:?} took {} us", family, took);
            // The last frame is one millisecond before the pause ends.
            let restored = match family {
                RuleFamily::Broadcom | RuleFamily::Mellanox | RuleFamily::Barefoot => {
                    (300_000..400_000).contains(&restored_after(&events, start + 999).unwrap())
                }
                RuleFamily::Cisco8000 => {
                    (200_000..300_000).contains(&restored_after(&events, start + 1_000).unwrap())
                }
                RuleFamily::IntervalCounter | RuleFamily::Hardware => {
                    events[1].0 - events[0].0 == 300_000
                }
            };
            prop_assert!(restored, "{:?} {:?}", family, &events);
        }
    }
}

#[test]
fn a_storm_short_of_every_interval_never_fires() {
    for family in FAMILIES {
        // Three polls in a row need more than two intervals, or one where a pause that has ended counts too.
        let length = if family == RuleFamily::IntervalCounter { 95 } else { 195 };
        let line = Line::storm(250, 250 + length);
        assert_eq!(run(family, &line, PfcwdFaults::NONE), [], "{family:?}");
    }
}

#[test]
fn a_poll_between_two_storms_starts_the_time_over_unless_it_is_broken() {
    let broken = PfcwdFaults { timer_not_reset_by_gap: true, ..PfcwdFaults::NONE };
    // The poll at 450 ms falls between the two; neither is long enough by itself.
    for (family, second_ends) in
        [(RuleFamily::Broadcom, 790), (RuleFamily::Mellanox, 790), (RuleFamily::Cisco8000, 690)]
    {
        let line = Line { storms: vec![(205, 430), (460, second_ends)], xons: Vec::new() };
        assert_eq!(storms(&run(family, &line, PfcwdFaults::NONE)), 0, "{family:?}");
        assert_eq!(storms(&run(family, &line, broken)), 1, "{family:?}");
    }
}

#[test]
fn xon_frames_alone_are_no_storm_unless_they_are_taken_for_one() {
    let line = Line { storms: Vec::new(), xons: (0..400).map(|n| 200 + 5 * n).collect() };
    for family in FAMILIES {
        let broken = PfcwdFaults { xon_counts_as_storm: true, ..PfcwdFaults::NONE };
        assert_eq!(storms(&run(family, &line, PfcwdFaults::NONE)), 0, "{family:?}");
        assert_ne!(storms(&run(family, &line, broken)), 0, "{family:?}");
        let silent = Line { storms: Vec::new(), xons: Vec::new() };
        assert_eq!(run(family, &silent, broken), [], "{family:?}");
    }
}

#[test]
fn a_pause_of_an_empty_queue_is_a_storm_to_a_rule_that_takes_it_for_full() {
    let broken = PfcwdFaults { idle_queue_fires: true, ..PfcwdFaults::NONE };
    let line = Line::storm(205, 1_205);
    let polls = |faults| {
        let mut watchdog =
            Watchdog::new(RuleFamily::Mellanox, &config(RuleFamily::Mellanox), faults);
        let empty = |us| Counters { queue_occupancy_bytes: 0, ..line.at(us) };
        (0..10).filter_map(|poll| watchdog.poll(&empty(250_000 + poll * 100_000))).count()
    };
    assert_eq!(polls(PfcwdFaults::NONE), 0);
    assert_ne!(polls(broken), 0);
}

#[test]
fn pauses_with_gaps_are_no_storm_unless_any_pause_is() {
    let storms_of_half_a_poll = (2..12).map(|poll| (poll * 100 + 20, poll * 100 + 70)).collect();
    let line = Line { storms: storms_of_half_a_poll, xons: Vec::new() };
    let broken = PfcwdFaults { any_pause_is_storm: true, ..PfcwdFaults::NONE };
    // A rule that looks at the moment of the poll alone meets a pause each time.
    for family in [RuleFamily::Broadcom, RuleFamily::Mellanox] {
        assert_eq!(storms(&run(family, &line, PfcwdFaults::NONE)), 0, "{family:?}");
        assert_ne!(storms(&run(family, &line, broken)), 0, "{family:?}");
    }
}

#[test]
fn restoring_too_early_is_one_poll_early() {
    let line = Line::storm(205, 1_205);
    let broken = PfcwdFaults { restores_too_early: true, ..PfcwdFaults::NONE };
    for family in FAMILIES {
        let right = run(family, &line, PfcwdFaults::NONE)[1].0;
        assert_eq!(run(family, &line, broken)[1].0, right - 100_000, "{family:?}");
    }
}

#[test]
fn restoring_during_a_storm_does_not_wait_for_its_end() {
    let line = Line::storm(205, 4_000);
    let broken = PfcwdFaults { restores_during_storm: true, ..PfcwdFaults::NONE };
    for family in
        [RuleFamily::Broadcom, RuleFamily::Mellanox, RuleFamily::Cisco8000, RuleFamily::Barefoot]
    {
        assert_eq!(
            restored_after(&run(family, &line, PfcwdFaults::NONE), 0).unwrap() / 1_000_000,
            4
        );
        assert!(restored_after(&run(family, &line, broken), 0).unwrap() < 1_100_000, "{family:?}");
    }
}

#[test]
fn a_late_frame_restarts_restoration_unless_it_is_broken() {
    let line = Line { storms: vec![(205, 1_005), (1_248, 1_252)], xons: Vec::new() };
    let broken = PfcwdFaults { late_frame_does_not_restart: true, ..PfcwdFaults::NONE };
    for family in
        [RuleFamily::Broadcom, RuleFamily::Mellanox, RuleFamily::Cisco8000, RuleFamily::Barefoot]
    {
        let right = run(family, &line, PfcwdFaults::NONE)[1].0;
        let early = run(family, &line, broken)[1].0;
        assert!(right >= early + 200_000, "{family:?}: {right} {early}");
    }
}

#[test]
fn ignoring_late_frames_is_not_ignoring_the_storm() {
    let broken = PfcwdFaults { late_frame_does_not_restart: true, ..PfcwdFaults::NONE };
    let line = Line::storm(205, 1_205);
    assert_eq!(
        run(RuleFamily::Broadcom, &line, broken),
        run(RuleFamily::Broadcom, &line, PfcwdFaults::NONE)
    );
}

#[test]
fn an_xon_frame_restarts_restoration_unless_it_is_broken() {
    let line = Line { storms: vec![(205, 1_005)], xons: vec![1_249] };
    let broken = PfcwdFaults { xon_does_not_restart: true, ..PfcwdFaults::NONE };
    for family in [RuleFamily::Broadcom, RuleFamily::Mellanox, RuleFamily::Barefoot] {
        let right = run(family, &line, PfcwdFaults::NONE)[1].0;
        let early = run(family, &line, broken)[1].0;
        assert!(right >= early + 200_000, "{family:?}: {right} {early}");
    }
}

#[test]
fn without_a_restoration_time_it_stays_stormed() {
    for family in FAMILIES {
        let never = Pfcwd { restoration_time: None, ..config(family) };
        let line = Line::storm(205, 1_205);
        let events = line.watched(Watchdog::new(family, &never, PfcwdFaults::NONE), 50_000);
        assert_eq!(events.len(), 1, "{family:?}");
    }
}

#[test]
fn fewest_samples_hold_back_a_rule_that_one_poll_would_satisfy() {
    let line = Line::storm(205, 1_205);
    for (min_samples, fires_at_us) in [(1, 250_000), (2, 350_000), (4, 550_000)] {
        let quick =
            Pfcwd { detection_time: Dur::ms(100), min_samples, ..config(RuleFamily::Cisco8000) };
        let events =
            line.watched(Watchdog::new(RuleFamily::Cisco8000, &quick, PfcwdFaults::NONE), 50_000);
        assert_eq!(events[0], (fires_at_us, Event::Storm), "{min_samples}");
    }
}

/// With D just above 3 P whole intervals need a fourth poll, and measured time against 0.99 D does not.
#[test]
fn what_a_poll_is_charged_shows_when_the_detection_time_is_just_above_a_poll() {
    let line = Line::storm(205, 1_205);
    for (charge, fires_at_us) in [(Charge::Interval, 650_000), (Charge::Elapsed, 550_000)] {
        let config = Pfcwd { detection_time: Dur::ms(302), charge, ..config(RuleFamily::Broadcom) };
        let events =
            line.watched(Watchdog::new(RuleFamily::Broadcom, &config, PfcwdFaults::NONE), 50_000);
        assert_eq!(events[0], (fires_at_us, Event::Storm), "{charge:?}");
    }
}

/// Ordinary back-pressure that touches every interval trips the interval counter and nothing with a history.
#[test]
fn the_interval_counter_trips_on_a_short_pause_in_every_interval() {
    let line =
        Line { storms: (2..20).map(|n| (n * 100 + 10, n * 100 + 12)).collect(), xons: Vec::new() };
    assert!(storms(&run(RuleFamily::IntervalCounter, &line, PfcwdFaults::NONE)) > 1);
    assert_eq!(storms(&run(RuleFamily::Broadcom, &line, PfcwdFaults::NONE)), 0);
    assert_eq!(storms(&run(RuleFamily::Mellanox, &line, PfcwdFaults::NONE)), 0);
}

/// Its action ends while the storm goes on, and N checks later it fires again.
#[test]
fn the_interval_counter_lets_go_and_detects_again() {
    let events = run(RuleFamily::IntervalCounter, &Line::storm(205, 1_805), PfcwdFaults::NONE);
    let times: Vec<u64> = events.iter().map(|(us, _)| us / 1_000).collect();
    assert_eq!(times, [450, 750, 1_050, 1_350, 1_650, 1_950]);
}

#[test]
fn exactly_99_percent_of_the_detection_time_is_not_enough() {
    let mut countdown = Countdown::new(Dur::ms(100));
    countdown.spend(Dur::ms(99));
    assert!(!countdown.is_nearly_used_up());
    countdown.spend(Dur(1));
    assert!(countdown.is_nearly_used_up());
}

#[test]
fn a_queue_is_stormed_from_its_storm_to_its_restoration() {
    let line = Line::storm(205, 1_205);
    let family = RuleFamily::Cisco8000;
    let mut watchdog = Watchdog::new(family, &config(family), PfcwdFaults::NONE);
    let stormed: Vec<bool> = (0..18)
        .map(|poll| {
            watchdog.poll(&line.at(50_000 + poll * 100_000));
            watchdog.is_stormed()
        })
        .collect();
    // Fires at 450 ms, the third poll in the storm; restores at 1450 ms, the third after it.
    assert_eq!(stormed.iter().position(|&is| is), Some(4));
    assert_eq!(stormed.iter().rposition(|&is| is), Some(13));
}
