//! Reliable connections: what gets through, by when, and how a loss is told and mended.

use super::given::{Ran, Seen, Word};
use rig_capture::{Dir, Span, What};
use rig_frames::ip::Ecn;
use rig_lab::{Profile, Setting};
use rig_testcases::{Roce, RoceKind};
use serde_json::{Value, json};

/// Six messages of 16 packets, of which packet 40 is lost once.
fn holed(measure: &str) -> Ran {
    holed_of(measure, |_| ())
}

/// The same between NICs of which something is changed.
pub(super) fn holed_of(measure: &str, change: impl FnOnce(&mut Profile)) -> Ran {
    Ran::with(
        "gen2-to-gen2",
        &format!(
            "    dut: {{nic: {{generation: gen2, rc: {{ack_every: 1, timeout: 0}}}}, peer: {{generation: gen2, rc: {{ack_every: 1, timeout: 0}}}}}}
    between: {{delay: 500ns, inject: [{{on: sender, frames: data, psn: 40, do: drop, iteration: 1}}]}}
    flows: {{sender: {{nic: p1, to: p2, class: 3, verb: write, message: 16KiB, mtu: 1024B, count: 6}}}}
    steps: [{{at: 0us, start: sender}}]
    length: 100us
    trials: 1
    measure: [{measure}]
"
        ),
        change,
    )
}

/// How far something comes by itself: when the last message is through, or how fast.
fn read(measure: &str, text: &str) -> u64 {
    let ran = holed(text);
    let said = ran.as_seen();
    let last = said.of(measure).last().expect("it was judged");
    assert_eq!(last.reading.span.lo, last.reading.span.hi);
    last.reading.span.lo
}

#[test]
fn the_last_message_is_through_by_its_picosecond() {
    let at = read("rc.completion", "{rc.completion: {flow: sender}}");
    let by = |at: u64| {
        let (us, ps) = (at / 1_000_000, at % 1_000_000);
        let ran = holed(&format!("{{rc.completion: {{flow: sender, by: {us}.{ps:06}us}}}}"));
        ran.as_seen().word("rc.completion")
    };
    assert_eq!((by(at), by(at + 1)), (Word::Pass, Word::Pass));
    assert!(matches!(by(at - 1), Word::Fail(_)));
}

#[test]
fn as_many_messages_get_through_as_are_to() {
    let unfinished = |but: &str| {
        let ran = holed(&format!("{{rc.completion: {{flow: sender{but}}}}}"));
        // The last acknowledgement never came.
        let said = ran.changed(|seen| {
            let last = *acks(seen).last().expect("acknowledgements");
            seen.lose(last);
        });
        let whole = ran.as_seen().word("rc.completion");
        (whole == Word::Pass, said.word("rc.completion") == Word::Pass)
    };
    assert_eq!(unfinished(""), (true, false));
    assert_eq!(unfinished(", unfinished: 1"), (false, true));
}

/// What reaches the sender.
fn acks(seen: &Seen<'_>) -> Vec<usize> {
    seen.roce(0, Dir::Tx, |kind| kind == RoceKind::Ack)
}

#[test]
fn a_goodput_is_right_to_the_bit_a_second() {
    let bps = read("rate.goodput", "{rate.goodput: {flow: sender, at_least: 1000000000bps-L2}}");
    let wanted = |bound: &str, bps: u64| {
        let ran = holed(&format!("{{rate.goodput: {{flow: sender, {bound}: {bps}bps-L2}}}}"));
        ran.as_seen().passes("rate.goodput")
    };
    assert!(wanted("at_least", bps) && !wanted("at_least", bps + 1));
    assert!(wanted("at_most", bps) && !wanted("at_most", bps - 1));
}

#[test]
fn a_sender_goes_back_once_and_to_the_packet_that_is_missing() {
    let ran = holed("{rc.sender: {flow: sender}}");
    assert_eq!(ran.as_seen().word("rc.sender"), Word::Pass);
    let data =
        |seen: &Seen<'_>| seen.roce(0, Dir::Rx, |kind| matches!(kind, RoceKind::Data { .. }));
    for nth in [10, 39, 60] {
        let less = ran.changed(|seen| {
            let one = data(seen)[nth];
            seen.lose(one);
        });
        assert!(less.fails("rc.sender"), "without {nth}: {:?}", less.word("rc.sender"));
        let twice = ran.changed(|seen| {
            let one = seen.observation.records[data(seen)[nth]];
            seen.add(one);
        });
        assert!(twice.fails("rc.sender"), "{nth} twice: {:?}", twice.word("rc.sender"));
    }
}

