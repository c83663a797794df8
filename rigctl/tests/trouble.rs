//! The rig under faults from a seed: a write that fails, a disk that fills up, a folder that goes away, a request to stop, each at
//! some instant of a run. Whatever happens, the exit code is right, the run before is untouched, what is settled is readable
//! and as it would have been, and nothing is left running or half written.

use clap::Parser;
use rig_reports::{Results, Run};
use rigctl::cli::{Cli, Command};
use rigctl::commands::run::{World, run_in};
use rigctl::executor::wire::{Benches, Start};
use rigctl::folder::{Touch, Trouble};
use rigctl::stop::Stop;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[path = "trouble/deaf.rs"]
mod deaf;
#[path = "trouble/memory.rs"]
mod memory;
#[path = "trouble/slow.rs"]
mod slow;
#[path = "trouble/stood.rs"]
mod stood;

use memory::Memory;

/// One device: most of the time of such a run is that of reading its lab.
const LAB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/barefoot.yaml");
/// The same device behind ports of the rig; those are in memory.
const WIRE: &str = concat!(
    "about: \"ports in memory\"\ntransport: veth\ncable: 3m\n",
    "wire: {speed: 500Mbps, ports: 4, bound: 1ms, benches: 1, budget: 60s}\n",
    "duts: [",
    env!("CARGO_MANIFEST_DIR"),
    "/../lab-configs/duts/barefoot.yaml]\n"
);
/// Four cases that are over at once: one takes longer than the others, and one a healthy device fails.
const SUITE: &str = "about: \"a suite that is small\"
device: switch
setup:
  dut: {rule_family: barefoot}
  streams:
    probe: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 50us}
    slow: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 5ms}
    other: {from: p3, to: p2, class: 4, kind: rocev2-write, size: 1024B, every: 50us}
