use super::*;
use crate::wire;
use proptest::prelude::*;
use rig_lab::{Form, Keys, Secret};
use rig_units::Quanta;

const SUITES: [CipherSuite; 4] = [
    CipherSuite::GcmAes128,
    CipherSuite::GcmAes256,
    CipherSuite::GcmAesXpn128,
    CipherSuite::GcmAesXpn256,
];
const TAMPERS: [Option<Tamper>; 5] = [
    None,
    Some(Tamper::Forged),
    Some(Tamper::WrongKey),
    Some(Tamper::WrongSci),
    Some(Tamper::Truncated),
];

fn protection(suite: CipherSuite, key_len: usize) -> Protection {
    let key = |an: u8| Secret::from_hex(&format!("{:02x}", 0x11 * (an + 1)).repeat(key_len));
    let keys = Keys {
        saks: [0, 1, 2, 3].map(|an| key(an).expect("hexadecimal")),
        salt: Secret::from_hex(&"a5".repeat(Keys::SALT)).expect("hexadecimal"),
    };
    Protection { suite, encrypt: true, sci: true, an: 0, next_pn: 1, pfc: Form::Clear, keys }
}

fn cable(suite: CipherSuite) -> Cable {
    Cable::of(&protection(suite, 32), 3).expect("keys long enough")
}

fn pfc() -> Vec<u8> {
    wire::pfc(rig_mac(3), 8, [Quanta(7); 8])
}

/// A PFC frame, or one of IPv4 of some length.
fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let data = (60_usize..1_600, any::<u8>()).prop_map(|(len, fill)| {
        let link = ethernet::Repr { dst: rig_mac(1), src: rig_mac(3), ethertype: ethertype::IPV4 };
        let mut frame = link.emit().to_vec();
        frame.resize(len, fill);
        frame
    });
    prop_oneof![Just(pfc()), data]
}

fn any_secured() -> impl Strategy<Value = Secured> {
    let tamper = proptest::sample::select(TAMPERS.to_vec());
    (0_u8..4, 1_u32.., any::<bool>(), any::<bool>(), tamper).prop_map(
        |(an, pn, encrypted, sci, tamper)| Secured { an, pn: pn.into(), encrypted, sci, tamper },
    )
}

proptest! {
    #[test]
    fn what_one_end_seals_the_other_opens_and_sees_what_was_done(
        suite in proptest::sample::select(SUITES.to_vec()),
        high in 0_u64..3, secured in any_secured(), frame in any_frame(), rig: bool,
    ) {
        let cable = cable(suite);
        let end = if rig { End::Rig } else { End::Dut };
        let high = if suite.is_extended() { high << 32 } else { 0 };
        let secured = Secured { pn: high + secured.pn, ..secured };
        let sealed = cable.seal(end, &secured, &frame);
        let want = match secured.tamper {
            Some(Tamper::Truncated) => (Vec::new(), secured),
            Some(Tamper::WrongSci) => (frame, Secured { sci: true, ..secured }),
            _ => (frame, secured),
        };
        // So far back that the number is recovered.
        let heard = Heard::from(secured.pn.saturating_sub(1_000).max(1));
        prop_assert_eq!(cable.open(end, &heard, &sealed), Some(want));
        let other = if rig { End::Dut } else { End::Rig };
        let other = cable.open(other, &heard, &sealed).and_then(|(_, secured)| secured.tamper);
        prop_assert!(other.is_some(), "it is none of the other end's");
    }

    #[test]
    fn no_bytes_behind_the_type_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        let mut frame = pfc()[..12].to_vec();
        frame.extend_from_slice(&ethertype::MACSEC.to_be_bytes());
        frame.extend_from_slice(&bytes);
        let opened = cable(CipherSuite::GcmAes128).open(End::Rig, &Heard::default(), &frame);
        prop_assert!(opened.is_some_and(|(_, secured)| secured.tamper.is_some()));
    }
}

