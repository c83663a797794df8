//! `rigctl check`: every fault of every file, and what would run; nothing runs.

use super::input::{Bad, Input};
use super::words::count;
use crate::cli::CheckArgs;
use crate::runner::choose::choose;
use crate::runner::{estimate, preflight};
use crate::stdout;
use rig_oracle::trials::effort::Effort;
use rig_reports::{Exit, printable};
use rig_units::Dur;

/// Reads and resolves everything, and tells what would run: trials, how long they last, and how small a departure they show.
///
/// # Errors
/// Every fault.
pub fn check(args: &CheckArgs) -> Result<Exit, Bad> {
    let input = Input::read(&args.selection)?;
    input.tell_unmatched();
    let mut bad = Bad::default();
    let cases = input.cases();
    let mut skipped = 0;
    for case in &cases {
        skipped += usize::from(choose(&input.lab, input.only_dut.as_deref(), case).is_err());
        bad.faults(&preflight::faults(&input.lab, input.only_dut.as_deref(), case));
    }
    bad.or(())?;
    let effort = args.effort.plans().usual();
    let all = estimate::each(&input.lab, input.only_dut.as_deref(), &cases, effort);
    let planned = cases.iter().zip(&all).filter_map(|(case, planned)| Some((case, (*planned)?)));
    for (case, (trials, time)) in planned {
        let line = format!("{trials:>8} {:>12}  {}", shown(time), case.id);
        stdout::text(&format!("{}\n", printable(&line)));
    }
    let sum = all
        .iter()
        .flatten()
        .fold((0, Dur::ZERO), |(trials, time), one| (trials + one.0, time.saturating_add(one.1)));
    if sum.0 > 0 {
        stdout::text(&format!("{}\n", told(sum, &effort)));
    }
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

/// A length of time to its hundredth of a second, upwards.
fn shown(time: Dur) -> String {
    let hundredths = time.div_ceil(Dur::ms(10));
    format!("{}.{:02}s", hundredths / 100, hundredths % 100)
}

/// All of it, and what it shows where a case does not say how many trials there are.
fn told((trials, time): (u64, Dur), effort: &Effort) -> String {
    let Effort { resolution, latency, corner, each } = effort;
    format!(
        "{trials:>8} {:>12}  in all, one after the other. Where a case does not say: {latency} trials a latency; counts tell a change of {} \
         percentage points, marks a corner that is off by {corner}, at a power of 0.99; what shows in every other trial is missed in one run of {}",
        shown(time),
        resolution / 10_000,
        2_u32.pow(*each)
    )
}
