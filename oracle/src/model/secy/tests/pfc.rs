//! PFC under every policy, in either form and both ways.

use super::*;

fn mode(mode: PfcMode) -> SecY {
    SecY::new(&config(|macsec| {
        macsec.pfc_encryption_mode = mode;
        // 300 ns for the 64 B of a PFC frame.
        macsec.latency = Dur::ns(236).into();
        macsec.latency_per_byte = Some(Dur::ns(1).into());
    }))
}

#[test]
fn each_mode_does_with_each_form_what_it_says_and_counts_it() {
    use PfcMode::{Bypass, ClearOnly, Encrypt, EncryptedOnly, StrictEncrypt};
    let none = Counters::default();
    let (no_tag, ok) = (Counters { no_tag: 1, ..none }, Counters { ok: 1, ..none });
    let in_errors = 1;
    for (name, clear, protected) in [
        (Bypass, (true, none), (false, ok)),
        (Encrypt, (true, none), (true, ok)),
        (StrictEncrypt, (false, no_tag), (true, ok)),
        (ClearOnly, (true, none), (false, Counters { in_errors, ..ok })),
        (EncryptedOnly, (false, Counters { in_errors, ..no_tag }), (true, ok)),
    ] {
        for (frame, (obeys, counted), later) in
            [(pause(), clear, Dur::ZERO), (pause().secured(TAG), protected, Dur::ns(300))]
        {
            let mut secy = mode(name);
            let want = if obeys { Received::Pfc(pause(), later.into()) } else { Received::Gone };
            assert_eq!((secy.receive(&frame), *secy.counters()), (want, counted), "{name:?}");
        }
    }
}

#[test]
fn each_mode_sends_in_its_form_and_data_behind_a_tag_in_all() {
    for (name, is_protected) in [
        (PfcMode::Bypass, false),
        (PfcMode::Encrypt, true),
        (PfcMode::StrictEncrypt, true),
        (PfcMode::ClearOnly, false),
        (PfcMode::EncryptedOnly, true),
    ] {
        let mut secy = mode(name);
        let sent = |secy: &mut SecY, frame| secy.transmit(&frame).map(|frame| frame.is_secured());
        assert_eq!(sent(&mut secy, pause()), Some(is_protected), "{name:?}");
        assert_eq!(secy.counters().out_encrypted, u64::from(is_protected));
        assert_eq!(sent(&mut secy, data()), Some(true));
        let later = if is_protected { Dur::ns(300) } else { Dur::ZERO };
        assert_eq!(secy.config.emission(), later.into());
    }
}

#[test]
fn what_is_set_by_itself_goes_over_the_mode() {
    let mut secy = SecY::new(&config(|macsec| {
        macsec.pfc_encryption_mode = PfcMode::Encrypt;
        macsec.pfc_clear = Some(Reception::Bad);
        macsec.pfc_encrypted = Some(Reception::Ignore);
        macsec.pfc_sent = Some(Form::Clear);
    }));
    assert_eq!(through(&mut secy, &[pause(), pause().secured(TAG)]), [false, false]);
    assert_eq!(secy.transmit(&pause()), Some(pause()));
    let counted = Counters { ok: 1, no_tag: 1, in_errors: 1, ..Counters::default() };
    assert_eq!(*secy.counters(), counted);
}

#[test]
fn a_protected_pfc_frame_passes_the_checks_of_any_frame() {
    let none = Counters::default();
    for (tamper, counted) in [
        (Tamper::Truncated, Counters { bad_tag: 1, ..none }),
        (Tamper::WrongSci, Counters { no_sci: 1, ..none }),
        (Tamper::Forged, Counters { not_valid: 1, ..none }),
        (Tamper::WrongKey, Counters { not_valid: 1, ..none }),
    ] {
        let mut secy = mode(PfcMode::Encrypt);
        let frame = pause().secured(Tag { tamper: Some(tamper), ..TAG });
        assert_eq!((secy.receive(&frame), *secy.counters()), (Received::Gone, counted));
    }
}
