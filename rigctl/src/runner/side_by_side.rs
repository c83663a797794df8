//! A case in which flows of a NIC that is not the rig's have always something to send: each is a client of perftest there, side by side. What their
//! rates are is told of a trial that begins when all of them send, and is as long as the lab's.

use super::in_guest::unmade_by_perftest;
use rig_lab::{Declared, Profile};
use rig_oracle::measure::{self, FromStart};
use rig_testcases::case::CaseAction;
use rig_testcases::{Amount, Case, Measure, Verb};
use rig_units::Dur;

/// Whether it is one: none of its flows ends by itself.
pub(super) fn is_one(case: &Case) -> bool {
    !case.flows.is_empty() && case.flows.values().all(|flow| flow.count.is_none())
}

/// Why it is not done; `None` where it is.
pub(super) fn unmade(case: &Case) -> Option<String> {
    if !case.streams.is_empty() || !case.storms.is_empty() {
        return Some("the rig sends in it beside the flows, and here it answers them".to_owned());
    }
    if !case.between.inject.is_empty() || case.between.bottleneck.is_some() {
        return Some("it does something to the frames of several flows".to_owned());
    }
    if !case.configure.is_empty() {
        return Some("it tries settings, and perftest has but one".to_owned());
    }
    let [one] = case.steps.as_slice() else {
        return Some(
            "more happens in it than that flows start together, and perftest starts when it can"
                .to_owned(),
        );
    };
    let CaseAction::Start { names, .. } = &one.what else {
        return Some("it does something else than start flows".to_owned());
    };
    if names.len() < case.flows.len() || whole(case).is_none() {
        return Some("not all of its flows send for as long as it lasts".to_owned());
    }
    case.flows.iter().find_map(|(name, flow)| {
        if flow.to != flow.nic {
            return Some(format!("{name} goes to another port than it comes from"));
        }
        if flow.address != 0 {
            return Some(format!("{name} goes to another address of the rig, which has one"));
        }
        if !matches!(flow.verb, Verb::Write | Verb::Send) {
            return Some(format!("{name} is neither of WRITEs nor of SENDs"));
        }
        unmade_by_perftest(name, flow)
    })
}

/// The limit of a class that the port of the NIC is too slow for: a strict class with such a one lets no other begin, and any shows nothing of its limit.
pub(super) fn beyond(profile: &Profile, case: &Case) -> Option<String> {
    let with = |all: Declared, one| all.with(one).ok();
    let whole = case.settings.iter().try_fold(profile.declared.clone(), with)?;
    let speed = whole.port_speed(0)?;
    let limits = whole.nics()?.nic.ets.limits.as_ref()?;
    let (class, limit) = limits.iter().find(|(_, limit)| limit.bps >= speed.bps())?;
    Some(format!("class {class} is limited to {limit}, which the port of {speed} does not carry"))
}

/// How long the case says that it lasts.
fn whole(case: &Case) -> Option<Dur> {
    match case.length {
        Some(Amount::Exactly(length)) if length > Dur::ZERO => Some(length),
        _ => None,
    }
}

/// The case as long as `trial`, its windows as much longer: what flows get of a full port does not hang on how long one looks. They go on to its end.
pub(super) fn timed(case: Case, trial: Dur) -> Case {
    let length = whole(&case).unwrap_or(trial);
    let mut case = case.stretched((trial.0, length.0), (1, 1), |_, _| Dur::ZERO);
    for step in &mut case.steps {
        if let CaseAction::Start { lasting, .. } = &mut step.what {
            *lasting = None;
        }
    }
    case
}

/// Why a measure shows nothing of them; `None` where it does.
pub(super) fn unshown(one: &Measure) -> Option<String> {
    let known = measure::of(one);
    let is_rate = known.tells_rate && known.from_start == FromStart::Everything;
    let why = "its trial begins in the middle of each flow";
    (!is_rate).then(|| format!("{}: {why}", one.name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::bundled;

    /// A case of the suite of ETS.
    fn case(name: &str) -> Case {
        bundled::case(&format!("host-ets::{name}"))
    }

    #[test]
    fn flows_that_start_together_are_side_by_side_and_others_are_not() {
        let ets =
            bundled::cases().iter().filter(|case| case.id.to_string().starts_with("host-ets::"));
        let (done, not): (Vec<&Case>, Vec<&Case>) = ets.partition(|case| unmade(case).is_none());
        assert!(done.iter().all(|case| is_one(case)));
        assert_eq!((done.len(), not.len()), (11, 7));
        let why = unmade(&case("class-that-comes-later")).expect("it is not");
        assert!(why.contains("more happens in it"), "{why}");
        let why = unmade(&case("hlk-underutilisation")).expect("it is not");
        assert!(why.contains("beside the flows"), "{why}");
        let mut other = case("hlk-minimum-classes");
        other.flows[0].psn = 7;
        assert!(unmade(&other).is_some_and(|why| why.contains("has number 7")));
        other.flows[0].count = Some(9);
        assert!(!is_one(&other));
    }

    #[test]
    fn windows_are_stretched_with_the_trial_and_flows_go_on() {
        let case = timed(case("hlk-minimum-classes"), Dur::s(12));
        assert_eq!(case.length, Some(Amount::Exactly(Dur::s(12))));
        let window = case.measure[0].windows().remove(0);
        assert_eq!((window.from, window.until), (Dur::ms(500), Dur::ms(10_500)));
        assert!(case.measure.iter().all(|one| unshown(one).is_none()));
        let CaseAction::Start { lasting, .. } = &case.steps[0].what else { panic!("{case:?}") };
        assert_eq!(*lasting, None);
    }
}
