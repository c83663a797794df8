//! What README and the pages of docs/ tell people to type: every command line of rigctl's parses, the files that it names are
//! there, and what needs neither root nor a device is run.
//!
//! Left out on purpose: lines of other programs, and runs of whole suites, which `catalogue` and `cli` have.

use clap::Parser;
use rigctl::cli::{Cli, arguments};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command line of rigctl's in a block of shell.
struct Told {
    /// `FILE:LINE`.
    place: String,
    /// Its arguments, without `rigctl`.
    words: Vec<String>,
    /// Whether somebody else than the user has to type it.
    root: bool,
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

/// Every command line of rigctl's that a page tells.
fn told() -> Vec<Told> {
    let docs = fs::read_dir(root().join("docs")).expect("docs/");
    let mut pages: Vec<PathBuf> = docs.map(|entry| entry.expect("an entry").path()).collect();
    pages.retain(|page| page.extension().is_some_and(|end| end == "md"));
    pages.sort();
    pages.insert(0, root().join("README.md"));
    let mut all = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).expect("a page");
        let name = page.file_name().expect("a name").to_string_lossy().into_owned();
        let mut shell = false;
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(of) = line.trim_start().strip_prefix("```") {
                shell = of == "sh";
                continue;
            }
            let mut words = words(line.trim_start()).into_iter().peekable();
            let root = words.next_if(|word| word == "sudo").is_some();
            if words.next_if(|word| word == "ip").is_some() {
                // `ip netns exec NAME`
                words.by_ref().take(3).for_each(drop);
            }
            if shell && words.next().is_some_and(|word| word == "rigctl") {
                all.push(Told { place: format!("{name}:{number}"), words: words.collect(), root });
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

#[test]
fn what_needs_neither_root_nor_a_file_of_the_users_is_run_as_it_is_told() {
    let out = tempfile::tempdir().expect("a folder");
    for folder in ["testcases", "lab-configs", "dut-adapters"] {
        std::os::unix::fs::symlink(root().join(folder), out.path().join(folder)).expect("a link");
    }
    let quick = ["check", "list", "explain", "size", "schema", "gen"];
    let (mut ran, mut wrong) = (0, Vec::new());
    for Told { place, words, root } in told() {
        let own = words.iter().any(|word| word.starts_with("my-"));
        let is_quick = words.first().is_some_and(|word| quick.contains(&word.as_str()))
            || words.iter().any(|word| word.starts_with("dut-adapters/testdata/host/"));
        if root || own || !is_quick {
            continue;
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
        let done = command.args(&words).current_dir(out.path()).output().expect("it starts");
        ran += 1;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            wrong.push(format!("{place}: {} {said}", done.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ran >= 6, "{ran} commands");
}

#[test]
fn a_line_of_shell_ends_at_its_comment_its_redirection_and_its_ampersand() {
    let of = |line: &str| words(line).join("|");
    assert_eq!(of("rigctl run --only 'a-*'   # why"), "rigctl|run|--only|a-*");
    assert_eq!(of("rigctl run \"$(date)\" >\"$n.txt\" 2>&1"), "rigctl|run|$(date)");
    assert_eq!(of("rigctl dut serve --control @switch &"), "rigctl|dut|serve|--control|@switch");
    assert_eq!(of("rigctl gen --pfc 3:65535q --for 2s"), "rigctl|gen|--pfc|3:65535q|--for|2s");
}
