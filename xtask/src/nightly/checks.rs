//! The one table of what runs at night. A check that CI has no time for gets a row here. Which labs and suites there are the
//! repository says.

use crate::root;
use crate::same_results::labs;
use std::path::PathBuf;

/// One kind of check, done in rounds.
#[derive(Debug)]
pub(crate) struct Check {
    /// One word.
    pub(crate) name: &'static str,
    /// What a round is, for people.
    pub(crate) about: &'static str,
    /// How much of the night it gets, against the others.
    pub(crate) share: u64,
    /// How many rounds one state of the code needs; `None`: each has a seed of its own, and there is always another.
    pub(crate) rounds: Option<fn() -> u64>,
    /// What a round runs.
    pub(crate) round: fn(u64) -> Round,
}

/// What one round runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Round {
    /// The release binary with these arguments.
    Rigctl(Vec<String>),
    /// A test, by the arguments of `cargo test` and its environment. It finds the release binary in `RIG_PROGRAM`.
    Test(Vec<String>, Vec<(&'static str, String)>),
}

/// Seeds of CI and of people are small: these never are among them.
const FIRST_SEED: u64 = 1_000_000;
/// Harmed inputs of each kind a round.
const INPUTS: u64 = 10_000;
/// Stalls are tried at so many seeds a round.
const STALLS: u64 = 4;

/// The table.
pub(crate) const CHECKS: &[Check] = &[
    Check {
        name: "seeds",
        about: "the catalogue under a seed of its own, on one virtual lab after the other",
        share: 4,
        rounds: None,
        round: seeds,
    },
    Check {
        name: "found",
        about: "the catalogue on devices that nobody sells, each configured by the cases and each as it is",
        share: 2,
        rounds: Some(|| 2 * devices().len() as u64),
        round: found,
    },
    Check {
        name: "mutants",
        about: "every mutant of what a suite covers against that suite, one after the other",
        share: 3,
        rounds: Some(|| covering().len() as u64),
        round: mutants,
    },
    Check {
        name: "matrix",
        about: "every case of one suite after the other against every mutant: each is turned red by one, alone",
        share: 3,
        rounds: Some(|| suites().len() as u64),
        round: matrix,
    },
    Check {
        name: "alike",
        about: "no two deviations of a part turn the same cases red with the same words",
        share: 2,
        rounds: Some(|| 1),
        round: alike,
    },
    Check {
        name: "stalls",
        about: "a healthy device in real time while the rig and the device are stopped at seeded moments (root)",
        share: 3,
        rounds: None,
        round: stalls,
    },
    Check {
        name: "fuzz",
        about: "suites, labs, profiles, captures, control messages, results, events and journals, harmed from a number",
        share: 1,
        rounds: None,
        round: fuzz,
    },
    Check {
        name: "otherwise",
        about: "devices that declare what would be a mutant of another: none is accused of what it declares",
        share: 4,
        rounds: None,
        round: otherwise,
    },
    Check {
        name: "sheets",
        about: "every time that a device declares as a range about it, at each end alone, all of them so, and 200 draws, and ten times as long: nobody is accused",
        share: 4,
        rounds: Some(|| 1),
        round: sheets,
    },
    Check {
        name: "drawn",
        about: "healthy switches and NICs with ports, sizes, limits and times that are drawn: nobody is accused",
        share: 4,
        rounds: None,
        round: drawn,
    },
    Check {
        name: "agreement",
        about: "what is measured on virtual interfaces is what is measured in virtual time, on every family of switches (root)",
        share: 1,
        rounds: Some(|| 1),
        round: agreement,
    },
    Check {
        name: "linux-switch",
        about: "all that a guest with Linux's bridge can be asked, in one boot, beside a guest that is wrong at each queue (root)",
        share: 1,
        rounds: Some(|| 1),
        round: linux_switch,
    },
    Check {
        name: "linux-nics",
        about: "two of Linux's NICs in guests with the rig between them, a pair of which one is wrong, and each suite of its MACsec (root)",
        share: 1,
        rounds: Some(|| 1),
        round: linux_nics,
    },
    Check {
        name: "sonic",
        about: "stand-ins for switches with SONiC, whole suites and reboots over ssh among it (root)",
        share: 1,
        rounds: Some(|| 1),
        round: sonic,
    },
    Check {
        name: "readings",
        about: "counters that are read on the way change nothing else of any case",
        share: 1,
        rounds: Some(|| 1),
        round: readings,
    },
    Check {
        name: "resolution",
        about: "devices just outside of what a measurement says that it does not tell apart, some at a hundred seeds, and one of each end of all that is printed",
        share: 1,
        rounds: Some(|| 1),
        round: resolution,
    },
    Check {
        name: "figures",
        about: "what the statistics of the judge promise, counted over simulated devices",
        share: 1,
        rounds: Some(|| 1),
        round: figures,
    },
];

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The suites of the catalogue, by the names of their files in its folder.
fn suites() -> Vec<String> {
    suites_that(|_| true)
}

/// Those of them that say that they cover a part: what breaks there they notice.
fn covering() -> Vec<String> {
    suites_that(|text| !text.lines().any(|line| line == "covers: none"))
}

fn suites_that(are: impl Fn(&str) -> bool) -> Vec<String> {
    let files = std::fs::read_dir(root().join("testcases")).into_iter().flatten().flatten();
    let suite = |path: PathBuf| {
        let is_yaml = path.extension().is_some_and(|end| end == "yaml");
        let text = std::fs::read_to_string(&path).ok().filter(|text| is_yaml && are(text))?;
        text.lines()
            .any(|line| line == "cases:")
            .then(|| path.file_stem()?.to_str().map(str::to_owned))?
    };
    let mut suites: Vec<String> = files.filter_map(|file| suite(file.path())).collect();
    suites.sort();
    suites
}

/// The one of `all` whose turn a round is.
fn in_turn(all: &[String], round: u64) -> &str {
    let at = round % u64::try_from(all.len().max(1)).unwrap_or(1);
    all.get(usize::try_from(at).unwrap_or(0)).map_or("", String::as_str)
}

fn seeds(round: u64) -> Round {
    let labs = labs(&root()).unwrap_or_default();
    let (lab, seed) = (in_turn(&labs, round), FIRST_SEED + round / labs.len().max(1) as u64);
    Round::Rigctl(words(&format!("run testcases --lab {lab} --seed {seed} --evidence none")))
}

/// Profiles of devices that nobody sells, in the order of their names.
fn devices() -> Vec<String> {
    let files = std::fs::read_dir(root().join("rigctl/tests/found")).into_iter().flatten();
    let name = |file: std::fs::DirEntry| {
        let name = file.file_name().to_str()?.strip_suffix(".yaml")?.to_owned();
        (!name.starts_with("as-found-")).then_some(name)
    };
    let mut names: Vec<String> = files.flatten().filter_map(name).collect();
    names.sort();
    names
}

fn found(round: u64) -> Round {
    let devices = devices();
    let device = in_turn(&devices, round / 2);
    let place = match round % 2 {
        0 => format!("--dut rigctl/tests/found/{device}.yaml"),
        _ => format!("--lab rigctl/tests/found/as-found-{device}.yaml"),
    };
    Round::Rigctl(words(&format!("run testcases {place} --evidence none")))
}

fn mutants(round: u64) -> Round {
    let covering = covering();
    let suite = in_turn(&covering, round);
    Round::Rigctl(words(&format!("mutants testcases/{suite}.yaml")))
}

fn matrix(round: u64) -> Round {
    let suites = suites();
    let suite = in_turn(&suites, round);
    Round::Rigctl(words(&format!("mutants testcases/{suite}.yaml --per-case --full")))
}

fn stalls(round: u64) -> Round {
    let test = words("--package rigctl --test stalls --locked -- --nocapture");
    let first = FIRST_SEED + round * STALLS;
    let seeds = format!("{first}..{}", first + STALLS);
    Round::Test(test, vec![("RIG_STALL_SEEDS", seeds)])
}

fn alike(_: u64) -> Round {
    let test = words("--package rigctl --test alike --locked -- --nocapture");
    Round::Test(test, vec![("RIG_WHOLE_ALIKE", "1".to_owned())])
}

fn fuzz(round: u64) -> Round {
    let test = words("--package rigctl --test fuzz --locked -- --nocapture");
    let first = FIRST_SEED + round * INPUTS;
    let env = [("RIG_FUZZ_SEED", first), ("RIG_FUZZ_INPUTS", INPUTS)];
    Round::Test(test, env.map(|(name, value)| (name, value.to_string())).to_vec())
}

fn otherwise(round: u64) -> Round {
    let test = words("--package rigctl --test otherwise --locked -- --nocapture");
    let seed = FIRST_SEED + round;
    Round::Test(test, vec![("RIG_OTHERWISE_SEEDS", format!("{seed}..{}", seed + 1))])
}

fn sheets(_: u64) -> Round {
    let test = words("--package rigctl --test sheets --locked -- --nocapture");
    Round::Test(test, vec![("RIG_WHOLE_SHEETS", "200".to_owned())])
}

fn drawn(round: u64) -> Round {
    let test = words("--package rigctl --test drawn --locked -- --nocapture");
    let seed = FIRST_SEED + round;
    Round::Test(test, vec![("RIG_DRAWN_SEEDS", format!("{seed}..{}", seed + 1))])
}

fn agreement(_: u64) -> Round {
    let test = words("--package rigctl --test agreement --locked");
    Round::Test(test, vec![("RIG_AGREE_ON_EVERY_FAMILY", "1".to_owned())])
}

fn linux_switch(_: u64) -> Round {
    let test = words("--package rigctl --test linux_switch --locked");
    Round::Test(test, vec![("RIG_WHOLE_LINUX_SWITCH", "1".to_owned())])
}

fn linux_nics(_: u64) -> Round {
    let test = words("--workspace --test linux --test server --locked");
    Round::Test(test, vec![("RIG_WHOLE_LINUX", "1".to_owned())])
}

fn sonic(_: u64) -> Round {
    let test = words("--package rigctl --test sonic --locked");
    Round::Test(test, vec![("RIG_WHOLE_SONIC", "1".to_owned())])
}

fn readings(_: u64) -> Round {
    let test = words("--package rigctl --test catalogue --locked -- reading_counters");
    Round::Test(test, vec![("RIG_WHOLE_CATALOGUE", "1".to_owned())])
}

fn resolution(_: u64) -> Round {
    let test = words("--package rigctl --test resolution --locked -- --nocapture");
    Round::Test(
        test,
        vec![("RIG_RESOLUTION_SEEDS", "100".to_owned()), ("RIG_WHOLE_BRACKETS", "1".to_owned())],
    )
}

fn figures(_: u64) -> Round {
    Round::Test(words("--package rig-oracle --lib --locked -- judge --nocapture"), Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_suites_of_the_repository_are_found_and_those_that_cover_nothing_told_apart() {
        let (suites, covering) = (suites(), covering());
        assert!(suites.iter().any(|suite| suite == "interop"), "{suites:?}");
        assert!(covering.iter().any(|suite| suite == "pfcwd"), "{covering:?}");
        assert!(!covering.iter().any(|suite| suite == "interop"), "{covering:?}");
    }

    #[test]
    fn each_lab_comes_under_each_seed_and_each_suite_in_its_turn() {
        let labs = u64::try_from(labs(&root()).expect("labs").len()).expect("a count");
        let [first, last, next] = [0, labs - 1, labs].map(|round| format!("{:?}", seeds(round)));
        assert!(first.contains("1000000") && last.contains("1000000"), "{first} {last}");
        assert_eq!(first.replace("1000000", "1000001"), next);
        let rounds: BTreeSet<_> = (0..80).map(|round| format!("{:?}", seeds(round))).collect();
        assert_eq!(rounds.len(), 80);
        for (check, of) in [(matrix as fn(u64) -> Round, suites()), (mutants, covering())] {
            let rounds: BTreeSet<_> =
                (0..of.len() as u64).map(|round| format!("{:?}", check(round))).collect();
            assert_eq!(rounds.len(), of.len());
        }
    }

    #[test]
    fn each_device_that_nobody_sells_is_taken_configured_and_as_it_is() {
        let rounds: BTreeSet<_> =
            (0..2 * devices().len() as u64).map(|round| format!("{:?}", found(round))).collect();
        assert_eq!(rounds.len(), 10);
        for round in rounds {
            let file = round.split('"').find(|word| word.ends_with(".yaml")).expect("a file");
            assert!(root().join(file).is_file(), "{round}");
        }
    }

    #[test]
    fn checks_have_names_of_their_own() {
        let names: BTreeSet<_> = CHECKS.iter().map(|check| check.name).collect();
        assert_eq!(names.len(), CHECKS.len());
        assert!(CHECKS.iter().all(|check| check.share > 0 && !check.name.contains('\t')));
    }
}
