//! One port's SecY: each check, each counter, each policy both ways, and each fault beside the port that does right.

use super::*;
use crate::model::packet::Tag;
use rig_lab::{CipherSuite, PfcMode};
use rig_testcases::Tamper;
use rig_units::{Dur, Quanta};

mod faults;
mod numbers;
mod pfc;

/// A profile's MACsec with something else than usual.
pub(super) fn config(change: impl FnOnce(&mut Macsec)) -> Config {
    let mut macsec = Macsec { enable: true, ..Macsec::off() };
    change(&mut macsec);
    Config::declared(&macsec).expect("enabled")
}

pub(super) fn usual() -> SecY {
    SecY::new(&config(|_| ()))
}

pub(super) const TAG: Tag = Tag { an: 0, pn: 1, encrypted: true, sci: true, tamper: None };

pub(super) fn data() -> Packet {
    Packet::data(7, 0, 1, 3, 3, 1_024)
}

pub(super) fn pause() -> Packet {
    Packet::pfc(1 << 3, 0, Quanta(100), 64)
}

pub(super) fn numbered(pn: u32) -> Packet {
    data().secured(Tag { pn, ..TAG })
}

pub(super) fn corrupt(tamper: Tamper) -> Packet {
    data().secured(Tag { tamper: Some(tamper), ..TAG })
}

/// What comes of each frame: whether it comes through.
pub(super) fn through(secy: &mut SecY, frames: &[Packet]) -> Vec<bool> {
    frames.iter().map(|frame| secy.receive(frame) != Received::Gone).collect()
}

#[test]
fn what_is_valid_comes_out_in_clear() {
    let mut secy = usual();
    assert_eq!(secy.receive(&data().secured(TAG)), Received::Data(data()));
    assert_eq!(*secy.counters(), Counters { ok: 1, ..Counters::default() });
}

#[test]
fn each_wrong_is_counted_as_what_it_is_and_dropped() {
    let none = Counters::default();
    for (frame, counted) in [
        (data(), Counters { no_tag: 1, ..none }),
        (corrupt(Tamper::Truncated), Counters { bad_tag: 1, ..none }),
        (numbered(0), Counters { bad_tag: 1, ..none }),
        (corrupt(Tamper::WrongSci), Counters { no_sci: 1, ..none }),
        (data().secured(Tag { an: 1, ..TAG }), Counters { not_using_sa: 1, ..none }),
        (corrupt(Tamper::Forged), Counters { not_valid: 1, ..none }),
        (corrupt(Tamper::WrongKey), Counters { not_valid: 1, ..none }),
    ] {
        let mut secy = usual();
        assert_eq!(secy.receive(&frame), Received::Gone);
        assert_eq!(*secy.counters(), counted);
    }
}

#[test]
fn of_two_wrongs_the_first_check_counts() {
    let late = |change: fn(&mut Tag)| {
        let mut secy = SecY::new(&config(|macsec| macsec.enable_replay_protect = true));
        secy.receive(&numbered(9));
        let mut tag = TAG;
        change(&mut tag);
        secy.receive(&data().secured(tag));
        Counters { ok: 0, ..*secy.counters() }
    };
    let none = Counters::default();
    assert_eq!(late(|_| ()), Counters { late: 1, ..none });
    assert_eq!(late(|tag| tag.tamper = Some(Tamper::Forged)), Counters { late: 1, ..none });
    assert_eq!(late(|tag| tag.an = 2), Counters { not_using_sa: 1, ..none });
    let unknown = |tag: &mut Tag| (tag.an, tag.tamper) = (2, Some(Tamper::WrongSci));
    assert_eq!(late(unknown), Counters { no_sci: 1, ..none });
    let cut = |tag: &mut Tag| (tag.an, tag.tamper) = (2, Some(Tamper::Truncated));
    assert_eq!(late(cut), Counters { bad_tag: 1, ..none });
}

#[test]
fn a_frame_that_is_not_valid_moves_no_window() {
    let mut secy = SecY::new(&config(|macsec| macsec.enable_replay_protect = true));
    let forged = data().secured(Tag { pn: 500, tamper: Some(Tamper::Forged), ..TAG });
    assert_eq!(through(&mut secy, &[forged, numbered(1)]), [false, true]);
}

#[test]
fn what_is_sent_counts_by_the_policy_without_addresses_and_fcs() {
    let sent = |policy| {
        let mut secy = SecY::new(&config(|macsec| macsec.policy = policy));
        let frame = secy.transmit(&data()).expect("sent");
        (frame.opened(), *secy.counters())
    };
    let none = Counters::default();
    let (frame, counted) = sent(Policy::Security);
    assert_eq!(frame, (data(), Some(TAG)));
    assert_eq!(counted, Counters { out_encrypted: 1, octets_encrypted: 1_008, ..none });
    let (frame, counted) = sent(Policy::IntegrityOnly);
    assert_eq!(frame, (data(), Some(Tag { encrypted: false, ..TAG })));
    assert_eq!(counted, Counters { out_protected: 1, octets_protected: 1_008, ..none });
}

#[test]
fn a_channel_is_named_where_that_is_declared() {
    let size = |send_sci| {
        let mut secy = SecY::new(&config(|macsec| macsec.send_sci = send_sci));
        secy.transmit(&data()).map(|frame| frame.size)
    };
    assert_eq!((size(true), size(false)), (Some(1_056), Some(1_048)));
}
