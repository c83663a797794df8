//! What the rig takes at most: the one place of each limit, and the words with which it refuses more. Whoever reads or plans
//! something asks here; `docs/limits.md` lists them all.

use crate::Dur;

/// The longest length of time that anything says: a day. Picoseconds in 64 bits reach 213 days, and a sum of a few of them
/// must not wrap.
pub const TIME: Dur = Dur::s(86_400);
/// The longest trial: 4 T of the longest timeout that a connection can be set to is some ten hours. A storm and a probe beside it take half a
/// megabyte of memory and 4 ms for each of its seconds.
pub const TRIAL: Dur = Dur::s(43_200);
/// The longest that all trials of a case take together, in their own time.
pub const CASE: Dur = Dur::s(86_400);
/// Most trials of a case, at all points of its sweep together.
pub const TRIALS: u32 = 100_000;
/// Most frames that all trials of a case send together where they are simulated. One core simulates half a million to two
/// million of them a second, by what becomes of each: these take it one to six hours.
pub const FRAMES: u64 = 10_000_000_000;
/// Most frames that one trial records one by one: probes and PFC. Each takes some 80 bytes of memory, 160 where it is seen twice.
pub const RECORDED: u64 = 50_000_000;
/// Most points of a case's sweep: configurations of the device times values of its variables.
pub const POINTS: usize = 1_000;
/// Most devices of a lab: each is a profile that is read.
pub const DEVICES: usize = 64;
/// Most devices of a system: each takes the engine's time.
pub const SYSTEM: usize = 16;
/// The longest name, in characters: suites, cases (the ending of the rule family counted), streams, storms, flows, variables,
/// ports and devices. A file system takes 255 bytes, and a name gets endings.
pub const NAME: usize = 64;
/// The largest YAML file, in bytes.
pub const YAML_BYTES: u64 = 1 << 20;
/// The deepest nesting of one.
pub const YAML_DEPTH: usize = 64;
/// Most values in one, aliases expanded.
pub const YAML_VALUES: usize = 50_000;
/// The largest file of a switch's configuration, in bytes: a chassis has some megabytes.
pub const CONFIG_BYTES: u64 = 1 << 24;
/// The deepest nesting of one, in levels.
pub const CONFIG_DEPTH: usize = 64;
/// The largest capture that is analysed, in bytes, both as it is and unpacked.
pub const CAPTURE_BYTES: u64 = 1 << 30;
/// The longest from the first frame of a capture to the last: 30 days. A clock that is set meanwhile jumps by years.
pub const SPAN: Dur = Dur::s(30 * 86_400);
/// The largest results of a run that are read, in bytes.
pub const RESULTS_BYTES: u64 = 1 << 28;
/// What is quoted of a text that somebody else wrote, in characters.
pub const QUOTED: usize = 200;
/// Faults of a file that are told one by one.
pub const FAULTS: usize = 100;

/// One limit, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// What is limited.
    pub of: &'static str,
    /// The most that is taken: `1000`, `86400s`.
    pub most: String,
    /// What a message says would be accepted.
    pub want: String,
}

impl Limit {
    /// Its line in the table of `docs/limits.md`.
    pub fn row(&self) -> String {
        let Limit { of, most, want } = self;
        format!("| {of} | {most} | `{want}` |")
    }
}

/// A length of time, wherever one is written.
pub fn time() -> Limit {
    Limit { of: "a length of time", most: TIME.to_string(), want: Dur::WANT.to_owned() }
}

/// How long a trial may last.
pub fn trial() -> Limit {
    let want = format!("a trial of at most {TRIAL}");
    Limit { of: "a trial, in its own time", most: TRIAL.to_string(), want }
}

/// All trials of a case.
pub fn case() -> Limit {
    let want = format!("fewer or shorter trials: at most {CASE} for all of them");
    Limit { of: "all trials of a case, in their own time", most: CASE.to_string(), want }
}

/// The number of trials.
pub fn trials() -> Limit {
    let want = format!("a whole number from 1 to {TRIALS}");
    Limit {
        of: "trials of a case, all points of its sweep counted",
        most: TRIALS.to_string(),
        want,
    }
}

