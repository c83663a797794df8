//! What a measurement says of itself is true: a device that is just outside of the values that it does not tell apart fails, at 95 of 100
//! seeds or more, and one half as far off less often. A seed each here; at night a hundred, by `RIG_RESOLUTION_SEEDS`.

use core::ops::Bound;
use rig_capture::Unit;
use rig_lab::{Lab, Setting};
use rig_oracle::measure::Registry;
use rig_oracle::{Alike, Verdict};
use rig_testcases::Case;
use rig_units::Dur;
use rigctl::mutation;
use rigctl::runner::case::{self, Ran, Rig};
use rigctl::stop::Stop;

/// A numeric field, and a bundled case that is as fine as any for it.
struct Held {
    field: &'static str,
    case: &'static str,
    /// What the case has its device set to, in the unit in which it is told.
    declared: u64,
    /// Whether half of it may show as often: it is rounded to what the stimulus sets, or other judgements see it,
    /// or what may hide it seldom does.
    coarse: bool,
}

const US: u64 = 1_000_000;

const HELD: &[Held] = &[
    held("wred.kmin", "ecn::curve-up-to-certainty-broadcom", 50_000),
    held("wred.kmax", "ecn::curve-up-to-certainty-broadcom", 300_000),
    held("wred.pmax", "ecn::curve-up-to-certainty-broadcom", 1_000_000),
    Held {
        coarse: true,
        ..held(
            "pfcwd.poll_interval",
            "pfcwd::detection-time-near-a-multiple-broadcom",
            100_000 * US,
        )
    },
    held("pfc.refresh", "headroom::xoff-refreshed-broadcom", 100 * US),
    Held { coarse: true, ..held("nic.rc.nak_latency", "recovery::the-other-way", US) },
    Held { coarse: true, ..held("nic.np.interval", "cnp::mark-after-a-silence", 50 * US) },
];

const fn held(field: &'static str, case: &'static str, declared: u64) -> Held {
    Held { field, case, declared, coarse: false }
}

impl Held {
    fn run(&self, (lab, case): (&Lab, &Case), seed: u64, value: Option<String>) -> Ran {
        let mut lab = lab.clone();
        if let Some(value) = value {
            let text = format!("{}={value}", self.field);
            mutation::apply(&mut lab, &[text]).unwrap_or_else(|faults| panic!("{faults:?}"));
        }
        let stop = Stop::default();
        case::run(&Rig::of(&lab, &[case], seed, &stop), case)
    }

    /// At how many seeds a device with this value fails.
    fn killed(&self, on: (&Lab, &Case), seeds: u64, (unit, value): (Unit, u64)) -> u64 {
        let text = written(unit, value).unwrap_or_else(|| panic!("{} is no field", self.field));
        let fails = |seed: &u64| {
            let ran = self.run(on, *seed, Some(text.clone()));
            matches!(ran.report.verdict, Verdict::Fail(_))
        };
        u64::try_from((1..=seeds).filter(fails).count()).unwrap_or(0)
    }

    /// What the healthy device's measurements do not tell apart; the narrowest of them.
    fn alike(&self, on: (&Lab, &Case)) -> Alike {
        let ran = self.run(on, 1, None);
        assert_eq!(ran.report.verdict, Verdict::Pass, "{}", self.case);
        let all = ran.report.judgements.into_iter().flat_map(|one| one.resolution.alike);
        let width = |one: &Alike| end(one.most, 0, u64::MAX) - end(one.least, 0, 0);
        let own = all.filter(|alike| alike.parameter == self.field && alike.holds(self.declared));
        own.min_by_key(width)
            .unwrap_or_else(|| panic!("{} says nothing of {}", self.case, self.field))
    }
}

/// A value of a field as a profile has it; `None` of what no field holds.
fn written(unit: Unit, value: u64) -> Option<String> {
    match unit {
        Unit::Ps => Some(Dur(value).to_string()),
        Unit::Bytes => Some(format!("{value}B")),
        Unit::Ppm => Some(format!("{value}ppm")),
        Unit::Frames | Unit::Bps | Unit::Count => None,
    }
}

