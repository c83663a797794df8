//! The receiver against a kernel that breaks the rules; the test plays the kernel.

use super::*;
use crate::port::afxdp::tests::halves;

/// What the receiver makes of these pieces, in buffers of which `lent` were lent.
fn received(rx: &mut Receiver, lent: usize, pieces: &[Desc]) -> Vec<(usize, StampedBy)> {
    let mut kernel = Producer::new(&rx.queues[0].ring.shared);
    assert!(pieces.iter().all(|piece| kernel.stage(*piece)));
    kernel.publish();
    // One that keeps the rules has taken as many buffers as it gives back.
    let mut taken: Consumer<_, u64> = Consumer::new(&rx.queues[0].buffers.fill.shared);
    for _ in 0..lent {
        taken.take().expect("a buffer");
    }
    taken.release();
    let mut got = Vec::new();
    rx.poll(&mut |bytes, stamp| got.push((bytes.len(), stamp.by))).expect("well");
    got
}

fn piece(rx: &Receiver, chunk: usize, len: u32, more: bool) -> Desc {
    let addr = rx.queues[0].buffers.memory.address(chunk * CHUNK + 256);
    Desc { addr, len, options: if more { libc::XDP_PKT_CONTD } else { 0 } }
}

#[test]
fn a_frame_without_the_programs_stamp_is_stamped_by_the_process_and_counted() {
    let Some((_tx, mut rx)) = halves() else { return };
    let one = piece(&rx, 0, 60, false);
    assert_eq!(received(&mut rx, 1, &[one]), [(60, StampedBy::Process)]);
    assert_eq!(rx.stats().map(|stats| stats.rx_unstamped), Ok(1));
}

#[test]
fn a_buffer_outside_the_ports_memory_is_a_stray() {
    let Some((_tx, mut rx)) = halves() else { return };
    let outside = Desc { addr: u64::MAX, len: 60, options: 0 };
    assert_eq!(received(&mut rx, 0, &[outside]), []);
    assert_eq!(rx.stats().map(|stats| stats.strays), Ok(1));
}

#[test]
fn a_buffer_given_back_twice_is_a_stray_the_second_time() {
    let Some((_tx, mut rx)) = halves() else { return };
    let one = piece(&rx, 3, 60, false);
    assert_eq!(received(&mut rx, 1, &[one, one]).len(), 1);
    assert_eq!(rx.stats().map(|stats| stats.strays), Ok(1));
}

#[test]
fn a_frame_whose_end_comes_later_waits_for_it() {
    let Some((_tx, mut rx)) = halves() else { return };
    let (first, last) = (piece(&rx, 0, 3_840, true), piece(&rx, 1, 334, false));
    assert_eq!(received(&mut rx, 1, &[first]), []);
    assert_eq!(received(&mut rx, 1, &[last]), [(4_174, StampedBy::Process)]);
}

#[test]
fn a_kernel_that_gives_back_what_it_did_not_take_loses_the_rig_nothing() {
    let Some((_tx, mut rx)) = halves() else { return };
    let one = piece(&rx, 0, 60, false);
    assert_eq!(received(&mut rx, 0, &[one]).len(), 1);
    assert!(rx.queues[0].buffers.chunks.has_free(), "no room for it in the ring");
    assert_eq!(received(&mut rx, 1, &[]), []);
    rx.queues[0].buffers.refill();
    assert!(!rx.queues[0].buffers.chunks.has_free(), "lent again as soon as there is room");
}
