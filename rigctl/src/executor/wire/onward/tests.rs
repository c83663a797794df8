use super::*;
use rig_capture::Dir;
use rig_capture::decode::{Decoder, to_nic};
use rig_lab::IpVersion;
use rig_testcases::{Container, Injection, Middlebox, Target, Which};
use rig_units::Ppm;

/// The number of the flow's first packet.
const FIRST: u32 = 0xff_ffff;

fn flow() -> FlowSpec {
    FlowSpec {
        name: "sender".to_owned(),
        nic: 0,
        to: 1,
        class: 3,
        dscp: 26,
        verb: Verb::Send,
        message: 2_048,
        mtu: 1_024,
        count: Some(4),
        psn: FIRST,
        address: 0,
        gid: 0,
        vlan: None,
        over: IpVersion::V4,
        container: Container::USUAL,
        app: None,
    }
}

/// The rig between two NICs, with a flow from the first to the second.
fn onward(inject: &[Injection<u16>]) -> Onward {
    let between = Middlebox { delay: Dur::us(10), inject: inject.to_vec(), bottleneck: None };
    let script = Script {
        flows: vec![flow()],
        // The second lane is in front of the first NIC.
        dut_ports: vec![1, 0],
        between: Some((0, 1, between)),
        ..Script::idle(2)
    };
    Onward::of(&script, at(100), &Seed::of_run(1))
}

const fn at(us: u64) -> Time {
    Time(Dur::us(us).0)
}

fn one(which: Which, tamper: Injected) -> Injection<u16> {
    Injection { on: 0, frames: Target::Data, which, iteration: None, tamper }
}

/// Something of the flow comes from a NIC.
fn comes(onward: &mut Onward, (port, us): (u16, u64), kind: RoceKind, number: u32) {
    let psn = FIRST.wrapping_add(number) & 0xff_ffff;
    let frame = wire::nic::frame(Verb::Send, port, false, &Roce::of(0, kind, psn, 600));
    let (what, ..) = Decoder::default().read(port, Dir::Rx, &frame, frame.len());
    onward.came(port, at(us), (&frame, &what));
}

const DATA: RoceKind = RoceKind::Data { first: false, last: false, response: false };

/// What leaves for a NIC: when, by which lane, what, and its number.
fn left(onward: &mut Onward) -> Vec<(u64, u16, RoceKind, u32)> {
    let mut all = Vec::new();
    while let Some(due) = onward.due() {
        assert!(onward.next(Time(due.0 - 1)).is_none(), "before it is due");
        let Leaves { lane, bytes, due } = onward.next(due).expect("it is due");
        let roce = to_nic(1 - lane, &bytes).expect("a frame to the NIC behind it");
        let number = roce.psn.wrapping_sub(FIRST) & 0xff_ffff;
        all.push((due.0 / 1_000_000, lane, roce.kind, number));
    }
    all
}

/// The numbers that leave, each with its time, when packets 0 to 4 come a microsecond apart.
fn leaves(which: Which, tamper: Injected) -> Vec<(u64, u32)> {
    let mut onward = onward(&[one(which, tamper)]);
    (0..5).for_each(|number| comes(&mut onward, (0, 200 + u64::from(number)), DATA, number));
    let all = left(&mut onward);
    assert!(all.iter().all(|(_, lane, kind, _)| (*lane, *kind) == (0, DATA)), "{all:?}");
    let touched = onward.touched();
    assert_eq!(touched.len(), 1);
    assert_eq!((touched[0].port, touched[0].injection, touched[0].what), (0, Some(0), tamper));
    // Since the trial began.
    assert!(touched[0].at >= at(100) && touched[0].at <= at(104), "{touched:?}");
    all.into_iter().map(|(us, _, _, number)| (us, number)).collect()
}

#[test]
fn frames_leave_in_order_after_the_delay_but_for_what_is_done_to_one() {
    let plain = [(210, 0), (211, 1), (212, 2), (213, 3), (214, 4)];
    assert_eq!(leaves(Which::Psn(2), Injected::Ce), plain);
    assert_eq!(leaves(Which::Nth(2), Injected::Drop), [plain[0], plain[2], plain[3], plain[4]]);
    let late = [(210, 0), (212, 2), (213, 1), (213, 3), (214, 4)];
    assert_eq!(leaves(Which::Psn(1), Injected::Delay(Dur::us(2))), late);
    let swapped = [(210, 0), (212, 2), (213, 3), (213, 1), (214, 4)];
    assert_eq!(leaves(Which::Psn(1), Injected::Behind(2)), swapped);
    let twice = [(210, 0), (211, 1), (211, 1), (212, 2), (213, 3), (214, 4)];
    assert_eq!(leaves(Which::Psn(1), Injected::Duplicate), twice);
}

