//! The emulated NICs beside the fluid model of DCQCN, which nobody here wrote: they come to rest in its neighbourhood.

use rig_oracle::measure::Registry;
use rig_testcases::Case;
use rigctl::runner::case::{self, Rig};
use rigctl::stop::Stop;

/// How far measured and modelled fractions may be apart, as a factor. The model leaves out the delay of the queue and what comes of
/// packets one by one, so this is a neighbourhood and no tolerance.
const NEAR: u64 = 2;

#[test]
fn packets_are_marked_as_often_as_the_fluid_model_has_it_to_a_factor_of_two() {
    let suites =
        rig_testcases::read::bundled(&Registry).expect("the bundled catalogue has no fault");
    let lab = rig_lab::read::lab(None).expect("the bundled lab has no fault");
    let wanted = |case: &&Case| case.id.case == "more-senders-are-marked-more";
    let case = suites.iter().flat_map(|suite| &suite.cases).find(wanted).expect("it is there");
    let stop = Stop::default();
    let rig = Rig::of(&lab, &[case], 7, &stop);
    let ran = case::run(&rig, case);
    let mut curves = ran.report.curves.iter();
    let curve = curves.find(|curve| curve.measure == "rate.fixed_point").expect("it is drawn");
    let senders: Vec<u64> = curve.points.iter().map(|point| point.x).collect();
    assert_eq!(senders, [2, 4, 8]);
    for point in &curve.points {
        let (measured, model) = (point.measured.middle(), point.predicted.lo);
        println!("{} senders: {measured} ppm measured, {model} ppm in the fluid model", point.x);
        let near = measured < model * NEAR && measured * NEAR > model;
        assert!(near, "{} senders: {measured} ppm, and {model} ppm in the model", point.x);
    }
}
