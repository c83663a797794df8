//! Devices by their sheets: each bundled one with every time that it declares as a range about it, as a sheet gives one. Wherever inside
//! them a device is, nobody is accused: one range at its least and at its greatest, all of them so, and what each draws.
//!
//! Nor are devices of whose times a sheet says much less: ten times as long at the most, and a watchdog that acts within 150 ms or 300 ms.
//!
//! CI tries a few cases of each; `RIG_WHOLE_SHEETS=200` tries all cases, and so many draws.

use rig_lab::field::{Field, Holds};
use rig_lab::{Lab, Macsec, Mutation, Profile, fields};
use rig_oracle::measure::Registry;
use rig_oracle::verdict::Verdict;
use rig_testcases::{Case, Sweep};
use rig_units::{Dur, Within};
use rigctl::runner::case::{self, Rig};
use rigctl::runner::pool::{News, default_jobs, in_order};
use rigctl::stop::Stop;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// CI runs one of so many cases.
const SAMPLE: usize = 61;
/// And one of so many ranges at each end alone.
const OF: usize = 5;
/// What CI has drawn.
const DRAWS: u64 = 2;

/// What no bundled device declares: of those that speak MACsec, and of one whose groups have limits. (Where frames count late much is not told that shows the
/// other ranges: the other devices of its family show them.)
const BESIDE: [(&str, &str); 2] =
    [("macsec.latency_per_byte", "80ps"), ("buffer.accounting_delay", "2us")];

