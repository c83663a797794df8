//! What orchagent keeps of a guarded queue: whether there is a handler on it, and so which rule runs and which
//! publication changes anything.

use super::poll::Event;

/// The status of one queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct State {
    stormed: bool,
    alerts: bool,
}

impl State {
    /// An operational queue; `alerts` when the action is to report only.
    pub(super) fn new(alerts: bool) -> State {
        State { stormed: false, alerts }
    }

    /// Whether the detection rule runs: while operational, and always when the action is to alert. The restoration
    /// rule runs otherwise.
    pub(super) fn detects(self) -> bool {
        self.alerts || !self.stormed
    }

    pub(super) fn is_stormed(self) -> bool {
        self.stormed
    }

    /// Takes in a publication, and says whether it changed the status.
    pub(super) fn heeds(&mut self, event: Event) -> bool {
        let stormed = event == Event::Storm;
        let changed = self.stormed != stormed;
        self.stormed = stormed;
        changed
    }
}
