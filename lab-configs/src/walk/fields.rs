//! The entries of a mapping by key.

use super::At;

/// The entries of one mapping, or of one laid over another.
#[derive(Debug, Clone)]
pub struct Fields<'w> {
    /// The mapping.
    pub at: At<'w>,
    entries: Vec<(String, At<'w>)>,
    below: Option<Box<Fields<'w>>>,
}

impl<'w> Fields<'w> {
    pub(super) fn new(at: At<'w>, entries: Vec<(String, At<'w>)>) -> Fields<'w> {
        Fields { at, entries, below: None }
    }

    /// These entries, and those of `below` that are not among them.
    pub fn over(mut self, below: Option<Fields<'w>>) -> Fields<'w> {
        self.below = below.map(Box::new);
        self
    }

    /// The value of a key, if it is there.
    pub fn get(&self, name: &str) -> Option<At<'w>> {
        let own = self.entries.iter().find(|(key, _)| key == name);
        own.map(|(_, at)| at.clone()).or_else(|| self.below.as_ref()?.get(name))
    }

    /// The value of a key that must be there; `want` says what belongs to it.
    pub fn need(&self, name: &str, want: &str) -> Option<At<'w>> {
        let at = self.get(name);
        if at.is_none() {
            self.at.at_key(format!("`{name}` is missing"), format!("`{name}:` {want}"));
        }
        at
    }

    /// What `read` makes of the value of a key, or `usual` where there is no such key.
    pub fn or<T>(&self, name: &str, usual: T, read: impl FnOnce(At<'w>) -> Option<T>) -> Option<T> {
        self.get(name).map_or(Some(usual), read)
    }

    /// What `read` makes of the value of a key that need not be there.
    pub fn maybe<T>(
        &self,
        name: &str,
        read: impl FnOnce(At<'w>) -> Option<T>,
    ) -> Option<Option<T>> {
        self.or(name, None, |at| read(at).map(Some))
    }

    /// Of two keys that exclude each other the one that is there: the upper mapping decides.
    pub fn either(&self, a: &str, b: &str) -> Option<(bool, At<'w>)> {
        let own = |name: &str| self.entries.iter().find(|(key, _)| key == name);
        match (own(a), own(b)) {
            (Some(_), Some((_, second))) => {
                second.at_key(
                    format!("`{a}` and `{b}` exclude each other"),
                    format!("`{a}` or `{b}`"),
                );
                None
            }
            (Some((_, at)), None) => Some((true, at.clone())),
            (None, Some((_, at))) => Some((false, at.clone())),
            (None, None) => self.below.as_ref()?.either(a, b),
        }
    }
}
