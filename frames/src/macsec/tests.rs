use super::vectors::{hex, vectors};
use super::*;
use crate::{MacAddr, mac_control, pfc};
use proptest::prelude::*;
use rig_units::Quanta;

const SCI: Sci = Sci { mac: MacAddr([2, 0, 0, 0, 0, 0x0a]), port: 7 };

fn sa(suite: Suite) -> Sa {
    let key: Vec<u8> = (0..32).take(suite.key_len()).collect();
    Sa::new(suite, &key, SCI, 0x0102_0304, [0x5a; 12]).unwrap()
}

fn pfc() -> Vec<u8> {
    mac_control::frame_pfc(SCI.mac, &pfc::Repr::all(0b1000, Quanta::MAX))
}

/// Confidential, with the SCI in the tag.
fn seal(pn: u64) -> Seal {
    Seal { an: 1, pn, encrypt: true, send_sci: true, end_station: false }
}

fn seals() -> impl Strategy<Value = Seal> {
    (0_u8..4, 1..=u64::from(u32::MAX), any::<(bool, bool, bool)>()).prop_map(
        |(an, pn, (encrypt, send_sci, end_station))| Seal {
            an,
            pn,
            encrypt,
            send_sci,
            end_station,
        },
    )
}

fn clear_frames() -> impl Strategy<Value = Vec<u8>> {
    let len = prop_oneof![14_usize..100, 14_usize..1600];
    len.prop_flat_map(|len| prop::collection::vec(any::<u8>(), len))
}

/// The tag of a whole frame.
fn tag_of(frame: &[u8]) -> SecTag {
    SecTag::parse(&frame[12..]).unwrap().0
}

#[test]
fn the_standards_packets_are_protected_to_the_bit() {
    let all = vectors();
    assert_eq!(all.len(), 32);
    for vector in all {
        assert_eq!(
            vector.sa.protect(&vector.seal, &vector.clear),
            vector.protected,
            "{}",
            vector.name
        );
    }
}

#[test]
fn the_standards_packets_are_opened_to_the_bit() {
    for vector in vectors() {
        let opened = vector.sa.open(&vector.protected, vector.seal.pn).unwrap();
        assert_eq!(opened.frame, vector.clear, "{}", vector.name);
        assert_eq!((opened.icv_ok, opened.pn), (true, vector.seal.pn), "{}", vector.name);
        let src = MacAddr(vector.clear[6..12].try_into().unwrap());
        assert_eq!(opened.tag.sci(src), Some(vector.sa.sci()), "{}", vector.name);
        assert_eq!(tag_of(&vector.protected), opened.tag, "{}", vector.name);
    }
}

#[test]
fn a_wrong_icv_is_told_and_the_content_shown_all_the_same() {
    for vector in vectors() {
        let mut spoilt = vector.protected.clone();
        *spoilt.last_mut().unwrap() ^= 1;
        let opened = vector.sa.open(&spoilt, vector.seal.pn).unwrap();
        assert_eq!((opened.icv_ok, opened.frame), (false, vector.clear), "{}", vector.name);
    }
}

#[test]
fn every_flipped_bit_of_a_pfc_frame_is_noticed() {
    for (suite, encrypt) in Suite::ALL.into_iter().flat_map(|suite| [(suite, true), (suite, false)])
    {
        let sa = sa(suite);
        let whole = sa.protect(&Seal { encrypt, ..seal(1) }, &pfc());
        for bit in 0..whole.len() * 8 {
            let mut spoilt = whole.clone();
            spoilt[bit / 8] ^= 1 << (bit % 8);
            let noticed = sa.open(&spoilt, 1).map_or(true, |opened| !opened.icv_ok);
            assert!(noticed, "{suite}, bit {bit}");
        }
    }
}

#[test]
fn a_wrong_key_is_told_by_the_icv() {
    let other = Sa::new(Suite::GcmAes128, &[9; 16], SCI, 0, [0; 12]).unwrap();
    let opened = other.open(&sa(Suite::GcmAes128).protect(&seal(1), &pfc()), 1).unwrap();
    assert!(!opened.icv_ok);
    assert_ne!(opened.frame, pfc());
}

