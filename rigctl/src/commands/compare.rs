//! `rigctl compare`: what changed from one run to another.

use super::input::Bad;
use crate::cli::{CompareArgs, Format};
use rig_reports::compare::Kind;
use rig_reports::{Comparison, Exit, Results};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Compares; the exit code says whether a case fails that did not or a measurement moved beyond its uncertainty.
///
/// # Errors
/// Files that cannot be read as results; both are named when both are wrong.
pub fn compare(args: &CompareArgs) -> Result<Exit, Bad> {
    let mut bad = Bad::default();
    let mut take = |path: &Path| read(path).map_err(|why| bad.note(why)).ok();
    let (old, new) = (take(&args.old), take(&args.new));
    let (Some(old), Some(new)) = (old, new) else { return Err(bad) };
    let comparison = Comparison::of(&old, &new);
    let text = match args.format {
        Format::Human => comparison.to_string(),
        Format::Json => comparison.to_json(),
    };
    let _closed = io::stdout().write_all(text.as_bytes());
    Ok(if worse(&comparison) { Exit::Failed } else { Exit::Passed })
}

fn worse(comparison: &Comparison) -> bool {
    let shifted = comparison.changes.iter().any(|change| matches!(change.kind, Kind::Shifted(_)));
    comparison.regressed() || shifted
}

fn read(path: &Path) -> Result<Results, String> {
    let file = path.display().to_string();
    let text =
        fs::read_to_string(path).map_err(|error| format!("{file}: cannot be read: {error}"))?;
    Results::read(&file, &text).map_err(|why| why.to_string())
}
