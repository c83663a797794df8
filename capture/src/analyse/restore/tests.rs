use super::*;
use crate::sample::{CABLE, CLASS, FORWARDING, PAUSE, Sample, TRANSIT, view};
use crate::{DutEvent, What};
use proptest::prelude::*;
use rig_testcases::Backlog;
use rig_units::{Bytes, Dur, PortSpeed};

const START: Dur = Dur::ms(20);
const STOP: Dur = Dur::ms(420);
const ACTED: Span = Span { lo: 223_000_000_000, hi: 223_000_000_000 };
const AFTER: Time = Time(421_000_000_000);

/// Probes that are dropped from the action until `restores`; those before it were held until the action.
fn dropping(restores: Dur) -> Sample {
    let mut sample = Sample::new();
    sample.storm(START, STOP);
    sample.probes(Dur::ZERO, Dur::ms(900), |sent| {
        let arrives = sent + CABLE;
        let held = sent >= START && arrives.0 < ACTED.lo;
        let dropped = arrives.0 >= ACTED.hi && arrives < restores;
        if held { Some(Dur(ACTED.hi) + TRANSIT) } else { (!dropped).then_some(sent + TRANSIT) }
    });
    sample
}

fn see(sample: Sample, action: WatchdogAction) -> Sighting {
    let (observation, script) = sample.done(Dur::s(1));
    let view = view(action, Backlog::Drains);
    restored(&observation, &script, 0, 0, &view, (ACTED, AFTER))
}

#[test]
fn dropping_ends_between_the_last_lost_probe_and_the_first_through() {
    let seen = see(dropping(Dur::ms(650) + Dur::us(100)), WatchdogAction::Drop);
    let last_lost = Dur::ms(650) + CABLE;
    let first_through = Dur::us(650_500) + CABLE + FORWARDING;
    assert_eq!(seen.span(), Some(Span { lo: last_lost.0, hi: first_through.0 }));
    let Sighting::At { frames, .. } = seen else { panic!("not seen") };
    assert_eq!(frames.len(), 3, "the lost frame, the next one sent, the same received");
}

#[test]
fn a_queue_that_drops_to_the_end_was_never_restored() {
    assert_eq!(see(dropping(Dur::s(2)), WatchdogAction::Drop), Sighting::Never);
}

#[test]
fn a_stream_that_lost_nothing_does_not_show_the_end() {
    let seen = see(dropping(Dur(ACTED.lo)), WatchdogAction::Drop);
    assert!(matches!(seen, Sighting::NotObservable(_)), "{seen:?}");
}

#[test]
fn a_stream_that_ends_with_the_storm_does_not_show_the_end() {
    let mut sample = Sample::new();
    sample.storm(START, STOP);
    sample.probes(Dur::ZERO, Dur::ms(300), |sent| (sent < START).then_some(sent + TRANSIT));
    let seen = see(sample, WatchdogAction::Drop);
    assert!(matches!(seen, Sighting::NotObservable(_)), "{seen:?}");
}

#[test]
fn a_restoration_in_the_middle_of_the_storm_is_seen_where_it_was() {
    let restores = Dur::ms(330) + Dur::us(100);
    let end = Dur::ms(421);
    let mut sample = Sample::new();
    sample.storm(START, STOP);
    sample.probes(Dur::ZERO, Dur::ms(900), |sent| {
        let dropped = sent >= START && sent < restores;
        let leaves = if sent >= restores && sent < end { end } else { sent };
        (!dropped).then_some(leaves + TRANSIT)
    });
    let span = see(sample, WatchdogAction::Drop).span().expect("seen");
    assert!(span.lo <= restores.0 && restores.0 <= span.hi, "{span:?}");
}

#[test]
fn the_next_storm_ends_the_search() {
    let mut sample = Sample::new();
    sample.storm(START, STOP);
    sample.storm(Dur::ms(600), Dur::ms(700));
    sample.probes(Dur::ZERO, Dur::ms(900), |sent| (sent > Dur::ms(800)).then_some(sent + TRANSIT));
    assert_eq!(see(sample, WatchdogAction::Drop), Sighting::Never);
}

#[test]
fn a_late_frame_sent_by_hand_does_not_end_the_search() {
    let restores = Dur::ms(780) + Dur::us(100);
    let mut sample = dropping(restores);
    let late = rig_testcases::PfcFrames {
        odd: rig_testcases::PfcOdd::No,
        macsec: rig_testcases::MacsecMode::Usual,
        from: 1,
        enable: 1 << CLASS,
        quanta: Quanta::MAX,
        count: 1,
        every: Dur::us(1),
    };
    let action = rig_testcases::Action::Pfc(late);
    sample.script.steps.push(rig_testcases::Step { at: Dur::ms(570), action });
    sample.pfc(Dur::ms(570), 1, Dir::Tx, Quanta::MAX);
    let span = see(sample, WatchdogAction::Drop).span().expect("seen");
    assert!(span.lo <= restores.0 && restores.0 <= span.hi, "{span:?}");
}

