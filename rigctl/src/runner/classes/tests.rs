//! Each reason on a bundled switch that has fewer classes, and on the same switch as it is.

use super::super::{applicability, bundled};
use rig_lab::Setting;
use serde_json::{Value, json};

/// What is left out of the case of that name on `broadcom` once `path` is set, or why nothing is left of it.
fn of(name: &str, set: &[(&str, Value)]) -> Result<Vec<String>, String> {
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let mut dut = lab.duts.iter().find(|dut| dut.name == "broadcom").expect("a device").clone();
    for (path, value) in set {
        let setting = Setting { path: (*path).to_owned(), value: value.clone() };
        dut.declared = dut.declared.with(&setting).expect("it fits");
    }
    let mut case = bundled::case(name);
    // A case that says itself which classes it needs selects its device by them.
    case.settings.retain(|setting| !setting.path.starts_with("qos."));
    let of = applicability::of(&lab, &dut, &case);
    of.map(|reach| reach.left_out).map_err(|unfit| unfit.why)
}

/// One lossless class, which is guarded.
fn one() -> [(&'static str, Value); 2] {
    [("qos.pfcwd_sw_enable", json!([3])), ("qos.pfc_enable", json!([3]))]
}

fn left(all: &[&str]) -> Result<Vec<String>, String> {
    Ok(all.iter().map(|one| (*one).to_owned()).collect())
}

#[test]
fn a_class_that_is_not_lossless_is_not_asked_what_pfc_does_to_it() {
    let both = "headroom::both-classes-of-a-frame-paused-broadcom";
    assert_eq!(of(both, &[]), left(&[]));
    assert_eq!(of(both, &one()), left(&["pfc.duty: class 4 is not lossless (qos.pfc_enable)"]));
    // What asks for no lossless class is asked all the same.
    assert_eq!(of("headroom::lossy-class-not-paused-broadcom", &one()), left(&[]));
}

#[test]
fn a_class_that_nobody_guards_is_not_asked_for_its_watchdog() {
    let both = "pfcwd::both-lossless-classes-broadcom";
    let why = "no watchdog guards class 4 (qos.pfcwd_sw_enable)";
    assert_eq!(of(both, &[]), left(&[]));
    assert_eq!(of(both, &one()), left(&[&format!("pfcwd.detection: {why}")]));
    assert_eq!(of(both, &one()[..1]), left(&[&format!("pfcwd.detection: {why}")]));
    let last_resort = "pfcwd::big-red-switch-drops-every-guarded-queue-broadcom";
    assert_eq!(of(last_resort, &[]), left(&[]));
    // Of a neighbour at the port, and of one at another.
    let loss = format!("loss: {why}");
    assert_eq!(of(last_resort, &one()), left(&[&loss, &loss]));
}

#[test]
fn what_rests_on_a_class_that_is_not_lossless_is_not_asked() {
    let other = [("qos.pfcwd_sw_enable", json!([5])), ("qos.pfc_enable", json!([5]))];
    let lossy = "class 3 is not lossless (qos.pfc_enable)";
    let held = format!("loss: {lossy}, and `storm` is to hold frames of it");
    let unguarded = "no watchdog guards class 3 (qos.pfcwd_sw_enable)";
    let xoff = format!("pfc.sent: {lossy}");
    let fired = format!("pfcwd.fired: {unguarded}");
    let deaf = "pfcwd::sender-that-ignores-pfc-broadcom";
    assert_eq!(of(deaf, &other), left(&[&fired, &xoff, &held]));
    assert_eq!(of("headroom::xoff-refreshed-broadcom", &other), left(&[&xoff]));
    let idle = format!("loss: {unguarded}");
    assert_eq!(of("pfcwd::idle-queue-is-stormed-broadcom", &other), left(&[&idle]));
    // Each of a ring enters by the port that its storm comes from.
    let ring = "pfcwd::all-port-storm-broadcom";
    let nothing = format!(
        "nothing of it can be measured: pfcwd.detection: {unguarded}; pfcwd.restoration: {unguarded}"
    );
    assert_eq!(of(ring, &other), Err(nothing));
    let filled = ["ecn.counters", "ecn.curve"]
        .map(|name| format!("{name}: {lossy}, and `hold` is to hold frames of it"))
        .join("; ");
    let filled = format!("nothing of it can be measured: {filled}");
    assert_eq!(of("ecn::curve-broadcom", &other), Err(filled));
    let kept = format!("nothing of it can be measured: loss: {lossy}; share.withheld: {lossy}");
    assert_eq!(of("buffers::incast-of-lossless-senders-broadcom", &other), Err(kept));
    for name in [
        "buffers::incast-of-lossless-senders-broadcom",
        deaf,
        ring,
        "pfcwd::idle-queue-is-stormed-broadcom",
    ] {
        assert_eq!(of(name, &[]), left(&[]), "{name}");
    }
}

#[test]
fn what_is_searched_of_a_class_that_is_not_lossless_is_not_searched() {
    let why = "buffer.xoff: class 4 is not lossless (qos.pfc_enable)";
    assert_eq!(of("buffers::thresholds-in-turn-broadcom", &one()), Err(why.to_owned()));
    let held = "class 4 is not lossless (qos.pfc_enable), and `hold` is to hold frames of it";
    let breakpoint = of("buffers::shared-headroom-pool-broadcom", &one());
    assert_eq!(breakpoint, Err(format!("buffer.drop: {held}")));
    // One class is enough for the others.
    assert_eq!(of("buffers::xoff-threshold-broadcom", &one()), left(&[]));
}

#[test]
fn a_class_without_a_dscp_is_no_fault_of_the_file() {
    let name = "headroom::lossy-class-not-paused-broadcom";
    let map = json!({"3": 3, "4": 4, "8": 0, "48": 6});
    let few = [("qos.dscp_to_tc", map)];
    let why = "it maps no DSCP to class 2 (qos.dscp_to_tc)";
    assert_eq!(of(name, &few), Err(why.to_owned()));
    assert_eq!(of("buffers::xoff-threshold-broadcom", &few), left(&[]));
}
