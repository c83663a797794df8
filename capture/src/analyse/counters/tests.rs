use super::*;
use crate::Counters;
use crate::What;
use crate::analyse::{fired, restored};
use crate::sample::{CABLE, CLASS, FORWARDING, SIZE, Sample, TRANSIT, view};
use rig_units::{Bytes, Dur, PortSpeed};
use std::collections::BTreeMap;

const START: Dur = Dur::ms(20);
const ACTS: Dur = Dur::ms(223);
const RESTORES: Dur = Dur::us(650_200);

/// 406 frames were held and drained, 855 dropped: 20 ms to 222.5 ms, then 223 ms to 650 ms.
const DRAINED: u64 = 406;
const DROPPED: u64 = 855;

fn trial() -> (Observation, Script) {
    let slot = PortSpeed::G100.slot(Bytes(SIZE.into()));
    let mut sample = Sample::new();
    sample.storm(START, Dur::ms(420));
    sample.probes(Dur::ZERO, Dur::ms(800), |sent| {
        if sent < START || sent >= RESTORES {
            Some(sent + TRANSIT)
        } else if sent < ACTS {
            let before = (sent - START) / Dur::us(500);
            Some(ACTS + TRANSIT - CABLE - FORWARDING + slot * before)
        } else {
            None
        }
    });
    sample.done(Dur::ms(801))
}

fn checks(counted: &[(&str, u64)]) -> BTreeMap<String, CounterCheck> {
    let (mut observation, script) = trial();
    let before = counted.iter().map(|(name, _)| ((*name).to_owned(), 7));
    let after = counted.iter().map(|(name, value)| {
        let last = name.ends_with("_LAST");
        ((*name).to_owned(), value + if last { 0 } else { 7 })
    });
    observation.counters = Counters::read(before.collect(), after.collect());
    let view = view(WatchdogAction::Drop, Backlog::Drains);
    let acted = fired(&observation, &script, 0, 0, &view);
    let after = Time::ZERO + Dur::ms(421);
    let window = (acted.span().expect("acted"), after);
    let ended = restored(&observation, &script, 0, 0, &view, window);
    let checks = counters(&observation, &script, (0, CLASS), &view, (&acted, &ended));
    checks.into_iter().map(|check| (check.name.clone(), check)).collect()
}

const WD: &str = "Ethernet4:3 PFC_WD_QUEUE_STATS_";

#[test]
fn every_counter_has_its_number_from_the_wire() {
    let checks = checks(&[]);
    let want = |name: &str| checks[name].want;
    let watchdog = |name: &str| want(&format!("{WD}{name}"));
    assert_eq!(watchdog("DEADLOCK_DETECTED"), Span::exactly(1));
    assert_eq!(watchdog("DEADLOCK_RESTORED"), Span::exactly(1));
    for suffix in ["", "_LAST"] {
        assert_eq!(watchdog(&format!("TX_PACKETS{suffix}")), Span::exactly(DRAINED));
        assert_eq!(watchdog(&format!("TX_DROPPED_PACKETS{suffix}")), Span::exactly(DROPPED));
        assert_eq!(watchdog(&format!("RX_PACKETS{suffix}")), Span::exactly(0));
        assert_eq!(watchdog(&format!("RX_DROPPED_PACKETS{suffix}")), Span::exactly(0));
    }
    assert_eq!(want("Ethernet4:3 SAI_QUEUE_STAT_PACKETS"), Span::exactly(1_600 - DROPPED));
    assert_eq!(want("Ethernet4:3 SAI_QUEUE_STAT_DROPPED_PACKETS"), Span::exactly(DROPPED));
    let xoffs = Dur::ms(400).div_ceil(crate::sample::PAUSE / 2);
    assert_eq!(want("Ethernet4 SAI_PORT_STAT_PFC_3_RX_PKTS"), Span::exactly(xoffs));
    assert!(checks.values().all(|check| check.got.is_none() && !check.wrong()));
}

#[test]
fn a_counter_that_is_right_is_and_one_that_is_off_by_one_is_wrong() {
    for name in ["TX_DROPPED_PACKETS", "TX_DROPPED_PACKETS_LAST"] {
        let name = format!("{WD}{name}");
        for (value, wrong) in [(DROPPED, false), (DROPPED + 1, true), (DROPPED - 1, true)] {
            let check = &checks(&[(&name, value)])[&name];
            assert_eq!((check.got, check.wrong()), (Some(value), wrong), "{name}");
        }
    }
}

