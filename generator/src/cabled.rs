//! Whether MAC Control frames pass between two ports that are cabled to each other: many NICs keep them to themselves, in
//! one direction or in both, and say nothing of it. Ordinary frames are sent beside them, so that a cable that is not
//! there is told from a MAC that swallows.
//!
//! All pauses here are of zero quanta: they ask nobody to stop.

use crate::clock::Clock;
use crate::port::{PortError, Receive, Stamp, Transmit};
use core::fmt;
use rig_frames::{MacAddr, ethernet, mac_control, pause, pfc};
use rig_units::{Dur, Quanta};

/// Both halves of a port.
#[derive(Debug)]
pub struct End<'a> {
    /// Sends.
    pub tx: &'a mut dyn Transmit,
    /// Receives.
    pub rx: &'a mut dyn Receive,
}

/// What came through in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// PFC frames of 802.1Q.
    pub pfc: Passage,
    /// PAUSE of 802.3x.
    pub pause: Passage,
    /// Ordinary frames.
    pub ordinary: Passage,
}

/// What became of the frames of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// Every one arrived.
    Passes,
    /// Some did.
    Partly {
        /// How many.
        arrived: u32,
        /// Of how many.
        sent: u32,
    },
    /// None did, and ordinary frames did.
    Swallowed,
    /// Nothing at all arrived.
    NoCable,
}

impl fmt::Display for Passage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Passage::Passes => f.write_str("passes"),
            Passage::Partly { arrived, sent } => write!(f, "{arrived} of {sent} arrive"),
            Passage::Swallowed => f.write_str("swallowed"),
            Passage::NoCable => f.write_str("no cable"),
        }
    }
}

/// The EtherType of ordinary frames: IEEE 802, local experimental 1.
const ORDINARY: u16 = 0x88b5;
/// Between two rounds of one frame of each kind.
const GAP: Dur = Dur::us(100);
/// How long after the last frame others may still arrive.
const PATIENCE: Dur = Dur::ms(100);

/// What came through, by kind.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    ordinary: u32,
    pfc: u32,
    pause: u32,
}

/// Sends `count` frames of each kind both ways; what arrived of those from the first end at the second, and the other way
/// round. Takes a tenth of a second, and a tenth of a millisecond for each round.
///
/// # Errors
/// An interface is down or gone.
pub fn try_cable<C: Clock>(
    clock: &C,
    one: &mut End<'_>,
    other: &mut End<'_>,
    count: u32,
) -> Result<[Way; 2], PortError> {
    let (mut there, mut back) = (Tally::default(), Tally::default());
    for _ in 0..count {
        send(one.tx, sender(0))?;
        send(other.tx, sender(1))?;
        let until = clock.now() + GAP;
        clock.sleep(until, &[])?;
        take(other.rx, sender(0), &mut there)?;
        take(one.rx, sender(1), &mut back)?;
    }
    let end = clock.now() + PATIENCE;
    while there.least().min(back.least()) < count && clock.now() < end {
        let next = (clock.now() + GAP).min(end);
        clock.sleep(next, &[])?;
        take(other.rx, sender(0), &mut there)?;
        take(one.rx, sender(1), &mut back)?;
    }
    Ok([there.way(count), back.way(count)])
}

/// The address of the end of that number.
const fn sender(end: u8) -> MacAddr {
    MacAddr([0x02, 0, 0, 0x04, 0, end])
}

/// One frame of each kind.
fn send(tx: &mut dyn Transmit, from: MacAddr) -> Result<(), PortError> {
    let xon = pfc::Repr::all(u8::MAX, Quanta(0));
    let header = ethernet::Repr { dst: MacAddr::BROADCAST, src: from, ethertype: ORDINARY };
    let mut ordinary = header.emit().to_vec();
    ordinary.resize(ethernet::MIN_FRAME, 0);
    let frames = [
        ordinary,
        mac_control::frame_pfc(from, &xon),
        mac_control::frame_pause(from, &pause::Repr { quanta: Quanta(0) }),
    ];
    for bytes in frames {
        let Some(mut frame) = tx.alloc() else { continue };
        tx.bytes(&mut frame)[..bytes.len()].copy_from_slice(&bytes);
        tx.stage(frame, bytes.len());
    }
    tx.publish();
    tx.kick().map(|_| ())
}

