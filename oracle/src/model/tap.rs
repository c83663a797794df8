//! Where a recorder listens: at the hosts, which are the rig's ports.

use super::packet::Packet;
use rig_units::Time;

/// Which way a frame passed a host's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dir {
    /// The host sent it.
    Tx,
    /// The host received it.
    Rx,
}

/// Hears of every frame that passes a host's port.
pub trait Tap {
    /// `at` is the instant at which the last bit of the frame passes the port of `host`.
    ///
    /// A frame that is sent is reported when it starts, with the later instant of its last bit. So the reports of one
    /// host and direction are in order of time; those of all together are not, and a sent frame may lie beyond the end
    /// of the run by the time it takes to leave.
    fn frame(&mut self, at: Time, host: u16, dir: Dir, packet: &Packet);

    /// Whether it wants to hear no more: the run ends early then, and what it leaves is of no use.
    #[inline]
    fn is_over(&self) -> bool {
        false
    }
}

/// Listens to nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTap;

impl Tap for NoTap {
    #[inline]
    fn frame(&mut self, _: Time, _: u16, _: Dir, _: &Packet) {}
}

/// Any closure of the same arguments listens.
impl<F: FnMut(Time, u16, Dir, &Packet)> Tap for F {
    #[inline]
    fn frame(&mut self, at: Time, host: u16, dir: Dir, packet: &Packet) {
        self(at, host, dir, packet);
    }
}
