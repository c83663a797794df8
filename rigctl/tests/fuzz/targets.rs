//! What is done with the bytes of each kind, as far as a command does it with what somebody gave it. Each says whether it took
//! them for sound.

use rig_dut::protocol::{self, Answer, Ask};
use rig_lab::yaml::Source;
use rig_lab::{Lab, read};
use rig_oracle::measure::Registry;
use rig_reports::compare::Scope;
use rig_reports::{Comparison, Results, Run, html, junit};
use rigctl::cli::Format;
use rigctl::commands::analyze;
use rigctl::runner::preflight;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::path::Path;

/// The bundled lab's files, in the repository.
const LABS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs");

fn bundled() -> Lab {
    read::lab(None).expect("the bundled lab")
}

/// As `check` does.
pub(crate) fn suite() -> impl Fn(&[u8]) -> bool {
    let lab = bundled();
    move |bytes| {
        let told = match rig_testcases::read::piped(bytes, &Registry) {
            Ok(suite) => {
                let faults = |case| preflight::faults(&lab, None, case);
                suite.cases.iter().flat_map(faults).map(|fault| fault.to_string()).collect()
            }
            Err(faults) => faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
        };
        told.is_empty()
    }
}

/// With the profiles that it names, from the repository.
pub(crate) fn lab(bytes: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(bytes) else { return false };
    let dut = |name: &str| Source::read(&Path::new(LABS).join(name));
    let lab = read::lab_from(&Source::new("lab.yaml", text), &dut);
    lab.map_err(|faults| faults.iter().map(ToString::to_string).collect::<String>()).is_ok()
}

pub(crate) fn profile(bytes: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(bytes) else { return false };
    let profile = read::profile_from(&Source::new("dut.yaml", text));
    profile.map_err(|faults| faults.iter().map(ToString::to_string).collect::<String>()).is_ok()
}

/// As `analyze` does, in both formats.
pub(crate) fn capture() -> impl Fn(&[u8]) -> bool {
    let lab = bundled();
    move |bytes| {
        let shown = |format| {
            analyze::shown("some.pcapng", bytes, &lab, None, format).map_err(|bad| bad.text())
        };
        shown(Format::Human).is_ok() && shown(Format::Json).is_ok()
    }
}

/// A line of either side.
pub(crate) fn control(bytes: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(bytes) else { return false };
    stable::<Ask>(protocol::QUESTION, text) || stable::<Answer>("an answer", text)
}

/// Whether a line is read; then it is written so that it is read the same.
fn stable<T>(what: &'static str, text: &str) -> bool
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    match protocol::read::<T>(what, text) {
        Ok(said) => {
            assert_eq!(protocol::read(what, &protocol::line(&said)).as_ref(), Ok(&said));
            true
        }
        Err(bad) => bad.to_string().is_empty(),
    }
}

/// As `compare` does, as the new run and as the old one.
pub(crate) fn results(sound: &[u8], bytes: &[u8]) -> bool {
    let read = |bytes: &[u8]| Results::read("results.json", str::from_utf8(bytes).ok()?).ok();
    let (Some(sound), Some(results)) = (read(sound), read(bytes)) else { return false };
    for (old, new) in [(&sound, &results), (&results, &sound)] {
        let told = Comparison::of(old, new, Scope::All, &[]);
        assert!(!told.to_string().is_empty() && !told.to_json().is_empty());
    }
    !results.to_json().is_empty()
}

/// As `report` does.
pub(crate) fn events(bytes: &[u8]) -> bool {
    let Ok(run) = Run::rebuilt("events.jsonl", bytes) else { return false };
    let _not_of_xml = junit::xml(&run);
    !html::page(&run).is_empty()
}

/// As `restore --dry-run` does.
pub(crate) fn journal() -> impl Fn(&[u8]) -> bool {
    let desk = tempfile::tempdir().expect("a temporary folder");
    move |bytes| {
        let file = desk.path().join("1-2.jsonl");
        std::fs::write(&file, bytes).expect("writable");
        let told =
            rig_dut::journal::restore(desk.path(), true, |_| true).expect("a folder of ours");
        told.iter().all(|told| told.entry.is_some() && !told.to_string().is_empty())
    }
}
