//! The plots on the pages of `docs/findings`: what `rigctl report --figures` makes of the run that the page tells of.

use super::root;
use rig_oracle::measure::Registry;
use rig_reports::html::figures;
use rigctl::runner::case::{self, Rig};
use rigctl::stop::Stop;
use std::fs;

/// Each page, the case that it plots, and which of the case's figures, from 1.
const PLOTTED: [(&str, &str, usize); 5] = [
    ("fence", "fmr-fence::fence-by-message-size", 2),
    ("leak", "dcqcn::congestion-of-one-flow", 1),
    ("loopback", "slow-receiver::loopback-up-to-what-the-bus-has-left", 3),
    ("slow-receiver", "slow-receiver::by-working-set", 3),
    ("generations", "interop::gen1-to-gen2", 7),
];

/// With `RIG_WRITE_SCHEMAS=1` they are written instead.
#[test]
fn each_finding_is_plotted_as_the_rig_plots_it_today() {
    let suites =
        rig_testcases::read::bundled(&Registry).expect("the bundled catalogue has no fault");
    let lab = rig_lab::read::lab(None).expect("the bundled lab has no fault");
    let stop = Stop::default();
    let pages = fs::read_dir(root().join("docs/findings")).expect("the findings");
    let pages = pages.filter(|page| {
        let path = page.as_ref().expect("an entry").path();
        path.extension().is_some_and(|end| end == "md")
    });
    assert_eq!(pages.count(), PLOTTED.len(), "a page without a plot");
    for (page, case, nth) in PLOTTED {
        let mut cases = suites.iter().flat_map(|suite| &suite.cases);
        let case = cases.find(|one| one.id.to_string() == case).expect("it is in the catalogue");
        let report = case::run(&Rig::of(&lab, &[case], 1, &stop), case).report;
        let all = figures(&report.judgements, &report.curves);
        let drawn = &all.get(nth - 1).expect("so many figures").svg;
        let name = format!("figures/{page}.svg");
        let path = root().join("docs/findings").join(&name);
        if std::env::var_os("RIG_WRITE_SCHEMAS").is_some() {
            fs::write(&path, drawn).expect("writable");
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == *drawn, "{name} is not current: RIG_WRITE_SCHEMAS=1 writes it");
        let text = fs::read_to_string(root().join(format!("docs/findings/{page}.md")));
        assert!(text.expect("a page").contains(&format!("({name})")), "{page} shows no plot");
    }
}
