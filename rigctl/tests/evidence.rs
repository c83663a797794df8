//! tshark reads the evidence of real runs whole and finds nothing wrong with it, unless the device sent something wrong.
//!
//! Without tshark the tests say so and pass; with `RIG_REQUIRE_ALL=1` they fail.

#[path = "common/packed.rs"]
mod packed;

use rig_capture::pcapng::{self, Assume};
use rig_capture::{Dir, What};
use rig_units::{Dur, PortSpeed};
use rigctl::runner::pool::{News, default_jobs, in_order};
use rigctl::stop::Stop;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Every kind of frame: data of each kind, marked as sent and as received, PFC both ways, XON, frames that enable no
/// class, links that go down, loads of which windows are kept.
const CASES: &str = "pfcwd::{action-drop-broadcom,action-alert-mellanox,port-toggle-barefoot,pfc-frame-format-*,xon-frames-*-barefoot,frames-that-*-broadcom,restoration-of-forward-mellanox,mixed-speed,shares-after-*}";

/// What tshark makes of a file.
struct Read {
    frames: usize,
    /// Sender and complaint of each frame that tshark cannot make sense of or warns of. Comments of findings are
    /// remarks to it, and pass.
    wrong: Vec<String>,
}

/// `None` when there is no tshark.
fn tshark(file: &Path) -> Option<Read> {
    const WARNING: u64 = 0x60_0000;
    let fields = ["_ws.malformed", "_ws.expert.severity", "eth.src", "_ws.expert.message"];
    let asked = ["-T", "fields"].into_iter().chain(fields.iter().flat_map(|field| ["-e", field]));
    let run = Command::new("tshark").arg("-r").arg(file).args(asked).output();
    let output = match run {
        Ok(output) => output,
        Err(error) if std::env::var_os("RIG_REQUIRE_ALL").is_none_or(|all| all != "1") => {
            #[expect(clippy::print_stderr, reason = "a skipped test says why")]
            {
                eprintln!("skipped, tshark does not run here: {error} (apt-get install tshark)");
            }
            return None;
        }
        Err(error) => panic!("tshark: {error} (apt-get install tshark)"),
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !said.contains("cut short"), "{}: {said}", file.display());
    let text = String::from_utf8(output.stdout).expect("tshark writes UTF-8");
    let wrong = |line: &&str| {
        let mut fields = line.split('\t');
        let (malformed, severities) = (fields.next(), fields.next().unwrap_or_default());
        let severe = |severity: &str| severity.parse::<u64>().is_ok_and(|level| level >= WARNING);
        malformed != Some("") || severities.split(',').any(severe)
    };
    let wrong = text.lines().filter(wrong).map(str::to_owned).collect();
    Some(Read { frames: text.lines().count(), wrong })
}

/// A case's name with its captures.
type Captures = (String, Vec<(String, u64)>);

/// Runs cases into `out`: the exit code, what it said, and its results.
fn ran(out: &Path, evidence: &str, arguments: &str) -> (Option<i32>, String, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_rigctl"))
        .args(["run", "--seed", "7", "--evidence", evidence, "--out"])
        .arg(out)
        .args(arguments.split_whitespace())
        .output()
        .expect("rigctl starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let text = std::fs::read_to_string(out.join("results.json")).expect("results");
    (output.status.code(), said, serde_json::from_str(&text).expect("JSON"))
}

/// The same with all evidence: the exit code, and each case's captures.
fn run(out: &Path, arguments: &str) -> (Option<i32>, Vec<Captures>) {
    let (code, _, results) = ran(out, "all", arguments);
    let captures = |case: &Value| {
        let of = |file: &Value| {
            let path = file["path"].as_str().expect("a path").to_owned();
            (path, file["frames"].as_u64().expect("a number of frames"))
        };
        case["evidence"].as_array().expect("captures").iter().map(of).collect()
    };
    let cases = results["cases"].as_array().expect("cases").iter();
    let named = |case: &Value| case["id"].as_str().expect("an id").to_owned();
    (code, cases.map(|case| (named(case), captures(case))).collect())
}

#[test]
fn tshark_reads_every_capture_of_a_green_run_whole_and_finds_no_malformed_frame() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let (code, cases) = run(out.path(), &format!("--only {CASES}"));
    assert_eq!(code, Some(0));
    assert!(cases.len() >= 11, "{} cases", cases.len());
    for (case, captures) in &cases {
        assert!(!captures.is_empty(), "{case} left no capture");
    }
    // The trials of a case are alike, and each is half a second of tshark: the first, and the last, of which a sweep is the other end.
    let ends = |captures: &[(String, u64)]| match captures {
        [first, .., last] => vec![first.clone(), last.clone()],
        few => few.to_vec(),
    };
    let files: Vec<(String, u64)> = cases.iter().flat_map(|(_, captures)| ends(captures)).collect();
    let read = |index: usize| tshark(&out.path().join(&files[index].0));
    in_order(files.len(), default_jobs(), &Stop::default(), read, |index, news| {
        let News::Done(Some(read)) = news else { return };
        let (path, frames) = &files[index];
        assert_eq!(u64::try_from(read.frames), Ok(*frames), "{path}");
        assert!(*frames > 10, "{path} has {frames} frames");
        assert_eq!(read.wrong, [""; 0], "{path}");
    });
}

