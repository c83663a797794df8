//! From the name of a connection to a place in a list, in two steps: a page for each high byte that is in use.

/// No place.
pub(super) const NOBODY: u16 = u16::MAX;
const PAGE: usize = 256;

/// Places by name.
#[derive(Debug, Clone, Default)]
pub(super) struct Table(Vec<Option<Box<[u16; PAGE]>>>);

impl Table {
    /// The place of `name`, or [`NOBODY`].
    #[inline]
    pub(super) fn get(&self, name: u16) -> u16 {
        let [page, at] = name.to_be_bytes();
        match self.0.get(usize::from(page)) {
            Some(Some(page)) => page[usize::from(at)],
            _ => NOBODY,
        }
    }

    /// Gives `name` a place.
    pub(super) fn insert(&mut self, name: u16, place: u16) {
        let [page, at] = name.to_be_bytes();
        let pages = self.0.len().max(usize::from(page) + 1);
        self.0.resize(pages, None);
        let page = self.0[usize::from(page)].get_or_insert_with(|| Box::new([NOBODY; PAGE]));
        page[usize::from(at)] = place;
    }

    /// Takes the place of `name` away.
    pub(super) fn remove(&mut self, name: u16) {
        if self.get(name) != NOBODY {
            self.insert(name, NOBODY);
        }
    }
}
