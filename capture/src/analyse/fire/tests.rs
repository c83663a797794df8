use super::*;
use crate::sample::{CABLE, CLASS, FORWARDING, PAUSE, SIZE, Sample, TRANSIT, view};
use crate::{Dir, DutEvent, Provenance, What};
use proptest::prelude::*;
use rig_units::{Apart, Bytes, Dur, L2Rate, PortSpeed, Ppm, Quanta};

const START: Dur = Dur::ms(20);
const STOP: Dur = Dur::ms(420);

/// A frame of the stream: without and with preamble and gap.
fn frame() -> Dur {
    PortSpeed::G100.serialise(Bytes(SIZE.into()))
}
fn slot() -> Dur {
    PortSpeed::G100.slot(Bytes(SIZE.into()))
}

/// When the storm's pause is over at the device.
fn pause_end() -> Dur {
    let refreshes = (STOP - START).div_ceil(PAUSE / 2) - 1;
    START + (PAUSE / 2) * refreshes + PAUSE + CABLE
}

/// Probes through a device that holds them from the storm's start until `acts`, when the held ones leave at line rate;
/// later ones pass, or are dropped until `restores`.
fn held_until(acts: Dur, drops_until: Option<Dur>) -> Sample {
    let mut sample = Sample::new();
    sample.storm(START, STOP);
    let first_held = Dur::us(20_000);
    sample.probes(Dur::ZERO, Dur::ms(700), |sent| {
        let ready = sent + CABLE + FORWARDING;
        if sent < first_held || (ready >= acts && drops_until.is_none()) {
            return Some(sent + TRANSIT);
        }
        if ready >= acts && drops_until.is_some_and(|until| ready < until) {
            return None;
        }
        if ready >= acts {
            return Some(sent + TRANSIT);
        }
        let before = (sent - first_held).0 / Dur::us(500).0;
        Some(acts + frame() + slot() * before + CABLE)
    });
    sample
}

fn see(sample: Sample, view: &ActionView) -> Sighting {
    let (observation, script) = sample.done(Dur::ms(800));
    fired(&observation, &script, 0, 0, view)
}

fn drains() -> ActionView {
    view(WatchdogAction::Drop, Backlog::Drains)
}

#[test]
fn a_draining_backlog_gives_the_action_to_a_preamble_and_a_gap() {
    let acts = Dur::ms(223);
    let seen = see(held_until(acts, Some(Dur::ms(650))), &drains());
    let span = seen.span().expect("seen");
    assert_eq!(span, Span { lo: (acts + frame() - slot()).0, hi: acts.0 });
    let Sighting::At { frames, .. } = seen else { panic!("not seen") };
    assert_eq!(frames.len(), 3, "the first XOFF, the frame sent, the frame received");
}

#[test]
fn the_forward_action_is_seen_the_same_way() {
    let acts = Dur::ms(250);
    let forward = view(WatchdogAction::Forward, Backlog::Drains);
    let span = see(held_until(acts, None), &forward).span().expect("seen");
    assert!(span.lo <= acts.0 && acts.0 <= span.hi, "{span:?}");
}

#[test]
fn a_queue_that_obeys_to_the_end_never_fired() {
    assert_eq!(see(held_until(pause_end(), None), &drains()), Sighting::Never);
    let forward = view(WatchdogAction::Forward, Backlog::Drains);
    assert_eq!(see(held_until(pause_end(), None), &forward), Sighting::Never);
}

#[test]
fn a_release_just_before_the_pause_runs_out_is_the_action_and_one_at_its_end_is_not() {
    for (before, fires) in [(Dur(1), true), (Dur(0), false)] {
        let seen = see(held_until(pause_end() - before, None), &drains());
        assert_eq!(seen.span().is_some(), fires, "{before}");
    }
}

/// 335.5392 us are 33.558 ns less by a clock that is 100 ppm fast.
#[test]
fn a_pause_that_runs_out_by_a_fast_clock_is_no_action() {
    let view = ActionView { apart: Apart::of(Ppm(100), Ppm(0)), ..drains() };
    for (before, fires) in [(Dur(33_558), false), (Dur(33_559), true)] {
        let seen = see(held_until(pause_end() - before, None), &view);
        assert_eq!(seen.span().is_some(), fires, "{before}");
    }
}

