//! What got through, by steps that are written down.

use super::unready::Unready;
use super::*;
use crate::judge::nic::rc::{Progress, Step};
use rig_testcases::{FlowSpec, IpVersion, Verb};

/// Ten messages of three packets of 1000, 1000 and 500 bytes.
fn spec(count: Option<u32>) -> FlowSpec {
    FlowSpec {
        name: "flow".to_owned(),
        nic: 0,
        to: 1,
        class: 3,
        dscp: 26,
        verb: Verb::Write,
        message: 2_500,
        mtu: 1_000,
        count,
        psn: 0,
        address: 0,
        vlan: None,
        over: IpVersion::V4,
        gid: 0,
        container: rig_testcases::Container::USUAL,
        app: None,
    }
}

fn carried<'a>(spec: &'a FlowSpec, sent: u64, steps: &[(u64, u64)]) -> Carried<'a> {
    let step = |(by, &(at, packets))| Step { by, at: Time(at), packets };
    let steps: Vec<Step> = steps.iter().enumerate().map(step).collect();
    let shown_by = (100..100 + steps.len()).collect();
    let progress = Progress { steps, sent };
    let (bound, until, end) = (Dur::ZERO, Time(800_000), Time(1_000_000));
    let unready = Unready::default();
    Carried { spec, progress, shown_by, packets: 3, unready, bound, until, end }
}

#[test]
fn goodput_is_what_is_acknowledged_between_the_first_and_the_last_step() {
    let spec = spec(Some(2));
    let all = carried(&spec, 6, &[(10_000, 1), (20_000, 3), (110_000, 6)]);
    // 4000 bytes in 100 ns.
    let (span, records) = rate(&all, Time::ZERO).expect("a rate");
    assert_eq!(span, Span::exactly(320_000_000_000));
    assert_eq!(records, [100, 102]);
    // From the second step on: 2500 bytes in 90 ns.
    let later = rate(&all, Time(10_001)).expect("a rate").0;
    assert_eq!(later, Span::exactly(2_500 * 8_000_000_000_000 / 90_000));
}

#[test]
fn what_hangs_counts_to_the_end_and_what_never_moves_has_no_rate() {
    let spec = spec(Some(2));
    // The last packet is missing: 3500 bytes in 990 ns.
    let hung = carried(&spec, 6, &[(10_000, 1), (20_000, 3), (110_000, 5)]);
    let span = rate(&hung, Time::ZERO).expect("a rate").0;
    assert_eq!(span, Span::exactly(3_500 * 8_000_000_000_000 / 990_000));
    let dead = carried(&spec, 6, &[]);
    assert_eq!(rate(&dead, Time::ZERO), Some((Span::exactly(0), Vec::new())));
    let at_once = carried(&spec, 6, &[(10_000, 6)]);
    assert_eq!(rate(&at_once, Time::ZERO), None);
}

#[test]
fn one_step_counts_over_all_the_time_that_a_flow_without_an_end_had() {
    let spec = spec(None);
    let slow = carried(&spec, 3, &[(10_000, 1), (20_000, 2), (300_000, 3)]);
    // 500 bytes from 200 ns to 800 ns; then none.
    let after = |from| rate(&slow, Time(from)).expect("a rate");
    assert_eq!(after(200_000), (Span::exactly(500 * 8_000_000_000_000 / 600_000), vec![102]));
    assert_eq!(after(300_001), (Span::exactly(0), Vec::new()));
}

#[test]
fn messages_count_whole_and_one_that_was_stopped_in_the_middle_is_none() {
    let spec = spec(None);
    let stopped = carried(&spec, 8, &[(10, 5), (20, 8)]);
    assert_eq!((stopped.messages(), stopped.finished()), (2, 2));
    let one_short = carried(&spec, 8, &[(10, 5)]);
    assert_eq!((one_short.messages(), one_short.finished()), (2, 1));
    assert_eq!([0, 1, 3, 4].map(|packets| one_short.payload(packets)), [0, 1_000, 2_500, 3_500]);
}