#[test]
fn a_receiver_names_a_hole_once_and_acknowledges_the_rest() {
    let ran = holed("{rc.receiver: {flow: sender}}");
    assert_eq!(ran.as_seen().word("rc.receiver"), Word::Pass);
    for kind in [RoceKind::Nak, RoceKind::Ack] {
        let of = |seen: &Seen<'_>| seen.roce(1, Dir::Rx, |one| one == kind)[0];
        let less = ran.changed(|seen| {
            let one = of(seen);
            seen.lose(one);
        });
        assert!(less.fails("rc.receiver"), "{kind:?} missing: {:?}", less.word("rc.receiver"));
        let twice = ran.changed(|seen| {
            let one = seen.observation.records[of(seen)];
            seen.add(one);
        });
        assert!(twice.fails("rc.receiver"), "{kind:?} twice: {:?}", twice.word("rc.receiver"));
    }
    assert_eq!(ran.as_seen().spans("rc.receiver").1, Span::exactly(0));
}

#[test]
fn one_frame_with_an_icrc_that_does_not_fit_is_one_too_many_for_whatever_looks_at_it() {
    let ran = holed("{rc.sender: {flow: sender}}, {rc.receiver: {flow: sender}}");
    let spoilt = |port: u16, kind: fn(RoceKind) -> bool| {
        let said = ran.changed(|seen| {
            let one = seen.roce(port, Dir::Rx, kind)[7];
            let What::Roce(roce) = &mut seen.observation.records[one].what else { return };
            roce.corrupt = true;
        });
        ["rc.sender", "rc.receiver"].map(|measure| said.word(measure))
    };
    let fails = |word: &Word, of: &str| match word {
        Word::Fail(why) => {
            why.starts_with("1 of ") && why.contains(of) && why.ends_with("ICRC that does not fit")
        }
        _ => false,
    };
    let [sender, receiver] = spoilt(0, |kind| matches!(kind, RoceKind::Data { .. }));
    assert!(fails(&sender, "packets of data") && receiver == Word::Pass, "{sender:?} {receiver:?}");
    let [sender, receiver] = spoilt(1, |kind| kind == RoceKind::Ack);
    assert!(fails(&receiver, "answers") && sender == Word::Pass, "{sender:?} {receiver:?}");
}

#[test]
fn every_frame_of_a_connection_has_its_dscp() {
    let ran = holed("{rc.class: {port: p1}}, {rc.class: {port: p2}}");
    assert_eq!(ran.as_seen().word("rc.class"), Word::Pass);
    let edited = |port: u16, kind: fn(RoceKind) -> bool, edit: fn(&mut Roce)| {
        let said = ran.changed(|seen| {
            let one = seen.roce(port, Dir::Rx, kind)[0];
            let What::Roce(roce) = &mut seen.observation.records[one].what else { return };
            edit(roce);
        });
        said.word("rc.class")
    };
    let other = |port, kind| edited(port, kind, |roce| roce.dscp ^= 1);
    let incapable = |port, kind| edited(port, kind, |roce| roce.ecn = Ecn::NotEct);
    let fails = |word: Word, what: &str| match word {
        Word::Fail(why) => why.starts_with(what) && !why.contains("more"),
        _ => false,
    };
    assert!(fails(other(0, |kind| matches!(kind, RoceKind::Data { .. })), "a packet of data"));
    assert!(fails(other(1, |kind| kind == RoceKind::Ack), "an acknowledgement"));
    assert!(fails(other(1, |kind| kind == RoceKind::Nak), "a NAK"));
    assert!(fails(incapable(0, |kind| matches!(kind, RoceKind::Data { .. })), "a packet of data"));
    assert_eq!(incapable(1, |kind| kind == RoceKind::Ack), Word::Pass);
}

/// The same flow where less is enough if what is declared leaves no more, on a device that departs from that.
fn content(measure: &str, mutant: Option<&str>) -> Word {
    let ran = holed_of(measure, |profile| {
        if let Some(mutant) = mutant {
            profile.mutate(&mutant.parse().expect("a departure")).expect("it has that");
        }
    });
    let (name, _) = measure.trim_start_matches('{').split_once(':').expect("a measure");
    ran.as_seen().word(name)
}

#[test]
fn no_more_is_wanted_than_what_is_declared_leaves_and_no_less() {
    for wants in [
        "rc.completion: {flow: sender, by: 9us",
        "rate.goodput: {flow: sender, at_least: 90Gbps-L2",
    ] {
        assert_ne!(content(&format!("{{{wants}}}}}"), None), Word::Pass, "{wants}");
        let declared = format!("{{{wants}, or: declared}}}}");
        assert_eq!(content(&declared, None), Word::Pass, "{wants}");
        let slow = content(&declared, Some("nic.rc.resend_latency=x8"));
        assert!(matches!(slow, Word::Fail(_)), "{wants}: {slow:?}");
    }
}