#[test]
fn a_frame_started_within_the_response_time_is_obedient_and_one_later_is_not() {
    let reacted = START + CABLE + Dur::ns(400);
    for (late, fires) in
        [(Dur(0), false), (slot() - frame(), false), (slot() - frame() + Dur(1), true)]
    {
        let mut sample = Sample::new();
        sample.storm(START, STOP);
        let start = reacted + late;
        sample.data(0, START - Dur::us(1), Some(start + frame() + CABLE));
        sample.data(1, START + Dur::us(500), Some(Dur::ms(500)));
        let seen = see(sample, &drains());
        assert_eq!(seen.span().is_some(), fires, "{late}: {seen:?}");
    }
}

#[test]
fn a_port_busy_with_another_class_widens_the_interval_to_the_start_of_that_burst() {
    let acts = Dur::ms(223);
    let mut sample = Sample::new();
    sample.storm(START, STOP);
    sample.data(0, START + Dur::ms(1), Some(acts + slot() * 10 + frame() + CABLE));
    for n in 0..10 {
        let other = What::Other { size: Bytes(SIZE.into()) };
        sample.push(acts + slot() * n + frame() + CABLE, 1, Dir::Rx, other);
    }
    let span = see(sample, &drains()).span().expect("seen");
    assert_eq!(span, Span { lo: (acts + frame() - slot()).0, hi: (acts + slot() * 10).0 });
}

#[test]
fn an_action_may_have_come_while_the_shaper_kept_a_frame_that_was_let_go() {
    let (acts, rate) = (Dur::ms(223), L2Rate { bps: 300_000_000 });
    let mut sample = Sample::new();
    sample.storm(START, STOP);
    let other = What::Other { size: Bytes(SIZE.into()) };
    sample.push(acts + frame() + CABLE, 1, Dir::Rx, other);
    let starts = acts + rate.serialise(Bytes(SIZE.into()));
    sample.data(0, START + Dur::ms(1), Some(starts + frame() + CABLE));
    let at = |shaper| {
        let view = ActionView { shaper, ..drains() };
        see(sample.clone(), &view).span().expect("seen")
    };
    let (free, shaped) = (at(None), at(Some(rate)));
    assert!(free.lo > (acts + frame()).0, "{free:?}");
    assert!(shaped.lo <= acts.0, "{shaped:?}");
    assert_eq!((free.hi, shaped.hi), (starts.0, starts.0));
}

#[test]
fn a_probe_that_passes_without_having_been_held_bounds_the_action_from_above_only() {
    let mut sample = Sample::new();
    sample.storm(START, STOP);
    let sent = Dur::ms(100);
    sample.data(0, sent, Some(sent + TRANSIT));
    let forward = view(WatchdogAction::Forward, Backlog::Drains);
    let span = see(sample, &forward).span().expect("seen");
    assert_eq!(span, Span { lo: (START + CABLE).0, hi: (sent + CABLE + FORWARDING).0 });
}

#[test]
fn the_last_pause_that_held_frames_back_bounds_an_action_between_two_pauses() {
    // Pauses of 1 ms every 10 ms; the device acts at 65 ms and ignores those at 70 ms and later.
    let mut sample = Sample::new();
    sample.storm(START, STOP);
    let (observation, mut script) = {
        let mut pauses = Sample::new();
        std::mem::swap(&mut pauses.script, &mut sample.script);
        for n in 2..10 {
            for k in 0..4 {
                pauses.pfc(Dur::ms(10) * n + (PAUSE / 2) * k, 1, Dir::Tx, Quanta::MAX);
            }
        }
        let end = |from: Dur| from + (PAUSE / 2) * 3 + PAUSE + CABLE;
        pauses.probes(Dur::ms(15) + Dur::us(100), Dur::ms(95), |sent| {
            let from = Dur::ms(sent.0 / Dur::ms(10).0 * 10);
            let ready = sent + CABLE + FORWARDING;
            let holds = sent < Dur::ms(65) && from >= START && ready < end(from);
            let start = if holds { end(from) } else { ready };
            Some(start + frame() + CABLE)
        });
        pauses.done(Dur::ms(800))
    };
    script.steps.sort_by_key(|step| step.at);
    let forward = view(WatchdogAction::Forward, Backlog::Drains);
    let span = fired(&observation, &script, 0, 0, &forward).span().expect("seen");
    let held = Dur::ms(60) + (PAUSE / 2) * 3 + PAUSE + CABLE;
    let passed = Dur::ms(70) + Dur::us(100) + CABLE + FORWARDING;
    assert_eq!(span, Span { lo: held.0, hi: passed.0 });
}

