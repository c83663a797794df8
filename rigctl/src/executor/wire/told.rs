//! What a device told of itself, on the clock of a trial: what was before it is left out, and what may have been is no evidence.

use rig_capture::{DutEvent, DutEventKind};
use rig_units::{Dur, Time};

/// The events of a trial.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// From the start of the trial on; what may have been before that, at the earliest then.
    pub(super) events: Vec<DutEvent>,
    /// Which of them may have been before it, and by how much.
    pub(super) undated: Option<String>,
}

impl Told {
    /// Those of `events` that are of the trial at `origin` or may be, none of them known better than to within `off`.
    pub(super) fn since(origin: Time, events: Vec<DutEvent>, off: Dur) -> Told {
        let mut told = Told::default();
        for event in events {
            let Some(latest) = (event.at + event.off).since(origin) else { continue };
            let earliest = event.at.saturating_sub(event.off);
            let (at, own) = match earliest.since(origin) {
                Some(earliest) => (earliest + event.off, event.off),
                None => {
                    let before = origin.since(earliest).unwrap_or_default();
                    told.undated.get_or_insert_with(|| undated(&event, before, latest));
                    let half = Dur(latest.0.div_ceil(2));
                    (half, half)
                }
            };
            told.events.push(DutEvent { at: Time::ZERO + at, off: own.max(off), ..event });
        }
        told
    }
}

fn undated(event: &DutEvent, before: Dur, latest: Dur) -> String {
    let kind = match event.kind {
        DutEventKind::Storm => "storm",
        DutEventKind::Restore => "restore",
    };
    let DutEvent { port, class, .. } = event;
    format!(
        "a {kind} of {port}, class {class}, was between {before} before the trial and {latest} in it, by what is known of the device's clock: \
         of which of the two it tells nobody knows"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ms: u64) -> Time {
        Time(Dur::ms(ms).0)
    }

    fn event(ms: u64, off: u64) -> DutEvent {
        let port = "Ethernet4".to_owned();
        DutEvent { at: at(ms), off: Dur::ms(off), port, class: 3, kind: DutEventKind::Storm }
    }

    #[test]
    fn an_event_that_reaches_into_a_trial_stays_and_one_that_may_have_been_before_it_is_no_evidence()
     {
        let of = |ms, off| Told::since(at(10_000), vec![event(ms, off)], Dur::ms(2));
        assert_eq!(of(9_000, 999), Told::default(), "before it");
        let told = of(10_300, 50);
        assert_eq!((told.events, told.undated), (vec![event(300, 50)], None));
        assert_eq!(of(10_300, 0).events, [event(300, 2)], "no better than the trial");
        // Its middle is before the trial, and its end is not: it is clipped, and told.
        let told = of(8_900, 1_500);
        assert_eq!(told.events, [event(200, 200)]);
        assert_eq!(
            told.undated.as_deref(),
            Some(
                "a storm of Ethernet4, class 3, was between 2.6s before the trial and 400ms in it, by what is known of the device's \
                 clock: of which of the two it tells nobody knows"
            )
        );
        assert!(of(10_100, 200).undated.is_some(), "its middle in the trial");
    }
}