/// Counts what has arrived from `from`.
fn take(rx: &mut dyn Receive, from: MacAddr, tally: &mut Tally) -> Result<(), PortError> {
    let mut count = |frame: &[u8], _: Stamp| {
        if frame.get(6..12) != Some(&from.0) {
            return;
        }
        let field =
            |at: usize| frame.get(at..at + 2).map(|two| u16::from_be_bytes([two[0], two[1]]));
        match (field(12), field(ethernet::LEN)) {
            (Some(ORDINARY), _) => tally.ordinary += 1,
            (Some(ethernet::ethertype::MAC_CONTROL), Some(pfc::OPCODE)) => tally.pfc += 1,
            (Some(ethernet::ethertype::MAC_CONTROL), Some(pause::OPCODE)) => tally.pause += 1,
            _ => {}
        }
    };
    rx.poll(&mut count).map(|_| ())
}

impl Tally {
    fn least(&self) -> u32 {
        self.ordinary.min(self.pfc).min(self.pause)
    }

    fn way(&self, sent: u32) -> Way {
        let any = self.ordinary.max(self.pfc).max(self.pause) > 0;
        let passage = |arrived: u32| match arrived {
            0 if any => Passage::Swallowed,
            0 => Passage::NoCable,
            all if all >= sent => Passage::Passes,
            arrived => Passage::Partly { arrived, sent },
        };
        Way { pfc: passage(self.pfc), pause: passage(self.pause), ordinary: passage(self.ordinary) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Manual;
    use crate::netlab::tests::{namespace, pair_in};
    use crate::port::{Backend, Config, Port, Stats, memory};
    use std::os::fd::BorrowedFd;

    /// A port whose MAC keeps frames to itself.
    #[derive(Debug)]
    struct Swallows<F>(Box<dyn Receive>, F);

    impl<F: Fn(&[u8]) -> bool + fmt::Debug + Send> Receive for Swallows<F> {
        fn poll(&mut self, take: &mut dyn FnMut(&[u8], Stamp)) -> Result<usize, PortError> {
            let Swallows(inner, keeps) = self;
            inner.poll(&mut |frame, stamp| {
                if !keeps(frame) {
                    take(frame, stamp);
                }
            })
        }
        fn wait(&mut self, timeout: Dur) -> Result<bool, PortError> {
            self.0.wait(timeout)
        }
        fn fds(&self) -> Vec<BorrowedFd<'_>> {
            Vec::new()
        }
        fn stats(&self) -> Result<Stats, PortError> {
            self.0.stats()
        }
    }

    fn between(keeps: fn(&[u8]) -> bool) -> [Way; 2] {
        let clock = Manual::default();
        let ((mut tx, mut rx), (mut far_tx, far_rx)) = memory::pair(&clock, 64, 1_514);
        let mut far_rx = Swallows(far_rx, keeps);
        let mut one = End { tx: tx.as_mut(), rx: rx.as_mut() };
        let mut other = End { tx: far_tx.as_mut(), rx: &mut far_rx };
        try_cable(&clock, &mut one, &mut other, 10).expect("in memory")
    }

    const ALL: Way =
        Way { pfc: Passage::Passes, pause: Passage::Passes, ordinary: Passage::Passes };

    #[test]
    fn a_mac_that_swallows_control_frames_is_found_in_its_direction() {
        let control = |frame: &[u8]| frame[12..14] == [0x88, 0x08];
        let [there, back] = between(control);
        assert_eq!(there, Way { pfc: Passage::Swallowed, pause: Passage::Swallowed, ..ALL });
        assert_eq!(back, ALL);
        let [there, _] = between(|frame| frame[12..16] == [0x88, 0x08, 0, 1]);
        assert_eq!(there, Way { pause: Passage::Swallowed, ..ALL }, "802.3x alone");
    }

    #[test]
    fn without_a_cable_nothing_is_called_swallowed() {
        let [there, back] = between(|_| true);
        let none =
            Way { pfc: Passage::NoCable, pause: Passage::NoCable, ordinary: Passage::NoCable };
        assert_eq!((there, back), (none, ALL));
    }

    #[test]
    fn a_pair_of_virtual_interfaces_passes_everything_with_either_back_end() {
        let Some(own) = namespace() else { return };
        pair_in(&own, 1_500);
        for backend in [Backend::AfXdp, Backend::AfPacket] {
            let ways = own.run(|| {
                let config = |name| Config { backend, slots: 64, ring: 256, ..Config::new(name) };
                let [mut one, mut other] =
                    ["v1", "v2"].map(|name| Port::open(&config(name)).expect("a port"));
                try_cable(
                    &crate::clock::Wall::start(),
                    &mut End { tx: one.tx.as_mut(), rx: one.rx.as_mut() },
                    &mut End { tx: other.tx.as_mut(), rx: other.rx.as_mut() },
                    20,
                )
            });
            assert_eq!(ways.expect("inside"), Ok([ALL, ALL]), "{backend:?}");
        }
    }
}
