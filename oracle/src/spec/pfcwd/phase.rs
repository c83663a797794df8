//! What is predicted when the phase of the polls is known within an interval rather than exactly.

use super::detection::fifths;
use super::{Rule, Stimulus};
use rig_capture::Span;
use rig_lab::RuleFamily;
use rig_units::Dur;

impl Rule {
    /// Every time from storm start to the action that is possible when the first poll at or after the start comes within
    /// `phases` of it. `phases` may reach past P: then the poll may also have been just before the start.
    /// Empty when the rule never fires.
    pub fn detects_within(&self, phases: Span, stimulus: &Stimulus) -> Vec<Span> {
        let mut spans = Vec::new();
        for piece in self.pieces(phases, stimulus) {
            let (Some(first), Some(last)) = (
                self.detects_after(Dur(piece.lo), stimulus),
                self.detects_after(Dur(piece.hi), stimulus),
            ) else {
                continue;
            };
            // Within a piece all moves with the phase; the outcomes are whole intervals apart.
            for later in 0..=(first.hi - first.lo) / self.poll_interval.0 {
                let by = later * self.poll_interval.0;
                spans.push(self.acts(Span { lo: first.lo + by, hi: last.lo + by }));
            }
        }
        spans
    }

    /// Whether a pause of `length` is detected at every phase of `phases`; `None` where it depends.
    pub fn fires_within(&self, phases: Span, length: Dur, stimulus: &Stimulus) -> Option<bool> {
        let [late, early] = self.shows(length);
        let mut all = self.pieces(phases, stimulus).into_iter().flat_map(|piece| {
            // Within a piece a later poll never makes it fire, nor does a shorter pause, so its ends speak for it.
            [(piece.lo, early), (piece.hi, late)]
                .map(|(phase, length)| self.fires(Dur(phase), length, stimulus))
        });
        let first = all.next()??;
        all.all(|fires| fires == Some(first)).then_some(first)
    }

    /// Every time from the last frame (cisco-8000: from the end of the pause) to the restoration when the first poll at
    /// or after it comes within `phases` of it. Empty when the rule does not restore by polls.
    pub fn restores_within(&self, phases: Span) -> Vec<Span> {
        unwrapped(phases, self.poll_interval)
            .into_iter()
            .filter_map(|piece| {
                let (first, last) = (Dur(piece.lo), Dur(piece.hi));
                let (lo, hi) = (self.restores_after(first)?, self.restores_after(last)?);
                Some(self.acts(Span { lo: lo.0, hi: hi.0 }))
            })
            .collect()
    }

    /// `phases` below P, cut where [`Rule::detects_after`] jumps.
    pub(crate) fn pieces(&self, phases: Span, stimulus: &Stimulus) -> Vec<Span> {
        let mut pieces = unwrapped(phases, self.poll_interval);
        for jump in self.jumps(stimulus) {
            pieces = pieces.into_iter().flat_map(|piece| cut(piece, jump)).collect();
        }
        pieces
    }

    /// The phases around which [`Rule::detects_after`] jumps.
    fn jumps(&self, stimulus: &Stimulus) -> Vec<u64> {
        let p = self.poll_interval;
        match (self.family, stimulus.data_gap) {
            (RuleFamily::Barefoot, None) => vec![fifths(p, 4).0],
            (RuleFamily::Mellanox | RuleFamily::Barefoot, Some(gap)) => {
                vec![p.saturating_sub(self.head_start(gap)).0, gap.0 % p.0]
            }
            (RuleFamily::Mellanox, None)
            | (
                RuleFamily::Broadcom
                | RuleFamily::Cisco8000
                | RuleFamily::IntervalCounter
                | RuleFamily::Hardware,
                _,
            ) => Vec::new(),
        }
    }
}

