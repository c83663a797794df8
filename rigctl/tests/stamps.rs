//! What timestamps a case needs is what shows something: in a lab of just those stamps a broken device is red, and a healthy one is not.

use rig_lab::{Lab, Transport};
use rig_oracle::Verdict;
use rig_oracle::measure::{self, Red, Registry, Stamps};
use rig_testcases::{Case, Measure, Suite};
use rig_units::Dur;
use rigctl::mutation;
use rigctl::runner::case::{self, Rig};
use rigctl::runner::choose::choose;
use rigctl::stop::Stop;
use std::collections::BTreeMap;

/// Of the measures whose own mutant is off by a part of a time or a rate: one that is off by as much as stamps leave open at the most, which is all
/// of it. At the coarsest stamps that a case is run with no less shows.
const COARSE: [(&str, &str); 10] = [
    ("cnp.latency", "nic.np.latency=x3"),
    ("headroom.loss", "buffer.xoff=x0.3"),
    ("nic.stops", "nic.pfc.response=x3"),
    ("pfc.pause", "pfc.response=x12"),
    ("pfc.response", "pfc.response=x4"),
    ("rate.cut", "nic.rp.enable=false"),
    ("rate.final", "nic.rp.enable=false"),
    ("rate.follows", "nic.rp.enable=false"),
    ("rate.reaction", "nic.rp.latency=x3"),
    ("rdma_router.handover", "rdma_router.request=x3"),
];

/// Cases in which CNPs in a row cut deeper than the first: who never cuts shows at stamps that the first cut alone would not show at.
const CUT_IN_A_ROW: [&str; 2] = ["gaps-of-a-pacer-that-ticks", "target-after-cuts-in-a-row"];

fn bundled() -> (Vec<Suite>, Lab) {
    let suites =
        rig_testcases::read::bundled(&Registry).expect("the bundled catalogue has no fault");
    (suites, rig_lab::read::lab(None).expect("the bundled lab has no fault"))
}

/// The verdict on a case in virtual time where stamps are that far off.
fn verdict(lab: &Lab, case: &Case, stamps: &Stamps, mutation: Option<&str>) -> Verdict {
    let mut lab = Lab { transport: Transport::Virtual(stamps.within), ..lab.clone() };
    let mutation: Vec<String> = mutation.into_iter().map(str::to_owned).collect();
    mutation::apply(&mut lab, &mutation).expect("it fits");
    let stop = Stop::default();
    case::run(&Rig::of(&lab, &[case], 7, &stop), case).report.verdict
}

#[test]
fn with_the_stamps_that_a_case_needs_a_broken_device_is_red_and_a_healthy_one_is_not() {
    let (suites, lab) = bundled();
    let cases = || suites.iter().flat_map(|suite| &suite.cases);
    let used: BTreeMap<&str, &Measure> =
        cases().flat_map(|case| &case.measure).map(|measure| (measure.name(), measure)).collect();
    let mut wrong = Vec::new();
    for (name, measure) in used {
        let Red::Mutated(wanted, own) = measure::of(measure).red else { continue };
        let case = cases().find(|case| case.id.case == wanted).expect(wanted);
        let (_, reach) = choose(&lab, None, case).expect("it runs in virtual time");
        let Some(stamps) = reach.stamps else { continue };
        let coarse = COARSE.iter().find(|(of, _)| *of == name);
        let mutation = coarse.map_or(own, |(_, coarse)| coarse);
        let needs = format!("{name}: {wanted} within {} ({})", stamps.within, stamps.why);
        let red = verdict(&lab, case, &stamps, Some(mutation));
        let is_told = match &red {
            Verdict::Fail(findings) => findings.iter().any(|one| one.rule == name),
            _ => false,
        };
        if !is_told {
            wrong.push(format!("{needs} with {mutation}: {red:?}"));
        }
        let green = verdict(&lab, case, &stamps, None);
        if green != Verdict::Pass {
            wrong.push(format!("{needs}: {green:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn cuts_in_a_row_show_where_stamps_are_off_by_more_than_the_first_of_them_leaves() {
    let (suites, lab) = bundled();
    let cases = || suites.iter().flat_map(|suite| &suite.cases);
    let stamps = Stamps { within: Dur::us(1), why: "nothing more is told".to_owned() };
    for name in CUT_IN_A_ROW {
        let case = cases().find(|case| case.id.case == name).expect(name);
        assert_eq!(verdict(&lab, case, &stamps, None), Verdict::Pass, "{name}");
        let red = verdict(&lab, case, &stamps, Some("nic.rp.enable=false"));
        assert!(matches!(&red, Verdict::Fail(_)), "{name}: {red:?}");
    }
}
