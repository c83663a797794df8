//! The host that posts requests to a NIC and polls their completions, and what it keeps of them.
//!
//! It posts so many messages of a connection and no more, and another as it reads that one is complete. The NIC stamps completions by a clock of its own;
//! the host looks at that now and then, and from one look to the next takes it to be as fast as its own.

use super::{Config, Flow, Verb};
use crate::model::chance::{self, Draws};
use rig_capture::{
    CompletionStatus, HostCompletion, HostHistogram, HostReport, LATENCY_BUCKETS, Operation,
};
use rig_lab::RcFaults;
use rig_units::{Dur, Time, Within};
use std::collections::{BTreeMap, VecDeque};

/// How far ahead of the host's the NIC's clock is.
const AHEAD: Dur = Dur::us(40);

/// What a host posts, polls and keeps.
#[derive(Debug, Clone)]
pub(super) struct Completions {
    latency: Within,
    poll: Dur,
    depth: u64,
    window: Dur,
    sync: Dur,
    /// What the NIC's clock tells of a million of the host's picoseconds.
    rate: u64,
    /// When the host polls for the first time.
    phase: Dur,
    queues: BTreeMap<u16, Queue>,
    report: HostReport,
    draws: Draws,
}

/// The requests of one connection.
#[derive(Debug, Clone)]
struct Queue {
    id: u16,
    operation: Operation,
    /// Messages that are still to be posted; `None`: no end of them.
    left: Option<u64>,
    /// When each was posted that is not polled, the oldest first.
    posted: VecDeque<Time>,
    /// The message that the oldest is.
    oldest: u64,
    /// Those of them that are complete, the oldest first.
    complete: VecDeque<Complete>,
}

/// A request that is complete and not polled.
#[derive(Debug, Clone, Copy)]
struct Complete {
    at: Time,
    polled: Time,
    status: CompletionStatus,
}

impl Completions {
    /// A host that has posted nothing; `None` where nothing is known of it.
    pub(super) fn of(config: &Config) -> Option<Box<Completions>> {
        let estats = &config.estats;
        let (latency, poll, window, sync) =
            (estats.latency?, estats.poll?, estats.window?, estats.sync?);
        let mut draws = Draws::new(chance::stream(config.seed, *b"hostcqes"));
        let drift = estats.drift?.0;
        let rate = 1_000_000 - u64::from(drift) + u64::from(draws.up_to(drift * 2));
        let phase = draws.next(Within::between(Dur::ZERO, poll));
        Some(Box::new(Completions {
            latency,
            poll,
            depth: estats.depth?.into(),
            window,
            sync,
            rate,
            phase,
            queues: BTreeMap::new(),
            report: HostReport::default(),
            draws,
        }))
    }

    /// A flow begins: so many of its messages are posted at once.
    pub(super) fn begins(&mut self, now: Time, slot: u16, flow: &Flow) -> u64 {
        let operation = match flow.verb {
            Verb::Send | Verb::SendRegistered | Verb::SendWithTail => Operation::Send,
            Verb::Write | Verb::WriteWithTail => Operation::Write,
            Verb::Read => Operation::Read,
            Verb::FetchAdd | Verb::CompareSwap => Operation::Atomic,
            Verb::SendUnreliable | Verb::WriteUnreliable | Verb::Datagram => return 0,
        };
        let left = flow.count.map(u64::from);
        let first = left.map_or(self.depth, |left| left.min(self.depth));
        let queue = Queue {
            id: flow.id,
            operation,
            left: left.map(|left| left - first),
            posted: (0..first).map(|_| now).collect(),
            oldest: 0,
            complete: VecDeque::new(),
        };
        self.queues.insert(slot, queue);
        first
    }

    /// The first instant from `at` on at which the host polls.
    fn next_poll(&self, at: Time) -> Time {
        let since = at.elapsed().saturating_sub(self.phase);
        Time::ZERO + self.phase + self.poll * since.div_ceil(self.poll)
    }

    /// Messages of a connection are over, `all` of it so far: when the host polls next because of that.
    pub(super) fn over(
        &mut self,
        now: Time,
        slot: u16,
        all: u64,
        status: CompletionStatus,
    ) -> Option<Time> {
        let queue = self.queues.get(&slot)?;
        let told = queue.oldest + u64::try_from(queue.complete.len()).unwrap_or(u64::MAX);
        let mut before = queue.complete.back().map_or(Time::ZERO, |last| last.at);
        for _ in told..all.min(queue.oldest + count(&queue.posted)) {
            let at = before.max(now + self.draws.next(self.latency));
            let polled = self.next_poll(at);
            let complete = Complete { at, polled, status };
            self.queues.get_mut(&slot)?.complete.push_back(complete);
            before = at;
        }
        self.queues.get(&slot)?.complete.front().map(|first| first.polled)
    }

