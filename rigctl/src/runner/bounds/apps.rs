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
