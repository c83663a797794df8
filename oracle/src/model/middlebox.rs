//! The rig between two NICs: what arrives at one of its ports leaves by the other a while later, in order, but for the frames to
//! which something is done on the way. The way to one of them may be a bottleneck: what waits there leaves later.

mod bottleneck;

use self::bottleneck::{Bottleneck, Fate};
use super::host::{Device, Plug, RigPort};
use super::packet::{ACK_SIZE, Kind, Packet};
use rig_testcases::{Injected, Injection, Target, Which};
use rig_units::{Dur, Time};
use std::collections::{BTreeMap, VecDeque};

/// Two hosts, each of which passes on to the other one what arrives at it.
#[derive(Debug, Clone)]
pub(crate) struct Middlebox {
    hosts: [u16; 2],
    /// The ports of the rig that the hosts are.
    ports: [RigPort; 2],
    delay: Dur,
    began: Time,
    injections: Vec<Armed>,
    /// The side that frames leave by at less than its speed.
    bottleneck: Option<(usize, Bottleneck)>,
    /// What leaves by each of the hosts, by time; of one time in the order in which it came.
    leaves: [VecDeque<(Time, Packet)>; 2],
    /// What waits for so many more frames that leave by each of the hosts.
    held: [Vec<(u32, Packet)>; 2],
    /// How often each packet sequence number of a connection has passed, where an injection asks for it.
    passed: BTreeMap<(u16, u32), u32>,
    touched: Vec<Touched>,
    /// Connections whose receiver is not ready for the message that begins with a number, and the injection that says so.
    unready: BTreeMap<u16, (u32, u16)>,
    /// What leaves by each of the hosts now.
    passing: [Option<Packet>; 2],
}

/// What was done to a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touched {
    /// When its last bit had arrived.
    pub at: Time,
    /// The host that it arrived at.
    pub host: u16,
    /// By which of the injections, in the order in which they were added; `None`: by a bottleneck without room.
    pub injection: Option<u16>,
    /// The fault that was injected.
    pub what: Injected,
}

/// An injection, and how many of its frames have passed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Armed {
    injection: Injection<u16>,
    seen: u32,
}

impl Middlebox {
    /// From `began` on between two hosts, `delay` from the last bit in to the first bit out.
    pub(super) fn new(began: Time, hosts: [u16; 2], ports: [RigPort; 2], delay: Dur) -> Middlebox {
        Middlebox {
            hosts,
            ports,
            delay,
            began,
            injections: Vec::new(),
            bottleneck: None,
            leaves: Default::default(),
            held: Default::default(),
            passed: BTreeMap::new(),
            touched: Vec::new(),
            unready: BTreeMap::new(),
            passing: Default::default(),
        }
    }

    /// Adds something that is done from now on. Packet sequence numbers are those in the frames.
    pub(super) fn inject(&mut self, injection: Injection<u16>) {
        self.injections.push(Armed { injection, seen: 0 });
    }

    /// Makes the way to a host a bottleneck.
    pub(super) fn narrow(&mut self, host: u16, config: &rig_testcases::Bottleneck<u16>, seed: u64) {
        let bottleneck = Bottleneck::new(self.began, config, seed);
        self.bottleneck = self.side(host).map(|side| (side, bottleneck));
    }

    /// Which side a host is, if it is one.
    pub(super) fn side(&self, host: u16) -> Option<usize> {
        self.hosts.iter().position(|&one| one == host)
    }

    /// The hosts.
    pub(super) const fn sides(&self) -> [u16; 2] {
        self.hosts
    }

    /// The same, as those of any node with several ports.
    pub(super) const fn hosts(&self) -> &[u16] {
        &self.hosts
    }

    /// The port of the rig at a side.
    pub(super) const fn rig_port(&mut self, side: usize) -> &mut RigPort {
        &mut self.ports[side]
    }

    /// The ports of the rig, and what was done so far.
    pub(super) fn into_parts(self) -> ([RigPort; 2], Vec<Touched>) {
        (self.ports, self.touched)
    }

    /// When the next frame may leave by a side; [`Time::MAX`] if there is none.
    fn due(&self, side: usize) -> Time {
        self.leaves[side].front().map_or(Time::MAX, |(due, _)| *due)
    }

    /// The next frame that leaves by a side.
    fn pop(&mut self, side: usize) -> Option<Packet> {
        self.leaves[side].pop_front().map(|(_, packet)| packet)
    }

    /// When the next frame leaves by a side.
    fn passes(&self, side: usize, plug: &Plug) -> Time {
        let due = self.due(side);
        if due == Time::MAX { due } else { due.max(plug.busy) }
    }

