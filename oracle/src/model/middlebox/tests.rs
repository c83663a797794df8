use super::*;
use rig_frames::roce::aeth::RnrTimer;
use rig_testcases::Which;

fn middlebox(began: Time, delay: Dur) -> Middlebox {
    Middlebox::new((began, Log::default()), [3, 5], [(); 2].map(|()| RigPort::new(None)), delay)
}

fn packet(seq: u32) -> Packet {
    Packet { seq, ..Packet::data(7, 0, 1, 3, 3, 1000) }
}

/// The numbers that leave, each with its time, when packets 0 to 4 come a microsecond apart.
fn leaves(which: Which, tamper: Injected) -> Vec<(u64, u32)> {
    let mut middlebox = middlebox(Time::ZERO, Dur::us(10));
    let frames = Target::Data;
    middlebox.inject(Injection { on: 7, frames, which, iteration: None, tamper }, 1);
    for seq in 0..5 {
        middlebox.pass(Time::ZERO + Dur::us(seq.into()), 0, &packet(seq));
    }
    assert_eq!(middlebox.due(0, 0), Time::MAX);
    let mut all = Vec::new();
    while middlebox.due(1, 0) < Time::MAX {
        let due = middlebox.due(1, 0).0 / 1_000_000;
        all.extend(middlebox.pop(1, 0).map(|packet| (due, packet.seq)));
    }
    assert_eq!(middlebox.touched.len(), 1);
    all
}

#[test]
fn frames_leave_in_order_after_the_delay_but_for_what_is_done_to_one() {
    let plain = [(10, 0), (11, 1), (12, 2), (13, 3), (14, 4)];
    assert_eq!(leaves(Which::Psn(2), Injected::Ce), plain);
    assert_eq!(leaves(Which::Nth(2), Injected::Drop), [(10, 0), (12, 2), (13, 3), (14, 4)]);
    // Of two at one time the one that came first.
    let late = [(10, 0), (12, 2), (13, 1), (13, 3), (14, 4)];
    assert_eq!(leaves(Which::Psn(1), Injected::Delay(Dur::us(2))), late);
    let swapped = [(10, 0), (12, 2), (13, 3), (13, 1), (14, 4)];
    assert_eq!(leaves(Which::Psn(1), Injected::Behind(2)), swapped);
    let twice = [(10, 0), (11, 1), (11, 1), (12, 2), (13, 3), (14, 4)];
    assert_eq!(leaves(Which::Psn(1), Injected::Duplicate), twice);
}

#[test]
fn a_receiver_that_is_not_ready_takes_nothing_until_its_message_comes_again() {
    let mut middlebox = middlebox(Time::ZERO, Dur::us(10));
    let (on, frames, which) = (7, Target::Data, Which::Psn(1));
    let timer = RnrTimer::new(14).expect("five bits");
    let tamper = Injected::NotReady(timer);
    middlebox.inject(Injection { on, frames, which, iteration: Some(1), tamper }, 1);
    for seq in [0, 1, 2, 3, 1, 2] {
        middlebox.pass(Time::ZERO, 0, &packet(seq));
    }
    let left: Vec<u32> = core::iter::from_fn(|| middlebox.pop(1, 0)).map(|one| one.seq).collect();
    assert_eq!(left, [0, 1, 2]);
    let answer = middlebox.pop(0, 0).expect("an RNR NAK");
    assert_eq!((answer.kind, answer.seq, answer.rnr_timer()), (PacketKind::NotReady, 1, timer));
    assert!(middlebox.pop(0, 0).is_none());
    let what: Vec<Injected> = middlebox.touched.iter().map(|one| one.what).collect();
    assert_eq!(what, [tamper, Injected::Drop, Injected::Drop]);
}

