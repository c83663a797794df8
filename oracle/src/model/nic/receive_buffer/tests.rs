use super::*;
use rig_lab::{Deviation, DeviceFaults, Nic, NicHost};
use rig_units::L2Rate;

/// A NIC whose host takes a byte a nanosecond; XOFF above 3000 bytes, XON from 1000 on.
fn buffer(deviation: Option<&str>, watchdog: Option<Dur>) -> Box<ReceiveBuffer> {
    let mut nic = Nic::usual();
    nic.host = NicHost { pcie: Some(L2Rate { bps: 8_000_000_000 }), ..NicHost::default() };
    nic.pfc.xoff = Some(Bytes(3_000));
    nic.pfc.xon = Some(Bytes(1_000));
    nic.pfc.quanta = Some(Quanta(1_000));
    nic.pfc.refresh = Some(Dur::us(4));
    nic.pfc.watchdog = watchdog.map(Within::exactly);
    let named = deviation.and_then(Deviation::named);
    let switched = named.map(|deviation| deviation.switched(None).expect("no value"));
    let faults = DeviceFaults::of(switched.as_slice()).nic;
    let config = Config { faults, ..Config::declared(&nic) };
    ReceiveBuffer::of(&config).expect("a buffer")
}

/// What it says of so many frames of 1000 B in class 3 that arrive at once, and when: nanoseconds, for whom, whether XON, how long.
fn said(deviation: Option<&str>, frames: u16) -> Vec<(u64, u8, bool, u16)> {
    let mut buffer = buffer(deviation, None);
    let mut all = Vec::new();
    fills(&mut buffer, (Time::ZERO, frames), &mut all);
    all
}

/// Notes in `all` what it says of so many such frames that arrive at once, until they are out; and when that is.
fn fills(
    buffer: &mut ReceiveBuffer,
    (mut now, frames): (Time, u16),
    all: &mut Vec<(u64, u8, bool, u16)>,
) -> Time {
    for _ in 0..frames {
        buffer.arrives(now, &Packet::data(1, 1, 0, 3, 3, 1_000));
    }
    loop {
        while let Some(word) = buffer.word() {
            let is_xon = word.enable & word.zero != 0;
            all.push((now.0 / 1_000, word.enable, is_xon, word.quanta.0));
            buffer.said();
        }
        match buffer.wake() {
            Time::MAX => return now,
            due => now = due,
        }
        buffer.on_wake(now);
    }
}

#[test]
fn xoff_comes_above_its_threshold_again_while_it_is_full_and_xon_below() {
    assert_eq!(said(None, 3), []);
    let xoff = |at| (at, 8, false, 1_000);
    // Six frames: the fifth is out at 5000 ns, which leaves one.
    assert_eq!(said(None, 6), [xoff(0), xoff(4_000), (5_000, 8, true, 0)]);
}