    /// Takes in a frame that arrived at a side at `now`.
    fn pass(&mut self, now: Time, side: usize, packet: &Packet) {
        let to = 1 - side;
        let host = self.hosts[side];
        if let Some(injection) = self.is_refused(packet) {
            let what = Injected::Drop;
            return self.touched.push(Touched { at: now, host, injection: Some(injection), what });
        }
        let tamper = self.tamper(now, packet);
        let (injection, tamper) = tamper.unzip();
        self.touched.extend(tamper.map(|what| Touched { at: now, host, injection, what }));
        match tamper {
            Some(Injected::Drop) => return,
            Some(Injected::NotReady(timer)) => {
                let number = packet.seq & 0xff_ffff;
                self.unready.extend(injection.map(|one| (packet.stream, (number, one))));
                let mut answer = packet.ack(ACK_SIZE).with_ect(false).with_ce(false);
                answer.kind = Kind::NotReady;
                return self.leave(side, now + self.delay, answer.with_rnr_timer(timer));
            }
            _ => {}
        }
        let Some((begins, packet)) = self.through(now, to, packet) else {
            let what = Injected::Drop;
            return self.touched.push(Touched { at: now, host, injection: None, what });
        };
        let due = begins + self.delay;
        match tamper {
            None | Some(Injected::Drop | Injected::NotReady(_)) => self.leave(to, due, packet),
            Some(Injected::Behind(frames)) => return self.held[to].push((frames, packet)),
            Some(Injected::Ce) => self.leave(to, due, packet.with_ect(true).with_ce(true)),
            Some(Injected::Delay(by)) => self.leave(to, due + by, packet),
            Some(Injected::BadIcrc) => self.leave(to, due, packet.with_bad_icrc()),
            Some(Injected::Duplicate) => {
                self.leave(to, due, packet);
                self.leave(to, due, packet);
            }
        }
        self.release(to, due);
    }

    /// The injection for which a receiver takes no data of this number, if it does not: one that is not ready for a message takes nothing
    /// behind it.
    fn is_refused(&mut self, packet: &Packet) -> Option<u16> {
        let (number, injection) = *self.unready.get(&packet.stream)?;
        if packet.kind != Kind::Data {
            return None;
        }
        if packet.seq & 0xff_ffff != number {
            return Some(injection);
        }
        self.unready.remove(&packet.stream);
        None
    }

    /// Lets a frame through the bottleneck, where there is one: when it leaves that, and whether it leaves marked. `None`: it does
    /// not fit. Marks are not told one by one: each frame shows its own.
    fn through(&mut self, now: Time, to: usize, packet: &Packet) -> Option<(Time, Packet)> {
        let Some((_, queue)) = self.bottleneck.as_mut().filter(|(side, _)| *side == to) else {
            return Some((now, *packet));
        };
        match queue.take(now, packet) {
            Fate::Leaves { at, marked } => Some((at, packet.with_ce(packet.ce() || marked))),
            Fate::Full => None,
        }
    }

    /// A frame has gone ahead of those that wait for some.
    fn release(&mut self, to: usize, due: Time) {
        let mut held = core::mem::take(&mut self.held[to]);
        held.iter_mut().for_each(|(left, _)| *left -= 1);
        for (left, packet) in held {
            if left == 0 {
                self.leave(to, due, packet);
            } else {
                self.held[to].push((left, packet));
            }
        }
    }

    fn leave(&mut self, to: usize, due: Time, packet: Packet) {
        let behind = self.leaves[to].iter().rposition(|(other, _)| *other <= due);
        self.leaves[to].insert(behind.map_or(0, |behind| behind + 1), (due, packet));
    }

    /// The first thing that is to be done to a frame, and the injection that says so.
    fn tamper(&mut self, now: Time, packet: &Packet) -> Option<(u16, Injected)> {
        let target = target(packet.kind)?;
        let own =
            |armed: &Armed| (armed.injection.on, armed.injection.frames) == (packet.stream, target);
        if !self.injections.iter().any(own) {
            return None;
        }
        let psn = packet.seq & 0xff_ffff;
        let round = if target == Target::Data {
            let passed = self.passed.entry((packet.stream, psn)).or_default();
            *passed += 1;
            *passed
        } else {
            1
        };
        let since = now.since(self.began).unwrap_or_default();
        let mut tamper = None;
        let armed = (0_u16..).zip(&mut self.injections);
        for (index, armed) in armed.filter(|(_, armed)| own(armed)) {
            armed.seen += 1;
            let Injection { which, iteration, tamper: what, .. } = armed.injection;
            let hit = match which {
                Which::Psn(wanted) => wanted == psn,
                Which::Nth(nth) => nth == armed.seen,
                Which::Every { every, run } => (armed.seen - 1) % every >= every - run,
                Which::During { lasting, every } => since % every < lasting,
            };
            if hit && iteration.is_none_or(|wanted| wanted == round) {
                tamper = tamper.or(Some((index, what)));
            }
        }
        tamper
    }
}

