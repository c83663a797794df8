use super::*;
use crate::clock::Manual;
use crate::gate::Obeys;
use crate::port::memory::{self, Halves};
use crate::port::{Frame, Kick, Mono, Receive, Stamp, Stats, Transmit, at_most};
use crate::rhythm::Rhythm;
use crate::sender::{Job, Sender, Stall, Who};
use crate::template::{Source, Template};
use rig_frames::{mac_control, pfc};
use rig_testcases::{StreamRate, StreamSpec, wire};
use rig_units::{Bytes, Pace, PortSpeed, Quanta};
use std::collections::VecDeque;
use std::os::fd::BorrowedFd;

mod full;
mod secured;

const SPEED: PortSpeed = PortSpeed::G10;

fn at(dur: Dur) -> Time {
    Time::ZERO + dur
}

fn spec() -> StreamSpec {
    StreamSpec {
        name: "victim".into(),
        rate: StreamRate::Every(Dur::us(10)),
        ..StreamSpec::probe(0, 1)
    }
}

fn job(count: u64) -> Job {
    let rhythm = Rhythm::Even(Pace::every(Dur::us(10)));
    Job {
        who: Who::Stream(0),
        class: Some(3),
        size: Bytes(254),
        rhythm,
        first: 0,
        count: Some(count),
    }
}

/// A rig of one port that faces another in memory.
fn rig(instant: bool, slots: u32) -> (Pacer<Manual>, Halves) {
    let clock = Manual::default();
    let ((tx, rx), far) = memory::pair(&clock, slots, 1514);
    let sender = Sender::new(SPEED, Obeys::default(), Stall::SkipAfter(Dur::ns(500)));
    let mut lane = Lane::new(tx, rx, sender, instant);
    lane.assign(Who::Stream(0), Template::of_stream(0, &spec()));
    (Pacer { clock, lanes: vec![lane], awake: Dur::us(2) }, far)
}

#[derive(Default)]
struct Log {
    sent: Vec<(u64, Time)>,
    received: Vec<(usize, Time)>,
    /// It wants to hear of so many at most.
    most: Option<usize>,
}

impl Watcher for Log {
    fn sent(&mut self, _: u16, departure: &Departure, at: Time, _: Time) {
        self.sent.push((departure.number, at));
    }
    fn received(&mut self, _: u16, frame: &[u8], at: Time, _: StampedBy) {
        self.received.push((frame.len(), at));
    }
    fn is_over(&self) -> bool {
        self.most.is_some_and(|most| self.sent.len() >= most)
    }
}

fn xoff(clock: &Manual, far: &mut Halves, quanta: u16) {
    let frame = mac_control::frame_pfc(wire::dut_mac(0), &pfc::Repr::all(8, Quanta(quanta)));
    let mut slot = far.0.alloc().expect("a slot");
    far.0.bytes(&mut slot)[..frame.len()].copy_from_slice(&frame);
    far.0.stage(slot, frame.len());
    far.0.publish();
    far.0.kick().expect("in memory");
    let _ = clock;
}

#[test]
fn frames_leave_at_their_instants_and_are_those_of_the_script() {
    for (instant, delay) in [(false, Dur::ZERO), (true, SPEED.serialise(Bytes(254)))] {
        let (mut rig, mut far) = rig(instant, 8);
        let mut log = Log::default();
        rig.lanes[0].sender.start(at(Dur::us(5)), job(3));
        rig.run_until(at(Dur::ms(1)), &mut log).expect("in memory");
        let want = [(0, Dur::us(5)), (1, Dur::us(15)), (2, Dur::us(25))];
        assert_eq!(log.sent, want.map(|(number, due)| (number, at(due + delay))));
        let mut frames = Vec::new();
        far.1.poll(&mut |frame, _| frames.push(frame.to_vec())).expect("in memory");
        let want: Vec<_> =
            (0..3).map(|seq| wire::data(&spec(), 0, seq, Bytes(254), false)).collect();
        assert_eq!(frames, want);
    }
}

