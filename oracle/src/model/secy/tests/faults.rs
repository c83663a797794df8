//! Each fault of a SecY beside one that does right.

use super::*;

/// What comes through, and what is counted, of these frames: with the fault, and without it.
fn beside(
    fault: fn(&mut MacsecFaults),
    change: fn(&mut Macsec),
    frames: &[Packet],
) -> [(Vec<bool>, Counters); 2] {
    [true, false].map(|is_faulty| {
        let mut config = config(change);
        if is_faulty {
            fault(&mut config.faults);
        }
        let mut secy = SecY::new(&config);
        (through(&mut secy, frames), *secy.counters())
    })
}

const NONE: Counters = Counters {
    ok: 0,
    late: 0,
    delayed: 0,
    not_valid: 0,
    not_using_sa: 0,
    out_encrypted: 0,
    out_protected: 0,
    octets_encrypted: 0,
    octets_protected: 0,
    no_tag: 0,
    bad_tag: 0,
    no_sci: 0,
    in_errors: 0,
};

fn protect(macsec: &mut Macsec) {
    macsec.enable_replay_protect = true;
}

#[test]
fn a_replay_comes_through_where_the_window_is_ignored() {
    let [bad, good] =
        beside(|f| f.macsec_replay_window_ignored = true, protect, &[2, 2, 1].map(numbered));
    assert_eq!(good, (vec![true, false, false], Counters { ok: 1, late: 2, ..NONE }));
    assert_eq!(bad, (vec![true; 3], Counters { ok: 3, ..NONE }));
}

#[test]
fn what_is_late_and_counts_as_valid_is_dropped_all_the_same() {
    let [bad, good] =
        beside(|f| f.macsec_late_counted_as_ok = true, protect, &[2, 2].map(numbered));
    assert_eq!(good, (vec![true, false], Counters { ok: 1, late: 1, ..NONE }));
    assert_eq!(bad, (vec![true, false], Counters { ok: 2, ..NONE }));
}

#[test]
fn without_a_look_at_the_icv_a_forged_frame_comes_through_and_noise_does_not() {
    let frames = [Tamper::Forged, Tamper::WrongKey].map(corrupt);
    let [bad, good] = beside(|f| f.macsec_icv_not_checked = true, |_| (), &frames);
    assert_eq!(good, (vec![false, false], Counters { not_valid: 2, ..NONE }));
    assert_eq!(bad, (vec![true, false], Counters { ok: 1, not_valid: 1, ..NONE }));
}

#[test]
fn without_a_look_at_the_channel_any_is_good() {
    let [bad, good] =
        beside(|f| f.macsec_sci_not_checked = true, |_| (), &[corrupt(Tamper::WrongSci)]);
    assert_eq!(good, (vec![false], Counters { no_sci: 1, ..NONE }));
    assert_eq!(bad, (vec![true], Counters { ok: 1, ..NONE }));
}

#[test]
fn a_pfc_frame_that_is_refused_may_pause_all_the_same() {
    let strict = |macsec: &mut Macsec| macsec.pfc_encryption_mode = PfcMode::StrictEncrypt;
    let forged = pause().secured(Tag { tamper: Some(Tamper::Forged), ..TAG });
    let frames = [pause(), forged, corrupt(Tamper::Forged), data()];
    let [bad, good] = beside(|f| f.macsec_bad_frame_pauses = true, strict, &frames);
    assert_eq!(good.0, [false; 4]);
    assert_eq!(bad.0, [true, true, false, false], "data is dropped as ever");
    assert_eq!(bad.1, good.1);
}

#[test]
fn pfc_frames_and_no_others_count_twice() {
    let frames = [pause().secured(TAG), numbered(2)];
    let encrypt = |macsec: &mut Macsec| macsec.pfc_encryption_mode = PfcMode::Encrypt;
    let [bad, good] = beside(|f| f.macsec_ok_counts_pfc_twice = true, encrypt, &frames);
    assert_eq!((bad.1.ok, good.1.ok), (3, 2));
}

#[test]
fn numbers_that_wrap_go_on_after_the_last() {
    let mut config = config(|macsec| macsec.next_pn = Some(0xffff_ffff));
    config.faults.macsec_pn_wraps = true;
    let mut secy = SecY::new(&config);
    let numbers: Vec<u32> =
        (0..3).filter_map(|_| Some(secy.transmit(&data())?.tag()?.pn)).collect();
    assert_eq!(numbers, [0xffff_ffff, 0, 1]);
}

#[test]
fn after_a_rekey_it_sends_with_the_association_before() {
    let an = |fault| {
        let mut config = config(|_| ());
        config.faults.macsec_an_not_switched = fault;
        let mut secy = SecY::new(&config);
        secy.transmit(&data());
        secy.set(&Config { an: 1, ..config });
        secy.transmit(&data()).and_then(|frame| frame.tag()).map(|tag| (tag.an, tag.pn))
    };
    assert_eq!((an(true), an(false)), (Some((0, 2)), Some((1, 1))));
}

#[test]
fn after_a_rekey_frames_under_way_are_lost() {
    let received = |fault| {
        let mut config = config(|_| ());
        config.faults.macsec_rekey_forgets_old_sa = fault;
        let mut secy = SecY::new(&config);
        secy.set(&Config { an: 1, ..config });
        (through(&mut secy, &[numbered(1)]), secy.counters().not_using_sa)
    };
    assert_eq!((received(true), received(false)), ((vec![false], 1), (vec![true], 0)));
}
