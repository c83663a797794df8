use super::*;
use crate::clock::Manual;
use crate::pacer::Lane;
use crate::port::memory;
use crate::port::{Receive, Stamp, Stats};
use crate::sender::{Sender, Stall};
use rig_units::PortSpeed;
use std::os::fd::BorrowedFd;

const BOUND: Dur = Dur::us(2);

fn uses(classes: &[u8]) -> Vec<Use> {
    let of = |port| classes.iter().map(move |&class| Use { port, class, dscp: class });
    of(0).chain(of(1)).collect()
}

/// Two ports, each with its peer; what `deafen` does to them.
fn tried(
    fed: bool,
    mut deafen: impl FnMut(u16, Box<dyn Receive>) -> Box<dyn Receive>,
    classes: &[u8],
) -> Vec<Reaction> {
    let clock = Manual::default();
    let mut peers = Vec::new();
    let lane = |port| {
        let ((tx, rx), (peer, far)) = memory::pair(&clock, 64, 1_514);
        peers.push(peer);
        // The far ends hear nothing: their queues only fill.
        drop(far);
        let sender = Sender::new(PortSpeed::G100, Obeys::default(), Stall::CatchUp);
        Lane::new(tx, deafen(port, rx), sender, false)
    };
    let lanes = (0..2).map(lane).collect();
    let mut pacer = Pacer { clock, lanes, awake: Dur::us(1) };
    let mut pauser = if fed { Pauser::Fed } else { Pauser::Peers(&mut peers) };
    let reactions = try_pausing(&mut pacer, &uses(classes), &mut pauser).expect("in memory");
    assert!(pacer.lanes.iter().all(|lane| lane.sender.is_idle()));
    reactions
}

/// A port that keeps the PFC of some classes to itself, as many NICs do with all of it.
#[derive(Debug)]
struct Swallows(Box<dyn Receive>, u8);

impl Receive for Swallows {
    fn poll(&mut self, take: &mut dyn FnMut(&[u8], Stamp)) -> Result<usize, PortError> {
        let Swallows(inner, classes) = self;
        inner.poll(&mut |frame, stamp| {
            let control = frame[12..14] == [0x88, 0x08];
            if !control || frame[17] & *classes == 0 {
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

#[test]
fn a_port_that_obeys_stops_at_once_and_goes_on_with_the_xon() {
    for fed in [true, false] {
        let reactions = tried(fed, |_, rx| rx, &[3, 4]);
        let who: Vec<_> =
            reactions.iter().map(|reaction| (reaction.port, reaction.class)).collect();
        assert_eq!(who, [(0, 3), (0, 4), (1, 3), (1, 4)]);
        for reaction in reactions {
            assert!(reaction.is_well(BOUND), "{fed}: {reaction:?}");
        }
    }
}

#[test]
fn a_port_that_swallows_the_pfc_of_a_class_does_not_stop_in_it() {
    let deafen = |port, rx| -> Box<dyn Receive> {
        if port == 1 { Box::new(Swallows(rx, 1 << 4)) } else { rx }
    };
    let reactions = tried(false, deafen, &[3, 4]);
    let well: Vec<bool> = reactions.iter().map(|reaction| reaction.is_well(BOUND)).collect();
    assert_eq!(well, [true, true, true, false]);
    assert_eq!(reactions[3].stops, None);
}

#[test]
fn a_gate_that_does_not_obey_is_seen_by_what_leaves() {
    let clock = Manual::default();
    let ((tx, rx), _far) = memory::pair(&clock, 64, 1_514);
    let deaf = Obeys { classes: !(1 << 3), ..Obeys::default() };
    let sender = Sender::new(PortSpeed::G100, deaf, Stall::CatchUp);
    let lanes = vec![Lane::new(tx, rx, sender, false)];
    let mut pacer = Pacer { clock, lanes, awake: Dur::us(1) };
    let used = [Use { port: 0, class: 3, dscp: 3 }];
    let reactions = try_pausing(&mut pacer, &used, &mut Pauser::Fed).expect("in memory");
    let stops = reactions[0].stops.expect("it was fed");
    assert!(stops > Dur::us(100), "it went on through 168 us: {stops}");
    assert!(!reactions[0].is_well(BOUND));
}

#[test]
fn a_gate_that_is_slow_is_told_by_how_much() {
    let clock = Manual::default();
    let ((tx, rx), _far) = memory::pair(&clock, 64, 1_514);
    let slow = Obeys { response: Dur::us(50), ..Obeys::default() };
    let sender = Sender::new(PortSpeed::G100, slow, Stall::CatchUp);
    let lanes = vec![Lane::new(tx, rx, sender, false)];
    let mut pacer = Pacer { clock, lanes, awake: Dur::us(1) };
    let used = [Use { port: 0, class: 3, dscp: 3 }];
    let reactions = try_pausing(&mut pacer, &used, &mut Pauser::Fed).expect("in memory");
    let stops = reactions[0].stops.expect("it was fed");
    assert!(stops > Dur::us(30) && stops <= Dur::us(50), "{stops}");
}

#[test]
fn a_gate_that_stops_every_class_is_no_gate_of_a_class() {
    let clock = Manual::default();
    let ((tx, rx), _far) = memory::pair(&clock, 64, 1_514);
    let all = Obeys { link_pause: true, ..Obeys::default() };
    let mut sender = Sender::new(PortSpeed::G100, all, Stall::CatchUp);
    // 802.3x from elsewhere, for the whole time.
    sender.on_pause(Time::ZERO, Time::ZERO, Quanta(u16::MAX));
    let lanes = vec![Lane::new(tx, rx, sender, false)];
    let mut pacer = Pacer { clock, lanes, awake: Dur::us(1) };
    let used = [Use { port: 0, class: 3, dscp: 3 }];
    let reactions = try_pausing(&mut pacer, &used, &mut Pauser::Fed).expect("in memory");
    assert!(!reactions[0].others && !reactions[0].is_well(BOUND), "{reactions:?}");
}
