//! No run shows a key of its lab: not in its reports, not in its evidence, and not to who watches it.

#[path = "common/packed.rs"]
mod packed;

use packed::plain;
use std::fs::{create_dir, read_dir, read_to_string, write};
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const LABS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs");
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testcases/macsec-pfc.yaml");
/// Keys of every length, sound and harmed frames, a rekey, packet numbers that are used up.
const SOME: &str =
    "macsec-pfc::{every-suite,forged-pfc-refused,rekey-while-paused,packet-numbers-run-out}";

/// The keys and the salt of the bundled lab, as they are written.
fn keys() -> Vec<String> {
    let lab = read_to_string(format!("{LABS}/emulated.yaml")).expect("the bundled lab");
    let quoted = lab.split('"').skip(1).step_by(2);
    let hex = |text: &&str| text.len() >= 24 && text.chars().all(|c| c.is_ascii_hexdigit());
    let keys: Vec<String> = quoted.filter(hex).map(str::to_owned).collect();
    assert_eq!(keys.len(), 5, "four keys and a salt");
    keys
}

/// The bytes of a key.
fn bytes(key: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&key[at..at + 2], 16).expect("hexadecimal digits");
    (0..key.len()).step_by(2).map(byte).collect()
}

/// What of a key shows in `text`: 12 of its digits in either case, or 8 of its bytes.
fn shown(text: &[u8], keys: &[String]) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let holds = |text: &[u8], part: &[u8]| text.windows(part.len()).any(|window| window == part);
    let digits = |key: &String| key.as_bytes().chunks_exact(12).any(|part| holds(&lower, part));
    let raw = |key: &String| bytes(key).chunks_exact(8).any(|part| holds(text, part));
    keys.iter().find(|key| digits(key) || raw(key)).cloned()
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn run(out: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rigctl"))
        .args(["run", CASES, "--seed", "7", "--evidence", "all", "--verbose", "--out"])
        .arg(out)
        .args(arguments)
        .output()
        .expect("rigctl starts")
}

#[test]
fn no_artefact_of_a_run_holds_a_key_of_the_lab() {
    let (keys, desk) = (keys(), tempfile::tempdir().expect("a temporary folder"));
    // What is wrong is explained at more length than what is right.
    let broken = ["--mutate", "deviation=macsec_icv_not_checked"];
    for (name, more, code) in [("green", &[][..], 0), ("red", &broken[..], 1)] {
        let out = desk.path().join(name);
        let arguments: Vec<&str> = ["--only", SOME].iter().chain(more).copied().collect();
        let output = run(&out, &arguments);
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stdout));
        for said in [&output.stdout, &output.stderr] {
            assert_eq!(shown(said, &keys), None);
        }
        let files = files(&out);
        let captures = files.iter().filter(|file| file.extension().is_some_and(|end| end == "gz"));
        assert!(captures.count() >= 8 && files.len() >= 11, "{files:?}");
        for file in files {
            assert_eq!(shown(&plain(&file), &keys), None, "{}", file.display());
        }
    }
}

#[test]
fn a_lab_that_is_refused_shows_no_key_on_the_terminal() {
    let (keys, desk) = (keys(), tempfile::tempdir().expect("a temporary folder"));
    let good = read_to_string(format!("{LABS}/emulated.yaml")).expect("the bundled lab");
    let good = good.replace("duts/", &format!("{LABS}/duts/"));
    let first = keys[0].as_str();
    let broken = [
        good.replace(first, &first[1..]),
        good.replace(&format!("\"{first}\""), &format!("\"{first}")),
        good.replace("macsec:", "macsek:"),
        good.replace("  keys:", &format!("  {first}:")),
        good.replace("transport: virtual", &format!("transport: {first}")),
    ];
    for text in broken {
        let lab = desk.path().join("lab.yaml");
        write(&lab, text).expect("written");
        let output = run(&desk.path().join("out"), &["--lab", &lab.display().to_string()]);
        let said = [output.stdout, output.stderr].concat();
        assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&said));
        assert_eq!(shown(&said, &keys), None);
    }
}

#[test]
fn a_key_that_is_typed_as_a_setting_of_the_device_is_refused_without_an_echo() {
    let (keys, desk) = (keys(), tempfile::tempdir().expect("a temporary folder"));
    for key in &keys {
        for mutation in [
            format!("macsec.key={key}"),
            format!("macsec.next_pn={key}"),
            format!("deviation={key}"),
            format!("deviation=drop_leaks:{key}"),
            format!("{key}=1"),
            key.clone(),
        ] {
            let out = desk.path().join("out");
            let output = run(&out, &["--mutate", &mutation]);
            let said = [output.stdout, output.stderr].concat();
            assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&said));
            assert_eq!(shown(&said, &keys), None);
            assert!(!out.exists());
        }
    }
}

/// Whether a run with `lab`, ended by the signal that asks for one, leaves a dump of its memory.
fn dumps(lab: &str) -> bool {
    let desk = tempfile::tempdir().expect("a temporary folder");
    // A run writes into its own folder alone, and no dump of it goes anywhere else.
    let out = desk.path().join("out");
    create_dir(&out).expect("writable");
    let run = "ulimit -c unlimited; exec env --default-signal=QUIT \"$0\" run --only 'pfcwd::*-broadcom' --jobs 1 --evidence none --out ../out --lab \"$1\"";
    let mut rig = Command::new("sh")
        .args(["-c", run, env!("CARGO_BIN_EXE_rigctl"), lab])
        .current_dir(&out)
        .stdout(Stdio::piped())
        .spawn()
        .expect("sh starts");
    let mut lines = BufReader::new(rig.stdout.take().expect("a pipe")).lines();
    assert!(lines.any(|line| line.is_ok_and(|line| line.contains("PASS"))), "it runs");
    let id = rig.id().to_string();
    assert!(Command::new("kill").args(["-QUIT", &id]).status().expect("kill").success());
    let status = rig.wait().expect("it ends");
    assert_eq!(status.signal(), Some(3), "{status}");
    status.core_dumped()
}

#[test]
fn a_run_whose_lab_has_keys_leaves_no_dump_of_its_memory() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let keyless = desk.path().join("lab.yaml");
    let lab =
        format!("about: \"x\"\ntransport: virtual\ncable: 3m\nduts: [{LABS}/duts/broadcom.yaml]\n");
    write(&keyless, lab).expect("written");
    if !dumps(&keyless.display().to_string()) {
        eprintln!("skipped: this machine dumps no process (ulimit -c, core_pattern)");
        return;
    }
    assert!(!dumps(&format!("{LABS}/emulated.yaml")));
}

#[test]
fn a_key_is_found_in_whatever_form_it_stands() {
    let keys = keys();
    let [first, ..] = keys.as_slice() else { panic!("no key") };
    let all = [first.clone().into_bytes(), first.to_uppercase().into_bytes(), bytes(first)];
    for text in all {
        assert_eq!(
            shown(&[b"before", text.as_slice(), b"behind"].concat(), &keys).as_ref(),
            Some(first)
        );
    }
    assert_eq!(shown(b"before and behind", &keys), None);
}
