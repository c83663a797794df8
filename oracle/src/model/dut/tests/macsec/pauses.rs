//! PFC between the device and the rig, in either form and both ways, and what MACsec costs its effect.

use super::*;

#[test]
fn the_device_obeys_the_forms_of_its_mode() {
    for (mode, clear, protected) in [
        ("bypass", true, false),
        ("encrypt", true, true),
        ("strict_encrypt", false, true),
        ("clear_only", true, false),
        ("encrypted_only", false, true),
    ] {
        let paused = |macsec_mode| Rig::of(case(mode)).pauses(0, macsec_mode);
        assert_eq!(
            (paused(MacsecMode::Clear), paused(MacsecMode::Sound)),
            (clear, protected),
            "{mode}"
        );
        assert!(!paused(MacsecMode::Tampered(Tamper::Forged)), "{mode}");
    }
}

#[test]
fn pfc_of_a_form_that_is_bad_is_an_error_of_the_port() {
    let errors = |mode, macsec_mode| {
        let mut rig = Rig::of(case(mode));
        rig.pauses(0, macsec_mode);
        rig.counter(0, "PORT_STAT_IF_IN_ERRORS")
    };
    assert_eq!(
        (errors("clear_only", MacsecMode::Sound), errors("clear_only", MacsecMode::Clear)),
        (1, 0)
    );
    assert_eq!(errors("encrypted_only", MacsecMode::Clear), 1);
    assert_eq!(
        (errors("strict_encrypt", MacsecMode::Clear), errors("bypass", MacsecMode::Sound)),
        (0, 0)
    );
}

/// Host 0 fills its group towards host 1, which is paused; what host 0 hears of PFC within a millisecond.
fn told(case: Case) -> Rig {
    let mut rig = Rig::of(case.with("buffer.static_th", "100KB"));
    rig.pauses(1, MacsecMode::Usual);
    rig.send(0, 1, 300, MacsecMode::Usual);
    rig
}

#[test]
fn the_device_sends_pfc_in_the_form_of_its_mode_and_a_peer_obeys_what_it_reads() {
    for (mode, is_protected) in [("encrypt", true), ("strict_encrypt", true)] {
        let rig = told(case(mode));
        let told = rig.received(0, PacketKind::Pfc);
        assert!(!told.is_empty() && told.iter().all(|pfc| pfc.is_secured() == is_protected));
        let paused = rig.dut.network().host(0).pauses(3, rig.dut.now()).frames;
        assert_eq!(paused, told.len() as u64);
    }
    let rig = told(case("encrypt").with("macsec.pfc_sent", "clear"));
    assert!(rig.received(0, PacketKind::Pfc).iter().all(|pfc| !pfc.is_secured()));
}

#[test]
fn a_peer_that_refuses_a_form_is_not_paused_by_it() {
    let frames = |clear, encrypted, sent: &str| {
        let case = case("encrypt").with("buffer.static_th", "100KB");
        let mut rig = Rig::of(case.with("macsec.pfc_sent", sent));
        let obeys = Obeys { clear, encrypted };
        rig.dut.rig().secure(0, Some(Security { obeys, ..PEER }));
        rig.pauses(1, MacsecMode::Usual);
        rig.send(0, 1, 300, MacsecMode::Usual);
        rig.dut.network().host(0).pauses(3, rig.dut.now()).frames
    };
    assert!(frames(true, false, "clear") > 0 && frames(false, true, "encrypted") > 0);
    assert_eq!((frames(false, true, "clear"), frames(true, false, "encrypted")), (0, 0));
}

/// When host 0 hears its first XOFF.
fn first_xoff(case: Case) -> Time {
    let rig = told(case);
    let mut heard = rig
        .seen
        .iter()
        .filter(|seen| (seen.1, seen.2, seen.3.kind) == (0, Dir::Rx, PacketKind::Pfc));
    heard.next().map(|seen| seen.0).expect("it is told")
}

#[test]
fn xoff_takes_the_latency_where_it_is_protected_and_not_in_clear() {
    for (mode, later) in [("encrypt", Dur::ns(300)), ("clear_only", Dur::ZERO)] {
        // The peer's frames have to be of the form that this mode obeys.
        let sent = |latency: &str| {
            let case = case(mode).with("macsec.latency", latency);
            first_xoff(case.with("macsec.pfc_encrypted", "honour"))
        };
        assert_eq!(sent("300ns"), sent("0ms") + later, "{mode}");
    }
}

/// When the gate of class 3 closes after a PFC frame of host 0: the last start of a frame of that class lies before it.
fn last_frame(case: Case, macsec_mode: MacsecMode) -> Time {
    let mut rig = Rig::of(case.with("pfc.response", "1us"));
    let flood = Stream { pace: Pace::every(Dur::ns(90)), ..stream(1, 0, MacsecMode::Usual) };
    rig.dut.rig().start_stream(1, &flood);
    rig.run(Dur::us(30));
    rig.pauses(0, macsec_mode);
    let received = rig
        .seen
        .iter()
        .filter(|seen| (seen.1, seen.2, seen.3.kind) == (0, Dir::Rx, PacketKind::Data));
    received.map(|seen| seen.0).max().expect("some")
}

#[test]
fn a_pause_takes_effect_later_by_the_latency_where_it_was_protected() {
    let at = |latency, macsec_mode| {
        last_frame(case("encrypt").with("macsec.latency", latency), macsec_mode)
    };
    // Frames come every 90 ns, and 450 ns are five of them: the last one lies as it did to the gate.
    for (macsec_mode, later) in [(MacsecMode::Sound, Dur::ns(450)), (MacsecMode::Clear, Dur::ZERO)]
    {
        assert_eq!(at("450ns", macsec_mode), at("0ms", macsec_mode) + later, "{macsec_mode:?}");
    }
}
