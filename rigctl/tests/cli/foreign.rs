//! What files, captures and the command line say never steers the terminal: no escape sequence, no control, no change of the
//! order of reading reaches standard output or standard error.

use crate::support::{Desk, Left, STORM, suite};

/// Sets the title, clears the screen, the same by C1, reads backwards, deletes.
const HOSTILE: &str = "\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}2J\u{202e}\u{2066}\u{7f}";
/// The same in a quoted text of YAML.
const QUOTED: &str = "\\e]0;t\\a\\e[2J\\x9b2J\\u202e\\u2066\\x7f";
const DETECTION: &str = "    measure:\n      - pfcwd.detection: {storm: storm, stream: victim}\n";

/// Whether a terminal acts upon it otherwise than by showing it.
fn steers(c: char) -> bool {
    matches!(c, '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Runs it; the exit code, and all that it said, which must be harmless and quote what is hostile.
fn harmless(desk: &Desk, arguments: &str) -> (i32, String) {
    let Left { code, stdout, stderr } = desk.rigctl(arguments);
    let said = stdout + &stderr;
    let steering = said.lines().find(|line| line.chars().any(steers));
    assert_eq!(steering, None, "{arguments:?}");
    // Of what it quotes, the parser of the command line leaves out escape sequences itself.
    let quotes = said.contains("\\u{202e}") || said.contains("\\u202e");
    assert!(quotes, "{arguments:?} quotes: {said}");
    (code, said)
}

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 12).expect("short").to_le_bytes();
    [&kind.to_le_bytes()[..], &length, body, &length].concat()
}

fn option(code: u16, text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).expect("short");
    let mut option = [&code.to_le_bytes()[..], &length.to_le_bytes(), text.as_bytes()].concat();
    option.resize(option.len().next_multiple_of(4), 0);
    option
}