#[test]
fn what_is_marked_or_spoilt_says_so_behind_the_rig() {
    let behind = |tamper| {
        let mut onward = onward(&[one(Which::Psn(0), tamper)]);
        comes(&mut onward, (0, 200), DATA, 0);
        let Leaves { bytes, .. } = onward.next(at(210)).expect("it is due");
        to_nic(1, &bytes).expect("a frame to the NIC")
    };
    assert!(behind(Injected::BadIcrc).corrupt && !behind(Injected::Ce).corrupt);
    assert_eq!(behind(Injected::Ce).ecn, rig_frames::ip::Ecn::Ce);
}

#[test]
fn a_number_is_hit_in_its_round_and_what_comes_back_by_its_own_kind() {
    let again = Injection { iteration: Some(2), ..one(Which::Psn(1), Injected::Drop) };
    let ack = Injection { frames: Target::Ack, ..one(Which::Nth(1), Injected::Drop) };
    let mut onward = onward(&[again, ack]);
    for (us, port, kind, number) in [
        (200, 0, DATA, 1),
        (201, 1, RoceKind::Ack, 1),
        (202, 0, DATA, 1),
        (203, 0, DATA, 1),
        (204, 1, RoceKind::Ack, 1),
    ] {
        comes(&mut onward, (port, us), kind, number);
    }
    let want = [(210, 0, DATA, 1), (213, 0, DATA, 1), (214, 1, RoceKind::Ack, 1)];
    assert_eq!(left(&mut onward), want);
}

#[test]
fn a_receiver_that_is_not_ready_takes_nothing_until_its_message_comes_again() {
    let timer = RnrTimer::new(14).expect("five bits");
    let rnr = Injection { iteration: Some(1), ..one(Which::Psn(1), Injected::NotReady(timer)) };
    let mut onward = onward(&[rnr]);
    for (us, number) in [(200, 0), (201, 1), (202, 2), (203, 3), (204, 1), (205, 2)] {
        comes(&mut onward, (0, us), DATA, number);
    }
    let back = RoceKind::NotReady(timer);
    let want = [(210, 0, DATA, 0), (211, 1, back, 1), (214, 0, DATA, 1), (215, 0, DATA, 2)];
    assert_eq!(left(&mut onward), want);
    let what: Vec<Injected> = onward.touched().iter().map(|one| one.what).collect();
    assert_eq!(what, [Injected::NotReady(timer), Injected::Drop, Injected::Drop]);
}

#[test]
fn nobody_is_unready_for_what_is_ahead_of_a_hole() {
    let timer = RnrTimer::new(14).expect("five bits");
    let rnr = one(Which::Psn(2), Injected::NotReady(timer));
    let lost = Injection { iteration: Some(1), ..one(Which::Psn(1), Injected::Drop) };
    let mut onward = onward(&[lost, rnr]);
    (0..3).for_each(|number| comes(&mut onward, (0, 200), DATA, number));
    let numbers = left(&mut onward).into_iter().map(|(.., number)| number);
    assert_eq!(numbers.collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn what_is_drawn_is_drawn_anew_in_each_trial_and_the_same_again_of_one_seed() {
    let drawn = [one(Which::Drawn(Ppm(500_000)), Injected::Drop)];
    let script_of = |seed: &Seed| {
        let mut onward = onward(&drawn);
        let Some(way) = &mut onward.0 else { panic!("it passes on") };
        way.injector = Injector::new(&drawn, seed);
        (0..64).for_each(|number| comes(&mut onward, (0, 200), DATA, number));
        left(&mut onward).into_iter().map(|(.., number)| number).collect::<Vec<_>>()
    };
    let [first, again, other] =
        ["0", "0", "1"].map(|trial| script_of(&Seed::of_run(7).split(trial)));
    assert_eq!(first, again);
    assert!(first != other && (16..48).contains(&first.len()), "{first:?}");
}

#[test]
fn where_a_script_has_no_nics_at_both_ends_nothing_goes_on() {
    let mut onward = Onward::of(&Script::idle(2), Time::ZERO, &Seed::of_run(1));
    comes(&mut onward, (0, 200), DATA, 0);
    assert_eq!((onward.due(), onward.touched()), (None, Vec::new()));
}
