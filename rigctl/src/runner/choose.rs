//! Which device of the lab a case runs on. Identity selects; configuration is set, where it can be.

use super::applicability::{self, Applicability};
use indexmap::IndexMap;
use rig_lab::{Lab, Profile};
use rig_testcases::Case;

/// The first device of the lab to which the case applies, and what of the case can be had there.
///
/// # Errors
/// Why it applies to none, each reason with the devices that it keeps away: the reason of a skip.
pub fn choose<'a>(
    lab: &'a Lab,
    only: Option<&str>,
    case: &Case,
) -> Result<(&'a Profile, Applicability), String> {
    let candidates = lab.duts.iter().filter(|dut| only.is_none_or(|only| dut.name == only));
    let mut why_not: IndexMap<String, Vec<&str>> = IndexMap::new();
    for dut in candidates {
        let applies = || applicability::of(lab, dut, case).map_err(|unfit| unfit.why);
        let suits = case.suits(dut).and_then(|()| applies());
        match suits {
            Ok(reach) => return Ok((dut, reach)),
            Err(lack) => why_not.entry(lack).or_default().push(&dut.name),
        }
    }
    let why_not = why_not.iter().map(|(lack, duts)| format!("{}: {lack}", some(duts)));
    let why_not: Vec<String> = why_not.collect();
    Err(format!("no device of lab {} fits ({})", lab.name, why_not.join("; ")))
}

/// A few names, and how many more there are.
fn some(duts: &[&str]) -> String {
    const FEW: usize = 3;
    match duts.get(FEW + 1..) {
        None => duts.join(", "),
        Some(more) => format!("{} and {} more", duts[..FEW].join(", "), more.len() + 1),
    }
}
