//! Whether what a mutant breaks is there to be broken.

use super::Mutant;
use crate::runner::case::Rig;
use crate::runner::choose::choose;
use rig_lab::{Accounting, Kind, Part, Profile};
use rig_testcases::Case;

/// What the lab or the cases lack, so that nobody can tell.
pub(super) fn lacking<'a>(
    rig: &Rig<'_>,
    cases: impl Iterator<Item = &'a Case>,
    mutant: &Mutant,
) -> Option<String> {
    let kinds = Kind::OF_PROFILES.iter().filter(|(_, kind)| mutant.is_of(*kind));
    let called = kinds.map(|(_, kind)| kind.called()).collect::<Vec<_>>().join(" or ");
    let lab = &rig.lab.name;
    let named = |profile: &&Profile| rig.only.is_none_or(|only| profile.name == only);
    if !rig.lab.duts.iter().filter(named).any(|profile| mutant.is_of(profile.kind)) {
        return Some(format!("no device of lab {lab} is {called}"));
    }
    let mut of_kind = cases.filter(|case| mutant.is_of(case.kind)).peekable();
    if of_kind.peek().is_none() {
        return Some(format!("no case is for {called}"));
    }
    let has = |case: &'a Case| {
        choose(rig.lab, rig.only, case).is_ok_and(|(profile, _)| has(mutant, profile, case))
    };
    let what = match mutant.part {
        _ if mutant.what().starts_with("peer.") => "has two NICs",
        Some(Part::Macsec) => "speaks MACsec",
        _ if of_voqs(mutant) => "has virtual output queues",
        _ if of_memories(mutant) => "has several packet memories by ingress",
        _ => "runs",
    };
    (!of_kind.any(has)).then(|| format!("no case {what} on lab {lab}"))
}

/// Whether a device, as a case configures it, has what the mutant breaks.
fn has(mutant: &Mutant, profile: &Profile, case: &Case) -> bool {
    let declared = case
        .settings
        .iter()
        .try_fold(profile.declared.clone(), |declared, setting| declared.with(setting));
    let Ok(declared) = declared else { return false };
    match mutant.part {
        _ if mutant.what().starts_with("peer.") => {
            declared.nics().is_some_and(|nics| nics.peer.is_some())
        }
        Some(Part::Macsec) => declared.switch().is_some_and(|switch| switch.macsec.enable),
        _ if of_voqs(mutant) => {
            let accounting = declared.switch().map(|switch| switch.buffer.accounting);
            accounting == Some(Accounting::Voq)
        }
        _ if of_memories(mutant) => {
            declared.switch().is_some_and(|switch| switch.buffer.ingress_memories.is_some())
        }
        _ => true,
    }
}

/// Whether it breaks what only a switch of several packet memories has.
fn of_memories(mutant: &Mutant) -> bool {
    mutant.what() == "deviation=memory_of_egress"
}

/// Whether it breaks what only a switch of virtual output queues has.
fn of_voqs(mutant: &Mutant) -> bool {
    ["deviation=voq_per_source", "deviation=xon_of_any_queue"].contains(&mutant.what())
}
