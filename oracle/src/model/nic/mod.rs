//! An RDMA NIC: reliable connections, each a queue pair at either end, and DCQCN. The rule is `docs/nic.md`.
//!
//! A NIC is a component as the others are: `now` comes in with every call, and `wake` says when it wants to be
//! called again. The port that it sends by is its host's, which obeys PFC and asks for the next frame when it is free.
//!
//! Left out on purpose, where the rule leaves it open: a bound to the packets under way, and more than one READ under way of a
//! queue pair. PFC holds back what queue pairs send, not CNPs, NAKs and acknowledgements, as in every other host.

mod ack_timer;
mod alike;
mod answers;
mod apps;
mod atomics;
mod backpressure;
mod completions;
mod config;
mod counters;
mod ets;
mod fence;
mod flow;
mod hogs;
mod host_memory;
mod kept;
mod keys;
mod landed;
mod limiting;
mod not_ready;
mod notified;
mod np;
#[cfg(feature = "ns3")]
pub mod ns3_dcqcn;
mod one_way;
mod operate;
mod pair;
mod pause_watchdog;
mod pending;
mod pfc;
mod play;
mod polling;
mod port;
mod port_classes;
mod posting;
mod process;
mod psn;
mod receive;
mod receive_buffer;
mod receives;
mod requester;
mod responder;
pub mod rp;
mod seldom;
mod send;
mod send_queues;
mod stream;
mod table;
mod tags;
mod unreliable;

pub use config::Config;
pub use counters::Counters;
pub(crate) use counters::Shown;
pub use flow::{Flow, Verb};
pub(crate) use pfc::Departs;
pub(crate) use port::Port;

use super::chance::{self, Draws};
use super::host::PFC_SIZE;
use super::packet::ROCE_OVERHEAD;
use answers::Answers;
use apps::Apps;
use completions::Completions;
use config::EachFrame;
use ets::Selector;
use kept::Kept;
use np::Np;
use pair::Pair;
use pending::Pending;
use polling::{Polling, Wanted};
use receive::Pipeline;
use receive_buffer::ReceiveBuffer;
use receives::Receives;
use rig_lab::Scope;
use rig_units::{Dur, Time, Within};
use rp::Limiter;
use send::Choice;
use send_queues::{Limit, SendQueues};
use std::collections::{BTreeMap, BTreeSet};
use table::{NOBODY, Table};
use unreliable::Unreliable;

/// A NIC with one port.
#[derive(Debug, Clone)]
pub struct Nic {
    config: Config,
    each_frame: EachFrame,
    /// The host that it is.
    host: u16,
    /// Speed of its port, in bits a second.
    line: u64,
    table: Table,
    pairs: Vec<Pair>,
    send_queues: SendQueues,
    /// Limiters of addresses, and of the port, where limiters are kept for these.
    limit_of_address: BTreeMap<u16, u16>,
    limit_of_port: u16,
    np: Np,
    /// CNPs that take effect later.
    cnps: Pending,
    cnps_received: u64,
    pipeline: Pipeline,
    /// What its host has not taken yet, where that can be slow and it sends PFC then.
    buffer: Option<Box<ReceiveBuffer>>,
    /// What its application has posted for what is sent to it, where that may run out.
    receives: Option<Box<Receives>>,
    /// What comes by unreliable connections, where there are some.
    unreliable: Option<Box<Unreliable>>,
    /// Which traffic class sends next, where they do not share the port as they come.
    selector: Option<Box<Selector>>,
    answers: Answers,
    /// What queue pairs keep behind holes, where they do.
    kept: BTreeMap<u16, Kept>,
    /// How many holes it has seen in what came.
    holes: u32,
    /// How many acknowledgements it has made, where that matters.
    acks: u32,
    /// Frames that began to leave, counted where some of them are spoilt.
    begun: u64,
    /// Nothing leaves before, of one that lets nothing leave for longer than it may.
    stalled: Time,
    /// What is to be looked at later.
    later: BTreeSet<(Time, u16, Later)>,
    counters: Counters,
    draws: Draws,
    /// What of applications its host does, where there are some.
    apps: Option<Box<Apps>>,
    /// The core that its applications ask, where they do not ask it.
    polling: Option<Box<Polling>>,
    /// The host that posts what it sends, where that is known.
    completions: Option<Box<Completions>>,
    /// Everything before is done.
    seen: Time,
    /// Whether a READ was ever asked for.
    reads: bool,
    /// Whether an atomic operation was, or a message that waits behind a fence.
    atomics: bool,
    /// No frame is smaller.
    least: u16,
}

