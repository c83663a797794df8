//! What a switch makes of each verb: what a step of a case asks of it, done at once.

use super::body::Body;
use super::switched::Switched;
use crate::model::network::Network;
use rig_testcases::DeviceVerb;

impl Switched {
    /// Does it now; whether there is what it is about.
    pub(super) fn does(&mut self, verb: DeviceVerb, network: &mut Network) -> bool {
        match verb {
            // What the chip has seen since the last poll comes with the next one.
            DeviceVerb::ClearWatermarks(copy) => {
                self.watermarks.request(copy);
                true
            }
            // The chip counts on, and so do all who read it: what is cleared is what one user is shown.
            DeviceVerb::ClearCounters => {
                if self.faults.pfcwd.clear_forgets_storm {
                    self.start_pfcwd(network);
                }
                true
            }
            // Polls keep their phase.
            DeviceVerb::RestartPfcwd => {
                self.was_restarted = true;
                self.start_pfcwd(network)
            }
            DeviceVerb::Reboot(kind) => self.reboots(kind, network),
        }
    }
}
