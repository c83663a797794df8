//! Work side by side, results in order: what is reported does not depend on how many worked.

use crate::stop::Stop;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// What is heard of one piece of work.
#[derive(Debug)]
pub enum News<T> {
    /// It was started.
    Began,
    /// It is done.
    Done(T),
}

/// How many may work side by side when nobody says: one per core.
pub fn default_jobs() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Does `work(i)` for every `i` below `count` on `jobs` threads and hands each result to `done`, in the order of `i`.
/// After a stop request nothing new is started; results of what was under way still come, and gaps are skipped over.
/// `news` hears of starts as they happen and of results in order.
pub fn in_order<T: Send>(
    count: usize,
    jobs: usize,
    stop: &Stop,
    work: impl Fn(usize) -> T + Sync,
    mut news: impl FnMut(usize, News<T>),
) {
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, count.max(1)) {
            let (send, next, work) = (send.clone(), &next, &work);
            scope.spawn(move || {
                while !stop.requested() {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let begun = i < count && send.send((i, News::Began)).is_ok();
                    if !begun || send.send((i, News::Done(work(i)))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        let mut waiting = BTreeMap::new();
        let mut due = 0;
        for (i, what) in receive {
            match what {
                News::Began => news(i, News::Began),
                News::Done(result) => drop(waiting.insert(i, result)),
            }
            while let Some(result) = waiting.remove(&due) {
                news(due, News::Done(result));
                due += 1;
            }
        }
        waiting.into_iter().for_each(|(i, result)| news(i, News::Done(result)));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whoever_finishes_first() {
        for jobs in [1, 2, 7] {
            let mut seen = Vec::new();
            in_order(
                20,
                jobs,
                &Stop::default(),
                |i| i * i,
                |i, news| {
                    if let News::Done(square) = news {
                        seen.push((i, square));
                    }
                },
            );
            assert_eq!(seen, (0..20).map(|i| (i, i * i)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn after_a_stop_nothing_new_starts_and_what_was_done_is_kept() {
        let stop = Stop::default();
        let mut seen = Vec::new();
        let work = |i| {
            if i == 3 {
                stop.request();
            }
            i
        };
        in_order(20, 1, &stop, work, |_, news| {
            if let News::Done(i) = news {
                seen.push(i);
            }
        });
        assert_eq!(seen, [0, 1, 2, 3]);
    }
}
