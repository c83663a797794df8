use super::*;
use proptest::prelude::*;
use rig_units::Dur;

/// A byte lasts 200 ps.
fn at_40g(kmin: u64, kmax: u64, pmax: u32, buffer: u64) -> Config<u16> {
    let speed = PortSpeed::from_bps(40_000_000_000).expect("whole picoseconds");
    let curve = rig_lab::Curve { kmin: Bytes(kmin), kmax: Bytes(kmax), pmax: Ppm(pmax) };
    Config { to: 1, speed, curve, buffer: Bytes(buffer) }
}

fn data(size: u16) -> Packet {
    Packet::data(7, 0, 1, 3, 3, size).with_ect(true)
}

/// What becomes of frames that come so long one after the other.
fn fates(config: &Config<u16>, seed: u64, came: &[(u64, u16)]) -> Vec<(Time, Fate)> {
    let mut queue = Bottleneck::new(Time::ZERO, config, seed);
    let mut now = Time::ZERO;
    let take = |&(gap, size): &(u64, u16)| {
        now += Dur(gap);
        (now, queue.take(now, &data(size)))
    };
    came.iter().map(take).collect()
}

#[test]
fn a_lone_frame_does_not_wait_and_the_next_one_waits_for_its_slot() {
    let config = at_40g(1 << 20, 1 << 20, 0, 1 << 20);
    let fates = fates(&config, 1, &[(500, 980), (0, 480), (1_000_000, 980)]);
    let leaves = |at| Fate::Leaves { at: Time(at), marked: false };
    // 980 B and 20 B around them: 200 ns.
    assert_eq!(fates[0].1, leaves(500));
    assert_eq!(fates[1].1, leaves(200_500));
    assert_eq!(fates[2].1, leaves(1_000_500), "everything had left");
}

#[test]
fn nothing_is_marked_below_kmin_and_everything_from_kmax_on() {
    // The first leaves at once; behind it they pile up: 0, 0, 1000, 2000 and so on before each.
    let came = vec![(0, 1000); 40];
    let marked = |kmin, kmax, pmax| -> Vec<bool> {
        let fates = fates(&at_40g(kmin, kmax, pmax, 1 << 20), 1, &came);
        fates.iter().map(|(_, fate)| matches!(fate, Fate::Leaves { marked: true, .. })).collect()
    };
    let stepped = marked(5_000, 5_000, 0);
    assert_eq!(stepped.iter().position(|marked| *marked), Some(6), "the one that finds 5000 B");
    assert!(stepped[6..].iter().all(|marked| *marked));
    let sloped = marked(5_000, 30_000, 500_000);
    assert!(!sloped[..=6].iter().any(|marked| *marked), "at kmin the chance is still nothing");
    assert!(sloped[31..].iter().all(|marked| *marked));
    let drawn = sloped[7..31].iter().filter(|marked| **marked).count();
    assert!((1..=14).contains(&drawn), "a quarter of 24 on the average: {drawn}");
}

#[test]
fn only_data_that_is_ecn_capable_is_marked() {
    let mut queue = Bottleneck::new(Time::ZERO, &at_40g(0, 0, 0, 1 << 20), 1);
    let ack = Packet { kind: PacketKind::Ack, ..data(78) };
    let marks = [data(1000), data(1000).with_ect(false), ack]
        .map(|packet| matches!(queue.take(Time::ZERO, &packet), Fate::Leaves { marked: true, .. }));
    assert_eq!(marks, [true, false, false]);
}

#[test]
fn what_does_not_fit_is_lost_to_the_byte() {
    // One leaves, three wait.
    let came = vec![(0, 1000); 5];
    let kept = |buffer| {
        let fates = fates(&at_40g(1 << 20, 1 << 20, 0, buffer), 1, &came);
        fates.iter().filter(|(_, fate)| *fate != Fate::Full).count()
    };
    assert_eq!((kept(3_000), kept(2_999)), (4, 3));
}

#[test]
fn draws_are_those_of_the_seed_and_the_trial() {
    let config = at_40g(0, 100_000, 500_000, 1 << 20);
    let came = vec![(0, 1000); 60];
    assert_eq!(fates(&config, 1, &came), fates(&config, 1, &came));
    assert_ne!(fates(&config, 1, &came), fates(&config, 2, &came));
    let later = Bottleneck::new(Time(9), &config, 1);
    assert_ne!(later.stream, Bottleneck::new(Time::ZERO, &config, 1).stream);
}

proptest! {
    /// Whatever comes: nothing is lost that fits, the order stays, and while something waits frames leave one slot apart.
    #[test]
    fn frames_leave_in_order_at_the_speed_and_none_is_lost_or_made(
        came in prop::collection::vec((0_u64..400_000, 64_u16..4_200), 1..200),
        buffer in 4_200_u64..60_000,
        seed in any::<u64>(),
    ) {
        let config = at_40g(10_000, 40_000, 300_000, buffer);
        let fates = fates(&config, seed, &came);
        let mut free = Time::ZERO;
        let mut waits: Vec<(Time, u64)> = Vec::new();
        for ((now, fate), (_, size)) in fates.into_iter().zip(came) {
            waits.retain(|(begins, _)| *begins > now);
            let depth: u64 = waits.iter().map(|(_, bytes)| *bytes).sum();
            match fate {
                Fate::Full => prop_assert!(depth + u64::from(size) > buffer),
                Fate::Leaves { at, marked } => {
                    prop_assert!(depth + u64::from(size) <= buffer);
                    prop_assert_eq!(at, now.max(free));
                    prop_assert!(depth >= 10_000 || !marked);
                    prop_assert!(depth < 40_000 || marked);
                    free = at + Dur((u64::from(size) + 20) * 200);
                    waits.push((at, size.into()));
                }
            }
        }
    }
}
