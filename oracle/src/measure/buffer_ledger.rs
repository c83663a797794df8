//! What the buffer of the device holds after the streams of a script, by the closed forms of the oracle.

use crate::spec::buffer::voq::{self, Ahead};
use crate::spec::buffer::{self, GroupSpread, Held, Off, Others};
use rig_capture::Span;
use rig_lab::{Accounting, Switch};
use rig_testcases::{Script, StreamSpec};

/// Frames in the buffer, group by group in the order in which they were filled.
#[derive(Debug)]
pub(super) struct BufferLedger<'a> {
    declared: &'a Switch,
    /// How far the thresholds of what is asked about, or filled, lie off what is declared.
    off: Off,
    /// The ports of the device behind those of the rig, once something is held.
    ports: Vec<u16>,
    groups: Vec<Group>,
}

/// What one priority group, or the queue of lossy frames, holds in a packet memory.
#[derive(Debug, Clone, Copy)]
struct Group {
    /// The rig port that fills it.
    port: u16,
    /// The rig port that it is sent to.
    to: u16,
    class: u8,
    reserved: u64,
    shared: u64,
    headroom: u64,
}

impl<'a> BufferLedger<'a> {
    /// Nothing.
    pub(super) fn empty(declared: &'a Switch) -> BufferLedger<'a> {
        BufferLedger { declared, off: Off::NONE, ports: Vec::new(), groups: Vec::new() }
    }

    /// The same with thresholds that lie so far off from now on.
    pub(super) fn with(self, off: Off) -> BufferLedger<'a> {
        BufferLedger { off, ..self }
    }

