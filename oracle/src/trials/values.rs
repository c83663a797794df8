//! What the names in a case's amounts stand for: declared values, predictions, the sweep.

use super::threshold_search::Counts;
use crate::spec::pfcwd::Names;
use rig_lab::Declared;
use rig_testcases::Lookup;
use rig_units::{Bytes, Dur};
use std::collections::BTreeMap;

/// Every name that an amount of one point of one case may use.
#[derive(Debug, Clone)]
pub struct Values<'a> {
    /// What the device is configured to.
    pub declared: &'a Declared,
    /// What the oracle predicts for its watchdog, if it has one.
    pub predicted: Option<Names>,
    /// Variables of the sweep.
    pub swept: BTreeMap<String, Dur>,
    /// A stream and the size of its frames, where that is swept.
    pub size: Option<(String, Bytes)>,
    /// Frames of the streams whose number is searched.
    pub counts: Counts,
}

impl Lookup for Values<'_> {
    fn duration(&self, name: &str) -> Option<Dur> {
        let declared = || self.declared.get(name)?.as_str()?.parse().ok();
        let swept = || self.swept.get(name).copied();
        swept().or_else(|| self.predicted?.lookup(name)).or_else(declared)
    }

    fn size(&self, stream: &str) -> Option<Bytes> {
        self.size.as_ref().filter(|(of, _)| of == stream).map(|(_, size)| *size)
    }

    fn frames(&self, stream: &str) -> u64 {
        self.counts.get(stream).copied().unwrap_or(0)
    }
}
