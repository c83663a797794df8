use super::*;
use crate::{Jitter, RuleFamily};

fn all(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
}

fn files(folder: &str) -> Vec<std::path::PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(&root).unwrap_or_else(|e| panic!("{}: {e}", root.display()));
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut all: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|ext| ext == "yaml")).collect();
    all.sort();
    all
}

#[test]
fn every_lab_of_the_repository_is_read() {
    let labs = files("");
    assert!(labs.len() >= 8, "{labs:?}");
    for path in labs {
        let lab = lab(Some(&path)).unwrap_or_else(|faults| panic!("{}", all(&faults)));
        assert!(crate::is_name(&lab.name), "{}", lab.name);
    }
}

#[test]
fn every_profile_is_bundled_and_named_as_its_file() {
    for path in files("duts") {
        let profile = profile(&path).unwrap_or_else(|faults| panic!("{}", all(&faults)));
        assert_eq!(Some(profile.name.as_str()), path.file_stem().and_then(|s| s.to_str()));
        let bundled = bundled::dut(&format!("duts/{}.yaml", profile.name));
        let bundled = bundled.unwrap_or_else(|faults| panic!("{}", all(&faults)));
        assert_eq!(profile_from(&bundled), Ok(profile));
    }
}

#[test]
fn the_default_lab_needs_no_file_and_has_every_rule_and_both_poll_loops() {
    let lab = lab(None).unwrap_or_else(|faults| panic!("{}", all(&faults)));
    assert_eq!((lab.name.as_str(), lab.cable_cm), ("emulated", 300));
    for (name, family) in RuleFamily::NAMES {
        assert!(lab.duts.iter().any(|dut| dut.rule.family == family), "{name} is missing");
    }
    assert!(lab.duts.iter().any(|dut| dut.declared.pfcwd.jitter == Jitter::Tick));
}

#[test]
fn a_bundled_device_does_as_it_declares() {
    let lab = lab(None).unwrap_or_else(|faults| panic!("{}", all(&faults)));
    for dut in lab.duts {
        assert_eq!(dut.actual().applied(&dut.declared), Ok(dut.declared.clone()));
        assert_eq!(dut.actual().deviations(), []);
    }
}