/// PFC is the port's own, of everything else what arrives at one side leaves by the other.
impl Device for Middlebox {
    fn arrive(
        &mut self,
        side: usize,
        plug: &mut Plug,
        now: Time,
        packet: &Packet,
        _: bool,
    ) -> Option<Packet> {
        if packet.kind == Kind::Pfc {
            return self.ports[side].arrive(0, plug, now, packet, false);
        }
        self.pass(now, side, packet);
        None
    }

    fn next(&self, side: usize, plug: &Plug) -> Time {
        self.ports[side].next(0, plug).min(self.passes(side, plug))
    }

    fn wake(&mut self, side: usize, plug: &mut Plug, now: Time) -> Option<&Packet> {
        if now != plug.gate && now == self.passes(side, plug) {
            self.passing[side] = self.pop(side);
            return self.passing[side].as_ref();
        }
        self.ports[side].wake(0, plug, now)
    }

    fn started(&mut self, side: usize, plug: &mut Plug, free: Time) {
        match self.passing[side].take() {
            Some(_) => self.ports[side].answered(0, plug, free),
            None => self.ports[side].started(0, plug, free),
        }
    }

    fn resume(&mut self, side: usize, plug: &mut Plug, now: Time, opened: u8) {
        self.ports[side].resume(0, plug, now, opened);
    }

    fn set_up(&mut self, side: usize, plug: &mut Plug, now: Time) {
        self.ports[side].set_up(0, plug, now);
    }
}