#[test]
fn what_is_over_ends_before_its_time_and_is_asked_while_nothing_is_due() {
    let (mut rig, _far) = rig(false, 8);
    let mut log = Log { most: Some(2), ..Log::default() };
    rig.lanes[0].sender.start(Time::ZERO, job(1_000));
    rig.run_until(at(Dur::s(100)), &mut log).expect("in memory");
    assert_eq!((log.sent.len(), rig.clock.now()), (2, at(Dur::us(10))));
    // Idle, it sleeps no longer than until it asks again.
    rig.lanes[0].sender.stop_all();
    rig.sleep(at(Dur::s(100))).expect("in memory");
    assert_eq!(rig.clock.now(), at(Dur::us(10) + ASKS));
}

/// Has a frame go on at each of these times.
#[derive(Default)]
struct GoesOn {
    due: VecDeque<Time>,
    left: Vec<(Time, Time)>,
}

impl Watcher for GoesOn {
    fn sent(&mut self, _: u16, _: &Departure, _: Time, _: Time) {}
    fn received(&mut self, _: u16, _: &[u8], _: Time, _: StampedBy) {}
    fn onward(&mut self, now: Time) -> Option<(u16, Vec<u8>)> {
        let due = self.due.pop_front_if(|due| *due <= now)?;
        self.left.push((due, due));
        Some((0, vec![7; 60]))
    }
    fn goes_on_at(&self) -> Option<Time> {
        self.due.front().copied()
    }
    fn passed(&mut self, _: u16, _: &[u8], left: Option<(Time, Time)>) {
        if let (Some((_, was)), Some((at, _))) = (self.left.last_mut(), left) {
            *was = at;
        }
    }
}

#[test]
fn what_goes_on_later_is_woken_for_and_what_is_due_behind_the_end_stays() {
    let (mut rig, mut far) = rig(false, 8);
    let times = [Dur::ms(3), Dur::ms(41), Dur::ms(900)].map(at);
    let mut watcher = GoesOn { due: times.into(), ..GoesOn::default() };
    rig.run_until(at(Dur::ms(500)), &mut watcher).expect("in memory");
    assert_eq!(watcher.left, [(times[0], times[0]), (times[1], times[1])]);
    let mut frames = 0;
    far.1.poll(&mut |_, _| frames += 1).expect("in memory");
    assert_eq!((frames, watcher.due.len()), (2, 1));
}

#[test]
fn a_frame_that_has_begun_is_finished_and_one_that_has_not_stays() {
    for (instant, first, until) in [(true, 25_000, 25_001), (false, 25_000, 25_001)] {
        let (mut rig, _far) = rig(instant, 8);
        let mut log = Log::default();
        rig.lanes[0].sender.start(at(Dur::ns(first)), job(3));
        rig.run_until(at(Dur::ns(until)), &mut log).expect("in memory");
        assert_eq!(
            log.sent.len(),
            1,
            "a storm's last frame leaves though its storm is over by then"
        );
        rig.run_until(at(Dur::ns(first + 10_000)), &mut log).expect("in memory");
        assert_eq!(log.sent.len(), 1, "the next is due at that very instant");
    }
}

#[test]
fn one_slot_is_enough_and_is_written_again_only_where_it_changes() {
    let (mut rig, mut far) = rig(false, 1);
    rig.lanes[0].sender.start(Time::ZERO, job(300));
    rig.run_until(at(Dur::ms(4)), &mut Log::default()).expect("in memory");
    let mut last = Vec::new();
    let count = far.1.poll(&mut |frame, _| last = frame.to_vec()).expect("in memory");
    assert_eq!(count, 300);
    assert_eq!(last, wire::data(&spec(), 0, 299, Bytes(254), false));
}

