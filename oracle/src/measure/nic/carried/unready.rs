//! What a receiver that is not ready leaves open of when a flow is done: a case's `by` counts the times that its RNR NAKs ask for, and no NIC
//! whose timers for them run out later than that.

use super::super::{Passage, rc};
use crate::trials::trial::Trial;
use rig_testcases::{FlowSpec, RoceKind, Verb};
use rig_units::{Dur, Within};

/// Later than any trial ends.
const ENDLESS: Dur = Dur(u64::MAX / 4);

/// How much later than with timers that are exact.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Unready {
    /// All tries together, by what is declared.
    late: Dur,
    /// Why the last try need not have come by the trial's end, where it has not.
    pub(super) untried: Option<String>,
}

impl Unready {
    /// What the RNR NAKs that came to the sender of a flow leave open.
    pub(super) fn of(
        trial: &Trial,
        spec: &FlowSpec,
        connection: u16,
        seen: &Passage<'_>,
    ) -> Unready {
        if spec.verb == Verb::Read || spec.nic == spec.to {
            return Unready::default();
        }
        let own = seen.reached.iter().filter(|one| one.connection == connection);
        let waits = own.filter_map(|one| match one.kind {
            RoceKind::NotReady(timer) => Some(timer.wait()),
            _ => None,
        });
        let late = |wait| {
            let most = seen.nic.rc.rnr_late.map_or(ENDLESS, Within::most);
            most + seen.apart.range(Within::exactly(wait)).most().saturating_sub(wait)
        };
        let late = waits.map(late).fold(Dur::ZERO, |all, one| (all + one).min(ENDLESS));
        Unready { late, untried: rc::untried(trial, &spec.name, seen) }
    }

    /// Until when a flow may take that is to be done by `by`, and in words.
    pub(super) fn until(&self, by: Dur) -> (Dur, String) {
        let text = match self.late {
            Dur::ZERO => format!("acknowledged by {by}"),
            late if late < ENDLESS => {
                format!(
                    "acknowledged by {}: {by}, and what tries after RNR NAKs may be late by",
                    by + late
                )
            }
            _ => format!(
                "acknowledged by {by}, or later: nothing is declared of how late a try after an RNR NAK may be"
            ),
        };
        (by + self.late, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_may_take_as_much_longer_as_its_tries_may_be_late() {
        let until = |late| Unready { late, untried: None }.until(Dur::ms(4));
        assert_eq!(until(Dur::ZERO), (Dur::ms(4), "acknowledged by 4ms".to_owned()));
        let (at, text) = until(Dur::us(30));
        assert_eq!(at, Dur::us(4_030));
        assert!(text.starts_with("acknowledged by 4.03ms: 4ms, and"), "{text}");
        assert!(until(ENDLESS).1.contains("or later"));
    }
}
