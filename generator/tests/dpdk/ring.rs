//! A port that hands back what it sends: DPDK's ring in memory. No kernel, no root.

use crate::alone::{alone, config};
use crate::lab::{in_order, numbered, pfc, receive, send};
use rig_generator::port::{
    Backend, Config, Feature, Frame, Mono, Port, StampedBy, Stats, Transmit,
};
use rig_units::{Dur, PortSpeed};

const RING: &[&str] = &["--vdev=net_ring0"];

fn ring(set: impl Fn(&mut Config)) -> Port {
    let mut config = config("net_ring0", RING, 9_014);
    set(&mut config);
    Port::open(&config).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn frames_of_every_length_come_back_as_they_were_sent() {
    if !alone("ring::frames_of_every_length_come_back_as_they_were_sent") {
        return;
    }
    let Port { mut tx, mut rx, caps } = ring(|config| config.limit = Some(PortSpeed::G10));
    assert_eq!((caps.backend, caps.attached), (Backend::Dpdk, None));
    assert_eq!((caps.longest, caps.stamped_by), (9_014, StampedBy::Process));
    let refused: Vec<Feature> = caps.refused.iter().map(|refusal| refusal.feature).collect();
    assert_eq!(refused, [Feature::RateLimit], "a ring in memory has no rate");
    let mut frames = vec![pfc()];
    frames.extend([60, 64, 1_082, 2_106, 4_170, 9_014].map(|len| numbered(len, 7)));
    for _ in 0..100 {
        let before = Mono::now();
        assert_eq!(send(&mut *tx, frames.iter().map(Vec::as_slice)), 0);
        assert_eq!(rx.wait(Dur::s(5)), Ok(true));
        let got = receive(&mut *rx, frames.len());
        in_order(&got, before, Mono::now());
        assert!(got.iter().map(|(bytes, _)| bytes).eq(&frames));
        assert!(got.iter().all(|(_, stamp)| stamp.by == StampedBy::Process));
    }
    assert_eq!(rx.wait(Dur::ms(1)), Ok(false));
    assert_eq!(rx.poll(&mut |_, _| panic!("nobody sent this")), Ok(0));
    assert!(rx.fds().is_empty());
    assert_eq!([tx.stats(), rx.stats()], [Ok(Stats::default()), Ok(Stats::default())]);
}

fn stage(tx: &mut dyn Transmit, mut frame: Frame, bytes: &[u8]) {
    tx.bytes(&mut frame)[..bytes.len()].copy_from_slice(bytes);
    tx.stage(frame, bytes.len());
}

#[test]
fn a_slot_is_nobody_elses_until_its_frame_was_read_and_comes_back_with_its_bytes_and_its_tag() {
    let test = "ring::a_slot_is_nobody_elses_until_its_frame_was_read_and_comes_back_with_its_bytes_and_its_tag";
    if !alone(test) {
        return;
    }
    let Port { mut tx, mut rx, .. } = ring(|config| config.slots = 2);
    let mut held = Vec::new();
    while let Some(frame) = tx.alloc() {
        held.push(frame);
    }
    let all = held.len();
    assert!(all >= 2, "as many as were asked for");
    for (seq, mut frame) in (0..).zip(held) {
        assert_eq!((frame.tag, tx.bytes(&mut frame)[0]), (0, 0), "never used");
        frame.tag = 40 + seq;
        stage(&mut *tx, frame, &numbered(200, seq));
    }
    assert_eq!(tx.kick().map(|kick| kick.waiting), Ok(0), "staged only");
    assert_eq!(rx.poll(&mut |_, _| panic!("staged only")), Ok(0));
    tx.publish();
    assert_eq!(rx.poll(&mut |_, _| panic!("published only")), Ok(0));
    assert_eq!(tx.kick().map(|kick| kick.waiting), Ok(0));
    assert_eq!(tx.alloc(), None, "nobody has read them");
    assert_eq!(receive(&mut *rx, all).len(), all);
    assert_eq!(tx.reclaim(), all);
    for _ in 0..all {
        let mut frame = tx.alloc().expect("all are back");
        let seq = frame.tag - 40;
        assert_eq!(tx.bytes(&mut frame)[..200], numbered(200, seq));
        tx.release(frame);
    }
}

#[test]
fn what_a_full_ring_does_not_take_waits_and_nothing_is_lost() {
    if !alone("ring::what_a_full_ring_does_not_take_waits_and_nothing_is_lost") {
        return;
    }
    const ALL: u64 = 20_000;
    let Port { mut tx, mut rx, .. } = ring(|config| config.slots = 2_048);
    let (mut staged, mut waited, mut ran_out, mut next) = (0, 0, 0, 0);
    while next < ALL {
        while staged < ALL {
            let Some(frame) = tx.alloc() else {
                ran_out += 1;
                break;
            };
            stage(&mut *tx, frame, &numbered(100, staged));
            staged += 1;
        }
        tx.publish();
        waited += tx.kick().unwrap_or_else(|error| panic!("{error}")).waiting;
        while rx.poll(&mut |bytes, _| {
            assert_eq!(bytes, numbered(100, next));
            next += 1;
        }) != Ok(0)
        {}
    }
    assert!(waited > 0 && ran_out > 0, "the ring holds 1023 frames: {waited} {ran_out}");
    assert_eq!([tx.stats(), rx.stats()], [Ok(Stats::default()), Ok(Stats::default())]);
}

#[test]
fn halves_on_two_threads_pass_every_frame() {
    if !alone("ring::halves_on_two_threads_pass_every_frame") {
        return;
    }
    const ALL: u64 = 20_000;
    let Port { mut tx, mut rx, .. } = ring(|_| {});
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for seq in 0..ALL {
                let frame = loop {
                    match tx.alloc() {
                        Some(frame) => break frame,
                        None => {
                            tx.kick().unwrap_or_else(|error| panic!("{error}"));
                        }
                    }
                };
                stage(&mut *tx, frame, &numbered(100, seq));
                tx.publish();
                tx.kick().unwrap_or_else(|error| panic!("{error}"));
            }
        });
        let mut next = 0;
        while next < ALL {
            let got = receive(&mut *rx, 64);
            assert!(!got.is_empty(), "silence after {next}");
            for (bytes, _) in got {
                assert_eq!(bytes, numbered(100, next));
                next += 1;
            }
        }
    });
}
