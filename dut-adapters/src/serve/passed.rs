//! What has passed the ports of a served device since somebody last asked.

use crate::control::FrameTally;
use crate::protocol::PortPassed;
use core::mem;
use rig_units::Time;

/// Instants that are kept of all ports together: what is told of them is one line of a conversation.
const ROOM: usize = 16_384;

/// One port's: what came, what left, and how many it was given that have not left.
#[derive(Debug, Clone)]
struct Port {
    came: FrameTally,
    left: FrameTally,
    given: u64,
}

/// That of all ports.
#[derive(Debug)]
pub(super) struct Passed(Vec<Port>);

impl Passed {
    /// Nothing by so many ports.
    pub(super) fn by(ports: usize) -> Passed {
        let room = ROOM / 2 / ports.max(1);
        let none = FrameTally::holding(room);
        Passed(vec![Port { came: none.clone(), left: none, given: 0 }; ports])
    }

    /// A frame reached a port.
    pub(super) fn came(&mut self, port: u16, at: Time) {
        self.0[usize::from(port)].came.note(at, 1);
    }

    /// A port is given a frame to send.
    pub(super) fn leaves(&mut self, port: usize) {
        self.0[port].given += 1;
    }

    /// By now a port has sent what it was given.
    pub(super) fn left(&mut self, port: usize, now: Time) {
        let port = &mut self.0[port];
        port.left.note(now, mem::take(&mut port.given));
    }

    /// What has passed since the last call, `mono` being the ports' clock.
    pub(super) fn told(&mut self, mono: impl Fn(Time) -> u64) -> Vec<PortPassed> {
        let given: Vec<u64> = self.0.iter().map(|port| port.given).collect();
        let next = Passed::by(self.0.len());
        let before = mem::replace(self, next);
        self.0.iter_mut().zip(given).for_each(|(port, given)| port.given = given);
        let told = |passing: &FrameTally| {
            passing.passes().into_iter().map(|(at, count)| (mono(at), count)).collect()
        };
        let port =
            |port: &Port| PortPassed { came_ns: told(&port.came), left_ns: told(&port.left) };
        before.0.iter().map(port).collect()
    }
}
