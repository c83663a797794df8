//! What README and the pages of docs/ tell people to type: every command line of rigctl's parses, the files that it names are
//! there, and each is run here, or by another test, or says what it needs.
//!
//! Left out on purpose: lines of other programs.

#[path = "docs/figures.rs"]
mod figures;
#[path = "docs/tested.rs"]
mod tested;

use clap::Parser;
use rigctl::cli::{Cli, arguments};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tested::{Tried, tried};

/// A command line of rigctl's in a block of shell.
struct Told {
    /// `FILE:LINE`.
    place: String,
    /// As it is typed, without what stands around it in its block.
    line: String,
    /// Its arguments, without `rigctl`.
    words: Vec<String>,
    /// Whether somebody else than the user has to type it.
    root: bool,
    /// Whether its comment, or that at the head of its block, says what it needs that no machine has by itself.
    needs: bool,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The words of a line of shell, up to its comment, redirection or end.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for sign in line.chars() {
        match (quote, sign) {
            (Some(open), _) if sign == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, '>' | '&' | '|' | ';') => break,
            (None, '#') if word.is_none() => break,
            _ => word.get_or_insert_default().push(sign),
        }
    }
    words.extend(word);
    words
}

/// README and the pages of docs/.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(root().join("docs")).expect("docs/");
    let mut pages: Vec<PathBuf> = docs.map(|entry| entry.expect("an entry").path()).collect();
    pages.retain(|page| page.extension().is_some_and(|end| end == "md"));
    pages.sort();
    pages.insert(0, root().join("README.md"));
    pages
}

/// Every command line of rigctl's that a page tells.
fn told() -> Vec<Told> {
    let mut all = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        let name = page.file_name().expect("a name").to_string_lossy().into_owned();
        let (mut shell, mut head) = (false, 0);
        let mut block_needs = false;
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(of) = line.trim_start().strip_prefix("```") {
                (shell, head, block_needs) = (of == "sh", number, false);
                continue;
            }
            let line = line.trim_start();
            // What reads another program's output.
            let line = line.find("| rigctl ").map_or(line, |at| &line[at + 2..]);
            if number == head + 1 && line.starts_with("# needs ") {
                block_needs = true;
            }
            let mut words = words(line).into_iter().peekable();
            let root = words.next_if(|word| word == "sudo").is_some();
            // A variable for this program alone.
            let _variable = words.next_if(|word| word.starts_with("RIG_"));
            if words.next_if(|word| word == "ip").is_some() {
                // `ip netns exec NAME`
                words.by_ref().take(3).for_each(drop);
            }
            if shell && words.next().is_some_and(|word| word == "rigctl") {
                let needs = block_needs || line.contains("# needs ");
                let (place, words) = (format!("{name}:{number}"), words.collect());
                all.push(Told { place, line: line.to_owned(), words, root, needs });
            }
        }
    }
    all
}