#[test]
fn each_deviation_says_something_else_or_at_another_time() {
    let (xoff, xon) = (|at| (at, 8, false, 1_000), |at| (at, 8, true, 1_000));
    type Row<'r> = (&'r str, u16, &'r [(u64, u8, bool, u16)]);
    let cases: &[Row<'_>] = &[
        ("nic_xoff_late", 30, &[xoff(20_000), xoff(24_000), xoff(28_000), xon(29_000)]),
        ("nic_xoff_missing", 6, &[]),
        ("nic_pause_wrong_priority", 4, &[(0, 16, false, 1_000), xon(3_000)]),
        ("nic_pauses_without_need", 3, &[xoff(0), xon(2_000)]),
        ("nic_xon_missing", 6, &[xoff(0), xoff(4_000)]),
        ("nic_xon_early", 6, &[xoff(0), xon(4_000)]),
        ("nic_refresh_missing", 6, &[xoff(0), xon(5_000)]),
        ("nic_pause_too_short", 4, &[(0, 8, false, 500), (3_000, 8, true, 500)]),
    ];
    for (name, frames, want) in cases {
        let same = |all: &[(u64, u8, bool, u16)]| -> Vec<(u64, u8, bool)> {
            all.iter().map(|&(at, enable, xon, _)| (at, enable, xon)).collect()
        };
        let got = said(Some(name), *frames);
        assert_eq!(same(&got), same(want), "{name}");
        let asked = |all: &[(u64, u8, bool, u16)]| all.iter().find(|one| !one.2).map(|one| one.3);
        assert_eq!(asked(&got), asked(want), "{name}");
        assert_ne!(got, said(None, *frames), "{name}");
    }
    let late = said(Some("nic_xon_late"), 4);
    assert_eq!(late.last().map(|one| one.0), Some(23_000), "{late:?}");
    // XOFF and XON of the one name all that have no PFC.
    let named: Vec<u8> =
        said(Some("nic_pauses_priorities_without_pfc"), 4).iter().map(|one| one.1).collect();
    assert_eq!(named, [0xef, 0xef]);
    // One for each of the two priorities.
    let both: Vec<u8> =
        said(Some("nic_pauses_all_priorities"), 4).iter().map(|one| one.1).collect();
    assert_eq!(both, [8, 16, 8, 16]);
}

#[test]
fn a_watchdog_ends_what_it_asks_for_until_it_was_down_to_xon() {
    let watched = |deviation| {
        let mut buffer = buffer(deviation, Some(Dur::us(9)));
        let mut all = Vec::new();
        // Twenty frames keep it full for 19 us, and six for 5.
        let then = fills(&mut buffer, (Time::ZERO, 20), &mut all);
        let then = fills(&mut buffer, (then + Dur::us(100), 6), &mut all);
        fills(&mut buffer, (then + Dur::us(100), 4), &mut all);
        all.iter().map(|&(at, _, is_xon, _)| (at / 1_000, is_xon)).collect::<Vec<_>>()
    };
    let (xoff, xon) = (|at| (at, false), |at| (at, true));
    let once = [xoff(0), xoff(4), xoff(8)];
    let then = [xoff(119), xoff(123), xon(124), xoff(224), xon(227)];
    assert_eq!(watched(None), [&once[..], &then].concat());
    let all = [xoff(0), xoff(4), xoff(8), xoff(12), xoff(16), xon(19)];
    assert_eq!(watched(Some("nic_watchdog_missing")), [&all[..], &then].concat());
    // In 4.5 us; so that of the six frames no XON is said, either.
    let early = [xoff(0), xoff(4), xoff(119), xoff(123), xoff(224), xon(227)];
    assert_eq!(watched(Some("nic_watchdog_early")), early);
    assert_eq!(watched(Some("nic_watchdog_for_good")), once);
    assert_eq!(watched(Some("nic_watchdog_ignores_xon")), once);
}

#[test]
fn pauses_that_an_xon_ends_are_no_long_one() {
    let watched = |deviation| {
        let mut buffer = buffer(deviation, Some(Dur::us(6)));
        let (mut all, mut now) = (Vec::new(), Time::ZERO);
        for _ in 0..4 {
            now = fills(&mut buffer, (now, 4), &mut all) + Dur::us(1);
        }
        all.len()
    };
    // An XOFF and an XON of each.
    assert_eq!((watched(None), watched(Some("nic_watchdog_for_good"))), (8, 8));
    assert_eq!(watched(Some("nic_watchdog_ignores_xon")), 3);
}

#[test]
fn classes_fill_apart_and_leave_in_their_order() {
    let mut buffer = buffer(None, None);
    for class in [3, 4, 3, 4, 3] {
        buffer.arrives(Time::ZERO, &Packet::data(1, 1, 0, class, class, 1_000));
    }
    assert_eq!((buffer.level[3], buffer.level[4], buffer.word()), (3_000, 2_000, None));
    buffer.on_wake(Time(2_000_000));
    assert_eq!((buffer.level[3], buffer.level[4]), (2_000, 1_000));
}
