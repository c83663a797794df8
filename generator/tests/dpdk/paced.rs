//! The pacer over a DPDK port, which wakes nobody.

use crate::alone::{alone, config};
use rig_generator::clock::{Clock, Wall};
use rig_generator::port::{Port, StampedBy};
use rig_generator::{
    Departure, Job, Lane, Obeys, Pacer, Rhythm, Sender, Stall, Template, Watcher, Who,
};
use rig_testcases::{StreamRate, StreamSpec, wire};
use rig_units::{Bytes, Dur, Pace, PortSpeed, Time};

#[derive(Default)]
struct Log {
    sent: Vec<(u64, Time)>,
    received: Vec<(Vec<u8>, Time)>,
}

impl Watcher for Log {
    fn sent(&mut self, _: u16, departure: &Departure, at: Time, _: Time) {
        self.sent.push((departure.number, at));
    }
    fn received(&mut self, _: u16, frame: &[u8], at: Time, _: StampedBy) {
        self.received.push((frame.to_vec(), at));
    }
}

#[test]
fn a_paced_stream_comes_back_while_the_pacer_sleeps() {
    if !alone("paced::a_paced_stream_comes_back_while_the_pacer_sleeps") {
        return;
    }
    let spec = StreamSpec {
        name: "victim".into(),
        rate: StreamRate::Every(Dur::ms(1)),
        ..StreamSpec::probe(0, 1)
    };
    let port = Port::open(&config("net_ring0", &["--vdev=net_ring0"], 1_514));
    let port = port.unwrap_or_else(|error| panic!("{error}"));
    // Whatever is late is caught up with: every frame leaves.
    let sender = Sender::new(PortSpeed::G10, Obeys::default(), Stall::SkipAfter(Dur::s(60)));
    let mut lane = Lane::new(port.tx, port.rx, sender, false);
    lane.assign(Who::Stream(0), Template::of_stream(0, &spec));
    let clock = Wall::start();
    let mut pacer = Pacer { clock, lanes: vec![lane], awake: Dur::us(20) };
    let job = Job {
        who: Who::Stream(0),
        class: Some(3),
        size: Bytes(254),
        rhythm: Rhythm::Even(Pace::every(Dur::ms(1))),
        first: 0,
        count: Some(50),
    };
    let mut log = Log::default();
    pacer.lanes[0].sender.start(clock.now() + Dur::ms(1), job);
    pacer.run_until(clock.now() + Dur::ms(80), &mut log).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        log.sent.iter().map(|&(number, _)| number).collect::<Vec<_>>(),
        Vec::from_iter(0..50)
    );
    assert_eq!(log.received.len(), 50);
    for (seq, ((bytes, at), (_, left))) in (0..).zip(log.received.iter().zip(&log.sent)) {
        assert_eq!(*bytes, wire::data(&spec, 0, seq, Bytes(254), false));
        assert!(at >= left, "frame {seq} is back before it left");
    }
}