/// An end of what is alike, or `by` further where that is alike, too.
fn end(end: Bound<u64>, by: i64, unbounded: u64) -> u64 {
    match end {
        Bound::Included(value) => value.saturating_add_signed(by),
        Bound::Excluded(value) => value,
        Bound::Unbounded => unbounded,
    }
}

#[test]
fn a_device_just_outside_of_what_is_alike_fails_and_one_half_as_far_off_less_often() {
    let suites = rig_testcases::read::bundled(&Registry).expect("the bundled catalogue");
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let seeds = std::env::var("RIG_RESOLUTION_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    let seeds = seeds.unwrap_or(1);
    for held in HELD {
        let mut cases = suites.iter().flat_map(|suite| &suite.cases);
        let case = cases.find(|case| case.id.to_string() == held.case);
        let on = (&lab, case.unwrap_or_else(|| panic!("there is no {}", held.case)));
        let alike = held.alike(on);
        let bounded = |bound: Bound<u64>| bound != Bound::Unbounded;
        assert!(bounded(alike.least) || bounded(alike.most), "{alike}");
        for (bound, by) in [(alike.least, -1), (alike.most, 1)] {
            if !bounded(bound) {
                continue;
            }
            let (outside, half) =
                (end(bound, by, 0), u64::midpoint(end(bound, by, 0), held.declared));
            let [outside, half] =
                [outside, half].map(|value| (value, held.killed(on, seeds, (alike.unit, value))));
            println!(
                "{alike}: {} fails at {} of {seeds} seeds, {} at {}",
                outside.0, outside.1, half.0, half.1
            );
            assert!(outside.1 * 100 >= seeds * 95, "{alike}: {outside:?} of {seeds}");
            // Of one seed chance may show the half, too.
            let halved = outside.0.abs_diff(held.declared) > 1;
            let tells = halved && !held.coarse && (alike.certain || seeds >= 100);
            assert!(!tells || half.1 < outside.1, "{alike}: {half:?} as often as {outside:?}");
        }
    }
}

/// Cases of which something was printed once that was not so.
const BY_DAY: [&str; 7] = [
    "ecn::not-capable-is-dropped-broadcom",
    "pfcwd::action-alert-broadcom",
    "pfcwd::storm-as-long-as-the-worst-case-broadcom",
    "pfcwd::interval-counter-trips-on-intermittent-pause",
    "pfcwd::bursts-of-half-a-poll-never-fire-broadcom",
    "headroom::xoff-and-xon-at-once-broadcom",
    "headroom::xoff-and-xon-at-once-barefoot",
];

/// What a healthy device's report says that it does not tell apart, the narrowest of each field.
fn printed((lab, case): (&Lab, &Case)) -> Vec<Alike> {
    let stop = Stop::default();
    let ran = case::run(&Rig::of(lab, &[case], 1, &stop), case);
    if ran.report.verdict != Verdict::Pass {
        return Vec::new();
    }
    let mut all: Vec<Alike> =
        ran.report.judgements.into_iter().flat_map(|one| one.resolution.alike).collect();
    let width = |one: &Alike| end(one.most, 0, u64::MAX) - end(one.least, 0, 0);
    all.sort_by(|a, b| (&a.parameter, width(a)).cmp(&(&b.parameter, width(b))));
    all.dedup_by(|a, b| a.parameter == b.parameter);
    all
}

/// Whether devices that have `field` so are found out: at the first seed where that is certain, else at one of three. `None` where there are none.
fn found_out((lab, case): (&Lab, &Case), field: &str, value: &str, certain: bool) -> Option<bool> {
    let mut other = lab.clone();
    mutation::apply(&mut other, &[format!("{field}={value}")]).ok()?;
    let stop = Stop::default();
    for seed in if certain { 1..=1 } else { 1..=3 } {
        match case::run(&Rig::of(&other, &[case], seed, &stop), case).report.verdict {
            Verdict::Fail(_) => return Some(true),
            // A device refuses it, so that there is none.
            Verdict::Broken(_) => return None,
            Verdict::Pass | Verdict::Inconclusive(_) | Verdict::Skipped(_) => {}
        }
    }
    Some(false)
}

/// Each field of which a report prints between which values it tells nothing: one step outside of either end fails. A few cases here; at night all,
/// by `RIG_WHOLE_BRACKETS=1`.
#[test]
fn one_step_outside_of_whatever_is_printed_as_alike_fails() {
    let suites = rig_testcases::read::bundled(&Registry).expect("the bundled catalogue");
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let whole = std::env::var_os("RIG_WHOLE_BRACKETS").is_some_and(|whole| whole == "1");
    let all = suites.iter().flat_map(|suite| &suite.cases);
    let is_meant = |case: &&Case| whole || BY_DAY.contains(&case.id.to_string().as_str());
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for case in all.filter(is_meant) {
        for alike in printed((&lab, case)) {
            for (bound, by) in [(alike.least, -1), (alike.most, 1)] {
                let outside = end(bound, by, 0);
                // Nothing is less than nothing, and a time of nothing is none that a device is set to.
                let none = bound == Bound::Excluded(0) && alike.unit == Unit::Ps;
                if bound == Bound::Unbounded || none || alike.holds(outside) {
                    continue;
                }
                let Some(value) = written(alike.unit, outside) else { continue };
                let on = (&lab, case);
                let found = found_out(on, &alike.parameter, &value, alike.certain);
                tried += u32::from(found.is_some());
                if found == Some(false) {
                    let why = format!("{}: {alike}, and {value} does not fail", case.id);
                    println!("{why}");
                    wrong.push(why);
                }
            }
        }
    }
    println!("{tried} values tried");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried >= 4, "{tried}");
}

