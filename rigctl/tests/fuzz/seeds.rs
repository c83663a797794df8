//! Sound inputs of each kind: the repository's own, and what a run of a small suite leaves.

use std::fs;
use std::path::Path;
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
/// So few cases of a suite stand in a seed, so that many inputs are read.
const CASES: usize = 3;

/// The YAML files of a folder, sorted by name.
fn files(folder: &str) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(Path::new(ROOT).join(folder)).expect("a folder");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "yaml"));
    paths.sort();
    assert!(!paths.is_empty(), "{folder}");
    paths.iter().map(|path| fs::read(path).expect("readable")).collect()
}

/// Stretches of each suite of the catalogue, without comments.
pub(crate) fn suites() -> Vec<Vec<u8>> {
    files("testcases")
        .iter()
        .flat_map(|suite| stretches(str::from_utf8(suite).expect("text")))
        .collect()
}

/// Everything before the cases with a few of them, and again with the next.
fn stretches(suite: &str) -> Vec<Vec<u8>> {
    let lines = suite.lines().filter(|line| !line.trim_start().starts_with('#'));
    let lines: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
    let begin = lines.iter().position(|line| *line == "cases:").expect("cases") + 1;
    let is_case = |at: &usize| lines[*at].starts_with("  ") && !lines[*at].starts_with("   ");
    let starts: Vec<usize> = (begin..lines.len()).filter(is_case).collect();
    // A setup that offers ports to nobody is refused, and so is an alias of what is left out.
    let stretch = |few: &[usize]| {
        let end = starts.iter().find(|&&start| start > few[few.len() - 1]);
        let (from, to) = (few[0], end.copied().unwrap_or(lines.len()));
        [&lines[..begin], &lines[from..to]].concat().join("\n") + "\n"
    };
    let all = starts.chunks(CASES).map(stretch);
    all.filter(|text| {
        rig_testcases::read::piped(text.as_bytes(), &rig_oracle::measure::Registry).is_ok()
    })
    .map(String::into_bytes)
    .collect()
}

pub(crate) fn labs() -> Vec<Vec<u8>> {
    files("lab-configs")
}

pub(crate) fn profiles() -> Vec<Vec<u8>> {
    files("lab-configs/duts")
}

/// Lines of both sides of a conversation.
pub(crate) fn control() -> Vec<Vec<u8>> {
    [
        r#""status""#,
        r#"{"boot":{"seed":7,"settings":[{"path":"pfcwd.detection_time","value":"200ms"}]}}"#,
        r#"{"configure":{"settings":[{"path":"wred.kmax","value":1000}]}}"#,
        r#"{"do":{"key":{"keys":{"saks":["00112233445566778899aabbccddeeff","00112233445566778899aabbccddeeff","00112233445566778899aabbccddeeff","00112233445566778899aabbccddeeff"],"salt":"00112233445566778899aabb"}}}}"#,
        r#"{"do":{"cable":{"behind":[0,1,2]}}}"#,
        r#"{"do":{"link":{"port":1,"up":false}}}"#,
        r#"{"counters":{"names":["SAI_PORT_STAT_PFC_3_RX_PKTS"]}}"#,
        r#"{"do":{"perform":{"verb":{"clear-watermarks":"persistent"}}}}"#,
        r#"{"do":{"stop-flow":{"port":0,"connection":3}}}"#,
        r#""done""#,
        r#"{"refused":{"why":"a reason"}}"#,
        r#"{"bad":{"why":"a reason"}}"#,
    ]
    .map(|line| line.as_bytes().to_vec())
    .to_vec()
}

/// A run of a suite of one case, on disk.
fn run(suite: &str, desk: &Path) {
    fs::write(desk.join("small.yaml"), suite).expect("writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
    command.args([
        "run",
        "small.yaml",
        "--seed",
        "7",
        "--evidence",
        "all",
        "--out",
        "out",
        "--lab",
    ]);
    command.arg(Path::new(ROOT).join("lab-configs/broadcom.yaml")).current_dir(desk);
    let output = command.output().expect("rigctl starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}

const SUITE: &str = "about: \"a small suite\"
device: switch
cases:
  lost: {why: \"a test\", source: [\"a test\"], dut: {rule_family: broadcom}, trials: 2, streams: {probe: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 500us}}, storms: {storm: {from: p2, classes: [3]}}, steps: [{at: 0ms, start: probe, for: 20ms}, {at: 5ms, start: storm, for: 5ms}], measure: [loss: {stream: probe, expect: none}]}
";

fn left(names: &[&str]) -> Vec<Vec<u8>> {
    let desk = tempfile::tempdir().expect("a temporary folder");
    run(SUITE, desk.path());
    names.iter().map(|name| fs::read(desk.path().join("out").join(name)).expect(name)).collect()
}

pub(crate) fn results() -> Vec<Vec<u8>> {
    left(&["results.json"])
}

pub(crate) fn events() -> Vec<Vec<u8>> {
    left(&["events.jsonl"])
}

/// Captures of the rig's own and of older formats, unpacked.
pub(crate) fn captures() -> Vec<Vec<u8>> {
    let desk = tempfile::tempdir().expect("a temporary folder");
    run(SUITE, desk.path());
    let packed = fs::File::open(desk.path().join("out/evidence/small/lost/0001.pcapng.gz"));
    let mut trial = Vec::new();
    let mut plain = flate2::read::MultiGzDecoder::new(packed.expect("evidence"));
    std::io::Read::read_to_end(&mut plain, &mut trial).expect("gzip");
    let made = |arguments: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
        command.args(arguments.split_whitespace()).current_dir(desk.path());
        let output = command.output().expect("rigctl starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::read(desk.path().join("made.pcapng")).expect("made")
    };
    let few = made("gen --to made.pcapng --kind roce-write --size 128B --every 1us --count 4");
    vec![trial, few, old_pcap()]
}

/// Three frames in the format before pcapng, stamped in microseconds.
fn old_pcap() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut word = |number: u32| bytes.extend(number.to_le_bytes());
    for number in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1] {
        word(number);
    }
    for second in 1..4_u32 {
        [second, 10, 64, 64].into_iter().for_each(&mut word);
        [0xffff_ffff, 0x0002_ffff, 0, 0x0608_0000].into_iter().for_each(&mut word);
        (0..12).for_each(&mut word);
    }
    bytes
}

/// A journal of changes that a process made which is no more.
pub(crate) fn journals() -> Vec<Vec<u8>> {
    let entry = |number: u32, up: bool| {
        format!(
            "{{\"changes\":{{\"number\":{number},\"process\":{{\"pid\":1,\"started\":2,\"boot\":\"b\"}},\"namespace\":3,\"change\":{{\"kind\":\"link\",\"interface\":\"rig-none\",\"up\":{up}}}}}}}\n"
        )
    };
    vec![(entry(0, true) + &entry(1, false) + "{\"undone\":0}\n" + &entry(2, true)).into_bytes()]
}