/// The number of frames of a file and its compression, as capinfos has them; `None` when there is none.
fn capinfos(file: &Path) -> Option<String> {
    match Command::new("capinfos").args(["-T", "-r", "-c", "-t"]).arg(file).output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Err(_) if std::env::var_os("RIG_REQUIRE_ALL").is_none_or(|all| all != "1") => None,
        Err(error) => panic!("capinfos: {error} (apt-get install tshark)"),
    }
}

#[test]
fn capinfos_opens_a_packed_capture_as_it_is() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let (_, cases) = run(out.path(), "--only pfcwd::pfc-frame-format-broadcom");
    let (path, frames) = &cases[0].1[0];
    assert!(path.ends_with(".pcapng.gz"), "{path}");
    let Some(said) = capinfos(&out.path().join(path)) else { return };
    assert!(said.contains("pcapng\t") && said.contains(&format!("\t{frames}")), "{said}");
}

#[test]
fn the_same_captures_have_room_whatever_finishes_first_and_what_has_none_is_told() {
    let only = "--only pfcwd::{detection-latency-broadcom,action-drop-*,action-alert-mellanox}";
    let kept = |jobs: u32| {
        let out = tempfile::tempdir().expect("a temporary folder");
        let budget = format!("{only} --evidence-budget 300KB --jobs {jobs}");
        let (code, cases) = run(out.path(), &budget);
        assert_eq!(code, Some(0));
        let files = cases.into_iter().flat_map(|(_, captures)| captures);
        let files: Vec<(String, Vec<u8>)> = files
            .map(|(path, _)| {
                let bytes = std::fs::read(out.path().join(&path)).expect("a capture");
                (path, bytes)
            })
            .collect();
        let text = std::fs::read_to_string(out.path().join("results.json")).expect("results");
        let results: Value = serde_json::from_str(&text).expect("JSON");
        let left = results["cases"]
            .as_array()
            .expect("cases")
            .iter()
            .map(|case| case["evidence_left_out"].as_array().map_or(0, Vec::len));
        let left: usize = left.sum();
        let page = std::fs::read_to_string(out.path().join("report.html")).expect("a page");
        assert!(page.contains("The evidence budget had no room for"));
        (files, left)
    };
    let (files, left) = kept(1);
    let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    assert!(!files.is_empty() && left > 0 && bytes <= 225_000, "{bytes} bytes, {left} left out");
    assert!(kept(4) == (files, left), "another choice");
}

#[test]
fn what_there_was_no_room_for_is_told_in_every_report() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let only = "--only pfcwd::{action-drop-broadcom,action-alert-mellanox} --evidence-budget 1KB";
    let (code, said, results) = ran(out.path(), "first", only);
    assert_eq!(code, Some(0));
    let mut bytes = 0;
    for case in results["cases"].as_array().expect("cases") {
        assert_eq!(case["evidence"], serde_json::json!([]));
        let left = case["evidence_left_out"].as_array().expect("what was left out");
        assert_eq!(
            (left.len(), &left[0]["trial"], &left[0]["cited"]),
            (1, &1.into(), &false.into())
        );
        bytes += left[0]["bytes"].as_u64().expect("its size");
    }
    assert!(bytes > 2_000, "{bytes}");
    assert_eq!(said.matches("no room for the capture of trial 1, ").count(), 2, "{said}");
    assert!(said.contains("     No room for 2 captures, "), "{said}");
    let page = std::fs::read_to_string(out.path().join("report.html")).expect("a page");
    let told = page.matches("The evidence budget had no room for the capture of trial 1, ");
    assert_eq!(told.count(), 2);
    assert!(!out.path().join("evidence/pfcwd/action-drop-broadcom").exists(), "it is still there");
}

