use super::*;
use crate::clock::Manual;
use crate::gate::Obeys;
use crate::port::memory::{self, Halves};
use crate::rhythm::Rhythm;
use crate::sender::{Job, Stall};
use rig_frames::mac_control;
use rig_testcases::{StreamKind, StreamRate, StreamSpec, wire};
use rig_units::{Bytes, Pace, PortSpeed, Quanta};

const SPEED: PortSpeed = PortSpeed::G10;

fn at(dur: Dur) -> Time {
    Time::ZERO + dur
}

fn spec() -> StreamSpec {
    StreamSpec {
        name: "victim".into(),
        from: 0,
        to: 1,
        class: 3,
        dscp: 3,
        kind: StreamKind::RoceWrite,
        size: Bytes(254),
        rate: StreamRate::Every(Dur::us(10)),
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
}

impl Watcher for Log {
    fn sent(&mut self, _: u16, departure: &Departure, at: Time) {
        self.sent.push((departure.number, at));
    }
    fn received(&mut self, _: u16, frame: &[u8], at: Time, _: StampedBy) {
        self.received.push((frame.len(), at));
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
