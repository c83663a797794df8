//! What is compared with what, as it was typed.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// How it is typed, behind `cargo xtask`.
pub(crate) const USAGE: &str = "same-results REV [--before RIG] [--now RIG] [--seed N] [LAB]...";

/// Seeds of each lab where none is named.
const SEEDS: [u64; 3] = [1, 2, 3];

/// What was asked for.
#[derive(Debug, PartialEq)]
pub(super) struct Asked {
    /// The earlier revision, such as `HEAD~1`.
    pub(super) revision: String,
    /// Programs that are there already: the earlier revision's and this tree's. What is not there is built.
    pub(super) built: [Option<PathBuf>; 2],
    pub(super) seeds: Vec<u64>,
    /// Labs by their paths, such as `lab-configs/emulated.yaml`; all where there is none.
    pub(super) labs: BTreeSet<String>,
}

impl Asked {
    pub(super) fn of(mut args: impl Iterator<Item = String>) -> Result<Asked, String> {
        let mut revision = None;
        let (mut built, mut seeds, mut labs) = ([None, None], Vec::new(), BTreeSet::new());
        while let Some(word) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{word} wants a value"));
            match word.as_str() {
                "--before" => built[0] = Some(PathBuf::from(value()?)),
                "--now" => built[1] = Some(PathBuf::from(value()?)),
                "--seed" => {
                    let seed = value()?;
                    seeds.push(seed.parse().map_err(|_| format!("--seed {seed}: want a number"))?);
                }
                flag if flag.starts_with('-') => return Err(format!("{flag}: want {USAGE}")),
                _ if revision.is_none() => revision = Some(word),
                _ => _ = labs.insert(word),
            }
        }
        let revision = revision.ok_or_else(|| format!("want {USAGE}"))?;
        if seeds.is_empty() {
            seeds = SEEDS.to_vec();
        }
        Ok(Asked { revision, built, seeds, labs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(typed: &str) -> Result<Asked, String> {
        Asked::of(typed.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn the_first_word_is_the_revision_and_the_others_are_labs() {
        let all = asked("HEAD~1").expect("enough");
        assert_eq!(
            (all.revision.as_str(), all.seeds, all.labs.len()),
            ("HEAD~1", vec![1, 2, 3], 0)
        );
        let some = asked("--seed 7 v1 b.yaml --before old/rig a.yaml --seed 9").expect("right");
        assert_eq!((some.revision.as_str(), some.seeds), ("v1", vec![7, 9]));
        assert_eq!(some.labs.into_iter().collect::<Vec<_>>(), ["a.yaml", "b.yaml"]);
        assert_eq!(some.built, [Some(PathBuf::from("old/rig")), None]);
    }

    #[test]
    fn what_cannot_be_meant_is_told() {
        assert_eq!(asked(""), Err(format!("want {USAGE}")));
        assert_eq!(asked("HEAD --seed x"), Err("--seed x: want a number".to_owned()));
        assert_eq!(asked("HEAD --now"), Err("--now wants a value".to_owned()));
        assert_eq!(asked("HEAD --jobs 2"), Err(format!("--jobs: want {USAGE}")));
    }
}
