//! Frames of every length that matters arrive as they were sent, both ways.

use crate::lab::{Lab, in_order, numbered, pfc, receive, send};
use rig_generator::port::{Attach, Attached, Feature, Mono, StampedBy};

fn both_ways(attach: Attach) {
    let Some(lab) = Lab::new(9_200) else { return };
    let [mut one, mut other] = lab.ports(|config| {
        config.attach = attach;
        config.longest = 9_014;
    });
    let place = if attach == Attach::Generic { Attached::Generic } else { Attached::Native };
    assert_eq!(one.caps.attached, Some(place));
    assert!(one.caps.multi_buffer);
    assert_eq!(one.caps.longest, 9_214);
    let mut frames = vec![pfc()];
    frames.extend(
        [60, 64, 1_024, 4_095, 4_096, 4_097, 4_174, 8_192, 9_014].map(|len| numbered(len, 7)),
    );
    for (tx, rx) in [(&mut one.tx, &mut other.rx), (&mut other.tx, &mut one.rx)] {
        let before = Mono::now();
        assert_eq!(send(&mut **tx, frames.iter().map(Vec::as_slice)), 0);
        let got = receive(&mut **rx, frames.len());
        in_order(&got, before, Mono::now());
        assert!(got.iter().all(|(_, stamp)| stamp.by == StampedBy::XdpProgram));
        let lengths: Vec<usize> = got.iter().map(|(bytes, _)| bytes.len()).collect();
        assert_eq!(lengths, frames.iter().map(Vec::len).collect::<Vec<_>>());
        assert!(got.iter().zip(&frames).all(|((bytes, _), sent)| bytes == sent));
    }
    for half in [one.tx.stats(), one.rx.stats(), other.tx.stats(), other.rx.stats()] {
        let stats = half.expect("counters");
        assert_eq!((stats.rx_lost(), stats.tx_lost, stats.tx_invalid), (0, 0, 0));
        assert_eq!((stats.rx_unstamped, stats.strays), (0, 0));
    }
}

#[test]
fn frames_of_every_length_pass_in_the_driver() {
    both_ways(Attach::Native);
}

#[test]
fn frames_of_every_length_pass_in_the_generic_path() {
    both_ways(Attach::Generic);
}

#[test]
fn what_the_driver_refuses_is_said() {
    let Some(lab) = Lab::new(1_500) else { return };
    let [one, _other] = lab.ports(|_| {});
    assert!(!one.caps.zero_copy);
    let refused: Vec<String> = one.caps.refused.iter().map(ToString::to_string).collect();
    assert_eq!(one.caps.refused[0].feature, Feature::ZeroCopy);
    assert_eq!(
        refused,
        ["no zero copy: EOPNOTSUPP: Operation not supported on transport endpoint"]
    );
}
