//! MACsec over virtual interfaces, with real keys at both ends: root and Linux only.
//!
//! A machine that looks away for long makes trials void, and a case inconclusive with that reason: nothing here fails for it.

mod common;
#[path = "common/packed.rs"]
mod packed;

use common::root;
use packed::plain;
use pcap_file::pcapng::{Block, PcapNgReader};
use serde_json::Value;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const LAB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/veth.yaml");
/// EtherType of a SecTAG (IEEE 802.1AE clause 9.4).
const MACSEC: [u8; 2] = [0x88, 0xe5];

/// Runs cases of the bundled suite on a device; what was said, and the results.
fn run(out: &Path, arguments: &str) -> (Output, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
    command.args(["run", "--lab", LAB, "--dut", "broadcom", "--seed", "7", "--out"]).arg(out);
    command.args(arguments.split_whitespace()).stdin(Stdio::null());
    let output = command.output().expect("rigctl starts");
    let results = std::fs::read_to_string(out.join("results.json")).unwrap_or_else(|why| {
        panic!("no results: {why}\n{}", String::from_utf8_lossy(&output.stderr))
    });
    (output, serde_json::from_str(&results).expect("JSON"))
}

/// The verdict of each case that came to one.
fn verdicts(results: &Value) -> Vec<(String, String)> {
    let cases = results["cases"].as_array().expect("cases");
    let verdict = |case: &Value| {
        let text = |key: &str| case[key].as_str().unwrap_or_default().to_owned();
        (text("verdict") != "inconclusive").then(|| (text("id"), text("verdict")))
    };
    cases.iter().filter_map(verdict).collect()
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let of = |entry: std::fs::DirEntry| {
        let path = entry.path();
        if path.is_dir() { files(&path) } else { vec![path] }
    };
    entries.flat_map(of).collect()
}

/// The frames of a capture.
fn frames(file: &Path) -> Vec<Vec<u8>> {
    let mut reader = PcapNgReader::new(Cursor::new(plain(file))).expect("a pcapng file");
    let mut all = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(frame) = block.expect("a whole block") {
            all.push(frame.data.to_vec());
        }
    }
    all
}

/// What the lab's file has for keys, in text and in bytes.
fn keys() -> Vec<(String, Vec<u8>)> {
    let lab = std::fs::read_to_string(LAB).expect("the lab");
    let quoted = lab.split('"').skip(1).step_by(2);
    let is_key = |text: &&str| text.len() >= 24 && text.chars().all(|c| c.is_ascii_hexdigit());
    let bytes = |text: &str| {
        let pair = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal");
        (0..text.len()).step_by(2).map(pair).collect()
    };
    quoted.filter(is_key).map(|text| (text.to_owned(), bytes(text))).collect()
}

#[test]
fn frames_pass_a_healthy_device_protected_and_no_key_is_written_anywhere() {
    if !root() {
        return;
    }
    let desk = tempfile::tempdir().expect("a temporary folder");
    let (out, disk) = (desk.path().join("out"), desk.path().join("frames"));
    let only = "--only macsec-pfc::{forged-data-refused,extended-packet-numbers-go-on} --evidence all --capture";
    let (output, results) = run(&out, &format!("{only} {}", disk.display()));
    let text = String::from_utf8_lossy(&output.stdout);
    let verdicts = verdicts(&results);
    assert!(verdicts.iter().all(|(_, verdict)| verdict == "pass"), "{verdicts:?}\n{text}");
    let keys = keys();
    assert_eq!(keys.len(), 5, "four keys and a salt");
    let holds = |bytes: &[u8], (text, key): &(String, Vec<u8>)| {
        let finds = |what: &[u8]| bytes.windows(what.len()).any(|window| window == what);
        finds(&key[..12]) || finds(&text.as_bytes()[..24])
    };
    let mut captures = 0;
    for file in files(desk.path()) {
        let bytes = plain(&file);
        assert!(!keys.iter().any(|key| holds(&bytes, key)), "a key in {}", file.display());
        if file.extension().is_some_and(|ending| ending == "pcapng" || ending == "gz") {
            captures += 1;
            let frames = frames(&file);
            let clear = frames.iter().filter(|frame| frame[12..14] != MACSEC).count();
            assert_eq!((clear, frames.len() > 100), (0, true), "{}", file.display());
        }
    }
    assert!(captures >= 4, "{captures}: evidence and the capture to disk of either case");
    for said in [&output.stdout, &output.stderr] {
        assert!(!keys.iter().any(|key| holds(said, key)), "a key was printed");
    }
}

/// Wrong devices, and the case that notices each.
const WRONG: [(&str, &str); 4] = [
    ("macsec_icv_not_checked", "forged-data-refused"),
    ("macsec_replay_window_ignored", "replay-window-to-the-frame"),
    ("macsec_an_not_switched", "rekey-while-paused"),
    ("macsec_sci_not_checked", "pfc-of-another-channel-refused"),
];

#[test]
fn devices_that_depart_from_the_standard_fail_in_real_time() {
    if !root() {
        return;
    }
    let mut decided = 0;
    for (wrong, case) in WRONG {
        let out = tempfile::tempdir().expect("a temporary folder");
        let arguments = format!("--only macsec-pfc::{case} --mutate deviation={wrong}");
        let (output, results) = run(out.path(), &arguments);
        let verdicts = verdicts(&results);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            verdicts.iter().all(|(_, verdict)| verdict == "fail"),
            "{wrong}: {verdicts:?}\n{text}"
        );
        decided += verdicts.len();
    }
    // A machine that looks away leaves some undecided, never all of them.
    assert!(decided > 0, "every run was undecided");
}
