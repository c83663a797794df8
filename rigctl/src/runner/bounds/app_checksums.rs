//! Whether what an application says of checksums goes with what came: one word and one packet off.

use super::given::{Ran, Seen, Word, is_told};
use rig_capture::{Dir, HostCheck, What};
use rig_testcases::RoceKind;

/// Three WRITEs of two packets, each told of behind it, whose data the other end looks at.
fn played() -> Ran {
    Ran::of(
        "gen2-to-gen2",
        "    dut: {nic: {generation: gen2, rc: {ack_every: 1, timeout: 0}}, peer: {generation: gen2, rc: {ack_every: 1, timeout: 0}}}
    between: {delay: 1us}
    flows:
      data: {nic: p1, to: p2, class: 3, verb: write, message: 2KiB, mtu: 1024B}
      done: {nic: p1, to: p2, class: 3, verb: send, message: 64B, mtu: 1024B}
    apps: {medium: {steps: [{flow: data, checksum: true}, done], rounds: 3, credits: 2}}
    steps: [{at: 0us, start: medium}]
    length: 100us
    trials: 1
    measure: [{app.checksum: {flow: data}}]
",
    )
}

/// What is said once what the application tells of was changed.
fn told(change: impl Fn(&mut Vec<HostCheck>)) -> Word {
    let said = played().changed(|seen| {
        change(&mut seen.observation.hosts.as_mut().expect("it tells").checks);
    });
    said.word("app.checksum")
}

/// The packets of data as they reach the NIC of who looks at them.
fn came(seen: &Seen<'_>) -> Vec<usize> {
    seen.all(|one| match one.what {
        What::Roce(roce) => {
            let is_data = matches!(roce.kind, RoceKind::Data { .. });
            (one.port, one.dir, roce.connection, is_data) == (1, Dir::Tx, 0, true)
        }
        _ => false,
    })
}

#[test]
fn each_message_is_looked_at_once_and_found_right() {
    assert_eq!(told(|_| ()), Word::Pass);
    is_told(
        told(|checks| checks[1].fits = false),
        "data of round 2 came to `peer` whole, with ICRCs that fit, and its application found another checksum: right on the wire",
    );
    is_told(told(|checks| checks.truncate(2)), "data of round 3 came to `peer` whole, and its");
    is_told(told(|checks| checks.push(checks[0])), "data of round 1 is said twice");
    assert!(matches!(told(Vec::clear), Word::Fail(_)));
}

#[test]
fn without_a_word_of_any_host_nothing_is_told() {
    let said = played().changed(|seen| seen.observation.hosts = None);
    assert!(matches!(said.word("app.checksum"), Word::Doubt(_)));
}

#[test]
fn what_came_spoilt_or_not_at_all_and_was_taken_is_told() {
    let spoilt = played().changed(|seen| {
        let record = came(seen)[3];
        if let What::Roce(roce) = &mut seen.observation.records[record].what {
            roce.corrupt = true;
        }
    });
    is_told(
        spoilt.word("app.checksum"),
        "a packet of data of round 2 came to `peer` with an ICRC that does not fit, and no other in its place",
    );
    let lost = played().changed(|seen| {
        let record = came(seen)[5];
        seen.lose(record);
    });
    is_told(lost.word("app.checksum"), "data of round 3 was taken by its application, and never");
}
