//! The bundled catalogue, for tests: it is read once for all of them, which takes a debug build a second each time.

use rig_oracle::measure::Registry;
use rig_testcases::Case;
use std::sync::OnceLock;

/// Every bundled case.
pub(super) fn cases() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(|| {
        let suites = rig_testcases::read::bundled(&Registry).expect("the catalogue");
        suites.into_iter().flat_map(|suite| suite.cases).collect()
    })
}

/// The case of that name.
pub(super) fn case(id: &str) -> Case {
    let mut all = cases().iter();
    all.find(|case| case.id.to_string() == id).unwrap_or_else(|| panic!("no case {id}")).clone()
}
