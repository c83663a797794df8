//! How much the engine did, and where frames are that have neither arrived nor been dropped.

use super::Network;
use crate::model::link::Link;
use crate::model::packet::PacketKind;

/// How much the engine did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Frames of any kind put on a cable.
    pub hops: u64,
    /// Those of them that are data, or requests for some.
    pub data_hops: u64,
    /// Those that answer it: acknowledgements, NAKs and RNR NAKs.
    pub answer_hops: u64,
    /// Congestion notifications. What is left is PFC.
    pub cnp_hops: u64,
    /// Events handled.
    pub events: u64,
}

impl<Q> Network<Q> {
    /// How much the engine did so far.
    pub fn work(&self) -> Work {
        let put =
            |kind: PacketKind| self.links().map(|link| link.put()[kind as usize]).sum::<u64>();
        Work {
            hops: self.links().flat_map(Link::put).sum(),
            data_hops: put(PacketKind::Data) + put(PacketKind::ReadRequest),
            answer_hops: put(PacketKind::Ack) + put(PacketKind::Nak) + put(PacketKind::NotReady),
            cnp_hops: put(PacketKind::Cnp),
            events: self.wires.events,
        }
    }

    /// Frames under way on cables, and frames lost because a cable was cut.
    pub fn on_cables(&self) -> (u64, u64) {
        let under_way: usize = self.links().map(Link::under_way).sum();
        (u64::try_from(under_way).unwrap_or(u64::MAX), self.links().map(Link::lost).sum())
    }

    fn links(&self) -> impl Iterator<Item = &Link> {
        self.wires.cables.iter().flatten()
    }
}
