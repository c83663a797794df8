//! Which device of the lab a case runs on. Identity selects; configuration is set, where it can be.

use super::reach;
use rig_lab::{Lab, Profile};
use rig_testcases::Case;

/// The first device of the lab to which the case applies.
///
/// # Errors
/// Why it applies to none, device by device: the reason of a skip.
pub fn choose<'a>(lab: &'a Lab, only: Option<&str>, case: &Case) -> Result<&'a Profile, String> {
    let candidates = lab.duts.iter().filter(|dut| only.is_none_or(|only| dut.name == only));
    let mut why_not = Vec::new();
    for dut in candidates {
        let suits = case.suits(dut).and_then(|()| reach::of(lab, dut, case).map(drop));
        match suits {
            Ok(()) => return Ok(dut),
            Err(lack) => why_not.push(format!("{}: {lack}", dut.name)),
        }
    }
    Err(format!("no device of lab {} fits ({})", lab.name, why_not.join("; ")))
}
