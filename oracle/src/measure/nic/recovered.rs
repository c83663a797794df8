//! How the connections of one NIC recovered and ended, as the wire shows it.

use super::Passage;
use super::rc::{End, OPEN, asked, packets, resends, sight};
use crate::judge::nic::rc;
use crate::spec::nic::rc::{Data, is_clear, replies};
use crate::spec::nic::selective;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_testcases::Verb;

/// So many of each, over all flows of the NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Recovered {
    /// Holes found in what its READs bring.
    pub(super) holes: usize,
    /// How many more there may have been: those that were seen anew behind a timeout.
    pub(super) reopened: usize,
    /// Times that its timer surely ran out, and how many more there may have been.
    pub(super) timeouts: usize,
    pub(super) either: usize,
    /// Flows that it gave up when its timer ran out after the last try.
    pub(super) given_up: usize,
    /// Flows that it gave up because their receiver was not ready once too often.
    pub(super) refused: usize,
}

/// Why timeouts are not counted.
const GIVES_UP: &str =
    "the timer may have run out once more by the trial's end, and may not: a longer trial tells";

/// What became of the flows of the NIC behind a port; nothing where nobody predicts what it asks for anew.
///
/// # Errors
/// What of it is left open.
pub(super) fn recovered(
    trial: &Trial,
    port: u16,
    seen: &Passage<'_>,
) -> Result<Option<Recovered>, Doubt> {
    let mut all = Recovered::default();
    for spec in trial.script.flows.iter().filter(|spec| spec.nic == port) {
        let name = spec.name.as_str();
        let open = || trial.doubt(GIVES_UP);
        match spec.verb {
            Verb::Read if selective::is_kept(&seen.nic.rc) => return Ok(None),
            Verb::Read => {
                let Ok(end) = End::receiver(trial, name) else { continue };
                let Some(reading) = &end.reads else { continue };
                let (rc, (_, packets)) = (&seen.nic.rc, packets(trial, &end, seen));
                let (_, asked) = asked(&end, seen);
                if !is_clear(rc, Data::Responses, end.first, &packets) {
                    return Err(trial.doubt(OPEN));
                }
                let answered = rc::requester(rc, reading, &asked, &packets, &sight(seen));
                all.holes += replies(rc, Data::Responses, end.first, &packets).len();
                all.reopened += answered.reopened;
                all.either += answered.either;
                all.timeouts += answered.expired.ok_or_else(open)?;
                all.given_up += usize::from(answered.gave_up.ok_or_else(open)?);
            }
            // Nothing of it is ever sent again.
            Verb::SendUnreliable | Verb::WriteUnreliable | Verb::Datagram => {}
            Verb::Send
            | Verb::SendRegistered
            | Verb::Write
            | Verb::SendImmediate
            | Verb::WriteImmediate
            | Verb::SendInvalidate
            | Verb::FetchAdd
            | Verb::CompareSwap => {
                let Ok(end) = End::sender(trial, name) else { continue };
                let resent = resends(&end, seen).resent;
                all.timeouts += resent.expired().ok_or_else(open)?;
                all.either += resent.either;
                all.given_up += usize::from(resent.gave_up.ok_or_else(open)?);
                all.refused += usize::from(resent.refused);
            }
        }
    }
    Ok(Some(all))
}
