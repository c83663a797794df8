//! Ports that are slow, full, too small, or bring more than one round can take.

use super::bench::{Bench, probe, profile};
use crate::control::Health;
use crate::serve::served::{Line, Next};
use rig_generator::clock::Clock as _;
use rig_generator::port::{Frame, Kick, PortError, Receive, Stamp, Stats, Transmit};
use rig_units::{Dur, Time};
use std::collections::VecDeque;
use std::os::fd::BorrowedFd;

/// A port whose driver takes nothing until it was kicked a few times.
#[derive(Debug)]
struct Slow(Box<dyn Transmit>, u32);

impl Transmit for Slow {
    fn alloc(&mut self) -> Option<Frame> {
        self.0.alloc()
    }
    fn bytes<'a>(&'a mut self, frame: &'a mut Frame) -> &'a mut [u8] {
        self.0.bytes(frame)
    }
    fn release(&mut self, frame: Frame) {
        self.0.release(frame);
    }
    fn stage(&mut self, frame: Frame, len: usize) {
        self.0.stage(frame, len);
    }
    fn publish(&mut self) {
        self.0.publish();
    }
    fn kick(&mut self) -> Result<Kick, PortError> {
        let Some(left) = self.1.checked_sub(1) else { return self.0.kick() };
        self.1 = left;
        Ok(Kick { waiting: 1, refused: true, ..Kick::default() })
    }
    fn reclaim(&mut self) -> usize {
        self.0.reclaim()
    }
    fn stats(&self) -> Result<Stats, PortError> {
        Ok(Stats { tx_lost: 3, ..Stats::default() })
    }
}

/// A port that hands over one frame at a time, and has lost some.
#[derive(Debug)]
struct Sips(Box<dyn Receive>, VecDeque<(Vec<u8>, Stamp)>);

impl Receive for Sips {
    fn poll(&mut self, take: &mut dyn FnMut(&[u8], Stamp)) -> Result<usize, PortError> {
        let Sips(port, waiting) = self;
        port.poll(&mut |bytes, stamp| waiting.push_back((bytes.to_vec(), stamp)))?;
        let next = waiting.pop_front();
        if let Some((bytes, stamp)) = &next {
            take(bytes, *stamp);
        }
        Ok(next.iter().count())
    }
    fn wait(&mut self, timeout: Dur) -> Result<bool, PortError> {
        self.0.wait(timeout)
    }
    fn fds(&self) -> Vec<BorrowedFd<'_>> {
        self.0.fds()
    }
    fn stats(&self) -> Result<Stats, PortError> {
        Ok(Stats { rx_dropped: 2, rx_ring_full: 1, ..Stats::default() })
    }
}

fn losses(health: Health) -> (u64, u64, u64) {
    (health.sent, health.rx_lost, health.tx_lost)
}

#[test]
fn a_driver_without_room_is_asked_again_soon_and_its_frames_are_late() {
    let slow = |port, line: Line| match port {
        1 => Line { tx: Box::new(Slow(line.tx, 5)), ..line },
        _ => line,
    };
    let mut bench = Bench::with(profile("broadcom"), 1, |_| (8, 300), slow);
    bench.send(0, &probe(0, 1, 0));
    bench.run(Dur::ms(1));
    assert_eq!(bench.seen().len(), 1);
    let health = bench.health();
    // Five sleeps of 50 us.
    assert!((Dur::us(240)..Dur::us(260)).contains(&health.send_late), "{health:?}");
    assert_eq!(losses(health), (1, 0, 3));
}

/// Asked while it stands still, it has to say so: once its frames have gone they are late in another trial.
#[test]
fn what_a_driver_has_not_taken_by_the_time_somebody_asks_is_late_already() {
    let stuck = |port, line: Line| match port {
        1 => Line { tx: Box::new(Slow(line.tx, u32::MAX)), ..line },
        _ => line,
    };
    let mut bench = Bench::with(profile("broadcom"), 1, |_| (8, 300), stuck);
    bench.send(0, &probe(0, 1, 0));
    bench.run(Dur::ms(3));
    assert_eq!(bench.seen().len(), 0);
    let late = bench.health().send_late;
    assert!((Dur::us(2_900)..Dur::ms(3)).contains(&late), "{late}");
}

#[test]
fn a_port_without_slots_and_a_frame_longer_than_its_slots_are_losses() {
    let slots = |port| match port {
        1 => (0, 300),
        2 => (8, 200),
        _ => (8, 300),
    };
    let mut bench = Bench::with(profile("broadcom"), 1, slots, |_, line| line);
    for to in 1..4 {
        bench.send(0, &probe(0, to, 0));
    }
    bench.run(Dur::ms(1));
    let ports: Vec<u16> = bench.seen().into_iter().map(|seen| seen.port).collect();
    assert_eq!(ports, [3]);
    assert_eq!(losses(bench.health()), (1, 0, 2));
    bench.send(0, &probe(0, 3, 1));
    bench.run(Dur::ms(1));
    assert_eq!(bench.seen().len(), 1, "the slot that was given back is free");
}

#[test]
fn a_single_slot_serves_frames_that_leave_in_one_round() {
    let mut bench = Bench::with(profile("broadcom"), 1, |_| (1, 300), |_, line| line);
    bench.send(0, &probe(0, 1, 0));
    bench.send(2, &probe(2, 1, 0));
    bench.clock.advance_to(Time::ZERO + Dur::ms(1));
    bench.run(Dur::ms(1));
    assert_eq!((bench.seen().len(), losses(bench.health())), (2, (2, 0, 0)));
}

#[test]
fn what_one_round_cannot_read_holds_the_device_back_and_nothing_is_out_of_order() {
    let sips = |port, line: Line| match port {
        0 => Line { rx: Box::new(Sips(line.rx, VecDeque::new())), ..line },
        _ => line,
    };
    let mut bench = Bench::with(profile("broadcom"), 1, |_| (512, 300), sips);
    for seq in 0..200 {
        bench.send(0, &probe(0, 1, seq));
        bench.clock.advance_to(bench.clock.now() + Dur::us(5));
    }
    let mut rounds = 0;
    while bench.health().received < 200 {
        let Next::Sleep(wake) = bench.served.round().expect("ports in memory") else { panic!() };
        let more = bench.health().received < 200;
        assert_eq!(wake <= bench.clock.now(), more, "awake as long as there is more to read");
        rounds += 1;
        assert!(rounds < 10);
    }
    assert_eq!(rounds, 4, "64 frames each");
    bench.run(Dur::ms(1));
    assert_eq!(bench.seen().len(), 200);
    let health = bench.health();
    assert_eq!((health.misplaced, health.rx_lost), (Dur::ZERO, 3));
}