#[test]
fn a_pfc_frame_grows_by_the_overhead_and_is_not_short() {
    for (send_sci, more) in [(false, 24), (true, 32)] {
        let protected = sa(Suite::GcmAes256).protect(&Seal { send_sci, ..seal(1) }, &pfc());
        assert_eq!(overhead(send_sci), more);
        assert_eq!(protected.len(), 60 + more);
        assert_eq!(tag_of(&protected).sl.get(), 0);
    }
}

#[test]
fn the_padding_of_a_short_frame_is_stripped_by_the_short_length() {
    let clear = &pfc()[..30];
    let mut padded = sa(Suite::GcmAes128).protect(&Seal { send_sci: false, ..seal(1) }, clear);
    assert_eq!(padded.len(), 54);
    padded.resize(60, 0xee);
    let opened = sa(Suite::GcmAes128).open(&padded, 1).unwrap();
    assert_eq!((opened.icv_ok, opened.tag.sl.get(), &opened.frame[..]), (true, 18, clear));
    // No MAC fills a frame up to more than that.
    padded.push(0);
    let refused = sa(Suite::GcmAes128).open(&padded, 1).unwrap_err().to_string();
    assert_eq!(refused, "macsec.secure_data at byte 8: want at most 18 bytes, got 25");
}

#[test]
fn a_64_bit_packet_number_is_recovered_across_the_wrap() {
    let sa = sa(Suite::GcmAesXpn128);
    for (pn, expected) in [(0x1_0000_0000, 0xffff_fff0), (0x2_0000_0005, 0x2_0000_0001), (7, 1)] {
        let protected = sa.protect(&seal(pn), &pfc());
        let opened = sa.open(&protected, expected).unwrap();
        assert_eq!((opened.pn, opened.icv_ok, opened.frame), (pn, true, pfc()));
    }
    // A receiver a whole wrap behind guesses another number, and the ICV tells.
    let lost = sa.open(&sa.protect(&seal(0x2_0000_0005), &pfc()), 1).unwrap();
    assert_eq!((lost.pn, lost.icv_ok), (5, false));
}

#[test]
fn a_packet_number_of_zero_is_refused_where_it_is_the_whole_number() {
    let plain = sa(Suite::GcmAes128);
    let refused = plain.open(&plain.protect(&seal(0), &pfc()), 1).unwrap_err().to_string();
    assert_eq!(refused, "macsec.pn at byte 4: want a number from 0x1 on, got 0x0");
    let xpn = sa(Suite::GcmAesXpn256);
    assert_eq!(xpn.open(&xpn.protect(&seal(0), &pfc()), 1).unwrap_err().field, "macsec.pn");
    assert!(xpn.open(&xpn.protect(&seal(1 << 32), &pfc()), u64::from(u32::MAX)).unwrap().icv_ok);
}

#[test]
fn encryption_without_changed_text_and_the_reverse_are_refused() {
    let sa = sa(Suite::GcmAes128);
    for flip in [tci::E, tci::C] {
        let mut protected = sa.protect(&seal(1), &pfc());
        protected[14] ^= flip;
        let refused = sa.open(&protected, 1).unwrap_err();
        assert_eq!((refused.field, refused.offset), ("macsec.tci", 2));
    }
}

#[test]
fn a_tag_with_an_sci_does_not_say_end_station() {
    let both = Seal { end_station: true, ..seal(1) };
    let protected = sa(Suite::GcmAes128).protect(&both, &pfc());
    assert_eq!(tag_of(&protected).channel, Channel::Explicit(SCI));
}

#[test]
fn a_key_of_another_length_is_refused() {
    for suite in Suite::ALL {
        let bad = Sa::new(suite, &[0; 17], SCI, 0, [0; 12]).unwrap_err();
        assert_eq!(bad, BadKey { want: suite.key_len(), got: 17 });
        let text = format!("a MACsec key: want {} bytes, got 17", suite.key_len());
        assert_eq!(bad.to_string(), text);
    }
}

