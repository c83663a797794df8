//! What a queue counts of what is sent to a port without a link, to the frame.

use super::given::{Ran, Word};

const COUNTER: &str = "Ethernet4:3 SAI_QUEUE_STAT_DROPPED_PACKETS";
const OF_PORT: &str = "Ethernet4 SAI_PORT_STAT_IF_OUT_DISCARDS";

/// A hundred frames from 20 ms on to a port whose link goes down at `down` for as long.
fn over(down: &str, lasting: &str) -> Ran {
    let text = format!(
        "    streams: {{probe: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 100us, count: 100}}}}
    steps: [{{at: {down}, link_down: p2, for: {lasting}}}, {{at: 20ms, start: probe}}]
    length: 60ms
    trials: 1
    measure: [{{queue.dead_link: {{stream: probe}}}}]
"
    );
    Ran::of("broadcom", &text)
}

#[test]
fn a_queue_without_a_link_counts_none_of_what_is_sent_there() {
    let ran = over("0ms", "40ms");
    assert_eq!(ran.as_seen().word("queue.dead_link"), Word::Pass);
    assert!(ran.changed(|seen| seen.count(COUNTER, 1)).fails("queue.dead_link"));
    assert!(ran.changed(|seen| seen.count(OF_PORT, 1)).fails("queue.dead_link"));
    // A device that shows nothing of its ports is told by its queue.
    let without = ran.changed(|seen| seen.uncount(OF_PORT, false));
    assert_eq!(without.word("queue.dead_link"), Word::Pass);
    for lost in [false, true] {
        let said = ran.changed(|seen| seen.uncount(COUNTER, lost));
        assert!(matches!(said.word("queue.dead_link"), Word::Doubt(_)), "{lost}");
    }
}

#[test]
fn nothing_is_told_of_a_link_that_goes_down_later_or_comes_back_too_soon() {
    for (down, lasting, why) in [
        ("22ms", "30ms", "is not down as it begins"),
        ("0ms", "25ms", "is up again before its last frame"),
    ] {
        let ran = over(down, lasting);
        let said = ran.as_seen();
        assert_eq!(said.word("queue.dead_link"), Word::Doubt("not-observable"), "{down} {lasting}");
        assert!(said.wrong().contains(why), "{}", said.wrong());
    }
}

/// What is lost on the way to the port before its link goes down is counted by the same counters.
#[test]
fn what_else_is_lost_on_the_way_there_is_no_fault() {
    let lossy = |class: u8| {
        let text = format!(
            "    streams:
      one: {{from: p1, to: p2, class: {class}, kind: udp, size: 1024B, rate: 100%, count: 30000}}
      two: {{from: p3, to: p2, class: {class}, kind: udp, size: 1024B, rate: 100%, count: 30000}}
      probe: {{from: p1, to: p2, class: 1, kind: udp, size: 1024B, every: 100us, count: 100}}
    steps: [{{at: 0ms, start: [one, two]}}, {{at: 100ms, link_down: p2, for: 600ms}}, {{at: 400ms, start: probe}}]
    length: 900ms
    trials: 1
    measure: [{{queue.dead_link: {{stream: probe}}}}]
"
        );
        Ran::of("broadcom", &text)
    };
    for (class, own) in [(2, "Ethernet4:1"), (1, "Ethernet4:1")] {
        let ran = lossy(class);
        assert_eq!(ran.as_seen().word("queue.dead_link"), Word::Pass, "{class}");
        let queue = format!("{own} SAI_QUEUE_STAT_DROPPED_PACKETS");
        assert!(ran.changed(|seen| seen.count(&queue, 1)).fails("queue.dead_link"), "{class}");
        assert!(ran.changed(|seen| seen.count(OF_PORT, 1)).fails("queue.dead_link"), "{class}");
    }
}
