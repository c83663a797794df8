//! A public item whose only caller is a test is a part of that test: nothing that the program does shows whether it is right.
//! By name: one that stands in product code nowhere but where it is defined; of what belongs to a type, one that stands nowhere behind
//! a dot or behind the name of the type.

use super::breach::Breach;
use super::calls::implemented;
use super::tree::{Source, product, public, words};
use std::collections::{BTreeMap, BTreeSet};

/// Folders and files where it may be so.
const MAY: [&str; 6] = [
    // A device that is served in the process of a test.
    "dut-adapters/src/emulated_wire.rs",
    // What tests of several rooms share, and programs that feed them any bytes.
    "frames/src/macsec/suite.rs",
    "generator/src/netlab/",
    "generator/src/clock.rs",
    // What tests of the engine balance, and what its own page shows it on.
    "oracle/src/model/network/books.rs",
    "oracle/src/model/topology.rs",
];
/// What makes an item.
const ITEMS: [&str; 7] = ["fn", "struct", "enum", "trait", "type", "const", "static"];

/// The feature that brings what tests of several rooms begin with.
const FIXTURE: &str = "\"fixture\"";

/// Everything but the dependencies of tests that asks for what is there for tests alone.
fn fixtures(source: &Source) -> Vec<Breach> {
    let mut of_tests = false;
    let lines = (1..).zip(source.text.lines()).filter(|(_, line)| {
        of_tests = if line.starts_with('[') { *line == "[dev-dependencies]" } else { of_tests };
        line.contains(FIXTURE) && !of_tests
    });
    let why = "`fixture` is for tests alone: ask for it below [dev-dependencies]";
    lines.map(|(line, _)| Breach { file: source.path.clone(), line, why: why.to_owned() }).collect()
}

/// Every public item that only tests name, and whatever else of the product uses what tests begin with.
pub(crate) fn check(sources: &[Source]) -> Vec<Breach> {
    let manifests = sources.iter().filter(|source| source.path.ends_with("Cargo.toml"));
    let mut all: Vec<Breach> = manifests.flat_map(fixtures).collect();
    let product = product(sources);
    let mut named: BTreeMap<&str, u32> = BTreeMap::new();
    let mut asked = BTreeSet::new();
    for source in &product {
        let mut own = None;
        for (_, line) in source.product() {
            own = within(own, line);
            for (at, word) in words(line) {
                *named.entry(word).or_default() += 1;
                asked.extend(asked_of(&line[..at], own.as_deref()).map(|of| (of.to_owned(), word)));
            }
        }
    }
    let is_called = |owner: &Option<String>, name| match owner {
        Some(owner) => [ANY, owner].iter().any(|&of| asked.contains(&(of.to_owned(), name))),
        None => named.get(name) != Some(&1),
    };
    let excepted = |path: &str| MAY.iter().any(|at| path.starts_with(at));
    let held = product.iter().filter(|source| !excepted(&source.path));
    all.extend(held.flat_map(|source| {
        let alone = items(source).into_iter().filter(|(_, owner, name)| !is_called(owner, name));
        alone.map(|(line, _, name)| Breach {
            file: source.path.clone(),
            line,
            why: format!("`{name}` has no caller but tests: make it theirs, or remove it"),
        })
    }));
    all
}

/// The type of whatever stands behind a dot: which one it is, only the compiler knows.
const ANY: &str = "";

/// The type whose `impl` goes on behind this line, if `own` is that before it.
fn within(own: Option<String>, line: &str) -> Option<String> {
    if line.starts_with("impl") {
        implemented(line).filter(|_| !line.ends_with('}'))
    } else {
        own.filter(|_| !line.starts_with('}'))
    }
}

/// Of whom the word that stands behind `before` is asked: of a type or module, of [`ANY`], or of nobody. `own`: who is `Self`.
fn asked_of<'a>(before: &'a str, own: Option<&'a str>) -> Option<&'a str> {
    if before.ends_with('.') {
        return Some(ANY);
    }
    let mut path = before.strip_suffix("::")?;
    // `Type::<Of>::name` and `Type<Of>::name`.
    if let Some(types) = path.strip_suffix('>') {
        path = types.rsplit_once('<')?.0;
        path = path.strip_suffix("::").unwrap_or(path);
    }
    let (_, owner) = words(path).last()?;
    if owner == "Self" { own } else { Some(owner) }
}

/// The public items of a file that are no tests': where, of which type where it has one that a macro does not make up, and its name.
fn items(source: &Source) -> Vec<(usize, Option<String>, &str)> {
    let mut own = None;
    let mut all = Vec::new();
    for (number, line) in source.product() {
        own = within(own, line);
        if let Some(name) = public(line, &ITEMS) {
            all.push((number, own.clone().filter(|of| !of.starts_with('$')), name));
        }
    }
    all
}