#[test]
fn a_pause_that_arrives_stops_its_class_and_is_handed_on() {
    let (mut rig, mut far) = rig(false, 8);
    let mut log = Log::default();
    rig.lanes[0].sender.start(Time::ZERO, job(1_000));
    rig.run_until(at(Dur::us(101)), &mut log).expect("in memory");
    assert_eq!(log.sent.len(), 11);
    let clock = rig.clock.clone();
    xoff(&clock, &mut far, 1_000);
    rig.run_until(at(Dur::us(200)), &mut log).expect("in memory");
    let end = at(Dur::us(101)) + SPEED.pause(Quanta(1_000));
    assert_eq!(log.sent[11].1, end, "51.2 us of silence");
    assert_eq!(log.received, [(60, at(Dur::us(101)))]);
}

#[test]
fn a_clock_that_jumps_ahead_makes_frames_late_by_what_it_jumped_and_no_burst_follows() {
    let (mut rig, _far) = rig(false, 8);
    let mut log = Log::default();
    rig.lanes[0].sender.start(Time::ZERO, job(20));
    rig.run_until(at(Dur::us(25)), &mut log).expect("in memory");
    rig.clock.step_to(at(Dur::us(65)));
    rig.run_until(at(Dur::us(100)), &mut log).expect("in memory");
    let numbers: Vec<(u64, Time)> = log.sent[3..].to_vec();
    let want = [(3, 65), (4, 70), (5, 80), (6, 90)].map(|(n, us)| (n, at(Dur::us(us))));
    assert_eq!(numbers, want);
}

#[test]
fn a_slot_of_an_earlier_sender_is_written_anew() {
    let (mut rig, mut far) = rig(false, 1);
    rig.lanes[0].sender.start(Time::ZERO, job(2));
    rig.run_until(at(Dur::us(50)), &mut Log::default()).expect("in memory");
    rig.lanes[0].forget(Obeys::default());
    let longer = StreamSpec { size: Bytes(510), ..spec() };
    rig.lanes[0].assign(Who::Stream(0), Template::of_stream(7, &longer));
    rig.lanes[0].sender.start(at(Dur::us(50)), Job { size: Bytes(510), first: 9, ..job(1) });
    rig.run_until(at(Dur::us(60)), &mut Log::default()).expect("in memory");
    let mut last = Vec::new();
    far.1.poll(&mut |frame, _| last = frame.to_vec()).expect("in memory");
    assert_eq!(last, wire::data(&longer, 7, 9, Bytes(510), false));
}

/// A port that wakes nobody, by which one frame arrives at an instant.
#[derive(Debug)]
struct Later {
    clock: Manual,
    frame: Vec<u8>,
    arrives: VecDeque<Time>,
}

impl Later {
    fn next(&self) -> Option<Time> {
        self.arrives.front().copied().filter(|&at| at <= self.clock.now())
    }
}

impl Receive for Later {
    fn poll(&mut self, take: &mut dyn FnMut(&[u8], Stamp)) -> Result<usize, PortError> {
        let mut taken = 0;
        while let Some(at) = self.next() {
            self.arrives.pop_front();
            take(&self.frame, Stamp { at: self.clock.mono(at), by: StampedBy::Process });
            taken += 1;
        }
        Ok(taken)
    }
    fn wait(&mut self, _: Dur) -> Result<bool, PortError> {
        Ok(self.next().is_some())
    }
    fn fds(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }
    fn stats(&self) -> Result<Stats, PortError> {
        Ok(Stats::default())
    }
}

/// When each frame was heard of.
struct Heard(Manual, Vec<Time>);

impl Watcher for Heard {
    fn sent(&mut self, _: u16, _: &Departure, _: Time, _: Time) {}
    fn received(&mut self, _: u16, _: &[u8], _: Time, _: StampedBy) {
        self.1.push(self.0.now());
    }
}

/// A clock that a test holds, and by which one sleeps as by the wall's: no longer than the ports allow.
#[derive(Debug)]
struct Napping(Manual);

