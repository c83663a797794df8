//! Where a port of a switch is plugged in.

use crate::model::queue::Source;

/// Where the cable of a switch's port starts, and the ids of its event sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Wiring {
    /// The link that leads away, whose number is also the source of arrivals over it. The one that leads here is
    /// `link ^ 1`.
    pub(in crate::model::network) link: u16,
    /// The host at the far end of a port's cable, or [`NO_HOST`](crate::model::host::NO_HOST).
    pub(in crate::model::network) host: u16,
    pub(in crate::model::network) gate: Source,
    pub(in crate::model::network) refresh: Source,
    pub(in crate::model::network) send: Source,
}
