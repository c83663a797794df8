//! docs/museum.md: every public bug that it shows is one that a bundled case meets.

use rig_oracle::Verdict;
use rig_oracle::measure::Registry;
use rig_testcases::Case;
use rigctl::mutation;
use rigctl::runner::case::{self, Rig};
use rigctl::stop::Stop;

const PAGE: &str = include_str!("../../docs/museum.md");

/// How the device is broken, the case, and the measure that tells.
type Exhibit = [&'static str; 3];

/// The last three columns of each row of the page's table, without their quotes.
fn exhibits() -> Vec<Exhibit> {
    let of = |line: &'static str| -> Exhibit {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [who, _, broken, case, measure] = cells[..] else { panic!("five columns: {line}") };
        assert!(who.contains("](https://"), "an exhibit has a link: {who}");
        [broken, case, measure].map(|cell| cell.trim_matches('`'))
    };
    PAGE.lines().filter(|line| line.starts_with("| [")).map(of).collect()
}

#[test]
fn every_exhibit_fails_its_case_by_its_measure_and_a_healthy_device_passes() {
    let suites =
        rig_testcases::read::bundled(&Registry).expect("the bundled catalogue has no fault");
    let lab = rig_lab::read::lab(None).expect("the bundled lab has no fault");
    let exhibits = exhibits();
    assert_eq!(exhibits.len(), 15);
    let stop = Stop::default();
    for [broken, id, measure] in exhibits {
        let mut cases = suites.iter().flat_map(|suite| &suite.cases);
        let case: &Case =
            cases.find(|case| case.id.to_string() == id).unwrap_or_else(|| panic!("no case {id}"));
        let rig = Rig::of(&lab, &[case], 1, &stop);
        let healthy = case::run(&rig, case).report.verdict;
        assert!(matches!(healthy, Verdict::Pass), "{id}: {healthy:?}");
        let mut lab = lab.clone();
        mutation::apply(&mut lab, &[broken.to_owned()])
            .unwrap_or_else(|why| panic!("{broken}: {why:?}"));
        let rig = Rig::of(&lab, &[case], 1, &stop);
        let verdict = case::run(&rig, case).report.verdict;
        let Verdict::Fail(findings) = verdict else { panic!("{id} on {broken}: {verdict:?}") };
        let told = findings.iter().any(|finding| finding.rule == measure);
        assert!(told, "{id} on {broken} is not told by {measure}: {findings:?}");
    }
}
