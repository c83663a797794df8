//! A public doc says something: shape, unit, errors or source, and not the name once more.

use super::breach::Breach;
use super::tree::{Source, words};

/// A doc of so many words may be one that says nothing.
const FEW: usize = 2;
/// Words that say nothing by themselves.
const EMPTY: &str = "a an the it its their them they this that these those one ones each every any both all so as of in by for to from \
what which who whom whose where when why how many much until now is are";
/// What may stand between `pub` and a name.
const KINDS: &str = "const async unsafe extern C fn struct enum trait type static mod";

/// Public docs that say nothing.
pub(crate) fn check(source: &Source) -> Vec<Breach> {
    if !source.path.contains("/src/") {
        return Vec::new();
    }
    let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
    let mut all = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let goes_on = |at: Option<usize>| {
            at.and_then(|at| lines.get(at)).is_some_and(|line| line.starts_with("///"))
        };
        let Some(doc) = line.strip_prefix("///") else { continue };
        if doc.contains('`') || goes_on(at.checked_sub(1)) || goes_on(Some(at + 1)) {
            continue;
        }
        let item = lines[at + 1..].iter().find(|line| !line.starts_with('#'));
        if let Some(name) = item.and_then(|item| public(item)).filter(|name| is_empty(doc, name)) {
            let why = format!(
                "`{}` says nothing of `{name}`: say its shape, unit, errors or source",
                doc.trim()
            );
            all.push(Breach { file: source.path.clone(), line: at + 1, why });
        }
    }
    all
}

/// The name of a public item.
fn public(item: &str) -> Option<&str> {
    let item = item.strip_prefix("pub")?;
    let item = if item.starts_with('(') { item.split_once(')')?.1 } else { item };
    let is_kind = |word: &str| KINDS.split(' ').any(|kind| kind == word);
    words(item).map(|(_, word)| word).find(|word| !is_kind(word))
}

/// Whether a doc has few words, and all of them are empty or in the name.
fn is_empty(doc: &str, name: &str) -> bool {
    let plain = |word: &str| word.to_lowercase().trim_end_matches('s').to_owned();
    let mut parts = name.to_owned();
    for at in (1..name.len()).rev().filter(|&at| name.as_bytes()[at].is_ascii_uppercase()) {
        parts.insert(at, '_');
    }
    let parts: Vec<String> = parts.split('_').map(plain).collect();
    let says_nothing = |word: &str| {
        EMPTY.split_whitespace().any(|empty| empty == word.to_lowercase())
            || parts.contains(&plain(word))
    };
    let said: Vec<&str> = words(doc).map(|(_, word)| word).collect();
    said.len() <= FEW && said.into_iter().all(says_nothing)
}
