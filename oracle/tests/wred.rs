//! The emulated device against the closed form, on every bundled profile: a burst is held and let go, and each frame is marked or
//! not as its depth says. Neither side knows the other's code.

use rig_lab::{Color, Declared, Marking, Profile, Setting, Switch, Wred};
use rig_oracle::judge::likelihood::{self, Verdict};
use rig_oracle::judge::pairs::pairs;
use rig_oracle::judge::tally::Tally;
use rig_oracle::model::dut::{Dut, Rig};
use rig_oracle::model::{Dir, Packet, PacketKind, Storm, host};
use rig_oracle::spec::buffer::{Others, watermarks};
use rig_oracle::spec::wred::{Average, Burst, Class, goes_in};
use rig_testcases::MacsecMode;
use rig_units::{Bytes, Dur, Quanta, Time};

const FRAMES: u32 = 120;
const SIZE: u16 = 1_024;

fn profiles() -> Vec<Profile> {
    let lab = rig_lab::read::lab(None).unwrap_or_else(|faults| panic!("{}", faults[0]));
    // Each on its own: one of a system may have the rig at one port alone.
    let is_alone = |dut: &Profile| dut.kind == rig_lab::Kind::Switch && dut.system.is_none();
    lab.duts.into_iter().filter(is_alone).collect()
}

fn switch(declared: &Declared) -> &Switch {
    declared.switch().expect("a switch")
}

/// The profile's own way of marking, with a curve that a short burst goes through: 20 to 90 frames, up to 30 %.
fn with_curve(declared: &Declared) -> Declared {
    let cell = switch(declared).buffer.cell.0;
    let frame = (u64::from(SIZE) + switch(declared).buffer.descriptor.0).div_ceil(cell) * cell;
    [("kmin", 20 * frame), ("kmax", 90 * frame)]
        .into_iter()
        .fold(declared.clone(), |declared, (key, bytes)| set(&declared, key, format!("{bytes}B")))
        .with(&Setting { path: "wred.pmax".to_owned(), value: "30%".into() })
        .unwrap()
}

fn set(declared: &Declared, key: &str, value: impl Into<serde_json::Value>) -> Declared {
    declared.with(&Setting { path: format!("wred.{key}"), value: value.into() }).unwrap()
}

/// Which frames of a burst that port 0 sends to the held port 1 come out, and whether marked.
fn burst(profile: &Profile, declared: &Declared, frame: Packet, seed: u64) -> Vec<(u32, bool)> {
    let rig = Rig { ports: 2, cable_cm: 300, host: host::Config::quiet() };
    let mut dut = Dut::new(profile, declared, &rig, seed).unwrap();
    let mut nothing = |_: Time, _: u16, _: Dir, _: &Packet| ();
    let storm = Storm {
        id: 1,
        enable: 1 << 3,
        zero: 0,
        quanta: Quanta::MAX,
        every: Dur::us(20),
        count: None,
        macsec_mode: MacsecMode::Usual,
    };
    dut.rig().start_storm(1, &storm);
    dut.run_until(Time::ZERO + Dur::us(50), &mut nothing);
    for seq in 0..FRAMES {
        let mut packet = frame;
        packet.seq = seq;
        dut.deliver(0, packet, &mut nothing);
        let next = dut.now() + Dur::ns(90);
        dut.run_until(next, &mut nothing);
    }
    dut.run_until(Time::ZERO + Dur::us(80), &mut nothing);
    dut.rig().stop_storm(1, 1);
    let mut received = Vec::new();
    let mut tap = |_: Time, host: u16, dir: Dir, packet: &Packet| {
        if (host, dir, packet.kind) == (1, Dir::Rx, PacketKind::Data) {
            received.push((packet.seq, packet.ce()));
        }
    };
    dut.run_until(Time::ZERO + Dur::ms(1), &mut tap);
    received
}

fn ect() -> Packet {
    Packet::data(7, 0, 1, 3, 3, SIZE).with_ect(true)
}

/// Marks by rank over `times` devices, and the pairs of them.
fn counted(profile: &Profile, declared: &Declared, times: u32) -> (Vec<(u32, u32)>, u64) {
    let (mut counts, mut together) = (vec![(times, 0); 120], 0);
    for seed in 0..times {
        let received = burst(profile, declared, ect(), seed.into());
        assert_eq!(received.len(), counts.len());
        for &(seq, ce) in &received {
            counts[seq as usize].1 += u32::from(ce);
        }
        together += pairs(&received.iter().map(|&(_, ce)| ce).collect::<Vec<_>>());
    }
    (counts, together)
}

/// An ECN-capable green frame.
const GREEN: Class = Class { color: Color::Green, capable: true };

fn predicted(declared: &Declared) -> Burst {
    Burst::of(
        &switch(declared).buffer,
        &switch(declared).wred,
        GREEN,
        Bytes(SIZE.into()),
        FRAMES.into(),
    )
}

