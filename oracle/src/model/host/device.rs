//! What the engine asks of whatever is behind a plug.

use super::Plug;
use crate::model::link::Link;
use crate::model::packet::{Packet, PacketKind};
use rig_units::Time;

/// What the engine asks of a node, of each of its ports with the plug that the port is.
///
/// The engine never looks at a node later than its far end could notice: behind a switch that is when one of its frames may
/// [arrive](Self::foresee) there, on a cable between hosts, and for a node of several ports, each step.
pub(crate) trait Device {
    /// Takes in a frame whose last bit arrives at `now`; the answer, if there is one and it leaves at once. `bypass` lets
    /// it skip a queue, which must not change anything.
    fn arrive(
        &mut self,
        port: usize,
        plug: &mut Plug,
        now: Time,
        packet: &Packet,
        bypass: bool,
    ) -> Option<Packet>;

    /// When the port does something by itself next; [`Time::MAX`] if nothing is to come.
    fn next(&self, port: usize, plug: &Plug) -> Time;

    /// Does what is due at `now`; the frame that starts, if one does. It is to be [started](Self::started).
    fn wake(&mut self, port: usize, plug: &mut Plug, now: Time) -> Option<&Packet>;

    /// Notes that the frame has been started and another may start at `free`.
    fn started(&mut self, port: usize, plug: &mut Plug, free: Time);

    /// Notes that an answer has been started and another frame may start at `free`.
    fn answered(&mut self, _port: usize, plug: &mut Plug, free: Time) {
        plug.busy = free;
    }

    /// Goes on with the classes in `opened`, which may send again from `now` on.
    fn resume(&mut self, port: usize, plug: &mut Plug, now: Time, opened: u8);

    /// The cable was cut or mended, and the plug knows. What was due while it was cut starts again now.
    fn set_up(&mut self, port: usize, plug: &mut Plug, now: Time);

    /// Everything before `until` is done.
    fn seen(&mut self, _until: Time) {}

    /// When a frame of it may arrive at its switch at the earliest, as far as is known, with nothing under way to there.
    fn foresee(&self, _plug: &Plug, _up: &Link, _down: &Link) -> Time {
        Time::MAX
    }

    /// When one may arrive there at the earliest because of one that arrives at the host, if it may.
    fn consequence(
        &self,
        _plug: &Plug,
        _up: &Link,
        _kind: PacketKind,
        _arrives: Time,
    ) -> Option<Time> {
        None
    }
}
