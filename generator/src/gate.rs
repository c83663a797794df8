//! When a rig port may send which class: the sender's side of PFC (IEEE 802.1Q clause 36), and of 802.3x where it is
//! asked for (IEEE 802.3 Annex 31B).
//!
//! Each frame restarts the timer of the classes it addresses, and a time of zero ends the pause. The timer counts from
//! the frame's last bit; the gate moves the response time later. What is under way is finished: that is the sender's
//! business, who asks here before each frame.

use core::cmp::Reverse;
use rig_frames::pfc;
use rig_units::{Dur, PortSpeed, Quanta, Time};
use std::collections::VecDeque;

/// How a rig port obeys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Obeys {
    /// Bit `c` is set when class `c` obeys PFC.
    pub classes: u8,
    /// Whether PAUSE frames of 802.3x stop every class.
    pub link_pause: bool,
    /// From the last bit of a frame to its effect.
    pub response: Dur,
}

impl Default for Obeys {
    /// Every class obeys PFC at once; PAUSE frames do nothing.
    fn default() -> Obeys {
        Obeys { classes: u8::MAX, link_pause: false, response: Dur::ZERO }
    }
}

/// The gates of one port's eight classes.
#[derive(Debug, Clone)]
pub struct Gate {
    speed: PortSpeed,
    obeys: Obeys,
    classes: [Class; 8],
    /// Frames whose effect is still to come, in the order of arrival.
    settling: VecDeque<Order>,
}

/// What one frame asks for, from one instant on.
#[derive(Debug, Clone, Copy)]
struct Order {
    from: Time,
    /// Per class: until when it is to be closed.
    until: [Option<Time>; 8],
}

#[derive(Debug, Clone, Copy, Default)]
struct Class {
    /// Closed since, when it was closed at the last order.
    since: Option<Time>,
    /// When it opens by itself, or opened.
    until: Time,
    /// How long it was closed, up to the last order.
    closed: Dur,
}

impl Class {
    /// Takes an order for this class at its time.
    fn order(&mut self, at: Time, until: Time) {
        if let Some(since) = self.since {
            let end = self.until.min(at);
            self.closed += end.since(since).unwrap_or_default();
            self.since = None;
        }
        self.until = until.max(at);
        self.since = (until > at).then_some(at);
    }
}

impl Gate {
    /// Everything open, on a port of `speed`.
    pub fn new(speed: PortSpeed, obeys: Obeys) -> Gate {
        Gate { speed, obeys, classes: Default::default(), settling: VecDeque::new() }
    }

    /// How it obeys.
    pub const fn obeys(&self) -> Obeys {
        self.obeys
    }

    /// Obeys otherwise from the next frame on. A class that no longer obeys opens at once.
    pub fn obey(&mut self, obeys: Obeys) {
        self.obeys = obeys;
        for (index, class) in self.classes.iter_mut().enumerate() {
            if obeys.classes >> index & 1 == 0 {
                *class = Class { closed: class.closed, ..Class::default() };
                self.settling.iter_mut().for_each(|order| order.until[index] = None);
            }
        }
    }

    /// Takes in a PFC frame whose last bit arrived at `at`.
    pub fn on_pfc(&mut self, at: Time, frame: &pfc::Repr) {
        let obeys = self.obeys.classes;
        let addressed = |class: usize| frame.quanta[class].filter(|_| obeys >> class & 1 == 1);
        self.push(at, core::array::from_fn(addressed));
    }

    /// Takes in a PAUSE frame of 802.3x.
    pub fn on_pause(&mut self, at: Time, quanta: Quanta) {
        if self.obeys.link_pause {
            self.push(at, [Some(quanta); 8]);
        }
    }

    fn push(&mut self, at: Time, quanta: [Option<Quanta>; 8]) {
        let from = at + self.obeys.response;
        let until = quanta.map(|quanta| quanta.map(|quanta| at + self.speed.pause(quanta)));
        // Stamps of one port never run backwards, but a clock may step: then the later frame has the last word at once.
        while self.settling.back().is_some_and(|last| last.from > from) {
            self.settling.pop_back();
        }
        self.settling.push_back(Order { from, until });
        self.settle(at);
    }

    /// Forgets every pause: the link went down at `at`.
    pub fn reset(&mut self, at: Time) {
        self.settling.clear();
        self.classes.iter_mut().for_each(|class| class.order(at, at));
    }

    /// Carries out what takes effect up to `now`.
    fn settle(&mut self, now: Time) {
        while let Some(order) = self.settling.front().copied().filter(|order| order.from <= now) {
            self.settling.pop_front();
            for (class, until) in self.classes.iter_mut().zip(order.until) {
                if let Some(until) = until {
                    class.order(order.from, until);
                }
            }
        }
    }

    /// When `class` may start a frame, `from` at the earliest, if no further frame arrives.
    pub fn opens(&self, class: u8, from: Time) -> Time {
        let slot = usize::from(class & 7);
        let mut opens = self.classes[slot].until;
        for order in &self.settling {
            if opens.max(from) < order.from {
                break;
            }
            if let Some(until) = order.until[slot] {
                opens = until.max(order.from);
            }
        }
        opens.max(from)
    }

    /// How long `class` was closed until `now`.
    pub fn closed(&mut self, class: u8, now: Time) -> Dur {
        self.settle(now);
        let class = self.classes[usize::from(class & 7)];
        let open = class.since.and_then(|since| class.until.min(now).since(since));
        class.closed + open.unwrap_or_default()
    }

