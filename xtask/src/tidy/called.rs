//! A public item whose only caller is a test is a part of that test: nothing that the program does shows whether it is right.
//! By name: one that stands in product code nowhere but where it is defined.

use super::breach::Breach;
use super::tree::{Source, product, public, words};
use std::collections::BTreeMap;

/// Folders and files where it may be so: what tests of several rooms share, what tests of the engine balance, and SONiC's sizing of
/// pools (F15), which is written down and which nothing asks for.
const MAY: [&str; 4] = [
    "generator/src/netlab/",
    "generator/src/clock.rs",
    "oracle/src/model/network/books.rs",
    "oracle/src/spec/headroom/pools.rs",
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
    let lines = product.iter().flat_map(|source| source.product());
    for (_, word) in lines.flat_map(|(_, line)| words(line)) {
        *named.entry(word).or_default() += 1;
    }
    let excepted = |path: &str| MAY.iter().any(|at| path.starts_with(at));
    let held = product.into_iter().filter(|source| !excepted(&source.path));
    all.extend(held.flat_map(|source| {
        let items = source
            .product()
            .into_iter()
            .filter_map(|(line, text)| Some((line, public(text, &ITEMS)?)));
        let alone = items.filter(|(_, name)| named.get(name) == Some(&1));
        alone.map(|(line, name)| Breach {
            file: source.path.clone(),
            line,
            why: format!("`{name}` has no caller but tests: make it theirs, or remove it"),
        })
    }));
    all
}
