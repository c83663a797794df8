//! `rigctl report`: the reports of a run, made again from what it wrote down while it ran.

use super::input::Bad;
use crate::cli::ReportArgs;
use crate::fence::{self, Gap};
use crate::folder::Refused;
use crate::outdir::OutDir;
use crate::report_files::{EVENTS, Files};
use crate::{stderr, stdout};
use rig_reports::terminal::Style;
use rig_reports::{Colour, Exit, Run, RunEvent, Terminal, html};
use rig_units::limits::RESULTS_BYTES;
use std::os::fd::AsFd as _;

/// Makes the reports; the exit code is the one that the run deserves.
///
/// # Errors
/// A folder that holds no run, or events that cannot be read.
pub fn report(args: &ReportArgs) -> Result<Exit, Bad> {
    let out = match OutDir::reopen(&args.folder) {
        Ok(out) => out,
        Err(Refused::Input(why)) => return Err(Bad::of(why)),
        Err(Refused::Busy(why)) => {
            stderr::line(&format!("error: {why}"));
            return Ok(Exit::Broken);
        }
    };
    fence::close(&[Gap::Below(out.as_fd())]);
    let file = args.folder.join(EVENTS).display().to_string();
    let events = out.read(EVENTS, RESULTS_BYTES).map_err(|error| Bad::of(error.to_string()))?;
    let mut run = Run::rebuilt(&file, &events).map_err(|why| Bad::of(why.to_string()))?;
    run.started.wall.out = args.folder.display().to_string();
    tell(&run);
    let mut unwritten = Files::of(&run).write(&out);
    if args.figures {
        unwritten.extend(figures(&run, &out));
    }
    for why in &unwritten {
        stderr::line(&format!("error: {why}"));
    }
    Ok(if unwritten.is_empty() { run.exit() } else { Exit::Broken })
}

/// Writes the plots of each case; why one could not be.
fn figures(run: &Run, out: &OutDir) -> Vec<String> {
    let mut unwritten = Vec::new();
    for case in &run.cases {
        let figures = html::figures(&case.judgements, &case.curves);
        for (number, figure) in (1..).zip(figures) {
            let of = format!("{}-{number}-{}", case.id.case, figure.of);
            let name = format!("figures/{}/{}.svg", plain(&case.id.suite), plain(&of));
            let written = out.write(&name, figure.svg.as_bytes());
            unwritten.extend(written.err().map(|why| why.to_string()));
        }
    }
    unwritten
}

/// A name as part of a path: events that somebody has edited lead nowhere else.
fn plain(name: &str) -> String {
    let sign = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let plain: String = name.chars().map(sign).collect();
    plain.trim_start_matches('.').to_owned()
}

/// What the run would have said.
fn tell(run: &Run) {
    let style = Style { colour: Colour::Never, width: None, detail: false };
    let mut terminal = Terminal::new(style);
    let ended = run.cases.iter().map(|case| RunEvent::CaseFinished(Box::new(case.clone())));
    let start = core::iter::once(RunEvent::Started(Box::new(run.started.clone())));
    let end = run.finished.iter().cloned().map(RunEvent::Finished);
    for event in start.chain(ended).chain(end) {
        stdout::show(&terminal.on(&event));
    }
}
