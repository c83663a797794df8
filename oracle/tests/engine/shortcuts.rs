//! The engine's own doings must not show: other event queues, shortcuts off, another start of time, other steps.

use crate::rig::*;
use proptest::prelude::*;
use rig_oracle::model::bench::dcqcn::Reaction;
use rig_oracle::model::bench::{Features, Figures, Scenario, run_on};
use rig_oracle::model::queue::{EventQueue, Heap4, Ordered};
use rig_oracle::model::{Network, Shortcuts, Storm, Stream, host, secy, switch, wred};
use rig_testcases::{MacsecMode, Tamper};
use rig_units::{Bytes, Dur, Pace, Ppm, Quanta, Time};

const OFF: [Shortcuts; 4] = [
    Shortcuts { bypass: false, fold: true, late_hosts: true },
    Shortcuts { bypass: true, fold: false, late_hosts: true },
    Shortcuts { bypass: true, fold: true, late_hosts: false },
    Shortcuts { bypass: false, fold: false, late_hosts: false },
];

/// Checksums over 2 ms, with all features and with none, from the engine's first version, in which each arrival, gate and
/// start of a frame was an event of its own. Two classes share ports by weighted round robin: those of all features are
/// from after the last change of its quantum. Where more than two senders fill the pool they are from after the buffer's
/// limits began to count the frame that is being charged; the buffer that does so gave the earlier ones by the earlier rule.
const GOLDEN: [[u64; 2]; 4] = [
    [947_634_351_086_964_616, 6_073_551_606_605_510_200],
    [4_640_131_584_405_727_464, 17_414_109_114_019_568_888],
    [16_403_339_810_707_317_376, 1_848_079_174_608_112_560],
    [4_514_297_291_274_854_256, 13_976_415_759_408_538_920],
];

/// With the timing of the packet simulator, by which the first checksums were taken.
fn as_ns3(features: Features) -> Features {
    Features { whole_ns: true, ..features }
}

/// Who sends to whom in them.
const SCENARIOS: [Scenario; 4] =
    [Scenario::Incast(2), Scenario::Incast(8), Scenario::Incast(16), Scenario::Dumbbell(64)];

/// The bare data path.
fn bare() -> Features {
    Features { two_classes: false, watchdog: None, tap: false, ..Features::all() }
}

/// What must be the same: everything but the number of events.
fn outcome(figures: Figures) -> Figures {
    Figures { events: 0, ..figures }
}

#[test]
fn every_benchmark_ends_in_one_checksum_whatever_the_queue_and_the_shortcuts() {
    let time = Dur::ms(2);
    for (scenario, golden) in SCENARIOS.into_iter().zip(GOLDEN) {
        for (features, checksum) in [Features::all(), bare()].map(as_ns3).into_iter().zip(golden) {
            let want = outcome(run_on::<Heap4>(scenario, features, time));
            assert_eq!(want.checksum, checksum, "{scenario:?}");
            assert_eq!(outcome(run_on::<Ordered>(scenario, features, time)), want, "{scenario:?}");
            for shortcuts in OFF {
                let features = Features { shortcuts, ..features };
                assert_eq!(
                    outcome(run_on::<Heap4>(scenario, features, time)),
                    want,
                    "{scenario:?} {shortcuts:?}"
                );
            }
        }
    }
}

#[test]
fn between_nics_too() {
    let time = Dur::ms(1);
    for (scenario, reaction) in
        SCENARIOS.into_iter().flat_map(|of| [(of, Reaction::Dcqcn), (of, Reaction::Product)])
    {
        let pairs = if scenario == Scenario::Incast(2) { 64 } else { 1 };
        let features = as_ns3(Features::of_nics(reaction, pairs));
        let want = outcome(run_on::<Heap4>(scenario, features, time));
        assert_eq!(outcome(run_on::<Ordered>(scenario, features, time)), want, "{scenario:?}");
        for shortcuts in OFF {
            let features = Features { shortcuts, ..features };
            let got = outcome(run_on::<Heap4>(scenario, features, time));
            assert_eq!(got, want, "{scenario:?} {reaction:?} {shortcuts:?}");
        }
    }
}

