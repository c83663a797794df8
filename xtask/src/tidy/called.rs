//! A public item whose only caller is a test is a part of that test: nothing that the program does shows whether it is right.
//! By name: one that stands in product code nowhere but where it is defined.

use super::breach::Breach;
use super::tree::{Source, words};
use std::collections::{BTreeMap, BTreeSet};

/// Folders and files where it may be so: what tests of several rooms share, and SONiC's sizing of headroom (F6 and F15), which is
/// written down and which no case asks for.
const MAY: [&str; 3] =
    ["generator/src/netlab/", "generator/src/clock.rs", "oracle/src/spec/headroom"];
/// Folders that still have some from before this rule. One that has lost its own is taken out.
const NOT_YET: [&str; 2] = ["dut-adapters/", "oracle/src/model/"];
/// What makes an item.
const ITEMS: [&str; 7] = ["fn", "struct", "enum", "trait", "type", "const", "static"];

/// Every public item that only tests name.
pub(crate) fn check(sources: &[Source]) -> Vec<Breach> {
    let rust = |source: &&Source| source.path.contains("/src/") && source.path.ends_with(".rs");
    let all: Vec<&Source> = sources.iter().filter(rust).collect();
    let tests: BTreeSet<String> = all.iter().flat_map(|source| source.test_modules()).collect();
    let is_test = |path: &str| {
        let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
        let mut own = module.split('/').scan(String::new(), |path, part| {
            path.push_str(part);
            let module = path.clone();
            path.push('/');
            Some(module)
        });
        module.split('/').any(|part| part == "tests") || own.any(|module| tests.contains(&module))
    };
    let product: Vec<&&Source> = all.iter().filter(|source| !is_test(&source.path)).collect();
    let mut named: BTreeMap<&str, u32> = BTreeMap::new();
    let lines = product.iter().flat_map(|source| source.product());
    for (_, word) in lines.flat_map(|(_, line)| words(line)) {
        *named.entry(word).or_default() += 1;
    }
    let excepted = |path: &str| MAY.iter().chain(&NOT_YET).any(|at| path.starts_with(at));
    let held = product.into_iter().filter(|source| !excepted(&source.path));
    held.flat_map(|source| {
        let items =
            source.product().into_iter().filter_map(|(line, text)| Some((line, item(text)?)));
        let alone = items.filter(|(_, name)| named.get(name) == Some(&1));
        alone.map(|(line, name)| Breach {
            file: source.path.clone(),
            line,
            why: format!("`{name}` has no caller but tests: make it theirs, or remove it"),
        })
    })
    .collect()
}

/// The name of the public item that a line defines.
fn item(line: &str) -> Option<&str> {
    let line = line.trim_start().strip_prefix("pub")?;
    let line = if line.starts_with('(') { line.split_once(')')?.1 } else { line };
    let mut words = words(line).map(|(_, word)| word).skip_while(|word| {
        matches!(*word, "async" | "unsafe" | "extern" | "C")
            || *word == "const" && line.contains(" fn ")
    });
    let kind = words.next()?;
    ITEMS.contains(&kind).then(|| words.next()).flatten()
}
