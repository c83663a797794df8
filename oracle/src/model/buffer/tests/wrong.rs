//! What each fault of the buffer changes.

use super::*;

fn faulty(faults: BufferFaults, config: Config) -> Buffer {
    Buffer::new(&Config { faults, ..config }, 8)
}

#[test]
fn headroom_that_stays_is_missing_the_next_time() {
    let pool = Config { headroom_pool: Some(20_000), ..CONFIG };
    let mut buffer =
        faulty(BufferFaults { shared_headroom_not_released: true, ..BufferFaults::NONE }, pool);
    fill(&mut buffer, lossless(0));
    for _ in 0..116 {
        buffer.release(lossless(0));
    }
    assert_eq!((buffer.held(0, 3), buffer.pools().headroom.used()), ((0, 0), 1_000));
    fill(&mut buffer, lossless(0));
    let more = (0..).take_while(|_| buffer.admit(lossless(0)) == Admission::Over).count();
    assert_eq!(more, 18);
}

#[test]
fn drops_that_stay_fill_the_pool_and_no_more() {
    let mut buffer = faulty(BufferFaults { drop_leaks_buffer: true, ..BufferFaults::NONE }, CONFIG);
    buffer.lose(lossless(0));
    buffer.lose(lossy());
    assert_eq!(buffer.shared(), 1_000);
    for _ in 0..2_000 {
        buffer.lose(lossless(0));
    }
    assert_eq!(buffer.shared(), CONFIG.pool);
    let mut right = Buffer::new(&CONFIG, 8);
    right.lose(lossless(0));
    assert_eq!(right.shared(), 0);
}

#[test]
fn lossy_headroom_holds_as_much_again_as_a_group_has() {
    let mut buffer =
        faulty(BufferFaults { lossy_uses_headroom: true, ..BufferFaults::NONE }, CONFIG);
    assert_eq!(fill(&mut buffer, lossy()), (520, Admission::QueueFull));
    let pools = buffer.pools();
    assert_eq!((pools.egress_lossy.used(), pools.headroom.used()), (500_000, 20_000));
    for _ in 0..520 {
        buffer.release(lossy());
    }
    assert_eq!((buffer.shared(), buffer.pools().headroom.used()), (0, 0));
}

#[test]
fn levels_that_are_forgotten_are_not_back_after_a_clear() {
    let peak = |faults| {
        let mut buffer = faulty(faults, CONFIG);
        buffer.admit(lossy());
        buffer.clear_watermarks();
        buffer.queue_peak(7, 0)
    };
    let forgets = BufferFaults { watermark_forgets_level: true, ..BufferFaults::NONE };
    assert_eq!((peak(BufferFaults::NONE), peak(forgets)), (1_000, 0));
}

#[test]
fn watermarks_that_stay_are_not_cleared() {
    let mut buffer =
        faulty(BufferFaults { watermark_not_cleared: true, ..BufferFaults::NONE }, CONFIG);
    buffer.admit(lossy());
    buffer.release(lossy());
    buffer.clear_watermarks();
    assert_eq!(buffer.queue_peak(7, 0), 1_000);
}
