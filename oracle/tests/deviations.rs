//! Every deviation that is listed is built: the model asks each flag somewhere outside its tests. That what it then does can be
//! seen is the catalogue's to show: a mutant that no case notices is a failure there.

use rig_lab::Deviation;
use std::fs;
use std::path::{Path, PathBuf};

/// The model's own files; those of its tests stand in folders and files called `tests`.
fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_stem().is_some_and(|stem| stem == "tests") {
            continue;
        }
        if path.is_dir() { sources(&path, into) } else { into.push(path) }
    }
}

/// The words of the code: no comments, no tests at the end of a file.
fn words(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    code.flat_map(|line| line.split(|c| !is_part(c)).map(str::to_owned)).collect()
}

#[test]
fn the_model_asks_every_flag_of_every_part() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/model"), &mut files);
    assert!(files.len() > 50, "{}", files.len());
    let words: std::collections::BTreeSet<String> = files.iter().flat_map(|at| words(at)).collect();
    let unasked: Vec<&str> =
        Deviation::all().map(Deviation::name).filter(|name| !words.contains(*name)).collect();
    assert_eq!(unasked, Vec::<&str>::new());
}
