//! The rig between two NICs: what arrives at one of its ports leaves by the other a while later, in order, but for the frames to
//! which something is done on the way. The way to one of them may be a bottleneck: what waits there leaves later.

mod bottleneck;

use self::bottleneck::{Bottleneck, Fate};
use super::blue_rdma::{self, Log};
use super::chance;
use super::host::{Device, Plug, RigPort};
use super::packet::{ACK_SIZE, CLASSES, Packet, PacketKind, bit, slot};
use rig_testcases::{Injected, Injection, Passing, Target};
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
    /// How many of them there are of each class: what waits for a class that is closed is not looked through each time.
    waiting: [[usize; CLASSES]; 2],
    /// What waits for so many more frames that leave by each of the hosts.
    held: [Vec<(u32, Packet)>; 2],
    /// How often each packet sequence number of a connection has passed, where an injection asks for it.
    passed: BTreeMap<(u16, u32), u32>,
    touched: Vec<Touched>,
    /// Connections whose receiver is not ready for the message that begins with a number, and the injection that says so.
    unready: BTreeMap<u16, (u32, u16)>,
    /// The number that the receiver of a connection expects next, by what has left for it; before the first has come there is none. Of
    /// connections alone whose receivers are not ready at times.
    expected: BTreeMap<u16, Option<u32>>,
    /// What leaves by each of the hosts now.
    passing: [Option<Packet>; 2],
    /// Where stands what frames of blue-rdma say.
    log: Log,
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
    /// Common to its draws.
    stream: u64,
}

/// What chances are counted in.
const MILLION: u128 = 1_000_000;

impl Middlebox {
    /// From `began` on between two hosts, `delay` from the last bit in to the first bit out.
    pub(super) fn new(
        (began, log): (Time, Log),
        hosts: [u16; 2],
        ports: [RigPort; 2],
        delay: Dur,
    ) -> Middlebox {
        Middlebox {
            hosts,
            ports,
            delay,
            began,
            injections: Vec::new(),
            bottleneck: None,
            leaves: Default::default(),
            waiting: Default::default(),
            held: Default::default(),
            passed: BTreeMap::new(),
            touched: Vec::new(),
            unready: BTreeMap::new(),
            expected: BTreeMap::new(),
            passing: Default::default(),
            log,
        }
    }