    /// A connection is given up: what is posted ends so.
    pub(super) fn ends(
        &mut self,
        now: Time,
        slot: u16,
        first: CompletionStatus,
        rest: CompletionStatus,
    ) -> Option<Time> {
        let queue = self.queues.get_mut(&slot)?;
        queue.left = Some(0);
        let done = queue.oldest + u64::try_from(queue.complete.len()).unwrap_or(u64::MAX);
        let all = queue.oldest + count(&queue.posted);
        self.over(now, slot, done + 1, first);
        self.over(now, slot, all, rest)
    }

    /// When it polls a connection next of which something is complete.
    pub(super) fn next(&self, slot: u16) -> Option<Time> {
        Some(self.queues.get(&slot)?.complete.front()?.polled)
    }

    /// Nothing more of a connection is posted.
    pub(super) fn closes(&mut self, slot: u16) {
        if let Some(queue) = self.queues.get_mut(&slot) {
            queue.left = Some(0);
        }
    }

    /// What it says since it was asked last.
    pub(super) fn told_so_far(&mut self) -> HostReport {
        core::mem::take(&mut self.report)
    }

    /// What the host makes of an instant on the NIC's clock.
    fn told(&self, at: Time, faults: &RcFaults) -> Time {
        let since = |from: Time| (at - from).scaled(self.rate, 1_000_000);
        if faults.completion_clock_uncorrected {
            return Time::ZERO + AHEAD + since(Time::ZERO);
        }
        let look = Time(at.0 - at.0 % self.sync.0);
        look + since(look)
    }

    /// The host polls: it reads what is complete by now, and posts as many. How many.
    pub(super) fn polls(&mut self, now: Time, slot: u16, faults: &RcFaults) -> u64 {
        let Some(queue) = self.queues.get_mut(&slot) else { return 0 };
        let mut read = Vec::new();
        while let Some(complete) = queue.complete.pop_front_if(|one| one.polled <= now) {
            let posted = queue.posted.pop_front().unwrap_or(now);
            read.push((queue.oldest, posted, complete));
            queue.oldest += 1;
        }
        let more = u64::try_from(read.len()).unwrap_or(u64::MAX);
        let more = queue.left.map_or(more, |left| left.min(more));
        queue.left = queue.left.map(|left| left - more);
        queue.posted.extend((0..more).map(|_| now));
        let (connection, operation) = (queue.id, queue.operation);
        for (nth, (message, posted, complete)) in read.into_iter().enumerate() {
            let at = if faults.completion_stamped_when_polled { now } else { complete.at };
            let one = HostCompletion {
                connection,
                message,
                status: complete.status,
                posted,
                completed: self.told(at, faults),
                polled: (nth == 0 || !faults.completion_read_untold).then_some(now),
            };
            self.count(now, &one, operation, faults);
            self.report.completions.push(one);
        }
        more
    }

    /// Counts it where it belongs.
    fn count(&mut self, now: Time, one: &HostCompletion, operation: Operation, faults: &RcFaults) {
        let HostCompletion { connection, status, .. } = *one;
        if faults.completion_errors_uncounted && status != CompletionStatus::Success {
            return;
        }
        let window = now.elapsed() / self.window;
        let is_like = |of: &&mut HostHistogram| {
            (of.connection, of.operation, of.status) == (connection, operation, status)
        };
        let last = self.report.histograms.iter_mut().rev().find(is_like);
        let [mut to_completed, mut to_polled] = [[0; LATENCY_BUCKETS]; 2];
        let histogram = match last {
            Some(last) if last.window == window => last,
            before => {
                if let Some(before) = before.filter(|_| faults.completion_window_kept) {
                    (to_completed, to_polled) = (before.to_completed, before.to_polled);
                }
                let fresh = HostHistogram {
                    connection,
                    operation,
                    status,
                    window,
                    to_completed,
                    to_polled,
                };
                self.report.histograms.push(fresh);
                let Some(fresh) = self.report.histograms.last_mut() else { return };
                fresh
            }
        };
        let above = usize::from(faults.completion_bucket_above);
        let place = |until: Time| {
            // Each bucket is twice as wide as all before it.
            let us = until.since(one.posted).map_or(0, |took| took / Dur::us(1));
            let bits = usize::try_from(u64::BITS - us.leading_zeros()).unwrap_or(LATENCY_BUCKETS);
            (bits + above).min(LATENCY_BUCKETS - 1)
        };
        histogram.to_completed[place(one.completed)] += 1;
        if let Some(polled) = one.polled {
            histogram.to_polled[place(polled)] += 1;
        }
    }
}

fn count(all: &VecDeque<Time>) -> u64 {
    u64::try_from(all.len()).unwrap_or(u64::MAX)
}