/// What comes of packets with these numbers whose receiver is not ready for 2: what leaves for it, and the numbers that it refuses.
fn unready(seqs: &[u32], first: Injected, delay: Dur) -> (Vec<u32>, Vec<u32>) {
    let mut middlebox = middlebox(Time::ZERO, delay);
    let timer = RnrTimer::new(14).expect("five bits");
    let all = [(1, first), (2, Injected::NotReady(timer))];
    for (psn, tamper) in all {
        let (on, frames, which) = (7, Target::Data, Which::Psn(psn));
        middlebox.inject(Injection { on, frames, which, iteration: Some(1), tamper }, 1);
    }
    for (at, seq) in (0..).zip(seqs) {
        middlebox.pass(Time::ZERO + Dur::us(at), 0, &packet(*seq));
    }
    let mut left = [1, 0].map(|side| {
        let all = core::iter::from_fn(|| middlebox.pop(side, 0)).map(|one| one.seq);
        all.collect::<Vec<_>>()
    });
    (core::mem::take(&mut left[0]), core::mem::take(&mut left[1]))
}

#[test]
fn a_receiver_is_not_ready_for_the_very_number_that_it_expects_and_for_no_other() {
    let delay = Dur::us(10);
    let ce = Injected::Ce;
    assert_eq!(unready(&[0, 1, 2, 3], ce, delay), (vec![0, 1], vec![2]));
    // One is lost, spoilt or late on the way: the receiver says so, not that it is not ready.
    for what in [Injected::Drop, Injected::BadIcrc, Injected::Delay(Dur::ns(1_001))] {
        let (left, refused) = unready(&[0, 1, 2, 3], what, delay);
        assert!(left.contains(&2) && refused.is_empty(), "{what:?}: {left:?}, {refused:?}");
    }
    // It is there in time, at the same instant even.
    let in_time = Injected::Delay(Dur::us(1));
    assert_eq!(unready(&[0, 1, 2, 3], in_time, delay).1, [2]);
    assert_eq!(unready(&[0, 1, 1, 2], Injected::Duplicate, delay).1, [2]);
    // A connection begins where its first packet does, lost or not, across the wrap, too.
    assert_eq!(unready(&[1, 2], Injected::Drop, delay), (vec![2], vec![]));
    assert_eq!(unready(&[2], ce, delay), (vec![], vec![2]));
    assert_eq!(unready(&[0xff_ffff, 0, 1, 2], ce, delay).1, [2]);
}

#[test]
fn an_iteration_is_how_often_the_number_has_passed() {
    let mut middlebox = middlebox(Time::ZERO, Dur::ZERO);
    let (on, frames, which) = (7, Target::Data, Which::Psn(4));
    let tamper = Injected::Drop;
    middlebox.inject(Injection { on, frames, which, iteration: Some(2), tamper }, 1);
    for seq in [4, 5, 4, 4] {
        middlebox.pass(Time::ZERO, 0, &packet(seq));
    }
    let left: Vec<u32> = core::iter::from_fn(|| middlebox.pop(1, 0)).map(|one| one.seq).collect();
    assert_eq!(left, [4, 5, 4]);
}

#[test]
fn a_mark_and_a_wrong_icrc_are_seen_in_the_frame() {
    for (tamper, ce, bad) in [(Injected::Ce, true, false), (Injected::BadIcrc, false, true)] {
        let mut middlebox = middlebox(Time::ZERO, Dur::ZERO);
        let (on, frames, which) = (7, Target::Data, Which::Every { every: 1, run: 1 });
        middlebox.inject(Injection { on, frames, which, iteration: None, tamper }, 1);
        middlebox.pass(Time::ZERO, 1, &packet(0));
        let left = middlebox.pop(0, 0).expect("it passed");
        assert_eq!((left.ce(), left.bad_icrc()), (ce, bad));
    }
}

