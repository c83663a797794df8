//! Words that more than one command prints.

/// `1 case`, `2 cases`
pub(crate) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
