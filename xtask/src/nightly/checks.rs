//! The one table of what runs at night. A check that CI has no time for gets a row here.

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
    pub(crate) rounds: Option<u64>,
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

/// Every lab in virtual time.
pub(crate) const LABS: [&str; 8] = [
    "emulated",
    "400g",
    "barefoot",
    "broadcom",
    "cisco-8000",
    "interval-counter",
    "mellanox",
    "shallow-32x100g",
];

/// The suites of the catalogue.
pub(crate) const SUITES: [&str; 11] = [
    "pfcwd",
    "buffers",
    "headroom",
    "ecn",
    "macsec-pfc",
    "cnp",
    "dcqcn",
    "recovery",
    "interop",
    "router",
    "system",
];

/// Those of them that say that they cover a part: what breaks there they notice.
pub(crate) const COVERING: [&str; 9] =
    ["pfcwd", "buffers", "headroom", "ecn", "macsec-pfc", "cnp", "dcqcn", "recovery", "router"];

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
        name: "mutants",
        about: "every mutant of what a suite covers against that suite, one after the other",
        share: 3,
        rounds: Some(COVERING.len() as u64),
        round: mutants,
    },
    Check {
        name: "matrix",
        about: "every case of one suite after the other against every mutant: each is turned red by one, alone",
        share: 3,
        rounds: Some(SUITES.len() as u64),
        round: matrix,
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
        name: "agreement",
        about: "what is measured on virtual interfaces is what is measured in virtual time, on every family of switches (root)",
        share: 1,
        rounds: Some(1),
        round: agreement,
    },
    Check {
        name: "figures",
        about: "what the statistics of the judge promise, counted over simulated devices",
        share: 1,
        rounds: Some(1),
        round: figures,
    },
];

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn seeds(round: u64) -> Round {
    let labs = LABS.len() as u64;
    let lab = LABS[usize::try_from(round % labs).unwrap_or(0)];
    let seed = FIRST_SEED + round / labs;
    Round::Rigctl(words(&format!(
        "run testcases --lab lab-configs/{lab}.yaml --seed {seed} --evidence none"
    )))
}

fn mutants(round: u64) -> Round {
    let suite = COVERING[usize::try_from(round).unwrap_or(0) % COVERING.len()];
    Round::Rigctl(words(&format!("mutants testcases/{suite}.yaml")))
}

fn matrix(round: u64) -> Round {
    let suite = SUITES[usize::try_from(round).unwrap_or(0) % SUITES.len()];
    Round::Rigctl(words(&format!("mutants testcases/{suite}.yaml --per-case --full")))
}

fn stalls(round: u64) -> Round {
    let test = words("--package rigctl --test stalls --locked -- --nocapture");
    let first = FIRST_SEED + round * STALLS;
    let seeds = format!("{first}..{}", first + STALLS);
    Round::Test(test, vec![("RIG_STALL_SEEDS", seeds)])
}

fn fuzz(round: u64) -> Round {
    let test = words("--package rigctl --test fuzz --locked -- --nocapture");
    let first = FIRST_SEED + round * INPUTS;
    let env = [("RIG_FUZZ_SEED", first), ("RIG_FUZZ_INPUTS", INPUTS)];
    Round::Test(test, env.map(|(name, value)| (name, value.to_string())).to_vec())
}

fn agreement(_: u64) -> Round {
    let test = words("--package rigctl --test agreement --locked");
    Round::Test(test, vec![("RIG_AGREE_ON_EVERY_FAMILY", "1".to_owned())])
}

fn figures(_: u64) -> Round {
    Round::Test(words("--package rig-oracle --lib --locked -- judge --nocapture"), Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    fn root() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
    }

    #[test]
    fn every_virtual_lab_and_every_suite_of_the_repository_is_in_the_tables() {
        let stems = |folder: &str, holds: &str| -> BTreeSet<String> {
            let files = std::fs::read_dir(root().join(folder)).expect("a folder");
            let files = files.map(|file| file.expect("a file").path());
            let yaml = files.filter(|file| file.extension().is_some_and(|end| end == "yaml"));
            let wanted = yaml.filter(|file| {
                std::fs::read_to_string(file).expect("text").lines().any(|line| line == holds)
            });
            wanted.map(|file| file.file_stem().expect("a stem").to_string_lossy().into()).collect()
        };
        let own = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(stems("lab-configs", "transport: virtual"), own(&LABS));
        assert_eq!(stems("testcases", "cases:"), own(&SUITES));
        let idle = stems("testcases", "covers: none");
        assert_eq!(&own(&SUITES) - &idle, own(&COVERING));
    }

    #[test]
    fn each_lab_comes_under_each_seed() {
        let Round::Rigctl(first) = seeds(0) else { panic!("a run") };
        assert!(first.join(" ").contains("emulated.yaml --seed 1000000 "), "{first:?}");
        let Round::Rigctl(ninth) = seeds(8) else { panic!("a run") };
        assert!(ninth.join(" ").contains("emulated.yaml --seed 1000001 "), "{ninth:?}");
        let rounds: BTreeSet<_> = (0..80).map(|round| format!("{:?}", seeds(round))).collect();
        assert_eq!(rounds.len(), 80);
    }

    #[test]
    fn checks_have_names_of_their_own() {
        let names: BTreeSet<_> = CHECKS.iter().map(|check| check.name).collect();
        assert_eq!(names.len(), CHECKS.len());
        assert!(CHECKS.iter().all(|check| check.share > 0 && !check.name.contains('\t')));
    }
}
