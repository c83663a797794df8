//! The gate at its exact instants, and against a plain account of the same frames.

use super::*;
use proptest::prelude::*;

const NOW: Time = Time(5_000);

fn xoff(enable: u8, quanta: u16) -> Packet {
    Packet::pfc(enable, 0, Quanta(quanta), 64)
}

fn xon(enable: u8) -> Packet {
    Packet::pfc(enable, enable, Quanta(0), 64)
}

fn gate(response: Dur) -> Mac {
    Mac::new(&Config { response: response.into(), ..Config::prompt(0xff) }, PortSpeed::G400)
}

#[test]
fn a_pause_ends_to_the_picosecond() {
    let mut mac = gate(Dur::ZERO);
    // Two quanta of 512 bits at 400 Gb/s (2.5 ps a bit): 2560 ps.
    assert_eq!(mac.on_pfc(NOW, &xoff(bit(3), 2)), 0);
    assert_eq!(mac.wake_at(), Some(Time(7_560)));
    assert_eq!(mac.on_wake(Time(7_559)), 0);
    assert_eq!(mac.closed(), bit(3));
    assert_eq!(mac.on_wake(Time(7_560)), bit(3));
    assert_eq!((mac.closed(), mac.wake_at()), (0, None));
    let want =
        Pauses { frames: 1, xons: 0, on_to_off: 1, duration: Dur(2_560), ..Pauses::default() };
    assert_eq!(mac.pauses(3, Time(9_000)), want);
}

#[test]
fn a_frame_takes_effect_within_the_response_and_none_overtakes_another() {
    let response = Within::exactly(Dur(100)) + "0ps..900ps".parse().expect("a range");
    let effects = |seed: u64| {
        let mut mac = Mac::new(&Config { response, seed, ..Config::prompt(0xff) }, PortSpeed::G400);
        let mut all = Vec::new();
        for frame in 0..200 {
            let now = NOW + Dur(150) * frame;
            mac.on_pfc(now, &xoff(bit(3), 100));
            let settling = mac.settling.back().expect("it responds later");
            all.push(settling.effect.0 - now.0);
            mac.on_wake(now);
        }
        all
    };
    let first = effects(1);
    assert!(first.iter().all(|took| response.includes(Dur(*took))), "{first:?}");
    // 150 ps apart in order: 149 ps sooner than the one before at most.
    assert!(first.windows(2).all(|pair| pair[1] + 150 >= pair[0]), "{first:?}");
    let [soon, late] = [first.iter().min(), first.iter().max()].map(|one| *one.expect("some"));
    assert!(soon < 400 && late > 900, "{soon} to {late}");
    assert_ne!(first, effects(2));
}

/// Obeys within 100 ps, and goes on 900 ps after an XON.
fn slow_to_go_on() -> Mac {
    let resumption = Some(Within::exactly(Dur(900)));
    let response = Dur(100).into();
    Mac::new(&Config { response, resumption, ..Config::prompt(0xff) }, PortSpeed::G400)
}

#[test]
fn an_xoff_does_not_wait_for_what_lets_a_class_go() {
    let mut mac = slow_to_go_on();
    mac.on_pfc(NOW, &xoff(bit(3), 600));
    mac.on_wake(NOW + Dur(100));
    mac.on_pfc(NOW + Dur(200), &xon(bit(3)));
    mac.on_pfc(NOW + Dur(300), &xoff(bit(4), 600));
    assert_eq!(mac.wake_at(), Some(NOW + Dur(400)));
    mac.on_wake(NOW + Dur(400));
    assert_eq!(mac.closed(), bit(3) | bit(4));
    // And the XON still lets its own class go.
    assert_eq!(mac.wake_at(), Some(NOW + Dur(1_100)));
    assert_eq!(mac.on_wake(NOW + Dur(1_100)), bit(3));
    assert_eq!(mac.closed(), bit(4));
}

#[test]
fn a_class_that_is_held_again_before_it_went_on_stays_closed() {
    let mut mac = slow_to_go_on();
    mac.on_pfc(NOW, &xoff(bit(3) | bit(4), 600));
    mac.on_wake(NOW + Dur(100));
    mac.on_pfc(NOW + Dur(200), &xon(bit(3) | bit(4)));
    mac.on_pfc(NOW + Dur(300), &xoff(bit(3), 600));
    mac.on_wake(NOW + Dur(400));
    assert_eq!(mac.on_wake(NOW + Dur(1_100)), bit(4));
    assert_eq!(mac.closed(), bit(3));
}

#[test]
fn a_pause_that_is_over_before_its_effect_holds_nobody() {
    let mut mac = slow_to_go_on();
    // Two quanta are 2560 ps.
    mac.on_late_pfc(NOW, &xoff(bit(3), 2), Within::exactly(Dur(2_460)));
    assert_eq!((mac.on_wake(NOW + Dur(2_560)), mac.closed(), mac.wake_at()), (0, 0, None));
    mac.on_late_pfc(NOW, &xoff(bit(3), 2), Within::exactly(Dur(2_459)));
    mac.on_wake(NOW + Dur(2_559));
    assert_eq!((mac.closed(), mac.wake_at()), (bit(3), Some(NOW + Dur(3_460))));
}

