use super::*;
use crate::Provenance;
use crate::sample::{CLASS, Sample};
use rig_units::Dur;

const SLOT: Dur = Dur(83_520);
const CELLS: u64 = 1_040;

/// Frames that go in every microsecond and, from 100 us on, come out at line rate; those in `lost` never do.
fn burst(frames: u32, lost: &[u32]) -> Sample {
    let mut sample = Sample::new();
    let mut out = Dur::us(100);
    for seq in 0..frames {
        let came = (!lost.contains(&seq)).then_some(out);
        out += if came.is_some() { SLOT } else { Dur::ZERO };
        sample.data(seq, Dur::us(1) * u64::from(seq + 1), came);
    }
    sample
}

fn of(sample: Sample) -> Vec<Visit> {
    let (observation, script) = sample.done(Dur::ms(1));
    depths(&observation, &script, (1, CLASS), SwitchingMode::StoreAndForward, &|_| CELLS)
        .expect("all recorded")
}

#[test]
fn of_a_burst_that_is_held_each_frame_finds_those_before_it_and_leaves_those_behind_it() {
    for (n, visit) in (0..).zip(of(burst(10, &[]))) {
        assert_eq!(visit.found, Span::exactly(n * CELLS), "frame {n}");
        let left = visit.passed.map(|passed| passed.left);
        assert_eq!(left, Some(Span::exactly((9 - n) * CELLS)), "frame {n}");
    }
}

#[test]
fn a_lost_frame_is_in_nobodys_way() {
    let visits = of(burst(6, &[2, 5]));
    let found: Vec<u64> = visits.iter().map(|visit| visit.found.lo / CELLS).collect();
    assert_eq!(found, [0, 1, 2, 2, 3, 4]);
    assert_eq!(visits[2].passed, None);
    let left = |visit: &Visit| visit.passed.as_ref().map(|passed| passed.left.hi / CELLS);
    assert_eq!(visits.iter().filter_map(left).collect::<Vec<_>>(), [3, 2, 1, 0]);
}

#[test]
fn a_frame_that_comes_while_another_one_leaves_finds_it_or_does_not() {
    let mut sample = Sample::new();
    sample.data(0, Dur::us(1), Some(Dur::us(10)));
    // Its last bit reaches the device 40 ns before the last bit of the first leaves it.
    sample.data(1, Dur::us(10) - Dur::ns(70), Some(Dur::us(11)));
    let visits = of(sample);
    assert_eq!(visits[1].found, Span { lo: 0, hi: CELLS });
}

#[test]
fn where_stamps_are_off_order_tells_what_time_does_not() {
    let software = |bound| {
        let mut sample = burst(10, &[]);
        sample.provenance = Provenance::Software { bound };
        of(sample).into_iter().filter_map(|visit| Some((visit.found, visit.passed?.left)))
    };
    // Frames are 1 us and 84 ns apart, the burst is held for 90 us.
    let all: Vec<_> = software(Dur::us(20)).collect();
    assert_eq!(all[3], (Span::exactly(3 * CELLS), Span::exactly(6 * CELLS)));
    let all: Vec<_> = software(Dur::us(60)).collect();
    assert!(all[3].1.lo < all[3].1.hi, "it is open whether all were in when the first left");
}

#[test]
fn marks_are_seen_on_either_side() {
    let mut sample = Sample::new();
    sample.data(0, Dur::us(1), Some(Dur::us(10)));
    let (mut observation, script) = sample.done(Dur::ms(1));
    for record in &mut observation.records {
        if let (What::Data { ce, .. }, 1) = (&mut record.what, record.port) {
            *ce = true;
        }
    }
    let visits =
        depths(&observation, &script, (1, CLASS), SwitchingMode::StoreAndForward, &|_| CELLS)
            .expect("all recorded");
    assert!(!visits[0].came_marked);
    assert!(visits[0].passed.as_ref().is_some_and(|passed| passed.marked));
}

#[test]
fn frames_that_were_not_recorded_leave_nothing_to_say() {
    let (mut observation, script) = burst(10, &[]).done(Dur::ms(1));
    observation.records.truncate(5);
    observation.integrity.unrecorded = 15;
    assert!(
        depths(&observation, &script, (1, CLASS), SwitchingMode::StoreAndForward, &|_| CELLS)
            .is_err()
    );
}
