//! Whether this tree measures and judges what another revision does: every case of the catalogue on every bundled lab in virtual
//! time, each revision with its own labs and catalogue, at a few seeds. What a move of code must not change is shown not to.

use crate::watch::{Minutes, Watch};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Seeds of each lab.
const SEEDS: [u64; 3] = [1, 2, 3];
/// Wording and names that were changed on purpose since a revision of before: as it was, and as it is now.
const RENAMED: &[(&str, &str)] = &[];
/// Lines that differ and are shown, of each lab and seed.
const SHOWN: usize = 12;

/// Compares with a revision; whether the results are the same.
pub(crate) fn run(root: &Path, mut args: impl Iterator<Item = String>) -> bool {
    let (Some(revision), None) = (args.next(), args.next()) else {
        eprintln!("same-results: want one revision, such as HEAD~1");
        return false;
    };
    compare(root, &revision).unwrap_or_else(|why| {
        eprintln!("same-results: {why}");
        false
    })
}

fn compare(root: &Path, revision: &str) -> Result<bool, String> {
    let watch = Watch::start();
    let place = root.join("target/same-results");
    let tree = place.join("tree");
    fs::create_dir_all(&place).map_err(|why| format!("{}: {why}", place.display()))?;
    let git = |args: &[&str]| done(Command::new("git").current_dir(root).args(args));
    // One that was broken off is in the way.
    let _none = git(&["worktree", "remove", "--force", &tree.display().to_string()]);
    git(&["worktree", "add", "--detach", &tree.display().to_string(), revision])?;
    let compared = every_lab(root, &tree, &place);
    git(&["worktree", "remove", "--force", &tree.display().to_string()])?;
    let same = compared?;
    let word = if same { "the same results as" } else { "other results than" };
    println!("{word} {revision}, {}", Minutes(watch.elapsed()));
    Ok(same)
}

/// Compares lab by lab, seed by seed.
fn every_lab(root: &Path, tree: &Path, place: &Path) -> Result<bool, String> {
    let theirs = built(tree, &place.join("built"))?;
    let ours = built(root, &root.join("target"))?;
    let mut same = true;
    for lab in labs(tree)? {
        for seed in SEEDS {
            let before = results(&theirs, tree, &lab, seed, &place.join("before"))?;
            let now = results(&ours, root, &lab, seed, &place.join("now"))?;
            let unlike = unlike(&renamed(&settled(&before)), &settled(&now));
            let lines = now.lines().count();
            println!("{lab}, seed {seed}: {lines} lines, {} unlike", unlike.len());
            unlike.iter().take(SHOWN).for_each(|line| println!("  {line}"));
            same &= unlike.is_empty();
        }
    }
    Ok(same)
}

/// Labs of a tree whose device is emulated in virtual time, in the order of their names.
pub(crate) fn labs(tree: &Path) -> Result<Vec<String>, String> {
    let folder = tree.join("lab-configs");
    let entries = fs::read_dir(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let of = |path: PathBuf| {
        let text = fs::read_to_string(&path).ok()?;
        let is_virtual = text.lines().any(|line| {
            // The second is how a lab said it before there were transports.
            let line = line.split('#').next().unwrap_or_default().trim();
            ["transport: virtual", "adapter: emulated"].contains(&line)
        });
        let name = path.file_name()?.to_str()?;
        is_virtual.then(|| format!("lab-configs/{name}"))
    };
    let mut labs: Vec<String> = entries.flatten().filter_map(|entry| of(entry.path())).collect();
    labs.sort();
    if labs.is_empty() {
        Err(format!("{} has no lab in virtual time", folder.display()))
    } else {
        Ok(labs)
    }
}

/// The rig that is built from a tree.
fn built(tree: &Path, into: &Path) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(tree).args(["build", "--package", "rigctl", "--locked", "--target-dir"]);
    done(command.arg(into))?;
    Ok(into.join("debug/rigctl"))
}

/// What a run of the catalogue writes.
fn results(rig: &Path, tree: &Path, lab: &str, seed: u64, out: &Path) -> Result<String, String> {
    let _none = fs::remove_dir_all(out);
    let mut command = Command::new(rig);
    command.current_dir(tree).args(["run", "--lab", lab, "--evidence", "none", "--seed"]);
    command.arg(seed.to_string()).arg("--out").arg(out);
    // A red case is a result, too.
    let said = command.output().map_err(|why| format!("{}: {why}", rig.display()))?;
    let path = out.join("results.json");
    fs::read_to_string(&path).map_err(|why| {
        format!("{}: {why}: {}", path.display(), String::from_utf8_lossy(&said.stderr))
    })
}

/// The results without what a clock or a machine says, which comes last.
fn settled(results: &str) -> String {
    let lines = results.lines().take_while(|line| !line.starts_with("  \"wall\""));
    lines
        .filter(|line| !line.starts_with("  \"version\""))
        .map(|line| format!("{line}\n"))
        .collect()
}

fn renamed(results: &str) -> String {
    let all = RENAMED.iter();
    all.fold(results.to_owned(), |text, (before, now)| text.replace(before, now))
}

/// Lines that differ, each with its case.
fn unlike(before: &str, now: &str) -> Vec<String> {
    let mut case = "";
    let (mut before, mut now) = (before.lines(), now.lines());
    let mut unlike = Vec::new();
    loop {
        let (was, is) = match (before.next(), now.next()) {
            (None, None) => return unlike,
            (was, is) => (was.unwrap_or("nothing").trim(), is.unwrap_or("nothing").trim()),
        };
        if let Some(id) = is.strip_prefix("\"id\": ") {
            case = id;
        }
        if was != is {
            unlike.push(format!("{case} was {was}, is {is}"));
        }
    }
}

/// Runs it to its end.
fn done(command: &mut Command) -> Result<(), String> {
    let said = command.output().map_err(|why| format!("{:?}: {why}", command.get_program()))?;
    if said.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&said.stderr).trim_end().to_owned();
    Err(format!("{:?}: {}: {told}", command.get_program(), said.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULTS: &str = "{\n  \"version\": \"0.1.0\",\n  \"seed\": 1,\n  \"cases\": [\n    {\n      \
        \"id\": \"a::b\",\n      \"verdict\": \"pass\"\n    }\n  ],\n  \"wall\": {\n    \"jobs\": 2\n  }\n}\n";

    #[test]
    fn what_a_machine_says_is_no_result_and_all_else_is() {
        let other = RESULTS.replace("0.1.0", "0.2.0").replace("\"jobs\": 2", "\"jobs\": 7");
        assert_eq!(unlike(&settled(RESULTS), &settled(&other)), [""; 0]);
        let other = RESULTS.replace("pass", "fail");
        assert_eq!(
            unlike(&settled(RESULTS), &settled(&other)),
            ["\"a::b\", was \"verdict\": \"pass\", is \"verdict\": \"fail\""]
        );
        let more = settled(RESULTS) + "  ]\n";
        assert_eq!(unlike(&settled(RESULTS), &more).len(), 1);
    }

    #[test]
    fn the_bundled_labs_in_virtual_time_are_found() {
        let labs = labs(&crate::root()).expect("there are some");
        assert!(labs.contains(&"lab-configs/emulated.yaml".to_owned()), "{labs:?}");
        assert!(!labs.contains(&"lab-configs/veth.yaml".to_owned()), "{labs:?}");
    }
}