/// What is to be looked at later of a queue pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Later {
    /// It may send again.
    Resend,
    /// There may have been no progress for too long.
    Timeout,
    /// The core that hands over requests has something to do; no queue pair's.
    Core,
    /// A step of an application is due.
    Step,
    /// The host polls its completions.
    Polled,
}

impl Nic {
    /// A NIC that sends nothing, host `host` of its network, on a port of `line` bits a second.
    pub fn new(host: u16, config: &Config, line: u64) -> Nic {
        let mut phase = Draws::new(chance::stream(config.seed, *b"ffrsleep"));
        let polling = config.router.map(|router| {
            // It sleeps since before anybody looked.
            let first = phase.next(Within::between(Dur::ZERO, router.sleep));
            Box::new(Polling::new(Time::ZERO + first))
        });
        let buffer = ReceiveBuffer::of(config);
        let least = config.ack_size();
        Nic {
            config: *config,
            each_frame: EachFrame::of(config),
            host,
            line,
            table: Table::default(),
            pairs: Vec::new(),
            send_queues: SendQueues::new(&config.faults.rp),
            limit_of_address: BTreeMap::new(),
            limit_of_port: NOBODY,
            np: Np::default(),
            cnps: Pending::default(),
            cnps_received: 0,
            pipeline: Pipeline::of(&config.faults.np),
            least: if buffer.is_some() { least.min(PFC_SIZE) } else { least },
            buffer,
            receives: Receives::of(config),
            unreliable: None,
            selector: Selector::of(config, line),
            answers: Answers::default(),
            kept: BTreeMap::new(),
            holes: 0,
            acks: 0,
            begun: 0,
            stalled: Time::ZERO,
            later: BTreeSet::new(),
            counters: Counters::default(),
            draws: Draws::new(chance::stream(config.seed, *b"niclaten")),
            apps: None,
            polling,
            completions: Completions::of(config),
            seen: Time::ZERO,
            reads: false,
            atomics: false,
        }
    }

    /// What it has counted so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// PFC frames that it sent for `class`, XOFF and XON.
    pub(crate) fn pauses_sent(&self, class: u8) -> u64 {
        self.buffer.as_ref().map_or(0, |buffer| buffer.pauses_sent(class))
    }

    /// The limiter of a connection that it sends on, as it is now.
    pub fn limiter(&self, id: u16) -> Option<Limiter> {
        let pair = self.pairs.get(usize::from(self.table.get(id)))?;
        let mut limiter = self.send_queues.limits.get(usize::from(pair.limit))?.limiter;
        if let Some(before) = self.seen.0.checked_sub(1) {
            limiter.catch_up_all(&self.config.rp, &self.config.faults.rp, Time(before));
        }
        Some(limiter)
    }

    /// Packets of a flow that were acknowledged; of a READ those that it brought.
    pub fn acknowledged(&self, id: u16) -> Option<u64> {
        let pair = self.pairs.get(usize::from(self.table.get(id)))?;
        Some(pair.requester.as_ref()?.acked())
    }

    /// Whether all messages of a flow are acknowledged.
    pub fn is_done(&self, id: u16) -> bool {
        let pair = self.pairs.get(usize::from(self.table.get(id)));
        pair.and_then(|pair| pair.requester.as_ref()).is_some_and(requester::Requester::is_done)
    }

