//! The files that the rules look at.

use std::fs;
use std::path::Path;

/// A text file of the repository.
pub(crate) struct Source {
    /// Path from the top, with forward slashes.
    pub(crate) path: String,
    /// What is in it.
    pub(crate) text: String,
}

impl Source {
    /// Lines that are code, with their numbers from 1: comments are left out.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = (1..).zip(self.text.lines());
        lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// Lines that are code of the product: every item is left out that is there for tests alone.
    pub(crate) fn product(&self) -> Vec<(usize, &str)> {
        let mut kept = Vec::new();
        let mut lines = self.code();
        while let Some((number, line)) = lines.next() {
            if is_of_tests(line) {
                let deep = line.len() - line.trim_start().len();
                let mut item = lines.by_ref().map(|(_, line)| line);
                let first = item.find(|line| !line.trim_start().starts_with('#'));
                if first.is_some_and(|line| !line.ends_with([';', '}', ','])) {
                    item.find(|line| closes(line, deep));
                }
            } else {
                kept.push((number, line));
            }
        }
        kept
    }

    /// The modules that it declares for tests alone: their paths, without `.rs`.
    pub(crate) fn test_modules(&self) -> Vec<String> {
        let own = self.path.trim_end_matches(".rs");
        let folder = ["/mod", "/lib", "/main"].iter().find_map(|top| own.strip_suffix(top));
        let lines: Vec<&str> = self.text.lines().collect();
        let pairs = lines.windows(2).filter(|pair| is_of_tests(pair[0]));
        let declared = pairs.filter_map(|pair| pair[1].strip_suffix(';')?.split_once("mod "));
        declared.map(|(_, name)| format!("{}/{name}", folder.unwrap_or(own))).collect()
    }
}

/// The Rust files of the product: those of no tests.
pub(crate) fn product(sources: &[Source]) -> Vec<&Source> {
    let rust = |source: &&Source| source.path.contains("/src/") && source.path.ends_with(".rs");
    let all: Vec<&Source> = sources.iter().filter(rust).collect();
    let tests: Vec<String> = all.iter().flat_map(|source| source.test_modules()).collect();
    let is_test = |path: &str| {
        let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
        let below = |test: &String| {
            module
                .strip_prefix(test.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        module.split('/').any(|part| part == "tests") || tests.iter().any(below)
    };
    all.into_iter().filter(|source| !is_test(&source.path)).collect()
}

/// The name of the public item of one of `kinds` that a line defines.
pub(crate) fn public<'a>(line: &'a str, kinds: &[&str]) -> Option<&'a str> {
    let line = line.trim_start().strip_prefix("pub")?;
    let line = if line.starts_with('(') { line.split_once(')')?.1 } else { line };
    let is_fn = line.contains(" fn ");
    let before = |word: &str| {
        matches!(word, "async" | "unsafe" | "extern" | "C") || is_fn && word == "const"
    };
    let mut words = words(line).map(|(_, word)| word).skip_while(|word| before(word));
    let kind = words.next()?;
    kinds.contains(&kind).then(|| words.next()).flatten()
}

/// Whether the item behind this line is for tests alone: of this room, or of those that ask for its feature `fixture`.
fn is_of_tests(line: &str) -> bool {
    ["#[cfg(test)]", "#[cfg(feature = \"fixture\")]"].contains(&line.trim())
}

/// Whether an item ends here that begins behind so many spaces.
fn closes(line: &str, deep: usize) -> bool {
    let text = line.trim_start();
    line.len() == text.len() + deep
        && text.starts_with(['}', ']', ')'])
        && text.ends_with(['}', ';'])
}

/// Every word of a text, and where it is.
pub(crate) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    core::iter::from_fn(move || {
        let from = at + text[at..].find(is_word)?;
        let rest = &text[from..];
        at = from + rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        Some((from, &text[from..at]))
    })
}

const SKIP: [&str; 4] = ["target", ".git", "rig-runs", "snapshots"];
const KINDS: [&str; 4] = ["rs", "toml", "yaml", "md"];

/// Every source file below `root`.
pub(crate) fn read(root: &Path) -> Result<Vec<Source>, String> {
    let mut all = Vec::new();
    walk(root, "", &mut all)?;
    all.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(all)
}

fn walk(dir: &Path, prefix: &str, all: &mut Vec<Source>) -> Result<(), String> {
    let unreadable = |error| format!("{}: {error}", dir.display());
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() && !SKIP.contains(&name.as_str()) {
            walk(&entry.path(), &path, all)?;
        } else if kind.is_file()
            && name.rsplit_once('.').is_some_and(|(_, end)| KINDS.contains(&end))
        {
            let text =
                fs::read_to_string(entry.path()).map_err(|error| format!("{path}: {error}"))?;
            all.push(Source { path, text });
        }
    }
    Ok(())
}
