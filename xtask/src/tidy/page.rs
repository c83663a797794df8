//! What the page of where things are names is there: who has never seen the tree goes by it alone.

use super::breach::Breach;
use super::tree::{Source, words};
use std::collections::BTreeSet;

/// The page.
const PAGE: &str = "docs/architecture.md";
/// What a file's name ends with, of those that are looked at.
const FILES: [&str; 4] = [".rs", ".yaml", ".md", ".toml"];

/// Every file, folder and name of the code that the page has between backticks and that is not there.
pub(super) fn check(sources: &[Source]) -> Vec<Breach> {
    let Some(page) = sources.iter().find(|source| source.path == PAGE) else { return Vec::new() };
    let rust = sources.iter().filter(|source| source.path.ends_with(".rs"));
    let code: BTreeSet<&str> =
        rust.flat_map(|source| words(&source.text)).map(|(_, word)| word).collect();
    let lines = (1..).zip(page.text.lines());
    let quoted = lines
        .flat_map(|(line, text)| text.split('`').skip(1).step_by(2).map(move |name| (line, name)));
    let gone = quoted.filter(|(_, name)| !is_there(name, sources, &code));
    gone.map(|(line, name)| Breach {
        file: PAGE.to_owned(),
        line,
        why: format!("`{name}` is nowhere any more: name what took its place"),
    })
    .collect()
}

/// Whether a name of the page is that of something, or no name at all.
fn is_there(name: &str, sources: &[Source], code: &BTreeSet<&str>) -> bool {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    if name.chars().all(is_path) && FILES.iter().any(|end| name.ends_with(end)) {
        return sources
            .iter()
            .any(|source| format!("/{}", source.path).ends_with(&format!("/{name}")));
    }
    if name.chars().all(is_path) && name.ends_with('/') {
        return sources
            .iter()
            .any(|source| format!("/{}", source.path).contains(&format!("/{name}")));
    }
    let is_item = |c: char| c.is_ascii_alphanumeric() || "_:".contains(c);
    let of_code = name.chars().all(is_item) && name.contains(|c: char| c.is_ascii_uppercase());
    !of_code || name.rsplit("::").next().is_some_and(|last| code.contains(last))
}
