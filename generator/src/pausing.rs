//! Whether the rig's own ports stop when they are paused, class by class, how fast, and whether the others go on: tried
//! before anything is judged with them. A generator that takes PFC for granted blames the switch for what it sends itself.
//!
//! All ports are tried at once, one class of each after the other. Two streams leave by the port, one of the class and
//! one of another; an XOFF comes for the first, and in the middle of its pause an XON. What is left out: whether the
//! pause ends by itself, which the gate's own tests show.

use crate::clock::Clock;
use crate::gate::Obeys;
use crate::pacer::{Pacer, Watcher};
use crate::port::{PortError, StampedBy, Transmit};
use crate::rhythm::Rhythm;
use crate::sender::{Departure, Job, Who};
use crate::template::Template;
use rig_frames::{MacAddr, mac_control, pfc};
use rig_testcases::{StreamRate, StreamSpec};
use rig_units::{Bytes, Dur, Pace, Quanta, Time};

/// A class that leaves by a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// The port, by its lane.
    pub port: u16,
    /// Traffic class, 0 to 7.
    pub class: u8,
    /// The DSCP that means this class to the device.
    pub dscp: u8,
}

/// Where the pauses come from.
#[derive(Debug)]
pub enum Pauser<'a> {
    /// From the other ends of the wires, one for each port.
    Peers(&'a mut [Box<dyn Transmit>]),
    /// Nobody can send them: they are handed to the pacer as if they had just arrived.
    Fed,
}

/// How a port took the pause of one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reaction {
    /// The port, by its lane.
    pub port: u16,
    /// Traffic class, 0 to 7.
    pub class: u8,
    /// From the XOFF's stamp to the last frame of the class that left in spite of it, zero where none did; `None` when no
    /// XOFF arrived.
    pub stops: Option<Dur>,
    /// From the XON's stamp to the next frame of the class; `None` when none left.
    pub resumes: Option<Dur>,
    /// Whether frames of another class left meanwhile.
    pub others: bool,
}

impl Reaction {
    /// Whether the pause was honoured within `bound`, and nothing but it.
    pub fn is_well(&self, bound: Dur) -> bool {
        self.stops.is_some_and(|after| after <= bound) && self.resumes.is_some() && self.others
    }
}

/// Frames of each class that are due during the half of the pause that is watched.
const FRAMES: u64 = 16;
/// Size of the frames.
const SIZE: Bytes = Bytes(254);
/// Number of the first frame: far from those of any trial, so that one that comes late is not taken for one of them.
const FIRST: u64 = 1 << 23;
/// Whose PFC frames these are.
const SENDER: MacAddr = MacAddr([0x02, 0, 0, 0x03, 0, 0]);
/// The class that is tried.
const TRIED: Who = Who::Stream(0);
/// The class beside it.
const OTHER: Who = Who::Stream(1);

/// Tries every class that is used. Afterwards no port sends anything, and each obeys every pause at once.
///
/// # Errors
/// An interface is down or gone.
pub fn try_pausing<C: Clock>(
    pacer: &mut Pacer<C>,
    uses: &[Use],
    pauser: &mut Pauser<'_>,
) -> Result<Vec<Reaction>, PortError> {
    let mut reactions = Vec::new();
    for class in 0..8 {
        let round: Vec<Use> = uses.iter().copied().filter(|used| used.class == class).collect();
        if !round.is_empty() {
            reactions.extend(one_class(pacer, &round, pauser)?);
        }
    }
    reactions.sort_by_key(|reaction| (reaction.port, reaction.class));
    Ok(reactions)
}

