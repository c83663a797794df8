//! What is read: regular files of a size that fits, and nothing that never ends.

use crate::support::{Desk, Left, STORM, suite};
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::process::Stdio;

const DETECTION: &str = "    measure:\n      - pfcwd.detection: {storm: storm, stream: victim}\n";

/// What is said of what is refused.
fn refused(desk: &Desk, arguments: &str) -> String {
    let Left { code, stdout, stderr } = desk.rigctl(arguments);
    assert_eq!((code, stdout.as_str()), (2, ""), "{arguments}: {stderr}");
    stderr
}

#[test]
fn what_is_no_regular_file_is_refused_and_never_waited_for() {
    let desk = Desk::new();
    assert_eq!(desk.shell("mkfifo pipe && ln -s pipe link").code, 0);
    let _socket = UnixListener::bind(desk.path("socket")).expect("a socket");
    std::fs::create_dir(desk.path("folder")).expect("a folder");
    desk.write("lab.yaml", "about: \"x\"\ntransport: virtual\ncable: 3m\nduts: [pipe]\n");
    desk.write("one.yaml", &suite(&format!("{STORM}{DETECTION}")));
    for (file, what) in [
        ("pipe", "it is a pipe"),
        ("link", "it is a pipe"),
        ("socket", "it is a socket"),
        ("/dev/zero", "it is a device"),
        ("/dev/null", "it is a device"),
    ] {
        for command in [
            "check",
            "run --out out",
            "check one.yaml --lab",
            "check one.yaml --dut",
            "analyze",
            "compare none.json",
        ] {
            let said = refused(&desk, &format!("{command} {file}"));
            assert!(said.contains(what) && said.contains("regular file"), "{command}: {said}");
        }
    }
    let said = refused(&desk, "check one.yaml --lab lab.yaml");
    assert!(said.contains("lab.yaml:4:") && said.contains("it is a pipe"), "{said}");
    let said = refused(&desk, "check one.yaml --lab folder");
    assert!(said.contains("it is a folder") && said.contains("regular file"), "{said}");
}

#[test]
fn files_beyond_the_bound_of_their_kind_are_refused_unread() {
    let desk = Desk::new();
    // Holes take no room on the disk; read, they would take more memory than this shell has.
    for name in ["big.yaml", "big.json", "big.pcapng"] {
        let line = format!("truncate -s 4G {name}");
        assert_eq!(desk.shell(&line).code, 0);
    }
    for (line, want) in [
        ("check big.yaml", "at most 1048576 bytes"),
        ("compare big.json big.json", "at most 268435456 bytes"),
        ("analyze big.pcapng", "at most 1073741824 bytes"),
    ] {
        let Left { code, stderr, .. } = desk.shell(&format!("ulimit -v 300000; $RIGCTL {line}"));
        assert_eq!(code, 2, "{line}: {stderr}");
        assert!(stderr.contains("4294967296 bytes") && stderr.contains(want), "{line}: {stderr}");
    }
}

#[test]
fn a_packed_capture_is_unpacked_to_a_bound() {
    let desk = Desk::new();
    // A valid section and nothing but zeroes behind it, packed once and many times over: more than 1 GiB in 6 MB.
    let line = "(printf '\\n\\r\\r\\n\\034\\0\\0\\0\\115\\074\\053\\032\\001\\0\\0\\0\\377\\377\\377\\377\\377\\377\\377\\377\\034\\0\\0\\0' \
                | gzip -1; head -c 60000000 /dev/zero | gzip -1 > zeroes; \
                for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do cat zeroes; done) > bomb.pcapng.gz";
    assert_eq!(desk.shell(line).code, 0);
    let said = refused(&desk, "analyze bomb.pcapng.gz");
    assert!(said.contains("unpacked"), "{said}");
    assert!(said.contains("at most 1073741824 bytes"), "{said}");
}

