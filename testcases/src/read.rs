//! Reading suites: from files, from standard input, or from the bundled catalogue that is part of the program.
//!
//! Every fault of a file is reported at once. What needs a device to be known (rates against a port's speed) is left to
//! [`Case::script`](crate::Case::script), which points at the same places.

mod amount;
mod apps;
mod argument;
mod between;
mod case;
mod container;
mod dut;
mod found;
mod group;
mod kills;
mod known;
mod measure;
mod names;
mod nic;
mod places;
mod ports;
mod recorded;
mod sense;
mod steps;
mod sweep;
mod traffic;

pub use amount::PREDICTIONS;
pub(crate) use container::MOST as QUEUE_PAIRS;
pub use sweep::INTERVALS;

use crate::{Case, Suite, Vocabulary};
use rig_lab::fault::Fault;
use rig_lab::field::Holds;
use rig_lab::fields;
use rig_lab::file_kind::FileKind;
use rig_lab::walk::{At, Walk};
use rig_lab::yaml::{Source, Value};
use rig_lab::{Kind, Part, is_name};
use std::io;
use std::path::Path;

/// The suite of a text that no file names.
const PIPED: &str = "stdin";

/// The bundled catalogue, all of the folder's suites: name of the file and its text.
const BUNDLED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/suites.rs"));

/// Reads one file of test cases.
///
/// # Errors
/// Every fault of the file.
pub fn read(path: &Path, vocabulary: &dyn Vocabulary) -> Result<Suite, Vec<Fault>> {
    suite(&Source::read(path)?, vocabulary)
}

/// Reads one text of test cases that comes by standard input; its suite is called `stdin`.
///
/// # Errors
/// Every fault of it.
pub fn piped(from: impl io::Read, vocabulary: &dyn Vocabulary) -> Result<Suite, Vec<Fault>> {
    named(&Source::piped(from)?, PIPED, vocabulary)
}

/// Reads the bundled catalogue.
///
/// # Errors
/// Every fault of it; there is none in a released program.
pub fn bundled(vocabulary: &dyn Vocabulary) -> Result<Vec<Suite>, Vec<Fault>> {
    bundled_of(vocabulary, |_| true)
}

