//! What a reader is told of a departure, on devices that are broken in a known way.

use crate::mutation;
use crate::runner::bundled;
use crate::runner::case::{self, Rig};
use crate::stop::Stop;
use rig_lab::Lab;
use rig_oracle::Verdict;
use rig_oracle::measure::Registry;
use rig_testcases::vocabulary::Argument;
use rig_testcases::{Case, Measure, Vocabulary, Wanted};

/// The verdict on a case, on the bundled lab with this mutation.
fn verdict(case: &Case, mutation: &str) -> Verdict {
    let mut lab: Lab = rig_lab::read::lab(None).expect("the bundled lab has no fault");
    let mutations: Vec<String> = core::iter::once(mutation.to_owned()).collect();
    let mutations = if mutation.is_empty() { &[][..] } else { &mutations };
    mutation::apply(&mut lab, mutations).expect(mutation);
    let stop = Stop::default();
    let rig = Rig::of(&lab, &[case], 7, &stop);
    case::run(&rig, case).report.verdict
}

/// What was found instead, first finding first.
fn got(name: &str, mutation: &str) -> String {
    match verdict(&bundled::case(name), mutation) {
        Verdict::Fail(findings) => {
            let got = findings.iter().map(|finding| format!("{}: {}", finding.rule, finding.got));
            got.collect::<Vec<_>>().join("\n")
        }
        other => panic!("{name} with {mutation} does not fail: {other:?}"),
    }
}

#[test]
fn a_watchdog_that_fires_in_error_is_named_where_its_losses_show() {
    for (case, deviation) in [
        ("pfcwd::own-pfc-is-not-a-storm", "own_pfc_counts_as_storm"),
        ("pfcwd::port-toggle-broadcom", "link_toggle_fires"),
        ("pfcwd::xon-frames-are-no-storm-broadcom", "xon_counts_as_storm"),
        ("pfcwd::xon-frames-are-no-storm-mellanox", "xon_counts_as_storm"),
    ] {
        assert_eq!(verdict(&bundled::case(case), ""), Verdict::Pass, "{case}");
        let got = got(case, &format!("deviation={deviation}"));
        // Of every trial that lost something: one that fired and is not let go of by the next trial is named there, too.
        let mut losses = got.lines().filter(|line| line.starts_with("loss: ")).peekable();
        assert!(losses.peek().is_some(), "{deviation}: {got}");
        for line in losses {
            let fired = line.contains("frames lost; the watchdog of Ethernet")
                && line.contains(" fired for class ")
                && line.ends_with("nothing in the case pauses that queue, so it must not have");
            assert!(fired, "{deviation}: {line}");
        }
    }
}

#[test]
fn an_xoff_of_a_wrong_class_is_named_with_both_classes() {
    let got = got("headroom::xoff-refreshed-broadcom", "deviation=xoff_wrong_class");
    let named = "for class 4, of which p1 sends nothing, where class 3 was to be paused";
    assert!(got.lines().any(|line| line.contains("XOFF") && line.contains(named)), "{got}");
}

#[test]
fn a_refresh_that_is_late_by_less_than_a_frame_is_late_where_no_frame_is_in_the_way() {
    const CASE: &str = "headroom::xoff-refreshed-broadcom";
    assert_eq!(verdict(&bundled::case(CASE), ""), Verdict::Pass);
    // A full frame and eight slots of PFC last 0.8 us at 100 Gb/s.
    let got = got(CASE, "pfc.refresh=+500ns");
    assert!(got.contains("pfc.sent: 100.5us"), "{got}");
}

#[test]
fn a_sender_that_is_told_to_stop_and_goes_on_is_no_departure_of_the_device() {
    let mut case = bundled::case("ecn::marks-before-pauses-broadcom");
    let loss = Registry.entry("loss").expect("it is one");
    let of_load = Measure::of(loss).with("stream", Argument::Names(vec!["load".to_owned()]));
    case.measure.push(of_load.with("expect", Argument::Wanted(Wanted::None)));
    let Verdict::Inconclusive(doubt) = verdict(&case, "") else { panic!("the rig overran it") };
    assert!(doubt.detail.contains("p1 obeys no PFC and sent "), "{}", doubt.detail);
    // The same load from senders that stop when they are told to.
    case.endpoints.clear();
    assert_eq!(verdict(&case, ""), Verdict::Pass);
}

#[test]
fn a_flow_that_is_held_back_for_others_is_found_though_shares_never_settle() {
    let got = got("dcqcn::eight-flows-share", "deviation=cnp_wrong_qp");
    let told = |line: &str| {
        line.starts_with("rate.shares: ") && line.contains(" of an equal share, held back by ")
    };
    assert!(got.lines().any(told), "{got}");
}
