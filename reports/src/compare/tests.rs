use super::*;
use crate::{CaseReport, Run, fixture};
use rig_capture::Span;
use rig_oracle::Verdict;

fn compare(old: &Run, new: &Run) -> Comparison {
    Comparison::of(&Results::of(old), &Results::of(new), Scope::All, &[])
}

fn kinds(comparison: &Comparison) -> Vec<&ChangeKind> {
    comparison.changes.iter().map(|change| &change.kind).collect()
}

/// A run of one case whose detection was measured from `lo` to `hi` microseconds.
fn measured(lo: u64, hi: u64) -> Run {
    let mut case = fixture::case("pfcwd::detection", "broadcom-th2");
    case.judgements = vec![fixture::detection(200, lo, hi)];
    fixture::run_of(vec![case])
}

#[test]
fn a_run_compared_with_itself_has_no_change() {
    let same = compare(&fixture::run(), &fixture::run());
    assert_eq!((same.changes.len(), same.circumstances.len()), (0, 0));
    assert_eq!((same.common, same.unchanged, same.regressed()), (6, 6, false));
    insta::assert_snapshot!(same.to_string(), @"     Summary 6 cases in both, 6 unchanged");
}

#[test]
fn a_measurement_has_shifted_once_nothing_is_common_to_both_intervals() {
    let old = measured(203_000, 298_000);
    assert_eq!(compare(&old, &measured(298_000, 299_000)).changes, []);
    let ChangeKind::Shifted(up) =
        &compare(&old, &measured(298_001, 299_000)).changes[0].kind.clone()
    else {
        panic!("one microsecond above was missed")
    };
    assert_eq!(
        (up.was.lo, up.was.hi, up.is.lo),
        (203_000_000_000, 298_000_000_000, 298_001_000_000)
    );
    let By { lo, middle, hi } = up.by;
    assert_eq!(
        (lo, middle, hi),
        (Some(95_001_000_000), Some(48_000_500_000), Some(1_000_000_000)),
        "what moved, not the gap between the intervals"
    );
    assert!(matches!(kinds(&compare(&old, &measured(1, 202_999)))[..], [ChangeKind::Shifted(_)]));
}

#[test]
fn what_is_no_longer_seen_at_all_has_shifted_to_never() {
    let old = measured(203_000, 298_000);
    let mut new = old.clone();
    new.cases[0].judgements[0].reading.span = Span::exactly(u64::MAX);
    let text = compare(&old, &new).to_string();
    assert!(text.contains(": was 203ms to 298ms, is never\n"), "{text}");
}

#[test]
fn a_prediction_that_changed_is_told_apart_from_a_measurement_that_did() {
    let old = measured(203_000, 298_000);
    let mut new = old.clone();
    new.cases[0].judgements[0].prediction.span.hi += 1;
    assert!(matches!(kinds(&compare(&old, &new))[..], [ChangeKind::Predicted(_)]));
}

