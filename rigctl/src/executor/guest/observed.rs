//! What a trial at a foreign NIC was, whoever sent in it: flows by one program, several side by side, or streams of the rig.

use super::super::ledger::{Ledger, TrialRecord};
use super::lab::GuestLab;
use rig_capture::pcapng::Spool;
use rig_capture::{Counters, DutWaits, Integrity, Lateness, Observation, Touched};
use rig_lab::Declared;
use rig_testcases::Script;
use rig_units::{Dur, Time};

/// What is known of a trial beside the frames of its ledger.
#[derive(Debug)]
pub(super) struct Beside {
    /// When it began, on the clock of the session.
    pub(super) origin: Time,
    /// What the NICs counted.
    pub(super) counters: Counters,
    /// What was done to frames on purpose.
    pub(super) injected: Vec<Touched>,
    /// Frames that ports of the rig lost.
    pub(super) lost: u64,
    /// By how much the latest of the rig's own frames was late, and who sent it; none where the rig sends nothing that has a time.
    pub(super) late: Option<(Dur, &'static str)>,
    /// What kept a guest waiting.
    pub(super) waits: DutWaits,
}

impl GuestLab {
    /// The trial, with all that was recorded of it. Its ledger is done; every frame of it is this session's last spool.
    pub(super) fn observed(
        &mut self,
        (script, declared): (&Script, &Declared),
        ledger: Ledger,
        beside: Beside,
    ) -> Observation {
        let TrialRecord { records, streams, loads, unrecorded, spool } = ledger.finish();
        self.spooled = spool.map(Spool::finish);
        let bound = self.nics.bound();
        let late = beside.late.filter(|(by, _)| *by > bound);
        let late =
            late.map(|(by, sender)| Lateness { at: Time::ZERO, by, sender: sender.to_owned() });
        Observation {
            origin: beside.origin,
            length: script.length,
            ports: self.ports(script, declared),
            records,
            streams,
            loads,
            counters: beside.counters,
            events: None,
            injected: beside.injected,
            config: Vec::new(),
            integrity: Integrity {
                lost: beside.lost,
                unrecorded,
                late: late.into_iter().collect(),
                waits: beside.waits,
                ..Integrity::default()
            },
        }
    }
}
