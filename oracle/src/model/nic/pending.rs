//! What takes effect later, the first to do so first.

use rig_units::Time;
use std::collections::VecDeque;

/// A CNP under way to what it slows down: when it takes effect, its number, for which connection, from whom.
pub(super) type Due = (Time, u64, u16, u16);

/// CNPs in the order in which they take effect. Nearly all come in that order, so that a tree would cost more than it saves.
#[derive(Debug, Clone, Default)]
pub(super) struct Pending(VecDeque<Due>);

impl Pending {
    /// Lets one wait.
    pub(super) fn insert(&mut self, one: Due) {
        let later = self.0.iter().rev().take_while(|&&other| other > one).count();
        self.0.insert(self.0.len() - later, one);
    }

    /// The first one.
    #[inline]
    pub(super) fn first(&self) -> Option<&Due> {
        self.0.front()
    }

    /// Takes the first one.
    pub(super) fn pop_first(&mut self) -> Option<Due> {
        self.0.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_takes_effect_first_is_first_and_of_equals_the_one_that_came_first() {
        let mut all = Pending::default();
        for one in [(5, 1), (3, 2), (5, 3), (4, 4), (9, 5), (1, 6)] {
            all.insert((Time(one.0), one.1, 0, 0));
        }
        assert_eq!(all.first().map(|one| one.1), Some(6));
        let order: Vec<u64> = core::iter::from_fn(|| Some(all.pop_first()?.1)).collect();
        assert_eq!(order, [6, 2, 4, 1, 3, 5]);
    }
}