#[test]
fn a_frame_that_lets_nothing_go_takes_no_longer_than_any() {
    let mut mac = slow_to_go_on();
    for nothing in [xoff(0, 600), xon(bit(5)), xoff(bit(5), 0)] {
        mac.on_pfc(NOW, &nothing);
        assert_eq!(mac.settling.back().map(|one| one.effect), Some(NOW + Dur(100)));
    }
    // An XOFF that has not come to its effect is let go, too, and not before.
    mac.on_pfc(NOW, &xoff(bit(5), 600));
    mac.on_pfc(NOW, &xon(bit(5)));
    mac.on_wake(NOW + Dur(100));
    assert_eq!((mac.closed(), mac.wake_at()), (bit(5), Some(NOW + Dur(900))));
}

#[test]
fn xon_opens_its_class_and_no_other() {
    let mut mac = gate(Dur::ZERO);
    mac.on_pfc(NOW, &xoff(bit(3) | bit(4), 9));
    assert_eq!(mac.on_pfc(NOW + Dur(7), &xon(bit(3))), bit(3));
    assert_eq!(mac.closed(), bit(4));
    assert_eq!(mac.pauses(3, NOW + Dur(9)).duration, Dur(7));
    assert_eq!(mac.pauses(4, NOW + Dur(9)).duration, Dur(9));
}

#[test]
fn one_frame_may_pause_one_class_and_resume_another() {
    let mut mac = gate(Dur::ZERO);
    mac.on_pfc(NOW, &xoff(bit(3), 9));
    let both = Packet::pfc(bit(3) | bit(4), bit(3), Quanta(9), 64);
    assert_eq!(mac.on_pfc(NOW, &both), bit(3));
    assert_eq!(mac.closed(), bit(4));
}

#[test]
fn a_later_pause_replaces_a_longer_one() {
    let mut mac = gate(Dur::ZERO);
    mac.on_pfc(NOW, &xoff(bit(3), 100));
    mac.on_pfc(NOW, &xoff(bit(3), 1));
    assert_eq!(mac.wake_at(), Some(Time(6_280)));
}

#[test]
fn the_gate_closes_the_response_time_after_the_frame_and_opens_on_the_frames_own_clock() {
    let mut mac = gate(Dur(1_000));
    mac.on_pfc(NOW, &xoff(bit(3), 2));
    assert_eq!((mac.closed(), mac.wake_at()), (0, Some(Time(6_000))));
    mac.on_wake(Time(6_000));
    assert_eq!((mac.closed(), mac.wake_at()), (bit(3), Some(Time(7_560))));
    mac.on_wake(Time(7_560));
    assert_eq!(mac.pauses(3, Time(8_000)).duration, Dur(1_560));
}

#[test]
fn a_pause_no_longer_than_the_response_time_never_closes_the_gate() {
    let mut mac = gate(Dur(1_280));
    mac.on_pfc(NOW, &xoff(bit(3), 1));
    assert_eq!(mac.on_wake(Time(6_280)), 0);
    let want = Pauses { frames: 1, ..Pauses::default() };
    assert_eq!((mac.pauses(3, Time(9_000)), mac.wake_at()), (want, None));
}

#[test]
fn a_refresh_at_the_very_end_leaves_no_gap() {
    let mut mac = gate(Dur::ZERO);
    mac.on_pfc(NOW, &xoff(bit(3), 2));
    // The engine delivers arrivals before it wakes gates at the same instant.
    mac.on_pfc(Time(7_560), &xoff(bit(3), 2));
    assert_eq!(mac.on_wake(Time(7_560)), 0);
    assert_eq!(mac.pauses(3, Time(7_560)).on_to_off, 0);
}

#[test]
fn a_class_that_ignores_pfc_counts_it_all_the_same() {
    let mut mac = gate(Dur::ZERO);
    mac.on_pfc(NOW, &xoff(bit(3), 2));
    assert_eq!(mac.set_ignore(3, true), bit(3));
    assert_eq!(mac.closed(), 0);
    assert!(mac.pauses(3, NOW).paused);
    mac.set_ignore(3, false);
    assert_eq!(mac.closed(), bit(3));
}

#[test]
fn xon_counts_as_a_frame_only_if_the_port_counts_it() {
    for (xon_counts, want) in [(true, 2), (false, 1)] {
        let config = Config { xon_counts, ..Config::prompt(0xff) };
        let mut mac = Mac::new(&config, PortSpeed::G100);
        mac.on_pfc(NOW, &xoff(bit(3), 9));
        mac.on_pfc(NOW, &xon(bit(3)));
        assert_eq!(mac.pauses(3, NOW).frames, want);
    }
}