impl Clock for Napping {
    fn now(&self) -> Time {
        self.0.now()
    }
    fn at(&self, stamp: Mono) -> Time {
        self.0.at(stamp)
    }
    fn mono(&self, at: Time) -> Mono {
        self.0.mono(at)
    }
    fn sleep(&self, until: Time, ports: &[&dyn Receive]) -> Result<(), PortError> {
        let now = self.now();
        self.0.sleep(now + at_most(ports, until.since(now).unwrap_or_default()), ports)
    }
    fn spin(&self, until: Time) {
        self.0.spin(until);
    }
}

#[test]
fn a_frame_at_a_port_that_wakes_nobody_is_heard_of_soon() {
    for sends in [false, true] {
        let (mut rig, _far) = rig(false, 8);
        let clock = rig.clock.clone();
        let arrives = at(Dur::us(777));
        let frame = vec![0; 60];
        rig.lanes[0].rx =
            Box::new(Later { clock: clock.clone(), frame, arrives: [arrives].into() });
        if sends {
            rig.lanes[0].sender.start(at(Dur::ms(5)), job(1));
        }
        let mut heard = Heard(clock.clone(), Vec::new());
        let Pacer { lanes, awake, .. } = rig;
        let mut rig = Pacer { clock: Napping(clock), lanes, awake };
        rig.run_until(at(Dur::ms(10)), &mut heard).expect("in memory");
        let [when] = heard.1[..] else { panic!("{:?}", heard.1) };
        assert!(when.since(arrives) <= Some(Dur::us(50)), "{when:?}");
    }
}

#[test]
fn what_arrives_does_not_move_a_frame_that_is_under_way() {
    // A frame takes 2 us of every 10; a pause arrives each half a microsecond.
    let slow = PortSpeed::from_bps(1_000_000_000).expect("a speed");
    for (classes, leave) in [(0, 10), (u8::MAX, 1)] {
        let (mut rig, _far) = rig(true, 8);
        let obeys = Obeys { classes, ..Obeys::default() };
        rig.lanes[0].sender = Sender::new(slow, obeys, Stall::CatchUp);
        rig.lanes[0].sender.start(Time::ZERO, job(10));
        let pause = pfc::Repr::all(8, Quanta(65_535));
        let frame = mac_control::frame_pfc(wire::dut_mac(0), &pause);
        let arrives = (1..300).map(|n| at(Dur::ns(n * 500 + 7))).collect();
        rig.lanes[0].rx = Box::new(Later { clock: rig.clock.clone(), frame, arrives });
        let mut log = Log::default();
        rig.run_until(at(Dur::us(140)), &mut log).expect("in memory");
        let took = slow.serialise(Bytes(254));
        let want: Vec<_> = (0..leave).map(|n| (n, at(Dur::us(10) * n + took))).collect();
        assert_eq!(log.sent, want, "{classes:#b}");
    }
}

/// A port that takes nothing: a microsecond passes with every try.
#[derive(Debug)]
struct Stuck(Manual);

impl Transmit for Stuck {
    fn alloc(&mut self) -> Option<Frame> {
        None
    }
    fn bytes<'a>(&'a mut self, _: &'a mut Frame) -> &'a mut [u8] {
        unreachable!("it gives out none")
    }
    fn release(&mut self, _: Frame) {}
    fn stage(&mut self, _: Frame, _: usize) {}
    fn publish(&mut self) {}
    fn kick(&mut self) -> Result<Kick, PortError> {
        self.0.advance_to(self.0.now() + Dur::us(1));
        Ok(Kick { waiting: 1, refused: true, ..Kick::default() })
    }
    fn reclaim(&mut self) -> usize {
        0
    }
    fn stats(&self) -> Result<Stats, PortError> {
        Ok(Stats::default())
    }
}

#[test]
fn a_port_that_takes_nothing_does_not_keep_the_pacer_beyond_its_time() {
    let (mut rig, _far) = rig(false, 8);
    rig.lanes[0].tx = Box::new(Stuck(rig.clock.clone()));
    rig.lanes[0].sender.start(Time::ZERO, job(3));
    let mut log = Log::default();
    rig.run_until(at(Dur::ms(1)), &mut log).expect("in memory");
    assert_eq!(log.sent, []);
    assert!(rig.clock.now() <= at(Dur::us(1_001)));
}