#[test]
fn what_is_predicted_of_a_goodput_holds_what_a_healthy_nic_gets_through_and_little_else() {
    let of = |mutant: Option<&str>| {
        let text = "    dut: {nic: {generation: gen2}, peer: {generation: gen2}}
    between: {delay: 500ns, inject: [{on: sender, frames: data, during: 20us, every: 100us, do: ce}]}
    flows: {sender: {nic: p1, to: p2, class: 3, verb: write, message: 16KiB, mtu: 1024B}}
    steps: [{at: 0us, start: sender, for: 400us}]
    length: 500us
    trials: 1
    measure: [{rate.goodput: {flow: sender, expect: predicted}}]
";
        Ran::with("gen2-to-gen2", text, |profile| {
            if let Some(mutant) = mutant {
                profile.mutate(&mutant.parse().expect("a departure")).expect("it has that");
            }
        })
    };
    let ran = of(None);
    let ran = ran.as_seen();
    let (got, want) = ran.spans("rate.goodput");
    assert!(want.lo < got.lo && got.hi < want.hi, "{got:?} {want:?}");
    // What acknowledgements may wait for leaves a hundredth of so short a flow open.
    assert!(want.hi - want.lo < want.lo / 50, "{want:?}");
    for departs in ["nic.rp.timer=x2", "nic.rp.enable=false", "deviation=line_rate_halved"] {
        let wrong = of(Some(departs));
        let word = wrong.as_seen().word("rate.goodput");
        assert!(matches!(word, Word::Fail(_)), "{departs}: {word:?}");
    }
}

/// Two NICs of which some fields are declared as given.
pub(super) fn declared(fields: &[(&str, Value)]) -> impl FnOnce(&mut Profile) {
    move |device| {
        for (path, value) in fields {
            let setting = Setting { path: (*path).to_owned(), value: value.clone() };
            device.declared = device.declared.with(&setting).expect("a field");
        }
    }
}

#[test]
fn what_an_atomic_operation_found_is_said_at_once_whatever_acknowledgements_are_held_for() {
    let case = "    dut: {nic: {generation: gen2, rc: {ack_every: 1}}, peer: {generation: gen2, rc: {ack_every: 1}}}
    flows: {flow: {nic: p1, to: p2, class: 3, verb: fetch-add, message: 8B, mtu: 1024B, count: 30}}
    steps: [{at: 0us, start: flow}]
    length: 300us
    trials: 1
    measure: [{rc.receiver: {flow: flow}}, {rc.atomic: {flow: flow}}]
";
    let held = json!({"min": "1us", "max": "2us"});
    let ran = Ran::with("gen2-to-gen2", case, declared(&[("peer.rc.ack_held", held)]));
    assert_eq!(ran.as_seen().wrong(), "");
    // Nor does a later one stand for one that is missing.
    let without = ran.changed(|seen| {
        let answers = seen.roce(1, Dir::Rx, |kind| kind == RoceKind::Ack);
        seen.lose(answers[answers.len() / 2]);
    });
    assert!(without.fails("rc.receiver"));
}

#[test]
fn who_goes_back_waits_for_the_bursts_of_others() {
    let case = "    dut: {nic: {generation: gen2, rc: {ack_every: 1, timeout: 0}}, peer: {generation: gen2, rc: {ack_every: 1, timeout: 0}}}
    between: {delay: 500ns, inject: [{on: holed, frames: data, psn: 40, do: drop, iteration: 1}]}
    flows:
      holed: {nic: p1, to: p2, class: 3, verb: write, message: 16KiB, mtu: 1024B, count: 12}
      beside: {nic: p1, to: p2, class: 3, verb: write, message: 16KiB, mtu: 1024B, count: 12}
      third: {nic: p1, to: p2, class: 3, verb: write, message: 16KiB, mtu: 1024B, count: 12}
    steps: [{at: 0us, start: [holed, beside, third]}]
    length: 500us
    trials: 1
    measure: [{rc.sender: {flow: holed}}]
";
    for us in 1..12 {
        let fields = [
            ("nic.rp.limiting", json!("burst")),
            ("nic.rc.resend_latency", json!(format!("{us}us"))),
        ];
        let ran = Ran::with("gen2-to-gen2", case, declared(&fields));
        assert_eq!(ran.as_seen().wrong(), "", "{us} us");
    }
}