#[test]
fn no_key_and_no_salt_is_shown() {
    let sa = Sa::new(Suite::GcmAesXpn128, &[0xab; 16], SCI, 5, [0xcd; 12]).unwrap();
    let shown = "Sa { suite: GcmAesXpn128, sci: Sci { mac: MacAddr([2, 0, 0, 0, 0, 10]), port: 7 }, ssci: 5, .. }";
    assert_eq!(format!("{sa:?}"), shown);
}

#[test]
#[should_panic(expected = "associations are 0..=3, not 4")]
fn a_fifth_association_panics() {
    sa(Suite::GcmAes128).protect(&Seal { an: 4, ..seal(1) }, &pfc());
}

#[test]
#[should_panic(expected = "a frame has a header, not 13 bytes")]
fn a_frame_without_a_header_panics() {
    sa(Suite::GcmAes128).protect(&seal(1), &[0; 13]);
}

#[test]
fn every_truncation_of_a_protected_frame_is_refused() {
    let sa = sa(Suite::GcmAes128);
    let short = hex("0180c2000001 02000000000a 8808 0101");
    for (send_sci, clear) in [(false, pfc()), (true, pfc()), (false, short.clone()), (true, short)]
    {
        let protected = sa.protect(&Seal { send_sci, ..seal(1) }, &clear);
        for len in 0..protected.len() {
            assert!(sa.open(&protected[..len], 1).is_err(), "{len} of {} bytes", protected.len());
        }
    }
}

proptest! {
    #[test]
    fn a_frame_opens_as_it_was_protected(
        seal in seals(), clear in clear_frames(), nth in 0_usize..4, high in 0..u64::from(u32::MAX),
    ) {
        let sa = sa(Suite::ALL[nth]);
        let high = if sa.suite().is_xpn() { high << 32 } else { 0 };
        let seal = Seal { pn: high | seal.pn, ..seal };
        let protected = sa.protect(&seal, &clear);
        prop_assert_eq!(protected.len(), clear.len() + overhead(seal.send_sci));
        let opened = sa.open(&protected, seal.pn).unwrap();
        prop_assert_eq!((opened.icv_ok, opened.pn, opened.frame), (true, seal.pn, clear));
        prop_assert_eq!((opened.tag.an.get(), opened.tag.e, opened.tag.c), (seal.an, seal.encrypt, seal.encrypt));
    }

    #[test]
    fn only_confidential_data_is_changed(seal in seals(), clear in clear_frames(), nth in 0_usize..4) {
        let protected = sa(Suite::ALL[nth]).protect(&seal, &clear);
        let data = &protected[protected.len() - ICV - (clear.len() - 12)..protected.len() - ICV];
        prop_assert_eq!(&protected[..12], &clear[..12]);
        // A key stream of two bytes may be zero, one of twenty will not.
        if !seal.encrypt || clear.len() >= 32 {
            prop_assert_eq!(data == &clear[12..], !seal.encrypt);
        }
    }

    #[test]
    fn any_flipped_bit_is_noticed(
        seal in seals(), clear in clear_frames(), nth in 0_usize..4, bit in any::<prop::sample::Index>(),
    ) {
        let sa = sa(Suite::ALL[nth]);
        let mut spoilt = sa.protect(&seal, &clear);
        let bit = bit.index(spoilt.len() * 8);
        spoilt[bit / 8] ^= 1 << (bit % 8);
        if let Ok(opened) = sa.open(&spoilt, seal.pn) {
            prop_assert!(!opened.icv_ok, "bit {bit}");
        }
    }

    #[test]
    fn no_bytes_make_it_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..200), tagged in any::<bool>()) {
        if let Some(kind) = bytes.get_mut(12..14).filter(|_| tagged) {
            kind.copy_from_slice(&[0x88, 0xe5]);
        }
        for suite in Suite::ALL {
            if let Ok(opened) = sa(suite).open(&bytes, 1) {
                prop_assert!(!opened.icv_ok, "nobody guesses an ICV");
            }
        }
    }
}