    /// Starts a flow now. One that its queue pair had before is forgotten; a limiter of its own starts afresh.
    pub(crate) fn start(&mut self, now: Time, flow: &Flow) {
        let slot = self.pair(flow.id, flow.dst);
        self.reads |= flow.verb == Verb::Read;
        self.holds_payload_of(flow.message.min(flow.mtu));
        let rest = flow.message % flow.mtu.max(1);
        self.holds_payload_of(if rest == 0 { flow.mtu } else { rest });
        let is_new = self.pairs[usize::from(slot)].requester.is_none();
        let ect = flow.ect && !self.config.faults.rc.data_not_capable;
        let Flow { verb, message, count, .. } = self.heeded(flow);
        self.atomics |= verb.is_atomic() || verb == Verb::SendRegistered;
        self.pairs[usize::from(slot)].start(
            &Flow { ect, verb, message, count, ..*flow },
            &self.config.rc,
            &self.config.faults.rc,
        );
        self.join(slot);
        if !is_new && self.config.rp.scope == Scope::Qp {
            let limit = self.pairs[usize::from(slot)].limit;
            self.send_queues.limits[usize::from(limit)].limiter = self.config.fresh(self.line);
        }
        if self.apps.as_ref().is_some_and(|apps| apps.holds(flow.id)) {
            if let Some(requester) = &mut self.pairs[usize::from(slot)].requester {
                requester.stop();
            }
            return;
        }
        let left = self.left(flow);
        if let (Some(polling), Some(router)) = (&mut self.polling, &self.config.router) {
            let (message, copied) = (flow.message, flow.verb == Verb::Send);
            let wanted = Wanted { left, message, copied, container: flow.container };
            polling.ask((router, &self.config.faults.rdma_router), now, slot, wanted);
            if let Some(requester) = &mut self.pairs[usize::from(slot)].requester {
                requester.stop();
            }
            return self.poll(now);
        }
        if self.completions.is_some() {
            self.posts(now, slot, flow);
        }
        self.send_queues.enqueue(&mut self.pairs, slot, now);
    }

    /// What it makes of what it is asked for.
    fn heeded(&self, flow: &Flow) -> Flow {
        let (rc, faults) = (&self.config.rc, &self.config.faults.rc);
        let verb = if faults.immediate_dropped { flow.verb.without_tail() } else { flow.verb };
        let verb = fence::fenced(verb, rc, faults);
        unreliable::heeded(&Flow { verb, ..*flow }, faults)
    }

    /// Messages of a flow: its own, or what is left of one that it takes over, which ends here.
    fn left(&mut self, flow: &Flow) -> Option<u32> {
        let Some(before) = flow.container.takes_over else { return flow.count };
        self.stop(before);
        let pair = self.pairs.get(usize::from(self.table.get(before)))?;
        let left = pair.requester.as_ref()?.left()?;
        let faults = &self.config.faults.rdma_router;
        let (more, less) =
            (u32::from(faults.migration_repeats), u32::from(faults.migration_forgets));
        Some((left + more).saturating_sub(less))
    }

    /// The core that hands over requests does what is due.
    fn poll(&mut self, now: Time) {
        let (Some(polling), Some(router)) = (&mut self.polling, &self.config.router) else {
            return;
        };
        let faults = &self.config.faults.rdma_router;
        loop {
            if let Some(slot) = polling.on_wake(now, router, faults) {
                let pair = &mut self.pairs[usize::from(slot)];
                if let Some(requester) = &mut pair.requester {
                    requester.hand();
                }
                pair.prepare();
                self.send_queues.enqueue(&mut self.pairs, slot, now);
            }
            match polling.next(router, faults) {
                Some(due) if due <= now => {}
                due => {
                    self.later.extend(due.map(|due| (due, NOBODY, Later::Core)));
                    break;
                }
            }
        }
    }

    /// Sends nothing new of a flow from now on.
    pub(crate) fn stop(&mut self, id: u16) {
        let slot = self.table.get(id);
        if let Some(polling) = &mut self.polling {
            polling.stop(slot);
        }
        let pair = self.pairs.get_mut(usize::from(slot));
        if let Some(requester) = pair.and_then(|pair| pair.requester.as_mut()) {
            requester.stop();
        }
        self.posts_no_more(slot);
    }

    /// The queue pair of a flow is gone, at this end of it: nothing is sent any more, nor again.
    pub(crate) fn end(&mut self, id: u16) {
        self.stop(id);
        let Some(pair) = self.pairs.get_mut(usize::from(self.table.get(id))) else { return };
        if let Some(requester) = &mut pair.requester {
            requester.denied();
        }
        pair.responder.forgives();
        pair.prepare();
    }

    /// Learns with which number begins what comes by this connection.
    pub(crate) fn begin_at(&mut self, id: u16, from: u16, psn: u32) {
        let slot = self.pair(id, from);
        self.pairs[usize::from(slot)].responder.learn(psn);
    }

