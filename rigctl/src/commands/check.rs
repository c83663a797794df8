//! `rigctl check`: every fault of every file, and what would run; no device is touched.

use super::input::{Bad, Input};
use super::list::finer;
use super::words::count;
use crate::cli::CheckArgs;
use crate::runner::choose::choose;
use crate::runner::estimate::{self, Planned};
use crate::runner::foreseen;
use crate::runner::preflight;
use crate::stdout;
use rig_oracle::measure::Batches;
use rig_oracle::trials::effort::Effort;
use rig_reports::{Exit, printable};
use rig_units::{Dur, Ppm};

/// Reads and resolves everything, and tells what would run: trials, how long they last, and how small a departure they show. What each judgement would
/// tell is known behind a run: if that is asked for, behind one of the emulated device.
///
/// # Errors
/// Every fault.
pub fn check(args: &CheckArgs) -> Result<Exit, Bad> {
    let input = Input::read(&args.selection)?;
    input.tell_unmatched();
    let mut bad = Bad::default();
    let cases = input.cases();
    let mut skipped = 0;
    let mut stamps = Vec::new();
    for case in &cases {
        let chosen = choose(&input.lab, input.only_dut.as_deref(), case);
        skipped += usize::from(chosen.is_err());
        stamps.push(chosen.ok().and_then(|(_, reach)| reach.stamps));
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
    let effort = args.effort.plans().usual();
    let all = estimate::each(&input.lab, input.only_dut.as_deref(), &cases, effort);
    let say = |index: usize| {
        let Some(Planned { trials, time, shows, batches }) = &all[index] else { return };
        let tells = format!(
            "{}{}{}",
            finer(stamps[index].as_ref()),
            shows.map(share).unwrap_or_default(),
            batches.map(of_batches).unwrap_or_default()
        );
        let line = format!("{trials:>8} {:>12}  {}{tells}", shown(*time), cases[index].id);
        stdout::text(&format!("{}\n", printable(&line)));
    };
    if args.resolution {
        let only = input.only_dut.as_deref();
        foreseen::each(&input.lab, only, (&cases, effort), |index, report| {
            say(index);
            for line in report.iter().flat_map(rig_reports::foreseen) {
                stdout::text(&format!("{:25}{}\n", "", printable(&line)));
            }
        });
    } else {
        (0..cases.len()).for_each(say);
    }
    let sum = all
        .iter()
        .flatten()
        .fold((0, Dur::ZERO), |sum, one| (sum.0 + one.trials, sum.1.saturating_add(one.time)));
    if sum.0 > 0 {
        stdout::text(&format!("{}\n", told(sum, &effort)));
    }
    if args.resolution && sum.0 > 0 {
        stdout::text(&format!("{}\n", by_the_model(input.lab.transport.bound())));
    }
    Ok(if cases.is_empty() { Exit::NothingRan } else { Exit::Passed })
}

/// A length of time to its hundredth of a second, upwards.
fn shown(time: Dur) -> String {
    let hundredths = time.div_ceil(Dur::ms(10));
    format!("{}.{:02}s", hundredths / 100, hundredths % 100)
}

/// By how much a share has to be off to show, in hundredths of a percent of itself, upwards. None is off by more than all of itself to one side.
fn share(off: Ppm) -> String {
    if off > Ppm::ONE {
        return " (shares: one that gets nothing may not show)".to_owned();
    }
    let hundredths = off.0.div_ceil(100);
    format!(" (shares to {}.{:02} %)", hundredths / 100, hundredths % 100)
}

/// What shares are told from that have no such figure before a run.
fn of_batches(Batches { count, lasts }: Batches) -> String {
    format!(
        " (shares by {count} batches of {lasts}: to what chance makes of them, which the run tells; a flow with nothing shows)"
    )
}

/// What the lines under the cases rest on.
fn by_the_model(bound: Dur) -> String {
    let stamps = match bound {
        Dur::ZERO => "exact timestamps".to_owned(),
        bound => format!("timestamps off by as much as this lab's may be, {bound}"),
    };
    format!(
        "{:23}What shows is by one run of each in virtual time on the emulated device (seed {}), at its full effort, with {stamps}; where storms or draws fall \
         by chance another run tells more or less",
        "",
        foreseen::SEED
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_told_upwards_and_one_that_chance_has_a_part_in_by_its_batches() {
        assert_eq!(share(Ppm(10_801)), " (shares to 1.09 %)");
        assert_eq!(share(Ppm::ONE), " (shares to 100.00 %)");
        assert_eq!(share(Ppm(1_000_001)), " (shares: one that gets nothing may not show)");
        let batches = Batches { count: 1_024, lasts: Dur::ns(1_562_500) };
        assert_eq!(
            of_batches(batches),
            " (shares by 1024 batches of 1562.5us: to what chance makes of them, which the run tells; a flow with nothing shows)"
        );
    }
}