/// A run of everything at once: contention, storms, single frames, overrides, a cut.
#[derive(Debug, Clone)]
struct Script {
    streams: Vec<(u16, Stream)>,
    storms: Vec<(u16, Storm)>,
    delay: Dur,
    response: Dur,
    cut: u16,
    /// Marking at enqueue, the frame counted, the weight of the average.
    wred: (bool, bool, u8),
    /// Whether the switch and its hosts speak MACsec, with a latency.
    macsec: Option<Dur>,
}

fn script() -> impl Strategy<Value = Script> {
    // Few sizes and paces, so that many things happen at the same instant.
    let size = prop_oneof![Just(64_u16), Just(1024), Just(1504)];
    let class = prop_oneof![Just(0_u8), Just(3), Just(4)];
    let macsec_mode = || {
        prop::sample::select(vec![
            MacsecMode::Usual,
            MacsecMode::Usual,
            MacsecMode::Clear,
            MacsecMode::Late(1),
            MacsecMode::Tampered(Tamper::Forged),
        ])
    };
    let a_stream = (0..4_u16, 1..4_u16, class, size, 1..5_u64, macsec_mode()).prop_map(
        |(from, ahead, class, size, slots, macsec_mode)| {
            let pace = Pace::every(SPEED.slot(Bytes(size.into())) * slots);
            let ect = slots != 2;
            (
                from,
                Stream {
                    size,
                    pace,
                    ect,
                    macsec_mode,
                    ..stream(0, class, 100, (from + ahead) % 4)
                },
            )
        },
    );
    let a_storm = (0..4_u16, 0..4_u64, macsec_mode()).prop_map(|(from, quarters, macsec_mode)| {
        let every = SPEED.pause(Quanta(64)) * (1 + quarters) / 2;
        (from, Storm { quanta: Quanta(64), every, enable: 0b1_1000, macsec_mode, ..storm(0, 3) })
    });
    let delay = prop_oneof![Just(Dur::ZERO), Just(Dur::ns(400))];
    let response = prop_oneof![Just(Dur::ZERO), Just(Dur::ns(640))];
    (
        prop::collection::vec(a_stream, 1..7),
        prop::collection::vec(a_storm, 0..3),
        delay,
        response,
        0..4_u16,
        (any::<bool>(), any::<bool>(), prop_oneof![Just(0_u8), Just(2)]),
        prop_oneof![Just(None), Just(Some(Dur::ZERO)), Just(Some(Dur::ns(160)))],
    )
        .prop_map(|(streams, storms, delay, response, cut, wred, macsec)| Script {
            streams,
            storms,
            delay,
            response,
            cut,
            wred,
            macsec,
        })
}

