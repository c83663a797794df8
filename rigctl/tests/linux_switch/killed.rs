//! A run with a guest that is killed at moments from a seed: nothing of it is left on the machine that it ran on.

use crate::bounded::Bounded;
use crate::guest::{TURN, can_have_one};
use flate2::read::MultiGzDecoder;
use std::collections::BTreeSet;
use std::fs;
use std::io::{copy, sink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::PoisonError;
use std::thread::sleep;
use std::time::Duration;

/// What each process of a run has in its environment, with a number behind it.
const MARK: &str = "RIG_KILLED_RUN";
/// The moments are drawn from this, in parts of how long a run takes.
const SEED: u64 = 20;
/// How long a run takes at the least: boot, and two cases that set queues. Where one was over sooner it is drawn anew.
const TAKES: Duration = Duration::from_secs(24);
/// How long anything that is waited for may take.
const PATIENCE: Duration = Duration::from_secs(240);

/// A part of one that follows from the seed (splitmix64).
#[expect(clippy::cast_precision_loss, reason = "53 bits are left")]
fn drawn(nth: u64) -> f64 {
    let mut z = SEED.wrapping_add((nth + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Numbers of the processes that have this in their environment, and have not ended.
fn processes(mark: &str) -> BTreeSet<u32> {
    let is_ours = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|one| one == mark.as_bytes())
    };
    numbers(Path::new("/proc")).into_iter().filter(is_ours).collect()
}

fn numbers(folder: &Path) -> Vec<u32> {
    let all = fs::read_dir(folder).into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// What is written at the other end of links in a folder.
fn links(folder: &Path) -> Vec<String> {
    let all = fs::read_dir(folder).into_iter().flatten().flatten();
    let to = all.filter_map(|entry| fs::read_link(entry.path()).ok());
    to.map(|to| to.to_string_lossy().into_owned()).collect()
}

/// The networks that a process is in or holds, as `net:[4026532000]`.
fn networks(pid: u32) -> BTreeSet<String> {
    let own = PathBuf::from(format!("/proc/{pid}"));
    let tasks = numbers(&own.join("task")).into_iter();
    let within = tasks.flat_map(|task| links(&own.join(format!("task/{task}/ns"))));
    let held = links(&own.join("fd"));
    within.chain(held).filter(|link| link.starts_with("net:[")).collect()
}

/// What is left of a run, in words: processes with its mark, and networks of its own that anybody is in, holds, or has given a place.
fn left(mark: &str, own: &BTreeSet<String>) -> Vec<String> {
    let mut all: Vec<String> =
        processes(mark).into_iter().map(|pid| format!("process {pid}")).collect();
    for pid in numbers(Path::new("/proc")) {
        let mounts = fs::read_to_string(format!("/proc/{pid}/mountinfo")).unwrap_or_default();
        let networks = networks(pid);
        let is_left = |net: &&String| networks.contains(*net) || mounts.contains(net.as_str());
        all.extend(own.iter().filter(is_left).map(|net| format!("{net} of process {pid}")));
    }
    all
}

/// Every file and folder below one, but for consoles of guests: the next guest sweeps those.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(files(&path));
        }
        let name = entry.file_name();
        if !name.to_string_lossy().starts_with("console-") {
            all.insert(path);
        }
    }
    all
}

/// What in the folder of a run is there under its name and not whole. Of events the last line may be missing its end: they are written as they come.
fn half_written(out: &Path) -> Vec<String> {
    let reads = |path: &Path| -> Result<(), String> {
        let bytes = fs::read(path).map_err(|error| error.to_string())?;
        let name = path.to_string_lossy();
        let text = || std::str::from_utf8(&bytes).map_err(|error| error.to_string());
        let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).map(drop);
        if name.ends_with(".json") {
            return json(text()?).map_err(|error| error.to_string());
        }
        if name.ends_with(".jsonl") {
            let whole = text()?.rsplit_once('\n').map_or("", |(whole, _)| whole);
            return whole.lines().try_for_each(json).map_err(|error| error.to_string());
        }
        if name.ends_with(".xml") {
            let read = roxmltree::Document::parse(text()?);
            return read.map(drop).map_err(|error| error.to_string());
        }
        if name.ends_with(".html") {
            let ends = text()?.trim_end().ends_with("</html>");
            return ends.then_some(()).ok_or_else(|| "it breaks off".to_owned());
        }
        if name.ends_with(".gz") {
            let mut whole = MultiGzDecoder::new(&bytes[..]);
            return copy(&mut whole, &mut sink()).map(drop).map_err(|error| error.to_string());
        }
        Err("nobody knows what it is".to_owned())
    };
    let is_file = |path: &PathBuf| path.is_file();
    // What is written beside has a point before its name, as the mark of the folder has.
    let is_beside = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
    };
    let named = files(out).into_iter().filter(|path| is_file(path) && !is_beside(path));
    named.filter_map(|path| Some(format!("{}: {}", path.display(), reads(&path).err()?))).collect()
}