#[test]
fn without_expiry_only_xon_ends_a_pause() {
    let config = Config { expires: false, ..Config::prompt(0xff) };
    let mut mac = Mac::new(&config, PortSpeed::G100);
    mac.on_pfc(NOW, &xoff(bit(3), 1));
    assert_eq!(mac.wake_at(), None);
    assert_eq!(mac.on_pfc(NOW + Dur::s(1), &xon(bit(3))), bit(3));
}

#[test]
fn who_stops_obeying_opens_at_once_and_who_obeys_again_serves_the_rest_of_the_pause() {
    let mut mac = gate(Dur::ZERO);
    mac.on_pfc(NOW, &xoff(bit(3) | bit(4), 9));
    assert_eq!(mac.obey(NOW + Dur(1), bit(4), Dur::ZERO), bit(3));
    assert_eq!(mac.closed(), bit(4));
    assert_eq!(mac.obey(NOW + Dur(2), 0xff, Dur::ZERO), 0);
    assert_eq!((mac.closed(), mac.wake_at()), (bit(3) | bit(4), Some(Time(16_520))));
}

#[test]
fn a_change_of_the_response_leaves_no_frame_settling_by_the_old_one() {
    let mut mac = gate(Dur(1_000));
    mac.on_pfc(NOW, &xoff(bit(3), 9));
    mac.on_pfc(NOW + Dur(1), &xoff(bit(4), 9));
    mac.on_pfc(NOW + Dur(2), &xon(bit(4)));
    mac.obey(NOW + Dur(3), 0xff, Dur(500));
    assert_eq!((mac.closed(), mac.wake_at()), (bit(3), Some(Time(16_520))));
    mac.on_pfc(NOW + Dur(10), &xoff(bit(5), 9));
    assert_eq!(mac.wake_at(), Some(NOW + Dur(510)));
}

/// A plain account of one class: the latest frame decides until its time is over.
fn closed_for(frames: &[(u64, u16)], end: u64) -> (u64, u64) {
    let (mut total, mut transitions) = (0, 0);
    let mut until = 0;
    let mut since = 0;
    for &(at, quanta) in frames {
        if until > 0 && until < at {
            total += until - since;
            transitions += 1;
            until = 0;
        }
        let open = until == 0;
        if quanta == 0 {
            if !open {
                total += at - since;
                transitions += 1;
            }
            until = 0;
        } else {
            if open {
                since = at;
            }
            until = at + u64::from(quanta) * 1_280;
        }
    }
    if until > 0 && until <= end {
        total += until - since;
        transitions += 1;
    } else if until > 0 {
        total += end - since;
    }
    (total, transitions)
}

proptest! {
    #[test]
    fn closed_time_and_transitions_follow_from_the_frames(gaps in prop::collection::vec((1..20_000_u64, 0..9_u16), 1..60)) {
        let mut mac = gate(Dur::ZERO);
        let mut now = 0;
        let mut frames = Vec::new();
        for (gap, quanta) in gaps {
            now += gap;
            // As the engine does: a wake-up strictly before the frame first.
            while let Some(at) = mac.wake_at().filter(|at| at.0 < now) {
                mac.on_wake(at);
            }
            mac.on_pfc(Time(now), &xoff(bit(5), quanta));
            frames.push((now, quanta));
        }
        let end = now + 3_000;
        while let Some(at) = mac.wake_at().filter(|at| at.0 <= end) {
            mac.on_wake(at);
        }
        let pauses = mac.pauses(5, Time(end));
        prop_assert_eq!((pauses.duration.0, pauses.on_to_off), closed_for(&frames, end));
        prop_assert_eq!(mac.pauses(4, Time(end)), Pauses::default());
    }
}

/// A frame that MACsec opened reaches the MAC later than one in clear that came behind it.
#[test]
fn a_late_frame_closes_later_ends_with_its_time_and_lets_others_pass() {
    let mut mac = gate(Dur(100));
    let pause = PortSpeed::G400.pause(Quanta(9));
    mac.on_late_pfc(NOW, &xoff(bit(3), 9), Dur(50).into());
    mac.on_pfc(NOW + Dur(10), &xoff(bit(4), 9));
    assert_eq!(mac.wake_at(), Some(NOW + Dur(110)));
    mac.on_wake(NOW + Dur(110));
    assert_eq!((mac.closed(), mac.wake_at()), (bit(4), Some(NOW + Dur(150))));
    mac.on_wake(NOW + Dur(150));
    assert_eq!(mac.closed(), bit(3) | bit(4));
    // The pause counts from the last bit of the frame, whatever it took to be read.
    assert_eq!(mac.wake_at(), Some(NOW + pause));
    assert_eq!(mac.on_wake(NOW + pause), bit(3));
}

#[test]
fn a_late_frame_waits_although_the_mac_itself_answers_at_once() {
    let mut mac = gate(Dur::ZERO);
    assert_eq!(mac.on_late_pfc(NOW, &xoff(bit(3), 9), Dur(50).into()), 0);
    assert_eq!((mac.closed(), mac.wake_at()), (0, Some(NOW + Dur(50))));
    mac.on_wake(NOW + Dur(50));
    assert_eq!(mac.closed(), bit(3));
}
