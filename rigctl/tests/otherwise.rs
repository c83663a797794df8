//! Devices that declare what would be a mutant of another: each bundled device with some of its fields as they are tried elsewhere, declared
//! and done. Whatever it declares, a device that does it is not accused: no case FAILs, and none breaks.
//!
//! CI tries a few cases of few devices; `RIG_OTHERWISE_SEEDS=100..140` tries all cases on others, and names what is declared of the device of each
//! that is accused. What a device drew, `RIG_OTHERWISE_KEEP=FOLDER` keeps as lab files.

#[path = "common/accused.rs"]
mod accused_on;

use accused_on::accused_by;
use rig_lab::{Declared, Kind, Lab, Profile, Setting, field::Field, fields};
use rig_oracle::measure::Registry;
use rig_oracle::trials::seed::Seed;
use rig_testcases::Case;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What CI tries.
const SEEDS: Range<u64> = 1..3;
/// One of so many fields of a device is declared otherwise.
const OF: u64 = 12;
/// CI runs one of so many cases.
const SAMPLE: usize = 9;

fn seeds() -> Option<Range<u64>> {
    let text = std::env::var("RIG_OTHERWISE_SEEDS").ok().filter(|text| !text.is_empty())?;
    let ends = text.split_once("..").and_then(|(a, b)| Some(a.parse().ok()?..b.parse().ok()?));
    Some(ends.unwrap_or_else(|| panic!("RIG_OTHERWISE_SEEDS={text}: want `1..9`")))
}

fn bundled(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab-configs").join(name)
}

/// The profile with some of its fields otherwise, written to `file`; and those, in words. What contradicts the rest, as its reader finds, stays as it was.
fn declared_otherwise(profile: Profile, seed: &Seed, file: &Path) -> Vec<String> {
    let mut kept = profile;
    let mut told = Vec::new();
    let write = |profile: &Profile| {
        std::fs::write(file, profile.written().to_string()).expect("a file of the test's own");
    };
    let mut rows: Vec<(String, &'static Field)> = fields::all().collect();
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (path, field) in rows {
        let values = field.mutants();
        let mut chance = seed.split(&path);
        if values.is_empty() || chance.draw(OF) > 0 {
            continue;
        }
        let at = usize::try_from(chance.draw(values.len() as u64)).expect("one of a few");
        let Ok(declared) = kept.declared.overridden(&path, values[at]) else { continue };
        if declared == kept.declared {
            continue;
        }
        let mut other = kept.clone();
        other.declared = declared;
        write(&other);
        if let Ok(read) = rig_lab::read::profile(file) {
            told.push(format!("{path}={}", values[at]));
            kept = read;
        }
    }
    write(&kept);
    told
}

/// The bundled emulated devices, each otherwise, in a folder of their own; and what is otherwise, by device.
fn lab(seed: u64, folder: &Path) -> (Lab, Vec<String>) {
    let seed = Seed::of_run(seed);
    let duts = folder.join("duts");
    std::fs::create_dir_all(&duts).expect("a folder of the test's own");
    let mut names: Vec<PathBuf> = std::fs::read_dir(bundled("duts"))
        .expect("the bundled devices")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    names.sort();
    let mut all = Vec::new();
    for path in names {
        let profile = rig_lab::read::profile(&path).unwrap_or_else(|faults| panic!("{faults:#?}"));
        let file = duts.join(path.file_name().expect("a name"));
        let name = profile.name.clone();
        let told = declared_otherwise(profile, &seed.split(&name), &file);
        all.push(format!("{name}: {}", told.join(" ")));
    }
    let file = folder.join("lab.yaml");
    std::fs::copy(bundled("emulated.yaml"), &file).expect("the bundled lab");
    let lab = rig_lab::read::lab(Some(&file));
    (lab.unwrap_or_else(|faults| panic!("{all:#?}\n{faults:#?}")), all)
}

/// Who is accused on devices that follow from `seed`, how many cases passed, and how many fields are declared otherwise.
fn accused(seed: u64, sample: usize) -> (Vec<String>, usize, usize) {
    let own = tempfile::tempdir().expect("a temporary folder");
    let keep = std::env::var_os("RIG_OTHERWISE_KEEP").map(PathBuf::from);
    let folder = keep.map_or_else(|| own.path().to_owned(), |keep| keep.join(seed.to_string()));
    let (lab, told) = lab(seed, &folder);
    let suites = rig_testcases::read::bundled(&Registry).expect("the catalogue");
    let cases: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).collect();
    let first = usize::try_from(seed).unwrap_or(0) % sample;
    let cases: Vec<&Case> = cases.into_iter().skip(first).step_by(sample).collect();
    let (mut wrong, passed) = accused_by(&lab, &cases, seed);
    let otherwise = told.iter().map(|one| one.matches('=').count()).sum();
    if !wrong.is_empty() {
        wrong.extend(told);
    }
    (wrong, passed, otherwise)
}