#[test]
fn every_command_that_a_page_tells_is_one_and_its_files_are_there() {
    let all = told();
    assert!(all.len() >= 50, "{} commands", all.len());
    let mut wrong = Vec::new();
    for Told { place, words, .. } in &all {
        // What a shell puts there may be any number.
        let typed = words.iter().map(|word| if word.contains('$') { "1" } else { word.as_str() });
        let line = std::iter::once("rigctl").chain(typed).map(OsString::from);
        if let Err(said) = Cli::try_parse_from(arguments(line)) {
            wrong.push(format!("{place}: {said}"));
        }
        let bundled = ["testcases/", "lab-configs/", "dut-adapters/"];
        let named = words.iter().filter(|word| bundled.iter().any(|at| word.starts_with(at)));
        let missing = named.filter(|word| !root().join(word.as_str()).exists());
        wrong.extend(missing.map(|word| format!("{place}: there is no {word}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A block that is only set in is a block as well, and nobody reads what it tells.
#[test]
fn every_block_of_a_page_has_its_fence() {
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        let mut fenced = false;
        for (number, line) in (1..).zip(text.lines()) {
            fenced ^= line.trim_start().starts_with("```");
            let tells = !fenced && line.starts_with("    ") && line.contains("rigctl ");
            assert!(!tells, "{}:{number}: {line}", page.display());
        }
    }
}

/// The lab that a page has its reader write, as it is written there.
fn lab_of_a_page() -> String {
    let page = fs::read_to_string(root().join("docs/first-port.md")).expect("a page");
    let (_, behind) = page.split_once("cat > my-lab.yaml <<END\n").expect("it writes a lab");
    let (lab, _) = behind.split_once("\nEND\n").expect("it ends");
    lab.replace("$PWD", &root().display().to_string())
}

/// A folder with what a user has who types these lines: the bundled files, and some of their own.
fn desk() -> tempfile::TempDir {
    let desk = tempfile::tempdir().expect("a folder");
    for folder in ["testcases", "lab-configs", "dut-adapters"] {
        std::os::unix::fs::symlink(root().join(folder), desk.path().join(folder)).expect("a link");
    }
    let leaf = root().join("dut-adapters/testdata/sonic/leaf.json");
    fs::copy(leaf, desk.path().join("config_db.json")).expect("a file of a switch");
    let switch = root().join("lab-configs/duts/broadcom.yaml");
    fs::copy(switch, desk.path().join("my-switch.yaml")).expect("a profile");
    fs::write(desk.path().join("my-lab.yaml"), lab_of_a_page()).expect("writable");
    for line in [
        "gen --to capture.pcapng --stream kind=udp,size=256B,every=10us,count=5",
        "run testcases/recovery.yaml --only recovery::lost-packet --out old",
        "run testcases/recovery.yaml --only recovery::lost-packet --out new",
    ] {
        let done = shell(&desk, &format!("rigctl {line}"));
        assert!(done.status.success(), "{line}: {done:?}");
    }
    desk
}

/// Runs a line of shell there, with this rigctl in the path and nothing of this machine's own state.
fn shell(desk: &tempfile::TempDir, line: &str) -> std::process::Output {
    let program = Path::new(env!("CARGO_BIN_EXE_rigctl")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(desk.path());
    command.env("PATH", format!("{}:{path}", program.display()));
    command.env("RIGCTL_STATE", desk.path().join("state")).output().expect("there is a sh")
}

#[test]
fn every_command_is_run_by_a_test_or_says_what_it_needs() {
    let all = told();
    let untried = all.iter().filter(|told| tried(told).is_none());
    let untried: Vec<String> =
        untried.map(|told| format!("{}: {}", told.place, told.line)).collect();
    assert!(untried.is_empty(), "run by no test, and no `# needs ...`:\n{}", untried.join("\n"));
    // Each way is one that some command goes.
    let count = |is: fn(&Tried) -> bool| all.iter().filter_map(tried).filter(is).count();
    let here = count(|tried| matches!(tried, Tried::Here(_)));
    let elsewhere = count(|tried| matches!(tried, Tried::Elsewhere(_)));
    let needs = count(|tried| *tried == Tried::Needs);
    assert!(here >= 20 && elsewhere >= 20 && needs >= 10, "{here} {elsewhere} {needs}");
}

#[test]
fn what_can_be_run_anywhere_is_run_as_it_is_told() {
    let desk = desk();
    let (mut ran, mut wrong) = (0, Vec::new());
    for told in told() {
        let Some(Tried::Here(wants)) = tried(&told) else { continue };
        // Who has no rights is told so.
        let line = told.line.strip_prefix("sudo ").unwrap_or(&told.line);
        let done = shell(&desk, line);
        ran += 1;
        if !done.status.code().is_some_and(|code| wants.contains(&code)) {
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            let Told { place, line, .. } = told;
            wrong.push(format!("{place}: {line}: {}, want {wants:?}: {said}", done.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ran >= 20, "{ran} commands");
}

#[test]
fn a_command_that_nobody_knows_is_missed() {
    let told = |line: &str, needs| {
        let words = words(line).into_iter().skip(1).collect();
        tried(&Told { place: String::new(), line: line.to_owned(), words, root: false, needs })
    };
    assert_eq!(told("rigctl dut nic", false), None);
    assert_eq!(told("rigctl dut nic", true), Some(Tried::Needs));
    assert_eq!(told("rigctl list", false), Some(Tried::Here(&[0])));
    assert_eq!(
        told("rigctl run testcases/ecn.yaml", false),
        Some(Tried::Elsewhere("rigctl/tests/catalogue.rs"))
    );
}

#[test]
fn a_line_of_shell_ends_at_its_comment_its_redirection_and_its_ampersand() {
    let of = |line: &str| words(line).join("|");
    assert_eq!(of("rigctl run --only 'a-*'   # why"), "rigctl|run|--only|a-*");
    assert_eq!(of("rigctl run \"$(date)\" >\"$n.txt\" 2>&1"), "rigctl|run|$(date)");
    assert_eq!(of("rigctl dut serve --control @switch &"), "rigctl|dut|serve|--control|@switch");
    assert_eq!(of("rigctl gen --pfc 3:65535q --for 2s"), "rigctl|gen|--pfc|3:65535q|--for|2s");
}