cases:
  one: {why: \"a test\", source: [\"a test\"], trials: 2, steps: [{at: 0ms, start: probe, for: 2ms}], measure: [loss: {stream: probe, expect: none}]}
  two: {why: \"a test\", source: [\"a test\"], trials: 2, steps: [{at: 0ms, start: other, for: 2ms}], measure: [loss: {stream: other, expect: none}]}
  all: {why: \"a test\", source: [\"a test\"], trials: 2, steps: [{at: 0ms, start: [probe, other], for: 2ms}], measure: [loss: {stream: probe, expect: none}]}
  long: {why: \"a test\", source: [\"a test\"], trials: 1, steps: [{at: 0ms, start: slow, for: 300ms}], measure: [throughput: {streams: [slow], from: 5ms, until: 290ms}]}
  bad: {why: \"a test\", source: [\"a test\"], trials: 2, steps: [{at: 0ms, start: probe, for: 2ms}], measure: [loss: {stream: probe, expect: some}]}
";
/// What marks the folder of a run.
const MARK: &str = "rig-run/1 of process 1\n";
/// Seeds of CI; more by hand with `RIG_TROUBLE_SEEDS=FROM..TO`.
const SEEDS: &str = "0..1000";
/// Which seeds a process of its own is to try: what a run says goes to the process's own output.
const INSIDE: &str = "RIG_TROUBLE_INSIDE";

/// A run of the suite touches the disk not quite so often.
const TOUCHES: u64 = 40;

/// What goes wrong, and at the how manieth touch of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// Nothing does.
    Nothing,
    /// One touch fails, of whatever kind.
    Once,
    /// No room from then on.
    Full,
    /// The folder is taken away.
    Gone,
    /// Somebody asks for the end.
    Asked,
    /// The same, and then there is no room.
    AskedAndFull,
}

const ALL: [What; 6] =
    [What::Nothing, What::Once, What::Full, What::Gone, What::Asked, What::AskedAndFull];

/// Waits in which a trial is broken off: it has a hundred.
const SOON: u64 = 10;
/// Kinds of trouble.
const KINDS: usize = ALL.len() + memory::ALL.len();

struct Schedule {
    what: What,
    at: u64,
    touched: AtomicU64,
    stop: Arc<Stop>,
    out: PathBuf,
}

impl Trouble for Schedule {
    fn before(&self, _: Touch) -> io::Result<()> {
        let now = self.touched.fetch_add(1, Ordering::Relaxed);
        let full = || Err(io::ErrorKind::StorageFull.into());
        match self.what {
            What::Once if now == self.at => Err(io::Error::other("planted")),
            What::Full if now >= self.at => full(),
            What::AskedAndFull if now > self.at => full(),
            What::Gone if now == self.at => fs::remove_dir_all(&self.out),
            What::Asked | What::AskedAndFull if now == self.at => {
                self.stop.hurry();
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// A number that follows from a seed (splitmix64).
fn drawn(seed: u64, nth: u64) -> u64 {
    let mut z = seed.wrapping_add(nth.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What a run left behind.
#[derive(Debug, Clone)]
struct Left {
    exit: u8,
    /// Whether something went wrong before the run had ended.
    troubled: bool,
    /// Whether what went wrong passes by itself: trials that show nothing are run again, and every case is settled.
    passing: bool,
    /// How often a run in real time has waited.
    waited: Option<u64>,
    /// How often it still waited once it was asked for its end.
    late: u64,
    /// Files of its folder, by name.
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// Files of the run that was there before.
    former: BTreeMap<PathBuf, Vec<u8>>,
    /// Threads and open files of the process, beyond those before the run.
    grown: [i64; 2],
}

fn below(folder: &Path, under: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            below(&path, under, all);
        } else {
            let name = path.strip_prefix(under).expect("below it").to_path_buf();
            all.insert(name, fs::read(&path).expect("readable"));
        }
    }
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    below(folder, folder, &mut all);
    all
}

fn open() -> [i64; 2] {
    let count =
        |of: &str| fs::read_dir(of).map_or(0, |all| i64::try_from(all.count()).expect("few"));
    [count("/proc/self/task"), count("/proc/self/fd")]
}

/// What there is more than before. A thread that was waited for is still listed for a moment.
fn grown(before: [i64; 2]) -> [i64; 2] {
    let mut grown = [0; 2];
    for _ in 0..20_000 {
        let now = open();
        grown = [now[0] - before[0], now[1] - before[1]];
        if grown == [0, 0] {
            break;
        }
        std::thread::yield_now();
    }
    grown
}

/// Something that goes wrong, and when.
#[derive(Debug, Clone, Copy)]
enum Wrong {
    /// With a run in virtual time: at a touch of the disk.
    Disk(What, u64),
    /// With a run in real time on ports in memory: as it waits for the so manieth time.
    Wire(memory::What, u64),
}

/// Runs a few cases over a run that was there before, in the world that the seed makes.
fn left(wrong: Wrong) -> Left {
    let (what, at) = match wrong {
        Wrong::Disk(what, at) => (what, at),
        Wrong::Wire(..) => (What::Nothing, 0),
    };
    // In memory where there is such a place: a disk takes its time to be sure of a report.
    let memory = Path::new("/dev/shm");
    let desk = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    let desk = desk.expect("a temporary folder");
    let (out, suite) = (desk.path().join("night"), desk.path().join("small.yaml"));
    fs::write(&suite, SUITE).expect("writable");
    fs::create_dir(&out).expect("writable");
    fs::write(out.join(".rigctl"), MARK).expect("writable");
    for name in ["results.json", "events.jsonl", "report.html"] {
        fs::write(out.join(name), format!("{name} of the night before")).expect("writable");
    }
    let stop = Arc::new(Stop::default());
    let touched = AtomicU64::new(0);
    let schedule =
        Arc::new(Schedule { what, at, touched, stop: Arc::clone(&stop), out: out.clone() });
    let memory = match wrong {
        Wrong::Disk(..) => None,
        Wrong::Wire(what, at) => Some((Memory::new(what, at, &stop), what, at)),
    };
    let lab = desk.path().join("lab.yaml");
    fs::write(&lab, WIRE).expect("writable");
    let lab = if memory.is_some() { lab } else { LAB.into() };
    let [suite, path, lab] = [&suite, &out, &lab].map(|path| path.display().to_string());
    let line = [
        "rigctl",
        "run",
        &*suite,
        "--lab",
        &*lab,
        "--seed",
        "7",
        "--jobs",
        "1",
        "--overwrite",
        "--out",
        &*path,
    ];
    let cli = Cli::parse_from(line);
    let Command::Run(args) = cli.command else { panic!("a run was asked for") };
    let before = open();
    let trouble: Arc<dyn Trouble> = Arc::clone(&schedule) as _;
    let benches = memory.as_ref().map(|(memory, ..)| {
        Benches::by(Arc::clone(memory) as _, Start::Made(Arc::clone(memory) as _), 1)
    });
    let world = World { stop, trouble, alone: false, benches };
    let exit = run_in(&world, &args).expect("input is in order");
    drop(world);
    let touched = schedule.touched.load(Ordering::Relaxed);
    // Its device goes with it.
    let waited = memory.map(|(memory, what, at)| (memory.waited(), memory.late(), what, at));
    Left {
        exit: exit.code(),
        troubled: what != What::Nothing && touched > at
            || waited
                .is_some_and(|(waited, _, what, at)| what != memory::What::Nothing && waited > at),
        passing: waited.is_some_and(|(.., what, _)| {
            matches!(what, memory::What::Stalled | memory::What::Leapt)
        }),
        waited: waited.map(|(waited, ..)| waited),
        late: waited.map_or(0, |(_, late, ..)| late),
        files: files(&out),
        former: files(&desk.path().join("night~1")),
        grown: grown(before),
    }
}

/// The cases of `results.json`, without what a wall clock says.
fn cases(results: &[u8]) -> Result<BTreeMap<String, Value>, String> {
    let text = str::from_utf8(results).map_err(|error| error.to_string())?;
    Results::read("results.json", text).map_err(|why| why.to_string())?;
    let results: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let cases = results["cases"].as_array().ok_or("no cases")?;
    Ok(cases.iter().map(|case| (case["id"].to_string(), case.clone())).collect())
}

/// What is wrong with what a run left, beside the same run in a world where nothing goes wrong.
fn wrong(left: &Left, whole: &Left) -> Vec<String> {
    let mut wrong = Vec::new();
    let wire = left.waited.is_some();
    // A device that is to lose frames and does not has failed.
    let want = if left.troubled && !left.passing { &[1, 4][..] } else { &[1] };
    if !want.contains(&left.exit) {
        wrong.push(format!("exit {}", left.exit));
    }
    let file = |left: &'_ Left, name: &str| left.files.get(Path::new(name)).cloned();
    if left.former != whole.former || left.former.len() != 4 {
        wrong.push("the run before is another one".to_owned());
    }
    // A case that is broken off by a request is one, too; no fault here outlives its bench.
    let broken = file(left, "results.json").and_then(|text| cases(&text).ok());
    let broken = broken.iter().flatten().filter(|(_, case)| case["verdict"] == "broken").count();
    if wire && broken > 1 {
        wrong.push(format!("one fault broke {broken} cases"));
    }
    if left.late > SOON {
        wrong.push(format!("went on for {} waits after it was asked for the end", left.late));
    }
    if left.grown != [0, 0] {
        wrong.push(format!("threads and files more than before: {:?}", left.grown));
    }
    let all =
        cases(&file(whole, "results.json").expect("the whole run has results")).expect("whole");
    let as_whole = |of: &BTreeMap<String, Value>| {
        of.iter().all(|(id, case)| {
            // Evidence that the disk refused is told, and is no part of what was judged.
            let judged = |case: &Value| {
                let mut case = case.clone();
                let object = case.as_object_mut().expect("a case");
                for key in ["evidence", "evidence_left_out", "tables"] {
                    object.remove(key);
                }
                let findings = object.get_mut("findings").and_then(Value::as_array_mut);
                for finding in findings.into_iter().flatten() {
                    finding.as_object_mut().expect("a finding").remove("evidence");
                }
                Value::Object(object.clone())
            };
            // A case that was broken off says so.
            let settled = case["verdict"] != "broken" && case["verdict"] != "inconclusive";
            let same = |whole: &Value| {
                // In real time other trials may have been the ones that count.
                if wire {
                    whole["verdict"] == case["verdict"]
                } else {
                    judged(whole) == judged(case)
                }
            };
            case["verdict"] != "inconclusive" && (!settled || all.get(id).is_some_and(same))
        })
    };
    let results = file(left, "results.json").map(|text| cases(&text));
    match &results {
        None if left.exit != 4 => wrong.push("no results, and no word of it".to_owned()),
        None => {}
        Some(Err(why)) => wrong.push(format!("results.json: {why}")),
        Some(Ok(cases)) if !as_whole(cases) => {
            wrong.push("results.json: other verdicts".to_owned());
        }
        Some(Ok(cases)) if left.exit != 4 && cases.len() != all.len() => {
            wrong.push("cases are missing, and no word of it".to_owned());
        }
        Some(Ok(_)) => {}
    }
    if let Some(events) = file(left, "events.jsonl").filter(|events| events.contains(&b'\n')) {
        match Run::rebuilt("events.jsonl", &events)
            .map(|run| cases(Results::of(&run).to_json().as_bytes()))
        {
            Ok(Ok(cases)) if !as_whole(&cases) => {
                wrong.push("events.jsonl: other verdicts".to_owned());
            }
            Ok(Ok(cases)) if left.exit != 4 && cases.len() != all.len() => {
                wrong.push("events.jsonl: cases are missing, and no word of it".to_owned());
            }
            Ok(Ok(_)) => {}
            Ok(Err(why)) => wrong.push(format!("events.jsonl: {why}")),
            Err(why) => wrong.push(why.to_string()),
        }
    }
    // Who says that all is well has left all of it. In real time other trials may have been the ones that count.
    let here = |path: &&PathBuf| !wire || path.components().count() == 1;
    let missing = whole.files.keys().filter(here).filter(|path| !left.files.contains_key(*path));
    let missing = missing.filter(|_| left.exit != 4);
    wrong.extend(missing.map(|path| format!("{} is missing, and no word of it", path.display())));
    let half = |path: &&PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with('.') && name != ".rigctl"
    };
    wrong.extend(left.files.keys().find(half).map(|path| format!("{} is left", path.display())));
    for (path, bytes) in &left.files {
        let packed = path.extension().is_some_and(|end| end == "gz");
        // A file that could not be written whole is taken away; one that is there is the one of the whole run.
        if packed && !wire && whole.files.get(path) != Some(bytes) {
            wrong.push(format!("{} is half of one", path.display()));
        }
    }
    wrong
}

/// Tries the seeds: how often each kind struck, and what was wrong.
fn tried(seeds: core::ops::Range<u64>) -> (BTreeMap<String, u64>, Vec<String>) {
    let on_disk = left(Wrong::Disk(What::Nothing, 0));
    let on_wire = left(Wrong::Wire(memory::What::Nothing, 0));
    let waits = on_wire.waited.expect("it is in real time");
    let (mut struck, mut all) = (BTreeMap::new(), Vec::new());
    for seed in seeds {
        let kind = usize::try_from(drawn(seed, 1) % KINDS as u64).expect("few");
        let (what, whole, quiet) = match kind.checked_sub(ALL.len()) {
            None => {
                let what = ALL[kind];
                let quiet = what == What::Nothing;
                (Wrong::Disk(what, drawn(seed, 2) % TOUCHES), &on_disk, quiet)
            }
            Some(kind) => {
                let what = memory::ALL[kind];
                let quiet = what == memory::What::Nothing;
                (Wrong::Wire(what, drawn(seed, 2) % waits), &on_wire, quiet)
            }
        };
        let left = left(what);
        if left.troubled || quiet {
            let name = match what {
                Wrong::Disk(what, _) => format!("{what:?}"),
                Wrong::Wire(what, _) => format!("{what:?} on the wire"),
            };
            *struck.entry(name).or_default() += 1;
        }
        all.extend(wrong(&left, whole).iter().map(|why| format!("seed {seed}, {what:?}: {why}")));
    }
    (struck, all)
}

fn range(seeds: &str) -> core::ops::Range<u64> {
    let (from, to) = seeds.split_once("..").expect("FROM..TO");
    from.parse().expect("a number")..to.parse().expect("a number")
}

/// Whatever a run may leave that it should not is seen, each by itself.
#[test]
fn each_thing_that_may_be_wrong_is_found() {
    // Other tests of this process come and go.
    let whole = Left { grown: [0, 0], ..left(Wrong::Disk(What::Nothing, 0)) };
    assert_eq!(wrong(&whole, &whole), [""; 0]);
    let with = |name: &str, change: fn(Vec<u8>) -> Vec<u8>| {
        let mut left = whole.clone();
        let before = left.files.remove(Path::new(name)).unwrap_or_default();
        left.files.insert(name.into(), change(before));
        left
    };
    let without = |name: &str| {
        let mut left = whole.clone();
        left.files.remove(Path::new(name)).expect("it was there");
        left
    };
    let capture = "evidence/small/one/0001.pcapng.gz";
    assert!(whole.files.contains_key(Path::new(capture)), "{:?}", whole.files.keys());
    let fails = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).expect("text");
        text.replacen("\"pass\"", "\"skipped\"", 1).into_bytes()
    };
    let cut = |bytes: Vec<u8>| bytes[..bytes.len() / 2].to_vec();
    let begun = |bytes: Vec<u8>| {
        let lines = bytes.split_inclusive(|&byte| byte == b'\n');
        lines.take(3).collect::<Vec<_>>().concat()
    };
    let mut former = whole.clone();
    former.former.pop_first();
    for (left, want) in [
        (Left { exit: 4, ..whole.clone() }, "exit 4"),
        (Left { exit: 0, troubled: true, ..whole.clone() }, "exit 0"),
        (Left { late: 11, ..whole.clone() }, "went on for 11 waits"),
        (former, "the run before is another one"),
        (Left { grown: [1, 0], ..whole.clone() }, "threads and files more than before: [1, 0]"),
        (without("results.json"), "no results, and no word of it"),
        (without("report.html"), "report.html is missing, and no word of it"),
        (without("events.jsonl"), "events.jsonl is missing, and no word of it"),
        (without(capture), "evidence/small/one/0001.pcapng.gz is missing, and no word of it"),
        (with("events.jsonl", begun), "events.jsonl: cases are missing, and no word of it"),
        (with("results.json", cut), "results.json: results.json:"),
        (with("results.json", fails), "results.json: other verdicts"),
        (with("events.jsonl", fails), "events.jsonl: other verdicts"),
        (with(".report.html.77", |_| b"half".to_vec()), ".report.html.77 is left"),
        (with(capture, cut), "evidence/small/one/0001.pcapng.gz is half of one"),
    ] {
        let found = wrong(&left, &whole);
        assert!(found.iter().any(|why| why.starts_with(want)), "{want}: {found:?}");
    }
}

#[test]
fn whatever_goes_wrong_nothing_is_lost_and_nothing_is_left() {
    if let Ok(seeds) = std::env::var(INSIDE) {
        let (struck, wrong) = tried(range(&seeds));
        eprintln!("TRIED {struck:?}");
        wrong.iter().take(20).for_each(|why| eprintln!("WRONG {why}"));
        return;
    }
    let seeds = std::env::var("RIG_TROUBLE_SEEDS").unwrap_or_else(|_| SEEDS.to_owned());
    let name = "whatever_goes_wrong_nothing_is_lost_and_nothing_is_left";
    let mut inside = std::process::Command::new(std::env::current_exe().expect("itself"));
    inside.args(["--exact", name, "--nocapture", "--test-threads", "1"]).env(INSIDE, &seeds);
    let output = inside.stdout(Stdio::null()).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = |word: &str| said.lines().filter(|line| line.starts_with(word)).collect::<Vec<_>>();
    assert!(output.status.success(), "{said}");
    assert_eq!(lines("WRONG"), [""; 0]);
    let [struck] = &lines("TRIED")[..] else { panic!("{said}") };
    // Each kind of trouble struck, and often.
    assert_eq!(struck.matches(": ").count(), KINDS, "{struck}");
    println!("{seeds}: {struck}");
}