struct Desk {
    folder: tempfile::TempDir,
    state: PathBuf,
}

impl Desk {
    /// The program with its own state, in which the image of the other tests is, and its own place for files that go.
    fn rig(&self, mark: &str, words: &[&str]) -> Command {
        let mut rig = Command::new(env!("CARGO_BIN_EXE_rigctl"));
        rig.env("RIGCTL_STATE", &self.state).env("TMPDIR", self.passing());
        rig.env(MARK, mark).args(words).stdin(Stdio::null());
        rig
    }

    /// Where its runs write.
    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn passing(&self) -> PathBuf {
        self.folder.path().join("passing")
    }

    /// A run of two cases that set queues, over the one before it.
    fn run(&self, mark: &str) -> Bounded {
        let out = self.out().display().to_string();
        let lab = format!("{}/linux-switch.yaml", super::LABS);
        let only = "ecn::{forgotten-when-empty,step-of-another-depth}";
        let words = ["run", super::SUITE, "--only", only, "--lab", &lab, "--overwrite"];
        let mut rig = self.rig(mark, &[&words[..], &["--seed", "1", "--out", &out]].concat());
        Bounded::start(rig.stdout(Stdio::null()).stderr(Stdio::null()))
    }
}

/// What is to be as it was: files of the rig's own, and links of this machine's own network.
fn around(desk: &Desk) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>, usize) {
    let links = fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    let taps = links.filter(|link| link.file_name().to_string_lossy().starts_with("guest"));
    (files(&desk.state), files(&desk.passing()), taps.count())
}

/// With `RIG_WHOLE_LINUX_SWITCH=1` at ten moments, else at two: one of all of it, one from when its guest is there. Each run takes the folder of the one before
/// it, which nobody holds any more.
#[test]
fn a_run_that_is_killed_at_any_moment_leaves_nothing_behind() {
    if !can_have_one() {
        return;
    }
    let _own = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("linux-switch");
    let desk = Desk { folder: tempfile::tempdir().expect("a folder"), state };
    fs::create_dir(desk.passing()).expect("a folder");
    let built = desk.rig("", &["guest", "build"]).stdout(Stdio::null()).status();
    assert!(built.is_ok_and(|status| status.success()), "there is no image");
    let whole = super::is_night();
    let before = around(&desk);
    let mut networks_seen = 0;
    for nth in 0..if whole { 10 } else { 2 } {
        let mark = format!("{}-{nth}", std::process::id());
        let entry = format!("{MARK}={mark}");
        let mut at = TAKES.mul_f64(drawn(nth));
        // One that was over sooner was killed at no moment.
        let (own, others) = loop {
            let mut run = desk.run(&mark);
            let here = networks(std::process::id());
            for _ in 0..if whole || nth == 0 { 0 } else { 2_400 } {
                let ours = processes(&entry).into_iter();
                if ours.flat_map(networks).any(|net| !here.contains(&net)) {
                    break;
                }
                sleep(Duration::from_millis(50));
            }
            sleep(at);
            if let Some(ended) = run.try_wait().expect("it is ours") {
                // On a machine that does much else nothing may be decided.
                assert!(matches!(ended.code(), Some(0 | 3)), "{ended}");
                at /= 2;
                continue;
            }
            let ours = processes(&entry);
            let all = ours.iter().flat_map(|&pid| networks(pid));
            let own: BTreeSet<String> = all.filter(|net| !here.contains(net)).collect();
            run.kill().expect("it is ours");
            run.end(PATIENCE, |mut run| run.wait());
            break (own, ours.len() - 1);
        };
        networks_seen += own.len();
        let mut stays = Vec::new();
        for _ in 0..300 {
            stays = left(&entry, &own);
            if stays.is_empty() {
                break;
            }
            sleep(Duration::from_millis(100));
        }
        let told = format!("{at:?}, {others} more processes, in {own:?}");
        println!("killed after {told}");
        assert!(stays.is_empty(), "{told}: {stays:?}");
        assert_eq!(half_written(&desk.out()), Vec::<String>::new(), "{told}");
        assert_eq!(around(&desk), before, "{told}");
        let Output { status, stdout, stderr } = Bounded::start(
            desk.rig("", &["restore"]).stdout(Stdio::piped()).stderr(Stdio::piped()),
        )
        .end(PATIENCE, Child::wait_with_output);
        let said = String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned();
        assert!(status.success() && said.is_empty(), "{told}: {status}, {said}");
    }
    assert!(networks_seen > 0, "no guest had been started at any of the moments");
}
