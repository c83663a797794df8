//! What the device says of its watchdog against what the wire shows of it: who believes the one must be able to believe the other.

use super::judge_context::{JudgeContext, TrialReading, show};
use super::judged::{Judged, Unread, looked};
use super::measurement::{Known, Needs, Red, Tells, by_source, seen_in, subject};
use super::watchdog::see::sightings;
use super::watchdog::subject::Subject;
use super::watchdog::{seen_whole, watch};
use crate::Prediction;
use crate::spec::pfcwd::recovers;
use crate::trials::trial::Trial;
use rig_capture::analyse::{self, ActionView, Sighting};
use rig_capture::{DutEvent, DutEventKind, Span, Unit};
use rig_lab::{Action, Part};
use rig_testcases::vocabulary::{ByPfc, Entry, Looks, STORM, STREAM, Senders, named};
use rig_units::{Dur, Time, Within};

/// Where what is told comes from.
const SOURCE: &str = "PFC_WD_ACTION of sonic-swss; the wire is the witness";

/// `pfcwd.told`.
pub(super) static TOLD: Known = Known {
    entry: Entry {
        name: "pfcwd.told",
        parts: Some(&[Part::Pfcwd]),
        pfc: ByPfc::Rests,
        guarded: true,
        about: "whether the device's own events and the wire say the same of a storm: that it was acted on, when, and when that was over",
        source: SOURCE,
        fields: &[STORM, STREAM],
        looks: &[Looks::FOLLOWS],
        senders: Senders::Obey(named),
        ..Entry::USUAL
    },
    needs: |_| Needs::Told,
    tells: Tells::Each("storm and end of one"),
    red: Red::Mutated("action-drop-broadcom", "deviation=storm_untold"),
    on: seen_in,
    expected: |_, context, _| match context.switch().pfcwd.action {
        Action::Alert => Vec::new(),
        Action::Drop | Action::Forward => {
            by_source("what the wire shows of the storm is what the device tells of it", SOURCE)
        }
    },
    judge: |measure, done, judged| judge(done, &subject(measure), judged),
    subject: |measure| Some(subject(measure)),
    over_memories: |_| true,
    ..Known::USUAL
};

/// What the wire shows of one storm.
struct Shown<'s> {
    acted: &'s Sighting,
    ended: &'s Sighting,
    /// Whether a frame met the queue later than that and was kept, as the pause says.
    keeps: &'s dyn Fn(u64) -> bool,
    /// Whether a frame was sent to the queue later than that.
    sends: &'s dyn Fn(u64) -> bool,
}

/// How long after an event the wire may show what it tells of, and how far off either may be.
#[derive(Debug, Clone, Copy)]
struct Apart {
    lag: Within,
    slack: Dur,
}

impl Apart {
    /// When the wire may show at the earliest and at the latest what `event` tells.
    fn shows(self, event: &DutEvent) -> Span {
        let within = told(event);
        let lo = (within.lo + self.lag.least().0).saturating_sub(self.slack.0);
        Span { lo, hi: within.hi + self.lag.most().0 + self.slack.0 }
    }
}

/// Between which two instants of the trial an event was.
fn told(event: &DutEvent) -> Span {
    Span { lo: event.at.saturating_sub(event.off).0, hi: (event.at + event.off).0 }
}

/// Every storm that the wire shows must have been told of, and every one that was told of must show.
fn judge(done: &JudgeContext<'_>, subject: &Subject, judged: &mut Judged) {
    let context = done.context;
    let pfcwd = &context.switch().pfcwd;
    let view = ActionView::from(context.switch());
    let apart = Apart {
        lag: pfcwd.action_latency.unwrap_or(Within::ZERO),
        slack: context.slack_within(done.bound()),
    };
    done.each("pfcwd.told", &subject.storm, judged, |trial| {
        if pfcwd.action == Action::Alert {
            let why = "the action `alert` leaves no trace on the wire to hold its events against";
            return Err(Unread::NotApplicable(why.to_owned()));
        }
        let family = watch(context, trial)?.rule.family;
        // Of a watchdog that is started anew in the middle nobody is told that a storm is over.
        seen_whole(done, trial, subject)?;
        let places = watch(context, trial)?
            .places(&trial.script, subject)
            .ok_or_else(|| trial.doubt("the storm is not in the script"))?;
        let Trial { script, observation, .. } = trial;
        let events = observation.events.as_ref();
        let events = events.ok_or_else(|| trial.doubt("the device tells of no events"))?;
        let coverage = analyse::coverage(observation, script, places.storm, places.class)
            .ok_or_else(|| trial.doubt("no XOFF of the storm was recorded"))?;
        let port = usize::from(script.storms[usize::from(places.storm)].from);
        let own = |event: &&DutEvent| {
            event.port == observation.ports[port].dut_port
                && event.class == places.class
                && told(event).hi >= coverage.first_xoff.lo
        };
        let events: Vec<&DutEvent> = events.iter().filter(own).collect();
        let (acted, ended) = sightings(script, observation, places, &view, family);
        let over = coverage.pause_end.lo.saturating_sub(apart.slack.0);
        let keeps = |from: u64| {
            let window = (Time(from), Time(over));
            from < over
                && analyse::action(observation, script, places.stream, &view, window).frames() > 0
        };
        // A recovery that does not wait for the end of the storm may be over and begin anew before a frame shows it.
        let sends = |from: u64| {
            let last = analyse::sends(observation, script, places.stream);
            !recovers(family) && last.is_some_and(|(_, last)| last.0 > from)
        };
        let shown = Shown { acted: &acted, ended: &ended, keeps: &keeps, sends: &sends };
        let against = against(&events, &shown, apart);
        let off = events.iter().map(|event| event.off).max().unwrap_or_default();
        let bound = Unit::Ps.show((apart.slack + off).0);
        let text = format!("events and wire that agree to within {bound}");
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(0),
            formula: "",
            text,
            source: SOURCE,
        };
        let count = u64::try_from(against.len()).unwrap_or(u64::MAX);
        let frames = |of: &Sighting| match of {
            Sighting::At { frames, .. } => frames.clone(),
            _ => Vec::new(),
        };
        let records =
            if count > 0 { [frames(&acted), frames(&ended)].concat() } else { Vec::new() };
        let got = (count > 0).then(|| against.join("; "));
        let looked = looked(1 + events.len(), "storms and events");
        Ok(TrialReading { span: Span::exactly(count), want, got, records, looked })
    });
}

