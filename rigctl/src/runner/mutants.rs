//! Every way in which the emulated device is broken on purpose, against the catalogue: which case notices.

mod lacking;
mod likely;
pub mod per_case;
mod tried;
mod untouched;

pub use likely::Cases;
pub use tried::Tried;

use super::case::Rig;
use super::choose::choose;
use crate::mutation;
use rig_lab::field::Field;
use rig_lab::fields;
use rig_lab::{Declared, Deviation, Kind, Lab, Mutation, Part, Profile};
use rig_oracle::spec::pfcwd::{Rule, Stimulus};
use rig_oracle::trials::points::groups;
use rig_testcases::{CaseId, Suite};
use rig_units::Dur;

/// One broken device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    /// As it is typed behind `--mutate`.
    pub text: String,
    /// The part of the device that is broken.
    pub part: Option<Part>,
    /// The device of a system that it is put into; `None`: every device.
    pub device: Option<String>,
    /// The suites that say that they cover it.
    pub near: Vec<String>,
}

impl Mutant {
    /// Whether devices of this kind have what it breaks.
    fn is_of(&self, kind: Kind) -> bool {
        let path = self.what().split(['.', '=']).next().unwrap_or_default();
        let there = self.device.is_none() || kind == Kind::System;
        there && kind.has(self.part.map_or(path, |part| part.key()))
    }

    /// What its deviation does wrong, in words; empty where a field is set otherwise.
    pub fn about(&self) -> String {
        match mutation::parse(&self.text).map(|typed| typed.mutation) {
            Ok(Mutation::Deviation(switched)) => switched.name.about(),
            _ => String::new(),
        }
    }

    /// What is broken, whatever device it is put into.
    fn what(&self) -> &str {
        match &self.device {
            Some(device) => &self.text[device.len() + 1..],
            None => &self.text,
        }
    }
}

/// What became of a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// A case failed on it.
    Killed {
        /// The first that did.
        by: CaseId,
        /// How many cases were run, that one included.
        after: usize,
    },
    /// The prediction shows that it cannot be told from the healthy device in any configuration used.
    Equivalent {
        /// What cannot be told apart.
        because: String,
    },
    /// What is broken is not there: no device of the lab has it, or no case is for one that has.
    NotApplicable {
        /// What is missing.
        because: String,
    },
    /// No case failed on it.
    Survived,
    /// It was asked to stop before every case was run, and none of those that were failed.
    BrokenOff {
        /// How many cases were run to their end.
        after: usize,
    },
}

/// Every mutant that `suites` are to notice: each parameter of the parts of a device that they cover, and each deviation there.
pub fn all(lab: &Lab, suites: &[Suite]) -> Vec<Mutant> {
    let mut all = every(lab, suites);
    all.retain(|mutant| !mutant.near.is_empty());
    all
}

/// Every mutant of every part, whatever `suites` cover; where some of them are about systems, each once more for each device
/// of the lab's systems.
pub fn every(lab: &Lab, suites: &[Suite]) -> Vec<Mutant> {
    if lab.duts.is_empty() {
        return Vec::new();
    }
    let mut rows: Vec<_> =
        fields::all().filter(|(path, _)| Part::of_path(path).is_some()).collect();
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    let values = |(path, field): (String, &'static Field)| {
        field.mutants().into_iter().map(move |value| format!("{path}={value}"))
    };
    let mut texts: Vec<String> = rows.into_iter().flat_map(values).collect();
    texts.extend(Deviation::all().map(|deviation| format!("deviation={deviation}")));
    let on_systems = |suite: &Suite| suite.cases.iter().any(|case| case.kind == Kind::System);
    let near = |part: Option<Part>, device: &Option<String>| {
        let covers = |suite: &&Suite| part.is_some_and(|part| suite.covers.contains(&part));
        let near = suites.iter().filter(covers);
        let near = near.filter(|suite| device.is_none() || on_systems(suite));
        near.map(|suite| suite.name.clone()).collect()
    };
    let one = |device: Option<&str>, what: &str| {
        let device = device.map(str::to_owned);
        let text = device.as_ref().map_or(what.to_owned(), |device| format!("{device}/{what}"));
        let part = part_of(&text);
        Mutant { part, near: near(part, &device), device, text }
    };
    let mut all: Vec<Mutant> = texts.iter().map(|what| one(None, what)).collect();
    if suites.iter().any(on_systems) {
        let each =
            |name: &&str| texts.iter().map(|what| one(Some(*name), what)).collect::<Vec<_>>();
        let each = mutation::devices(lab).iter().flat_map(each).collect::<Vec<_>>();
        let systems = lab.duts.iter().filter_map(|dut| dut.system.as_ref());
        let devices: Vec<&Profile> = systems.flat_map(|system| &system.devices).collect();
        let is_there = |mutant: &Mutant| {
            let mut named = devices.iter().filter(|one| mutant.device.as_ref() == Some(&one.name));
            named.any(|one| one.kind.has(mutant.part.map_or("", |part| part.key())))
        };
        let of_systems = |mutant: &Mutant| mutant.is_of(Kind::System) && is_there(mutant);
        all.extend(each.into_iter().filter(of_systems));
    }
    all
}

