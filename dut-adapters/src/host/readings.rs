//! What a server's NIC has counted, as a control reads counters.

use super::counted::{Counted, Value};
use crate::control::Readings;

impl Counted {
    /// What a control reads of the device's port of this name. What is counted otherwise than the term says is no value of it.
    pub fn readings(&self, port: &str) -> Readings {
        let mut readings = Readings::default();
        for Value { term, value, called, but, .. } in &self.values {
            let name = format!("{port} {term}");
            if but.is_empty() {
                readings.vendor.insert(name.clone(), called.clone());
                readings.values.insert(name, *value);
            } else {
                readings.absent.insert(name, format!("{called} counts otherwise: {but}"));
            }
        }
        let missing = self.missing.iter();
        readings
            .absent
            .extend(missing.map(|one| (format!("{port} {}", one.term), one.why.clone())));
        readings
    }
}
