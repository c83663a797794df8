//! The rig between two NICs in real time: what arrives at one of its ports leaves by the other, addressed anew, as soon as the case has it. What the case does
//! to single frames is done on the way.

use super::super::injector::Injector;
use super::readdressed::{Change, readdressed};
use rig_capture::{Touched, What};
use rig_frames::roce::aeth::RnrTimer;
use rig_oracle::trials::seed::Seed;
use rig_testcases::{FlowSpec, Injected, Roce, RoceKind, Script, Verb, wire};
use rig_units::{Dur, Time};
use std::collections::{BTreeMap, VecDeque};

/// Size of an RNR NAK over IPv4, FCS counted.
const NAK_SIZE: u16 = 66;

/// A port of the rig in front of a NIC.
#[derive(Debug, Clone, Copy)]
struct Side {
    port: u16,
    /// The lane of the pacer that it is.
    lane: u16,
}

/// A frame that is on its way.
#[derive(Debug, Clone)]
struct Leaving {
    bytes: Vec<u8>,
    /// The connection and number of data that its receiver can take.
    brings: Option<(u16, u32)>,
}

/// A frame that leaves now.
#[derive(Debug)]
pub(super) struct Leaves {
    /// The lane that it leaves by.
    pub(super) lane: u16,
    /// From the destination MAC on, without FCS.
    pub(super) bytes: Vec<u8>,
    /// When it was to leave.
    pub(super) due: Time,
}

/// The way between two ports.
#[derive(Debug)]
struct Way {
    sides: [Side; 2],
    origin: Time,
    /// From when a frame has come to when it leaves, if nothing is done to it.
    delay: Dur,
    injector: Injector,
    /// Of the connections of flows: the number of the first packet, and what the flow does.
    flows: BTreeMap<u16, (u32, Verb)>,
    /// What leaves by each side, by time; of one time in the order in which it came.
    leaves: [VecDeque<(Time, Leaving)>; 2],
    /// What waits for so many more frames that leave by each side.
    held: [Vec<(u32, Leaving)>; 2],
    /// Connections whose receiver is not ready for the message that begins with a number, and the injection that says so.
    unready: BTreeMap<u16, (u32, u16)>,
    /// The number that the receiver of a connection takes next, by what has left for it; before the first has come it takes any.
    expected: BTreeMap<u16, u32>,
}

/// What is passed on between two ports.
#[derive(Debug, Default)]
pub(super) struct Onward(Option<Way>);

impl Onward {
    /// Between the ports of a script that has NICs at both ends of its flows, in the trial that begins at `origin`. What is drawn is drawn from `seed`.
    pub(super) fn of(script: &Script, origin: Time, seed: &Seed) -> Onward {
        let Some((a, b, between)) = &script.between else { return Onward::default() };
        let side = |port: u16| Side { port, lane: script.dut_ports[usize::from(port)] };
        let of_flow =
            |(flow, spec): (u16, &FlowSpec)| (script.connection(flow), (spec.psn, spec.verb));
        Onward(Some(Way {
            sides: [*a, *b].map(side),
            origin,
            delay: between.delay,
            injector: Injector::new(&between.inject, seed),
            flows: (0..).zip(&script.flows).map(of_flow).collect(),
            leaves: Default::default(),
            held: Default::default(),
            unready: BTreeMap::new(),
            expected: BTreeMap::new(),
        }))
    }

    /// A frame arrived at a port of the rig, which said that.
    pub(super) fn came(&mut self, port: u16, at: Time, (frame, what): (&[u8], &What)) {
        let Some(way) = &mut self.0 else { return };
        let side = way.sides.iter().position(|side| side.port == port);
        side.into_iter().for_each(|side| way.pass(side, at, (frame, what)));
    }

    /// The next that leaves by `now`.
    pub(super) fn next(&mut self, now: Time) -> Option<Leaves> {
        let way = self.0.as_mut()?;
        let side = usize::from(way.due(1) < way.due(0));
        let (due, Leaving { bytes, brings }) =
            way.leaves[side].pop_front_if(|(due, _)| *due <= now)?;
        if let Some((connection, number)) = brings
            && let Some(expected) = way.expected.get_mut(&connection)
        {
            *expected = after(*expected, number);
        }
        Some(Leaves { lane: way.sides[side].lane, bytes, due })
    }

    /// When the next leaves, if there is one.
    pub(super) fn due(&self) -> Option<Time> {
        let way = self.0.as_ref()?;
        Some(way.due(0).min(way.due(1))).filter(|due| *due < Time::MAX)
    }

    /// What was done to frames on the way.
    pub(super) fn touched(self) -> Vec<Touched> {
        self.0.map(|way| way.injector.touched()).unwrap_or_default()
    }
}

impl Way {
    fn due(&self, side: usize) -> Time {
        self.leaves[side].front().map_or(Time::MAX, |(due, _)| *due)
    }

