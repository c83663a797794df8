//! Whether steps of an application come in their order: to the picosecond.

use super::given::{Ran, Seen, Word};
use rig_capture::{Dir, What};
use rig_testcases::RoceKind;

/// Three rounds of a WRITE of two packets, a word that it is done, and an answer 2 us later, two rounds at a time.
fn played() -> Ran {
    Ran::of(
        "gen2-to-gen2",
        "    dut: {nic: {generation: gen2, rc: {ack_every: 1, timeout: 0}}, peer: {generation: gen2, rc: {ack_every: 1, timeout: 0}}}
    between: {delay: 1us}
    flows:
      data: {nic: p1, to: p2, class: 3, verb: write, message: 2KiB, mtu: 1024B}
      done: {nic: p1, to: p2, class: 3, verb: send, message: 64B, mtu: 1024B}
      reply: {nic: p2, to: p1, class: 3, verb: send, message: 64B, mtu: 1024B}
    apps: {medium: {steps: [data, done, {flow: reply, think: 2us}], rounds: 3, credits: 2}}
    steps: [{at: 0us, start: medium}]
    length: 100us
    trials: 1
    measure: [{app.protocol: {flow: medium}}]
",
    )
}

/// Where frames of one of the flows passed a port, in their order: `data` is 0, `done` 1, `reply` 2.
fn of_flow(seen: &Seen<'_>, flow: u16, (port, dir): (u16, Dir)) -> Vec<usize> {
    seen.all(|one| match one.what {
        What::Roce(roce) => {
            let is_data = matches!(roce.kind, RoceKind::Data { .. });
            (one.port, one.dir, roce.connection, is_data) == (port, dir, flow, true)
        }
        _ => false,
    })
}

/// Moves the first packet of a message as it leaves its NIC to that much after what it waits for reached that NIC.
fn moved(flow: u16, message: usize, by: i64) -> (bool, String) {
    let said = played().changed(|seen| {
        let port = if flow == 2 { 1 } else { 0 };
        let record = of_flow(seen, flow, (port, Dir::Rx))[message];
        seen.shift(record, by);
    });
    let name = ["data", "done", "reply"][usize::from(flow)];
    (said.about("app.protocol", name).2, said.wrong())
}

#[test]
fn who_keeps_to_it_passes() {
    let said = played().as_seen();
    assert_eq!(said.wrong(), "");
    assert_eq!(said.of("app.protocol").count(), 3);
}

#[test]
fn who_is_as_soon_as_it_may_passes_and_a_picosecond_sooner_is_too_soon() {
    // The emulated host hands a message over in the instant in which what it waits for is complete.
    for (flow, message) in [(1, 0), (1, 1), (2, 0), (2, 2), (0, 4)] {
        assert!(moved(flow, message, 0).0, "{flow}, {message}");
        let (passes, wrong) = moved(flow, message, -1);
        assert!(!passes, "{flow}, {message}: {wrong}");
    }
}

#[test]
fn a_step_that_never_comes_is_missed_where_all_that_it_waits_for_came() {
    let said = played().changed(|seen| {
        let at = |seen: &Seen<'_>| of_flow(seen, 2, (1, Dir::Rx))[2];
        let record = at(seen);
        seen.lose(record);
    });
    let Word::Fail(got) = said.word("app.protocol") else { panic!("{}", said.wrong()) };
    assert!(
        got.contains("reply of round 3 never left, though done of round 3 was received"),
        "{got}"
    );
}

/// The same by one queue pair.
fn shared() -> Ran {
    Ran::of(
        "gen2-to-gen2",
        "    dut: {nic: {generation: gen2, rc: {ack_every: 1, timeout: 0}}, peer: {generation: gen2, rc: {ack_every: 1, timeout: 0}}}
    between: {delay: 1us}
    flows:
      data: {nic: p1, to: p2, class: 3, verb: write, message: 2KiB, mtu: 1024B}
      done: {nic: p1, to: p2, class: 3, verb: send, message: 64B, mtu: 1024B}
      reply: {nic: p2, to: p1, class: 3, verb: send, message: 64B, mtu: 1024B, psn: 1048576}
    apps: {medium: {steps: [data, done, {flow: reply, think: 2us}], rounds: 3, credits: 2, queue_pairs: one}}
    steps: [{at: 0us, start: medium}]
    length: 100us
    trials: 1
    measure: [{app.protocol: {flow: medium}}]
",
    )
}

/// Where packets of data with this number passed a port.
fn numbered(seen: &Seen<'_>, psn: u32, (port, dir): (u16, Dir)) -> Vec<usize> {
    seen.all(|one| match one.what {
        What::Roce(roce) => {
            let is_data = matches!(roce.kind, RoceKind::Data { .. });
            (one.port, one.dir, roce.psn, is_data) == (port, dir, psn, true)
        }
        _ => false,
    })
}

#[test]
fn by_one_queue_pair_too_a_picosecond_sooner_is_too_soon_and_nothing_waits_behind_a_write() {
    assert_eq!(shared().as_seen().wrong(), "");
    // Two packets of data and one of "done" a round; answers count from 1048576.
    for (psn, port, by, right) in
        [(1_048_576, 1, 0, true), (1_048_576, 1, -1, false), (6, 0, 0, true), (6, 0, -1, false)]
    {
        let said = shared().changed(|seen| {
            let record = numbered(seen, psn, (port, Dir::Rx))[0];
            seen.shift(record, by);
        });
        let flow = if port == 1 { "reply" } else { "data" };
        assert_eq!(said.about("app.protocol", flow).2, right, "{psn}, {by}: {}", said.wrong());
    }
}

#[test]
fn who_answers_a_word_that_overtook_data_is_told_so() {
    // A packet of the data of round 1 never comes to the other end.
    let said = shared().changed(|seen| {
        let record = numbered(seen, 1, (1, Dir::Tx))[0];
        seen.lose(record);
    });
    let wrong = said.wrong();
    let told = "reply of round 1 left though it never came to that done of round 1 was received in whole: that had come, and what was sent before it by the same queue pair had not: a SEND overtook a WRITE";
    assert!(wrong.contains(told), "{wrong}");
}

#[test]
fn what_is_not_due_in_the_order_of_its_end_is_out_of_place() {
    let said = shared().changed(|seen| {
        let record = numbered(seen, 3, (0, Dir::Rx))[0];
        if let What::Roce(roce) = &mut seen.observation.records[record].what {
            roce.kind = RoceKind::Data { first: true, last: true, response: false };
        }
    });
    let wrong = said.wrong();
    let told =
        "a message of one packet left at PSN 3, where packet 1 of 2 of data of round 2 was due";
    assert!(wrong.contains(told), "{wrong}");
}