#[test]
fn whatever_a_device_declares_it_is_not_accused_of_it() {
    let (seeds, sample) = seeds().map_or((SEEDS, SAMPLE), |seeds| (seeds, 1));
    let (mut wrong, mut passed, mut otherwise) = (Vec::new(), 0, 0);
    for seed in seeds {
        let (more, well, of) = accused(seed, sample);
        wrong.extend(more);
        passed += well;
        otherwise += of;
    }
    eprintln!("{passed} cases passed on devices with {otherwise} fields otherwise");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(passed > 80 && otherwise > 80, "{passed} passed, {otherwise} otherwise");
}

/// Speeds of the first ports of switches; whatever comes behind is of 100 Gb/s.
const UNEVEN: [&[&str]; 4] = [
    &["100Gbps", "25Gbps"],
    &["100Gbps", "1Gbps"],
    &["25Gbps", "100Gbps", "25Gbps"],
    &["100Gbps", "400Gbps"],
];

/// Cases that accused healthy switches with such ports.
const MENDED: [&str; 14] = [
    "buffers::lossy-drop-threshold-broadcom",
    "buffers::lossy-queue-with-a-limit-of-its-own",
    "buffers::lossy-never-pauses-broadcom",
    "buffers::loss-below-strict",
    "buffers::slow-receiver-with-dynamic-sharing-broadcom",
    "buffers::slow-receiver-with-static-shares-broadcom",
    "ecn::none-under-a-load-that-fits-broadcom",
    "ecn::marks-before-pauses-broadcom",
    "ecn::marks-grow-with-pauses-broadcom",
    "headroom::both-classes-of-a-frame-paused-broadcom",
    "headroom::pause-time-broadcom",
    "headroom::loss-against-response-broadcom",
    "pfcwd::restoration-of-forward-broadcom",
    "pfcwd::all-port-storm-mellanox",
];

/// The bundled switches of four makers with those ports first.
fn with_ports(speeds: &[&str]) -> Lab {
    let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
    lab.duts.retain(|dut| ["broadcom", "mellanox", "cisco-8000", "barefoot"].contains(&&*dut.name));
    let behind = core::iter::repeat_n("100Gbps", 8 - speeds.len());
    let ports = speeds.iter().copied().chain(behind);
    let ports = ports.map(|speed| serde_json::json!({"count": 1, "speed": speed}));
    let ports = serde_json::Value::from(ports.collect::<Vec<_>>());
    for dut in &mut lab.duts {
        let refresh = Setting { path: "pfc.refresh".to_owned(), value: "40us".into() };
        dut.declared = dut.declared.with(&refresh).expect("often enough for 400 Gb/s");
        let Declared::Switch(switch) = &mut dut.declared else { panic!("a switch") };
        switch.ports = serde_json::from_value(ports.clone()).expect("ports");
    }
    lab
}

#[test]
fn switches_with_ports_of_several_speeds_are_not_accused() {
    let suites = rig_testcases::read::bundled(&Registry).expect("the catalogue");
    let cases: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).collect();
    let cases: Vec<&Case> = cases.into_iter().filter(|case| case.kind == Kind::Switch).collect();
    let sample = seeds().map_or(SAMPLE * 3, |_| 1);
    for (at, speeds) in UNEVEN.into_iter().enumerate() {
        let lab = with_ports(speeds);
        let sampled = cases.iter().skip(at % sample).step_by(sample);
        let mended = cases.iter().filter(|case| MENDED.contains(&&*case.id.to_string()));
        let own: Vec<&Case> = sampled.chain(mended).copied().collect();
        let (wrong, passed) = accused_by(&lab, &own, 3);
        assert!(wrong.is_empty(), "{speeds:?}: {}", wrong.join("\n"));
        assert!(passed >= own.len() / 4, "{speeds:?}: {passed} of {}", own.len());
    }
}
