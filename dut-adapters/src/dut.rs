//! What the runner may ask of a device, whatever it is reached through.

use core::fmt;
use rig_capture::DutEvent;
use rig_lab::{Declared, Setting, WatermarkCopy};
use std::collections::BTreeMap;

/// A device under test.
pub trait Dut {
    /// Changes settings, all or none. An adapter reads them back before it says that they were taken.
    ///
    /// # Errors
    /// When the device refuses them, or states another value afterwards; nothing has changed then.
    fn configure(&mut self, settings: &[Setting]) -> Result<(), Refused>;

    /// The configuration as the device states it now.
    fn configured(&self) -> &Declared;

    /// Every counter now, under its SAI name; empty when the adapter has none.
    fn counters(&self) -> BTreeMap<String, u64>;

    /// These counters now, in their order; `None` for each that the device has not. Cheaper than all of them where an
    /// adapter can ask for one.
    fn read(&self, names: &[String]) -> Vec<Option<u64>> {
        let all = self.counters();
        names.iter().map(|name| all.get(name).copied()).collect()
    }

    /// Clears every watermark among the counters: it becomes what is in use now.
    ///
    /// # Errors
    /// When the adapter has no way to do it.
    fn clear_watermarks(&mut self) -> Result<(), Refused> {
        Err(Refused { why: "this adapter cannot clear watermarks".to_owned() })
    }

    /// Asks the device's software to clear one of the copies that it keeps of watermarks.
    ///
    /// # Errors
    /// When the adapter has no way to do it.
    fn clear_copy(&mut self, _: WatermarkCopy) -> Result<(), Refused> {
        Err(Refused { why: "this adapter cannot clear copies of watermarks".to_owned() })
    }

    /// What the device reported since the last call, on the clock of the session; `None` when it reports nothing.
    fn events(&mut self) -> Option<Vec<DutEvent>>;
}

/// Why a device did not take settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// In the device's words.
    pub why: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl core::error::Error for Refused {}

#[cfg(test)]
mod tests {
    use super::*;

    struct Mute(Declared);

    impl Dut for Mute {
        fn configure(&mut self, _: &[Setting]) -> Result<(), Refused> {
            Ok(())
        }
        fn configured(&self) -> &Declared {
            &self.0
        }
        fn counters(&self) -> BTreeMap<String, u64> {
            BTreeMap::new()
        }
        fn events(&mut self) -> Option<Vec<DutEvent>> {
            None
        }
    }

    #[test]
    fn an_adapter_that_cannot_clear_watermarks_says_so() {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let mut mute = Mute(lab.duts[0].declared.clone());
        let refused = mute.clear_watermarks().expect_err("it has none");
        assert_eq!(refused.to_string(), "this adapter cannot clear watermarks");
        let refused = mute.clear_copy(WatermarkCopy::User).expect_err("it has none");
        assert_eq!(refused.to_string(), "this adapter cannot clear copies of watermarks");
    }
}