/// In what the two contradict each other.
fn against(events: &[&DutEvent], shown: &Shown<'_>, apart: Apart) -> Vec<String> {
    let of = |kind: DutEventKind| events.iter().copied().filter(move |event| event.kind == kind);
    let at = |span: Span| show(Unit::Ps, span);
    let unmet = |span: Span, kind: DutEventKind, what: &str| {
        if of(kind).any(|event| apart.shows(event).meets(span)) {
            return None;
        }
        let other = match of(kind).next() {
            None => "it told of none".to_owned(),
            Some(event) => format!("it told of one at {}", at(told(event))),
        };
        Some(format!("the wire shows {what} at {}, and {other}", at(span)))
    };
    let acted = match shown.acted {
        Sighting::At { span, .. } => unmet(*span, DutEventKind::Storm, "that a storm was acted on"),
        Sighting::Never => of(DutEventKind::Storm)
            .find(|event| (shown.keeps)(apart.shows(event).hi))
            .map(|event| {
                let at = at(told(event));
                format!("it told of a storm at {at}, and the wire shows that the queue went on as paused")
            }),
        Sighting::NotObservable(_) | Sighting::Void(_) => None,
    };
    let ended = match (shown.acted, shown.ended) {
        (Sighting::At { .. }, Sighting::At { span, .. }) => {
            unmet(*span, DutEventKind::Restore, "the end of the action")
        }
        (Sighting::At { .. }, Sighting::Never) => of(DutEventKind::Restore)
            .find(|event| (shown.sends)(apart.shows(event).hi))
            .map(|event| {
                let at = at(told(event));
                format!(
                    "it told of the end of the action at {at}, and the wire shows that it went on"
                )
            }),
        _ => None,
    };
    acted.into_iter().chain(ended).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> u64 {
        Dur::ms(ms).0
    }

    fn event(at: u64, kind: DutEventKind) -> DutEvent {
        let port = "Ethernet4".to_owned();
        DutEvent { at: Time(ms(at)), off: Dur::ms(1), port, class: 3, kind }
    }

    fn seen(from: u64, to: u64) -> Sighting {
        Sighting::At { span: Span { lo: ms(from), hi: ms(to) }, frames: Vec::new() }
    }

    /// In what `events` contradict what was seen, where frames meet the queue and are sent to it until 500 ms.
    fn said(events: &[DutEvent], acted: &Sighting, ended: &Sighting) -> Vec<String> {
        let until = |from: u64| from < ms(500);
        let shown = Shown { acted, ended, keeps: &until, sends: &until };
        let apart = Apart { lag: Within::ZERO, slack: Dur::ms(2) };
        against(&events.iter().collect::<Vec<_>>(), &shown, apart)
    }

    #[test]
    fn what_only_one_of_the_two_says_is_a_contradiction() {
        use DutEventKind::{Restore, Storm};
        let both = [event(220, Storm), event(450, Restore)];
        let (acted, ended) = (seen(219, 221), seen(448, 452));
        assert_eq!(said(&both, &acted, &ended), Vec::<String>::new());
        // Within what is known of either.
        assert_eq!(said(&both, &seen(223, 224), &ended), Vec::<String>::new());
        assert_eq!(
            said(&both, &seen(224, 225), &ended),
            [
                "the wire shows that a storm was acted on at 224ms to 225ms, and it told of one at 219ms to 221ms"
            ]
        );
        let none = said(&both[1..], &acted, &ended);
        assert_eq!(
            none,
            ["the wire shows that a storm was acted on at 219ms to 221ms, and it told of none"]
        );
        let open = said(&both[..1], &acted, &ended);
        assert_eq!(
            open,
            ["the wire shows the end of the action at 448ms to 452ms, and it told of none"]
        );
        // The reverse.
        let idle = said(&both[..1], &Sighting::Never, &Sighting::Never);
        assert_eq!(
            idle,
            [
                "it told of a storm at 219ms to 221ms, and the wire shows that the queue went on as paused"
            ]
        );
        let on = said(&both, &acted, &Sighting::Never);
        assert_eq!(
            on,
            [
                "it told of the end of the action at 449ms to 451ms, and the wire shows that it went on"
            ]
        );
        // So late that no frame could show it.
        let late = [event(499, Storm)];
        assert_eq!(said(&late, &Sighting::Never, &Sighting::Never), Vec::<String>::new());
        let blind = Sighting::NotObservable("no frame".to_owned());
        assert_eq!(said(&both[..1], &acted, &blind), Vec::<String>::new());
    }
}