/// Runs cases on a mutant until one fails, its likely killers first.
///
/// # Errors
/// When the mutation fits no device of the lab.
pub fn try_one(
    rig: &Rig<'_>,
    cases: &Cases<'_>,
    mutant: &Mutant,
    known: &Tried,
) -> Result<Fate, String> {
    if let Some(because) = lacking::lacking(rig, cases.all(), mutant) {
        return Ok(Fate::NotApplicable { because });
    }
    for (tried, case) in cases.ordered(mutant).into_iter().enumerate() {
        if known.fails(rig, case, &mutant.text)? {
            return Ok(Fate::Killed { by: case.id.clone(), after: tried + 1 });
        }
        // The case that runs as the request comes may have been broken off.
        if rig.stop.requested() {
            return Ok(Fate::BrokenOff { after: tried });
        }
    }
    Ok(equivalence(rig, cases, mutant)
        .map_or(Fate::Survived, |because| Fate::Equivalent { because }))
}

/// The part of a device that a mutation changes.
fn part_of(text: &str) -> Option<Part> {
    match mutation::parse(text).ok()?.mutation {
        Mutation::Override { path, .. } => Part::of_path(&path),
        Mutation::Deviation(switched) => Some(switched.name.part()),
    }
}

/// Why no measurement can tell the mutant from the healthy device: in every configuration that the cases use, every
/// prediction is the same for both.
fn equivalence(rig: &Rig<'_>, cases: &Cases<'_>, mutant: &Mutant) -> Option<String> {
    if mutant.device.is_some() {
        // What the other devices of its system make of it is nobody's to compare.
        return None;
    }
    let Mutation::Override { path, value } = mutation::parse(&mutant.text).ok()?.mutation else {
        return None;
    };
    let mut used = 0;
    for case in cases.all() {
        let Ok((profile, _)) = choose(rig.lab, rig.only, case) else { continue };
        for group in groups(case, &profile.declared).ok()? {
            let changed = group.declared.overridden(&path, &value).ok()?;
            if !alike(profile, &group.declared, &changed) {
                return None;
            }
            used += 1;
        }
    }
    Some(format!(
        "in all {used} configurations used, every prediction is the same with {path}={value}"
    ))
}

/// Whether the spec predicts the same of both configurations.
fn alike(profile: &Profile, a: &Declared, b: &Declared) -> bool {
    if a == b {
        return true;
    }
    // What lies inside of a declared range is as declared.
    let covers = |path: &String| {
        a.range(path).zip(b.range(path)).is_some_and(|(declared, own)| declared.covers(own))
    };
    // Whatever does not enter a timing rule is seen by other means, and is never declared equivalent here.
    let timing = |path: &String| fields::field(path).is_some_and(|field| field.timing);
    if !a.differences(b).iter().all(|path| covers(path) || timing(path)) {
        return false;
    }
    let (Some(family), Some(a), Some(b)) = (profile.family(), a.switch(), b.switch()) else {
        return true;
    };
    let rules = [a, b].map(|switch| Rule::of(family, &switch.pfcwd));
    let gaps = [None, Some(Dur::us(50)), Some(Dur::us(500)), Some(Dur::ms(1))];
    gaps.into_iter().all(|data_gap| {
        let [a, b] = rules.map(|rule| {
            let stimulus = Stimulus { data_gap };
            let tail = Dur::us(335);
            (
                rule.detection(&stimulus),
                rule.restoration(tail, &stimulus),
                rule.never_fires_up_to(&stimulus),
                rule.always_fires_from(&stimulus),
            )
        });
        a == b
    })
}
