//! When a stormed queue is let go (F13): quiet polls are counted from the last PFC frame, on cisco-8000 from the end of
//! the pause, in alert mode by the detection rule itself.

use super::detection::fifths;
use super::{End, Rule, Stimulus, Window, recovers};
use crate::Prediction;
use rig_capture::Unit;
use rig_lab::{Action, RuleFamily};
use rig_units::Dur;

/// The end of a storm, on any clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storm {
    /// When its last PFC frame, XON included, reached the device.
    pub last_frame: Dur,
    /// When the pause that it asked for ran out.
    pub pause_end: Dur,
    /// When the watchdog fired, on the same clock: the poll that decided it.
    pub detected: Dur,
}

impl Rule {
    /// Every time from the storm's last frame to the restoration that the rule allows, the storm outlasting its
    /// detection; `tail` is the time from the last frame to the end of the pause. `None` when it never restores.
    ///
    /// One that recovers for a fixed time restores whatever the storm does; the window then holds the last restoration, from no
    /// time at all when it came before the last frame.
    pub fn restoration(&self, tail: Dur, stimulus: &Stimulus) -> Option<Window> {
        let (p, long) = (self.poll_interval, self.longest_interval());
        if self.alerts() {
            return Some(self.alert_ends(tail, stimulus).seen(self.apart));
        }
        let m = self.quiet_polls()?;
        let acts = |from: Dur, until: Dur| {
            Window::half_open(from, until).seen(self.apart).delayed(self.latency())
        };
        Some(match self.family {
            RuleFamily::Broadcom | RuleFamily::Mellanox | RuleFamily::Barefoot => {
                acts(p * m, long * (m + 1))
            }
            RuleFamily::Cisco8000 => acts(tail + p * (m - 1), tail + long * m),
            RuleFamily::Hardware => {
                let last = self.runs_out(self.restoration_time?).seen(self.apart).later(tail);
                Window { from: End::Closed(Dur::ZERO), ..last.delayed(self.latency()) }
            }
            RuleFamily::IntervalCounter => {
                let acted = acts(Dur::ZERO, tail + long * (m + 1));
                Window { from: End::Closed(Dur::ZERO), ..acted }
            }
        })
    }

    /// Whether a storm is only reported, and its end by the detection rule. A recovery of a fixed time knows no such mode: it lasts
    /// R, whatever it consists of.
    fn alerts(&self) -> bool {
        self.action == Action::Alert && !recovers(self.family)
    }

    /// The alert is over at the first poll whose condition is false; a poll after each report may be skipped.
    fn alert_ends(&self, tail: Dur, stimulus: &Stimulus) -> Window {
        let (p, long) = (self.poll_interval, self.longest_interval());
        // Four fifths of P are pause enough for the poll that the pause ends before.
        let idle = long * 3 - fifths(p, 4);
        match (self.family, stimulus.data_gap) {
            (RuleFamily::Barefoot, None) => {
                Window { from: End::Closed(tail + p / 5), until: End::Open(tail + idle) }
            }
            // With frames further apart than P a whole storm may pass over an empty queue.
            (RuleFamily::Barefoot, Some(gap)) if gap > p => Window::half_open(tail, tail + idle),
            (RuleFamily::Mellanox | RuleFamily::Barefoot, _) => {
                Window::half_open(tail, tail + long * 2)
            }
            (
                RuleFamily::Broadcom
                | RuleFamily::Cisco8000
                | RuleFamily::IntervalCounter
                | RuleFamily::Hardware,
                _,
            ) => Window::half_open(tail, tail + long),
        }
    }

    /// The same as a prediction for reports.
    pub fn predicted_restoration(&self, tail: Dur, stimulus: &Stimulus) -> Option<Prediction> {
        let window = self.restoration(tail, stimulus)?;
        let q = self.longest_letters();
        let form = match self.family {
            _ if self.alerts() => {
                format!("alert, first false poll after the pause, {tail} after the last frame")
            }
            RuleFamily::Broadcom | RuleFamily::Mellanox | RuleFamily::Barefoot => {
                format!("mP <= T < (m+1){q}")
            }
            RuleFamily::Cisco8000 => {
                format!("(m-1)P <= T - {tail} < m{q}, from the end of the pause")
            }
            RuleFamily::Hardware => format!("T <= {tail} + R + t, whatever the storm does"),
            RuleFamily::IntervalCounter => {
                format!("T < {tail} + (m+1){q}, whatever the storm does")
            }
        };
        Some(Prediction {
            unit: Unit::Ps,
            span: window.span(),
            formula: self.formula(),
            text: format!(
                "{form}{}{}{}: {window}",
                self.quiet_text(),
                self.rhythm_text(),
                self.latency_text()
            ),
            source: self.source(),
        })
    }

