//! Limits worked by hand, and the books balanced over any traffic.

use super::*;
use rig_lab::BufferFaults;
use rig_units::{Dur, Within};

mod books;
mod counted;
mod voq;
mod wrong;

const CONFIG: Config = Config {
    pool: 1_000_000,
    lossy_pool: 1_000_000,
    cell: 1,
    descriptor: 0,
    lossless: 1 << 3,
    reserved: 4_000,
    group: Limit::Dynamic(-3),
    port: None,
    xon: 0,
    xon_offset: 3_000,
    headroom: 20_000,
    headroom_pool: None,
    margin: 0,
    delay: Within::ZERO,
    seed: 0,
    crossing: Crossing::Headroom,
    voqs: false,
    queue: Limit::Dynamic(0),
    faults: BufferFaults::NONE,
};

fn lossless(from: usize) -> Place {
    Place { from, to: 7, class: 3, size: 1_000 }
}

fn lossy() -> Place {
    Place { from: 0, to: 7, class: 0, size: 1_000 }
}

/// Frames taken in until the first answer that is not `Within`, and that answer.
fn fill(buffer: &mut Buffer, place: Place) -> (u32, Admission) {
    for taken in 0.. {
        let admission = buffer.admit(place);
        if admission != Admission::Within {
            return (taken, admission);
        }
    }
    unreachable!("the buffer is finite")
}

#[test]
fn one_hog_reaches_its_reserve_and_its_share_of_the_pool() {
    // F4: alpha/(1+alpha)*B = (1/8)/(9/8)*1 MB = 111 111 B, and 4 000 B reserved: the frame that passes 115 111 B.
    let mut buffer = Buffer::new(&CONFIG, 8);
    assert_eq!(fill(&mut buffer, lossless(0)), (115, Admission::Over));
    assert_eq!(buffer.held(0, 3), (1_000, 115_000));
    assert_eq!(buffer.shared(), 111_000);
}

#[test]
fn the_kth_hog_gets_what_the_others_left() {
    // B*alpha/(1+alpha)*(1/(1+alpha))^(k-1): 111 111, 98 765, 87 791.
    let mut buffer = Buffer::new(&CONFIG, 8);
    for (hog, want) in [111_111_i64, 98_765, 87_791].into_iter().enumerate() {
        let (frames, _) = fill(&mut buffer, lossless(hog));
        assert!((i64::from(frames) * 1_000 - 4_000 - want).abs() <= 1_000, "hog {hog}: {frames}");
    }
}

#[test]
fn headroom_takes_exactly_its_size_and_then_frames_are_lost() {
    let mut buffer = Buffer::new(&CONFIG, 8);
    fill(&mut buffer, lossless(0));
    for _ in 0..19 {
        assert_eq!(buffer.admit(lossless(0)), Admission::Over);
    }
    assert_eq!(buffer.admit(lossless(0)), Admission::GroupFull);
    assert_eq!(buffer.held(0, 3), (20_000, 115_000));
}

#[test]
fn xon_waits_for_an_empty_headroom_and_the_offset() {
    let mut buffer = Buffer::new(&CONFIG, 8);
    fill(&mut buffer, lossless(0));
    // 1 frame of headroom, 111 000 B shared. XON at share + 3 000 <= (1 000 000 - share)/8, so at 108 000 B:
    // 108 000 + 3 000 <= 111 500, while 109 000 + 3 000 > 111 375.
    for _ in 0..3 {
        buffer.release(lossless(0));
        assert!(!buffer.resumes(0, 3));
    }
    buffer.release(lossless(0));
    assert!(buffer.resumes(0, 3));
}

#[test]
fn a_static_xon_mark_holds_whatever_the_limit() {
    let config = Config { xon: 110_000, ..CONFIG };
    let mut buffer = Buffer::new(&config, 8);
    fill(&mut buffer, lossless(0));
    buffer.release(lossless(0));
    assert!(!buffer.resumes(0, 3));
    buffer.release(lossless(0));
    assert!(buffer.resumes(0, 3));
}

#[test]
fn a_lossy_queue_is_cut_off_at_its_own_limit() {
    // alpha 1: half of the pool.
    let mut buffer = Buffer::new(&CONFIG, 8);
    assert_eq!(fill(&mut buffer, lossy()), (500, Admission::QueueFull));
    assert_eq!(buffer.queued(7, 0), 500_000);
}

#[test]
fn a_static_limit_of_a_lossy_queue_holds_whatever_others_left() {
    let mut buffer = Buffer::new(&Config { queue: Limit::Static(300_500), ..CONFIG }, 8);
    assert_eq!(fill(&mut buffer, Place { to: 6, ..lossy() }), (300, Admission::QueueFull));
    assert_eq!(fill(&mut buffer, lossy()), (300, Admission::QueueFull));
}

#[test]
fn frames_take_whole_cells() {
    let mut buffer = Buffer::new(&Config { cell: 208, ..CONFIG }, 8);
    buffer.admit(lossy());
    assert_eq!(buffer.queued(7, 0), 5 * 208);
    buffer.release(lossy());
    assert_eq!((buffer.queued(7, 0), buffer.shared()), (0, 0));
}

#[test]
fn a_higher_limit_counts_from_the_next_frame_on() {
    let mut buffer = Buffer::new(&CONFIG, 8);
    fill(&mut buffer, lossless(0));
    assert!(!buffer.resumes(0, 3));
    buffer.set_group_limit(0, 3, Limit::Dynamic(0));
    buffer.release(lossless(0));
    assert!(buffer.resumes(0, 3));
    buffer.set_group_limit(0, 3, Limit::Static(10_000));
    assert_eq!(buffer.admit(lossless(0)), Admission::Over);
}

