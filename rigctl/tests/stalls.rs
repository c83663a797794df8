//! A healthy device in real time on a machine that stalls: the rig, the devices or both are stopped at seeded moments, and a
//! thread of a higher scheduling class takes a processor away. Root and Linux only.
//!
//! A stall may make a run longer, or leave a case undecided. It never makes a healthy device look faulty: no verdict here
//! is `fail`, whatever the seed. `RIG_STALL_SEEDS=100..140` tries those instead of the few of CI, `RIG_STALL_CASES` other
//! cases, `RIG_STALL_LAB` another lab (by its stem), and `RIG_PROGRAM` names another binary.

#![expect(clippy::disallowed_methods, reason = "what is waited for here is other processes")]

mod common;
#[path = "common/processes.rs"]
mod processes;

use common::root;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use processes::children;
use rig_units::Dur;
use rigctl::wall::Stopwatch;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// What CI tries: the cases that a stall has made look wrong, and one of each measure of the watchdog.
const CASES: &str = "pfcwd::{lapsing-storm-is-not-a-verdict,pfc-*-broadcom,action-*-broadcom,storm-counters-broadcom}";
const SEEDS: Range<u64> = 1..3;
/// A run that takes longer is stopped: what CI spends on a seed at most.
const MOST: Dur = Dur::s(60);

/// Who is taken off the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Whom {
    Rig,
    Device,
    Both,
    /// A thread of a higher class spins on one processor.
    Processor,
}

/// Numbers that follow from a seed (SplitMix64).
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    /// After how long the next stall comes, whom it meets and for how long.
    fn stall(&mut self) -> (Duration, Whom, Duration) {
        let whom = [Whom::Rig, Whom::Device, Whom::Both, Whom::Processor];
        let wait = Duration::from_millis(100 + self.below(600));
        let whom = whom[usize::try_from(self.below(4)).unwrap_or(0)];
        (wait, whom, Duration::from_micros(5_000 + self.below(55_000)))
    }
}

/// Stops processes, and lets them go on however this ends.
struct Stopped(Vec<Pid>);

impl Stopped {
    fn new(all: &[u32]) -> Stopped {
        let pids = all.iter().filter_map(|&pid| i32::try_from(pid).ok()).map(Pid::from_raw);
        // One that has ended meanwhile cannot be stopped.
        Stopped(pids.filter(|&pid| kill(pid, Signal::SIGSTOP).is_ok()).collect())
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        for &pid in &self.0 {
            let _ended = kill(pid, Signal::SIGCONT);
        }
    }
}

/// Takes one processor away for so long.
fn spin(lasts: Duration) {
    let seconds = lasts.as_secs_f64().to_string();
    let spin = format!(
        "import time\nend = time.monotonic() + {seconds}\nwhile time.monotonic() < end: pass"
    );
    let mut command = Command::new("chrt");
    command.args(["-f", "80", "python3", "-S", "-c", &spin]).stdin(Stdio::null());
    let status = command.status().expect("chrt of util-linux starts");
    assert!(status.success(), "chrt: {status}");
}

/// Stalls a run until it ends; how many stalls there were of each kind.
fn stall(rig: &mut Child, seed: u64) -> BTreeMap<Whom, u32> {
    let (mut draws, mut stalls) = (Draws(seed), BTreeMap::new());
    let begun = Stopwatch::start();
    while rig.try_wait().expect("it was started here").is_none() {
        let (wait, whom, lasts) = draws.stall();
        sleep(wait);
        if begun.elapsed() > MOST {
            // Once: what was judged until then is reported.
            let pid = Pid::from_raw(i32::try_from(rig.id()).expect("a process"));
            kill(pid, Signal::SIGINT).expect("it runs");
            rig.wait().expect("it ends");
            break;
        }
        let served = children(rig.id());
        let one: Vec<u32> = (!served.is_empty())
            .then(|| served[usize::try_from(draws.below(served.len() as u64)).unwrap_or(0)])
            .into_iter()
            .collect();
        let met = match whom {
            Whom::Rig => vec![rig.id()],
            Whom::Device => one,
            Whom::Both => [&[rig.id()], &served[..]].concat(),
            Whom::Processor => {
                spin(lasts);
                *stalls.entry(whom).or_default() += 1;
                continue;
            }
        };
        if met.is_empty() {
            continue;
        }
        let stopped = Stopped::new(&met);
        sleep(lasts);
        drop(stopped);
        *stalls.entry(whom).or_default() += 1;
    }
    stalls
}

fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn seeds() -> Range<u64> {
    let Some(text) = set("RIG_STALL_SEEDS") else { return SEEDS };
    let ends = text.split_once("..").and_then(|(a, b)| Some(a.parse().ok()?..b.parse().ok()?));
    ends.unwrap_or_else(|| panic!("RIG_STALL_SEEDS={text}: want `1..9`"))
}

/// A case's id, its verdict and what is said of it.
type Told = (String, String, String);

/// Runs the cases under stalls.
fn run(seed: u64) -> (Vec<Told>, BTreeMap<Whom, u32>) {
    let out = tempfile::tempdir().expect("a temporary folder");
    let program = set("RIG_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_rigctl").to_owned());
    let lab = set("RIG_STALL_LAB").unwrap_or_else(|| "veth".to_owned());
    let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../lab-configs/{lab}.yaml"));
    let cases = set("RIG_STALL_CASES").unwrap_or_else(|| CASES.to_owned());
    let mut command = Command::new(program);
    command.args(["run", "--only", &cases, "--seed", &seed.to_string(), "--evidence", "none"]);
    command.arg("--lab").arg(lab).arg("--out").arg(out.path().join("run"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut rig = command.spawn().expect("rigctl starts");
    let stalls = stall(&mut rig, seed);
    let results = std::fs::read_to_string(out.path().join("run/results.json")).expect("results");
    let results: Value = serde_json::from_str(&results).expect("JSON");
    let text = |case: &Value, key: &str| case[key].as_str().unwrap_or_default().to_owned();
    let told = |case: &Value| {
        let why = match &case["findings"] {
            Value::Array(findings) if !findings.is_empty() => case["findings"].to_string(),
            _ => format!("{}: {}", text(case, "reason"), text(case, "detail")),
        };
        // What was broken off at the end of its time was not judged.
        let cut = why.contains("stopped after");
        (!cut).then(|| (text(case, "id"), text(case, "verdict"), why))
    };
    let cases = results["cases"].as_array().expect("cases");
    (cases.iter().filter_map(told).collect(), stalls)
}

#[test]
fn no_stall_makes_a_healthy_device_look_faulty() {
    if !root() {
        return;
    }
    let (mut verdicts, mut stalls) = (BTreeMap::new(), BTreeMap::new());
    let (mut accused, mut runs) = (Vec::new(), 0);
    for seed in seeds() {
        let (cases, met) = run(seed);
        runs += 1;
        met.into_iter().for_each(|(whom, count)| *stalls.entry(whom).or_insert(0) += count);
        for (id, verdict, why) in cases {
            if verdict == "inconclusive" {
                eprintln!("seed {seed}: {id}: {why}");
            }
            if verdict == "fail" || verdict == "broken" {
                accused.push(format!("seed {seed}: {id}: {verdict}: {why}"));
            }
            *verdicts.entry(verdict).or_insert(0_u32) += 1;
        }
    }
    let all: u32 = stalls.values().sum();
    eprintln!("{all} stalls {stalls:?} in {runs} runs: {verdicts:?}");
    assert_eq!(accused, Vec::<String>::new(), "{all} stalls in {runs} runs");
    assert!(verdicts.contains_key("pass") && all > 0, "nothing was tried: {verdicts:?}");
}
