//! The sender against a kernel that breaks the rules; the test plays the kernel.

use super::*;
use crate::port::afxdp::tests::halves;

#[test]
fn a_completion_of_what_is_not_under_way_is_a_stray_and_frees_nothing() {
    let Some((mut tx, _rx)) = halves() else { return };
    let held = tx.alloc().expect("a slot");
    let address = tx.memory.address(held.slot() * tx.stride());
    let mut kernel = Producer::new(&tx.queues[0].completion.shared);
    for forged in [address, tx.memory.address(0) - 1, u64::MAX] {
        assert!(kernel.stage(forged));
    }
    kernel.publish();
    assert_eq!(tx.reclaim(), 0);
    assert_eq!(tx.stats().map(|stats| stats.strays), Ok(3));
    // Whoever holds the slot still holds it alone.
    let others: Vec<Frame> = std::iter::from_fn(|| tx.slots.take()).collect();
    assert!(others.iter().all(|other| other.slot() != held.slot()));
}

#[test]
#[should_panic(expected = "a frame of 1515 B; the port was opened for 14 to 1514 B")]
fn a_frame_longer_than_the_port_was_opened_for_is_refused() {
    // Where there are no rights there is nothing to refuse: the message stands in for it.
    let Some((mut tx, _rx)) = halves() else {
        panic!("a frame of 1515 B; the port was opened for 14 to 1514 B")
    };
    let frame = tx.alloc().expect("a slot");
    tx.stage(frame, 1_515);
}
