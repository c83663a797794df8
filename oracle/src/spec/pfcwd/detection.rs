//! When the watchdog fires, counted from the first XOFF of a storm that lasts long enough (F13, F17).
//!
//! A storm's start falls somewhere between two polls. What the poll that ends this broken interval concludes is all
//! in which the families differ; from then on every poll is true.

use super::{End, Polls, Rule, Stimulus, Window};
use crate::Prediction;
use rig_capture::{Span, Unit};
use rig_lab::RuleFamily;
use rig_units::Dur;

impl Rule {
    /// Every time from storm start to detection that the rule allows, whatever the phase of the polls; `None` when it
    /// never fires. Detected is what is acted on: at the poll that decides, and as long after it as the action takes.
    pub fn detection(&self, stimulus: &Stimulus) -> Option<Window> {
        Some(self.decision(stimulus)?.seen(self.apart).delayed(self.latency()))
    }

    /// The same to the poll that decides.
    fn decision(&self, stimulus: &Stimulus) -> Option<Window> {
        let Polls { fewest, most: n } = self.polls();
        let (p, long) = (self.poll_interval, self.longest_interval());
        let (least, most) = (self.least_counted(), self.most_counted());
        let gap = stimulus.data_gap;
        let whole = Window::half_open(least, most + long);
        Some(match self.family {
            // Paused at this poll and at the last: the first interval must be whole.
            RuleFamily::Broadcom => whole,
            RuleFamily::Hardware => self.runs_out(self.detection_time),
            // The interval that the storm breaks already counts.
            RuleFamily::Cisco8000 | RuleFamily::IntervalCounter => {
                Window::half_open(p * (fewest - 1), long * n)
            }
            RuleFamily::Mellanox => {
                let gap = gap?;
                let late = most + gap.max(long);
                let from = least.saturating_sub(self.head_start(gap));
                Window { from: End::Open(from), until: End::Open(late) }
            }
            RuleFamily::Barefoot => match gap {
                Some(gap) => {
                    let from = least.saturating_sub(self.head_start(gap));
                    Window { from: End::Open(from), until: whole.until }
                }
                // Four fifths of P are pause enough; the rest of the first interval is free.
                None => Window {
                    from: End::Open(p * fewest - p / 5),
                    until: End::Closed(fifths(p, 4) + most),
                },
            },
        })
    }

    /// By how much of the first interval, at most, the storm may be late and the poll that ends it still be true: no
    /// frame may have left before it, so never more than the data gap.
    pub(super) fn head_start(&self, gap: Dur) -> Dur {
        match self.family {
            RuleFamily::Mellanox => gap.min(self.longest_interval() / 100),
            RuleFamily::Barefoot => gap.min(self.longest_interval()),
            RuleFamily::Broadcom
            | RuleFamily::Cisco8000
            | RuleFamily::IntervalCounter
            | RuleFamily::Hardware => Dur::ZERO,
        }
    }

    /// The same as a prediction for reports.
    pub fn predicted_detection(&self, stimulus: &Stimulus) -> Option<Prediction> {
        let window = self.detection(stimulus)?;
        Some(Prediction {
            unit: Unit::Ps,
            span: window.span(),
            formula: self.formula(),
            text: format!(
                "{}, {}{}{}: {window}",
                self.detection_form(stimulus),
                self.polls_text(),
                self.rhythm_text(),
                self.latency_text()
            ),
            source: self.source(),
        })
    }

    /// The form with letters: the part of [`Prediction::text`] before the numbers.
    fn detection_form(&self, stimulus: &Stimulus) -> String {
        let q = self.longest_letters();
        let gap = stimulus.data_gap;
        match self.family {
            RuleFamily::Broadcom => format!("nP <= T < (n+1){q}"),
            RuleFamily::Hardware => "D + t".to_owned(),
            RuleFamily::Cisco8000 | RuleFamily::IntervalCounter => {
                format!("(n-1)P <= T < n{q}")
            }
            RuleFamily::Mellanox if gap.is_some_and(|gap| gap > self.longest_interval()) => {
                format!("nP - min(0.01{q}, g) < T < n{q} + g")
            }
            RuleFamily::Mellanox => format!("nP - min(0.01{q}, g) < T < (n+1){q}"),
            RuleFamily::Barefoot if gap.is_some() => {
                format!("nP - min({q}, g) < T < (n+1){q}")
            }
            RuleFamily::Barefoot => format!("(n-0.2)P < T <= 0.8P + n{q}"),
        }
    }

    /// Earliest and latest detection when the first poll at or after the storm's start comes `phase` after it and all
    /// polls lie on one grid. They differ, by whole intervals, only where the outcome depends on when the last frame
    /// left before the storm, which the phase does not tell. `None` when it never fires,
    /// or by no poll.
    ///
    /// `phase` is below P. Under jitter there is no grid; [`Rule::detection`] is all that can be said.
    pub fn detects_after(&self, phase: Dur, stimulus: &Stimulus) -> Option<Span> {
        let (n, p) = (self.polls().most, self.poll_interval);
        let early = phase + p * (n - 1);
        let late = early + p;
        let short_by = p.saturating_sub(phase);
        let (from, until) = match self.family {
            RuleFamily::Broadcom => (late, late),
            // It has no polls, and no phase of them.
            RuleFamily::Hardware => return None,
            RuleFamily::Cisco8000 | RuleFamily::IntervalCounter => (early, early),
            RuleFamily::Mellanox | RuleFamily::Barefoot => match stimulus.data_gap {
                None if self.family == RuleFamily::Mellanox => return None,
                None if phase > fifths(p, 4) => (early, early),
                None => (late, late),
                Some(gap) => {
                    let from = if short_by < self.head_start(gap) { early } else { late };
                    // A queue that stays empty is not stormed for this family; its first frame may take the gap.
                    let first_held = gap.saturating_sub(phase).div_ceil(p).max(1);
                    let waits = self.family == RuleFamily::Mellanox;
                    (from, if waits { early + p * first_held } else { late })
                }
            },
        };
        Some(Span { lo: from.0, hi: until.0 })
    }
}

/// `part` fifths of `whole`.
pub(super) fn fifths(whole: Dur, part: u64) -> Dur {
    whole.scaled(part, 5)
}
