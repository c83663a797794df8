//! The labs and profiles that are part of the program, so that it works from any directory.

use crate::fault::{Fault, one_of};
use crate::yaml::Source;

const EMULATED: &str = include_str!("../emulated.yaml");

/// Every profile of the folder: its path and its text.
const DUTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/duts.rs"));

/// The default lab.
pub(crate) fn lab() -> Source {
    Source::new("lab-configs/emulated.yaml", EMULATED)
}

/// A bundled profile, by its name in a lab.
pub(crate) fn dut(name: &str) -> Result<Source, Vec<Fault>> {
    let found = DUTS.iter().find(|&&(file, _)| file == name);
    found.map(|&(file, text)| Source::new(&format!("lab-configs/{file}"), text)).ok_or_else(|| {
        let names = DUTS.iter().map(|&(file, _)| file);
        vec![Fault::of_file(name, "there is no such bundled profile", one_of(name, names))]
    })
}