/// The frames of all trials.
pub fn frames() -> Limit {
    let of = "frames that all trials of a case send, where they are simulated";
    let want = format!(
        "at most {FRAMES} frames in all trials: fewer or shorter ones, larger frames or a lower rate"
    );
    Limit { of, most: FRAMES.to_string(), want }
}

/// The frames of a trial that are recorded.
pub fn recorded() -> Limit {
    let of = "frames of a trial that are recorded one by one (probes, PFC)";
    let want =
        format!("at most {RECORDED} of them in a trial: a shorter one, or more time between two");
    Limit { of, most: RECORDED.to_string(), want }
}

/// The points of a sweep.
pub fn points() -> Limit {
    let want = format!("at most {POINTS} points, or several cases");
    Limit { of: "points of a sweep", most: POINTS.to_string(), want }
}

/// The devices of a lab.
pub fn devices() -> Limit {
    let want = format!("at most {DEVICES} devices, or several labs");
    Limit { of: "devices of a lab", most: DEVICES.to_string(), want }
}

/// The devices that are one under test.
pub fn system() -> Limit {
    let want = format!("2 to {SYSTEM} devices");
    Limit { of: "devices of a system", most: SYSTEM.to_string(), want }
}

/// How long a name may be.
pub fn name() -> Limit {
    let want = format!("a name of at most {NAME} characters");
    let of = "a name: of a suite (its file), a case with its ending, a stream, storm, flow, variable, interface, device or lab";
    Limit { of, most: NAME.to_string(), want }
}

/// A YAML file.
pub fn yaml() -> Limit {
    Limit { of: "a YAML file, in bytes", most: YAML_BYTES.to_string(), want: bytes(YAML_BYTES) }
}

/// What stands in a YAML file.
pub fn values() -> Limit {
    Limit {
        of: "what stands in a YAML file",
        most: format!("{YAML_DEPTH} levels, {YAML_VALUES} values"),
        want: format!(
            "at most {YAML_DEPTH} levels and {YAML_VALUES} values, aliases expanded, in a file"
        ),
    }
}

/// A switch's configuration.
pub fn config() -> Limit {
    let of = "a `config_db.json`, in bytes";
    Limit { of, most: CONFIG_BYTES.to_string(), want: bytes(CONFIG_BYTES) }
}

/// A capture that is analysed.
pub fn capture() -> Limit {
    let of = "a capture for `analyze`, in bytes, as it is and unpacked";
    Limit { of, most: CAPTURE_BYTES.to_string(), want: bytes(CAPTURE_BYTES) }
}

/// From the first frame of a capture to the last.
pub fn span() -> Limit {
    let want = format!("frames of a capture within {SPAN} (editcap cuts by time: -A, -B)");
    Limit { of: "a capture, from its first frame to its last", most: SPAN.to_string(), want }
}

/// Results of a run.
pub fn results() -> Limit {
    let of = "a `results.json`, in bytes";
    Limit { of, most: RESULTS_BYTES.to_string(), want: bytes(RESULTS_BYTES) }
}

/// Every limit, in the order of `docs/limits.md`.
pub fn all() -> [Limit; 16] {
    [
        time(),
        trial(),
        case(),
        trials(),
        frames(),
        recorded(),
        points(),
        devices(),
        system(),
        name(),
        yaml(),
        values(),
        config(),
        capture(),
        span(),
        results(),
    ]
}

/// What is read of a kind of file that has at most so many bytes.
pub fn bytes(most: u64) -> String {
    format!("a regular file of at most {most} bytes")
}

/// `text` as far as it is quoted; three dots say that there is more.
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_for_a_length_of_time_name_the_longest() {
        assert!(time().want.contains(&TIME.to_string()), "{}", time().want);
    }

    #[test]
    fn a_sum_of_what_may_be_said_fits_its_bits() {
        assert!(TIME.0.checked_mul(200).is_some());
        assert!(CASE.0.checked_add(TRIAL.0).is_some());
    }

    #[test]
    fn a_text_is_quoted_to_the_last_character_that_fits_and_cut_behind_it() {
        let most = "\u{e4}".repeat(QUOTED);
        assert_eq!(quoted(&most), most);
        assert_eq!(quoted(&format!("{most}b")), format!("{most}..."));
    }
}