    /// Adds something that is done from now on. Packet sequence numbers are those in the frames. What is drawn is drawn from `seed`, from when it
    /// began, and from its place among all that is done.
    pub(super) fn inject(&mut self, injection: Injection<u16>, seed: u64) {
        if matches!(injection.tamper, Injected::NotReady(_)) {
            self.expected.entry(injection.on).or_default();
        }
        let began = chance::draw(chance::stream(seed, *b"injected"), self.began.0);
        let nth = u64::try_from(self.injections.len()).unwrap_or(u64::MAX);
        let stream = chance::mix(began.wrapping_add(nth));
        self.injections.push(Armed { injection, seen: 0, stream });
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

    /// The place of the next frame that leaves by a side: the first that is not of one of the classes in `closed`.
    fn place(&self, side: usize, closed: u8) -> Option<usize> {
        let mut leaves = self.leaves[side].iter();
        let is_open = |class: u8| closed & bit(class) == 0 && self.waiting[side][slot(class)] > 0;
        match closed {
            0 => leaves.next().map(|_| 0),
            _ if !(0..).take(CLASSES).any(is_open) => None,
            _ => leaves.position(|(_, packet)| closed & bit(packet.class) == 0),
        }
    }

    /// When it may leave; [`Time::MAX`] if there is none.
    fn due(&self, side: usize, closed: u8) -> Time {
        let place = self.place(side, closed);
        let next = place.and_then(|place| self.leaves[side].get(place));
        next.map_or(Time::MAX, |(due, _)| *due)
    }

    /// The next frame that leaves by a side.
    fn pop(&mut self, side: usize, closed: u8) -> Option<Packet> {
        let place = self.place(side, closed)?;
        let (_, packet) = self.leaves[side].remove(place)?;
        self.waiting[side][slot(packet.class)] -= 1;
        if let Some(Some(expected)) = self.expected.get_mut(&packet.stream) {
            *expected = after(*expected, &packet);
        }
        Some(packet)
    }

    /// Whether a packet of data is the very one that its receiver expects next when it gets there: what is ahead of a hole says that there is
    /// one, and what was taken before is acknowledged, before anybody asks whether there is a buffer (IBTA volume 1, 9.7.5.1.1).
    fn is_expected(&mut self, now: Time, to: usize, packet: &Packet) -> bool {
        let Some(expected) = self.expected.get_mut(&packet.stream) else { return false };
        // A connection begins with the first packet that comes, whatever becomes of it.
        let expected = *expected.get_or_insert(number(packet));
        let narrow = self.bottleneck.as_ref().filter(|(side, _)| *side == to);
        let begins = narrow.map_or(now, |(_, queue)| queue.begins(now));
        let own = |(due, ahead): &&(Time, Packet)| {
            ahead.stream == packet.stream && *due <= begins + self.delay
        };
        let ahead = self.leaves[to].iter().filter(own);
        ahead.fold(expected, |expected, (_, ahead)| after(expected, ahead)) == number(packet)
    }

    /// When the next frame leaves by a side.
    fn passes(&self, side: usize, plug: &Plug) -> Time {
        let due = self.due(side, plug.closed());
        if due == Time::MAX { due } else { due.max(plug.ready()) }
    }

    /// Takes in a frame that arrived at a side at `now`.
    fn pass(&mut self, now: Time, side: usize, packet: &Packet) {
        let to = 1 - side;
        let host = self.hosts[side];
        if let Some(injection) = self.is_refused(packet) {
            let what = Injected::Drop;
            return self.touched.push(Touched { at: now, host, injection: Some(injection), what });
        }
        let tamper = self.tamper(now, to, packet);
        let (injection, tamper) = tamper.unzip();
        self.touched.extend(tamper.map(|what| Touched { at: now, host, injection, what }));
        match tamper {
            Some(Injected::Drop) => return,
            Some(Injected::NotReady(timer)) => {
                self.unready.extend(injection.map(|one| (packet.stream, (number(packet), one))));
                let mut answer = packet.ack(ACK_SIZE).with_ect(false).with_ce(false);
                answer.kind = PacketKind::NotReady;
                if packet.is_v6() {
                    answer = answer.over_v6();
                }
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
            Some(Injected::OtherKey) => self.leave(to, due, packet.with_other_key()),
            Some(Injected::Rocev2) => self.leave(to, due, blue_rdma::as_rocev2(&packet)),
            Some(Injected::BlueRdma) => {
                let packet = blue_rdma::as_blue_rdma(&packet, &self.log);
                self.leave(to, due, packet);
            }
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
        let (unready, injection) = *self.unready.get(&packet.stream)?;
        if packet.kind != PacketKind::Data {
            return None;
        }
        if number(packet) != unready {
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
        self.waiting[to][slot(packet.class)] += 1;
    }

    /// The first thing that is to be done to a frame, and the injection that says so.
    fn tamper(&mut self, now: Time, to: usize, packet: &Packet) -> Option<(u16, Injected)> {
        let target = target(packet.kind)?;
        let own =
            |armed: &Armed| (armed.injection.on, armed.injection.frames) == (packet.stream, target);
        if !self.injections.iter().any(own) {
            return None;
        }
        let psn = number(packet);
        let expected = target == Target::Data && self.is_expected(now, to, packet);
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
            let passing = Passing { psn, nth: armed.seen, since };
            let hit = which.hits(passing, || {
                ((u128::from(chance::draw(armed.stream, armed.seen.into())) * MILLION) >> 64)
                    .try_into()
                    .unwrap_or(u64::MAX)
            });
            let hit = hit && (expected || !matches!(what, Injected::NotReady(_)));
            if hit && iteration.is_none_or(|wanted| wanted == round) {
                tamper = tamper.or(Some((index, what)));
            }
        }
        tamper
    }
}

/// PFC is the port's own: what it pauses waits, whatever comes behind it. Of everything else what arrives at one side leaves by the other.
impl Device for Middlebox {
    fn arrive(
        &mut self,
        side: usize,
        plug: &mut Plug,
        now: Time,
        packet: &Packet,
        _: bool,
    ) -> Option<Packet> {
        if packet.kind == PacketKind::Pfc {
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
            self.passing[side] = self.pop(side, plug.closed());
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

/// The number of a packet, as its frame has it.
const fn number(packet: &Packet) -> u32 {
    packet.seq & 0xff_ffff
}

/// The number that a receiver expects after this, if it expected that before.
fn after(expected: u32, packet: &Packet) -> u32 {
    let taken = packet.kind == PacketKind::Data && !packet.bad_icrc() && number(packet) == expected;
    if taken { (expected + 1) & 0xff_ffff } else { expected }
}

/// What of a connection a frame is.
const fn target(kind: PacketKind) -> Option<Target> {
    Some(match kind {
        PacketKind::Data => Target::Data,
        PacketKind::Ack => Target::Ack,
        PacketKind::Nak | PacketKind::NotReady => Target::Nak,
        PacketKind::Cnp => Target::Cnp,
        PacketKind::ReadRequest => Target::ReadRequest,
        PacketKind::Pfc => return None,
    })
}

#[cfg(test)]
mod tests;