#[test]
fn a_frame_in_clear_is_none_to_open() {
    let cable = cable(CipherSuite::GcmAes128);
    assert_eq!(cable.open(End::Rig, &Heard::default(), &pfc()), None);
    assert_eq!(cable.open(End::Rig, &Heard::default(), &[0; 13]), None);
}

#[test]
fn a_short_suite_takes_the_first_half_of_a_long_key_and_a_long_one_no_short_key() {
    let frame = pfc();
    let secured = Secured { an: 2, pn: 5, encrypted: true, sci: false, tamper: None };
    let half = Cable::of(&protection(CipherSuite::GcmAes128, 16), 3).expect("long enough");
    let sealed = half.seal(End::Dut, &secured, &frame);
    assert_eq!(cable(CipherSuite::GcmAes128).seal(End::Dut, &secured, &frame), sealed);
    let short = Cable::of(&protection(CipherSuite::GcmAes256, 16), 3);
    assert_eq!(short.err(), Some(BadKey { want: 32, got: 16 }));
}

#[test]
fn a_pfc_frame_grows_by_what_protects_it_and_a_truncated_one_shrinks() {
    let cable = cable(CipherSuite::GcmAes128);
    for (sci, tamper, len) in [
        (true, None, 92),
        (false, None, 84),
        (false, Some(Tamper::WrongSci), 92),
        (true, Some(Tamper::Truncated), 60),
        (false, Some(Tamper::Truncated), 60),
    ] {
        let secured = Secured { an: 0, pn: 1, encrypted: true, sci, tamper };
        assert_eq!(cable.seal(End::Rig, &secured, &pfc()).len(), len, "{sci} {tamper:?}");
    }
}

#[test]
fn an_extended_number_is_followed_past_32_bits() {
    let cable = cable(CipherSuite::GcmAesXpn256);
    let edge = u64::from(u32::MAX);
    let mut heard = Heard::from(edge - 1);
    for pn in edge - 1..edge + 3 {
        let secured = Secured { an: 1, pn, encrypted: true, sci: true, tamper: None };
        let sealed = cable.seal(End::Dut, &secured, &pfc());
        let (_, read) = cable.open(End::Dut, &heard, &sealed).expect("protected");
        assert_eq!(read, secured);
        heard.saw(&read);
    }
    let corrupt =
        Secured { an: 1, pn: 1 << 40, encrypted: true, sci: true, tamper: Some(Tamper::Forged) };
    let before = heard;
    heard.saw(&corrupt);
    assert_eq!(heard, before, "a wrong frame says nothing");
}

#[test]
fn an_association_that_begins_again_is_followed_though_old_frames_are_on_their_way() {
    let cable = cable(CipherSuite::GcmAesXpn128);
    let mut heard = Heard::from(1);
    let old = u64::from(u32::MAX) - 1;
    let through = |heard: &mut Heard, pn| {
        let secured = Secured { an: 1, pn, encrypted: true, sci: false, tamper: None };
        let sealed = cable.seal(End::Dut, &secured, &pfc());
        let opened = cable.open(End::Dut, heard, &sealed).expect("protected");
        heard.saw(&opened.1);
        assert_eq!(opened, (pfc(), secured), "{pn}");
    };
    through(&mut heard, old);
    heard.may_begin(1);
    for pn in [old + 1, 1, 2, 3] {
        through(&mut heard, pn);
    }
    heard.begin(1, 1 << 40);
    through(&mut heard, 1 << 40);
}

#[test]
fn its_debug_shows_no_key() {
    let shown = format!("{:?}", cable(CipherSuite::GcmAes256));
    assert!(!shown.contains("17, 17") && !shown.contains("1111"), "{shown}");
}

#[test]
fn what_protection_adds_is_the_same_in_the_language_and_on_the_wire() {
    for sci in [false, true] {
        assert_eq!(usize::from(rig_lab::macsec::overhead(sci)), rig_frames::macsec::overhead(sci));
    }
}
