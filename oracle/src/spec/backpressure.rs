//! PFC over several devices in a row (IEEE 802.1Q clause 36): when the pause of a receiver is back at who sends.
//!
//! A receiver is paused, and frames of one stream come one by one. The last device holds them until a frame crosses its limit
//! (F5); it pauses the one before it, which holds what comes from then on until its own limit is crossed, and so on to the sender.
//! What a device has passed on before its neighbour's pause takes effect is held there, in the headroom: it fills nothing here.

use rig_capture::Span;
use rig_units::Dur;

/// Where the form comes from, for reports.
pub const SOURCE: &str = "IEEE 802.1Q clause 36: PFC is for one link; F5 of each device";

/// The frame of a stream whose crossing makes the first device pause the sender, counted from 1. `crossings` is the frame that makes
/// each device pause who is before it, were it alone; `answers` are, of each link between two devices, the longest from the
/// crossing frame's first bit on the link until the pause that follows has stopped the device before it. Frames of the stream are
/// at least `every` apart.
pub fn crossing(crossings: &[u64], answers: &[Dur], every: Dur) -> Span {
    let held = crossings.iter().fold(0, |all: u64, one| all.saturating_add(*one));
    let every = every.max(Dur(1));
    let passed = answers.iter().fold(0, |all: u64, one| all.saturating_add(*one / every));
    Span { lo: held, hi: held.saturating_add(passed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_device_pauses_at_its_own_crossing() {
        assert_eq!(crossing(&[194], &[], Dur::us(1)), Span::exactly(194));
    }

    #[test]
    fn each_device_holds_as_much_as_it_would_alone() {
        let slow = Dur::us(10);
        assert_eq!(crossing(&[108, 435], &[slow - Dur(1)], slow), Span::exactly(543));
    }

    #[test]
    fn a_frame_may_pass_for_each_interval_that_an_answer_lasts() {
        let answers = [Dur::us(10), Dur::us(3)];
        assert_eq!(crossing(&[1, 2, 4], &answers, Dur::us(10)), Span { lo: 7, hi: 8 });
        assert_eq!(crossing(&[1, 2, 4], &answers, Dur::us(1)), Span { lo: 7, hi: 20 });
    }

    #[test]
    fn frames_without_an_interval_are_no_division_by_nothing() {
        assert_eq!(crossing(&[1], &[Dur::ZERO], Dur::ZERO), Span::exactly(1));
    }
}
