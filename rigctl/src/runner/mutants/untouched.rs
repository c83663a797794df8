//! Cases that a mutant leaves as they are: they run on the very device that passed them, and nothing that they show could be
//! otherwise.

use crate::mutation;
use crate::runner::case::Rig;
use crate::runner::choose::choose;
use rig_lab::{BadSetting, Kind, Mutation, Profile};
use rig_oracle::trials::points::groups;
use rig_testcases::Case;
use rig_testcases::case::CaseAction;

/// Whether the device of the case is, in every configuration of it, what it is without the mutant: a limit that is not set has no
/// tenth more, and a second NIC that is not there no timer. Of a deviation nobody can say so before it has run.
pub(super) fn untouched(rig: &Rig<'_>, case: &Case, mutant: &str) -> bool {
    let Ok(Mutation::Override { path, value }) = mutation::parse(mutant).map(|of| of.mutation)
    else {
        return false;
    };
    // As it runs: what a lab without a control leaves as it is found, the case does not set.
    let Ok((profile, reach)) = choose(rig.lab, rig.only, case) else { return false };
    let case = &reach.case;
    // What is set on the way is not in the configurations that a trial begins with.
    let sets = |what: &CaseAction| matches!(what, CaseAction::Configure(_));
    if !case.configure.is_empty() || case.steps.iter().any(|step| sets(&step.what)) {
        return false;
    }
    // The devices of a system have configurations of their own.
    profile.kind != Kind::System && same(profile, case, &path, &value).unwrap_or(false)
}

fn same(profile: &Profile, case: &Case, path: &str, value: &str) -> Result<bool, BadSetting> {
    for group in groups(case, &profile.declared)? {
        if group.declared.overridden(path, value)? != group.declared {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::bundled;
    use crate::runner::case;
    use crate::stop::Stop;

    #[test]
    fn what_is_left_as_it_is_shows_the_same_and_what_is_set_on_the_way_is_asked() {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let stop = Stop::default();
        let cases: Vec<&Case> = bundled::cases().iter().collect();
        let told = |case: &str, mutant: &str| {
            let case = cases.iter().find(|of| of.id.to_string() == case).expect(case);
            let mutant = mutant.to_owned();
            let rig = Rig::of(&lab, &[case], 1, &stop);
            let left = untouched(&rig, case, &mutant);
            let mut broken = lab.clone();
            mutation::apply(&mut broken, std::slice::from_ref(&mutant)).expect("it fits");
            let shown = |lab| {
                let ran = case::run(&Rig { lab, ..rig }, case);
                (ran.report.judgements, ran.report.verdict, ran.trials.len())
            };
            assert!(!left || shown(&lab) == shown(&broken), "{} {}", case.id, mutant);
            left
        };
        // There is no second NIC, and nobody has its statistics.
        assert!(told("recovery::one-lost-response", "peer.estats.poll=x2"));
        assert!(told("recovery::one-lost-response", "nic.rp.threshold=x1.1"));
        // It is off there, and twice nothing is nothing.
        assert!(told("recovery::one-lost-response", "nic.rc.timeout=x2"));
        assert!(!told("recovery::one-lost-response", "nic.rc.nak_latency=x2"));
        assert!(!told("recovery::one-lost-response", "deviation=cnp_on_cnp"));
    }
}
