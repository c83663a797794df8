//! Whether a storm can be held without a gap on its port, and what of it leaves when.

use core::fmt;
use rig_testcases::StormSpec;
use rig_units::{Bytes, Dur, PortSpeed};

/// A storm on its port: the first frame leaves when it starts, the next ones `every` after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacedStorm {
    /// Index in the script.
    pub index: u16,
    /// Time between two frames.
    pub every: Dur,
}

/// Why a storm has gaps whatever the sender does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unholdable {
    /// The pause runs out before the next frame can have passed, an own frame in flight ahead of it included.
    RunsOut {
        /// The pause time of one frame on this port.
        pause: Dur,
        /// The longest time from the end of one PFC frame to the end of the next.
        between: Dur,
    },
    /// The port cannot carry PFC frames that close together.
    TooClose {
        /// Time between two frames asked for.
        every: Dur,
        /// Time that one takes on the wire.
        slot: Dur,
    },
}

impl fmt::Display for Unholdable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unholdable::RunsOut { pause, between } => {
                write!(f, "the pause lasts {pause}, but the next frame may take {between} to pass")
            }
            Unholdable::TooClose { every, slot } => {
                write!(f, "a frame every {every} is more than the port carries: one takes {slot}")
            }
        }
    }
}

impl PacedStorm {
    /// The storm `spec`, with its index in the script.
    pub const fn of(index: u16, spec: &StormSpec) -> PacedStorm {
        PacedStorm { index, every: spec.every }
    }

    /// Why this storm cannot be held on a port of `speed` on which the rig itself sends frames of up to `longest`;
    /// `None` when it can.
    pub fn unholdable(
        &self,
        spec: &StormSpec,
        speed: PortSpeed,
        longest: Option<Bytes>,
    ) -> Option<Unholdable> {
        let slot = speed.slot(spec.on_wire());
        if self.every < slot {
            return Some(Unholdable::TooClose { every: self.every, slot });
        }
        let pause = speed.pause(spec.quanta);
        let ahead = longest.map_or(Dur::ZERO, |frame| speed.slot(frame));
        let between = self.every + ahead;
        (between > pause).then_some(Unholdable::RunsOut { pause, between })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::{MIN_FRAME, Quanta};

    fn why(quanta: u16, every: Dur, longest: Option<Bytes>) -> Option<Unholdable> {
        let spec =
            StormSpec { name: "s".into(), quanta: Quanta(quanta), every, ..StormSpec::steady(0) };
        PacedStorm::of(0, &spec).unholdable(&spec, PortSpeed::G100, longest)
    }

    #[test]
    fn a_refresh_at_exactly_the_pause_time_holds_and_one_picosecond_more_lapses() {
        let pause = PortSpeed::G100.pause(Quanta(100));
        assert_eq!(why(100, pause, None), None);
        let between = pause + Dur(1);
        assert_eq!(why(100, between, None), Some(Unholdable::RunsOut { pause, between }));
    }

    #[test]
    fn an_own_frame_in_flight_counts() {
        let pause = PortSpeed::G100.pause(Quanta(100));
        assert!(why(100, pause, Some(Bytes(1024))).is_some());
        let room = PortSpeed::G100.slot(Bytes(1024));
        assert_eq!(why(100, pause - room, Some(Bytes(1024))), None);
    }

    #[test]
    fn frames_closer_than_they_are_long_are_refused() {
        let slot = PortSpeed::G100.slot(MIN_FRAME);
        assert!(matches!(why(1, slot - Dur(1), None), Some(Unholdable::TooClose { .. })));
    }
}