    /// The classes in the order in which they were closed longest, with how long; those never closed left out.
    pub fn worst(&mut self, now: Time) -> Vec<(u8, Dur)> {
        let mut all: Vec<_> = (0..8).map(|class| (class, self.closed(class, now))).collect();
        all.retain(|&(_, closed)| closed > Dur::ZERO);
        all.sort_by_key(|&(class, closed)| (Reverse(closed), class));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SPEED: PortSpeed = PortSpeed::G100;

    fn gate(response: Dur) -> Gate {
        Gate::new(SPEED, Obeys { response, ..Obeys::default() })
    }

    fn at(dur: Dur) -> Time {
        Time::ZERO + dur
    }

    fn pfc(class: usize, quanta: u16) -> pfc::Repr {
        pfc::Repr::all(1 << class, Quanta(quanta))
    }

    #[test]
    fn a_pause_lasts_from_the_response_to_its_quanta_after_the_last_bit() {
        let mut gate = gate(Dur::ns(400));
        gate.on_pfc(at(Dur::us(1)), &pfc(3, 1_000));
        let end = at(Dur::us(1)) + SPEED.pause(Quanta(1_000));
        let early = at(Dur::us(1) + Dur::ns(399));
        assert_eq!(gate.opens(3, early), early, "a frame may still start within the response");
        assert_eq!(gate.opens(3, at(Dur::us(1) + Dur::ns(400))), end);
        assert_eq!(gate.opens(4, at(Dur::us(2))), at(Dur::us(2)), "another class");
        assert_eq!(gate.closed(3, end), SPEED.pause(Quanta(1_000)) - Dur::ns(400));
    }

    #[test]
    fn a_second_frame_restarts_the_timer_and_does_not_add_to_it() {
        let mut gate = gate(Dur::ZERO);
        gate.on_pfc(at(Dur::us(1)), &pfc(3, 60_000));
        gate.on_pfc(at(Dur::us(2)), &pfc(3, 1_000));
        assert_eq!(gate.opens(3, at(Dur::us(3))), at(Dur::us(2)) + SPEED.pause(Quanta(1_000)));
    }

    #[test]
    fn an_xon_opens_after_the_response_and_not_before() {
        let mut gate = gate(Dur::us(1));
        gate.on_pfc(at(Dur::ZERO), &pfc(3, u16::MAX));
        gate.on_pfc(at(Dur::us(10)), &pfc(3, 0));
        assert_eq!(gate.opens(3, at(Dur::us(10))), at(Dur::us(11)));
        assert_eq!(gate.closed(3, at(Dur::ms(1))), Dur::us(10), "from 1 us to 11 us");
    }

    #[test]
    fn a_class_that_does_not_obey_stays_open_and_802_3x_counts_only_on_request() {
        let mut gate = Gate::new(SPEED, Obeys { classes: 1 << 4, ..Obeys::default() });
        gate.on_pfc(at(Dur::ZERO), &pfc(3, 100));
        gate.on_pause(at(Dur::ZERO), Quanta(100));
        assert_eq!(gate.opens(3, Time::ZERO), Time::ZERO);
        assert_eq!(gate.worst(at(Dur::ms(1))), []);
        let mut gate = Gate::new(SPEED, Obeys { link_pause: true, ..Obeys::default() });
        gate.on_pause(at(Dur::ZERO), Quanta(100));
        assert_eq!(gate.opens(0, Time::ZERO), at(SPEED.pause(Quanta(100))));
    }

    #[test]
    fn a_class_that_no_longer_obeys_opens_at_once() {
        let mut gate = gate(Dur::ZERO);
        gate.on_pfc(at(Dur::ZERO), &pfc::Repr::all(0b1_1000, Quanta(u16::MAX)));
        gate.obey(Obeys { classes: 1 << 4, ..Obeys::default() });
        assert_eq!(gate.opens(3, at(Dur::us(1))), at(Dur::us(1)));
        assert_eq!(gate.opens(4, at(Dur::us(1))), at(SPEED.pause(Quanta(u16::MAX))));
        gate.on_pfc(at(Dur::us(2)), &pfc(3, 100));
        assert_eq!(gate.opens(3, at(Dur::us(2))), at(Dur::us(2)));
    }

    #[test]
    fn a_link_that_goes_down_forgets_its_pauses() {
        let mut gate = gate(Dur::ZERO);
        gate.on_pfc(at(Dur::ZERO), &pfc(3, u16::MAX));
        gate.reset(at(Dur::us(5)));
        assert_eq!(gate.opens(3, at(Dur::us(5))), at(Dur::us(5)));
        assert_eq!(gate.worst(at(Dur::ms(1))), [(3, Dur::us(5))]);
    }

    proptest! {
        /// What the gate says ahead of time is what a clock that ticks finds.
        #[test]
        fn the_answer_does_not_depend_on_when_it_is_asked(
            frames in proptest::collection::vec((0_u64..40, 0_u16..30), 1..8),
            response in 0_u64..20, ask in 0_u64..200,
        ) {
            let tick = SPEED.pause(Quanta(1));
            let mut gate = gate(tick * response);
            let mut now = 0;
            let mut closed = [false; 2_000];
            let mut orders = Vec::new();
            for (gap, quanta) in frames {
                now += gap;
                gate.on_pfc(at(tick * now), &pfc(3, quanta));
                orders.push((now + response, now + u64::from(quanta)));
            }
            let mut until = 0;
            for (instant, closed) in (0..).zip(closed.iter_mut()) {
                for order in orders.iter().filter(|order| order.0 == instant) {
                    until = order.1;
                }
                *closed = instant < until;
            }
            let ask = now + ask;
            let open = (ask..).find(|&n| !closed[usize::try_from(n).expect("small")]);
            prop_assert_eq!(gate.opens(3, at(tick * ask)), at(tick * open.expect("opens")));
            let total = closed.iter().filter(|&&closed| closed).count() as u64;
            prop_assert_eq!(gate.closed(3, at(tick * 1_999)), tick * total);
        }
    }
}
