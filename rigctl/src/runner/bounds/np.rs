//! A NIC that is told of congestion: which marks it answers, how soon, how often and in what form.

use super::given::{Ran, Seen, Word};
use rig_capture::{Dir, Record, Span, What};
use rig_testcases::RoceKind;

pub(super) fn marks(interval: &str, every: &str, count: u32, measure: &str) -> Ran {
    Ran::of(
        "gen2",
        &format!(
            "    dut: {{nic: {{generation: gen2, np: {{interval: {interval}}}}}}}
    streams: {{marked: {{from: p1, class: 3, kind: rocev2-write, size: 1024B, every: {every}, ecn: ce, count: {count}}}}}
    steps: [{{at: 0us, start: marked}}]
    length: 1ms
    trials: 1
    measure: [{{{measure}: {{port: p1}}}}]
"
        ),
    )
}

pub(super) fn cnps(seen: &Seen<'_>) -> Vec<usize> {
    seen.roce(0, Dir::Rx, |kind| matches!(kind, RoceKind::Cnp { .. }))
}

#[test]
fn a_cnp_leaves_after_the_declared_latency_and_as_late_as_the_port_is_busy() {
    let ran = marks("0us", "60us", 1, "cnp.latency");
    let (read, want) = ran.as_seen().spans("cnp.latency");
    // The longest frame under way and two small ones of the one connection, 98 B each with preamble and gap.
    assert_eq!(want, Span { lo: 1_000_000, hi: 1_000_000 + 3 * 7_840 });
    assert_eq!(read, Span::exactly(1_000_000));
    ran.holds_its_bounds("cnp.latency", |seen, by| {
        let cnp = cnps(seen)[0];
        seen.shift(cnp, by);
    });
}

#[test]
fn each_mark_has_one_cnp_and_none_comes_unasked() {
    let ran = marks("0us", "60us", 10, "cnp.answers");
    assert_eq!(ran.as_seen().word("cnp.answers"), Word::Pass);
    let less = ran.changed(|seen| {
        let cnp = cnps(seen)[4];
        seen.lose(cnp);
    });
    let more = ran.changed(|seen| {
        let cnp = seen.observation.records[cnps(seen)[4]];
        seen.add(Record { at: rig_units::Time(cnp.at.0 + 20_000_000), ..cnp });
    });
    let first = |said: &Word| matches!(said, Word::Fail(got) if got.contains("CNPs; "));
    assert!(first(&less.word("cnp.answers")) && first(&more.word("cnp.answers")));
}

#[test]
fn a_mark_as_far_from_the_last_as_the_interval_is_answered_and_one_nearer_is_not() {
    for (interval, answered) in [("49999ns", 10), ("50us", 10), ("50001ns", 5)] {
        for measure in ["cnp.answers", "cnp.interval"] {
            let ran = marks(interval, "50us", 10, measure);
            assert_eq!(ran.as_seen().word(measure), Word::Pass, "{interval}");
            assert_eq!(ran.as_seen_count(|seen| cnps(seen).len()), answered, "{interval}");
        }
    }
    // The least distance of two marks that are answered is what the case measures.
    let ran = marks("50us", "50us", 3, "cnp.interval");
    assert_eq!(ran.as_seen().spans("cnp.interval").1, Span::exactly(50_000_000));
    let said = ran.changed(|seen| {
        let cnp = cnps(seen)[1];
        seen.lose(cnp);
    });
    assert!(said.fails("cnp.interval"), "{:?}", said.word("cnp.interval"));
}

#[test]
fn one_cnp_in_another_form_is_one_too_many() {
    let ran = marks("0us", "60us", 10, "cnp.format");
    assert_eq!(ran.as_seen().word("cnp.format"), Word::Pass);
    let said = ran.changed(|seen| {
        let cnp = cnps(seen)[9];
        if let What::Roce(roce) = &mut seen.observation.records[cnp].what {
            roce.dscp += 1;
        }
    });
    assert_eq!(said.word("cnp.format"), Word::Fail("1 with DSCP 49".to_owned()));
}

#[test]
fn a_cnp_that_nobody_takes_is_no_answer_and_tells_no_time() {
    let of = |measure| {
        let ran = marks("0us", "60us", 10, measure);
        assert_eq!(ran.as_seen().word(measure), Word::Pass);
        let said = ran.changed(|seen| {
            let cnp = cnps(seen)[9];
            let What::Roce(roce) = &mut seen.observation.records[cnp].what else { return };
            roce.corrupt = true;
        });
        said.of(measure).next().is_some().then(|| said.word(measure))
    };
    let fails = Word::Fail("1 of 10 CNPs left with an ICRC that does not fit".to_owned());
    assert_eq!(["cnp.answers", "cnp.format"].map(of), [Some(fails.clone()), Some(fails)]);
    assert_eq!(["cnp.latency", "cnp.interval"].map(of), [None, None]);
}

#[test]
fn a_nic_counts_each_mark_and_each_cnp_once() {
    let ran = marks("0us", "60us", 10, "nic.counters");
    let port = ran.as_seen_port(0);
    let named = |counter: &str| format!("{port} {counter}");
    let all = [
        ("np_cnp_sent", 10),
        ("np_ecn_marked_roce_packets", 10),
        ("out_of_sequence", 0),
        ("duplicate_request", 0),
        ("rx_icrc_encapsulated", 0),
        ("implied_nak_seq_err", 0),
        ("local_ack_timeout_err", 0),
        ("packet_seq_err", 0),
        ("rp_cnp_handled", 0),
    ];
    let names: Vec<(String, u64)> = all.iter().map(|(name, count)| (named(name), *count)).collect();
    let counters: Vec<(&str, u64)> =
        names.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    ran.holds_counters("nic.counters", &counters);
}
