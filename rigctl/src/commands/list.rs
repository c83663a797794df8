//! `rigctl list`: cases, one a line, with the device that each would run on, what of it cannot be had there, or why it is skipped.

use super::input::{Bad, Input};
use crate::cli::Selection;
use crate::runner::choose::choose;
use crate::stdout;
use rig_reports::{Exit, printable};

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
            Ok((profile, reach)) if reach.left_out.is_empty() => profile.name.clone(),
            Ok((profile, reach)) => {
                format!("{}, without {}", profile.name, reach.left_out.join("; "))
            }
            Err(why) => format!("skipped: {why}"),
        };
        lines += &printable(&format!("{id:widest$}  {device}"));
        lines.push('\n');
    }
    stdout::text(&lines);
    Ok(if cases.is_empty() { Exit::NothingRan } else { Exit::Passed })
}
