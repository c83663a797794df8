//! The ring against a queue, whatever the two sides do and wherever the indices wrap.

use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;

/// A ring in plain memory.
#[derive(Debug)]
struct Heap {
    producer: AtomicU32,
    consumer: AtomicU32,
    words: Vec<AtomicU64>,
}

impl Shared for Arc<Heap> {
    fn producer(&self) -> &AtomicU32 {
        &self.producer
    }
    fn consumer(&self) -> &AtomicU32 {
        &self.consumer
    }
    fn words(&self) -> &[AtomicU64] {
        &self.words
    }
}

type Sides<E> = (Producer<Arc<Heap>, E>, Consumer<Arc<Heap>, E>);

/// Both sides of a ring of `size` entries whose indices stand at `start`.
fn ring<E: Entry>(size: usize, start: u32) -> Sides<E> {
    let words = (0..size * E::WORDS).map(|_| AtomicU64::new(u64::MAX)).collect();
    let heap = Heap { producer: start.into(), consumer: start.into(), words };
    let heap = Arc::new(heap);
    (Producer::new(Arc::clone(&heap)), Consumer::new(heap))
}

fn desc(n: u32) -> Desc {
    Desc { addr: u64::from(n) << 12, len: n, options: n & 1 }
}

/// What one of the sides does.
#[derive(Debug, Clone, Copy)]
enum Step {
    Stage,
    Publish,
    Take,
    Release,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::Stage), 2 => Just(Step::Publish), 4 => Just(Step::Take), 2 => Just(Step::Release),
    ];
    prop::collection::vec(step, 0..400)
}

/// Indices that wrap during the test, and some that do not.
fn start() -> impl Strategy<Value = u32> {
    prop_oneof![(u32::MAX - 200)..=u32::MAX, any::<u32>()]
}

proptest! {
    /// First in, first out; nothing is read before it is published, nothing is overwritten before it is released.
    #[test]
    fn a_ring_is_a_queue_with_two_curtains(
        steps in steps(), start in start(), size in prop::sample::select(vec![1_usize, 2, 4, 8, 64]),
    ) {
        let (mut producer, mut consumer) = ring::<Desc>(size, start);
        // Staged, published, and taken but not released, in the order of the ring.
        let (mut staged, mut published, mut taken) = (VecDeque::new(), VecDeque::new(), 0);
        let mut next = 0;
        for step in steps {
            match step {
                Step::Stage => {
                    let room = staged.len() + published.len() + taken < size;
                    prop_assert_eq!(producer.stage(desc(next)), room);
                    if room {
                        staged.push_back(desc(next));
                    }
                    next += 1;
                }
                Step::Publish => {
                    producer.publish();
                    published.append(&mut staged);
                }
                Step::Take => {
                    let want = published.pop_front();
                    taken += usize::from(want.is_some());
                    prop_assert_eq!(consumer.take(), want);
                }
                Step::Release => {
                    consumer.release();
                    taken = 0;
                    prop_assert_eq!(producer.waiting() as usize, published.len());
                }
            }
        }
    }

    #[test]
    fn a_descriptor_lies_in_memory_as_the_kernel_wants_it(addr: u64, len: u32, options: u32) {
        let words = [AtomicU64::new(0), AtomicU64::new(0)];
        Desc { addr, len, options }.store(&words);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.load(Relaxed).to_ne_bytes()).collect();
        prop_assert_eq!(&bytes[..8], &addr.to_ne_bytes());
        prop_assert_eq!(&bytes[8..12], &len.to_ne_bytes());
        prop_assert_eq!(&bytes[12..], &options.to_ne_bytes());
        prop_assert_eq!(Desc::load(&words), Desc { addr, len, options });
    }
}

#[test]
fn two_threads_pass_everything_on_in_order() {
    const ALL: u64 = 200_000;
    let (mut producer, mut consumer) = ring::<u64>(64, u32::MAX - 1_000);
    let sender = thread::spawn(move || {
        for n in 0..ALL {
            while !producer.stage(n) {
                producer.publish();
                thread::yield_now();
            }
            if n % 7 == 0 {
                producer.publish();
            }
        }
        producer.publish();
    });
    let mut next = 0;
    while next < ALL {
        match consumer.take() {
            Some(got) => {
                assert_eq!(got, next);
                next += 1;
            }
            None => {
                consumer.release();
                thread::yield_now();
            }
        }
    }
    sender.join().expect("the sender");
}

#[test]
#[should_panic(expected = "a power of two is needed")]
fn a_ring_of_three_is_none() {
    let _ = ring::<u64>(3, 0);
}
