//! What the names in a case's amounts stand for: declared values, predictions, the sweep.

use super::hunt::Counts;
use rig_lab::Declared;
use rig_oracle::spec::pfcwd::Names;
use rig_testcases::Lookup;
use rig_units::Dur;
use std::collections::BTreeMap;

/// Every name that an amount of one point of one case may use.
#[derive(Debug, Clone)]
pub struct Values<'a> {
    /// What the device is configured to.
    pub declared: &'a Declared,
    /// What the oracle predicts for it.
    pub predicted: Names,
    /// Variables of the sweep.
    pub swept: BTreeMap<String, Dur>,
    /// Frames of the streams whose number is searched.
    pub counts: Counts,
}

impl Lookup for Values<'_> {
    fn duration(&self, name: &str) -> Option<Dur> {
        let declared = || self.declared.get(name)?.as_str()?.parse().ok();
        let swept = || self.swept.get(name).copied();
        swept().or_else(|| self.predicted.lookup(name)).or_else(declared)
    }

    fn frames(&self, stream: &str) -> u64 {
        self.counts.get(stream).copied().unwrap_or(0)
    }
}
