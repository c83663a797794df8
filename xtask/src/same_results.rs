//! Whether this tree measures and judges what another revision does: every case that both have, on every bundled lab in virtual
//! time, each revision with its own labs and catalogue, at a few seeds. What a move of code must not change is shown not to.

mod asked;
mod cases;
mod changed;
mod differences;
mod scratch;

use crate::watch::{Minutes, Watch};
use asked::Asked;
pub(crate) use asked::USAGE;
use cases::Cases;
use differences::Differences;
use scratch::Scratch;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Compares with a revision, on the labs that are named or on all; whether the results are the same.
pub(crate) fn run(root: &Path, args: impl Iterator<Item = String>) -> bool {
    Asked::of(args).and_then(|asked| compare(root, &asked)).unwrap_or_else(|why| {
        eprintln!("same-results: {why}");
        false
    })
}

fn compare(root: &Path, asked: &Asked) -> Result<bool, String> {
    let watch = Watch::start();
    let scratch = Scratch::of(root, &asked.revision)?;
    let (mut before, mut now) = (labs(scratch.tree())?, labs(root)?);
    if let Some(none) = asked.labs.iter().find(|lab| !before.contains(lab) && !now.contains(lab)) {
        return Err(format!("no lab in virtual time is `{none}`: there are {}", now.join(", ")));
    }
    for labs in [&mut before, &mut now] {
        labs.retain(|lab| asked.labs.is_empty() || asked.labs.contains(lab));
    }
    let mut same = true;
    for lab in before.iter().filter(|lab| !now.contains(lab)) {
        println!("{lab} is there no longer");
        same = false;
    }
    for lab in now.iter().filter(|lab| !before.contains(lab)) {
        println!("{lab} is new: there is nothing to compare it with");
    }
    let [theirs, ours] = &asked.built;
    let ours = match ours {
        Some(rig) => scratch.copied(rig, "now")?,
        None => scratch.built(root, &root.join("target"), "now")?,
    };
    let theirs = match theirs {
        Some(rig) => scratch.copied(rig, "before")?,
        // What was built stays where all builds are: the next time less is left to do.
        None => scratch.built(scratch.tree(), &root.join("target/same-results"), "before")?,
    };
    let [theirs, ours] = [(&*theirs, scratch.tree()), (&*ours, root)];
    for lab in now.iter().filter(|lab| before.contains(lab)) {
        let [before, now] = [theirs, ours].map(|(rig, tree)| scratch.cases(rig, tree, lab));
        let cases = Cases::of(&before?, &now?);
        println!("{lab}: {cases}");
        same &= cases.all_are_there();
        let only = cases.only();
        for &seed in &asked.seeds {
            let before = scratch.results(theirs, lab, only.as_deref(), seed)?;
            let now = scratch.results(ours, lab, only.as_deref(), seed)?;
            let differences = differences(&before, &now)?;
            println!("{lab}, seed {seed}: {differences}");
            same &= differences.is_empty();
        }
    }
    let word = if same { "the same results as" } else { "other results than" };
    println!("{word} {}, {}", asked.revision, Minutes(watch.elapsed()));
    Ok(same)
}

/// What differs between what an earlier revision wrote and what this one does, but for what was changed on purpose.
fn differences(before: &str, now: &str) -> Result<Differences, String> {
    let read = |text: &str| -> Result<Value, String> {
        let all = serde_json::from_str(text).map_err(|why| format!("results.json: {why}"))?;
        Ok(changed::without_the_machine(all))
    };
    Ok(Differences::between(&read(&changed::as_it_is_now(before))?, &read(now)?))
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

#[cfg(test)]
mod tests {
    use super::*;

    const RESULTS: &str = r#"{
        "version": "0.1.0", "seed": 1,
        "cases": [
            {"id": "a::b", "verdict": "pass", "measurements": [
                {"name": "m", "subject": "s", "point": "p", "value": 2},
                {"name": "m", "subject": "s", "point": "q", "value": 3}]},
            {"id": "a::c", "verdict": "pass", "measurements": []}],
        "wall": {"jobs": 2}}"#;

    fn told(now: &str) -> String {
        differences(RESULTS, now).expect("they are JSON").to_string()
    }

    #[test]
    fn what_a_machine_says_is_no_result_and_all_else_is() {
        let other = RESULTS.replace("0.1.0", "0.2.0").replace("\"jobs\": 2", "\"jobs\": 7");
        assert!(differences(RESULTS, &other).expect("they are JSON").is_empty());
        assert_eq!(told(&other), "2 cases, the same");
        let other = RESULTS.replacen("pass", "fail", 1);
        assert_eq!(
            told(&other),
            "2 cases, other results in 1 place of 1 case\n  a::b\n    verdict: was \"pass\", is \"fail\""
        );
        let other = RESULTS.replace("\"seed\": 1", "\"seed\": 4");
        assert!(told(&other).ends_with("\n  the run itself\n    seed: was 1, is 4"), "{other}");
    }

    #[test]
    fn what_differs_is_told_by_case_and_by_kind() {
        let other = RESULTS.replace("\"value\": 2", "\"value\": 7").replace(": 3}", ": 4}");
        assert_eq!(
            told(&other),
            "2 cases, other results in 2 places of 1 case\n  a::b\n    measurements.value, 2 times: at m s p was 2, is 7"
        );
    }

    #[test]
    fn what_is_new_or_gone_moves_nothing_else() {
        let gone =
            RESULTS.replace(r#"{"name": "m", "subject": "s", "point": "p", "value": 2},"#, "");
        let gone = told(&gone);
        assert!(
            gone.contains("in 1 place of 1 case\n  a::b\n    measurements: at m s p was {"),
            "{gone}"
        );
        assert!(gone.ends_with("is nothing"), "{gone}");
        let cases = RESULTS.replace(r#"{"id": "a::c", "#, r#"{"id": "a::new"}, {"id": "a::c", "#);
        assert!(told(&cases).contains("3 cases, other results in 1 place of 1 case\n  a::new\n"));
        let renamed = told(&RESULTS.replace("\"verdict\"", "\"judgement\""));
        assert!(renamed.contains("a::c\n    judgement: was nothing, is \"pass\"\n    verdict: was \"pass\", is nothing"), "{renamed}");
    }

    #[test]
    fn the_bundled_labs_in_virtual_time_are_found() {
        let labs = labs(&crate::root()).expect("there are some");
        assert!(labs.contains(&"lab-configs/emulated.yaml".to_owned()), "{labs:?}");
        assert!(!labs.contains(&"lab-configs/veth.yaml".to_owned()), "{labs:?}");
    }
}
