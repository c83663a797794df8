//! How much the engine does.

use crate::model::packet::Kind;

/// How much the engine did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Frames of data, and requests for some, put on a cable.
    pub data_hops: u64,
    /// Answers and congestion notifications put on a cable.
    pub ack_hops: u64,
    /// PFC frames put on a cable.
    pub pfc_hops: u64,
    /// Events handled.
    pub events: u64,
}

impl Work {
    /// Frames of any kind put on a cable.
    pub const fn hops(&self) -> u64 {
        self.data_hops + self.ack_hops + self.pfc_hops
    }
}

impl Work {
    #[inline]
    pub(super) fn count(&mut self, kind: Kind) {
        match kind {
            Kind::Data | Kind::ReadRequest => self.data_hops += 1,
            Kind::Ack | Kind::Nak | Kind::Cnp => self.ack_hops += 1,
            Kind::Pfc => self.pfc_hops += 1,
        }
    }
}