/// What of a connection a frame is.
const fn target(kind: Kind) -> Option<Target> {
    Some(match kind {
        Kind::Data => Target::Data,
        Kind::Ack => Target::Ack,
        Kind::Nak | Kind::NotReady => Target::Nak,
        Kind::Cnp => Target::Cnp,
        Kind::ReadRequest => Target::ReadRequest,
        Kind::Pfc => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_frames::roce::aeth::RnrTimer;

    fn middlebox(began: Time, delay: Dur) -> Middlebox {
        Middlebox::new(began, [3, 5], [(); 2].map(|()| RigPort::new(None)), delay)
    }

    fn packet(seq: u32) -> Packet {
        Packet { seq, ..Packet::data(7, 0, 1, 3, 3, 1000) }
    }

    /// The numbers that leave, each with its time, when packets 0 to 4 come a microsecond apart.
    fn leaves(which: Which, tamper: Injected) -> Vec<(u64, u32)> {
        let mut middlebox = middlebox(Time::ZERO, Dur::us(10));
        let frames = Target::Data;
        middlebox.inject(Injection { on: 7, frames, which, iteration: None, tamper });
        for seq in 0..5 {
            middlebox.pass(Time::ZERO + Dur::us(seq.into()), 0, &packet(seq));
        }
        assert_eq!(middlebox.due(0), Time::MAX);
        let mut all = Vec::new();
        while middlebox.due(1) < Time::MAX {
            let due = middlebox.due(1).0 / 1_000_000;
            all.extend(middlebox.pop(1).map(|packet| (due, packet.seq)));
        }
        assert_eq!(middlebox.touched.len(), 1);
        all
    }

    #[test]
    fn frames_leave_in_order_after_the_delay_but_for_what_is_done_to_one() {
        let plain = [(10, 0), (11, 1), (12, 2), (13, 3), (14, 4)];
        assert_eq!(leaves(Which::Psn(2), Injected::Ce), plain);
        assert_eq!(leaves(Which::Nth(2), Injected::Drop), [(10, 0), (12, 2), (13, 3), (14, 4)]);
        // Of two at one time the one that came first.
        let late = [(10, 0), (12, 2), (13, 1), (13, 3), (14, 4)];
        assert_eq!(leaves(Which::Psn(1), Injected::Delay(Dur::us(2))), late);
        let swapped = [(10, 0), (12, 2), (13, 3), (13, 1), (14, 4)];
        assert_eq!(leaves(Which::Psn(1), Injected::Behind(2)), swapped);
        let twice = [(10, 0), (11, 1), (11, 1), (12, 2), (13, 3), (14, 4)];
        assert_eq!(leaves(Which::Psn(1), Injected::Duplicate), twice);
    }

    #[test]
    fn a_receiver_that_is_not_ready_takes_nothing_until_its_message_comes_again() {
        let mut middlebox = middlebox(Time::ZERO, Dur::us(10));
        let (on, frames, which) = (7, Target::Data, Which::Psn(1));
        let timer = RnrTimer::new(14).expect("five bits");
        let tamper = Injected::NotReady(timer);
        middlebox.inject(Injection { on, frames, which, iteration: Some(1), tamper });
        for seq in [0, 1, 2, 3, 1, 2] {
            middlebox.pass(Time::ZERO, 0, &packet(seq));
        }
        let left: Vec<u32> = core::iter::from_fn(|| middlebox.pop(1)).map(|one| one.seq).collect();
        assert_eq!(left, [0, 1, 2]);
        let answer = middlebox.pop(0).expect("an RNR NAK");
        assert_eq!((answer.kind, answer.seq, answer.rnr_timer()), (Kind::NotReady, 1, timer));
        assert!(middlebox.pop(0).is_none());
        let what: Vec<Injected> = middlebox.touched.iter().map(|one| one.what).collect();
        assert_eq!(what, [tamper, Injected::Drop, Injected::Drop]);
    }

    #[test]
    fn an_iteration_is_how_often_the_number_has_passed() {
        let mut middlebox = middlebox(Time::ZERO, Dur::ZERO);
        let (on, frames, which) = (7, Target::Data, Which::Psn(4));
        let tamper = Injected::Drop;
        middlebox.inject(Injection { on, frames, which, iteration: Some(2), tamper });
        for seq in [4, 5, 4, 4] {
            middlebox.pass(Time::ZERO, 0, &packet(seq));
        }
        let left: Vec<u32> = core::iter::from_fn(|| middlebox.pop(1)).map(|one| one.seq).collect();
        assert_eq!(left, [4, 5, 4]);
    }

    #[test]
    fn a_mark_and_a_wrong_icrc_are_seen_in_the_frame() {
        for (tamper, ce, bad) in [(Injected::Ce, true, false), (Injected::BadIcrc, false, true)] {
            let mut middlebox = middlebox(Time::ZERO, Dur::ZERO);
            let (on, frames, which) = (7, Target::Data, Which::Every { every: 1, run: 1 });
            middlebox.inject(Injection { on, frames, which, iteration: None, tamper });
            middlebox.pass(Time::ZERO, 1, &packet(0));
            let left = middlebox.pop(0).expect("it passed");
            assert_eq!((left.ce(), left.bad_icrc()), (ce, bad));
        }
    }

    #[test]
    fn frames_leave_a_bottleneck_a_slot_apart_and_what_it_has_no_room_for_is_told() {
        let mut middlebox = middlebox(Time::ZERO, Dur::us(10));
        let speed = rig_units::PortSpeed::from_bps(40_000_000_000).expect("200 ps a byte");
        let [kmin, kmax, buffer] = [1_000, 1_000, 2_000].map(rig_units::Bytes);
        let curve = rig_lab::Curve { kmin, kmax, pmax: rig_units::Ppm(0) };
        let config = rig_testcases::Bottleneck { to: 5, speed, curve, buffer };
        middlebox.narrow(5, &config, 1);
        for seq in 0..4 {
            middlebox.pass(Time::ZERO, 0, &packet(seq).with_ect(true));
        }
        middlebox.pass(Time::ZERO, 1, &packet(9));
        let mut left = Vec::new();
        while middlebox.due(1) < Time::MAX {
            let due = middlebox.due(1).0 / 1_000;
            left.extend(middlebox.pop(1).map(|packet| (due, packet.seq, packet.ce())));
        }
        // 1000 B and 20 B around them: 204 ns.
        assert_eq!(left, [(10_000, 0, false), (10_204, 1, false), (10_408, 2, true)]);
        assert_eq!(
            middlebox.due(0),
            Time::ZERO + Dur::us(10),
            "the other way is as wide as its port"
        );
        let lost = Touched { at: Time::ZERO, host: 3, injection: None, what: Injected::Drop };
        assert_eq!(middlebox.into_parts().1, [lost]);
    }

    #[test]
    fn a_window_of_time_comes_again_and_again() {
        let mut middlebox = middlebox(Time::ZERO + Dur::us(100), Dur::ZERO);
        let which = Which::During { lasting: Dur::us(2), every: Dur::us(10) };
        let (on, frames, tamper) = (7, Target::Data, Injected::Ce);
        middlebox.inject(Injection { on, frames, which, iteration: None, tamper });
        for seq in 0..25 {
            middlebox.pass(Time::ZERO + Dur::us(100 + u64::from(seq)), 0, &packet(seq));
        }
        let left = core::iter::from_fn(|| middlebox.pop(1));
        let marked: Vec<u32> = left.filter(Packet::ce).map(|one| one.seq).collect();
        assert_eq!(marked, [0, 1, 10, 11, 20, 21]);
    }
}
