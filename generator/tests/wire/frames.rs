//! Frames of every length that matters arrive as they were sent, both ways.

use crate::lab::{Lab, in_order, numbered, open, pfc, receive, send};
use rig_generator::port::{
    Attach, Attached, Backend, Caps, Config, Feature, Mono, Port, Stamp, StampedBy, Stats,
};
use rig_units::Dur;

/// Sends one frame of each length each way over a pair, with ports configured by `set`; what the ports can do.
fn both_ways(set: impl Fn(&mut Config) + Sync) -> Option<Caps> {
    let lab = Lab::new(9_200)?;
    let [mut one, mut other] = lab.ports(|config| {
        config.longest = 9_014;
        set(config);
    });
    let mut frames = vec![pfc()];
    let lengths = [60, 64, 1_024, 4_095, 4_096, 4_097, 4_174, 8_192, 9_014];
    frames.extend(lengths.map(|len| numbered(len, 7)));
    for (tx, rx) in [(&mut one.tx, &mut other.rx), (&mut other.tx, &mut one.rx)] {
        let before = Mono::now();
        assert_eq!(send(&mut **tx, frames.iter().map(Vec::as_slice)), 0);
        let got = receive(&mut **rx, frames.len());
        in_order(&got, before, Mono::now());
        assert!(got.iter().all(|(_, stamp)| stamp.by == one.caps.stamped_by));
        assert_eq!(lengths_of(&got), frames.iter().map(Vec::len).collect::<Vec<_>>());
        assert!(got.iter().zip(&frames).all(|((bytes, _), sent)| bytes == sent));
    }
    for half in [one.tx.stats(), one.rx.stats(), other.tx.stats(), other.rx.stats()] {
        // The kernel looked once more than there was to send.
        let stats = Stats { tx_ring_empty: 0, ..half.expect("counters") };
        assert_eq!(stats, Stats::default());
    }
    assert_eq!(one.caps, other.caps);
    assert_eq!(one.caps.longest, 9_214);
    assert!(one.caps.multi_buffer);
    Some(one.caps)
}

fn lengths_of(got: &[(Vec<u8>, Stamp)]) -> Vec<usize> {
    got.iter().map(|(bytes, _)| bytes.len()).collect()
}

#[test]
fn frames_of_every_length_pass_in_the_driver() {
    let Some(caps) = both_ways(|config| config.attach = Attach::Native) else { return };
    assert_eq!(caps.attached, Some(Attached::Native));
    assert_eq!(caps.stamped_by, StampedBy::XdpProgram);
}

#[test]
fn frames_of_every_length_pass_in_the_generic_path() {
    let Some(caps) = both_ways(|config| config.attach = Attach::Generic) else { return };
    assert_eq!(caps.attached, Some(Attached::Generic));
    assert_eq!(caps.stamped_by, StampedBy::XdpProgram);
}

#[test]
fn frames_of_every_length_pass_without_xdp() {
    let Some(caps) = both_ways(|config| config.backend = Backend::AfPacket) else { return };
    assert_eq!(caps.attached, None);
    assert_eq!(caps.stamped_by, StampedBy::Process);
}

#[test]
fn what_the_driver_refuses_is_said() {
    let Some(lab) = Lab::new(1_500) else { return };
    let [one, other] = lab.ports(|config| config.zero_copy = config.interface == "v1");
    assert!(!one.caps.zero_copy);
    let refused: Vec<String> = one.caps.refused.iter().map(ToString::to_string).collect();
    assert_eq!(one.caps.refused[0].feature, Feature::ZeroCopy);
    assert_eq!(
        refused,
        ["no zero copy: EOPNOTSUPP: Operation not supported on transport endpoint"]
    );
    assert_eq!(other.caps.refused, [], "what was not asked for is not refused");
}

#[test]
fn a_vlan_tag_arrives_where_the_port_says_so() {
    let mut tagged = numbered(100, 0);
    tagged[12..16].copy_from_slice(&[0x81, 0x00, 0x60, 0x05]);
    for backend in [Backend::AfXdp, Backend::AfPacket] {
        for attach in [Attach::Native, Attach::Generic] {
            let Some(lab) = Lab::new(1_500) else { return };
            let [mut one, mut other] = lab.ports(|config| {
                (config.backend, config.attach) = (backend, attach);
            });
            assert_eq!(send(&mut *one.tx, [tagged.as_slice()]), 0);
            let got = receive(&mut *other.rx, 1);
            assert_eq!(got.len(), 1);
            assert_eq!(got[0].0 == tagged, other.caps.vlan_tags, "{backend:?} {attach:?}");
        }
    }
}