#[test]
fn frames_leave_a_bottleneck_a_slot_apart_and_what_it_has_no_room_for_is_told() {
    let mut middlebox = middlebox(Time::ZERO, Dur::us(10));
    let speed = rig_units::PortSpeed::from_bps(40_000_000_000).expect("200 ps a byte");
    let [kmin, kmax, buffer] = [1_000, 1_000, 2_000].map(rig_units::Bytes);
    let curve = rig_lab::Curve { kmin, kmax, pmax: rig_units::Ppm(0) };
    let config = rig_testcases::Bottleneck { to: 5, speed, curve, buffer };
    middlebox.narrow(5, &config, 1);
    for seq in 0..4 {
        middlebox.pass(Time::ZERO, 0, &packet(seq).with_ect(true));
    }
    middlebox.pass(Time::ZERO, 1, &packet(9));
    let mut left = Vec::new();
    while middlebox.due(1, 0) < Time::MAX {
        let due = middlebox.due(1, 0).0 / 1_000;
        left.extend(middlebox.pop(1, 0).map(|packet| (due, packet.seq, packet.ce())));
    }
    // 1000 B and 20 B around them: 204 ns.
    assert_eq!(left, [(10_000, 0, false), (10_204, 1, false), (10_408, 2, true)]);
    assert_eq!(
        middlebox.due(0, 0),
        Time::ZERO + Dur::us(10),
        "the other way is as wide as its port"
    );
    let lost = Touched { at: Time::ZERO, host: 3, injection: None, what: Injected::Drop };
    assert_eq!(middlebox.into_parts().1, [lost]);
}

#[test]
fn a_window_of_time_comes_again_and_again() {
    let mut middlebox = middlebox(Time::ZERO + Dur::us(100), Dur::ZERO);
    let which = Which::During { lasting: Dur::us(2), every: Dur::us(10) };
    let (on, frames, tamper) = (7, Target::Data, Injected::Ce);
    middlebox.inject(Injection { on, frames, which, iteration: None, tamper }, 1);
    for seq in 0..25 {
        middlebox.pass(Time::ZERO + Dur::us(100 + u64::from(seq)), 0, &packet(seq));
    }
    let left = core::iter::from_fn(|| middlebox.pop(1, 0));
    let marked: Vec<u32> = left.filter(Packet::ce).map(|one| one.seq).collect();
    assert_eq!(marked, [0, 1, 10, 11, 20, 21]);
}

#[test]
fn what_is_drawn_is_each_frame_for_itself_and_the_same_again_from_the_same_seed() {
    let hit = |seed, began, chance| {
        let mut middlebox = middlebox(Time::ZERO + Dur::us(began), Dur::ZERO);
        let which = Which::Drawn(rig_units::Ppm(chance));
        let (on, frames, tamper) = (7, Target::Data, Injected::Ce);
        middlebox.inject(Injection { on, frames, which, iteration: None, tamper }, seed);
        for seq in 0..10_000 {
            middlebox.pass(Time::ZERO, 0, &packet(seq));
        }
        let left = core::iter::from_fn(|| middlebox.pop(1, 0));
        left.filter(Packet::ce).map(|one| one.seq).collect::<Vec<u32>>()
    };
    let once = hit(7, 0, 10_000);
    // A hundred of ten thousand; 10 is a standard deviation.
    assert!((60..140).contains(&once.len()), "{}", once.len());
    assert_eq!(once, hit(7, 0, 10_000));
    assert_ne!(once, hit(8, 0, 10_000));
    // The next trial of a session draws others.
    assert_ne!(once, hit(7, 3, 10_000));
    // A frame behind one that was drawn is drawn as often as any other.
    let half = hit(7, 0, 500_000);
    let pairs = half.windows(2).filter(|two| two[0] + 1 == two[1]).count();
    assert!((2_300..2_700).contains(&pairs), "{pairs}");
    assert_eq!(hit(7, 0, 1_000_000).len(), 10_000);
}

#[test]
fn what_a_pause_holds_waits_and_what_it_does_not_goes_ahead() {
    let mut middlebox = middlebox(Time::ZERO, Dur::us(10));
    for (seq, class) in [(0, 3), (1, 4), (2, 3)] {
        middlebox.pass(Time::ZERO + Dur::us(seq.into()), 0, &Packet { class, ..packet(seq) });
    }
    assert_eq!(middlebox.due(1, bit(3)), Time::ZERO + Dur::us(11));
    let mut next = |closed| middlebox.pop(1, closed).map(|packet| packet.seq);
    assert_eq!(
        [next(bit(3)), next(bit(3)), next(bit(4)), next(0)],
        [Some(1), None, Some(0), Some(2)]
    );
}
