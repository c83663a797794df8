//! What of a case timestamps tell that may be as far off as those of a lab.

use super::unfit::{Missing, Unfit};
use core::mem::take;
use rig_lab::{Kind, Lab, Profile, Transport};
use rig_oracle::measure::{self, Stamps};
use rig_oracle::trials::points::groups;
use rig_oracle::trials::seed::Seed;
use rig_testcases::Case;

/// The case, and what stamps it needs; `None`: it shows what it does however far off they are. What a case is about is its first measure. Others that
/// the lab's stamps do not tell are left out beside it, and told in `left_out`; at a wire that the rig makes itself, where a case takes its part of a budget, and of a
/// switch in a guest, it is run whole or not.
///
/// # Errors
/// What it is about does not show.
pub(super) fn of(
    lab: &Lab,
    profile: &Profile,
    mut case: Case,
    left_out: &mut Vec<String>,
) -> Result<(Case, Option<Stamps>), Unfit> {
    let bound = lab.transport.bound();
    let in_part = match lab.transport {
        Transport::Virtual(_) | Transport::Interfaces(_) => true,
        Transport::Guests(_) | Transport::Server(_) => profile.kind == Kind::Nic,
        Transport::Veth(_) => false,
    };
    let needs = needs(lab, profile, &case);
    let mut finest: Option<Stamps> = None;
    for (at, (measure, needs)) in take(&mut case.measure).into_iter().zip(needs).enumerate() {
        match needs {
            Some(Stamps { within, why }) if within < bound => {
                let why = format!(
                    "it needs timestamps within {within}, and this lab's are within {bound}: {why}"
                );
                if at == 0 || !in_part {
                    return Err(Missing::Stamps.so(why));
                }
                let line = format!("{}: {why}", measure.name());
                if !left_out.contains(&line) {
                    left_out.push(line);
                }
            }
            needs => {
                finest = finest.into_iter().chain(needs).min_by_key(|one| one.within);
                case.measure.push(measure);
            }
        }
    }
    Ok((case, finest))
}

/// What stamps each measure of the case needs, in whichever of its configurations and at whichever point that is the most.
fn needs(lab: &Lab, profile: &Profile, case: &Case) -> Vec<Option<Stamps>> {
    let mut all = vec![None; case.measure.len()];
    for group in groups(case, &profile.declared).unwrap_or_default() {
        let context = measure::context(lab, profile, case, group, Seed::of_run(0));
        let points = context.points().unwrap_or_default();
        for script in points.iter().filter_map(|point| context.script(point).ok()) {
            let held = measure::held_stamps(&context, &script).filter(|_| !case.is_about_gaps());
            for (measure, finest) in case.measure.iter().zip(&mut all) {
                let needs = measure::stamps(measure, &context, &script);
                let least: Option<Stamps> = finest.take();
                let all = least.into_iter().chain(needs).chain(held.clone());
                *finest = all.min_by_key(|one| one.within);
            }
        }
    }
    all
}
