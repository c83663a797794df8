//! From the poll that decides to the action on the wire: what lies between the two, and what of it shows.

use super::{Rule, recovers};
use rig_capture::Span;
use rig_lab::{Action, RuleFamily};
use rig_units::{Dur, Within};

/// Longer than anything lasts.
pub(super) const NEVER: Dur = Dur(u64::MAX);

impl Rule {
    /// L, as long as anything is done. An alert is the decision itself.
    pub(crate) const fn latency(&self) -> Within {
        match self.action {
            Action::Drop | Action::Forward => self.action_latency,
            Action::Alert => Within::ZERO,
        }
    }

    /// When an action begins or ends that is decided at `decided`.
    pub(crate) fn acts(&self, decided: Span) -> Span {
        let latency = self.latency();
        Span { lo: decided.lo + latency.least().0, hi: decided.hi + latency.most().0 }
    }

    /// When an action was decided that begins or ends at `acted`.
    pub fn decided(&self, acted: Span) -> Span {
        let latency = self.latency();
        Span {
            lo: acted.lo.saturating_sub(latency.most().0),
            hi: acted.hi.saturating_sub(latency.least().0),
        }
    }

    /// For how long a pause has to go on after the decision for the action to show: forwarding in spite of a pause shows in
    /// nothing else, while a queue that drops goes on with it until it is restored.
    pub(super) fn hidden(&self) -> Within {
        let overtaken = self.overtaken();
        match self.action {
            Action::Forward => {
                let (least, most) = (self.action_latency.least(), self.action_latency.most());
                Within::between(least, most.max(overtaken))
            }
            Action::Drop => Within::at_most(overtaken),
            Action::Alert => Within::ZERO,
        }
    }

    /// Whether a detection may be counted of which nothing shows.
    pub(crate) fn may_hide(&self) -> bool {
        self.hidden().most() > Dur::ZERO
    }

    /// The same for an action that begins as late as it may, while its end, decided later, comes as soon as that may: nothing where the storm
    /// outlasts its decision anyhow, and [`Dur`]'s greatest where it is over after a fixed time, however long the storm is.
    fn overtaken(&self) -> Dur {
        let by = self.latency().width().saturating_sub(self.kept());
        if by > Dur::ZERO && recovers(self.family) { NEVER } else { by }
    }

    /// How soon after a storm, or after its detection where that decides, the end of an action may be decided. A fifth of a poll of it is left for
    /// the pause of the storm's last frame, and for a frame that shows the action.
    pub(crate) fn kept(&self) -> Dur {
        let (Some(time), Some(m)) = (self.restoration_time, self.quiet_polls()) else {
            return NEVER;
        };
        let least = match self.family {
            RuleFamily::Hardware => self.runs_out(time).from.value(),
            RuleFamily::Cisco8000 => self.poll_interval * (m - 1),
            RuleFamily::Broadcom
            | RuleFamily::Mellanox
            | RuleFamily::Barefoot
            | RuleFamily::IntervalCounter => self.poll_interval * m,
        };
        least.saturating_sub(self.poll_interval / 5)
    }

    /// How much of a pause of `length` there is for a decision that shows: at least, and at most.
    pub(super) fn shows(&self, length: Dur) -> [Dur; 2] {
        let hidden = self.hidden();
        [hidden.most(), hidden.least()].map(|hidden| length.saturating_sub(hidden))
    }

    /// Whether actions show on which grid the polls lie: where all lie on one, and an action comes soon enough after its poll to
    /// tell which it was.
    pub fn shows_a_grid(&self) -> bool {
        self.on_a_grid() && self.latency().width() * 2 < self.poll_interval
    }

    /// How many polls more or fewer an action may come after without an outlier: those that the latency covers, and what `blur` hides of
    /// when it came.
    pub(super) fn blurred_polls(&self, blur: Dur) -> u64 {
        (self.latency().width() + blur) / self.poll_interval
    }

