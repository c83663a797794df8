//! Where frames are that have neither arrived nor been dropped: what tests of conservation balance.

use super::Network;
use crate::model::link::Link;

impl<Q> Network<Q> {
    /// Frames under way on cables, and frames lost because a cable was cut.
    pub fn on_cables(&self) -> (u64, u64) {
        let links = || self.wires.cables.iter().flatten();
        let under_way: usize = links().map(Link::under_way).sum();
        (u64::try_from(under_way).unwrap_or(u64::MAX), links().map(Link::lost).sum())
    }
}