fn turned(point: Marking) -> &'static str {
    match point {
        Marking::Dequeue => "enqueue",
        Marking::Enqueue => "dequeue",
    }
}

#[test]
fn every_device_marks_by_the_curve_that_it_declares_at_either_point() {
    // Enough that a chance a tenth too high shows in the count: 419, by `tally::repetitions`.
    const TIMES: u32 = 500;
    for profile in profiles() {
        let own = with_curve(&profile.declared);
        let other = set(&own, "marking", turned(switch(&own).wred.marking));
        for declared in [set(&other, "counts_itself", !switch(&own).wred.counts_itself), own] {
            let (counts, together) = counted(&profile, &declared, TIMES);
            let burst = predicted(&declared);
            for ((rank, &(_, marked)), chance) in (1_u64..).zip(&counts).zip(burst.chances()) {
                match chance.certain() {
                    Some(certain) => {
                        let want = if certain { TIMES } else { 0 };
                        assert_eq!(marked, want, "{} rank {rank}", profile.name);
                    }
                    None => assert!(marked < TIMES, "{} rank {rank}", profile.name),
                }
            }
            let shares = burst.shares();
            let sum = counts.iter().map(|&(_, marked)| u64::from(marked)).sum();
            assert!(Tally::of(&shares, TIMES).bounds(1e-6).contains(&sum), "{}", profile.name);
            let tally = Tally::of_pairs(&shares, TIMES);
            assert!(tally.bounds(1e-6).contains(&together), "{}", profile.name);
            let verdict = likelihood::judge(&counts, &shares, &burst.turned().shares(), 1e-6);
            assert_eq!(verdict, Verdict::Declared, "{}", profile.name);
        }
    }
}

#[test]
fn shared_draws_show_in_pairs_and_not_in_the_count() {
    const TIMES: u32 = 60;
    let mut profile = profiles().swap_remove(0);
    let declared = with_curve(&profile.declared);
    profile.mutate(&"deviation=draws_correlated".parse().unwrap()).unwrap();
    let (counts, together) = counted(&profile, &declared, TIMES);
    let shares = predicted(&declared).shares();
    let sum = counts.iter().map(|&(_, marked)| u64::from(marked)).sum();
    // Eight at a time: the count varies more, up to eight times the variance, which 1e-12 still holds.
    assert!(Tally::of(&shares, TIMES).bounds(1e-12).contains(&sum));
    assert!(!Tally::of_pairs(&shares, TIMES).bounds(1e-6).contains(&together));
}

#[test]
fn as_many_frames_that_are_not_ecn_capable_go_in_as_the_closed_form_says() {
    let plain = Class { capable: false, ..GREEN };
    for profile in profiles() {
        let declared = with_curve(&profile.declared);
        let step = set(&declared, "kmax", format!("{}B", switch(&declared).wred.kmin.0));
        for declared in [set(&step, "counts_itself", !switch(&step).wred.counts_itself), step] {
            let Switch { buffer, wred, .. } = switch(&declared);
            let (least, most) = goes_in(buffer, wred, plain, Bytes(SIZE.into())).unwrap();
            assert_eq!(least, most);
            let received = burst(&profile, &declared, ect().with_ect(false), 1);
            assert_eq!(received.len() as u64, most, "{}", profile.name);
            assert!(received.iter().all(|&(_, ce)| !ce));
        }
    }
}

#[test]
fn an_average_is_the_recurrence_within_its_fixed_point() {
    for profile in profiles() {
        for weight in [1_u8, 3, 6] {
            let declared = set(&with_curve(&profile.declared), "weight", weight);
            // A step of certainty, so that one burst shows the rank at which the average passes it.
            let kmax = switch(&declared).wred.kmin.0;
            let declared = set(&declared, "kmax", format!("{kmax}B"));
            let declared = set(&declared, "marking", "enqueue");
            let burst_of = predicted(&declared);
            let received = burst(&profile, &declared, ect(), 1);
            let mut average = Average::within(0);
            for (rank, &(_, ce)) in (1..).zip(&received) {
                let depth = burst_of.depth(rank);
                average = average.take(weight, &(depth..=depth));
                let (lo, hi) = average.chances(&burst_of.curve.into());
                let got = if ce { 1.0 } else { 0.0 };
                assert!((lo..=hi).contains(&got), "{} weight {weight} rank {rank}", profile.name);
            }
        }
    }
}

#[test]
fn the_profile_of_every_bundled_device_marks_its_lossless_queues() {
    for profile in profiles() {
        let Switch { wred, qos, buffer, .. } = switch(&profile.declared);
        assert_eq!(wred.queues, qos.pfc_enable, "{}", profile.name);
        assert_ne!(*wred, Wred::off());
        // Marks come before XOFF: the depth of one queue is what its group holds.
        let (most, _) = watermarks(buffer, Bytes(SIZE.into()), &Others::default(), u64::MAX >> 32);
        assert!(wred.kmin.0 < most, "{}", profile.name);
    }
}
