//! What the buffer of the device holds after the streams of a script, by the closed forms of the oracle.

use rig_lab::Declared;
use rig_oracle::spec::buffer::{self, Held, Others};
use rig_testcases::{Script, StreamSpec};

/// Frames in the buffer, group by group in the order in which they were filled.
#[derive(Debug)]
pub struct Fill<'a> {
    declared: &'a Declared,
    groups: Vec<Group>,
}

/// What one priority group, or the queue of lossy frames, holds.
#[derive(Debug, Clone, Copy)]
struct Group {
    /// The rig port that fills it.
    port: u16,
    class: u8,
    shared: u64,
    headroom: u64,
}

impl<'a> Fill<'a> {
    /// Nothing.
    pub fn empty(declared: &'a Declared) -> Fill<'a> {
        Fill { declared, groups: Vec::new() }
    }

    /// What `streams` of `script` leave, one after the other, all of them held.
    pub fn of(declared: &'a Declared, script: &Script, streams: &[&str]) -> Fill<'a> {
        let mut fill = Fill::empty(declared);
        for name in streams {
            if let Some(spec) = script.streams.iter().find(|spec| spec.name == *name) {
                fill.add(spec, spec.count.unwrap_or(0));
            }
        }
        fill
    }

    /// Adds `frames` of `spec` to a group that holds nothing yet.
    fn add(&mut self, spec: &StreamSpec, frames: u64) {
        let buffer = &self.declared.buffer;
        let (shared, headroom) = if self.is_lossless(spec.class) {
            let held = buffer::holds(buffer, spec.size, &self.others(spec.from), frames);
            (held.shared, held.headroom)
        } else {
            let first = self.lossy_first_drop(spec);
            (frames.min(first - 1) * buffer::occupied(buffer, spec.size), 0)
        };
        self.groups.push(Group { port: spec.from, class: spec.class, shared, headroom });
    }

    /// What all of it means to another group of rig port `port`.
    pub fn others(&self, port: u16) -> Others {
        self.groups.iter().fold(Others::default(), |others, group| {
            let held = Held { reserved: 0, shared: group.shared, headroom: group.headroom };
            others.and(held, group.port == port && self.is_lossless(group.class))
        })
    }

    /// The number of frames of which the last is the first to be lost.
    pub fn first_drop(&self, spec: &StreamSpec) -> u64 {
        if self.is_lossless(spec.class) {
            buffer::first_drop(&self.declared.buffer, spec.size, &self.others(spec.from))
        } else {
            self.lossy_first_drop(spec)
        }
    }

    /// Whether frames of `class` are lossless.
    pub fn is_lossless(&self, class: u8) -> bool {
        self.declared.qos.pfc_enable.contains(&class)
    }

    fn lossy_first_drop(&self, spec: &StreamSpec) -> u64 {
        let lossy = self.groups.iter().filter(|group| !self.is_lossless(group.class));
        let pool = self.groups.iter().map(|group| group.shared).sum();
        let lossy = lossy.map(|group| group.shared).sum();
        buffer::lossy_first_drop(&self.declared.buffer, spec.size, lossy, pool)
    }
}