#[test]
fn frames_take_their_descriptors_along() {
    // 192 B and 16 B fill one cell of 208 B; a byte more takes a second one.
    let mut buffer = Buffer::new(&Config { cell: 208, descriptor: 16, ..CONFIG }, 8);
    for (size, cells) in [(192, 1), (193, 2), (400, 2), (401, 3)] {
        let place = Place { size, ..lossy() };
        buffer.admit(place);
        assert_eq!(buffer.queued(7, 0), cells * 208, "{size}");
        buffer.release(place);
    }
    assert_eq!(buffer.shared(), 0);
}

#[test]
fn lossy_frames_are_limited_by_their_own_pool_and_counted_in_both() {
    let config = Config { lossy_pool: 100_000, ..CONFIG };
    let mut buffer = Buffer::new(&config, 8);
    // alpha 1: half of the lossy pool, whatever the lossless groups hold.
    fill(&mut buffer, lossless(0));
    assert_eq!(fill(&mut buffer, lossy()), (50, Admission::QueueFull));
    assert_eq!(buffer.pools().ingress.used(), 111_000 + 50_000);
    assert_eq!(buffer.pools().egress_lossy.used(), 50_000);
    assert_eq!(buffer.pools().egress_lossless.used(), 116_000);
    // The second queue gets half of what the first one left.
    assert_eq!(fill(&mut buffer, Place { to: 6, ..lossy() }), (25, Admission::QueueFull));
}

#[test]
fn a_frame_has_to_fit_into_the_pool_whatever_the_limit_says() {
    let config = Config { group: Limit::Static(u64::MAX), queue: Limit::Dynamic(8), ..CONFIG };
    let mut buffer = Buffer::new(&Config { pool: 10_500, ..config }, 8);
    // 4 frames in the reserve, 10 in the pool, whose last 500 B hold no eleventh.
    assert_eq!(fill(&mut buffer, lossless(0)), (14, Admission::Over));
    assert_eq!(buffer.held(0, 3), (1_000, 14_000));
    assert_eq!(buffer.admit(lossy()), Admission::QueueFull);
}

#[test]
fn groups_share_a_headroom_pool_and_none_takes_more_than_its_own_part() {
    let config = Config { headroom_pool: Some(30_000), ..CONFIG };
    let mut buffer = Buffer::new(&config, 8);
    for (from, frames) in [(0, 20), (1, 10), (2, 0)] {
        while buffer.admit(lossless(from)) != Admission::GroupFull {}
        assert_eq!(buffer.held(from, 3).0, frames * 1_000);
    }
    // What one gives back another may have.
    buffer.release(lossless(0));
    assert_eq!(buffer.admit(lossless(2)), Admission::Over);
    assert_eq!(buffer.pools().headroom.used(), 30_000);
}

#[test]
fn watermarks_are_peaks_until_they_are_cleared() {
    let mut buffer = Buffer::new(&CONFIG, 8);
    fill(&mut buffer, lossless(0));
    buffer.admit(lossless(0));
    fill(&mut buffer, lossy());
    let peaks = |buffer: &Buffer| {
        let pools = buffer.pools();
        let groups = [buffer.share_peak(0, 3), buffer.headroom_peak(0, 3), buffer.queue_peak(7, 3)];
        let pools = [pools.ingress, pools.headroom, pools.egress_lossless, pools.egress_lossy];
        (groups, pools.map(|pool| pool.peak()))
    };
    let full = ([111_000, 2_000, 117_000], [611_000, 2_000, 117_000, 500_000]);
    assert_eq!(peaks(&buffer), full);
    for _ in 0..3 {
        buffer.release(lossless(0));
    }
    buffer.release(lossy());
    assert_eq!(peaks(&buffer), full);
    buffer.clear_watermarks();
    assert_eq!(peaks(&buffer), ([110_000, 0, 114_000], [609_000, 0, 114_000, 499_000]));
}

#[test]
fn a_frame_that_passes_is_seen_by_the_watermarks_of_queue_and_pool_only() {
    let mut buffer = Buffer::new(&CONFIG, 8);
    assert!(buffer.passes(lossless(0)));
    assert_eq!((buffer.queue_peak(7, 3), buffer.pools().egress_lossless.peak()), (1_000, 1_000));
    assert_eq!((buffer.share_peak(0, 3), buffer.pools().ingress.peak()), (0, 0));
    assert_eq!((buffer.held(0, 3), buffer.queued(7, 3)), ((0, 0), 0));
    // The fifth does not fit into the reserve.
    for _ in 0..4 {
        assert_eq!(buffer.admit(lossless(0)), Admission::Within);
    }
    assert!(!buffer.passes(lossless(0)));
}

#[test]
fn what_came_within_the_delay_is_not_in_the_count_that_the_limit_is_held_against() {
    let config = Config { group: Limit::Static(10_000), delay: Dur::ns(10).into(), ..CONFIG };
    let place = Place { from: 0, to: 1, class: 3, size: 1_000 };
    let crossing = |gap: Dur| {
        let mut buffer = Buffer::new(&config, 2);
        let mut frames = (1..).scan(Time::ZERO, |now, number| {
            buffer.at(*now);
            *now += gap;
            Some((number, buffer.admit(place)))
        });
        let over = frames.find(|(_, admission)| *admission != Admission::Within);
        over.map(|(number, _)| number)
    };
    let own = crossing(Dur::ns(10));
    // Those that came less than 10 ns before: none, one, three.
    assert_eq!(crossing(Dur(9_999)), own.map(|own| own + 1));
    assert_eq!(crossing(Dur::ns(3)), own.map(|own| own + 3));
}
