//! How long the slowest messages of a flow take.

use super::given::{Ran, Word};
use rig_capture::Dir;
use rig_testcases::RoceKind;

/// So many messages of two packets at the speed of the port, and what is done to them on their way.
fn messages(count: u32, more: &str) -> Ran {
    let text = format!(
        "    dut: {{nic: {{generation: gen2, rc: {{timeout: 0}}}}, peer: {{generation: gen2, rc: {{ack_every: 2}}}}}}
    between: {{delay: 1us{more}}}
    flows:
      calls: {{nic: p1, to: p2, class: 3, verb: write, message: 2KiB, mtu: 1024B, count: {count}}}
    steps: [{{at: 0us, start: calls}}]
    length: 400us
    trials: 1
    measure: [{{rc.tail: {{flow: calls, quantile: 99%}}}}]
"
    );
    Ran::of("gen2-to-gen2", &text)
}

#[test]
fn a_hundredth_of_the_messages_may_be_slow_and_no_more() {
    let ran = messages(400, "");
    assert_eq!(ran.as_seen().wrong(), "");
    let slowed = |count: usize| {
        ran.changed(|seen| {
            // Acknowledgements leave the second NIC, and reach the first, by so much later.
            for (port, dir) in [(1, Dir::Rx), (0, Dir::Tx)] {
                let acks = seen.roce(port, dir, |one| matches!(one, RoceKind::Ack));
                let every = acks.len() / count;
                let some: Vec<usize> =
                    acks.iter().skip(every / 2).step_by(every).copied().collect();
                seen.shift_all(&some[..count], 100_000);
            }
        })
    };
    assert!(slowed(4).passes("rc.tail"), "{}", slowed(4).wrong());
    let Word::Fail(got) = slowed(8).word("rc.tail") else { panic!("{}", slowed(8).wrong()) };
    assert!(got.contains("8 of them were acknowledged too late by the other end"), "{got}");
}

#[test]
fn messages_of_which_the_slowest_may_be_missing_say_nothing() {
    assert_eq!(messages(367, "").as_seen().word("rc.tail"), Word::Doubt("not-measured"));
    assert!(messages(368, "").as_seen().passes("rc.tail"));
    let lost = ", inject: [{on: calls, frames: data, psn: 30, do: drop, iteration: 1}]";
    assert_eq!(messages(400, lost).as_seen().word("rc.tail"), Word::Doubt("not-measured"));
}