/// The lab whose devices have ranges; and each range, by path, with the ends that it has on some device: one device's is another than another's.
fn lab() -> (Lab, Vec<String>) {
    let own = tempfile::tempdir().expect("a temporary folder");
    let file = own.path().join("dut.yaml");
    let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
    let mut rows: Vec<(String, &'static Field)> = fields::all().collect();
    rows.retain(|(_, field)| field.holds == Holds::Range);
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut paths = Vec::new();
    for dut in lab.duts.iter_mut().filter(|dut| dut.system.is_none()) {
        for (path, value) in BESIDE {
            let Some(switch) = dut.declared.switch() else { continue };
            let means = match path {
                "macsec.latency_per_byte" => switch.macsec != Macsec::off(),
                _ => dut.name == "broadcom",
            };
            if means {
                dut.declared = dut.declared.overridden(path, value).expect("a range");
            }
        }
        for (path, _) in &rows {
            let Some(range) = dut.declared.get(path).and_then(|said| wide(&said)) else { continue };
            if declares(dut, (path, &range), &file) {
                paths.push(path.clone());
            }
        }
    }
    paths.sort();
    paths.dedup();
    (lab, paths)
}

/// Whether a device may declare that, and does now: what contradicts the rest stays as it was. A pair has no file.
fn declares(dut: &mut Profile, (path, value): (&str, &str), file: &Path) -> bool {
    let Ok(declared) = dut.declared.overridden(path, value) else { return false };
    let mut other = dut.clone();
    other.declared = declared;
    std::fs::write(file, other.written().to_string()).expect("a file of the test's own");
    if dut.declared.port_count() > 2 && rig_lab::read::profile(file).is_err() {
        return false;
    }
    dut.declared = other.declared;
    true
}

/// The bundled lab, of whose devices each declares of one time what `said` makes of it, where it may; `None` where none does.
fn loosened(path: &str, said: impl Fn(&Profile, Option<&Value>) -> Option<String>) -> Option<Lab> {
    let own = tempfile::tempdir().expect("a temporary folder");
    let file = own.path().join("dut.yaml");
    let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
    let mut any = false;
    for dut in lab.duts.iter_mut().filter(|dut| dut.system.is_none()) {
        let range = said(dut, dut.declared.get(path).as_ref());
        any |= range.is_some_and(|range| declares(dut, (path, &range), &file));
    }
    any.then_some(lab)
}

/// Anything up to ten times as long; of nothing there is no such.
fn tenfold(_: &Profile, said: Option<&Value>) -> Option<String> {
    let within: Within = serde_json::from_value(said?.clone()).ok()?;
    let most = within.most() * 10;
    (most > Dur::ZERO).then(|| format!("0ns..{most}"))
}

/// A range about a time, a fifth of it below and a quarter above; of nothing none is made.
fn wide(said: &Value) -> Option<String> {
    let within: Within = serde_json::from_value(said.clone()).ok()?;
    let (least, most) = (within.least().0 / 5 * 4, within.most().0 / 4 * 5);
    (least < most).then(|| format!("{}..{}", Dur(least), Dur(most)))
}

/// Devices that are so, whatever is declared of them: each of `paths` at the end that `end` takes of its range.
fn at(lab: &Lab, paths: &[String], end: fn(Within) -> Dur) -> Lab {
    let mut lab = lab.clone();
    for dut in lab.duts.iter_mut().filter(|dut| dut.system.is_none()) {
        for path in paths {
            let said = dut.declared.get(path);
            let within = said.and_then(|said| serde_json::from_value::<Within>(said).ok());
            let Some(within) = within.filter(|within| within.least() < within.most()) else {
                continue;
            };
            let value = end(within).to_string();
            let pinned = Mutation::Override { path: path.clone(), value };
            dut.mutate(&pinned).unwrap_or_else(|why| panic!("{}: {path}: {why}", dut.name));
        }
    }
    lab
}

/// The same devices, but every switch cuts frames through that has no MACsec.
fn cutting_through(lab: &Lab) -> Lab {
    let mut lab = lab.clone();
    for dut in lab.duts.iter_mut().filter(|dut| dut.system.is_none()) {
        let may = dut.declared.switch().is_some_and(|switch| switch.macsec == Macsec::off());
        if may {
            let cuts = dut.declared.overridden("switching_mode", "cut-through");
            dut.declared = cuts.expect("a mode");
        }
    }
    lab
}

/// What belongs to the pause times of a switch: at ports of another speed as many quanta, so that what is pinned at one speed is no value of the sheet at another.
const IN_QUANTA: [&str; 2] = ["pfc.refresh", "pfc.response"];

/// Whether a case sets one of these itself: a device that does not do as it is told is no healthy one.
fn sets(case: &Case, paths: &[String]) -> bool {
    let at_speeds = case.sweep.iter().any(|sweep| matches!(sweep, Sweep::Speed { .. }));
    if at_speeds && paths.iter().any(|path| IN_QUANTA.contains(&path.as_str())) {
        return true;
    }
    let swept = case.sweep.iter().filter_map(|sweep| match sweep {
        Sweep::Setting { path, .. } => Some(path),
        _ => None,
    });
    let mut set = case.settings.iter().map(|setting| &setting.path).chain(swept);
    set.any(|path| paths.contains(path))
}

/// Who is accused, with what, and how many cases came to which end.
fn accused(lab: &Lab, cases: &[&Case], seed: u64) -> (Vec<String>, BTreeMap<&'static str, usize>) {
    let stop = Stop::default();
    let rig = Rig::of(lab, cases, seed, &stop);
    let (mut wrong, mut ends) = (Vec::new(), BTreeMap::new());
    let run = |index: usize| case::run(&rig, cases[index]).report;
    in_order(cases.len(), default_jobs(), &stop, run, |_, news| {
        let News::Done(report) = news else { return };
        let (end, why) = match &report.verdict {
            Verdict::Skipped(_) => ("skipped", None),
            Verdict::Pass => ("passed", None),
            Verdict::Inconclusive(_) => ("inconclusive", None),
            Verdict::Fail(findings) => ("failed", findings.first().map(ToString::to_string)),
            Verdict::Broken(why) => ("broken", Some(format!("{why:?}"))),
        };
        *ends.entry(end).or_default() += 1;
        let (id, on) = (&report.id, &report.dut);
        wrong.extend(why.map(|why| format!("seed {seed}: {id} on {on}: {why}")));
    });
    (wrong, ends)
}

#[test]
fn nobody_is_accused_wherever_inside_its_sheet_it_is() {
    let draws = std::env::var("RIG_WHOLE_SHEETS").ok().filter(|text| !text.is_empty());
    let draws: Option<u64> = draws.map(|text| text.parse().expect("a number of draws"));
    let (lab, paths) = lab();
    assert!(paths.len() > 20, "{paths:?}");
    let suites = rig_testcases::read::bundled(&Registry).expect("the catalogue");
    let all: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).collect();
    let (sample, of) = draws.map_or((SAMPLE, OF), |_| (1, 1));
    let (mut wrong, mut passed) = (Vec::new(), 0);
    let mut round = 0;
    let mut tell = |what: &str, lab: &Lab, pinned: &[String], seed: u64| {
        round += 1;
        let cases = all.iter().skip(round % sample).step_by(sample).copied();
        let cases: Vec<&Case> = cases.filter(|case| !sets(case, pinned)).collect();
        let (more, ends) = accused(lab, &cases, seed);
        eprintln!("{what}: {ends:?}");
        // Of those that ran at all: a round in which nobody decides shows nothing.
        let of = |end: &str| ends.get(end).copied().unwrap_or_default();
        let ran = ["passed", "inconclusive", "failed", "broken"].map(of).iter().sum::<usize>();
        assert!(of("passed") * 5 >= ran * 4, "{what}: {ends:?}");
        more.iter().for_each(|why| eprintln!("  {why}"));
        wrong.extend(more.into_iter().map(|why| format!("{what}: {why}")));
        passed += ends.get("passed").copied().unwrap_or_default();
    };
    let ends = [("least", Within::least as fn(Within) -> Dur), ("greatest", Within::most)];
    for (name, end) in ends {
        tell(&format!("all at their {name}"), &at(&lab, &paths, end), &paths, 1);
    }
    for seed in 1..=draws.unwrap_or(DRAWS) {
        tell("drawn", &lab, &[], seed);
        tell("drawn, and cutting through", &cutting_through(&lab), &[], seed);
    }
    for (name, end) in ends {
        for path in paths.iter().step_by(of) {
            let one = core::slice::from_ref(path);
            tell(&format!("{path} at its {name}"), &at(&lab, one, end), one, 1);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(passed > 100, "{passed} passed");
}

/// How late watchdogs may act.
const LATE: [&str; 3] = ["0ms..70ms", "0ms..150ms", "0ms..300ms"];
/// Cases that go on once a watchdog has acted, or has let go.
const AFTERWARDS: [&str; 10] = [
    "pfcwd::shares-after-a-storm",
    "pfcwd::drop-at-oversubscription-broadcom",
    "pfcwd::drop-at-oversubscription-mellanox",
    "pfcwd::forward-at-oversubscription-broadcom",
    "pfcwd::mixed-speed",
    "pfcwd::second-storm-hardware",
    "pfcwd::isolation-of-queue-and-port-hardware",
    "pfcwd::hardware-recovery",
    "reboot::storm-acted-on-stays-so-in-a-warm-reboot-broadcom",
    "reboot::storm-that-was-ended-stays-away-broadcom",
];

#[test]
fn nobody_is_accused_of_what_a_loose_sheet_leaves_open() {
    let whole = std::env::var("RIG_WHOLE_SHEETS").is_ok_and(|text| !text.is_empty());
    let suites = rig_testcases::read::bundled(&Registry).expect("the catalogue");
    let all: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).collect();
    let afterwards = |case: &&Case| AFTERWARDS.contains(&case.id.to_string().as_str());
    let found = all.iter().copied().filter(afterwards).count();
    assert_eq!(found, AFTERWARDS.len());
    let (mut wrong, mut passed) = (Vec::new(), 0);
    let mut tell =
        |what: &str, lab: &Lab, cases: &[&Case], seeds: core::ops::RangeInclusive<u64>| {
            for seed in seeds {
                let (more, ends) = accused(lab, cases, seed);
                eprintln!("{what}, seed {seed}: {ends:?}");
                more.iter().for_each(|why| eprintln!("  {why}"));
                wrong.extend(more.into_iter().map(|why| format!("{what}: {why}")));
                passed += ends.get("passed").copied().unwrap_or_default();
            }
        };
    for (round, late) in LATE.into_iter().enumerate() {
        let lab = loosened("pfcwd.action_latency", |dut, _| {
            dut.declared.switch().map(|_| late.to_owned())
        });
        let lab = lab.expect("watchdogs");
        let more = all.iter().copied().skip(round).step_by(SAMPLE);
        let some: Vec<&Case> = all.iter().copied().filter(afterwards).chain(more).collect();
        let (cases, seeds) = if whole { (&all, 1..=12) } else { (&some, 1..=2) };
        tell(&format!("pfcwd.action_latency {late}"), &lab, cases, seeds);
    }
    let mut paths: Vec<String> = fields::all()
        .filter(|(_, field)| field.holds == Holds::Range)
        .map(|(path, _)| path)
        .collect();
    paths.sort();
    let labs = paths.iter().filter_map(|path| Some((path, loosened(path, tenfold)?)));
    let of = if whole { 1 } else { OF };
    for (round, (path, lab)) in labs.enumerate().filter(|(round, _)| round % of == 0) {
        let sample = if whole { 1 } else { SAMPLE };
        let cases: Vec<&Case> = all.iter().copied().skip(round % sample).step_by(sample).collect();
        tell(&format!("{path} ten times"), &lab, &cases, 1..=if whole { 4 } else { 1 });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(passed > 50, "{passed} passed");
}

/// The same devices, one time of theirs beyond its sheet: a case says so.
#[test]
fn one_outside_its_sheet_is_accused() {
    let (lab, _) = lab();
    let suites = rig_testcases::read::bundled(&Registry).expect("the catalogue");
    let all = suites.iter().flat_map(|suite| &suite.cases);
    let all: Vec<&Case> = all.collect();
    let twice = |within: Within| within.most() * 2;
    for (path, id) in [
        ("forwarding_delay", "pfcwd::forwarding-latency-broadcom"),
        ("buffer.accounting_delay", "headroom::loss-against-cable-broadcom"),
        ("nic.np.latency", "cnp::mark-to-cnp"),
        ("nic.rc.ack_latency", "cnp::acknowledgements-of-each-message"),
    ] {
        let path = [path.to_owned()];
        let own = all.iter().filter(|case| case.id.to_string() == id);
        let own: Vec<&Case> = own.copied().collect();
        assert!(!own.is_empty(), "{path:?}");
        let (wrong, ends) = accused(&at(&lab, &path, twice), &own, 1);
        assert!(!wrong.is_empty(), "{path:?}: {ends:?}");
    }
}
