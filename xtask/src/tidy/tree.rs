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