#[test]
fn a_capture_that_does_not_fit_into_memory_is_told_and_does_not_abort() {
    let desk = Desk::new();
    let made = desk.rigctl("gen --to many.pcapng --kind udp --size 64B --every 1us --count 200000");
    assert_eq!(made.code, 0, "{made:?}");
    assert_eq!(desk.shell("gzip -1 -c many.pcapng > many.pcapng.gz").code, 0);
    // The program itself, with next to nothing read, takes some 50 MB of addresses where it is not optimised, half of them its own image:
    // more with each thing that it learns.
    let made = desk.rigctl("gen --to few.pcapng --kind udp --size 64B --every 1us --count 20");
    assert_eq!(made.code, 0, "{made:?}");
    let alone = |megabytes: &u32| {
        desk.shell(&format!("ulimit -v {megabytes}000; $RIGCTL analyze few.pcapng")).code == 0
    };
    let sizes: Vec<u32> = (40..400).step_by(4).collect();
    let least = sizes.partition_point(|megabytes| !alone(megabytes));
    let alone = *sizes.get(least).expect("it runs in 400 MB");
    for megabytes in [alone, alone + 24, alone + 64, alone + 244] {
        for file in ["many.pcapng", "many.pcapng.gz"] {
            let line = format!("ulimit -v {megabytes}000; $RIGCTL analyze {file}");
            let Left { code, stderr, .. } = desk.shell(&line);
            assert!(code == 2 || code == 0, "{line}: {code} {stderr}");
            let told = stderr.contains("memory") || code == 0;
            assert!(told, "{line}: {stderr}");
        }
    }
}

#[test]
fn frames_are_written_over_no_file_but_a_capture() {
    let desk = Desk::new();
    let gen_to = "gen --kind udp --size 64B --every 1us --count 2 --to";
    desk.write("mine.yaml", "about: \"mine\"\n");
    let refused = desk.rigctl(&format!("{gen_to} mine.yaml"));
    assert_ne!(refused.code, 0, "{refused:?}");
    let told = "`--to mine.yaml`: it is there, and no capture\n   = want: a new file, or an earlier capture";
    assert!(refused.stderr.contains(told), "{refused:?}");
    assert_eq!(desk.read("mine.yaml"), "about: \"mine\"\n");
    for _ in 0..2 {
        let made = desk.rigctl(&format!("{gen_to} some.pcapng"));
        assert_eq!(made.code, 0, "a new file, and an earlier capture: {made:?}");
    }
}

#[test]
fn a_capture_is_read_from_standard_input_where_it_is_named_so() {
    let desk = Desk::new();
    let made = desk.rigctl("gen --to some.pcapng --kind udp --size 64B --every 1us --count 9");
    assert_eq!(made.code, 0, "{made:?}");
    let file = desk.rigctl("analyze some.pcapng");
    let piped = desk.shell("cat some.pcapng | $RIGCTL analyze -");
    assert_eq!(piped.code, 0, "{piped:?}");
    assert_eq!(piped.stdout.replace("standard input", "some.pcapng"), file.stdout);
    let Left { code, stderr, .. } =
        desk.shell("ulimit -v 3000000; cat /dev/zero | $RIGCTL analyze -");
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("at most 1073741824 bytes"), "{stderr}");
}

#[test]
fn a_suite_is_read_from_standard_input_where_it_is_named_so() {
    let desk = Desk::new();
    desk.write("one.yaml", &suite(&format!("{STORM}{DETECTION}")));
    let checked = desk.shell("cat one.yaml | $RIGCTL check -");
    assert_eq!(checked.code, 0, "{checked:?}");
    assert!(checked.stdout.starts_with("1 case on lab emulated"), "{checked:?}");
    let ran = desk.shell("$RIGCTL run - --seed 7 --out out < one.yaml");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(desk.json("out/results.json")["cases"][0]["id"], "stdin::one-case");
    let listed = desk.shell("$RIGCTL list - < one.yaml");
    assert!(listed.stdout.contains("stdin::one-case"), "{listed:?}");
    // A fault has its place, and a folder of that name is no matter.
    std::fs::create_dir(desk.path("-")).expect("a folder");
    for command in ["check", "run --out other"] {
        let line = format!("sed 's/trials: 1/trails: 1/' one.yaml | $RIGCTL {command} -");
        let Left { code, stdout, stderr } = desk.shell(&line);
        assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
        assert!(stderr.contains("standard input:13:5: unknown key `trails`"), "{stderr}");
    }
    for (line, want) in [
        ("cat one.yaml | $RIGCTL check - -", "`-` is given more than once"),
        ("$RIGCTL check - < /dev/null", "standard input: is empty"),
        ("cat /dev/zero | $RIGCTL check -", "at most 1048576 bytes"),
        ("printf 'a\\377' | $RIGCTL check -", "standard input: is not UTF-8 text"),
        ("cat one.yaml | $RIGCTL check - stdin.yaml", "stdin.yaml: there is no such file"),
    ] {
        let Left { code, stderr, .. } = desk.shell(&format!("ulimit -v 300000; {line}"));
        assert_eq!(code, 2, "{line}: {stderr}");
        assert!(stderr.contains(want), "{line}: {stderr}");
    }
    desk.write("stdin.yaml", &desk.read("one.yaml"));
    let both = desk.shell("cat one.yaml | $RIGCTL check - stdin.yaml");
    assert!(both.stderr.contains("its cases would be called stdin::..."), "{both:?}");
}