#[test]
fn a_slot_comes_back_with_its_bytes_and_its_tag() {
    for backend in [Backend::AfXdp, Backend::AfPacket] {
        let Some(lab) = Lab::new(1_500) else { return };
        let [mut one, mut other] = lab.ports(|config| {
            (config.backend, config.slots) = (backend, 1);
        });
        let mut frame = one.tx.alloc().expect("a slot");
        assert_eq!((frame.slot(), frame.tag), (0, 0));
        assert_eq!(one.tx.alloc(), None, "there is but one");
        let template = numbered(200, 0);
        one.tx.bytes(&mut frame)[..200].copy_from_slice(&template);
        frame.tag = 42;
        for seq in 0..3_u64 {
            one.tx.bytes(&mut frame)[14..22].copy_from_slice(&seq.to_be_bytes());
            one.tx.stage(frame, 200);
            one.tx.publish();
            assert_eq!(one.tx.kick().map(|kick| (kick.lost, kick.waiting)), Ok((0, 0)));
            frame = one.tx.alloc().expect("the frame has left");
            assert_eq!(frame.tag, 42);
        }
        one.tx.release(frame);
        let got = receive(&mut *other.rx, 3);
        let sent = (0..3).map(|seq| numbered(200, seq)).collect::<Vec<_>>();
        assert_eq!(got.into_iter().map(|(bytes, _)| bytes).collect::<Vec<_>>(), sent);
    }
}

#[test]
fn nothing_leaves_before_it_is_published_and_kicked() {
    let Some(lab) = Lab::new(1_500) else { return };
    let [mut one, mut other] = lab.ports(|_| {});
    let mut frame = one.tx.alloc().expect("a slot");
    one.tx.bytes(&mut frame)[..60].copy_from_slice(&pfc());
    one.tx.stage(frame, 60);
    assert_eq!(one.tx.kick().map(|kick| kick.waiting), Ok(0), "staged only");
    one.tx.publish();
    assert_eq!(other.rx.wait(Dur::ms(20)), Ok(false), "published only");
    assert_eq!(one.tx.kick().map(|kick| kick.waiting), Ok(0));
    assert_eq!(lengths_of(&receive(&mut *other.rx, 1)), [60]);
}

#[test]
fn a_port_has_the_frames_of_its_queue_and_no_others() {
    // In the driver: a pair's generic path counts queues differently at its two ends.
    let Some(lab) = Lab::with_queues(1_500, 2) else { return };
    let [mut one, mut other] = lab.ports(|config| {
        (config.queue, config.attach) = (Some(1), Attach::Native);
    });
    assert_eq!(send(&mut *one.tx, [pfc().as_slice()]), 0);
    assert_eq!(lengths_of(&receive(&mut *other.rx, 1)), [60]);
    drop(one);
    let mut one = open(&lab.one, "v1", |config| config.queue = Some(0)).expect("the other queue");
    assert_eq!(send(&mut *one.tx, [pfc().as_slice()]), 0);
    assert_eq!(other.rx.wait(Dur::ms(50)), Ok(false));
}

/// The `n`-th frame of the flow with this UDP source port.
fn of_flow(port: u16, n: u16) -> Vec<u8> {
    let mut frame =
        vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17];
    frame.extend([0, 0, 10, 0, 0, 1, 10, 0, 1, 1]);
    frame.extend([port, 4_791, 26, 0, n].iter().flat_map(|field| field.to_be_bytes()));
    frame.resize(60, 0);
    frame
}

#[test]
fn a_port_has_the_frames_of_every_queue_and_each_flow_keeps_its_order() {
    let Some(lab) = Lab::with_queues(1_500, 4) else { return };
    let set = |config: &mut Config| {
        (config.ring, config.slots, config.attach) = (4_096, 512, Attach::Native);
    };
    let [mut one, mut other] = lab.ports(set);
    let flows = 0xc000..0xc010_u16;
    let frames: Vec<Vec<u8>> =
        (0..32).flat_map(|n| flows.clone().map(move |port| of_flow(port, n))).collect();
    let sent = |one: &mut Port| send(&mut *one.tx, frames.iter().map(Vec::as_slice));
    assert_eq!(sent(&mut one), 0);
    let got = receive(&mut *other.rx, frames.len());
    assert_eq!(got.len(), frames.len(), "{:?}", other.rx.stats());
    for port in flows {
        let own = |frame: &&[u8]| frame[34..36] == port.to_be_bytes();
        let numbers =
            got.iter().map(|(frame, _)| frame.as_slice()).filter(own).map(|frame| frame[43]);
        assert!(numbers.eq(0..32), "flow {port:#x} was overtaken by itself");
    }
    assert_eq!(one.tx.reclaim() as u64 + other.rx.stats().map_or(1, |stats| stats.rx_lost()), 512);
    // Of one queue alone there is a part: so they did go by several.
    drop(other);
    let mut other = open(&lab.other, "v2", |config| {
        set(config);
        config.queue = Some(2);
    })
    .expect("the queue is free");
    assert_eq!(sent(&mut one), 0);
    let part = receive(&mut *other.rx, frames.len()).len();
    assert!((1..frames.len()).contains(&part), "{part} of {}", frames.len());
}

#[test]
fn what_others_send_by_the_interface_is_not_received() {
    let Some(lab) = Lab::new(1_500) else { return };
    let [mut one, mut other] = lab.ports(|config| config.backend = Backend::AfPacket);
    let third = open(&lab.one, "v1", |config| config.backend = Backend::AfPacket);
    assert_eq!(send(&mut *third.expect("a port").tx, [pfc().as_slice()]), 0);
    assert_eq!(lengths_of(&receive(&mut *other.rx, 1)), [60]);
    assert_eq!(one.rx.wait(Dur::ms(50)), Ok(false));
}
