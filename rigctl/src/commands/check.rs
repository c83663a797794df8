//! `rigctl check`: every fault of every file, and what would run; nothing runs.

use super::input::{Bad, Input};
use super::words::count;
use crate::cli::Selection;
use crate::runner::choose::choose;
use crate::runner::preflight;
use crate::stdout;
use rig_reports::{Exit, printable};

/// Reads and resolves everything.
///
/// # Errors
/// Every fault.
pub fn check(selection: &Selection) -> Result<Exit, Bad> {
    let input = Input::read(selection)?;
    input.tell_unmatched();
    let mut bad = Bad::default();
    let cases = input.cases();
    let mut skipped = 0;
    for case in &cases {
        skipped += usize::from(choose(&input.lab, input.only_dut.as_deref(), case).is_err());
        bad.faults(&preflight::faults(&input.lab, input.only_dut.as_deref(), case));
    }
    bad.or(())?;
    let line = format!(
        "{} on lab {}: no fault{}",
        count(cases.len(), "case"),
        input.lab.name,
        if skipped == 0 {
            String::new()
        } else {
            format!(", {skipped} would be skipped (rigctl list says why)")
        }
    );
    stdout::text(&format!("{}\n", printable(&line)));
    Ok(if cases.is_empty() { Exit::NothingRan } else { Exit::Passed })
}