    /// Whatever may be of an empty buffer, by the declared margin.
    pub(super) fn span(declared: &Switch, of: impl Fn(&BufferLedger<'_>) -> u64) -> Span {
        let (lo, hi) = Off::span(declared, |off| of(&BufferLedger::empty(declared).with(off)));
        Span { lo, hi }
    }

    /// The same once `streams` of `script` are held, whose own thresholds lie off as they may.
    pub(super) fn span_behind(
        declared: &Switch,
        (script, streams): (&Script, &[&str]),
        of: impl Fn(&BufferLedger<'_>) -> u64,
    ) -> Span {
        let ends = Off::ends(declared);
        let own = |before: Off| {
            Off::span(declared, |off| {
                let filled = BufferLedger::empty(declared).with(before).filled(script, streams);
                of(&filled.with(off))
            })
        };
        let all = ends.into_iter().map(own);
        let hull = all.fold((u64::MAX, 0), |all, one| (all.0.min(one.0), all.1.max(one.1)));
        Span { lo: hull.0, hi: hull.1 }
    }

    /// What `streams` of `script` leave, one after the other, all of them held.
    pub(super) fn of(declared: &'a Switch, script: &Script, streams: &[&str]) -> BufferLedger<'a> {
        BufferLedger::empty(declared).filled(script, streams)
    }

    /// The same once `streams` of `script` are held, too, one after the other.
    pub(super) fn filled(mut self, script: &Script, streams: &[&str]) -> BufferLedger<'a> {
        self.ports.clone_from(&script.dut_ports);
        for name in streams {
            if let Some(spec) = script.streams.iter().find(|spec| spec.name == *name) {
                self.add(spec, spec.count.unwrap_or(0));
            }
        }
        self
    }

    /// Adds `frames` of `spec` to a group that holds nothing yet.
    fn add(&mut self, spec: &StreamSpec, frames: u64) {
        let buffer = &self.declared.buffer;
        let Held { reserved, shared, headroom } = if self.is_lossless(spec.class) {
            self.holds(spec, frames)
        } else {
            let first = self.lossy_first_drop(spec);
            let shared = frames.min(first - 1) * buffer::occupied(buffer, spec.size);
            Held { shared, ..Held::default() }
        };
        let StreamSpec { from: port, to, class, .. } = *spec;
        self.groups.push(Group { port, to, class, reserved, shared, headroom });
    }

    /// What `frames` of a lossless stream add.
    pub(super) fn holds(&self, spec: &StreamSpec, frames: u64) -> Held {
        let (others, ahead) = self.found_by(spec);
        voq::holds(&self.declared.buffer, spec.size, &others, &ahead, frames)
    }

    /// The number of frames with which the last makes the device tell their sender to pause.
    pub(super) fn first_xoff(&self, spec: &StreamSpec) -> u64 {
        let (others, ahead) = self.found_by(spec);
        voq::first_xoff(&self.declared.buffer, spec.size, &others, &ahead)
    }

    /// The same for streams that grow together from nothing: all within one limit, or each with its own.
    pub(super) fn together(&self, specs: &[&StreamSpec]) -> (u64, u64) {
        let Some(first) = specs.first() else { return (0, 0) };
        let (buffer, others) = (&self.declared.buffer, self.others(first.from, first.to));
        let count = u64::try_from(specs.len()).unwrap_or(u64::MAX);
        if specs.iter().all(|spec| self.limited(spec) == self.limited(first)) {
            return voq::together(buffer, first.size, count, &others);
        }
        let spread = GroupSpread::over(specs.iter().map(|spec| spec.from));
        buffer::together(buffer, first.size, spread, &others)
    }

    /// What frames of a stream find: all that is outside what their limit is about, and what is ahead of them there.
    fn found_by(&self, spec: &StreamSpec) -> (Others, Ahead) {
        let (mut others, mut ahead) = (self.others(spec.from, spec.to), Ahead::default());
        for group in self.in_memory(spec.from, spec.to) {
            if !self.is_lossless(group.class) {
                continue;
            }
            if self.unit(group.port, group.to, group.class) == self.limited(spec) {
                ahead.queued += group.reserved + group.shared;
                others.pool -= group.shared;
                others.port -= if group.port == spec.from { group.shared } else { 0 };
            }
            if (group.port, group.class) == (spec.from, spec.class) {
                ahead.headroom += group.headroom;
            }
        }
        (others, ahead)
    }

    /// What a limit is about: the port of the group or of the queue, and its class.
    fn unit(&self, from: u16, to: u16, class: u8) -> (u16, u8) {
        match self.declared.buffer.accounting {
            Accounting::Ingress => (from, class),
            Accounting::Voq => (to, class),
        }
    }

    /// What the limit is about that a stream meets.
    fn limited(&self, spec: &StreamSpec) -> (u16, u8) {
        self.unit(spec.from, spec.to, spec.class)
    }

    /// How far the share that the group of `spec` has in the pool may still rise once its queue drains, in bytes: see
    /// [`voq::risen_while_draining`].
    pub(super) fn risen_while_draining(&self, spec: &StreamSpec, own: &Held) -> u64 {
        if self.declared.buffer.accounting != Accounting::Voq {
            return 0;
        }
        let lossless = self.groups.iter().filter(|group| self.is_lossless(group.class));
        let ahead = lossless.filter(|group| {
            group.port != spec.from && (group.to, group.class) == (spec.to, spec.class)
        });
        voq::risen_while_draining(own, ahead.map(|group| group.reserved + group.shared).sum())
    }

    /// What of it lies in the memory that frames from one rig port to another take.
    fn in_memory(&self, from: u16, to: u16) -> impl Iterator<Item = &Group> {
        let at = |port: u16| self.ports.get(usize::from(port)).copied().unwrap_or(port);
        let memory = move |from, to| self.declared.memory(at(from), at(to));
        let own = memory(from, to);
        self.groups.iter().filter(move |group| memory(group.port, group.to) == own)
    }

    /// What all of it means to another group of rig port `from` whose frames go to `to`.
    pub(super) fn others(&self, from: u16, to: u16) -> Others {
        self.in_memory(from, to).fold(Others::ALONE.with(self.off), |others, group| {
            let held = Held { reserved: 0, shared: group.shared, headroom: group.headroom };
            others.and(held, group.port == from && self.is_lossless(group.class))
        })
    }

    /// What the pools of all memories have of it.
    pub(super) fn pools(&self) -> (u64, u64) {
        let both = self.groups.iter().map(|group| (group.shared, group.headroom));
        both.fold((0, 0), |sum, (shared, headroom)| (sum.0 + shared, sum.1 + headroom))
    }

    /// The number of frames of which the last is the first to be lost.
    pub(super) fn first_drop(&self, spec: &StreamSpec) -> u64 {
        if self.is_lossless(spec.class) {
            let (others, ahead) = self.found_by(spec);
            voq::first_drop(&self.declared.buffer, spec.size, &others, &ahead)
        } else {
            self.lossy_first_drop(spec)
        }
    }

    /// Whether frames of `class` are lossless.
    pub(super) fn is_lossless(&self, class: u8) -> bool {
        self.declared.qos.pfc_enable.contains(&class)
    }

    fn lossy_first_drop(&self, spec: &StreamSpec) -> u64 {
        let here = || self.in_memory(spec.from, spec.to);
        let lossy = here().filter(|group| !self.is_lossless(group.class));
        let pool = here().map(|group| group.shared).sum();
        let lossy = lossy.map(|group| group.shared).sum();
        let taken = (lossy, pool);
        buffer::lossy_first_drop_off(&self.declared.buffer, spec.size, taken, self.off.limit)
    }
}
