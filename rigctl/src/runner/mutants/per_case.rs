//! The other way round: each case against the mutants. A case that no wrong device turns red by itself shows nothing,
//! whatever its suite notices.

use super::{Mutant, Tried, lacking, likely};
use crate::runner::case::Rig;
use crate::runner::choose::choose;
use rig_lab::Part;
use rig_testcases::{Case, Suite, Sweep};
use std::cmp::Reverse;

/// What a case is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Worth {
    /// It fails on these mutants; on the first one alone, unless all were tried.
    Kills {
        /// As they are typed behind `--mutate`.
        mutants: Vec<String>,
        /// How many were tried.
        tried: usize,
    },
    /// It fails on none, and says why.
    Spared {
        /// The mutant that was tried by hand; tried again now.
        by_hand: String,
        /// How many were tried, that one included: all that apply, or it alone.
        tried: usize,
    },
    /// It says that no mutant turns it red, and these do; the one tried by hand alone, unless all were tried.
    SparedWrongly {
        /// The mutants.
        by: Vec<String>,
    },
    /// No device of the lab fits.
    Skipped {
        /// Why.
        why: String,
    },
    /// It was asked to stop before enough was tried to say.
    BrokenOff {
        /// How many were tried to the end.
        tried: usize,
    },
    /// It fails on none, or only on what spoils everything.
    Nothing {
        /// How many were tried.
        tried: usize,
    },
}

impl Worth {
    /// Whether nothing speaks against the case: it shows something, is known to be unable to, or was not tried to the end.
    pub const fn holds(&self) -> bool {
        !matches!(self, Worth::Nothing { .. } | Worth::SparedWrongly { .. })
    }
}

/// Mutants that break whatever traffic there is, by how they begin, and parts of the names of the cases that are about them: what
/// any case notices says of no other one that it shows anything.
const SPOILERS: &[(&str, &[&str])] = &[
    // All lossless queues drop all that comes: whatever is sent is lost.
    ("pfcwd.big_red_switch=true", &["big-red-switch"]),
    // No PFC frame of the device is one any more: nobody who should obey it does.
    ("deviation=malformed_pfc", &["pfc-frame-format"]),
    // Every PFC frame that the rig sends comes out of every other port.
    ("deviation=pfc_forwarded", &["pause-stays-on-its-link"]),
    // Wherever frames wait some come out of order, and count as such in every measure of loss.
    ("deviation=flow_reordered", &[]),
    // Every queue that grows beyond kmin loses frames, whatever is asked of it.
    ("deviation=drops_ect", &["marks", "marked"]),
    ("wred.ecn=ecn_none", &["marks", "marked"]),
    // Neither end of a cable can open what the other sends.
    ("macsec.cipher_suite=", &["every-suite", "integrity-only", "without-sci"]),
    ("macsec.enable=false", &["every-suite", "clear-data-refused"]),
];

/// Whether a mutant spoils a case that is not about it.
fn spoils(case: &Case, mutant: &Mutant) -> bool {
    let own = SPOILERS.iter().find(|(begins, _)| mutant.what().starts_with(begins));
    own.is_some_and(|(_, about)| !about.iter().any(|name| case.id.case.contains(name)))
}

/// Tries mutants on one case, likely killers first, until it fails; all of them with `full`. Those that spoil it do not count.
/// Of a case that says that none turns it red the one that it names is tried, with `full` all. The device that does as it
/// declares is taken to pass.
///
/// # Errors
/// When a mutant fits no device of the lab.
pub fn worth(
    rig: &Rig<'_>,
    suite: &Suite,
    case: &Case,
    all: &[Mutant],
    full: bool,
    known: &Tried,
) -> Result<Worth, String> {
    if let Err(why) = choose(rig.lab, rig.only, case) {
        return Ok(Worth::Skipped { why });
    }
    let red = |text: &String| known.fails(rig, case, text);
    let by_hand = case.spared.as_ref().map(|spared| spared.tried.clone());
    let mut mutants = Vec::new();
    let (mut tried, mut shows) = (0, false);
    if let Some(text) = &by_hand {
        tried += 1;
        mutants.extend(red(text)?.then(|| text.clone()));
    }
    for mutant in ordered(suite, case, all) {
        if rig.stop.requested() || (by_hand.is_some() && !full) {
            break;
        }
        if by_hand.as_ref() == Some(&mutant.text) {
            continue;
        }
        let spoils = spoils(case, mutant);
        let counts = !spoils || (full && by_hand.is_none());
        if !counts || lacking::lacking(rig, [case].into_iter(), mutant).is_some() {
            continue;
        }
        tried += 1;
        if red(&mutant.text)? {
            mutants.push(mutant.text.clone());
            shows |= !spoils;
            if !full {
                break;
            }
        }
    }
    let decided = if by_hand.is_some() { !mutants.is_empty() } else { shows };
    if rig.stop.requested() && !decided {
        // What ran as the request came may have been broken off itself.
        return Ok(Worth::BrokenOff { tried: usize::saturating_sub(tried, 1) });
    }
    Ok(match by_hand {
        Some(by_hand) if mutants.is_empty() => Worth::Spared { by_hand, tried },
        Some(_) => Worth::SparedWrongly { by: mutants },
        None if shows => Worth::Kills { mutants, tried },
        None => Worth::Nothing { tried },
    })
}

/// The mutants of the kind of device that a case is for: those that it is known to notice, those that its measures say that they
/// notice, those of the parts that it measures, those of the parts that its suite covers, the rest; of each those first that say
/// the same words as the case.
fn ordered<'a>(suite: &Suite, case: &Case, all: &'a [Mutant]) -> Vec<&'a Mutant> {
    let (found, parts) = (likely::found(case), parts(case));
    let own: Vec<&Mutant> = all.iter().filter(|of| of.is_of(case.kind)).collect();
    let words: Vec<_> = own.iter().copied().map(likely::of_mutant).collect();
    let words: Vec<_> = words.iter().collect();
    let in_common = likely::in_common(&likely::of_case(case), &words);
    let mut ordered: Vec<(&Mutant, u64)> = own.into_iter().zip(in_common).collect();
    ordered.sort_by_key(|(mutant, in_common)| {
        let known = found.iter().position(|text| *text == mutant.text).unwrap_or(found.len());
        let of = |parts: &[Part]| mutant.part.is_some_and(|part| parts.contains(&part));
        let told = likely::is_told(case, mutant);
        (known, !told, !of(&parts), !of(&suite.covers), Reverse(*in_common))
    });
    ordered.into_iter().map(|(mutant, _)| mutant).collect()
}

/// The parts of a device that a case measures or varies.
fn parts(case: &Case) -> Vec<Part> {
    let measured = case.measure.iter().flat_map(|measure| measure.parts().iter().copied());
    let swept = case.sweep.iter().filter_map(|sweep| match sweep {
        Sweep::Setting { path, .. } => Part::of_path(path),
        _ => None,
    });
    let tried = case.configure.iter().filter_map(|setting| Part::of_path(&setting.path));
    measured.chain(swept).chain(tried).collect()
}