/// After the storm the stream from the stormed port overfills its group: every second frame is lost until the device
/// sends PFC again at `xoff`.
fn overfull(xoff: Option<Dur>, loses: bool) -> Sample {
    let mut sample = Sample::new();
    (sample.script.streams[0].from, sample.script.streams[0].to) = (1, 2);
    sample.storm(START, STOP);
    let mut seq = 0;
    let mut at = Dur::ms(600);
    while at < Dur::ms(610) && xoff.is_none_or(|xoff| at < xoff) {
        let data = What::Data { stream: 0, seq, size: 1024, ce: false };
        sample.push(at, 1, Dir::Tx, data);
        if !loses || seq % 2 == 0 {
            sample.push(at + TRANSIT, 2, Dir::Rx, data);
        }
        (seq, at) = (seq + 1, at + Dur::us(1));
    }
    if let Some(xoff) = xoff {
        let leaves = PortSpeed::G100.serialise(Bytes(64));
        sample.pfc(xoff + leaves + CABLE, 1, Dir::Rx, Quanta::MAX);
        let data = What::Data { stream: 0, seq, size: 1024, ce: false };
        sample.push(at + Dur::ms(1), 1, Dir::Tx, data);
        sample.push(at + Dur::ms(1) + TRANSIT, 2, Dir::Rx, data);
    }
    sample
}

#[test]
fn forwarding_ends_between_the_last_loss_without_pfc_and_the_first_pfc() {
    let xoff = Dur::ms(605) + Dur::ns(300);
    let span = see(overfull(Some(xoff), true), WatchdogAction::Forward).span().expect("seen");
    assert!(span.lo <= xoff.0 && xoff.0 <= span.hi, "{span:?}");
    assert!(span.hi - span.lo <= Dur::us(3).0, "{span:?}");
}

#[test]
fn a_load_of_which_a_sample_was_recorded_shows_the_end_of_forwarding_as_well() {
    let xoff = Dur::ms(605) + Dur::ns(300);
    let (mut observation, script) = overfull(Some(xoff), true).done(Dur::s(1));
    // Every third frame of the sample arrives; of the others nothing is recorded.
    observation.records.retain(|record| match record.what {
        What::Data { seq, .. } => {
            seq.is_multiple_of(crate::SAMPLE)
                && (record.dir == Dir::Tx || (seq / crate::SAMPLE).is_multiple_of(3))
        }
        _ => true,
    });
    observation.integrity.unrecorded = 1;
    let view = view(WatchdogAction::Forward, Backlog::Drains);
    let seen = restored(&observation, &script, 0, 0, &view, (ACTED, AFTER));
    let span = seen.span().expect("seen");
    assert!(span.lo <= xoff.0 && xoff.0 <= span.hi, "{span:?}");
    assert!(span.hi - span.lo <= Dur::us(200).0, "{span:?}");
}

#[test]
fn losses_without_any_pfc_mean_that_forwarding_never_ended() {
    assert_eq!(see(overfull(None, true), WatchdogAction::Forward), Sighting::Never);
}

#[test]
fn a_group_that_never_was_full_shows_nothing() {
    let seen = see(overfull(None, false), WatchdogAction::Forward);
    assert!(matches!(seen, Sighting::NotObservable(_)), "{seen:?}");
}

#[test]
fn pfc_without_a_loss_before_it_bounds_the_end_from_above_only() {
    let xoff = Dur::ms(605);
    let seen = see(overfull(Some(xoff), false), WatchdogAction::Forward);
    assert_eq!(seen.span(), Some(Span { lo: ACTED.hi, hi: xoff.0 }));
}

#[test]
fn forwarding_of_a_stream_from_elsewhere_does_not_show_its_end() {
    let seen = see(dropping(Dur::ms(500)), WatchdogAction::Forward);
    assert!(matches!(seen, Sighting::NotObservable(_)));
}

#[test]
fn the_end_of_an_alert_is_the_first_restore_event_after_the_storm() {
    let (mut observation, script) = dropping(Dur(ACTED.lo)).done(Dur::s(1));
    let at = |ms, kind| DutEvent {
        at: Time::ZERO + Dur::ms(ms),
        off: Dur::ns(1),
        port: "Ethernet4".to_owned(),
        class: CLASS,
        kind,
    };
    let events = [
        at(223, DutEventKind::Storm),
        at(300, DutEventKind::Restore),
        at(500, DutEventKind::Storm),
        at(510, DutEventKind::Restore),
    ];
    observation.events = Some(events.to_vec());
    let view = view(WatchdogAction::Alert, Backlog::Drains);
    let seen = restored(&observation, &script, 0, 0, &view, (ACTED, AFTER));
    let around = Span { lo: Dur::ms(510).0 - 1_000, hi: Dur::ms(510).0 + 1_000 };
    assert_eq!(seen.span(), Some(around));
}

proptest! {
    #[test]
    fn the_interval_holds_the_end_of_dropping(restores in 421_600_000_000_u64..890_000_000_000) {
        let span = see(dropping(Dur(restores)), WatchdogAction::Drop).span().expect("seen");
        prop_assert!(span.lo <= restores && restores <= span.hi);
        prop_assert!(span.hi - span.lo <= (Dur::us(500) + FORWARDING).0);
    }
}

#[test]
fn the_storm_of_these_tests_is_over_before_the_search() {
    assert!((STOP + PAUSE + CABLE).0 < AFTER.0);
}
