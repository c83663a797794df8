//! Packet numbers: the replay window at its edges, their end, rekeys, and numbers of 64 bits.

use super::*;

fn window(frames: u32) -> SecY {
    SecY::new(&config(|macsec| {
        (macsec.enable_replay_protect, macsec.replay_window) = (true, frames);
    }))
}

fn sent(secy: &mut SecY, frames: usize) -> Vec<Option<(u8, u32)>> {
    let tag = |frame: Packet| frame.tag().map(|tag| (tag.an, tag.pn));
    (0..frames).map(|_| secy.transmit(&data()).and_then(tag)).collect()
}

#[test]
fn without_a_window_each_number_comes_once_and_in_order() {
    let mut secy = window(0);
    let frames = [5, 5, 4, 6].map(numbered);
    assert_eq!(through(&mut secy, &frames), [true, false, false, true]);
    assert_eq!((secy.counters().ok, secy.counters().late), (2, 2));
}

/// The lowest number after frame n is n + 1 less the window.
#[test]
fn the_last_number_of_the_window_comes_through_and_the_one_before_it_does_not() {
    for frames in [1, 2, 64] {
        let mut secy = window(frames);
        let numbers = [100, 101 - frames, 100 - frames].map(numbered);
        assert_eq!(through(&mut secy, &numbers), [true, true, false], "{frames}");
    }
}

#[test]
fn a_window_wider_than_what_was_sent_takes_everything() {
    let mut secy = window(u32::MAX);
    assert_eq!(through(&mut secy, &[1_000, 1].map(numbered)), [true, true]);
}

#[test]
fn without_protection_what_is_late_comes_through_and_counts_as_delayed() {
    let mut secy = SecY::new(&config(|macsec| macsec.replay_window = 2));
    assert_eq!(through(&mut secy, &[9, 8, 7].map(numbered)), [true; 3]);
    assert_eq!(*secy.counters(), Counters { ok: 2, delayed: 1, ..Counters::default() });
}

#[test]
fn another_window_holds_from_the_next_frame_on() {
    let mut secy = window(10);
    secy.receive(&numbered(100));
    let narrow = config(|macsec| {
        (macsec.enable_replay_protect, macsec.replay_window) = (true, 1);
    });
    secy.set(&narrow);
    assert_eq!(through(&mut secy, &[92, 101, 100, 99].map(numbered)), [true, true, false, false]);
}

#[test]
fn frames_are_numbered_from_1_or_from_what_is_set() {
    assert_eq!(sent(&mut usual(), 2), [Some((0, 1)), Some((0, 2))]);
    let mut secy = SecY::new(&config(|macsec| macsec.next_pn = Some(70)));
    assert_eq!(sent(&mut secy, 2), [Some((0, 70)), Some((0, 71))]);
    secy.set(&config(|macsec| macsec.next_pn = Some(90)));
    assert_eq!(sent(&mut secy, 1), [Some((0, 90))]);
    // What was not changed is not set again.
    secy.set(&config(|macsec| {
        (macsec.next_pn, macsec.replay_window) = (Some(90), 5);
    }));
    assert_eq!(sent(&mut secy, 1), [Some((0, 91))]);
}

#[test]
fn the_last_number_of_32_bits_is_used_and_then_nothing_leaves_until_a_rekey() {
    let last = |macsec: &mut Macsec| macsec.next_pn = Some(0xffff_fffe);
    let mut secy = SecY::new(&config(last));
    let numbers = [Some((0, 0xffff_fffe)), Some((0, 0xffff_ffff)), None, None];
    assert_eq!(sent(&mut secy, 4), numbers);
    assert_eq!(secy.counters().out_encrypted, 2, "what does not leave is not counted");
    secy.set(&config(|macsec| macsec.encoding_sa = 1));
    assert_eq!(sent(&mut secy, 2), [Some((1, 1)), Some((1, 2))]);
}