/// A capture of one frame whose names and comments are all hostile.
fn capture() -> Vec<u8> {
    const COMMENT: u16 = 1;
    const NAME: u16 = 2;
    const DESCRIPTION: u16 = 3;
    let end = [0; 4];
    let section = [&0x1a2b_3c4d_u32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat();
    let about = option(COMMENT, &format!("stream {HOSTILE}: p1 to p2"));
    let interface = [
        &[1, 0, 0, 0, 0, 0, 0, 0][..],
        &option(NAME, &format!("eth{HOSTILE}")),
        &option(DESCRIPTION, HOSTILE),
        &option(COMMENT, &format!("load stream={HOSTILE} dir=sent window=1 frames=7\nforged")),
        &option(COMMENT, &format!("7 frames {HOSTILE} were left out of this file")),
        &end,
    ];
    let frame = [0x5a; 64];
    let packet =
        [&[0; 12][..], &[64, 0, 0, 0], &[64, 0, 0, 0], &frame, &option(COMMENT, HOSTILE), &end];
    let mut file = block(0x0a0d_0d0a, &[&section[..], &about, &end].concat());
    file.extend(block(1, &interface.concat()));
    file.extend(block(6, &packet.concat()));
    file
}

#[test]
fn a_capture_steers_no_terminal() {
    let desk = Desk::new();
    for file in ["hostile.pcapng".to_owned(), format!("{HOSTILE}.pcapng")] {
        std::fs::write(desk.path(&file), capture()).expect("writable");
        let (code, said) = harmless(&desk, &format!("analyze {file}"));
        assert_eq!(code, 0, "{said}");
        for what in
            ["        Port eth\\x1b]0;t", "        Load eth\\x1b]0;t", "Doubt capture-hole: "]
        {
            assert!(said.contains(what), "{what}: {said}");
        }
        assert!(
            !said.lines().any(|line| line.starts_with("forged")),
            "a comment made a line: {said}"
        );
        let json = desk.rigctl(&format!("analyze {file} --format json")).stdout;
        let analysis: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(analysis["ports"][0]["name"], format!("eth{HOSTILE}"));
        assert_eq!(json.chars().find(|&c| steers(c)), None, "{json}");
    }
    std::fs::write(desk.path("cut"), &capture()[..9]).expect("writable");
    std::fs::rename(desk.path("cut"), desk.path(&format!("cut{HOSTILE}"))).expect("renamed");
    assert_eq!(harmless(&desk, &format!("analyze cut{HOSTILE}")).0, 2);
    assert_eq!(harmless(&desk, &format!("analyze none{HOSTILE}")).0, 2);
}

#[test]
fn names_in_files_steer_no_terminal() {
    let desk = Desk::new();
    let good = suite(&format!("{STORM}{DETECTION}"));
    for (from, to) in [
        ("one-case:", format!("\"one{QUOTED}\":")),
        ("victim", format!("\"victim{QUOTED}\"")),
        ("from: p1", format!("from: \"p1{QUOTED}\"")),
        ("trials: 1", format!("\"{QUOTED}\": 1")),
        ("500us", format!("\"500us{QUOTED}\"")),
    ] {
        assert!(good.contains(from), "{from}");
        desk.write("bad.yaml", &good.replace(from, &to));
        for command in ["run --out out", "check", "list", "explain bad::one-case", "mutants"] {
            let (code, said) = harmless(&desk, &format!("{command} bad.yaml"));
            assert_eq!(code, 2, "{command} with {from}: {said}");
        }
    }
}

#[test]
fn what_a_good_file_says_steers_no_terminal() {
    let desk = Desk::new();
    let good = suite(&format!("{STORM}{DETECTION}"));
    let text = good.replace("\"a test\"", &format!("\"a test {QUOTED}\\nforged\""));
    desk.write("few.yaml", &text);
    let (code, said) = harmless(&desk, "explain few::one-case few.yaml");
    assert_eq!(code, 0, "{said}");
    assert!(!said.lines().any(|line| line.starts_with("forged")), "{said}");
    // A folder and a report of any name.
    let out = format!("out{HOSTILE}");
    let mutate = "--mutate pfcwd.detection_time=x2";
    let (code, said) = harmless(&desk, &format!("run few.yaml --seed 7 --out {out} {mutate} -v"));
    assert_eq!(code, 1, "{said}");
    let json = format!("run few.yaml --seed 7 --out json-{out} --format json");
    let (code, said) = harmless(&desk, &json);
    assert_eq!(code, 0, "{said}");
    // Results that say it everywhere.
    let results = desk.read(&format!("{out}/results.json"));
    let hostile = results.replace("few::one-case", "few::one-case\\u001b[2J\\u009b2J\\u202e");
    desk.write("new.json", &hostile.replace("\"lab\": \"", "\"lab\": \"\\u001b[2J"));
    let old = format!("{out}/results.json");
    for format in ["human", "json"] {
        let (code, said) = harmless(&desk, &format!("compare {old} new.json --format {format}"));
        assert_eq!(code, 1, "{said}");
    }
}

#[test]
fn the_command_line_steers_no_terminal() {
    let desk = Desk::new();
    for name in ["few.yaml", &format!("few{HOSTILE}.yaml")] {
        desk.write(name, &suite(&format!("{STORM}{DETECTION}")));
    }
    desk.write(
        "lab.yaml",
        &format!("about: \"x\"\ntransport: \"tele{QUOTED}\"\nduts: [duts/none.yaml]\n"),
    );
    for arguments in [
        "HOSTILE",
        "run --HOSTILE",
        "run --seed HOSTILE",
        "run few.yaml --out out --only HOSTILE[",
        "run few.yaml --out out --mutate HOSTILE=x2",
        "run few.yaml --out out --mutate deviation=HOSTILE",
        "run --out out fewHOSTILE.yaml",
        "check fewHOSTILE.yaml",
        "list noneHOSTILE.yaml",
        "list few.yaml --only HOSTILE",
        "list few.yaml --dut HOSTILE",
        "list few.yaml --lab HOSTILE",
        "check few.yaml --lab lab.yaml",
        "doctor --lab lab.yaml",
        "doctor --cabled HOSTILE HOSTILE",
        "explain HOSTILE",
        "mutants few.yaml --dut HOSTILE",
        "analyze HOSTILE --lab HOSTILE",
        "compare HOSTILE old",
        "schema HOSTILE",
        "gen --to x.pcapng --stream HOSTILE",
        "dut serve --port x --control - --profile HOSTILE",
        "dut serve --port x --control - --dut HOSTILE",
    ] {
        let arguments = arguments.replace("HOSTILE", HOSTILE);
        let (code, said) = harmless(&desk, &arguments);
        assert_eq!(code, 2, "{arguments:?}: {said}");
    }
    // Nor does a note have a line that the rig did not write.
    let left = desk.shell("\"$RIGCTL\" list few.yaml --only \"$(printf 'x\\nforged')\"");
    assert!(left.stderr.starts_with("note: no case matches `--only x\\nforged`"), "{left:?}");
    for (arguments, exit) in [
        ("list few.yaml --only \u{202e}", 5),
        ("dut serve --port ifHOSTILE --control - --dut broadcom", 4),
        ("gen --port ifHOSTILE --speed 100Gbps --pfc 3:65535q --every 20us --for 1ms", 4),
        ("gen --to none/HOSTILE --stream kind=udp,size=256B,every=10us,count=5", 4),
    ] {
        let arguments = arguments.replace("HOSTILE", HOSTILE);
        let (code, said) = harmless(&desk, &arguments);
        assert_eq!(code, exit, "{arguments:?}: {said}");
    }
}