#[test]
fn without_a_detection_nothing_is_counted() {
    let (observation, script) = trial();
    let view = view(WatchdogAction::Drop, Backlog::Drains);
    let never = (&Sighting::Never, &Sighting::Never);
    let checks = counters(&observation, &script, (0, CLASS), &view, never);
    let watchdog: Vec<Span> =
        checks.iter().filter(|c| c.name.starts_with(WD)).map(|c| c.want).collect();
    assert_eq!(watchdog, [Span::exactly(0); 6]);
}

#[test]
fn an_alert_counts_the_storm_and_no_packets() {
    let (observation, script) = trial();
    let view = view(WatchdogAction::Alert, Backlog::Drains);
    let at = |ms| Sighting::At { span: Span::exactly(Dur::ms(ms).0), frames: Vec::new() };
    let checks = counters(&observation, &script, (0, CLASS), &view, (&at(223), &at(500)));
    let of = |name: &str| checks.iter().find(|c| c.name.ends_with(name)).map(|c| c.want);
    assert_eq!(of("DEADLOCK_DETECTED"), Some(Span::exactly(1)));
    assert_eq!(of("DEADLOCK_RESTORED"), Some(Span::exactly(1)));
    assert_eq!(of("TX_DROPPED_PACKETS"), Some(Span::exactly(0)));
}

#[test]
fn what_enters_by_the_stormed_port_is_counted_as_received() {
    // The way back: a frame every 500 us, lost while the action is in force, or not.
    for lost in [true, false] {
        let (mut observation, mut script) = trial();
        let mut back = script.streams[0].clone();
        (back.from, back.to) = (1, 0);
        script.streams.push(back);
        let mut at = Dur::us(100);
        for seq in 0..1_600 {
            let what = What::Data { stream: 1, seq, size: SIZE, ce: false };
            let record = |at, port, dir| crate::Record {
                secured: None,
                vlan: None,
                at: Time::ZERO + at,
                port,
                dir,
                what,
            };
            observation.records.push(record(at, 1, Dir::Tx));
            if !lost || at < ACTS || at >= RESTORES {
                observation.records.push(record(at + TRANSIT, 0, Dir::Rx));
            }
            at += Dur::us(500);
        }
        observation.records.sort_by_key(|r| (r.at, r.port, r.dir));
        let view = view(WatchdogAction::Drop, Backlog::Drains);
        let acted = fired(&observation, &script, 0, 0, &view);
        let window = (acted.span().expect("acted"), Time::ZERO + Dur::ms(421));
        let ended = restored(&observation, &script, 0, 0, &view, window);
        let checks = counters(&observation, &script, (0, CLASS), &view, (&acted, &ended));
        let of = |name: &str| {
            checks.iter().find(|c| c.name.ends_with(name)).map(|c| c.want).expect("checked")
        };
        // Sent at 223.1 ms to 650.1 ms: 855; the last of them after the end may have been.
        let (dropped, passed) = if lost { (855, 0) } else { (0, 855) };
        assert_eq!(of("RX_DROPPED_PACKETS"), Span::exactly(dropped));
        let sure = if lost { 0 } else { passed - 1 };
        assert_eq!(of("RX_PACKETS"), Span { lo: sure, hi: passed });
    }
}

/// The last of the frames is on its way to the rig as the trial ends.
#[test]
fn what_the_end_of_a_trial_caught_may_be_counted_and_need_not() {
    let last = Dur::us(9_500);
    let mut sample = Sample::new();
    sample.probes(Dur::ZERO, Dur::ms(10), |sent| (sent < last).then(|| sent + TRANSIT));
    let (observation, script) = sample.done(last + CABLE + FORWARDING);
    let view = view(WatchdogAction::Forward, Backlog::Drains);
    let acted = Sighting::At { span: Span::exactly(Dur::us(750).0), frames: Vec::new() };
    let all = counters(&observation, &script, (0, CLASS), &view, (&acted, &Sighting::Never));
    let want = |name: &str| all.iter().find(|one| one.name.ends_with(name)).map(|one| one.want);
    // One every 500 us, from 1 ms on.
    assert_eq!(want("WD_QUEUE_STATS_TX_PACKETS"), Some(Span { lo: 17, hi: 18 }));
    assert_eq!(want("WD_QUEUE_STATS_TX_DROPPED_PACKETS"), Some(Span { lo: 0, hi: 1 }));
}