    /// How long a recovery of a fixed time lasts, from detection to restoration; `None` when it never ends.
    pub fn predicted_recovery(&self) -> Option<Prediction> {
        let Window { from, until } = self.recovery()?;
        // Either may come early where the other comes late.
        let off = self.latency().width();
        let window = Window {
            from: End::Closed(self.apart.least(from.value()).saturating_sub(off)),
            until: End::Closed(self.apart.most(until.value()) + off),
        };
        let form = if self.is_polled() { "mP" } else { "R + t" };
        Some(Prediction {
            unit: Unit::Ps,
            span: window.span(),
            formula: self.formula(),
            text: format!(
                "T = {form} from the detection{}{}{}: {window}",
                self.quiet_text(),
                self.rhythm_text(),
                self.latency_text()
            ),
            source: self.source(),
        })
    }

    /// From the decision that begins a recovery of a fixed time to the one that ends it.
    fn recovery(&self) -> Option<Window> {
        if !self.is_polled() {
            return self.restoration_time.map(|time| self.runs_out(time));
        }
        let m = self.quiet_polls()?;
        let [from, until] = [self.poll_interval, self.longest_interval()].map(|each| each * m);
        Some(Window { from: End::Closed(from), until: End::Closed(until) })
    }

    /// How m follows from R, with this rule's numbers; empty where R is not used.
    fn quiet_text(&self) -> String {
        match (self.restoration_time, self.quiet_polls()) {
            (Some(r), _) if !self.is_polled() => format!(", R = {r}, {}", self.lag_text()),
            (Some(r), Some(m)) if !self.alerts() => {
                format!(", m = ceil({r} / {}) = {m}", self.poll_interval)
            }
            _ => String::new(),
        }
    }

    /// The restoration of one known storm, its detection known as well; `None` when it never restores. Covers what
    /// [`Rule::restoration`] leaves out: a storm whose last frame the detecting poll has already seen.
    /// The window is on the storm's clock.
    pub fn restores(&self, storm: &Storm, stimulus: &Stimulus) -> Option<Window> {
        let Storm { last_frame, pause_end, detected } = *storm;
        let (p, long) = (self.poll_interval, self.longest_interval());
        let within = |window: Window, from: Dur| window.seen(self.apart).later(from);
        let polls = |fewest: u64| {
            let (from, until) = (End::Closed(p * fewest), End::Closed(long * fewest));
            within(Window { from, until }, detected)
        };
        if self.alerts() {
            // Mellanox and barefoot forget their counters as they report, so the next poll only takes new ones.
            let forgets = matches!(self.family, RuleFamily::Mellanox | RuleFamily::Barefoot);
            return Some(if pause_end <= detected {
                polls(if forgets { 2 } else { 1 })
            } else {
                within(self.alert_ends(Dur::ZERO, stimulus), pause_end)
            });
        }
        let m = self.quiet_polls()?;
        let seen = last_frame <= detected;
        let decided = match self.family {
            RuleFamily::Broadcom if seen => polls(m),
            RuleFamily::Mellanox | RuleFamily::Barefoot if seen => polls(m + 1),
            RuleFamily::Cisco8000 if pause_end <= detected => polls(m),
            RuleFamily::Cisco8000 => within(Window::half_open(p * (m - 1), long * m), pause_end),
            RuleFamily::Broadcom | RuleFamily::Mellanox | RuleFamily::Barefoot => {
                within(Window::half_open(p * m, long * (m + 1)), last_frame)
            }
            RuleFamily::IntervalCounter | RuleFamily::Hardware => {
                within(self.recovery()?, detected)
            }
        };
        Some(decided.delayed(self.latency()))
    }

    /// When a queue is let go, all polls on one grid: `phase` is the time from the last frame (cisco-8000: from the end
    /// of the pause) to the first poll at or after it, and the result counts from the same instant. `None` when it
    /// never restores, or not by these (alert, a recovery of a fixed time).
    pub fn restores_after(&self, phase: Dur) -> Option<Dur> {
        if self.alerts() {
            return None;
        }
        let m = self.quiet_polls()?;
        match self.family {
            RuleFamily::Broadcom | RuleFamily::Mellanox | RuleFamily::Barefoot => {
                Some(phase + self.poll_interval * m)
            }
            RuleFamily::Cisco8000 => Some(phase + self.poll_interval * (m - 1)),
            RuleFamily::IntervalCounter | RuleFamily::Hardware => None,
        }
    }
}