    /// Takes in a frame that arrived at a side.
    fn pass(&mut self, side: usize, at: Time, (frame, what): (&[u8], &What)) {
        let to = 1 - side;
        let ports = (self.sides[side].port, self.sides[to].port);
        let since = (Time(at.since(self.origin).unwrap_or_default().0), ports.0);
        let roce = match what {
            What::Roce(roce) => {
                Some(*roce).filter(|roce| self.flows.contains_key(&roce.connection))
            }
            _ => None,
        };
        let data = roce.filter(|roce| matches!(roce.kind, RoceKind::Data { .. }));
        if let Some(data) = data
            && let Some(injection) = self.is_refused(&data)
        {
            return self.injector.refused(since, injection);
        }
        let done = roce.and_then(|roce| {
            let (first, _) = *self.flows.get(&roce.connection)?;
            let expected = data.is_some_and(|data| self.is_expected(to, at, &data));
            let number = roce.psn.wrapping_sub(first) & 0xff_ffff;
            self.injector.does(since, roce.connection, (roce.kind, number), expected)
        });
        let (change, mut due) = (change(done), at + self.delay);
        match done {
            Some(Injected::Drop) => return,
            Some(Injected::NotReady(timer)) => {
                return roce.into_iter().for_each(|roce| self.not_ready((side, at), &roce, timer));
            }
            Some(Injected::Delay(by)) => due += by,
            _ => {}
        }
        let Some(bytes) = readdressed(frame, ports, change) else { return };
        let takes = |one: &Roce| !one.corrupt && change != Some(Change::Spoilt);
        let brings = data.filter(takes).map(|one| (one.connection, one.psn));
        let leaving = Leaving { bytes, brings };
        if let Some(Injected::Behind(frames)) = done {
            return self.held[to].push((frames, leaving));
        }
        if done == Some(Injected::Duplicate) {
            self.leave(to, due, leaving.clone());
        }
        self.leave(to, due, leaving);
        for (left, leaving) in core::mem::take(&mut self.held[to]) {
            match left {
                0 | 1 => self.leave(to, due, leaving),
                more => self.held[to].push((more - 1, leaving)),
            }
        }
    }

    fn leave(&mut self, to: usize, due: Time, leaving: Leaving) {
        let behind = self.leaves[to].iter().rposition(|(other, _)| *other <= due);
        self.leaves[to].insert(behind.map_or(0, |behind| behind + 1), (due, leaving));
    }

    /// The injection for which a receiver takes no data of this number, if it does not: one that is not ready for a message takes nothing behind it, until it
    /// comes again.
    fn is_refused(&mut self, data: &Roce) -> Option<u16> {
        let (unready, injection) = *self.unready.get(&data.connection)?;
        if data.psn != unready {
            return Some(injection);
        }
        self.unready.remove(&data.connection);
        None
    }

    /// Whether data is what its receiver takes next when it gets there: what is ahead of a hole says that there is one, and what was taken before is
    /// acknowledged, before anybody asks whether there is a buffer (IBTA volume 1, 9.7.5.1.1).
    fn is_expected(&mut self, to: usize, at: Time, data: &Roce) -> bool {
        // A connection begins with the first packet that comes, whatever becomes of it.
        let expected = *self.expected.entry(data.connection).or_insert(data.psn);
        let by = at + self.delay;
        let ahead = self.leaves[to].iter().take_while(|(due, _)| *due <= by);
        let own = ahead.filter_map(|(_, leaving)| leaving.brings);
        let own = own.filter(|(connection, _)| *connection == data.connection);
        own.fold(expected, |expected, (_, number)| after(expected, number)) == data.psn
    }

    /// Data that came at a side finds a receiver that is not ready: that is what goes back.
    fn not_ready(&mut self, (side, at): (usize, Time), data: &Roce, timer: RnrTimer) {
        let refused = self.injector.last().map(|one| (data.connection, (data.psn, one)));
        self.unready.extend(refused);
        let Roce { connection, psn, over, address, gid, dscp, udp_src, .. } = *data;
        let size = NAK_SIZE + u16::try_from(wire::longer(over).0).unwrap_or(0);
        let nak = Roce::of(connection, RoceKind::NotReady(timer), psn, size);
        let nak = Roce { over, address, gid, dscp, udp_src, ..nak };
        let verb = self.flows.get(&connection).map_or(Verb::Send, |(_, verb)| *verb);
        let bytes = wire::nic::frame(verb, self.sides[side].port, true, &nak);
        self.leave(side, at + self.delay, Leaving { bytes, brings: None });
    }
}

/// The number that a receiver takes next, which took that before, once this has come.
const fn after(expected: u32, number: u32) -> u32 {
    if number == expected { (expected + 1) & 0xff_ffff } else { expected }
}

/// What is done to the bytes of a frame.
const fn change(done: Option<Injected>) -> Option<Change> {
    match done {
        Some(Injected::Ce) => Some(Change::Marked),
        Some(Injected::BadIcrc) => Some(Change::Spoilt),
        Some(Injected::OtherKey) => Some(Change::OtherKey),
        // What speaks another dialect is sent in virtual time alone, and no such case comes here.
        Some(
            Injected::Drop
            | Injected::Delay(_)
            | Injected::Behind(_)
            | Injected::Duplicate
            | Injected::Rocev2
            | Injected::BlueRdma
            | Injected::NotReady(_),
        )
        | None => None,
    }
}

#[cfg(test)]
mod tests;
