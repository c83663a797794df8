//! Each deviation is seen from outside, beside the device that does right.

use super::*;

/// What is seen of a device that does right, and of one with the deviation.
fn both<T>(case: fn() -> Case, deviation: &str, see: impl Fn(Rig) -> T) -> (T, T) {
    (see(Rig::of(case())), see(Rig::broken(case(), deviation)))
}

/// Whether a PFC frame pauses, and what the port counts of valid frames.
fn paused(macsec_mode: MacsecMode) -> impl Fn(Rig) -> (bool, u64) {
    move |mut rig| (rig.pauses(0, macsec_mode), rig.counter(0, "MACSEC_SA_STAT_IN_PKTS_OK"))
}

/// How many of a sound frame and of another one come through, and how many count as valid.
fn passed(macsec_mode: MacsecMode) -> impl Fn(Rig) -> (usize, u64) {
    move |mut rig| {
        rig.send(0, 1, 1, MacsecMode::Sound);
        rig.send(0, 1, 1, macsec_mode);
        (rig.received(1, PacketKind::Data).len(), rig.counter(0, "MACSEC_SA_STAT_IN_PKTS_OK"))
    }
}

fn encrypt() -> Case {
    case("encrypt")
}

fn strict() -> Case {
    case("strict_encrypt")
}

#[test]
fn encrypted_pfc_is_dropped_and_counts_as_valid() {
    let seen = both(encrypt, "macsec_encrypted_pfc_dropped", paused(MacsecMode::Sound));
    assert_eq!(seen, ((true, 1), (false, 1)));
}

#[test]
fn clear_pfc_is_accepted() {
    let seen = both(strict, "macsec_clear_pfc_accepted", paused(MacsecMode::Clear));
    assert_eq!(seen, ((false, 0), (true, 0)));
}

#[test]
fn the_replay_window_is_ignored() {
    let seen = both(encrypt, "macsec_replay_window_ignored", passed(MacsecMode::Late(1)));
    assert_eq!(seen, ((1, 1), (2, 2)));
}

#[test]
fn the_icv_is_not_checked_and_noise_is_dropped_all_the_same() {
    let name = "macsec_icv_not_checked";
    let seen = both(encrypt, name, passed(MacsecMode::Tampered(Tamper::Forged)));
    assert_eq!(seen, ((1, 1), (2, 2)));
    let seen = both(encrypt, name, passed(MacsecMode::Tampered(Tamper::WrongKey)));
    assert_eq!(seen, ((1, 1), (1, 1)));
}

#[test]
fn what_is_late_counts_as_valid() {
    let seen = both(encrypt, "macsec_late_counted_as_ok", passed(MacsecMode::Late(1)));
    assert_eq!(seen, ((1, 1), (1, 2)));
}

#[test]
fn pfc_is_sent_in_clear() {
    let seen = both(
        || encrypt().with("buffer.static_th", "100KB"),
        "macsec_pfc_sent_clear",
        |mut rig| {
            rig.pauses(1, MacsecMode::Usual);
            rig.send(0, 1, 300, MacsecMode::Usual);
            let told = rig.received(0, PacketKind::Pfc);
            assert!(!told.is_empty());
            told.iter().filter(|pfc| pfc.is_secured()).count() == told.len()
        },
    );
    assert_eq!(seen, (true, false));
}

#[test]
fn the_association_is_not_switched() {
    let seen = both(encrypt, "macsec_an_not_switched", |mut rig| {
        rig.send(0, 1, 1, MacsecMode::Usual);
        rig.configure("macsec.encoding_sa", 1);
        rig.send(0, 1, 1, MacsecMode::Usual);
        let tags = rig.received(1, PacketKind::Data).into_iter().filter_map(|data| data.tag());
        tags.map(|tag| (tag.an, tag.pn)).collect::<Vec<_>>()
    });
    assert_eq!(seen, (vec![(0, 1), (1, 1)], vec![(0, 1), (0, 2)]));
}

#[test]
fn the_channel_is_not_checked() {
    let strange = MacsecMode::Tampered(Tamper::WrongSci);
    let seen = both(encrypt, "macsec_sci_not_checked", passed(strange));
    assert_eq!(seen, ((1, 1), (2, 2)));
}

#[test]
fn a_bad_frame_pauses_whatever_is_wrong_with_it() {
    let wrong = [Tamper::Forged, Tamper::WrongKey, Tamper::WrongSci, Tamper::Truncated];
    let wrong = wrong.map(MacsecMode::Tampered).into_iter().chain([MacsecMode::Clear]);
    for macsec_mode in wrong {
        let seen = both(strict, "macsec_bad_frame_pauses", paused(macsec_mode));
        assert_eq!(seen, ((false, 0), (true, 0)), "{macsec_mode:?}");
    }
}

#[test]
fn packet_numbers_wrap() {
    let seen = both(
        || encrypt().with("macsec.next_pn", 4_294_967_294_u64),
        "macsec_pn_wraps",
        |mut rig| {
            rig.send(0, 1, 4, MacsecMode::Usual);
            let tags = rig.received(1, PacketKind::Data).into_iter().filter_map(|data| data.tag());
            tags.map(|tag| tag.pn).collect::<Vec<_>>()
        },
    );
    let last = vec![0xffff_fffe, 0xffff_ffff];
    assert_eq!(seen, (last.clone(), [last, vec![0, 1]].concat()));
}

#[test]
fn pfc_counts_twice_among_the_valid() {
    let seen = both(encrypt, "macsec_ok_counts_pfc_twice", paused(MacsecMode::Sound));
    assert_eq!(seen, ((true, 1), (true, 2)));
}

#[test]
fn a_rekey_forgets_the_association_before() {
    let seen = both(encrypt, "macsec_rekey_forgets_old_sa", |mut rig| {
        rig.configure("macsec.encoding_sa", 1);
        rig.send(0, 1, 5, MacsecMode::Usual);
        let refused = rig.counter(0, "MACSEC_SA_STAT_IN_PKTS_NOT_USING_SA");
        (rig.received(1, PacketKind::Data).len(), refused)
    });
    assert_eq!(seen, ((5, 0), (0, 5)));
}
