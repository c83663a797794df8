//! What is likely to notice what: a case that was seen to notice a mutant or one like it, and else one that says the same words.
//! It says only what is tried first.

use super::Mutant;
use rig_oracle::measure::{self, Red};
use rig_testcases::Case;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Killers that were found once, by case without the family's ending: tried first, and no more than that.
const FOUND: &str = include_str!("killers.tsv");
/// Words that begin with so many letters alike are one: `restores` and `restoration`.
const STEM: usize = 5;
/// What a word counts for that one alone says.
const ALONE: u64 = 1_000_000;

/// Cases to try mutants on, and what says of each what it notices: looked up once for all mutants.
#[derive(Debug)]
pub struct Cases<'a>(Vec<Of<'a>>);

#[derive(Debug)]
struct Of<'a> {
    case: &'a Case,
    found: Vec<&'static str>,
    words: Words,
}

impl<'a> Cases<'a> {
    /// What says which mutants `cases` notice.
    pub fn of(cases: &[&'a Case]) -> Cases<'a> {
        let of = |case: &&'a Case| Of { case, found: found(case), words: of_case(case) };
        Cases(cases.iter().map(of).collect())
    }

    /// All of them, as they were given.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a Case> + '_ {
        self.0.iter().map(|of| of.case)
    }

    /// Those for a kind of device that has what the mutant breaks, first those of which something is known, then those of the suites
    /// that cover its part; of each those first that say the same words.
    pub(super) fn ordered(&self, mutant: &Mutant) -> Vec<&'a Case> {
        // What a device of another kind does it cannot touch.
        let own: Vec<&Of<'a>> = self.0.iter().filter(|of| mutant.is_of(of.case.kind)).collect();
        let words: Vec<&Words> = own.iter().map(|of| &of.words).collect();
        let in_common = in_common(&of_mutant(mutant), &words);
        let mut ordered: Vec<(&Of<'a>, u64)> = own.into_iter().zip(in_common).collect();
        ordered.sort_by_cached_key(|(of, in_common)| {
            let near = mutant.near.contains(&of.case.id.suite);
            (of.nearness(mutant), !near, Reverse(*in_common))
        });
        ordered.into_iter().map(|(of, _)| of.case).collect()
    }
}

impl Of<'_> {
    /// How near the case is to a mutant, the nearest first: it was found to notice it, before all others or besides, it was found to
    /// notice another value of its field, one of its measures says that it does, or nothing is known.
    fn nearness(&self, mutant: &Mutant) -> u8 {
        let field = mutant.what().split_once('=').map_or("", |(path, _)| path);
        let same = |text: &&str| {
            field != "deviation" && text.split_once('=').unwrap_or_default().0 == field
        };
        if self.found.first() == Some(&&*mutant.text) {
            0
        } else if self.found.contains(&&*mutant.text) {
            1
        } else if self.found.iter().any(same) {
            2
        } else if is_told(self.case, mutant) {
            3
        } else {
            4
        }
    }
}

/// What [`FOUND`] says of a case.
pub(super) fn found(case: &Case) -> Vec<&'static str> {
    let id = case.id.to_string();
    let family = case.family.map(|family| format!("-{family}")).unwrap_or_default();
    let rows = FOUND.lines().filter_map(|line| line.split_once('\t'));
    let of = rows.filter(|(of, _)| *of == id || id.strip_suffix(&family) == Some(*of));
    let mut of: Vec<(&str, &str)> = of.collect();
    // What is said of one of a family says more of it than what is said of all.
    of.sort_by_key(|(of, _)| *of != id);
    of.into_iter().map(|(_, mutant)| mutant).collect()
}

/// The words that something says of itself.
pub(super) type Words = BTreeSet<String>;

/// Name and reason of a case, what it asks of the device, and what it measures.
pub(super) fn of_case(case: &Case) -> Words {
    let settings = case.settings.iter().chain(&case.configure).map(|setting| &*setting.path);
    let measures = case.measure.iter().map(|measure| measure.entry.name);
    words([&*case.id.case, &*case.why].into_iter().chain(settings).chain(measures))
}

/// The path that a mutant overrides, or what its deviation does wrong.
pub(super) fn of_mutant(mutant: &Mutant) -> Words {
    words([&*mutant.text, &*mutant.about()].into_iter())
}

fn words<'a>(texts: impl Iterator<Item = &'a str>) -> Words {
    let all = texts.flat_map(|text| text.split(|one: char| !one.is_ascii_alphanumeric()));
    all.map(|word| word.chars().take(STEM).collect::<String>().to_ascii_lowercase()).collect()
}

/// How much each of `many` has in common with `one`: what few of them say counts for more.
pub(super) fn in_common(one: &Words, many: &[&Words]) -> Vec<u64> {
    let mut all = vec![0; many.len()];
    for word in one {
        let who: Vec<usize> = (0..many.len()).filter(|at| many[*at].contains(word)).collect();
        for at in &who {
            all[*at] += ALONE / who.len() as u64;
        }
    }
    all
}

/// Whether a measure of the case says that this mutant turns it red.
pub(super) fn is_told(case: &Case, mutant: &Mutant) -> bool {
    case.measure.iter().any(|measure| match measure::of(measure).red {
        Red::Mutated(_, mutation) => mutation == mutant.text,
        Red::Written => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(texts: &[&str]) -> Words {
        words(texts.iter().copied())
    }

    #[test]
    fn a_word_that_few_say_counts_for_more_than_one_that_many_do() {
        let cases = [
            said(&["xon-restarts", "the pause"]),
            said(&["xon-of-both", "the restoration"]),
            said(&["xoff-refreshed", "the pause"]),
        ];
        let mutant =
            said(&["deviation=restores_too_early", "The queue is restored without an XON."]);
        // `the` of all three, `xon` of two, and `resto` of one; `resta` is another word.
        let third = ALONE / 3;
        assert_eq!(
            in_common(&mutant, &cases.each_ref()),
            [third + ALONE / 2, third + ALONE / 2 + ALONE, third]
        );
    }
}