/// One class at each of several ports.
fn one_class<C: Clock>(
    pacer: &mut Pacer<C>,
    round: &[Use],
    pauser: &mut Pauser<'_>,
) -> Result<Vec<Reaction>, PortError> {
    let speeds = round.iter().map(|used| pacer.lanes[usize::from(used.port)].sender.speed());
    let half = speeds.map(|speed| speed.pause(Quanta(u16::MAX))).min().unwrap_or_default() / 2;
    let gap = half / FRAMES;
    let start = pacer.clock.now() + gap;
    for used in round {
        let lane = &mut pacer.lanes[usize::from(used.port)];
        lane.sender.stop_all();
        let other = Use { class: (used.class + 1) % 8, ..*used };
        for (who, Use { class, dscp, .. }) in [(TRIED, *used), (OTHER, other)] {
            lane.assign(who, Template::of_stream(u16::from(who == OTHER), &probe(used.port, dscp)));
            let rhythm = Rhythm::Even(Pace::every(gap));
            let job =
                Job { who, class: Some(class), size: SIZE, rhythm, first: FIRST, count: None };
            lane.sender.start(start, job);
        }
    }
    let mut log = Log { phase: Phase::Before, ports: vec![PortLog::default(); pacer.lanes.len()] };
    let until = |pacer: &Pacer<C>, wait: Dur| pacer.clock.now() + wait;
    pacer.run_until(start + gap * 4, &mut log)?;
    log.phase = Phase::Paused;
    send(pacer, round, Quanta(u16::MAX), pauser, &mut log)?;
    pacer.run_until(until(pacer, half), &mut log)?;
    log.phase = Phase::After;
    send(pacer, round, Quanta(0), pauser, &mut log)?;
    pacer.run_until(until(pacer, gap * 4), &mut log)?;
    for used in round {
        pacer.lanes[usize::from(used.port)].forget(Obeys::default());
    }
    Ok(round.iter().map(|used| log.ports[usize::from(used.port)].reaction(used)).collect())
}

/// Has a PFC frame arrive at each port.
fn send<C: Clock>(
    pacer: &mut Pacer<C>,
    round: &[Use],
    quanta: Quanta,
    pauser: &mut Pauser<'_>,
    log: &mut Log,
) -> Result<(), PortError> {
    for used in round {
        let frame = mac_control::frame_pfc(SENDER, &pfc::Repr::all(1 << used.class, quanta));
        match pauser {
            Pauser::Fed => pacer.feed(used.port, &frame, log),
            Pauser::Peers(peers) => {
                let Some(peer) = peers.get_mut(usize::from(used.port)) else { continue };
                let Some(mut slot) = peer.alloc() else { continue };
                peer.bytes(&mut slot)[..frame.len()].copy_from_slice(&frame);
                peer.stage(slot, frame.len());
                peer.publish();
                peer.kick()?;
            }
        }
    }
    Ok(())
}

/// What is sent: RoCEv2 to the rig's next port, a device in between willing.
fn probe(port: u16, dscp: u8) -> StreamSpec {
    StreamSpec {
        name: String::new(),
        class: 0,
        dscp,
        size: SIZE,
        rate: StreamRate::Every(Dur::ZERO),
        ..StreamSpec::probe(port, if port == 0 { 1 } else { 0 })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Before,
    Paused,
    After,
}

/// What was seen at one port.
#[derive(Debug, Clone, Copy, Default)]
struct PortLog {
    xoff: Option<Time>,
    xon: Option<Time>,
    /// The last frame of the class between the two.
    last: Option<Time>,
    /// The first one after the XON.
    first: Option<Time>,
    others: bool,
}

impl PortLog {
    fn reaction(&self, used: &Use) -> Reaction {
        let late = |xoff: Time| self.last.and_then(|last| last.since(xoff)).unwrap_or(Dur::ZERO);
        let resumes = self.xon.zip(self.first);
        Reaction {
            port: used.port,
            class: used.class,
            stops: self.xoff.map(late),
            resumes: resumes.map(|(xon, first)| first.since(xon).unwrap_or(Dur::ZERO)),
            others: self.others,
        }
    }
}

#[derive(Debug)]
struct Log {
    phase: Phase,
    ports: Vec<PortLog>,
}

impl Watcher for Log {
    fn sent(&mut self, port: u16, departure: &Departure, at: Time, _: Time) {
        let seen = &mut self.ports[usize::from(port)];
        match (self.phase, departure.who) {
            (Phase::Paused, TRIED) => seen.last = Some(at),
            (Phase::Paused, OTHER) => seen.others = true,
            // What leaves before the XON has arrived is not due to it.
            (Phase::After, TRIED) if seen.xon.is_some() => {
                seen.first.get_or_insert(at);
            }
            (Phase::After, TRIED) => seen.last = Some(at),
            _ => {}
        }
    }

    fn received(&mut self, port: u16, frame: &[u8], at: Time, _: StampedBy) {
        if frame.get(6..12) != Some(&SENDER.0) {
            return;
        }
        let seen = &mut self.ports[usize::from(port)];
        match self.phase {
            Phase::Before => {}
            Phase::Paused => {
                seen.xoff.get_or_insert(at);
            }
            Phase::After => {
                seen.xon.get_or_insert(at);
            }
        }
    }
}

#[cfg(test)]
mod tests;
