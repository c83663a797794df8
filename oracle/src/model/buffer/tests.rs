//! Limits worked by hand, and the books balanced over any traffic.

use super::*;
use proptest::prelude::*;

const CONFIG: Config = Config {
    pool: 1_000_000,
    cell: 1,
    lossless: 1 << 3,
    reserved: 4_000,
    group: Limit::Dynamic(-3),
    xon: 0,
    xon_offset: 3_000,
    headroom: 20_000,
    queue: Limit::Dynamic(0),
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

proptest! {
    #[test]
    fn whatever_came_in_and_left_the_books_balance(
        moves in prop::collection::vec((0..3_usize, 0..5_u8, 64..9000_u16, any::<bool>()), 1..400)
    ) {
        let mut buffer = Buffer::new(&Config { pool: 100_000, headroom: 9_000, ..CONFIG }, 8);
        let mut inside: Vec<Place> = Vec::new();
        for (from, class, size, enter) in moves {
            if enter {
                let place = Place { from, to: 7, class, size };
                if matches!(buffer.admit(place), Admission::Within | Admission::Over) {
                    inside.push(place);
                }
            } else if !inside.is_empty() {
                buffer.release(inside.remove(0));
            }
            for class in 0..5 {
                let bytes: u64 = inside.iter().filter(|p| p.class == class).map(|p| u64::from(p.size)).sum();
                prop_assert_eq!(buffer.queued(7, class), bytes);
            }
            for from in 0..3 {
                let bytes: u64 = inside.iter().filter(|p| p.class == 3 && p.from == from).map(|p| u64::from(p.size)).sum();
                let (headroom, rest) = buffer.held(from, 3);
                prop_assert_eq!(headroom + rest, bytes);
                prop_assert!(headroom <= 9_000);
            }
            prop_assert!(buffer.shared() <= 100_000);
        }
        for place in inside {
            buffer.release(place);
        }
        prop_assert_eq!(buffer.shared(), 0);
        for from in 0..3 {
            prop_assert_eq!(buffer.held(from, 3), (0, 0));
        }
    }
}