#[test]
fn pfc_in_clear_leaves_although_the_numbers_are_used_up() {
    let mut secy = SecY::new(&config(|macsec| macsec.next_pn = Some(0xffff_ffff)));
    assert!(secy.transmit(&data()).is_some() && secy.transmit(&data()).is_none());
    assert_eq!(secy.transmit(&pause()), Some(pause()));
}

#[test]
fn numbers_of_64_bits_go_on_and_the_tag_has_their_lower_half() {
    for suite in [CipherSuite::GcmAesXpn128, CipherSuite::GcmAesXpn256] {
        let mut secy = SecY::new(&config(|macsec| {
            (macsec.cipher_suite, macsec.next_pn) = (suite, Some(0xffff_ffff));
        }));
        assert_eq!(sent(&mut secy, 3), [Some((0, 0xffff_ffff)), Some((0, 0)), Some((0, 1))]);
    }
}

#[test]
fn the_upper_half_of_a_number_is_recovered_when_the_lower_begins_anew() {
    let mut secy = SecY::new(&config(|macsec| {
        macsec.cipher_suite = CipherSuite::GcmAesXpn128;
        (macsec.enable_replay_protect, macsec.replay_window) = (true, 2);
    }));
    let numbers = [0x7fff_ffff, 0xffff_fffe, 0xffff_ffff, 0, 1, 0, 0xffff_ffff].map(numbered);
    // The lowest is 2^32 at the end: a lower half of all ones is a number of the round to come, not of the one that is over.
    assert_eq!(through(&mut secy, &numbers), [true; 7]);
    let mut secy = SecY::new(&config(|macsec| {
        macsec.cipher_suite = CipherSuite::GcmAesXpn128;
        (macsec.enable_replay_protect, macsec.replay_window) = (true, 4);
    }));
    let numbers = [0xffff_fffe, 0xffff_ffff, 0, 0xffff_fffd, 0xffff_fffc].map(numbered);
    assert_eq!(through(&mut secy, &numbers), [true, true, true, true, false]);
}

#[test]
fn at_a_rekey_the_association_before_stays_and_the_one_before_that_goes() {
    let at = |an| move |macsec: &mut Macsec| macsec.encoding_sa = an;
    let of = |an, pn| data().secured(Tag { an, pn, ..TAG });
    let mut secy = SecY::new(&config(at(0)));
    assert_eq!(through(&mut secy, &[of(0, 1), of(1, 1)]), [true, false]);
    secy.set(&config(at(1)));
    assert_eq!(through(&mut secy, &[of(0, 2), of(1, 1)]), [true, true]);
    secy.set(&config(at(2)));
    assert_eq!(through(&mut secy, &[of(0, 3), of(1, 2), of(2, 1)]), [false, true, true]);
    assert_eq!(secy.counters().not_using_sa, 2);
}

#[test]
fn an_association_that_comes_back_begins_anew() {
    let at = |an| {
        move |macsec: &mut Macsec| {
            (macsec.encoding_sa, macsec.enable_replay_protect) = (an, true);
        }
    };
    let mut secy = SecY::new(&config(at(0)));
    secy.receive(&numbered(50));
    secy.set(&config(at(1)));
    assert_eq!(through(&mut secy, &[numbered(50)]), [false], "its window is as it was");
    secy.set(&config(at(0)));
    assert_eq!(through(&mut secy, &[numbered(1)]), [true]);
}

#[test]
fn a_pause_in_clear_takes_no_number_unless_it_is_broken() {
    let next = |fault| {
        let mut config = config(|macsec| macsec.pfc_encryption_mode = PfcMode::Bypass);
        config.faults.macsec_clear_pfc_takes_number = fault;
        let mut secy = SecY::new(&config);
        secy.transmit(&pause());
        sent(&mut secy, 1)
    };
    assert_eq!((next(false), next(true)), (vec![Some((0, 1))], vec![Some((0, 2))]));
}
