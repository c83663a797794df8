//! What the modes send, and which values lie outside their ranges.

use super::*;
use crate::{BadSetting, Declared, Setting};
use rig_units::Dur;

fn declared() -> Declared {
    let lab = crate::read::lab(None).unwrap_or_else(|faults| panic!("{}", faults[0]));
    lab.duts.into_iter().next().expect("the default lab has devices").declared
}

fn with(declared: &Declared, path: &str, value: impl Into<serde_json::Value>) -> Declared {
    let setting = Setting { path: path.to_owned(), value: value.into() };
    declared.with(&setting).unwrap_or_else(|bad| panic!("{bad}"))
}

#[test]
fn a_profile_that_says_nothing_of_macsec_has_none() {
    assert_eq!(declared().switch().map(|switch| &switch.macsec), Some(&Macsec::off()));
    assert!(!Macsec::off().enable);
}

#[test]
fn every_setting_has_a_path_of_its_own() {
    let mut at = declared();
    for (path, value) in [
        ("enable", serde_json::json!(true)),
        ("cipher_suite", "GCM-AES-XPN-256".into()),
        ("policy", "integrity_only".into()),
        ("send_sci", false.into()),
        ("enable_replay_protect", true.into()),
        ("replay_window", 32.into()),
        ("pfc_encryption_mode", "strict_encrypt".into()),
        ("pfc_clear", "bad".into()),
        ("pfc_encrypted", "ignore".into()),
        ("pfc_sent", "clear".into()),
        ("latency", "300ns".into()),
        ("latency_per_byte", "40ps..80ps".into()),
        ("encoding_sa", 3.into()),
        ("next_pn", 4_294_967_290_u64.into()),
    ] {
        let path = format!("macsec.{path}");
        assert!(crate::fields::paths().contains(&path), "{path}");
        at = with(&at, &path, value.clone());
        assert_eq!(at.get(&path), Some(value), "{path}");
    }
    let Macsec { cipher_suite, policy, latency, next_pn, .. } =
        at.switch().expect("a switch").macsec;
    assert_eq!((cipher_suite, policy), (CipherSuite::GcmAesXpn256, Policy::IntegrityOnly));
    assert_eq!((latency, next_pn), (Dur::ns(300).into(), Some(4_294_967_290)));
}

#[test]
fn a_word_that_is_no_mode_is_refused_with_those_that_are() {
    let path = "macsec.pfc_encryption_mode".to_owned();
    let bad = declared().with(&Setting { path, value: "drop".into() });
    let Err(BadSetting::BadValue { why, .. }) = bad else { panic!("{bad:?}") };
    assert!(why.contains("`strict_encrypt`"), "{why}");
}

#[test]
fn each_mode_says_what_is_sent_unless_the_form_has_a_setting_of_its_own() {
    use Form::{Clear, Encrypted};
    for (mode, sent) in [
        (PfcMode::Bypass, Clear),
        (PfcMode::Encrypt, Encrypted),
        (PfcMode::StrictEncrypt, Encrypted),
        (PfcMode::ClearOnly, Clear),
        (PfcMode::EncryptedOnly, Encrypted),
    ] {
        let macsec = Macsec { pfc_encryption_mode: mode, ..Macsec::off() };
        assert_eq!(macsec.sent(), sent, "{mode:?}");
        for own in [Clear, Encrypted] {
            assert_eq!(Macsec { pfc_sent: Some(own), ..macsec.clone() }.sent(), own);
        }
    }
}

#[test]
fn a_protected_frame_is_24_bytes_longer_and_32_with_its_channels_name() {
    assert_eq!(Macsec { send_sci: false, ..Macsec::off() }.overhead(), 24);
    assert_eq!(Macsec { send_sci: true, ..Macsec::off() }.overhead(), 32);
}

#[test]
fn each_range_ends_where_the_standard_ends_it() {
    let paths = |macsec: Macsec| -> Vec<&str> {
        macsec.out_of_range().into_iter().map(|(path, ..)| path).collect()
    };
    let extended = Macsec { cipher_suite: CipherSuite::GcmAesXpn128, ..Macsec::off() };
    let pn = |macsec: &Macsec, pn| Macsec { next_pn: Some(pn), ..macsec.clone() };
    assert!(paths(Macsec { encoding_sa: 3, ..pn(&Macsec::off(), 0xffff_ffff) }).is_empty());
    let of_a_byte =
        |most| Macsec { latency_per_byte: Some(Within::at_most(most)), ..Macsec::off() };
    assert!(paths(of_a_byte(Dur::us(1))).is_empty());
    assert_eq!(paths(of_a_byte(Dur(1_000_001))), ["macsec.latency_per_byte"]);
    assert_eq!(paths(Macsec { encoding_sa: 4, ..Macsec::off() }), ["macsec.encoding_sa"]);
    assert_eq!(paths(pn(&Macsec::off(), 0x1_0000_0000)), ["macsec.next_pn"]);
    assert_eq!(paths(pn(&Macsec::off(), 0)), ["macsec.next_pn"]);
    assert!(paths(pn(&extended, 0x1_0000_0000)).is_empty());
    assert!(paths(Macsec { replay_window: u32::MAX, ..Macsec::off() }).is_empty());
    assert!(paths(Macsec { replay_window: (1 << 30) - 1, ..extended.clone() }).is_empty());
    assert_eq!(paths(Macsec { replay_window: 1 << 30, ..extended }), ["macsec.replay_window"]);
}

#[test]
fn a_longer_frame_takes_longer_by_what_is_declared_of_each_byte() {
    let mut switch = declared().switch().expect("a switch").clone();
    let of = |text: &str| text.parse::<Within>().expect("a range");
    switch.forwarding_delay = of("600ns");
    switch.mtu = Bytes(9_000);
    switch.macsec = Macsec {
        latency: of("100ns..150ns"),
        latency_per_byte: Some(of("50ps..80ps")),
        ..Macsec::off()
    };
    // It takes none of it where no port speaks MACsec.
    assert_eq!([switch.transit(), switch.transit_of(Bytes(9_000))], [of("600ns"); 2]);
    switch.macsec.enable = true;
    // 64 B: 3.2 to 5.12 ns, either way; 9000 B: 450 to 720 ns.
    assert_eq!(switch.transit_of(Bytes(64)), of("806.4ns..910.24ns"));
    assert_eq!(switch.transit_of(Bytes(9_000)), of("1700ns..2340ns"));
    assert_eq!(switch.transit(), of("806.4ns..2340ns"));
    // A PFC frame is 64 B long, and goes past where it is sent in clear.
    switch.macsec.pfc_encryption_mode = PfcMode::Encrypt;
    let response = switch.pfc.response;
    assert_eq!(switch.response(Form::Encrypted), response + of("103.2ns..155.12ns"));
    assert_eq!(switch.response(Form::Clear), response);
    switch.macsec.latency_per_byte = None;
    assert_eq!(switch.transit(), of("800ns..900ns"));
}