    /// How L follows after the poll, for the text of a prediction; empty where there is none.
    pub(super) fn latency_text(&self) -> String {
        let latency = self.latency();
        if latency == Within::ZERO {
            return String::new();
        }
        let decides = if self.is_polled() { "poll that decides" } else { "timer has run out" };
        format!(", T counted to the action, {latency} after the {decides}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{gap, rule};
    use super::super::{End, Storm, Window};
    use super::*;
    /// D = 200 ms, P = 100 ms, R = 300 ms, and an action within 10 ms to 40 ms of its poll.
    fn slow(family: RuleFamily, action: Action) -> Rule {
        let latency = "10ms..40ms".parse().expect("a range");
        Rule { action_latency: latency, action, ..rule(family, 200, 100, Some(300)) }
    }

    #[test]
    fn an_action_comes_by_the_latency_after_each_poll_that_may_decide() {
        let of = |rule: Rule| rule.detection(&gap(500)).expect("it fires").to_string();
        let broadcom = |action| slow(RuleFamily::Broadcom, action);
        assert_eq!(of(broadcom(Action::Drop)), "210ms <= T < 340ms");
        assert_eq!(of(broadcom(Action::Forward)), "210ms <= T < 340ms");
        assert_eq!(of(broadcom(Action::Alert)), "200ms <= T < 300ms");
        assert_eq!(of(slow(RuleFamily::Cisco8000, Action::Drop)), "110ms <= T < 240ms");
        let text = broadcom(Action::Drop).predicted_detection(&gap(500)).expect("it fires").text;
        assert!(text.contains("10ms..40ms after the poll that decides"), "{text}");
    }

    #[test]
    fn a_queue_is_let_go_by_the_latency_after_the_poll_that_restores_it() {
        let of = |rule: Rule| rule.restoration(Dur::ms(1), &gap(500)).expect("it does").to_string();
        assert_eq!(of(slow(RuleFamily::Broadcom, Action::Drop)), "310ms <= T < 440ms");
        assert_eq!(of(slow(RuleFamily::Cisco8000, Action::Drop)), "211ms <= T < 341ms");
        assert_eq!(of(slow(RuleFamily::Broadcom, Action::Alert)), "1ms <= T < 101ms");
        // One that lets go whatever the storm does may have done so before its last frame.
        let counter = slow(RuleFamily::IntervalCounter, Action::Drop);
        assert_eq!(of(counter), "0ms <= T < 441ms");
        let recovery = counter.predicted_recovery().expect("it recovers").span;
        assert_eq!(recovery, Span { lo: Dur::ms(270).0, hi: Dur::ms(330).0 });
        // All frames seen by the poll that decided, at 250 ms.
        let [last_frame, pause_end] = [Dur::ms(240), Dur::ms(240)];
        let storm = Storm { last_frame, pause_end, detected: Dur::ms(250) };
        let window = slow(RuleFamily::Broadcom, Action::Drop).restores(&storm, &gap(500));
        let [from, until] = [560, 590].map(|at| End::Closed(Dur::ms(at)));
        assert_eq!(window, Some(Window { from, until }));
    }

    #[test]
    fn a_forward_shows_of_a_pause_that_goes_on_until_it_begins() {
        let rule = |action| slow(RuleFamily::Broadcom, action);
        let ramp = |action| rule(action).trigger_ramp(&gap(500)).expect("a ramp");
        let ms = |lo, hi| Span { lo: Dur::ms(lo).0, hi: Dur::ms(hi).0 };
        assert_eq!(ramp(Action::Drop), ms(200, 300));
        assert_eq!(ramp(Action::Forward), ms(210, 340));
        let chance = |action, length| {
            let (least, most) = rule(action).chances(Dur::ms(length), &gap(500));
            (least.ppm(), most.ppm())
        };
        assert_eq!(chance(Action::Drop, 260), (600_000, 600_000));
        assert_eq!(chance(Action::Forward, 260), (200_000, 500_000));
        let exact = Rule { action_latency: Dur::ms(20).into(), ..rule(Action::Forward) };
        let chance = exact.trigger_probability(Dur::ms(260), &gap(500)).expect("a chance");
        assert_eq!(chance.ppm(), 400_000);
        // The poll 50 ms after the start decides at 250 ms, and what it decides shows 10 ms to 40 ms later.
        let at = Span::exactly(Dur::ms(50).0);
        let fires = |action, length| rule(action).fires_within(at, Dur::ms(length), &gap(500));
        assert_eq!(fires(Action::Drop, 251), Some(true));
        assert_eq!(
            [260, 261, 290, 291].map(|length| fires(Action::Forward, length)),
            [Some(false), None, None, Some(true)]
        );
    }

    #[test]
    fn a_drop_that_its_end_may_overtake_shows_of_a_longer_storm_or_need_not_at_all() {
        let late = |family, most| Rule {
            action_latency: Within::at_most(Dur::ms(most)),
            ..rule(family, 200, 100, Some(200))
        };
        let always = |rule: Rule| rule.always_fires_from(&gap(500));
        // Let go 200 ms after the storm at the soonest, a fifth of a poll left of it.
        assert_eq!(always(late(RuleFamily::Broadcom, 180)), Some(Dur::ms(300)));
        assert_eq!(always(late(RuleFamily::Broadcom, 300)), Some(Dur::ms(420)));
        assert_eq!(always(late(RuleFamily::Cisco8000, 300)), Some(Dur::ms(420)));
        // However long a storm is, its recovery is over after 200 ms.
        assert_eq!(always(late(RuleFamily::Hardware, 180)), Some(Dur::ms(200)));
        assert_eq!(always(late(RuleFamily::Hardware, 300)), None);
        let (least, most) = late(RuleFamily::Hardware, 300).chances(Dur::s(9), &gap(500));
        assert_eq!((least.ppm(), most.ppm()), (0, 1_000_000));
        // What is never let go is not overtaken.
        let kept = Rule { restoration_time: None, ..late(RuleFamily::Broadcom, 900) };
        assert_eq!(always(kept), Some(Dur::ms(300)));
        let alert = Rule { action: Action::Alert, ..late(RuleFamily::Broadcom, 900) };
        assert_eq!(always(alert), Some(Dur::ms(300)));
    }

    #[test]
    fn what_is_seen_of_an_action_tells_its_poll_to_within_the_latency() {
        let rule = slow(RuleFamily::Broadcom, Action::Drop);
        let ms = |lo, hi| Span { lo: Dur::ms(lo).0, hi: Dur::ms(hi).0 };
        assert_eq!(rule.acts(ms(200, 201)), ms(210, 241));
        assert_eq!(rule.decided(ms(250, 251)), ms(210, 241));
        assert_eq!(rule.decided(ms(5, 20)), ms(0, 10));
        let wide = |range: &str| {
            let action_latency = range.parse().expect("a range");
            Rule { action_latency, ..rule }.shows_a_grid()
        };
        assert!(wide("10ms..59.999ms") && !wide("10ms..60ms"));
    }
}
