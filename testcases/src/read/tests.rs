use super::*;

/// All faults of a text, as a person reads them.
fn faults(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn the_bundled_catalogue_has_no_fault_and_no_case_is_skipped_on_the_default_lab() {
    let suites = bundled().unwrap_or_else(|all| panic!("{}", faults(&all)));
    let lab = rig_lab::read::lab(None).unwrap_or_else(|all| panic!("{}", faults(&all)));
    let mut skipped = Vec::new();
    for case in suites.iter().flat_map(|suite| &suite.cases) {
        let why_not: Vec<_> = lab.duts.iter().map(|dut| case.suits(dut)).collect();
        if why_not.iter().all(Result::is_err) {
            skipped.push(format!("{}: {why_not:?}", case.id));
        }
    }
    assert!(skipped.is_empty(), "{}", skipped.join("\n"));
}

#[test]
fn the_watchdog_catalogue_has_its_cases() {
    let suites = bundled().unwrap_or_else(|all| panic!("{}", faults(&all)));
    let names: Vec<&str> = suites[0].cases.iter().map(|case| case.id.case.as_str()).collect();
    insta::assert_snapshot!(names.join("\n"));
}
