//! House rules over the whole repository, each with its replacement in the message. A rule no tool checks decays.

mod arrows;
mod breach;
mod called;
mod calls;
mod circles;
mod docs;
mod glossary;
mod measures;
mod page;
mod rules;
mod tree;
mod wall;

use breach::Breach;
use std::path::Path;
use tree::Source;

/// Every breach in the repository at `root`.
pub(crate) fn check(root: &Path) -> Result<Vec<Breach>, String> {
    let sources = tree::read(root)?;
    Ok(breaches(&sources))
}

fn breaches(sources: &[Source]) -> Vec<Breach> {
    let mut all = circles::check(sources);
    all.extend(called::check(sources));
    all.extend(glossary::check(sources));
    all.extend(wall::check(sources));
    all.extend(page::check(sources));
    all.extend(rules::vendors(sources));
    all.extend(measures::check(sources));
    for source in sources {
        all.extend(arrows::check(source));
        all.extend(docs::check(source));
        all.extend(rules::check(source));
    }
    all
}

/// Prints every breach; whether there was none.
pub(crate) fn report(root: &Path) -> bool {
    match check(root) {
        Ok(all) if all.is_empty() => {
            println!("tidy");
            true
        }
        Ok(all) => {
            all.iter().for_each(|breach| eprintln!("{breach}"));
            false
        }
        Err(error) => {
            eprintln!("{error}");
            false
        }
    }
}

#[cfg(test)]
mod tests;
