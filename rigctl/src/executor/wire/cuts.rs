//! Links that the rig cuts at its own interfaces: each is noted in the journal before the trial that may cut it, so that nothing
//! waits for a disk while frames are on their way, and struck out when it is up again.

use super::broken::Broken;
use crate::rights::{self, Work};
use rig_dut::Journal;
use rig_dut::journal::{Change, Number};
use rig_generator::port::{Link, PortError};
use rig_testcases::{Action, Script};
use rig_units::Dur;
use std::sync::Arc;

/// How long the link may take to come up after the rig has set its interface up again.
pub(super) const SETTLE: Dur = Dur::s(5);

/// Links that may be down.
#[derive(Debug)]
pub(super) struct Cuts {
    journal: Arc<Journal>,
    noted: Vec<Number>,
}

impl Cuts {
    /// None yet.
    pub(super) const fn new(journal: Arc<Journal>) -> Cuts {
        Cuts { journal, noted: Vec::new() }
    }

    /// Notes every link that `script` cuts: `interfaces` has that of each port of the device.
    ///
    /// # Errors
    /// It cannot be noted; then nothing may be cut.
    pub(super) fn note(&mut self, script: &Script, interfaces: &[String]) -> Result<(), Broken> {
        let cut = |action: &Action| match action {
            Action::LinkDown(port) => Some(script.dut_ports[usize::from(*port)]),
            _ => None,
        };
        let mut cuts: Vec<u16> = script.steps.iter().filter_map(|step| cut(&step.action)).collect();
        cuts.sort_unstable();
        cuts.dedup();
        if cuts.is_empty() {
            return Ok(());
        }
        let change = |&port: &u16| Change::link(&interfaces[usize::from(port)]);
        let changes = cuts.iter().map(change).collect::<Result<Vec<_>, _>>();
        let noted = changes.and_then(|changes| self.journal.note(changes));
        self.noted.extend(noted.map_err(Broken::Device)?);
        Ok(())
    }

    /// Cuts one that was noted.
    pub(super) fn cut(&self, interface: &str) -> Result<(), PortError> {
        let _raised = rights::raise(Work::Restoring);
        self.journal.make(|| Link::down(interface))
    }

    /// Mends one, which stays noted: the script may cut it again.
    pub(super) fn mend(interface: &str) -> Result<(), PortError> {
        let _raised = rights::raise(Work::Restoring);
        Link::up(interface, SETTLE)
    }

    /// All are up again.
    pub(super) fn strike(&mut self) {
        self.journal.strike(&core::mem::take(&mut self.noted));
    }
}