#[test]
fn a_curve_shifts_point_by_point() {
    let old = fixture::run_of(vec![fixture::curve()]);
    let mut new = old.clone();
    new.cases[0].curves[0].points[4].measured = Span { lo: 900_000, hi: 1_000_000 };
    new.cases[0].curves[0].points[9].x += 1;
    let comparison = compare(&old, &new);
    assert_eq!(comparison.changes.len(), 1);
    insta::assert_snapshot!(comparison.to_string(), @r"
SHIFTED pfcwd::trigger-ramp: pfcwd.fired, storm-length=220ms: was 0.11 to 0.27, is 0.9 to 1: the least 0.79 more, the middle 0.76 more, the greatest 0.73 more
Summary 1 case in both, 0 unchanged, 1 shifted measurement
");
}

#[test]
fn only_a_case_that_did_not_fail_before_is_a_new_failure() {
    let pass = fixture::run_of(vec![fixture::case(
        "pfcwd::detection-latency-mellanox",
        "mellanox-sn4600c",
    )]);
    let fail = fixture::run_of(vec![fixture::fail()]);
    let none = fixture::run_of(Vec::new());
    assert!(compare(&pass, &fail).regressed());
    assert!(compare(&none, &fail).regressed());
    assert!(!compare(&fail, &fail).regressed());
    let fixed = compare(&fail, &pass);
    assert!(!kinds(&fixed).iter().any(|kind| matches!(kind, ChangeKind::NewFailure { .. })));
    assert!(kinds(&compare(&fail, &pass)).contains(&&ChangeKind::Fixed));
}

/// What is left of the first case of [`fixture::run`] when `lose` took something from it.
fn without(lose: impl FnOnce(&mut Run)) -> Comparison {
    let old = fixture::run_of(vec![fixture::pass(), fixture::curve()]);
    let mut new = old.clone();
    lose(&mut new);
    compare(&old, &new)
}

#[test]
fn a_case_that_passed_and_decides_nothing_any_more_is_a_loss() {
    let reports = [fixture::inconclusive(), fixture::broken(), fixture::skipped()];
    for report in reports {
        let lost = without(|new| new.cases[0].verdict = report.verdict.clone());
        assert_eq!((lost.losses, lost.regressed()), (1, true), "{report:?}");
        let text = lost.to_string();
        assert!(
            text.contains("\nLOST VERDICT pfcwd::detection-latency-broadcom: was pass, is "),
            "{text}"
        );
        assert!(text.ends_with("1 lost verdict\n"), "{text}");
    }
    let old = fixture::run_of(vec![fixture::inconclusive()]);
    let mut new = old.clone();
    new.cases[0].verdict = fixture::skipped().verdict;
    assert_eq!(compare(&old, &new).losses, 0, "it showed nothing before");
}

#[test]
fn measurements_and_points_of_curves_that_are_gone_are_losses() {
    let lost = without(|new| new.cases[0].judgements.clear());
    assert!(lost.regressed() && lost.losses == lost.changes.len() && lost.losses > 0, "{lost}");
    let lost = without(|new| drop(new.cases[0].judgements.pop()));
    assert_eq!((lost.losses, lost.regressed()), (1, true), "{lost}");
    let lost = without(|new| new.cases[1].curves.clear());
    assert_eq!((lost.losses, lost.regressed()), (1, true), "{lost}");
    let lost = without(|new| new.cases[1].curves[0].points.truncate(20));
    assert_eq!((lost.losses, lost.regressed()), (1, true), "{lost}");
    assert!(lost.to_string().contains(" 1 of 21 points, no longer"), "{lost}");
}

#[test]
fn a_measurement_is_missing_unless_its_case_no_longer_decides_anything() {
    let lacks = |lost: &Comparison| {
        let of = |lacking: &Lacking| (lacking.what, lacking.cases, lacking.measurements);
        lost.lacks.iter().map(of).collect::<Vec<_>>()
    };
    let fewer = without(|new| drop(new.cases[0].judgements.pop()));
    assert_eq!(lacks(&fewer), [(Lack::Missing, 0, 1)]);
    let undecided = without(|new| {
        new.cases[0].judgements.clear();
        new.cases[0].verdict = fixture::inconclusive().verdict;
    });
    assert_eq!(lacks(&undecided), [(Lack::Undecided, 1, 0)]);
    // It was undecided before, and measured more then: nothing but the measurement is lost.
    let mut old = fixture::run_of(vec![fixture::inconclusive()]);
    old.cases[0].judgements = vec![fixture::detection(200, 1, 2)];
    let mut new = old.clone();
    new.cases[0].judgements.clear();
    assert_eq!(lacks(&compare(&old, &new)), [(Lack::Missing, 0, 1)]);
}

#[test]
fn what_is_allowed_is_still_told_and_counted() {
    let old = fixture::run_of(vec![fixture::pass(), fixture::curve()]);
    let mut new = old.clone();
    new.cases.remove(1);
    let [old, new] = [&old, &new].map(Results::of);
    let lost = Comparison::of(&old, &new, Scope::All, &[Lack::Missing]);
    assert_eq!((lost.losses, lost.lacks.len(), lost.worse), (1, 1, false), "{lost}");
    let others = [Lack::Partial, Lack::Empty, Lack::Undecided, Lack::Broken];
    assert!(Comparison::of(&old, &new, Scope::All, &others).worse);
}

#[test]
fn of_two_measurements_of_one_name_neither_hides_the_other() {
    let twice = |second: u64| {
        let mut run = measured(203_000, 298_000);
        run.cases[0].judgements.push(fixture::detection(200, second, second + 1));
        run
    };
    let old = twice(210_000);
    assert!(matches!(
        kinds(&compare(&old, &measured(203_000, 298_000)))[..],
        [ChangeKind::Unmeasured { .. }]
    ));
    let mut first = twice(210_000);
    first.cases[0].judgements[0] = fixture::detection(200, 500_000, 500_001);
    assert!(matches!(kinds(&compare(&old, &first))[..], [ChangeKind::Shifted(_)]));
}

#[test]
fn an_interval_that_ends_before_it_begins_is_compared_as_any_other() {
    let old = Results::of(&measured(203_000, 298_000));
    let mut new = old.clone();
    let one = &mut new.cases[0].measurements[0];
    (one.lo, one.hi) = (900_000_000_000_000, 5);
    for (old, new) in [(&old, &new), (&new, &old)] {
        let told = Comparison::of(old, new, Scope::All, &[]);
        assert!(matches!(kinds(&told)[..], [ChangeKind::Shifted(_)]), "{told}");
    }
}

#[test]
fn a_case_that_is_gone_is_a_loss_unless_only_common_ones_are_compared() {
    let old = fixture::run_of(vec![fixture::pass(), fixture::curve()]);
    let mut new = old.clone();
    new.cases.remove(1);
    let lost = compare(&old, &new);
    assert_eq!((lost.losses, lost.regressed()), (1, true), "{lost}");
    let common =
        |new: &Run| Comparison::of(&Results::of(&old), &Results::of(new), Scope::Common, &[]);
    assert_eq!((common(&new).losses, common(&new).changes.len(), common(&new).common), (0, 0, 1));
    // The new run was asked for it and did not come to it: that is no choice of fewer cases.
    new.finished =
        Some(crate::Finished { not_run: vec![old.cases[1].id.clone()], ..fixture::finished() });
    assert_eq!((common(&new).losses, common(&new).regressed()), (1, true));
    let back = Comparison::of(&Results::of(&new), &Results::of(&old), Scope::Common, &[]);
    assert_eq!(back.changes, [], "what is new is not common either");
}

#[test]
fn another_reason_for_the_same_verdict_is_a_change() {
    let old = fixture::run_of(vec![fixture::inconclusive()]);
    let mut new = old.clone();
    let Verdict::Inconclusive(doubt) = &mut new.cases[0].verdict else { unreachable!() };
    doubt.reason = "capture-hole";
    assert!(matches!(kinds(&compare(&old, &new))[..], [ChangeKind::Verdict { .. }]));
}

/// An old and a new run between which everything changed that can.
fn apart() -> (Run, Run) {
    let mut old = fixture::run_of(vec![
        fixture::pass(),
        fixture::fail(),
        fixture::curve(),
        fixture::broken(),
        fixture::case("pfcwd::gone", "broadcom-th2"),
        fixture::case("pfcwd::cut-off", "broadcom-th2"),
        fixture::case("pfcwd::was-fine", "broadcom-th2"),
        fixture::case("pfcwd::unchanged", "broadcom-th2"),
    ]);
    old.started.mutations.clear();
    let mut new = old.clone();
    new.started.seed = 7_308;
    new.started.lab = "rack-7".to_owned();
    new.started.mutations = vec!["pfcwd.detection_time=x1.5".to_owned()];
    new.cases.remove(4);
    new.cases.remove(4);
    new.cases[0].judgements = vec![
        fixture::detection(200, 341_000, 350_000),
        fixture::detection(1_500, 1_501_000, 1_502_000),
    ];
    new.cases[0].judgements[0].prediction.span.hi += 100_000_000_000;
    new.cases[0].dut = "broadcom-th3".to_owned();
    new.cases[1].verdict = Verdict::Pass;
    new.cases[2] = CaseReport { id: new.cases[2].id.clone(), ..fixture::inconclusive() };
    new.cases[4].verdict = fixture::fail().verdict;
    new.cases.push(fixture::case("pfcwd::fresh", "broadcom-th2"));
    new.finished = Some(crate::Finished {
        partial: Some("interrupted by Ctrl-C".to_owned()),
        not_run: vec![fixture::id("pfcwd::cut-off")],
        ..fixture::finished()
    });
    (old, new)
}

#[test]
fn every_kind_of_change_has_its_line() {
    let (old, new) = apart();
    insta::assert_snapshot!(compare(&old, &new).to_string(), @r"
     Partial the new run was cut short: interrupted by Ctrl-C; 1 case was not run (--allow-partial)
     Missing 1 case and 3 measurements of the old run are not in the new one (--allow-missing)
   Undecided 1 case that passed decides nothing any more (--allow-undecided)
     Differs seed: was 7307, is 7308
     Differs lab: was emulated, is rack-7
     Differs mutations: was none, is pfcwd.detection_time=x1.5
     Differs partial: was whole, is interrupted by Ctrl-C
 NEW FAILURE pfcwd::was-fine: was pass; pfcwd.detection: want 200ms to under 300ms, got 341.25ms to 341.75ms, and 10 more findings
LOST VERDICT pfcwd::trigger-ramp: was pass, is inconclusive; storm-lapse: class 3 of p2 was open for 12.4us at 201.300ms, in 6 of 14 trials; the storm must have no gap
    VANISHED pfcwd::gone: was pass
     NOT RUN pfcwd::cut-off: was pass
  UNMEASURED pfcwd::detection-latency-broadcom: pfcwd.detection storm@p2 class 3, pfcwd.detection_time=250ms, no longer
  UNMEASURED pfcwd::detection-latency-broadcom: pfcwd.detection storm@p2 class 3, pfcwd.detection_time=1000ms, no longer
  UNMEASURED pfcwd::detection-latency-broadcom: loss neighbour, no longer
  UNMEASURED pfcwd::trigger-ramp: pfcwd.fired, against storm-length, no longer
       FIXED pfcwd::detection-latency-mellanox
    APPEARED pfcwd::fresh: pass
      DEVICE pfcwd::detection-latency-broadcom: was broadcom-th2, is broadcom-th3
      DEVICE pfcwd::trigger-ramp: was broadcom-th2, is cisco-8102
     SHIFTED pfcwd::detection-latency-broadcom: pfcwd.detection storm@p2 class 3, pfcwd.detection_time=200ms: was 203.41ms to 298.1ms, is 341ms to 350ms: the least 137.59ms more, the middle 94.745ms more, the greatest 51.9ms more
   PREDICTED pfcwd::detection-latency-broadcom: pfcwd.detection storm@p2 class 3, pfcwd.detection_time=200ms: was 200ms to under 300ms, is 200ms to under 400ms: the least as before, the middle 50ms more, the greatest 100ms more
    MEASURED pfcwd::detection-latency-broadcom: pfcwd.detection storm@p2 class 3, pfcwd.detection_time=1500ms, for the first time
     Summary 6 cases in both, 2 unchanged, 1 new failure, 1 lost verdict, 2 missing cases, 4 lost measurements, 1 fixed failure, 1 new case, 1 shifted measurement, 1 changed prediction
");
}

#[test]
fn every_kind_of_change_is_there_for_scripts() {
    let (old, new) = apart();
    insta::assert_snapshot!(compare(&old, &new).to_json());
}
