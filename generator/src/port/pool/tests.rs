//! Every slot is held exactly once, whatever the caller and the kernel do.

use super::*;
use proptest::prelude::*;

/// What the caller or the kernel does; numbers choose among what they hold.
#[derive(Debug, Clone, Copy)]
enum Step {
    Take,
    PutBack(usize),
    Lend(usize, u32),
    Return(usize),
    ReturnWhatWasNotLent(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => Just(Step::Take),
        1 => any::<usize>().prop_map(Step::PutBack),
        3 => (any::<usize>(), 1..4_u32).prop_map(|(which, pieces)| Step::Lend(which, pieces)),
        5 => any::<usize>().prop_map(Step::Return),
        1 => (0..20_u64).prop_map(Step::ReturnWhatWasNotLent),
    ];
    prop::collection::vec(step, 0..300)
}

/// One of `all`, taken out.
fn one<T>(all: &mut Vec<T>, which: usize) -> Option<T> {
    (!all.is_empty()).then(|| all.swap_remove(which % all.len()))
}

proptest! {
    #[test]
    fn every_slot_is_held_exactly_once(steps in steps(), count in 1..16_u32) {
        let mut pool = Pool::new(count);
        let mut held: Vec<Frame> = Vec::new();
        // Slots that the kernel holds, with the pieces that are still out and the tag they went with.
        let mut lent: Vec<(usize, u32)> = Vec::new();
        let mut tags = vec![0; index(count)];
        for (number, step) in (1..).zip(steps) {
            match step {
                Step::Take => {
                    let full = held.len() + lent.len() == index(count);
                    let frame = pool.take();
                    prop_assert_eq!(frame.is_none(), full);
                    held.extend(frame.map(|mut frame| {
                        assert_eq!(frame.tag, tags[frame.slot()]);
                        frame.tag = number;
                        frame
                    }));
                }
                Step::PutBack(which) => {
                    if let Some(frame) = one(&mut held, which) {
                        tags[frame.slot()] = frame.tag;
                        pool.put_back(frame);
                    }
                }
                Step::Lend(which, pieces) => {
                    if let Some(frame) = one(&mut held, which) {
                        tags[frame.slot()] = frame.tag;
                        lent.push((pool.lend(frame, pieces), pieces));
                    }
                }
                Step::Return(which) => {
                    if let Some((slot, pieces)) = one(&mut lent, which) {
                        prop_assert!(pool.returned(slot as u64));
                        if pieces > 1 {
                            lent.push((slot, pieces - 1));
                        }
                    }
                }
                Step::ReturnWhatWasNotLent(slot) => {
                    if lent.iter().all(|(lent, _)| *lent as u64 != slot) {
                        prop_assert!(!pool.returned(slot));
                    }
                }
            }
            let mut all: Vec<usize> = held.iter().map(Frame::slot).collect();
            all.extend(lent.iter().map(|(slot, _)| *slot));
            all.extend(pool.free.iter().map(|slot| index(*slot)));
            all.sort_unstable();
            prop_assert_eq!(all, (0..index(count)).collect::<Vec<_>>());
            prop_assert_eq!(pool.has_free(), held.len() + lent.len() < index(count));
        }
    }
}

#[test]
#[should_panic(expected = "belongs to another port")]
fn a_frame_of_another_port_is_refused() {
    let (mut one, other) = (Pool::new(1), Pool::new(1));
    let frame = one.take().expect("a slot");
    other.held(&frame);
}
