//! Files of one room that import each other in a circle are one file in several pieces: three at most, as a module and what is its
//! own may be.

use super::Breach;
use super::tree::Source;
use std::collections::{BTreeMap, BTreeSet};

/// Most files of a circle.
const MOST: usize = 3;
/// Rooms that have none larger. The others have some from before this rule: one that has lost its own is added here.
const ROOMS: [&str; 6] = ["rigctl", "lab-configs", "reports", "dut-adapters", "units", "xtask"];

/// A file, by its way from the top of its crate: `runner::measure::loss`.
type Module = Vec<String>;
type Imports = BTreeMap<Module, BTreeSet<Module>>;

/// Every circle that is too large, at the first of its files.
pub(crate) fn check(sources: &[Source]) -> Vec<Breach> {
    ROOMS.iter().flat_map(|room| of_room(room, sources)).collect()
}

fn of_room(room: &str, sources: &[Source]) -> Vec<Breach> {
    let top = format!("{room}/src/");
    let in_room = |source: &Source| module(source.path.strip_prefix(&top)?);
    let files: BTreeMap<Module, &Source> =
        sources.iter().filter_map(|source| Some((in_room(source)?, source))).collect();
    let imports: Imports = files
        .iter()
        .map(|(own, source)| {
            let named = paths(source).into_iter();
            let found = named.filter_map(|path| resolved(own, &path, &files));
            (own.clone(), found.filter(|other| other != own).collect())
        })
        .collect();
    let reached: Imports =
        files.keys().map(|from| (from.clone(), whatever(from, &imports))).collect();
    let circle = |of: &Module| -> Vec<&Module> {
        reached[of].iter().filter(|other| reached[*other].contains(of)).collect()
    };
    // Each is told once, at its first file.
    let circles = files.keys().map(circle).filter(|circle| circle.len() > MOST);
    let circles: BTreeSet<Vec<&Module>> = circles.collect();
    circles
        .into_iter()
        .map(|circle| {
            let names: Vec<String> = circle.iter().map(|file| file.join("::")).collect();
            let why = format!(
                "{} files import each other in a circle, {MOST} at most do: {}",
                circle.len(),
                names.join(", ")
            );
            Breach { file: files[circle[0]].path.clone(), line: 1, why }
        })
        .collect()
}

/// The module that a file is; tests and the top of a crate are none.
fn module(path: &str) -> Option<Module> {
    let path = path.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    let parts: Module = path.split('/').map(str::to_owned).collect();
    let top = matches!(path, "lib" | "main");
    (!top && !parts.iter().any(|part| part == "tests")).then_some(parts)
}

/// Whatever comes with an import of a file, it included where it comes back to it.
fn whatever(from: &Module, imports: &Imports) -> BTreeSet<Module> {
    let mut all = BTreeSet::new();
    let mut open: Vec<&Module> = imports[from].iter().collect();
    while let Some(next) = open.pop() {
        if all.insert(next.clone()) {
            open.extend(&imports[next]);
        }
    }
    all
}

/// Every path of a file that begins within its crate, those in braces one by one. Tests at its end are left out.
fn paths(source: &Source) -> Vec<Vec<String>> {
    let code: Vec<&str> = source.code().map(|(_, line)| line).collect();
    let text = code.join("\n");
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    // Who may see it is no import.
    let mut parts = text.split("pub(in ");
    let first = parts.next().unwrap_or_default();
    let others = parts.map(|part| part.split_once(')').map_or("", |(_, behind)| behind));
    let text: String = core::iter::once(first).chain(others).collect();
    let mut all = Vec::new();
    for (at, _) in text.match_indices("super::").chain(text.match_indices("crate::")) {
        let before = text[..at].chars().next_back();
        if before.is_none_or(|c| !(c.is_alphanumeric() || c == '_' || c == ':')) {
            expand(&mut Vec::new(), &text[at..], &mut all);
        }
    }
    all
}

/// Reads one path, and each of those in its braces; what is left behind it.
fn expand<'a>(before: &mut Vec<String>, text: &'a str, all: &mut Vec<Vec<String>>) -> &'a str {
    let length = before.len();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(mut inner) = rest.strip_prefix('{') {
            loop {
                inner = expand(before, inner, all).trim_start();
                match inner.strip_prefix(',') {
                    Some(next) => inner = next,
                    None => break,
                }
            }
            rest = inner.strip_prefix('}').unwrap_or_default();
            break;
        }
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        if !name.is_empty() {
            before.push(name.to_owned());
        }
        match behind.strip_prefix("::") {
            Some(next) => rest = next,
            None => {
                all.push(before.clone());
                rest = behind.find([',', '}', ';', ')']).map_or("", |at| &behind[at..]);
                break;
            }
        }
    }
    before.truncate(length);
    rest
}

/// The file that a path leads to from `own`: the longest part of it that is one.
fn resolved(own: &Module, path: &[String], files: &BTreeMap<Module, &Source>) -> Option<Module> {
    let mut full = own.clone();
    let mut names = path;
    while let Some((first, rest)) = names.split_first() {
        match first.as_str() {
            "crate" => full.clear(),
            "super" => drop(full.pop()),
            "self" => {}
            _ => break,
        }
        names = rest;
    }
    full.extend(names.iter().cloned());
    while !full.is_empty() && !files.contains_key(&full) {
        full.pop();
    }
    (!full.is_empty()).then_some(full)
}