#[test]
fn an_alert_is_not_said_to_tell_how_late_an_action_comes() {
    for (id, tells) in
        [("pfcwd::action-alert-broadcom", false), ("pfcwd::detection-latency-broadcom", true)]
    {
        let (lab, case) = bundled(id);
        let all = printed((&lab, &case));
        let of = |field: &str| all.iter().any(|one| one.parameter == field);
        assert!(of("pfcwd.detection_time"), "{id}");
        assert_eq!(of("pfcwd.action_latency"), tells, "{id}");
    }
}

/// A case of the bundled catalogue, and the bundled lab.
fn bundled(id: &str) -> (Lab, Case) {
    let of = |suite: &str| id.split_once("::").is_some_and(|(own, _)| own == suite);
    let suites = rig_testcases::read::bundled_of(&Registry, of).expect("the bundled catalogue");
    let mut cases = suites.into_iter().flat_map(|suite| suite.cases);
    let case = cases.find(|case| case.id.to_string() == id);
    (rig_lab::read::lab(None).expect("the bundled lab"), case.unwrap_or_else(|| panic!("no {id}")))
}

#[test]
fn a_device_that_begins_to_mark_a_frame_late_fails() {
    let held = held("wred.kmin", "ecn::kmin-to-the-cell-broadcom", 104_000);
    let (lab, case) = bundled(held.case);
    for seed in 1..=3 {
        let verdict = |value: Option<&str>| {
            held.run((&lab, &case), seed, value.map(str::to_owned)).report.verdict
        };
        assert_eq!(verdict(None), Verdict::Pass, "{seed}");
        assert!(matches!(verdict(Some("x1.01")), Verdict::Fail(_)), "{seed}");
    }
}

#[test]
fn a_switch_through_which_much_is_on_its_way_is_not_held_to_a_low_kmin() {
    let (lab, case) = bundled("ecn::none-under-a-load-that-fits-broadcom");
    let verdict = |delay: &str| {
        let mut lab = lab.clone();
        let setting = Setting { path: "forwarding_delay".to_owned(), value: delay.into() };
        for dut in lab.duts.iter_mut().filter(|dut| dut.declared.switch().is_some()) {
            dut.declared = dut.declared.with(&setting).expect("a delay");
        }
        let stop = Stop::default();
        case::run(&Rig::of(&lab, &[&case], 1, &stop), &case).report.verdict
    };
    assert_eq!(verdict("5us"), Verdict::Pass);
    // At 98 Gb/s 147 kB are on their way at once.
    let Verdict::Skipped(why) = verdict("12us") else { panic!("{:?}", verdict("12us")) };
    assert!(format!("{why:?}").contains("on its way through the device"), "{why:?}");
}
