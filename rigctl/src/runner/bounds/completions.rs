//! What a host tells of its completions: exactly what the wire leaves open, and no more.

use super::given::{Ran, Seen, Word, is_told};
use rig_capture::{CompletionStatus, HostCompletion};
use rig_units::Time;

/// Twelve messages of two packets, of which four are posted at once; the NIC's clock is off by up to 100 ps as it is told.
fn told() -> Ran {
    Ran::of(
        "gen2-to-gen2",
        "    dut: {nic: {generation: gen2, rc: {ack_every: 1, timeout: 0}, estats: {latency: 300ns, poll: 2us, depth: 4, window: 10us, sync: 1us, drift: 100ppm}}, peer: {generation: gen2, rc: {ack_every: 1}}}
    between: {delay: 500ns}
    flows: {flow: {nic: p1, to: p2, class: 3, verb: write, message: 2KiB, mtu: 1024B, count: 12}}
    steps: [{at: 0us, start: flow}]
    length: 100us
    trials: 1
    measure: [{rc.completions: {flow: flow}}]
",
    )
}

/// Two hundred messages of a packet, of which a host tells; how long a completion takes is left to the device.
pub(super) fn told_often() -> String {
    "    dut: {nic: {generation: gen2, rc: {timeout: 0}, estats: {poll: 2us, depth: 16, window: 100us, sync: 1us, drift: 0ppm}}, peer: {generation: gen2, rc: {ack_every: 1}}}
    between: {delay: 500ns}
    flows: {flow: {nic: p1, to: p2, class: 3, verb: send, message: 1024B, mtu: 1024B, count: 200}}
    steps: [{at: 0us, start: flow}]
    length: 1ms
    trials: 1
    measure: [{rc.completions: {flow: flow}}]
"
    .to_owned()
}

/// What is told of a message.
fn of<'a>(seen: &'a mut Seen<'_>, message: usize) -> &'a mut HostCompletion {
    let report = seen.observation.hosts.as_mut().expect("the host tells");
    &mut report.completions[message]
}

/// What is said of it once that was changed.
fn said(change: impl Fn(&mut Seen<'_>)) -> Word {
    told().changed(|seen| change(seen)).word("rc.completions")
}

#[test]
fn who_tells_what_the_wire_shows_passes_and_who_tells_nothing_is_not_judged() {
    assert_eq!(said(|_| ()), Word::Pass);
    assert!(matches!(said(|seen| seen.observation.hosts = None), Word::Doubt(_)));
}

#[test]
fn a_message_is_posted_as_there_is_room_for_it_to_the_picosecond() {
    for by in [-1_i64, 1] {
        let late = said(|seen| {
            let one = of(seen, 6);
            one.posted = Time(one.posted.0.saturating_add_signed(by));
        });
        is_told(late, "message 6: posted (T1)");
    }
}

#[test]
fn a_completion_is_as_late_after_its_acknowledgement_as_declared_and_as_its_clock_may_drift() {
    // It may be told 100 ps sooner or later, and 2 ps for what is rounded: what it is off already is less.
    for (by, what) in
        [(-210_i64, "before what acknowledges it came"), (210, "where it had to be by")]
    {
        let off = said(|seen| {
            let one = of(seen, 2);
            one.completed = Time(one.completed.0.saturating_add_signed(by));
        });
        is_told(off, what);
    }
}

#[test]
fn a_message_that_is_not_told_or_told_twice_is_told() {
    let histograms = said(|seen| {
        seen.observation.hosts.as_mut().expect("told").histograms[0].to_completed[2] += 1;
    });
    is_told(histograms, "the histogram of T5 - T1 for Write, \"success\"");
    let gone = said(|seen| {
        seen.observation.hosts.as_mut().expect("told").completions.truncate(11);
    });
    is_told(gone, "message 11: over, and no completion of it is polled");
    let twice = said(|seen| {
        let report = seen.observation.hosts.as_mut().expect("told");
        report.completions.insert(3, report.completions[2]);
    });
    is_told(twice, "message 2: told out of its turn");
}

#[test]
fn how_and_when_a_message_was_read_is_told() {
    is_told(
        said(|seen| of(seen, 4).status = CompletionStatus::Flushed),
        "message 4: told as ended by",
    );
    is_told(said(|seen| of(seen, 11).polled = None), "message 11: complete, and not told when");
    let soon = said(|seen| {
        let one = of(seen, 11);
        one.polled = Some(Time(one.completed.0 - 103));
    });
    is_told(soon, "message 11: polled (T6)");
}
