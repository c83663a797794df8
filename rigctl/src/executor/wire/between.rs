//! How long frames stood between the rig and a device that tells when they passed its ports: on a machine that carries both, what one end
//! has handed over reaches the other when somebody has a processor for it. Nothing of the device's is held against that.

use rig_dut::control::{self, FrameTally, PortTally};
use rig_units::{Dur, Time};

/// Instants that are kept of each lane and direction.
const ROOM: usize = 8_192;

/// What passed the rig's ports.
#[derive(Debug)]
pub(super) struct Between(Vec<Lane>);

#[derive(Debug, Clone)]
struct Lane {
    sent: FrameTally,
    came: FrameTally,
}

/// The longest that a frame stood on its way, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Stood(Option<(Dur, usize, bool)>);

impl Between {
    /// Nothing by so many lanes.
    pub(super) fn of(lanes: usize) -> Between {
        let none = FrameTally::holding(ROOM);
        Between(vec![Lane { sent: none.clone(), came: none }; lanes])
    }

    /// A frame was handed over by a lane by then.
    pub(super) fn sent(&mut self, lane: u16, gone: Time) {
        self.0.get_mut(usize::from(lane)).into_iter().for_each(|lane| lane.sent.note(gone, 1));
    }

    /// A frame arrived at a lane.
    pub(super) fn came(&mut self, lane: u16, at: Time) {
        self.0.get_mut(usize::from(lane)).into_iter().for_each(|lane| lane.came.note(at, 1));
    }

    /// How long frames stood, by what has `passed` the port behind each lane.
    pub(super) fn stood(&self, passed: &[PortTally]) -> Stood {
        let ends = self.0.iter().zip(passed).enumerate();
        let both = ends.flat_map(|(lane, (own, its))| {
            let there = control::stood(&own.sent.passes(), &its.came);
            let back = control::stood(&its.left, &own.came.passes());
            [(there, lane, true), (back, lane, false)]
        });
        Stood(both.max_by_key(|&(dur, ..)| dur))
    }
}

impl Stood {
    /// So long.
    pub(super) fn longest(self) -> Dur {
        self.0.map(|(dur, ..)| dur).unwrap_or_default()
    }

    /// That it was longer than `bound`.
    pub(super) fn doubt(self, bound: Dur) -> Option<String> {
        let (dur, lane, there) = self.0.filter(|&(dur, ..)| dur > bound)?;
        let (port, way) = (lane + 1, if there { "to" } else { "from" });
        Some(format!(
            "a frame stood in this machine for {dur} at the least (bound {bound}), on its way {way} the served device, at port {port}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ms: u64) -> Time {
        Time(Dur::ms(ms).0)
    }

    #[test]
    fn frames_that_stood_are_told_with_their_port_and_their_way() {
        let mut between = Between::of(2);
        (0..100).for_each(|ms| between.sent(1, at(ms)));
        (0..100).for_each(|ms| between.came(0, at(ms.max(50))));
        let on_time: Vec<(Time, u64)> = (0..100).map(|ms| (at(ms), ms + 1)).collect();
        let passed = |came: &[(Time, u64)], left: &[(Time, u64)]| {
            let quiet = PortTally { left: left.to_vec(), ..PortTally::default() };
            [quiet, PortTally { came: came.to_vec(), ..PortTally::default() }]
        };
        let stood = between.stood(&passed(&on_time, &[]));
        assert!(stood.longest() <= Dur::ms(1) && stood.doubt(Dur::ms(2)).is_none(), "{stood:?}");
        let back = between.stood(&passed(&on_time, &on_time)).doubt(Dur::ms(16)).expect("50 ms");
        assert!(back.ends_with("on its way from the served device, at port 1"), "{back}");
        let late: Vec<(Time, u64)> =
            on_time.iter().map(|&(at, count)| (at + Dur::ms(177), count)).collect();
        let there = between.stood(&passed(&late, &on_time)).doubt(Dur::ms(16)).expect("177 ms");
        assert!(there.starts_with("a frame stood in this machine for 17"), "{there}");
        assert!(there.ends_with("on its way to the served device, at port 2"), "{there}");
    }
}
