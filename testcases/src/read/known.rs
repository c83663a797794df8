//! Names that a file uses, against those that it has.

use rig_lab::fault::one_of;
use rig_lab::walk::At;

/// Whether `word` is among `names`; otherwise a fault that lists them.
pub(super) fn known<'a>(
    at: &At<'_>,
    what: &str,
    word: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> bool {
    let known = names.clone().any(|name| name == word);
    if !known {
        let want = match names.clone().next() {
            Some(_) => one_of(word, names),
            None => format!("a {what}, and there is none"),
        };
        at.fault(format!("there is no {what} `{word}`"), want);
    }
    known
}
