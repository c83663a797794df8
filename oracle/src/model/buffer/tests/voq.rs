//! Virtual output queues: one limit for all that waits for one port, headroom by ingress.

use super::*;
use proptest::prelude::*;

const NOBODY: [usize; 0] = [];

/// T = 1 MB / 9 = 111 111 B: 111 frames of 1 000 B; 20 frames of headroom for every ingress port.
const VOQS: Config = Config { voqs: true, reserved: 0, ..CONFIG };

fn to(from: usize, to: usize) -> Place {
    Place { from, to, class: 3, size: 1_000 }
}

/// Takes in a frame and tells its sender as the switch does.
fn take(buffer: &mut Buffer, place: Place) -> bool {
    let over = buffer.admit(place) == Admission::Over;
    if over {
        buffer.tell(place);
    }
    over
}

/// Frames of the places in turn until one of them is over; how many were taken before.
fn together(buffer: &mut Buffer, places: &[Place]) -> usize {
    (0..).find(|&n| take(buffer, places[n % places.len()])).expect("the buffer is finite")
}

#[test]
fn two_sources_share_the_limit_of_one_queue() {
    let mut buffer = Buffer::new(&VOQS, 8);
    assert_eq!(together(&mut buffer, &[to(0, 7), to(1, 7)]), 111);
    assert_eq!(buffer.held(0, 3), (0, 56_000));
    assert_eq!(buffer.held(1, 3), (1_000, 55_000));
}

#[test]
fn one_source_has_a_limit_for_each_of_its_queues() {
    // Two queues that grow together: B alpha / (1 + 2 alpha) = 100 000 B each.
    let mut buffer = Buffer::new(&VOQS, 8);
    assert_eq!(together(&mut buffer, &[to(0, 7), to(0, 6)]), 200);
    // Headroom is the group's: 20 frames for both queues together.
    assert_eq!(buffer.admit(to(0, 6)), Admission::Over);
    for _ in 2..20 {
        assert_eq!(buffer.admit(to(0, 7)), Admission::Over);
    }
    assert_eq!(buffer.admit(to(0, 7)), Admission::GroupFull);
    assert_eq!(buffer.admit(to(1, 7)), Admission::Over, "another group has its own");
}

#[test]
fn every_source_of_a_queue_goes_on_when_that_queue_has_fallen_back() {
    let mut buffer = Buffer::new(&VOQS, 8);
    for _ in 0..111 {
        assert!(!take(&mut buffer, to(0, 7)));
    }
    assert!(take(&mut buffer, to(1, 7)) && take(&mut buffer, to(0, 7)));
    for _ in 0..50 {
        take(&mut buffer, to(0, 6));
    }
    // A third party: 50 frames leave, and nobody is told to go on.
    for _ in 0..50 {
        buffer.release(to(0, 6));
        assert_eq!(buffer.resumed(to(0, 6)), NOBODY);
    }
    // Two frames for the headroom, then until share <= (B - share) / 8 - 3 000: 108 444 B.
    for left in 1..=5 {
        assert_eq!(buffer.resumed(to(0, 7)), NOBODY, "after {left}");
        buffer.release(to(0, 7));
    }
    assert_eq!(buffer.resumed(to(0, 7)), [0, 1]);
    assert_eq!(buffer.resumed(to(0, 7)), NOBODY, "once");
}

#[test]
fn a_source_that_two_queues_pause_waits_for_both() {
    let mut buffer = Buffer::new(&Config { group: Limit::Static(5_000), ..VOQS }, 8);
    for place in [to(0, 7), to(0, 6), to(1, 6)] {
        while !take(&mut buffer, place) {}
    }
    for _ in 0..6 {
        assert_eq!(buffer.resumed(to(0, 7)), NOBODY);
        buffer.release(to(0, 7));
    }
    assert_eq!(buffer.resumed(to(0, 7)), NOBODY, "queue 6 is still over");
    for _ in 0..6 {
        buffer.release(to(0, 6));
    }
    assert_eq!(buffer.resumed(to(0, 6)), [0, 1]);
}

#[test]
fn what_stood_in_the_headroom_of_another_takes_the_place_of_what_leaves() {
    let mut buffer = Buffer::new(&Config { group: Limit::Static(3_000), ..VOQS }, 8);
    for place in [to(0, 7), to(0, 7), to(0, 7), to(1, 7)] {
        buffer.admit(place);
    }
    assert_eq!((buffer.held(0, 3), buffer.held(1, 3)), ((0, 3_000), (1_000, 0)));
    buffer.release(to(0, 7));
    assert_eq!((buffer.held(0, 3), buffer.held(1, 3)), ((0, 2_000), (0, 1_000)));
    assert_eq!((buffer.pools().headroom.used(), buffer.share_peak(1, 3)), (0, 1_000));
}

#[test]
fn nobody_is_told_who_has_no_queue_to_wait_for() {
    // A limit of nothing and no headroom: the frame is lost, and nothing will leave.
    let config = Config { group: Limit::Static(0), headroom: 0, ..VOQS };
    let mut buffer = Buffer::new(&config, 8);
    assert_eq!(buffer.admit(to(0, 7)), Admission::GroupFull);
    assert!(!buffer.will_relieve(to(0, 7)));
    buffer.set_group_limit(7, 3, Limit::Static(1_000));
    assert_eq!(buffer.admit(to(0, 7)), Admission::Within);
    assert!(buffer.will_relieve(to(1, 7)) && !buffer.will_relieve(to(0, 6)));
}

#[test]
fn any_queue_resumes_a_sender_where_that_is_the_fault() {
    let faults = BufferFaults { xon_of_any_queue: true, ..BufferFaults::NONE };
    let mut buffer = Buffer::new(&Config { faults, group: Limit::Static(5_000), ..VOQS }, 8);
    while !take(&mut buffer, to(0, 7)) {}
    take(&mut buffer, to(0, 6));
    buffer.release(to(0, 6));
    assert_eq!(buffer.resumed(to(0, 6)), [0]);
    assert_eq!(buffer.resumed(to(0, 7)), NOBODY);
}

proptest! {
    #[test]
    fn a_queue_with_one_source_is_what_a_group_is(
        sizes in prop::collection::vec((64_u16..4_000, any::<bool>()), 1..200),
        reserved in 0_u32..9_000, shared in any::<bool>(), k in -4_i8..2,
    ) {
        let crossing = if shared { Crossing::Shared } else { Crossing::Headroom };
        let config = Config { pool: 200_000, reserved, crossing, group: Limit::Dynamic(k), ..CONFIG };
        let mut ingress = Buffer::new(&config, 3);
        let mut voqs = Buffer::new(&Config { voqs: true, ..config }, 3);
        let mut inside = std::collections::VecDeque::new();
        for (size, enter) in sizes {
            let place = Place { from: 0, to: 1, class: 3, size };
            if enter {
                let (a, b) = (ingress.admit(place), voqs.admit(place));
                prop_assert_eq!(a, b);
                if a != Admission::GroupFull {
                    inside.push_back(place);
                }
            } else if let Some(place) = inside.pop_front() {
                ingress.release(place);
                voqs.release(place);
            }
            prop_assert_eq!(ingress.held(0, 3), voqs.held(0, 3));
            prop_assert_eq!(ingress.pools(), voqs.pools());
            voqs.tell(place);
            prop_assert_eq!(ingress.resumes(0, 3), !voqs.resumed(place).is_empty());
        }
    }
}
