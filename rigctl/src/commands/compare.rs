//! `rigctl compare`: what changed from one run to another.

use super::input::Bad;
use crate::cli::{CompareArgs, Format};
use rig_lab::file;
use rig_reports::compare::{Kind, Scope};
use rig_reports::{Comparison, Exit, Results};
use rig_units::limits::RESULTS_BYTES;
use std::io::{self, Write};
use std::path::Path;

/// Compares; the exit code says whether something got worse: a case fails that did not, something is no longer shown, or a
/// measurement moved beyond its uncertainty although every draw was the same. Under another seed, or on real ports, the device's polls have another
/// phase each time: few trials of it may lie apart, both as predicted, so a shift is told there and is no alarm.
///
/// # Errors
/// Files that cannot be read as results; both are named when both are wrong.
pub fn compare(args: &CompareArgs) -> Result<Exit, Bad> {
    let mut bad = Bad::default();
    let mut take = |path: &Path| read(path).map_err(|why| bad.note(why)).ok();
    let (old, new) = (take(&args.old), take(&args.new));
    let (Some(old), Some(new)) = (old, new) else { return Err(bad) };
    let scope = if args.common { Scope::Common } else { Scope::All };
    let comparison = Comparison::of(&old, &new, scope);
    let shifted = comparison.changes.iter().any(|change| matches!(change.kind, Kind::Shifted(_)));
    let same_draws = old.seed == new.seed && [&old, &new].iter().all(|run| run.executor == VIRTUAL);
    let text = match args.format {
        Format::Json => comparison.to_json(),
        Format::Human if shifted && !same_draws => format!("{comparison}{OTHER_DRAWS}"),
        Format::Human => comparison.to_string(),
    };
    let _closed = io::stdout().write_all(text.as_bytes());
    let worse = comparison.regressed() || (shifted && same_draws);
    if !worse && comparison.common == 0 {
        let _closed = writeln!(io::stderr(), "nothing was compared: no case is in both runs");
        return Ok(Exit::NothingRan);
    }
    Ok(if worse { Exit::Failed } else { Exit::Passed })
}

/// Where a run leaves its results in its folder.
const RESULTS: &str = "results.json";
/// What `results.json` calls runs in virtual time.
const VIRTUAL: &str = "virtual";
const OTHER_DRAWS: &str = "        Note the draws differ, and with them the phase of the device's polls: a shift is no alarm by itself\n";

/// The results in a file, or in the folder of a run.
fn read(path: &Path) -> Result<Results, String> {
    let path = if path.is_dir() { path.join(RESULTS) } else { path.to_owned() };
    let file = path.display().to_string();
    let bytes = file::read(&path, RESULTS_BYTES)
        .map_err(|unread| format!("{file}: cannot be read: {unread}"))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{file}: it is not UTF-8 text"))?;
    Results::read(&file, &text).map_err(|why| why.to_string())
}
