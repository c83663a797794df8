//! A public name means one thing: where two rooms give it to types of their own, `docs/glossary.md` says what each means.

use super::breach::Breach;
use super::tree::{Source, product, public, words};
use std::collections::{BTreeMap, BTreeSet};

const GLOSSARY: &str = "docs/glossary.md";
/// What makes a type.
const TYPES: [&str; 4] = ["struct", "enum", "trait", "type"];

/// Names of two meanings that the glossary does not have, and meanings of it that no code has.
pub(crate) fn check(sources: &[Source]) -> Vec<Breach> {
    let mut defined: BTreeMap<&str, BTreeMap<&str, (&Source, usize)>> = BTreeMap::new();
    for source in product(sources) {
        let Some((room, _)) = source.path.split_once("/src/") else { continue };
        for (line, text) in source.product() {
            if let Some(name) =
                public(text, &TYPES).filter(|_| text.trim_start().starts_with("pub "))
            {
                defined.entry(name).or_default().entry(room).or_insert((source, line));
            }
        }
    }
    defined.retain(|_, rooms| rooms.len() > 1);
    let glossary = sources.iter().find(|source| source.path == GLOSSARY);
    let lines = glossary.into_iter().flat_map(|glossary| (1..).zip(glossary.text.lines()));
    let rooms: BTreeSet<&str> =
        sources.iter().filter_map(|source| Some(source.path.split_once("/src/")?.0)).collect();
    let mut all = Vec::new();
    for (line, text) in lines {
        let Some((name, meanings)) = row(text) else { continue };
        let quoted = meanings.split('`').skip(1).step_by(2).filter(|word| rooms.contains(word));
        for room in quoted {
            if defined.get_mut(name).and_then(|has| has.remove(room)).is_none() {
                let why =
                    format!("`{name}` has no second meaning in `{room}` any more: take it out");
                all.push(Breach { file: GLOSSARY.to_owned(), line, why });
            }
        }
    }
    for (name, rooms) in defined {
        all.extend(rooms.into_iter().map(|(room, (source, line))| Breach {
            file: source.path.clone(),
            line,
            why: format!(
                "`{name}` of `{room}` is the name of another thing in another room: choose a word of its own, \
or say what it means here in {GLOSSARY}"
            ),
        }));
    }
    all
}

/// A name in the table of names, and what is said of it.
fn row(line: &str) -> Option<(&str, &str)> {
    let (name, meanings) = line.strip_prefix("| `")?.split_once("` | ")?;
    (words(name).count() == 1).then_some((name, meanings))
}
