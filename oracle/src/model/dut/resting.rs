//! Which counters of a switch may be left out of a reading where they are 0: of each port the same ones.

use super::guard::Guard;
use super::switched::Switched;
use crate::model::switch::Switch;
use rig_capture::AtRest;
use rig_lab::WatermarkCopy;
use std::sync::{Arc, OnceLock};

/// They are named once: before watermarks are read, and since.
#[derive(Debug, Default)]
pub(super) struct Resting([OnceLock<Arc<AtRest>>; 2]);

impl Resting {
    /// Those of a switch whose counters' names begin with `prefix`, always the same one; of what moves its frames, and of what is beside.
    pub(super) fn get(&self, prefix: &str, chip: &Switch, beside: &Switched) -> Arc<AtRest> {
        let copied = beside.watermarks.were_read();
        let named = || Arc::new(named(prefix, chip, &beside.guards, copied));
        Arc::clone(self.0[usize::from(copied)].get_or_init(named))
    }
}

fn named(prefix: &str, chip: &Switch, guards: &[Guard], copied: bool) -> AtRest {
    let behind = chip.behind_ports();
    let mut own: Vec<String> = behind.iter().map(|(name, _)| name.clone()).collect();
    // Each port is guarded alike.
    let first = guards.iter().filter(|guard| guard.at.port == 0);
    own.extend(first.flat_map(|guard| Guard::behind_port(guard.class)));
    let rest = AtRest::of_ports(chip.port_names().iter().cloned()).with(prefix, own);
    if !copied {
        return rest;
    }
    WatermarkCopy::NAMES.into_iter().fold(rest, |rest, (table, _)| {
        let watermarks = behind.iter().filter(|(_, is_watermark)| *is_watermark);
        rest.with(&format!("{prefix}{table} "), watermarks.map(|(name, _)| name.clone()))
    })
}
