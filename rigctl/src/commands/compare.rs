//! `rigctl compare`: what changed from one run to another.

use super::input::Bad;
use crate::cli::{CompareArgs, Format};
use crate::report_files::{EVENTS, RESULTS};
use crate::{stderr, stdout};
use rig_lab::file;
use rig_reports::compare::{Lack, Scope, same_draws};
use rig_reports::{Comparison, Exit, Results};
use rig_units::limits::RESULTS_BYTES;
use std::path::Path;

/// Compares; the exit code says whether something got worse.
///
/// # Errors
/// Files that cannot be read as results; both are named when both are wrong.
pub fn compare(args: &CompareArgs) -> Result<Exit, Bad> {
    let mut bad = Bad::default();
    let mut take = |path: &Path| read(path).map_err(|why| bad.note(why)).ok();
    let (old, new) = (take(&args.old), take(&args.new));
    let (Some(old), Some(new)) = (old, new) else { return Err(bad) };
    let scope = if args.common { Scope::Common } else { Scope::All };
    let comparison = Comparison::of(&old, &new, scope, &args.allow.lacks());
    match args.format {
        Format::Json => stdout::json(&comparison.to_json()),
        Format::Human if comparison.shifted() && !same_draws(&old, &new) => {
            stdout::text(&format!("{comparison}{OTHER_DRAWS}"));
        }
        Format::Human => stdout::text(&comparison.to_string()),
    }
    // An empty run that is allowed has nothing to be compared, and that is allowed with it.
    let empty = comparison.lacks.iter().any(|lacking| lacking.what == Lack::Empty);
    if !comparison.worse && comparison.common == 0 && !empty {
        stderr::line("nothing was compared: no case is in both runs");
        return Ok(Exit::NothingRan);
    }
    Ok(if comparison.worse { Exit::Failed } else { Exit::Passed })
}

const OTHER_DRAWS: &str = "        Note the draws differ, and with them the phase of the device's polls: a shift is no alarm by itself\n";

/// The results in a file, or in the folder of a run.
fn read(path: &Path) -> Result<Results, String> {
    let folder = path;
    let path = if path.is_dir() { path.join(RESULTS) } else { path.to_owned() };
    let file = path.display().to_string();
    if !path.exists() && folder.join(EVENTS).is_file() {
        let run = folder.display();
        return Err(format!(
            "{file}: the run died before it wrote this\n   = want: `rigctl report {run}` first"
        ));
    }
    let bytes = file::read(&path, RESULTS_BYTES)
        .map_err(|unread| format!("{file}: cannot be read: {unread}"))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{file}: it is not UTF-8 text"))?;
    Results::read(&file, &text).map_err(|why| why.to_string())
}
