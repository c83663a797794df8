//! The heap against the ordered set, across every move of its base.

use super::*;
use proptest::prelude::*;

fn drain(queue: &mut impl EventQueue) -> Vec<(Time, Source)> {
    std::iter::from_fn(|| queue.pop_before(Time::MAX)).collect()
}

#[test]
fn ties_come_out_by_source_whatever_the_order_of_pushing() {
    for order in [[4, 2, 9], [9, 4, 2]] {
        let mut queue = Heap4::starting_at(Time::ZERO);
        for source in order {
            queue.push(Time(7), source);
        }
        queue.push(Time(3), 11);
        assert_eq!(drain(&mut queue), [(Time(3), 11), (Time(7), 2), (Time(7), 4), (Time(7), 9)]);
    }
}

#[test]
fn an_event_at_the_limit_stays_and_one_picosecond_before_it_comes() {
    let mut queue = Heap4::starting_at(Time::ZERO);
    queue.push(Time(10), 1);
    assert_eq!(queue.pop_before(Time(10)), None);
    assert_eq!(queue.pop_before(Time(11)), Some((Time(10), 1)));
}

#[test]
fn a_run_crosses_the_reach_of_the_key() {
    let edge = REACH.0;
    let mut queue = Heap4::starting_at(Time(edge - 5));
    queue.push(Time(edge - 1), 3);
    queue.push(Time(edge + 1), 2);
    queue.push(Time(3 * edge), 9);
    queue.push(Time(edge), 1);
    let first_three = [(Time(edge - 1), 3), (Time(edge), 1), (Time(edge + 1), 2)];
    for want in first_three {
        assert_eq!(queue.pop_before(Time::MAX), Some(want));
    }
    queue.push(Time(3 * edge), 8);
    assert_eq!(drain(&mut queue), [(Time(3 * edge), 8), (Time(3 * edge), 9)]);
}

#[test]
fn an_event_days_ahead_does_not_overtake_one_pushed_later() {
    let mut queue = Heap4::starting_at(Time::ZERO);
    queue.push(Time(REACH.0 + 7), 1);
    queue.push(Time(REACH.0 - 1), 2);
    assert_eq!(queue.pop_before(Time::MAX), Some((Time(REACH.0 - 1), 2)));
    // Now within reach of the base that the push below moves.
    queue.push(Time(2 * REACH.0 - 2), 3);
    assert_eq!(drain(&mut queue), [(Time(REACH.0 + 7), 1), (Time(2 * REACH.0 - 2), 3)]);
}

/// Steps of a run: push so far after the event taken last, or pop up to so far after it.
#[derive(Debug, Clone)]
enum Step {
    Push(u64, Source),
    Pop(u64),
}

fn ahead() -> impl Strategy<Value = u64> {
    prop_oneof![0..40_u64, 0..1_u64 << 40, (REACH.0 - 9)..(REACH.0 + 9), 0..3 * REACH.0]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let push = (ahead(), 0..9_u16).prop_map(|(ahead, source)| Step::Push(ahead, source));
    prop::collection::vec(prop_oneof![3 => push, 2 => ahead().prop_map(Step::Pop)], 0..200)
}

proptest! {
    #[test]
    fn the_heap_gives_what_the_ordered_set_gives(start in prop_oneof![Just(0), Just(REACH.0 - 20)], steps in steps()) {
        let mut heap = Heap4::starting_at(Time(start));
        let mut ordered = Ordered::starting_at(Time(start));
        let mut now = start;
        for step in steps {
            match step {
                // The engine never pushes the same event twice.
                Step::Push(ahead, source) if !ordered.0.contains(&(Time(now + ahead), source)) => {
                    heap.push(Time(now + ahead), source);
                    ordered.push(Time(now + ahead), source);
                }
                Step::Push(..) => {}
                Step::Pop(ahead) => {
                    let want = ordered.pop_before(Time(now + ahead));
                    prop_assert_eq!(heap.pop_before(Time(now + ahead)), want);
                    now = want.map_or(now, |(at, _)| at.0);
                }
            }
            prop_assert_eq!(heap.next(), ordered.next());
        }
        prop_assert_eq!(drain(&mut heap), drain(&mut ordered));
    }
}