#[test]
fn a_stream_that_sent_nothing_during_the_storm_shows_nothing() {
    let mut sample = Sample::new();
    sample.storm(START, STOP);
    sample.data(0, Dur::ms(1), Some(Dur::ms(1) + TRANSIT));
    sample.data(1, Dur::ms(500), Some(Dur::ms(500) + TRANSIT));
    assert!(matches!(see(sample, &drains()), Sighting::NotObservable(_)));
}

#[test]
fn without_a_storm_there_is_nothing_to_measure_from() {
    let mut sample = Sample::new();
    sample.probes(Dur::ZERO, Dur::ms(10), |sent| Some(sent + TRANSIT));
    assert!(matches!(see(sample, &drains()), Sighting::Void(_)));
}

/// A discarding device that paused the sender and let go of it at `acts`.
fn discarding(acts: Dur, xon: bool) -> Sample {
    let mut sample = Sample::new();
    sample.storm(START, STOP);
    sample.probes(Dur::ZERO, Dur::ms(700), |sent| {
        (sent < START || sent > Dur::ms(650)).then_some(sent + TRANSIT)
    });
    let mut at = START + Dur::ms(50);
    while at < acts {
        sample.pfc(at, 0, Dir::Rx, Quanta::MAX);
        at += Dur::us(150);
    }
    if xon {
        sample.pfc(acts + PortSpeed::G100.serialise(Bytes(64)) + CABLE, 0, Dir::Rx, Quanta(0));
    }
    sample
}

#[test]
fn a_discarded_backlog_shows_in_the_xon_towards_its_sender() {
    let acts = Dur::ms(223);
    let seen = see(discarding(acts, true), &view(WatchdogAction::Drop, Backlog::Discarded));
    // 20 B of preamble and gap at 100 Gb/s.
    assert_eq!(seen.span(), Some(Span { lo: acts.0 - 1_600, hi: acts.0 }));
}

#[test]
fn a_discarded_backlog_without_xon_shows_in_the_refresh_that_does_not_come() {
    let acts = Dur::ms(223);
    let seen = see(discarding(acts, false), &view(WatchdogAction::Drop, Backlog::Discarded));
    let span = seen.span().expect("seen");
    assert!(span.lo <= acts.0 && acts.0 <= span.hi, "{span:?}");
    assert!(span.hi - span.lo < Dur::us(151).0, "{span:?}");
}

#[test]
fn a_discarded_backlog_of_a_sender_that_was_never_paused_shows_by_its_losses_only() {
    let mut sample = Sample::new();
    sample.storm(START, STOP);
    sample.probes(Dur::ZERO, Dur::ms(700), |sent| {
        (sent < START || sent > Dur::ms(650)).then_some(sent + TRANSIT)
    });
    let seen = see(sample, &view(WatchdogAction::Drop, Backlog::Discarded));
    assert_eq!(seen.span(), Some(Span { lo: (START + CABLE).0, hi: pause_end().0 }));
}

#[test]
fn an_action_after_the_pause_shows_by_the_first_lost_probe() {
    let acts = pause_end() + Dur::ms(3) + Dur::us(200);
    let mut sample = Sample::new();
    sample.storm(START, STOP);
    let held = pause_end();
    sample.probes(Dur::ZERO, Dur::ms(700), |sent| {
        let ready = sent + CABLE + FORWARDING;
        let lost = ready > acts && sent < Dur::ms(650);
        let start = if sent >= START && ready < held { held } else { ready };
        (!lost).then_some(start + frame() + CABLE)
    });
    let span = see(sample, &drains()).span().expect("seen");
    assert!(span.lo <= acts.0 && acts.0 <= span.hi, "{span:?}");
    assert!(span.hi - span.lo <= (Dur::us(500) + FORWARDING).0);
}

