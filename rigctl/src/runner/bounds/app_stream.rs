//! Whether a stream of bytes that moves from one connection to another is whole: one byte and one message off.

use super::given::{Ran, Word, is_told};
use rig_capture::{Dir, HostReport, What};
use rig_testcases::RoceKind;

/// Four messages by one connection, of which two are under way, and then four by another.
fn moved() -> Ran {
    Ran::of(
        "gen2-to-gen2",
        "    dut: {nic: {generation: gen2, rc: {ack_every: 1, timeout: 0}}, peer: {generation: gen2, rc: {ack_every: 1, timeout: 0}}}
    between: {delay: 1us}
    flows:
      old: {nic: p1, to: p2, class: 5, verb: send, message: 2KiB, mtu: 1024B}
      new: {nic: p1, to: p2, class: 3, verb: send, message: 4KiB, mtu: 1024B}
    apps: {moves: {steps: [{flow: old, chunks: 4, at_once: 2}, {flow: new, chunks: 4, at_once: 4}], rounds: 1}}
    steps: [{at: 0us, start: moves}]
    length: 100us
    trials: 1
    measure: [{app.stream: {flow: moves}}, {app.protocol: {flow: moves}}]
",
    )
}

/// What is said once what the hosts tell was changed.
fn told(change: impl Fn(&mut HostReport)) -> Word {
    let said = moved().changed(|seen| change(seen.observation.hosts.as_mut().expect("they tell")));
    said.word("app.stream")
}

#[test]
fn a_stream_that_is_read_as_it_was_given_passes_and_one_byte_off_does_not() {
    let said = moved().as_seen();
    assert_eq!((said.wrong().as_str(), said.of("app.stream").count()), ("", 2));
    is_told(
        told(|hosts| hosts.gave[4].from -= 1),
        "bytes 8191 to 8192 were read twice, by chunk 4 of old of round 1 and again by chunk 1 of new of round 1",
    );
    is_told(told(|hosts| hosts.gave[4].from += 1), "bytes 8192 to 8193 were never read");
}

#[test]
fn a_message_that_is_not_read_or_read_too_late_is_told_with_what_became_of_it() {
    is_told(
        told(|hosts| hosts.read.retain(|one| (one.connection, one.message) != (0, 3))),
        "chunk 4 of old of round 1 came to `peer` in whole and was not read",
    );
    is_told(
        told(|hosts| hosts.read.swap(3, 4)),
        "chunk 1 of new of round 1 was read before chunk 4 of old of round 1, whose bytes come first",
    );
    let lost = moved().changed(|seen| {
        let read = &mut seen.observation.hosts.as_mut().expect("they tell").read;
        read.retain(|one| (one.connection, one.message) != (0, 3));
        let came = seen.all(|one| match one.what {
            What::Roce(roce) => {
                let is_data = matches!(roce.kind, RoceKind::Data { .. });
                (one.port, one.dir, roce.connection, is_data) == (1, Dir::Tx, 0, true)
            }
            _ => false,
        });
        seen.lose(came[7]);
    });
    is_told(lost.word("app.stream"), "chunk 4 of old of round 1 left and never came in whole");
}

#[test]
fn a_stream_that_is_not_through_or_of_which_nobody_tells_is_left_open() {
    assert!(matches!(told(|hosts| hosts.read.truncate(7)), Word::Doubt(_)));
    let silent = moved().changed(|seen| seen.observation.hosts = None);
    assert!(matches!(silent.word("app.stream"), Word::Doubt(_)));
}
