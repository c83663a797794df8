//! `rigctl list`: cases, one a line, with the device that each would run on, what of it cannot be had there, or why it is skipped.

use super::input::{Bad, Input};
use crate::cli::Selection;
use crate::runner::applicability::{self, Missing};
use crate::runner::choose::choose;
use crate::{stderr, stdout};
use rig_lab::Lab;
use rig_oracle::measure::Stamps;
use rig_reports::{Exit, Shown, printable};
use rig_testcases::Case;

/// Lists.
///
/// # Errors
/// Every fault of what was to be listed.
pub fn list(selection: &Selection) -> Result<Exit, Bad> {
    let input = Input::read(selection)?;
    input.tell_unmatched();
    let cases = input.cases();
    let ids: Vec<String> = cases.iter().map(|case| case.id.to_string()).collect();
    let widest = ids.iter().map(String::len).max().unwrap_or(0);
    let mut lines = String::new();
    for (case, id) in cases.iter().zip(&ids) {
        let device = match choose(&input.lab, input.only_dut.as_deref(), case) {
            Ok((profile, reach)) => {
                let without = match reach.left_out.as_slice() {
                    [] => String::new(),
                    some => format!(", without {}", some.join("; ")),
                };
                format!("{}{}{without}", profile.name, finer(reach.stamps.as_ref()))
            }
            Err(why) => format!("skipped: {why}"),
        };
        lines += &printable(&format!("{id:widest$}  {device}"));
        lines.push('\n');
    }
    stdout::text(&lines);
    if !cases.is_empty() {
        stderr::show(&Shown::text(&had(&input.lab, &cases)));
    }
    Ok(if cases.is_empty() { Exit::NothingRan } else { Exit::Passed })
}

/// What timestamps a case needs, behind the name of something.
pub(super) fn finer(stamps: Option<&Stamps>) -> String {
    stamps.map(|one| format!(" (stamps within {})", one.within)).unwrap_or_default()
}

/// Of each device: how many of the cases are for it, how many of them can be had there, whole or without something, and how many lack
/// what.
fn had(lab: &Lab, cases: &[&Case]) -> String {
    let lacks = Missing::NAMES.map(|(word, _)| format!("{word:>8}")).concat();
    let device = "device";
    let widest = lab.duts.iter().map(|dut| dut.name.len()).max().unwrap_or(0).max(device.len());
    let mut table = format!("\n{device:widest$}   cases   whole    part{lacks}\n");
    for dut in &lab.duts {
        let of: Vec<_> = cases.iter().filter(|case| case.suits(dut).is_ok()).collect();
        let (mut whole, mut part) = (0, 0);
        let mut lacking = Missing::NAMES.map(|_| 0);
        for case in &of {
            match applicability::of(lab, dut, case) {
                Ok(reach) if reach.left_out.is_empty() => whole += 1,
                Ok(_) => part += 1,
                Err(unfit) => {
                    for (count, (_, lack)) in lacking.iter_mut().zip(Missing::NAMES) {
                        *count += usize::from(lack == unfit.lack);
                    }
                }
            }
        }
        let lacking = lacking.map(|count| format!("{count:8}")).concat();
        let (name, all) = (&dut.name, of.len());
        table += &format!("{name:widest$}{all:8}{whole:8}{part:8}{lacking}\n");
    }
    table
}
