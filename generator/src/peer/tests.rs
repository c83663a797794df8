use super::*;
use rig_frames::mac_control;
use rig_frames::pfc;
use rig_testcases::{CipherSuite, Keys, Secret, wire};
use rig_units::Quanta;

/// Keys that are in no lab.
pub(crate) fn protection(suite: CipherSuite, pfc: Form) -> Protection {
    let secret = |byte: &str, len| Secret::from_hex(&byte.repeat(len)).expect("hexadecimal digits");
    let saks = ["01", "02", "03", "04"].map(|sak| secret(sak, 32));
    let keys = Keys { saks, salt: secret("05", Keys::SALT) };
    Protection { suite, encrypt: true, sci: true, an: 0, next_pn: 1, pfc, keys }
}

fn peer(suite: CipherSuite, pfc: Form, endpoint: EndpointSpec) -> Peer {
    Peer::of(&protection(suite, pfc), 0, endpoint).expect("keys long enough")
}

fn numbers(peer: &mut Peer, macsec_modes: &[MacsecMode]) -> Vec<Option<u64>> {
    let one = |macsec_mode: &MacsecMode| {
        let secured = peer.next(*macsec_mode, false);
        peer.left(*macsec_mode);
        secured.map(|secured| secured.pn)
    };
    macsec_modes.iter().map(one).collect()
}

#[test]
fn every_protected_frame_has_a_number_of_its_own_but_a_late_one() {
    let mut peer = peer(CipherSuite::GcmAes128, Form::Clear, EndpointSpec::default());
    let forged = MacsecMode::Tampered(Tamper::Forged);
    let macsec_modes = [
        MacsecMode::Usual,
        MacsecMode::Clear,
        forged,
        MacsecMode::Late(2),
        MacsecMode::Late(9),
        MacsecMode::Sound,
    ];
    let want = [Some(1), None, Some(2), Some(1), Some(0), Some(3)];
    assert_eq!(numbers(&mut peer, &macsec_modes), want);
    peer.rekey(2);
    assert_eq!(numbers(&mut peer, &[MacsecMode::Usual]), [Some(1)]);
    assert_eq!(peer.next(MacsecMode::Usual, false).map(|secured| secured.an), Some(2));
}

#[test]
fn numbers_of_32_bits_begin_again_and_extended_ones_go_on() {
    let last = EndpointSpec { pn: u32::MAX, ..EndpointSpec::default() };
    for (suite, next) in [(CipherSuite::GcmAes256, 0), (CipherSuite::GcmAesXpn256, 1 << 32)] {
        let mut peer = peer(suite, Form::Clear, last);
        let want = [Some(u32::MAX.into()), Some(next)];
        assert_eq!(numbers(&mut peer, &[MacsecMode::Usual; 2]), want, "{suite:?}");
    }
}

#[test]
fn pfc_is_protected_as_the_device_protects_its_own_unless_something_else_is_asked_for() {
    for (form, usual) in [(Form::Clear, false), (Form::Encrypted, true)] {
        let peer = peer(CipherSuite::GcmAes128, form, EndpointSpec::default());
        assert_eq!(peer.next(MacsecMode::Usual, true).is_some(), usual);
        assert!(
            peer.next(MacsecMode::Sound, true).is_some()
                && peer.next(MacsecMode::Usual, false).is_some()
        );
        assert!(peer.next(MacsecMode::Clear, true).is_none());
        let wrong =
            peer.next(MacsecMode::Tampered(Tamper::WrongSci), true).expect("it is protected");
        assert_eq!((wrong.tamper, wrong.sci), (Some(Tamper::WrongSci), true));
    }
}

#[test]
fn pfc_is_obeyed_in_the_forms_that_the_port_takes_and_only_when_it_is_sound() {
    let xoff = mac_control::frame_pfc(wire::dut_mac(0), &pfc::Repr::all(8, Quanta(9)));
    let cable = Cable::of(&protection(CipherSuite::GcmAes128, Form::Clear), 0).expect("keys");
    let sealed = |tamper| {
        let secured = Secured { an: 0, pn: 1, encrypted: true, sci: true, tamper };
        cable.seal(End::Dut, &secured, &xoff)
    };
    for (takes, clear, behind) in
        [(Takes::Either, true, true), (Takes::Clear, true, false), (Takes::Encrypted, false, true)]
    {
        let endpoint = EndpointSpec { pfc: takes, ..EndpointSpec::default() };
        let mut peer = peer(CipherSuite::GcmAes128, Form::Clear, endpoint);
        assert_eq!(peer.heeds(&xoff).as_deref(), clear.then_some(&*xoff), "{takes:?}");
        assert_eq!(peer.heeds(&sealed(None)).as_deref(), behind.then_some(&*xoff), "{takes:?}");
        assert_eq!(peer.heeds(&sealed(Some(Tamper::Forged))), None);
        let mut data = sealed(None);
        data[..6].copy_from_slice(&wire::rig_mac(0).0);
        assert_eq!(peer.heeds(&data), None, "data is not opened here");
    }
}
