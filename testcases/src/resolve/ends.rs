//! Between which addresses the frames of a stream go. Those of a CNP are of the flow that it is to slow down: it comes from where that goes to.

use crate::case::{Case, Stream};
use crate::wire;
use rig_lab::IpVersion;
use rig_units::Bytes;

/// The ends of a stream.
pub(super) struct Ends {
    /// Of which version of IP its addresses are.
    pub(super) over: IpVersion,
    /// Which of the addresses of its port it comes from; 0 is the usual one.
    pub(super) address: u8,
    /// To which of the addresses of a NIC it goes, of its GIDs; 0 is the usual one.
    pub(super) gid: u8,
    /// What its frames are longer than the case says: a CNP over IPv6.
    pub(super) more: Bytes,
}

impl Ends {
    /// Those of a stream of a case.
    pub(super) fn of(case: &Case, stream: &Stream) -> Ends {
        match stream.of.as_ref().and_then(|of| case.flows.get(of)) {
            Some(flow) => {
                let more = wire::longer(flow.over);
                Ends { over: flow.over, address: flow.address, gid: flow.gid, more }
            }
            None => {
                Ends { over: stream.over, address: stream.address, gid: stream.gid, more: Bytes(0) }
            }
        }
    }
}