fn play<Q: EventQueue>(script: &Script, start: Time, shortcuts: Shortcuts, step: Dur) -> Vec<Seen> {
    let mut config = switch::Config::plain(4, SPEED);
    config.buffer.pool = 100_000;
    config.forwarding_delay = script.delay.into();
    let (at_enqueue, counts_itself, weight) = script.wred;
    let curve = wred::Curve { kmin: 500, kmax: 40_000, pmax: Ppm(500_000) };
    config.wred = wred::Config {
        queues: 0b1001,
        mark: [curve; 3],
        drop: [curve; 3],
        at_enqueue,
        counts_itself,
        weight,
        ..wred::Config::off()
    };
    config.mac.response = script.response.into();
    let macsec = |an| {
        let latency = script.macsec.unwrap_or_default().into();
        let mode = rig_lab::PfcMode::Encrypt;
        let (enable, encoding_sa) = (script.macsec.is_some(), an);
        let off = rig_lab::Macsec::off();
        let macsec =
            rig_lab::Macsec { enable, pfc_encryption_mode: mode, latency, encoding_sa, ..off };
        secy::Config::declared(&macsec)
    };
    config.macsec = macsec(0);
    let rekeyed = switch::Config { macsec: macsec(1), ..config.clone() };
    let without = switch::Config { macsec: None, ..config.clone() };
    let mut network: Network<Q> =
        Network::new(&star(config.clone()), start).with_shortcuts(shortcuts);
    let security = script.macsec.map(|_| host::Security {
        an: 0,
        next_pn: 1,
        encrypted: true,
        sci: true,
        pfc: rig_lab::Form::Encrypted,
        obeys: host::Obeys { clear: true, encrypted: true },
    });
    // The last one has no peer's keys.
    (0..3).for_each(|host| network.secure(host, security));
    let mut trace = Trace::default();
    for (id, &(from, stream)) in (0..).zip(&script.streams) {
        network.start_stream(from, &Stream { id, names: id, ..stream });
    }
    for (id, &(from, storm)) in (100..).zip(&script.storms) {
        network.start_storm(from, &Storm { id, ..storm });
    }
    for act in 0..8 {
        let until = start + Dur::us(20) * (act + 1);
        while network.now() < until {
            let next = (network.now() + step).min(until);
            network.run_until(next, &mut trace);
        }
        let slow = script.cut ^ 1;
        match act {
            2 => network.obey(slow, 0b1000, Dur::ns(640)),
            4 => network.obey(slow, 0, Dur::ZERO),
            6 => network.obey(slow, u8::MAX, Dur::ZERO),
            _ => {}
        }
        match act {
            1 => network.set_macsec(0, &rekeyed),
            2 => network.rekey(slow, 1),
            6 => network.set_macsec(0, &without),
            7 => network.set_macsec(0, &config),
            _ => {}
        }
        match act {
            0 => network.ignore_pfc(1, 3, true),
            1 => network.drop_egress(2, 4, true),
            2 => drop(network.discard_backlog(2, 3)),
            3 => network.set_link(script.cut, false),
            4 => network.set_link(script.cut, true),
            5 => network.ignore_pfc(1, 3, false),
            6 => network.hold_xoff(0, 3, true),
            _ => network.set_alpha(0, 4, 0),
        }
    }
    let mut seen = trace.sorted();
    for seen in &mut seen {
        seen.at = Time::ZERO + (seen.at - start);
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn one_script_gives_one_trace(script in script()) {
        let whole = Dur::s(1);
        let want = play::<Heap4>(&script, Time::ZERO, Shortcuts::default(), whole);
        prop_assert!(!want.is_empty());
        prop_assert_eq!(&play::<Ordered>(&script, Time::ZERO, Shortcuts::default(), whole), &want);
        for shortcuts in OFF {
            prop_assert_eq!(&play::<Heap4>(&script, Time::ZERO, shortcuts, whole), &want, "{:?}", shortcuts);
        }
        // In steps, as a poller takes them.
        prop_assert_eq!(&play::<Heap4>(&script, Time::ZERO, Shortcuts::default(), Dur::ns(1_237)), &want);
        // Just before the event key of 2^48 ps runs out, and after days.
        let edge = Time((1 << 48) - Dur::us(50).0);
        prop_assert_eq!(&play::<Heap4>(&script, edge, Shortcuts::default(), whole), &want);
        let days = Time::ZERO + Dur::s(5 * 86_400);
        prop_assert_eq!(&play::<Heap4>(&script, days, Shortcuts::default(), whole), &want);
    }
}

#[test]
fn a_run_over_hours_keeps_its_pace_and_its_memory() {
    // One frame every 10 ms for three hours: forty times the reach of an event key.
    let mut network = network(2);
    let pace = Pace::every(Dur::ms(10));
    network.start_stream(0, &Stream { pace, ..stream(1, 3, 100, 1) });
    let mut last = Time::ZERO;
    let mut count = 0_u64;
    let mut tap = |at: Time, host: u16, _, _: &rig_oracle::model::Packet| {
        if host == 1 {
            last = at;
            count += 1;
        }
    };
    network.run_until(Time::ZERO + Dur::s(3 * 3_600), &mut tap);
    assert_eq!(count, 3 * 360_000);
    assert_eq!(last, Time::ZERO + Dur::ms(10) * (count - 1) + (to_last_bit(SIZE) + TRAVEL) * 2);
}
