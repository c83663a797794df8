//! MACsec on a port of the device.

use super::given::{Ran, Word};
use rig_capture::{Dir, Span};
use rig_units::Time;

/// A probe that leaves by a port while PFC in clear comes in by it, from 2 ms to 4 ms.
fn stormed(mode: &str, measure: &str) -> Ran {
    stormed_and((mode, ""), measure)
}

/// The same with further steps.
fn stormed_and((mode, steps): (&str, &str), measure: &str) -> Ran {
    Ran::of(
        "broadcom",
        &format!(
            "    dut: {{pfcwd: {{detection_time: 5000ms}}, macsec: {{enable: true, pfc_encryption_mode: {mode}}}}}
    streams: {{probe: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 50us}}}}
    storms: {{hold: {{from: p2, classes: [3], macsec: clear}}}}
    taps: {{p1: all, p2: all}}
    trials: 1
    steps:
      - {{at: 0ms, start: probe, for: 8ms}}
      - {{at: 2ms, start: hold, for: 2ms}}
{steps}    length: 20ms
    measure: [{measure}]
"
        ),
    )
}

const PFC: &str = "{macsec.pfc: {storm: hold, stream: probe}}";

#[test]
fn no_frame_leaves_from_the_response_to_the_last_word_of_a_storm_that_is_obeyed() {
    let ran = stormed("bypass", PFC);
    assert_eq!(ran.as_seen().spans("macsec.pfc"), (Span::exactly(0), Span::exactly(0)));
    // The first bit of the storm's first frame is on the cable at 2 ms; response and the largest frame later nothing leaves.
    let one = |late_first: bool, by: i64| {
        let said = ran.changed(|seen| {
            let words = seen.words(1, Dir::Tx, true);
            let word = if late_first { words[0] } else { *words.last().expect("words") };
            // Both are a cable away from the device.
            let at = seen.observation.records[word].at.0 + 2 * seen.observation.ports[1].cable.0;
            let settled = if late_first { 2_020_000 + (9_122 + 20) * 80 } else { 0 };
            let at = (at + settled).checked_add_signed(by).expect("a time");
            let sent = seen.frames(0, Dir::Rx)[0];
            seen.observation.records[sent].at = Time(at);
            seen.shift(sent, 0);
        });
        said.word("macsec.pfc")
    };
    let fails = Word::Fail("1 of 38 frames left".to_owned());
    let left = |word: Word| matches!(word, Word::Fail(_));
    assert_eq!(one(true, -1), Word::Pass);
    assert!(left(one(true, 0)), "{:?} {fails:?}", one(true, 0));
    assert!(left(one(false, -1)));
    assert_eq!(one(false, 0), Word::Pass);
}

#[test]
fn every_frame_leaves_while_a_storm_is_not_obeyed() {
    let ran = stormed("strict_encrypt", PFC);
    let (read, want) = ran.as_seen().spans("macsec.pfc");
    assert!(read.meets(want) && want.lo > 30, "{read:?} {want:?}");
    let lost = |count: u64| {
        let said = ran.changed(|seen| {
            for _ in 0..count {
                let at = |record: &usize| seen.observation.records[*record].at;
                let storm = Time(3_000_000_000);
                let arrivals = seen.frames(0, Dir::Rx);
                let one = *arrivals.iter().find(|one| at(one) > storm).expect("a frame");
                seen.lose(one);
            }
        });
        said.word("macsec.pfc")
    };
    assert_eq!(lost(read.lo - want.lo), Word::Pass);
    assert!(matches!(lost(read.lo - want.lo + 1), Word::Fail(_)));
}

#[test]
fn what_a_pause_that_is_obeyed_keeps_past_the_storm_is_not_missed() {
    // 60 000 quanta are 307.2 us: until 3.957 ms, where the storm's last word comes at 3.845 ms. Four frames come meanwhile.
    let pause = "      - {at: 3650us, pfc: {from: p2, classes: [3], quanta: 60000q}}\n";
    let with = stormed_and(("strict_encrypt", pause), PFC).as_seen();
    let (read, want) = with.spans("macsec.pfc");
    let whole = stormed("strict_encrypt", PFC).as_seen().spans("macsec.pfc").1;
    assert!((3..=5).contains(&(whole.lo - want.lo)), "{whole:?} {want:?}");
    assert!(with.passes("macsec.pfc") && read.lo < whole.lo, "{read:?} {whole:?}");
}

#[test]
fn one_frame_that_is_not_as_declared_is_one_too_many() {
    let ran = stormed("bypass", "{macsec.frames: {port: p2}}");
    assert_eq!(ran.as_seen().word("macsec.frames"), Word::Pass);
    for what in ["clear", "number", "association"] {
        let said = ran.changed(|seen| {
            let one = seen.frames(0, Dir::Rx)[5];
            let secured = &mut seen.observation.records[one].secured;
            match (what, secured.as_mut()) {
                ("number", Some(tag)) => tag.pn += 1,
                ("association", Some(tag)) => tag.an ^= 1,
                _ => *secured = None,
            }
        });
        assert!(said.fails("macsec.frames"), "{what}: {:?}", said.word("macsec.frames"));
    }
}

#[test]
fn what_becomes_of_each_frame_is_counted_to_the_frame_and_octet() {
    // 160 frames; what protection leaves outside is 12 B of addresses and the FCS.
    let ran = stormed("bypass", "{macsec.counters: {port: p1}}");
    ran.holds_counters(
        "macsec.counters",
        &[
            ("Ethernet0 SAI_MACSEC_SA_STAT_IN_PKTS_OK", 160),
            ("Ethernet0 SAI_MACSEC_SA_STAT_IN_PKTS_NOT_VALID", 0),
            ("Ethernet0 SAI_MACSEC_SA_STAT_IN_PKTS_LATE", 0),
            ("Ethernet0 SAI_MACSEC_SA_STAT_IN_PKTS_DELAYED", 0),
            ("Ethernet0 SAI_MACSEC_SA_STAT_IN_PKTS_NOT_USING_SA", 0),
            ("Ethernet0 SAI_MACSEC_FLOW_STAT_IN_PKTS_NO_TAG", 0),
            ("Ethernet0 SAI_PORT_STAT_IF_IN_ERRORS", 0),
        ],
    );
    let ran = stormed("bypass", "{macsec.counters: {port: p2}}");
    ran.holds_counters(
        "macsec.counters",
        &[
            ("Ethernet4 SAI_MACSEC_SA_STAT_OUT_PKTS_ENCRYPTED", 160),
            ("Ethernet4 SAI_MACSEC_SA_STAT_OCTETS_ENCRYPTED", 160 * (1024 - 16)),
            ("Ethernet4 SAI_MACSEC_SA_STAT_OUT_PKTS_PROTECTED", 0),
            ("Ethernet4 SAI_MACSEC_SA_STAT_OCTETS_PROTECTED", 0),
        ],
    );
}