#[test]
fn an_argument_that_is_no_text_is_an_argument_still() {
    let desk = Desk::new();
    desk.write("one.yaml", &suite(&format!("{STORM}{DETECTION}")));
    let left = desk.shell("$RIGCTL run one.yaml --out out --junit \"$(printf 'j\\377.xml')\"");
    assert_eq!(left.code, 0, "{left:?}");
    let command = desk.json("out/results.json")["wall"]["command"].to_string();
    assert!(command.contains("j\u{fffd}.xml"), "{command}");
}

#[test]
fn a_scalar_of_half_a_megabyte_is_not_echoed() {
    let desk = Desk::new();
    let text = suite(&format!("{STORM}{DETECTION}"));
    let long = "x".repeat(500_000);
    let digits = "1".repeat(500_000);
    for (from, to) in [
        ("trials: 1", format!("trials: {long}")),
        ("trials: 1", format!("trials: {digits}")),
        ("trials: 1", format!("trials: 1\n    \"{long}\": 1")),
        ("action: drop", format!("action: {long}")),
        ("action: drop", format!("\"{long}\": 1")),
        ("detection_time: 200ms", format!("detection_time: {digits}ms")),
        ("classes: [3]", format!("classes: [3], {long}: 1")),
        ("{storm: {from", format!("{{{}: {{from", "N".repeat(500_000))),
        ("start: victim", format!("start: {long}")),
        ("size: 254B", format!("size: {digits}B")),
    ] {
        assert!(text.contains(from), "{from}");
        desk.write("long.yaml", &text.replace(from, &to));
        let said = refused(&desk, "check long.yaml");
        let cut = said.lines().map(|line| line.chars().count()).max().unwrap_or_default();
        assert!(cut <= 600 && said.len() < 10_000, "{from}: {} {}", said.len(), &said[..600]);
        assert!(said.contains("..."), "{from}: {said}");
    }
}

#[test]
fn a_long_plain_number_is_shown_as_it_stands() {
    let desk = Desk::new();
    let number = "123456789012345678901234567890";
    let text =
        suite(&format!("{STORM}{DETECTION}")).replace("trials: 1", &format!("trials: {number}"));
    desk.write("long.yaml", &text);
    let said = refused(&desk, "check long.yaml");
    assert!(said.contains(&format!("`{number}`")), "{said}");
    assert!(said.contains(&format!("trials: {number}")), "{said}");
}

/// A file is read whole before anything of it is believed: one that grows meanwhile is bounded, too.
#[test]
fn standard_input_that_ends_early_is_no_capture() {
    let desk = Desk::new();
    let mut command = desk.command(env!("CARGO_BIN_EXE_rigctl"));
    let mut child = command.args(["analyze", "-"]).stdin(Stdio::piped()).spawn().expect("starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(b"\x0a\x0d\x0d").expect("written");
    drop(pipe);
    let left = crate::support::finish(child);
    assert_eq!(left.code, 2, "{left:?}");
    assert!(left.stderr.contains("standard input"), "{left:?}");
}