/// What lies at P and beyond is the phase of the poll after.
fn unwrapped(phases: Span, p: Dur) -> Vec<Span> {
    let last = p.0 - 1;
    if phases.hi - phases.lo >= last {
        vec![Span { lo: 0, hi: last }]
    } else if phases.hi <= last {
        vec![phases]
    } else if phases.lo > last {
        vec![Span { lo: phases.lo - p.0, hi: phases.hi - p.0 }]
    } else {
        vec![Span { lo: phases.lo, hi: last }, Span { lo: 0, hi: phases.hi - p.0 }]
    }
}

/// The parts of `piece` before, at and after `jump`.
fn cut(piece: Span, jump: u64) -> Vec<Span> {
    if jump < piece.lo || piece.hi < jump {
        return vec![piece];
    }
    let before = jump.checked_sub(1).map(|hi| Span { lo: piece.lo, hi });
    let after = Span { lo: jump + 1, hi: piece.hi };
    [before, Some(Span::exactly(jump)), Some(after)]
        .into_iter()
        .flatten()
        .filter(|part| part.lo <= part.hi)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{IDLE, gap, rule};
    use super::*;
    use proptest::prelude::*;

    fn ms(span: Span) -> (u64, u64) {
        (span.lo / 1_000_000_000, span.hi / 1_000_000_000)
    }

    #[test]
    fn a_phase_that_may_be_either_side_of_a_poll_leaves_two_outcomes() {
        let broadcom = rule(RuleFamily::Broadcom, 200, 100, Some(200));
        let around = Span { lo: Dur::ms(99).0, hi: Dur::ms(101).0 };
        let spans: Vec<_> =
            broadcom.detects_within(around, &gap(500)).into_iter().map(ms).collect();
        assert_eq!(spans, [(299, 299), (200, 201)]);
        assert_eq!(broadcom.fires_within(around, Dur::ms(250), &gap(500)), None);
        assert_eq!(broadcom.fires_within(around, Dur::ms(300), &gap(500)), Some(true));
        let spans: Vec<_> = broadcom.restores_within(around).into_iter().map(ms).collect();
        assert_eq!(spans, [(299, 299), (200, 201)]);
    }

    #[test]
    fn an_empty_queue_of_mellanox_has_no_outcome() {
        let mellanox = rule(RuleFamily::Mellanox, 200, 100, None);
        assert_eq!(mellanox.detects_within(Span { lo: 0, hi: 5 }, &IDLE), []);
        let fires = mellanox.fires_within(Span { lo: 0, hi: 5 }, Dur::s(9), &IDLE);
        assert_eq!(fires, Some(false));
    }

    proptest! {
        #[test]
        fn every_phase_of_the_interval_is_covered(
            family in prop::sample::select(vec![
                RuleFamily::Broadcom, RuleFamily::Mellanox, RuleFamily::Cisco8000,
                RuleFamily::Barefoot, RuleFamily::IntervalCounter,
            ]),
            lo in 0_u64..1_000, width in 0_u64..300, within in 0_u64..300,
            data_gap in prop::option::of(1_u64..1_500), length in 1_u64..4_000,
        ) {
            let rule = Rule {
                detection_time: Dur(2_000),
                poll_interval: Dur(1_000),
                ..rule(family, 200, 100, None)
            };
            let stimulus = Stimulus { data_gap: data_gap.map(Dur) };
            let phases = Span { lo, hi: lo + width };
            let phase = Dur((lo + within.min(width)) % 1_000);
            let spans = rule.detects_within(phases, &stimulus);
            match rule.detects_after(phase, &stimulus) {
                None => prop_assert!(spans.is_empty()),
                Some(exact) => {
                    let holds = |at: u64| spans.iter().any(|s| s.lo <= at && at <= s.hi);
                    prop_assert!(holds(exact.lo) && holds(exact.hi), "{exact:?} not in {spans:?}");
                }
            }
            if let Some(fires) = rule.fires_within(phases, Dur(length), &stimulus) {
                prop_assert_eq!(rule.fires(phase, Dur(length), &stimulus), Some(fires));
            }
        }
    }
}