/// Reads those suites of the bundled catalogue whose names are wanted, and nothing else of it.
///
/// # Errors
/// Every fault of them; there is none in a released program.
pub fn bundled_of(
    vocabulary: &dyn Vocabulary,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Suite>, Vec<Fault>> {
    let suites = BUNDLED.iter().filter(|(file, _)| wanted(file.trim_end_matches(".yaml")));
    let source = |(file, text): &(&str, &str)| Source::new(&format!("testcases/{file}"), text);
    suites.map(|bundled| suite(&source(bundled), vocabulary)).collect()
}

/// Reads a suite from a text.
///
/// # Errors
/// Every fault of it.
pub fn suite(source: &Source, vocabulary: &dyn Vocabulary) -> Result<Suite, Vec<Fault>> {
    let stem = Path::new(&*source.file).file_stem().unwrap_or_default().to_string_lossy();
    named(source, &stem, vocabulary)
}

fn named(source: &Source, name: &str, vocabulary: &dyn Vocabulary) -> Result<Suite, Vec<Fault>> {
    let root = source.parse()?;
    let walk = Walk::new(source);
    let suite = read_suite(&walk.root(&root), (&source.file, name), vocabulary);
    let faults = walk.finish();
    suite.filter(|_| faults.is_empty()).ok_or(faults)
}

fn read_suite(
    at: &At<'_>,
    (file, stem): (&str, &str),
    vocabulary: &dyn Vocabulary,
) -> Option<Suite> {
    let stem = stem.to_owned();
    at.is_short(&stem);
    if !is_name(&stem) {
        let found = format!("the file's stem `{stem}` names the suite");
        at.fault(found, "a file name in lower case with dashes, such as pfcwd.yaml");
    }
    FileKind::Suite.may_be(at).then_some(())?;
    let fields = at.fields(&["about", "device", "covers", "setup", "cases"])?;
    let about = fields.need("about", "one line for people").and_then(|at| at.text("one line"));
    let device = fields.need("device", &Kind::wanted(&Kind::NAMES));
    let device = device.and_then(|at| at.choice(&Kind::NAMES)).unwrap_or(Kind::Switch);
    let covers = covers(fields.get("covers").as_ref());
    let setup = fields.get("setup");
    const SETUP: [&str; 10] = [
        "dut",
        "found",
        "ports",
        "streams",
        "flows",
        "apps",
        "between",
        "storms",
        "endpoints",
        "taps",
    ];
    let setup = setup.and_then(|at| at.fields(&SETUP));
    let broken = |why| at.fault(format!("the rows of fields are broken: {why}"), "a whole program");
    let pattern = rig_lab::sample(device).map_err(broken).ok()?;
    let durations = durations();
    let context = case::Context { vocabulary, suite: stem, device, setup, pattern, durations };
    let listed = fields.need("cases", "a mapping of cases by name")?;
    let listed = listed.entries("a mapping of cases by name")?;
    if listed.is_empty() {
        at.fault("there is no case", "a mapping of cases by name");
    }
    let mut cases: Vec<Case> = Vec::new();
    let mut whole = true;
    for (key, at) in listed {
        if !is_name(&key.name) {
            let want = "a name in lower case with dashes, such as detection-latency";
            at.at_key(format!("`{}` cannot name a case", key.name), want);
            whole = false;
            continue;
        }
        if !at.is_short(&key.name) {
            whole = false;
            continue;
        }
        let read = case::read(&context, &key.name, &at);
        whole &= !read.is_empty();
        for case in read {
            if !at.is_short(&case.id.case) {
                continue;
            }
            if cases.iter().any(|other| other.id == case.id) {
                let found = format!("a case `{}` is already there", case.id);
                at.at_key(found, "names that differ, the rule family's ending counted");
            } else {
                cases.push(case);
            }
        }
    }
    if let Some(setup) = context.setup.as_ref().filter(|_| whole) {
        let mut used: Vec<String> = cases.iter().flat_map(Case::rig_ports).collect();
        used.sort_by_key(|port| crate::resolve::port_number(port));
        used.dedup();
        ports::offered_to_none(setup, &used);
    }
    Some(Suite {
        name: context.suite,
        file: file.to_owned(),
        about: about?.to_owned(),
        covers,
        cases,
    })
}

/// The parts in which whatever breaks must turn some case of the file red; all where nothing is said.
fn covers(at: Option<&At<'_>>) -> Vec<Part> {
    let Some(at) = at else { return Part::NAMES.map(|(_, part)| part).to_vec() };
    if matches!(&at.node.value, Value::Text(word) if word == "none") {
        return Vec::new();
    }
    let all = at.one_or_many();
    if all.is_empty() {
        at.fault("no part is named", "`covers: none`, or a list of parts; without it: all of them");
    }
    let parts = Part::NAMES.map(|(name, part)| (name, Some(part)));
    let words = [&parts[..], &[("none", None)]].concat();
    let part = |at: &At<'_>| {
        let part = at.choice(&words)?;
        if part.is_none() {
            at.fault("`none` in a list", "`covers: none`, or a list of parts");
        }
        part
    };
    all.iter().filter_map(part).collect()
}

/// Paths of the configuration that are lengths of time.
fn durations() -> Vec<String> {
    let times = fields::all().filter(|(_, field)| field.holds == Holds::Time);
    times.map(|(path, _)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_of_the_folder_is_bundled() {
        let files = std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).expect("a folder");
        let names = files.map(|file| file.expect("a file").file_name().into_string());
        let names = names.map(|name| name.expect("a name of letters"));
        let mut found: Vec<String> = names.filter(|name| name.ends_with(".yaml")).collect();
        found.sort();
        let bundled: Vec<&str> = BUNDLED.iter().map(|&(file, _)| file).collect();
        assert_eq!(found, bundled);
    }
}
