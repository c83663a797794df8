use super::*;
use proptest::prelude::*;
use rig_units::Dur;

fn frame(stream: u16) -> Packet {
    Packet::data(stream, 0, 1, 3, 3, 1_024)
}

fn receive(cache: u32) -> Receive {
    Receive { cache, miss: Dur::us(5) }
}

/// When each frame is through that arrives at a time for a connection; in microseconds.
fn through(cache: u32, frames: &[(u64, u16)]) -> Vec<u64> {
    through_one(Pipeline::default(), cache, frames)
}

fn through_one(mut pipeline: Pipeline, cache: u32, frames: &[(u64, u16)]) -> Vec<u64> {
    let mut all = Vec::new();
    for &(at, stream) in frames {
        let at = Time::ZERO + Dur::us(at);
        while let Some(packet) = pipeline.pop(at) {
            all.push(packet.at.0 / 1_000_000);
        }
        if pipeline.takes(&receive(cache), at, &frame(stream)) {
            all.push(at.0 / 1_000_000);
        }
    }
    while let Some(packet) = pipeline.pop(Time::MAX) {
        all.push(packet.at.0 / 1_000_000);
    }
    all
}

#[test]
fn without_a_cache_everything_is_at_hand() {
    assert_eq!(through(0, &[(0, 1), (1, 2), (2, 3)]), [0, 1, 2]);
}

#[test]
fn a_miss_holds_up_everything_behind_it_in_order() {
    assert_eq!(through(2, &[(0, 1), (1, 1), (2, 2), (20, 1), (21, 2)]), [5, 5, 10, 20, 21]);
}

#[test]
fn one_that_forgets_fetches_the_state_for_each_packet() {
    let faults = NpFaults { connection_state_forgotten: true, ..NpFaults::NONE };
    let frames = [(0, 1), (20, 1), (40, 1)];
    assert_eq!(through(2, &frames), [5, 20, 40]);
    assert_eq!(through_one(Pipeline::of(&faults), 2, &frames), [5, 25, 45]);
}

#[test]
fn what_was_used_least_lately_goes_first() {
    // 1 and 2 are at hand, 1 was used last: 3 takes the place of 2.
    assert_eq!(
        through(2, &[(0, 1), (10, 2), (20, 1), (30, 3), (40, 1), (50, 2)]),
        [5, 15, 20, 35, 40, 55]
    );
    assert_eq!(through(1, &[(0, 1), (10, 2), (20, 1)]), [5, 15, 25]);
}

proptest! {
    #[test]
    fn the_cache_is_a_list_in_order_of_use(most in 1..6_usize, streams in prop::collection::vec(0..8_u16, 0..200)) {
        let mut cache = Cache::default();
        let mut list: Vec<u16> = Vec::new();
        for stream in streams {
            let at_hand = list.contains(&stream);
            list.retain(|&other| other != stream);
            list.insert(0, stream);
            list.truncate(most);
            prop_assert_eq!(cache.touch(stream, u32::try_from(most).unwrap()), at_hand);
        }
    }
}
