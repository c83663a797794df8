//! How long a guest was kept waiting for a processor. What its kernel then does late is the machine's doing, and no property of the device.
//!
//! The scheduler of the machine counts, for each thread, the time in which it could have run and did not
//! (`/proc/PID/task/*/schedstat`, the second number, in nanoseconds: Documentation/scheduler/sched-stats.rst). QEMU's main loop
//! takes frames from the taps, its virtual processor forwards them, and the main loop brings them back: a frame may wait for each in turn, so
//! that the waits of all threads are added up. A process that is stopped (SIGSTOP, a freezer) waits for no processor there, and runs as little.

use core::time::Duration;
use rig_generator::clock::{Clock as _, Wall};
use rig_generator::port::RealTime;
use rig_units::{Dur, Time};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};

/// How often the account is read. A stretch is told to within as much: four short files are read in some 40 us.
const EVERY: Duration = Duration::from_millis(5);

/// A stretch in which a guest was behind, because it was kept waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// When it was furthest behind, since the watch began.
    pub at: Time,
    /// By how much, at most.
    pub by: Dur,
}

/// Watches a guest while a trial lasts.
#[derive(Debug)]
pub struct WaitWatch {
    end: Sender<()>,
    watcher: JoinHandle<Vec<Wait>>,
}

impl WaitWatch {
    /// From now on; `None` where the kernel of this machine keeps no such account (`CONFIG_SCHED_INFO`).
    pub fn of(process: u32) -> Option<WaitWatch> {
        let mut account = Account::of(Path::new("/proc").join(process.to_string()))?;
        let (end, ended) = mpsc::channel();
        let watcher = thread::spawn(move || {
            // One that comes late itself takes several waits for one, and so voids more.
            let _real_time = RealTime::enter();
            let (clock, mut lag, mut last) = (Wall::start(), Lag::default(), Time::ZERO);
            loop {
                let over = ended.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout);
                let now = clock.now();
                let span = now.since(last).unwrap_or_default();
                let waited = account.grown(span);
                lag.sample(now, span, waited);
                last = now;
                if over {
                    return lag.finish();
                }
            }
        });
        Some(WaitWatch { end, watcher })
    }

    /// The stretches until now, in their order.
    pub fn finish(self) -> Vec<Wait> {
        drop(self.end);
        self.watcher.join().unwrap_or_default()
    }
}

/// What the scheduler counts of a process.
#[derive(Debug)]
struct Account {
    process: PathBuf,
    /// Of each thread, in nanoseconds.
    waited: BTreeMap<String, u64>,
}

impl Account {
    fn of(process: PathBuf) -> Option<Account> {
        let mut account = Account { process, waited: BTreeMap::new() };
        account.waited = account.read();
        (!account.waited.is_empty()).then_some(account)
    }

    /// What each thread has waited since it began.
    fn read(&self) -> BTreeMap<String, u64> {
        let tasks = fs::read_dir(self.process.join("task")).into_iter().flatten().flatten();
        let one = |task: fs::DirEntry| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            Some((task.file_name().to_str()?.to_owned(), waited(&text)?))
        };
        tasks.filter_map(one).collect()
    }

    /// How much of it came in the last `span`.
    fn grown(&mut self, span: Dur) -> Dur {
        let now = self.read();
        let since = |(task, ns): (&String, &u64)| {
            ns.saturating_sub(self.waited.get(task).copied().unwrap_or(0))
        };
        let grown: u64 = now.iter().map(since).sum();
        self.waited = now;
        let state = fs::read_to_string(self.process.join("stat"));
        let stopped = if state.is_ok_and(|text| is_stopped(&text)) { span } else { Dur::ZERO };
        Dur::ns(grown) + stopped
    }
}

/// The second number of `schedstat`.
fn waited(text: &str) -> Option<u64> {
    text.split_whitespace().nth(1)?.parse().ok()
}

/// Whether `stat` says so: the letter behind the name, which may have blanks and brackets in it.
fn is_stopped(text: &str) -> bool {
    text.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['T', 't']))
}

/// How far a guest is behind: what it waited, less what it ran since (as long as it waited, it takes to catch up at most, with half of its
/// time to spare). Where it is not behind any more, a stretch is over.
#[derive(Debug, Default)]
struct Lag {
    behind: Dur,
    worst: Option<Wait>,
    over: Vec<Wait>,
}

impl Lag {
    /// In the `span` until `now` it waited so long. When in it nobody knows: first, and then it ran.
    fn sample(&mut self, now: Time, span: Dur, waited: Dur) {
        let by = self.behind + waited;
        if by > self.worst.map_or(Dur::ZERO, |worst| worst.by) {
            self.worst = Some(Wait { at: now, by });
        }
        self.behind = by.saturating_sub(span.saturating_sub(waited));
        if self.behind == Dur::ZERO {
            self.over.extend(self.worst.take());
        }
    }

    fn finish(mut self) -> Vec<Wait> {
        self.over.extend(self.worst);
        self.over
    }
}

#[cfg(test)]
mod tests;
