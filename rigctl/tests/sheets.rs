//! Devices by their sheets: each bundled one with every time that it declares as a range about it, as a sheet gives one. Wherever inside
//! them a device is, nobody is accused: one range at its least and at its greatest, all of them so, and what each draws.
//!
//! CI tries a few cases of each; `RIG_WHOLE_SHEETS=200` tries all cases, and so many draws.

use rig_lab::field::{Field, Holds};
use rig_lab::{Lab, Macsec, Mutation, fields};
use rig_oracle::measure::Registry;
use rig_oracle::verdict::Verdict;
use rig_testcases::{Case, Sweep};
use rig_units::{Dur, Within};
use rigctl::runner::case::{self, Rig};
use rigctl::runner::pool::{News, default_jobs, in_order};
use rigctl::stop::Stop;
use serde_json::Value;
use std::collections::BTreeMap;

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
            let Ok(declared) = dut.declared.overridden(path, &range) else { continue };
            let mut other = dut.clone();
            other.declared = declared;
            // What contradicts the rest stays as it was. A pair has no file.
            let written = other.written().to_string();
            std::fs::write(&file, written).expect("a file of the test's own");
            if dut.declared.port_count() > 2 && rig_lab::read::profile(&file).is_err() {
                continue;
            }
            dut.declared = other.declared;
            paths.push(path.clone());
        }
    }
    paths.sort();
    paths.dedup();
    (lab, paths)
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

/// Whether a case sets one of these itself: a device that does not do as it is told is no healthy one.
fn sets(case: &Case, paths: &[String]) -> bool {
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