#[test]
fn frames_still_held_when_the_trial_ends_are_no_sign_of_an_action() {
    let mut sample = Sample::new();
    sample.storm(START, Dur::ms(800));
    sample.probes(Dur::ZERO, Dur::ms(799), |sent| (sent < START).then_some(sent + TRANSIT));
    assert_eq!(see(sample, &drains()), Sighting::Never);
}

#[test]
fn losses_to_a_later_storm_are_not_this_one_s() {
    let mut sample = held_until(pause_end(), None);
    sample.storm(Dur::ms(750), Dur::ms(760));
    sample.probes(Dur::ms(752), Dur::ms(753), |_| None);
    sample.probes(Dur::ms(790), Dur::ms(795), |sent| Some(sent + TRANSIT));
    let storm = sample.script.storms[0].clone();
    sample.script.storms.push(storm);
    for step in &mut sample.script.steps[2..] {
        step.action = match step.action {
            rig_testcases::Action::StartStorm(_) => rig_testcases::Action::StartStorm(1),
            _ => rig_testcases::Action::StopStorm(1),
        };
    }
    let (observation, script) = sample.done(Dur::ms(800));
    assert_eq!(fired(&observation, &script, 0, 0, &drains()), Sighting::Never);
    assert!(fired(&observation, &script, 1, 0, &drains()).span().is_some());
}

#[test]
fn the_alert_action_shows_in_events_only() {
    let alert = view(WatchdogAction::Alert, Backlog::Drains);
    let (mut observation, script) = held_until(pause_end(), None).done(Dur::ms(800));
    let see = |observation: &Observation| fired(observation, &script, 0, 0, &alert);
    assert!(matches!(see(&observation), Sighting::NotObservable(_)));
    observation.events = Some(Vec::new());
    assert_eq!(see(&observation), Sighting::Never);
    let at = Time::ZERO + Dur::ms(223);
    let event = |port: &str, class| DutEvent {
        at,
        off: Dur::us(40),
        port: port.to_owned(),
        class,
        kind: DutEventKind::Storm,
    };
    observation.events = Some(vec![event("Ethernet0", CLASS), event("Ethernet4", 4)]);
    assert_eq!(see(&observation), Sighting::Never);
    observation.events = Some(vec![event("Ethernet4", CLASS)]);
    assert_eq!(see(&observation).span(), Some(around(at, Dur::us(40))));
    // One that may have come before the storm, and may not, counts; one that surely came before it does not.
    let mut early = |by: Dur| {
        let at = Time::ZERO + START - by;
        observation.events = Some(vec![DutEvent { at, ..event("Ethernet4", CLASS) }]);
        see(&observation).span() == Some(around(at, Dur::us(40)))
    };
    assert!(early(Dur::us(30)) && !early(Dur::us(50)));
}

fn around(at: Time, off: Dur) -> Span {
    Span { lo: (at - off).0, hi: (at + off).0 }
}

proptest! {
    /// Whenever the device acts and however far off timestamps are, the interval holds the true instant.
    #[test]
    fn the_interval_holds_the_action(
        acts in 20_600_000_000_u64..420_000_000_000,
        bound in 0_u64..50_000,
        off in proptest::collection::vec(-1_i64..=1, 1..40),
    ) {
        let acts = Dur(acts);
        let mut sample = held_until(acts, Some(Dur::ms(650)));
        sample.provenance = Provenance::Hardware { bound: Dur(bound) };
        let (mut observation, script) = sample.done(Dur::ms(800));
        for (record, off) in observation.records.iter_mut().zip(off.iter().cycle()) {
            let off = off * i64::try_from(bound).expect("small");
            record.at = Time(record.at.0.saturating_add_signed(off));
        }
        observation.records.sort_by_key(|record| (record.at, record.port, record.dir));
        let span = fired(&observation, &script, 0, 0, &drains()).span().expect("seen");
        prop_assert!(span.lo <= acts.0 && acts.0 <= span.hi, "{span:?} {acts:?}");
        prop_assert!(span.hi - span.lo <= (slot() * 3).0 + 6 * bound);
    }
}
