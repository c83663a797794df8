//! Whom a switch tells to pause, and whom to go on.

use super::{Place, Switch};
use rig_units::Time;

impl Switch {
    /// A frame was taken in over its limit; whether there is an XOFF to send.
    #[inline]
    pub(super) fn over(&mut self, now: Time, place: Place) -> bool {
        self.buffer.tell(place);
        self.congest(now, place.from, place.class)
    }

    /// Tells one sender to go on; its port, if there is a frame to send, now or later.
    pub(super) fn resume(&mut self, now: Time, from: usize, class: u8) -> Option<usize> {
        let pfc = &mut self.ports[from].pfc;
        let xon = pfc.set_congested(now, class, false);
        let later = pfc.owes();
        (self.emit(from, xon) || later).then_some(from)
    }

    /// A frame has left a virtual output queue: every sender that was told to pause because of it may go on.
    #[inline(never)]
    pub(super) fn relieve(&mut self, now: Time, place: Place) -> Option<usize> {
        for from in self.buffer.resumed(place) {
            if let Some(port) = self.resume(now, from, place.class) {
                self.also.push(port);
            }
        }
        self.also_resumed()
    }

    /// Another port whose sender is told to go on because of what was freed last.
    pub(crate) fn also_resumed(&mut self) -> Option<usize> {
        self.also.pop()
    }
}
