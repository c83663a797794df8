//! `rigctl bench`: what this machine does, over several rounds.

mod child;
mod ends;
mod frames;
mod oracle;
mod pacing;
mod rounds;
mod tx;

use super::input::Bad;
use crate::cli::{BenchCommand, Format};
use crate::{stderr, stdout};
use rig_reports::Exit;
use serde::Serialize;

/// Measures and prints.
///
/// # Errors
/// Flags that do not go together.
pub fn bench(what: &BenchCommand) -> Result<Exit, Bad> {
    match what {
        BenchCommand::Pacing(args) => pacing::fits(args).map_err(Bad::of)?,
        BenchCommand::Oracle(args) => oracle::fits(args).map_err(Bad::of)?,
        BenchCommand::Frames(_) | BenchCommand::Tx(_) => {}
    }
    let optimised = !cfg!(debug_assertions);
    let measured = match what {
        BenchCommand::Oracle(args) => oracle::run(args).map(|of| (args.format, shown(&of))),
        BenchCommand::Frames(args) => Ok((args.format, shown(&frames::run()))),
        BenchCommand::Pacing(args) => pacing::run(args).map(|of| (args.format, shown(&of))),
        BenchCommand::Tx(args) => tx::run(args).map(|of| (args.format, shown(&of))),
    };
    let (format, (text, json)) = match measured {
        Ok(measured) => measured,
        Err(why) => {
            stderr::line(&format!("error: {why}"));
            return Ok(Exit::Broken);
        }
    };
    match format {
        Format::Json => stdout::json(&json),
        Format::Human if optimised => stdout::text(&text),
        Format::Human => stdout::text(&format!(
            "{text}{:>12} this build is not optimised; build with --release for figures that count\n",
            "Warning"
        )),
    }
    Ok(Exit::Passed)
}

fn shown<B: Serialize + ToString>(bench: &B) -> (String, String) {
    (bench.to_string(), serde_json::to_string_pretty(bench).unwrap_or_default())
}