    /// Learns of the payload in each packet of what a READ on this connection is answered with.
    pub(crate) fn expect(&mut self, id: u16, from: u16, mtu: u32) {
        let slot = self.pair(id, from);
        self.pairs[usize::from(slot)].mtu = mtu;
        self.holds_payload_of(mtu);
        self.pairs[usize::from(slot)].prepare();
    }

    /// Works otherwise from now on. Its state stays; where limiters are kept for something else, new ones are made.
    pub(crate) fn set(&mut self, now: Time, config: &Config) {
        let before = core::mem::replace(&mut self.config, *config);
        self.each_frame = EachFrame::of(config);
        for limit in &mut self.send_queues.limits {
            if let Some(last) = now.0.checked_sub(1) {
                limit.limiter.catch_up_all(&before.rp, &before.faults.rp, Time(last));
            }
            limit.pacer.forget();
        }
        let timer =
            |rc: &rig_lab::Rc| (rc.timeout, rc.timeout_late, rc.timeout_late_share, rc.adaptive);
        if timer(&before.rc) != timer(&config.rc) {
            let requesters = self.pairs.iter_mut().filter_map(|pair| pair.requester.as_mut());
            requesters.for_each(|requester| requester.timer.forget());
        }
        if before.receive != config.receive {
            self.pipeline.forget();
        }
        if before.ets != config.ets {
            self.selector = Selector::of(config, self.line);
        }
        if (before.memory, before.sends) != (config.memory, config.sends) {
            let kept = self.buffer.take();
            self.buffer = match kept {
                Some(kept) => kept.anew(config),
                None => ReceiveBuffer::of(config),
            };
            self.least = if self.buffer.is_some() { self.least.min(PFC_SIZE) } else { self.least };
        }
        if before.estats != config.estats {
            self.completions = Completions::of(config);
        }
        let posts = |rc: &rig_lab::Rc| (rc.receives, rc.receive_again, rc.rnr_timer);
        if posts(&before.rc) != posts(&config.rc) {
            self.receives = Receives::of(config);
        }
        if before.rp.scope != config.rp.scope {
            let senders: Vec<u16> = (0..)
                .zip(&self.pairs)
                .filter(|(_, pair)| pair.limit != NOBODY)
                .map(|(slot, _)| slot)
                .collect();
            self.send_queues.clear(&mut self.pairs);
            self.limit_of_address.clear();
            self.limit_of_port = NOBODY;
            for slot in senders {
                self.join(slot);
                self.send_queues.enqueue(&mut self.pairs, slot, now);
            }
        }
    }

    /// Frames may be as small as those with so many bytes of payload.
    fn holds_payload_of(&mut self, bytes: u32) {
        let bytes = u16::try_from(bytes).unwrap_or(u16::MAX);
        self.least = self.least.min(bytes.saturating_add(ROCE_OVERHEAD));
    }

    /// The size that no frame is below.
    #[inline]
    pub(crate) const fn least_size(&self) -> u16 {
        self.least
    }

    /// The place of a queue pair, which is made if there is none.
    #[inline]
    fn pair(&mut self, id: u16, far: u16) -> u16 {
        match self.table.get(id) {
            NOBODY => self.add_pair(id, far),
            known => known,
        }
    }

    #[cold]
    #[inline(never)]
    fn add_pair(&mut self, id: u16, far: u16) -> u16 {
        let slot = u16::try_from(self.pairs.len()).unwrap_or(NOBODY);
        assert!(slot < NOBODY, "too many queue pairs");
        self.pairs.push(Pair::new(id, self.host, far));
        self.table.insert(id, slot);
        slot
    }

    /// Gives a queue pair that sends its limiter.
    fn join(&mut self, slot: u16) {
        let pair = &mut self.pairs[usize::from(slot)];
        if pair.limit != NOBODY {
            return;
        }
        let limit = match self.config.rp.scope {
            Scope::Qp => &mut pair.limit,
            Scope::DestIp => self.limit_of_address.entry(pair.far_address()).or_insert(NOBODY),
            Scope::Port => &mut self.limit_of_port,
        };
        if *limit == NOBODY {
            *limit = self.send_queues.add(Limit::new(&self.config, self.line));
        }
        let limit = *limit;
        self.pairs[usize::from(slot)].limit = limit;
    }

    /// Everything before `until` is done.
    pub(crate) const fn seen(&mut self, until: Time) {
        self.seen = until;
    }
}

#[cfg(test)]
mod tests;
