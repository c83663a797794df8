//! A kernel that has no room: what was handed over has not left.

use super::*;

/// A port for which the kernel has no room until an instant.
#[derive(Debug)]
struct Full(Box<dyn Transmit>, Manual, Time);

impl Transmit for Full {
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
        if self.1.now() < self.2 {
            return Ok(Kick { waiting: 1, refused: true, ..Kick::default() });
        }
        self.0.kick()
    }
    fn reclaim(&mut self) -> usize {
        self.0.reclaim()
    }
    fn stats(&self) -> Result<Stats, PortError> {
        self.0.stats()
    }
}

#[derive(Default)]
struct Held(Vec<(u16, Time, Time)>);

impl Watcher for Held {
    fn sent(&mut self, _: u16, _: &Departure, _: Time, _: Time) {}
    fn received(&mut self, _: u16, _: &[u8], _: Time, _: StampedBy) {}
    fn held(&mut self, port: u16, since: Time, until: Time) {
        self.0.push((port, since, until));
    }
}

/// Frames leave at 5, 15 and 25 us, and the kernel has room from `room` on.
fn full(room: Dur) -> (Pacer<Manual>, Halves) {
    let (mut rig, far) = rig(false, 8);
    let (spare, _) = memory::pair(&rig.clock, 1, 64);
    let tx = core::mem::replace(&mut rig.lanes[0].tx, spare.0);
    rig.lanes[0].tx = Box::new(Full(tx, rig.clock.clone(), at(room)));
    rig.lanes[0].sender.start(at(Dur::us(5)), job(3));
    (rig, far)
}

#[test]
fn what_the_kernel_has_no_room_for_is_tried_again_soon_and_told_of_once_it_has_left() {
    let (mut rig, mut far) = full(Dur::us(400));
    let mut held = Held::default();
    rig.run_until(at(Dur::ms(1)), &mut held).expect("in memory");
    let [(0, since, until)] = held.0[..] else { panic!("{:?}", held.0) };
    assert_eq!(since, at(Dur::us(5)), "since the first of them");
    assert!((at(Dur::us(400))..=at(Dur::us(400) + DOZE)).contains(&until), "{until:?}");
    let mut frames = 0;
    far.1.poll(&mut |_, _| frames += 1).expect("in memory");
    assert_eq!((frames, rig.lanes[0].owes()), (3, None));
}

#[test]
fn what_has_not_left_by_the_end_is_owed() {
    let (mut rig, _far) = full(Dur::s(9));
    let mut held = Held::default();
    rig.run_until(at(Dur::ms(1)), &mut held).expect("in memory");
    assert_eq!((held.0, rig.lanes[0].owes()), (vec![], Some(at(Dur::us(5)))));
}