/// Frames of streams in captures, sent and received, and what the captures say is missing.
fn frames(out: &Path, results: &Value) -> (u64, u64, Vec<String>) {
    let assume = Assume { class_of: &|dscp| dscp, speed: PortSpeed::G100, cable: Dur::ZERO };
    let (mut sent, mut received, mut missing) = (0, 0, Vec::new());
    let files = results["cases"][0]["evidence"].as_array().expect("captures");
    for path in files.iter().map(|file| file["path"].as_str().expect("a path")) {
        let seen = pcapng::read(&out.join(path), assume).expect("a capture").observation;
        for record in &seen.records {
            match (record.what, record.dir) {
                (What::Data { .. }, Dir::Tx) => sent += 1,
                (What::Data { .. }, Dir::Rx) => received += 1,
                _ => {}
            }
        }
        missing.extend(seen.integrity.cut);
    }
    (sent, received, missing)
}

#[test]
fn all_evidence_has_every_frame_that_was_counted_and_changes_no_result() {
    const ONLY: &str = "--only pfcwd::line-rate-traffic-broadcom";
    let desk = tempfile::tempdir().expect("a temporary folder");
    let (all, first) = (desk.path().join("all"), desk.path().join("first"));
    let (code, _, mut results) = ran(&all, "all", ONLY);
    let (_, _, mut usual) = ran(&first, "first", ONLY);
    assert_eq!(code, Some(0));
    let (sent, received, missing) = frames(&all, &results);
    let sum = |key: &str| -> u64 {
        let all = results["cases"][0]["sending"].as_array().expect("what was sent").iter();
        all.filter(|of| of["received"].is_u64()).filter_map(|of| of[key].as_u64()).sum()
    };
    assert!(sent > 100_000, "{sent}");
    assert_eq!((sent, received, missing), (sum("sent"), sum("received"), Vec::new()));
    let (fewer, _, missing) = frames(&first, &usual);
    assert!(fewer < sent / 10 && missing.len() == 1, "{fewer} of {sent}: {missing:?}");
    // Nothing but the captures is another, and nothing else is left beside them.
    for results in [&mut results, &mut usual] {
        results["wall"].take();
        results["cases"][0]["evidence"].take();
    }
    assert_eq!(results, usual);
    let folder = all.join("evidence/pfcwd/line-rate-traffic-broadcom");
    let names =
        std::fs::read_dir(&folder).expect("a folder").map(|file| file.expect("a file").file_name());
    let names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    assert!(names.iter().all(|name| name.ends_with(".pcapng.gz")), "{names:?}");
}

#[test]
fn tshark_finds_the_malformed_frames_of_a_device_that_sends_such() {
    // Of the faults that a PFC frame can have these two are faults to tshark.
    for (fault, said) in [(0, "01-80-C2-00-00-01"), (3, "ENBV")] {
        let out = tempfile::tempdir().expect("a temporary folder");
        let arguments = format!(
            "--only pfcwd::pfc-frame-format-broadcom --mutate deviation=malformed_pfc:{fault}"
        );
        let (code, cases) = run(out.path(), &arguments);
        assert_eq!(code, Some(1));
        let file = out.path().join(&cases[0].1[0].0);
        let Some(Read { wrong, .. }) = tshark(&file) else { return };
        assert!(wrong.len() > 10, "{} frames", wrong.len());
        for line in wrong {
            // Sent by the device, not by the rig.
            assert!(line.contains("\t02:00:00:02:") && line.contains(said), "{line}");
        }
    }
}

#[test]
fn tshark_finds_a_frame_that_is_broken_by_hand() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let (_, cases) = run(out.path(), "--only pfcwd::action-drop-broadcom");
    let file = out.path().join(&cases[0].1[0].0);
    let mut bytes = packed::plain(&file);
    // The IP header of the first RoCEv2 frame says that it is shorter than a header.
    let ip = bytes.windows(3).position(|three| three == [0x08, 0x00, 0x45]).expect("an IP frame");
    bytes[ip + 4..ip + 6].copy_from_slice(&[0, 8]);
    let file = out.path().join("broken.pcapng");
    std::fs::write(&file, bytes).expect("writable");
    let Some(Read { wrong, .. }) = tshark(&file) else { return };
    assert_eq!(wrong.len(), 1, "{wrong:?}");
}