/// The times that frames carry, in nanoseconds, and those of their arrival.
fn timestamps(far: &mut Halves) -> Vec<(u64, u64)> {
    let mut timestamps = Vec::new();
    let mut take = |frame: &[u8], stamp: Stamp| {
        let carried = frame[60..68].try_into().expect("eight bytes");
        timestamps.push((u64::from_be_bytes(carried), stamp.at.0));
    };
    far.1.poll(&mut take).expect("in memory");
    timestamps
}

fn stamped(rig: &mut Pacer<Manual>) {
    let template = Template::of_stream(0, &spec()).with(60..68, Source::Stamp).expect("a field");
    rig.lanes[0].assign(Who::Stream(0), template);
}

#[test]
fn a_frame_that_was_written_ahead_of_time_carries_the_time_at_which_it_leaves() {
    let (mut rig, mut far) = rig(false, 8);
    stamped(&mut rig);
    rig.lanes[0].sender.start(at(Dur::us(50)), job(3));
    rig.run_until(at(Dur::us(100)), &mut Log::default()).expect("in memory");
    assert_eq!(timestamps(&mut far), [50, 60, 70].map(|us| (us * 1_000, us * 1_000)));
}

#[test]
fn what_became_due_meanwhile_leaves_with_one_call_at_the_pace_of_the_port() {
    let (mut rig, mut far) = rig(false, 8);
    stamped(&mut rig);
    let slot = SPEED.slot(Bytes(254));
    let mut log = Log::default();
    // The machine looks away for five frames and a half.
    rig.clock.step_to(at(slot * 11 / 2));
    rig.lanes[0].sender = Sender::new(SPEED, Obeys::default(), Stall::CatchUp);
    rig.lanes[0]
        .sender
        .start(Time::ZERO, Job { rhythm: Rhythm::Even(Pace::every(slot)), ..job(20) });
    rig.run_until(at(Dur::ms(1)), &mut log).expect("in memory");
    let sent: Vec<Time> = log.sent.iter().map(|&(_, at)| at).collect();
    let now = at(slot * 11 / 2);
    let want = (0..20).map(|n| at(slot * n).max(now));
    assert_eq!(sent, want.collect::<Vec<_>>());
    let numbers: Vec<u64> = log.sent.iter().map(|&(number, _)| number).collect();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>());
    assert!(timestamps(&mut far).iter().all(|&(carried, arrived)| carried == arrived));
}

/// What was written, and how many frames have left since.
#[derive(Default)]
struct Seen(Vec<Vec<u8>>, usize);

impl Watcher for Seen {
    fn sent(&mut self, _: u16, departure: &Departure, _: Time, _: Time) {
        assert!(self.1 < self.0.len(), "{departure:?} left before it was written");
        self.1 += 1;
    }
    fn received(&mut self, _: u16, _: &[u8], _: Time, _: StampedBy) {}
    fn reads(&self) -> bool {
        true
    }
    fn wrote(&mut self, port: u16, frame: &[u8]) {
        assert_eq!(port, 0);
        self.0.push(frame.to_vec());
    }
}

#[test]
fn whoever_reads_is_shown_the_bytes_that_leave_one_by_one_and_in_a_burst() {
    for stall in [Dur::ZERO, Dur::us(95)] {
        let (mut rig, mut far) = rig(false, 16);
        stamped(&mut rig);
        rig.lanes[0].sender = Sender::new(SPEED, Obeys::default(), Stall::CatchUp);
        rig.lanes[0].sender.start(Time::ZERO, job(20));
        rig.clock.step_to(at(stall));
        let mut seen = Seen::default();
        rig.run_until(at(Dur::ms(1)), &mut seen).expect("in memory");
        let mut arrived = Vec::new();
        far.1.poll(&mut |frame, _| arrived.push(frame.to_vec())).expect("in memory");
        assert_eq!((seen.1, arrived.len()), (20, 20));
        assert_eq!(seen.0, arrived, "stamp and all");
    }
}
