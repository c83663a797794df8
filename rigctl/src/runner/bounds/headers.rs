//! What stands in headers and comes with messages, to the frame.

use super::given::{Ran, Word};
use rig_capture::{Dir, What};
use rig_testcases::{Roce, RoceKind};

/// A WRITE with immediate data, a SEND and additions between two NICs.
fn flows() -> Ran {
    let text = "    between: {delay: 500ns}
    flows:
      writer: {nic: p1, to: p2, class: 3, verb: write-immediate, message: 4KiB, mtu: 1024B, count: 3}
      other: {nic: p1, to: p2, class: 3, verb: send, message: 4KiB, mtu: 1024B, count: 3}
      adder: {nic: p1, to: p2, class: 3, verb: fetch-add, message: 8B, mtu: 1024B, count: 6}
    steps: [{at: 0us, start: [writer, other, adder]}]
    length: 100us
    trials: 1
    measure:
      - rc.mig_req: {port: p1}
      - rc.source_port: {port: p1}
      - rc.immediate: {flow: writer}
      - rc.atomic: {flow: adder}
      - rc.receiver: {flow: adder}
";
    let ran = Ran::of("gen2-to-gen2", text);
    assert_eq!(ran.as_seen().wrong(), "");
    ran
}

/// What a measure says once frames that a port took in are changed: the `nth` of those that `is` names, or all of them.
fn word(
    ran: &Ran,
    measure: &str,
    (port, nth): (u16, Option<usize>),
    is: fn(&Roce) -> bool,
    edit: fn(&mut Roce),
) -> Word {
    let said = ran.changed(|seen| {
        let own = seen.roce(port, Dir::Rx, |_| true).into_iter();
        let named =
            |at: &usize| matches!(seen.observation.records[*at].what, What::Roce(one) if is(&one));
        let own: Vec<usize> = own.filter(named).collect();
        let all = match nth {
            Some(nth) => own[nth..=nth].to_vec(),
            None => own,
        };
        for at in all {
            if let What::Roce(one) = &mut seen.observation.records[at].what {
                edit(one);
            }
        }
    });
    said.word(measure)
}

/// Whether a measure failed, and for this.
fn fails(word: &Word, why: &str) -> bool {
    matches!(word, Word::Fail(got) if got.contains(why))
}

fn any(_: &Roce) -> bool {
    true
}

#[test]
fn one_frame_with_migreq_clear_is_one_too_many() {
    let ran = flows();
    let got = word(&ran, "rc.mig_req", (0, Some(5)), any, |one| one.mig_req = false);
    assert!(fails(&got, "a packet of data with MigReq clear"), "{got:?}");
}

#[test]
fn a_connection_has_one_port_and_not_that_of_all_others() {
    let ran = flows();
    let of = |nth, edit| word(&ran, "rc.source_port", (0, nth), any, edit);
    let got = of(Some(5), |one| one.udp_src ^= 0x1000);
    assert!(fails(&got, "where its connection began with 4915"), "{got:?}");
    assert!(fails(&of(None, |one| one.udp_src = 0xbfff), "from UDP port 49151, and"));
    let got = of(None, |one| one.udp_src = 0xc000);
    assert!(fails(&got, "from UDP port 49152, as all of 3 connections"), "{got:?}");
    // Two may have the same: a NIC makes fourteen bits of what it knows of a connection.
    assert_eq!(of(None, |one| one.udp_src = 0xffff - one.connection / 2), Word::Pass);
}

#[test]
fn one_message_without_its_immediate_data_is_one_too_many() {
    let ran = flows();
    let got = word(&ran, "rc.immediate", (0, Some(1)), |one| one.tail, |one| one.tail = false);
    assert!(fails(&got, "1 of 3 without, the first at PSN 7"), "{got:?}");
}

#[test]
fn an_atomic_operation_finds_one_more_than_the_one_before() {
    let ran = flows();
    let of = |nth, edit| word(&ran, "rc.atomic", (1, nth), |one| one.found.is_some(), edit);
    let got = of(Some(3), |one| one.found = one.found.map(|found| found + 1));
    assert!(fails(&got, "PSN 3 found 4 where 3 was due"), "{got:?}");
    let got = of(Some(3), |one| one.found = None);
    assert!(fails(&got, "PSN 3 was acknowledged without what it found"), "{got:?}");
    // Nobody knows what was there before.
    let all = of(None, |one| one.found = one.found.map(|found| found.wrapping_sub(3)));
    assert_eq!(all, Word::Pass);
}

#[test]
fn an_operation_that_comes_again_finds_what_it_found() {
    let ran = flows();
    let twice = |more: u32| {
        let said = ran.changed(|seen| {
            let acks = seen.roce(1, Dir::Rx, |kind| kind == RoceKind::Ack).into_iter();
            let one = acks
                .map(|at| seen.observation.records[at])
                .find(|one| matches!(one.what, What::Roce(roce) if roce.found == Some(4)));
            let mut one = one.expect("the fifth answer");
            if let What::Roce(roce) = &mut one.what {
                roce.found = Some(4 + more);
            }
            seen.add(one);
        });
        said.word("rc.atomic")
    };
    assert_eq!(twice(0), Word::Pass);
    assert!(fails(&twice(1), "PSN 4 found 5 where 4 was due"));
}

#[test]
fn what_an_operation_that_comes_late_is_answered_with_is_left_open() {
    let ran = flows();
    let again = |later: usize| {
        let said = ran.changed(|seen| {
            let is = |kind| matches!(kind, RoceKind::Data { .. });
            let of_adder = |at: &usize| {
                matches!(seen.observation.records[*at].what, What::Roce(one) if one.connection == 2)
            };
            let sent: Vec<usize> = seen.roce(1, Dir::Tx, is).into_iter().filter(of_adder).collect();
            let mut one = seen.observation.records[sent[3]];
            one.at = seen.observation.records[sent[3 + later]].at;
            seen.add(one);
        });
        (said.wrong().contains("came again after a later one"), said.fails("rc.atomic"))
    };
    assert_eq!(again(1), (true, false));
    assert!(!again(0).0);
}
