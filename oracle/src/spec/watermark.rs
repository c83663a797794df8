//! What copies of a watermark show that a device keeps by polling (rows 76 and 77 of the catalogue).
//!
//! The device reads the chip every P from an unknown phase on; each reading gives the greatest level since the one before and
//! starts afresh from what is there then. A copy that was cleared last at c shows at t the greatest of what was read in
//! [c, t): with p the first reading from c on and q the last one before t, that is the greatest level over [p - P, q], because
//! the first reading tells of the whole interval before it, the part before the clear included. Without a reading it is 0.
//!
//! Over all phases the value changes only where a reading meets a step of the level, the clear or t itself: those phases and
//! their neighbours, a picosecond off, give the exact least and greatest. The periodic copy is cleared every T at a phase as
//! unknown as the other: the clears that may come last are tried in the same way.

use rig_capture::Span;
use rig_lab::Watermark;
use rig_units::{Dur, Time};

/// Where it comes from, for reports.
pub const SOURCE: &str =
    "SONiC watermarkorch, watermark_queue.lua and watermark_pg.lua: read and clear, three copies";

/// A level that holds from an instant on, in bytes.
pub type Step = (Time, u64);

/// What a copy that is cleared by request shows at `at`: the last clear was at `cleared`, or never. `steps` are the level's,
/// in order of time; before the first it is 0.
pub fn until_cleared(poll: Dur, steps: &[Step], cleared: Option<Time>, at: Time) -> Span {
    let from = cleared.unwrap_or(Time::ZERO);
    let edges = steps.iter().map(|(at, _)| at.0).chain([from.0, at.0]);
    let shown =
        phases(edges, poll.0).into_iter().map(|phase| Polls { first: phase, every: poll.0 });
    extremes(shown.map(|polls| polls.shown(steps, from.0, at.0)))
}

/// What the periodic copy shows at `at`.
pub fn periodic(config: &Watermark, steps: &[Step], at: Time) -> Span {
    let Some(poll) = config.poll else { return Span::exactly(0) };
    let every = config.telemetry.unwrap_or(Watermark::TELEMETRY).0.max(1);
    // The last reset before `at`: any instant of the interval before it, or none if that reaches back to the start.
    let edges: Vec<u64> = steps.iter().map(|(at, _)| at.0).chain([at.0]).collect();
    let around = edges.iter().flat_map(|&edge| [edge, edge + poll.0, edge.saturating_sub(poll.0)]);
    let resets = phases(around, every).into_iter().map(|phase| last_before(phase, every, at.0));
    extremes(resets.flat_map(|reset| {
        let Span { lo, hi } = until_cleared(poll, steps, reset.map(Time), at);
        [lo, hi]
    }))
}

/// Every phase at which something changes, and the ones beside it.
fn phases(edges: impl Iterator<Item = u64>, every: u64) -> Vec<u64> {
    let every = every.max(1);
    let near = |edge: u64| {
        let phase = edge % every;
        [(phase + every - 1) % every, phase, (phase + 1) % every]
    };
    let mut all: Vec<u64> = edges.flat_map(near).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The last of `phase`, `phase + every`, ... that is before `at`.
fn last_before(phase: u64, every: u64, at: u64) -> Option<u64> {
    let turns = at.checked_sub(phase)?.checked_sub(1)? / every;
    Some(phase + turns * every)
}

fn extremes(values: impl Iterator<Item = u64>) -> Span {
    let (mut lo, mut hi) = (u64::MAX, 0);
    for value in values {
        (lo, hi) = (lo.min(value), hi.max(value));
    }
    Span { lo: lo.min(hi), hi }
}

/// Readings at one phase.
struct Polls {
    first: u64,
    every: u64,
}

impl Polls {
    fn shown(&self, steps: &[Step], cleared: u64, at: u64) -> u64 {
        let turns = cleared.saturating_sub(self.first).div_ceil(self.every);
        let first = self.first + turns * self.every;
        match last_before(self.first, self.every, at).filter(|last| *last >= first) {
            // The first reading of all tells of everything since the start.
            Some(last) => peak(steps, first.saturating_sub(self.every), last),
            None => 0,
        }
    }
}

/// The greatest level from `from` to `to`, both included.
fn peak(steps: &[Step], from: u64, to: u64) -> u64 {
    let ends = steps.iter().skip(1).map(|(at, _)| at.0).chain([u64::MAX]);
    let within = steps.iter().zip(ends).filter(|((start, _), end)| start.0 <= to && *end > from);
    within.map(|((_, level), _)| *level).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MINUTE: Dur = Dur::ms(60_000);

    fn s(seconds: u64) -> Time {
        Time(seconds * 1_000_000_000_000)
    }

    /// 5 KB from second 10 to second 20.
    fn bump() -> [Step; 2] {
        [(s(10), 5_000), (s(20), 0)]
    }

    #[test]
    fn a_peak_is_shown_for_certain_a_poll_after_it_began_and_for_good() {
        let shown = |at| until_cleared(MINUTE, &bump(), None, at);
        assert_eq!(shown(s(10)), Span::exactly(0));
        // A poll at second 10 itself sees it.
        assert_eq!(shown(Time(s(10).0 + 1)), Span { lo: 0, hi: 5_000 });
        // One minute has exactly one poll; that of a phase before second 10 comes again after second 60.
        assert_eq!(shown(s(60)), Span { lo: 0, hi: 5_000 });
        assert_eq!(shown(s(70)), Span::exactly(5_000));
        assert_eq!(shown(s(7_000)), Span::exactly(5_000));
    }

    #[test]
    fn a_clear_holds_once_the_peak_has_been_read() {
        let shown = |cleared, at| until_cleared(MINUTE, &bump(), Some(cleared), at);
        // Not read by then in every phase: it may come back.
        assert_eq!(shown(s(30), s(200)), Span { lo: 0, hi: 5_000 });
        assert_eq!(shown(s(79), s(200)), Span { lo: 0, hi: 5_000 });
        // From second 80 on the interval before the first reading began after the peak.
        assert_eq!(shown(s(80), s(200)), Span::exactly(0));
        // Cleared while it lasts: the next reading has it for certain.
        assert_eq!(shown(s(15), s(76)), Span::exactly(5_000));
    }

    #[test]
    fn the_periodic_copy_forgets_after_an_interval_and_a_poll() {
        let config = Watermark { poll: Some(MINUTE), telemetry: None };
        let shown = |at| periodic(&config, &bump(), at);
        assert_eq!(shown(s(10)), Span::exactly(0));
        assert_eq!(shown(s(75)), Span { lo: 0, hi: 5_000 });
        // Reset at second 79.9, read just after it: shown until second 199.9.
        assert_eq!(shown(s(199)), Span { lo: 0, hi: 5_000 });
        assert_eq!(shown(s(201)), Span::exactly(0));
        assert_eq!(periodic(&Watermark::default(), &bump(), s(75)), Span::exactly(0));
    }

    #[test]
    fn what_is_still_there_is_shown_after_every_clear() {
        let steps = [(s(10), 5_000)];
        let shown = |cleared, at| until_cleared(MINUTE, &steps, Some(cleared), at);
        assert_eq!(shown(s(300), s(301)), Span { lo: 0, hi: 5_000 });
        assert_eq!(shown(s(300), s(361)), Span::exactly(5_000));
    }

    /// A device at one pair of phases, instant by instant.
    fn walk(
        (poll, telemetry): ((u64, u64), Option<(u64, u64)>),
        steps: &[Step],
        cleared: Option<u64>,
        at: u64,
    ) -> u64 {
        let (mut level, mut chip, mut copy) = (0, 0, 0);
        let due = |(phase, every): (u64, u64), now: u64| {
            now >= phase && (now - phase).is_multiple_of(every)
        };
        for now in 0..at {
            for (_, to) in steps.iter().filter(|(at, _)| at.0 == now) {
                level = *to;
            }
            chip = chip.max(level);
            if cleared == Some(now) || telemetry.is_some_and(|telemetry| due(telemetry, now)) {
                copy = 0;
            }
            if due(poll, now) {
                copy = copy.max(chip);
                chip = level;
            }
        }
        copy
    }

    fn levels() -> impl Strategy<Value = Vec<Step>> {
        prop::collection::btree_map(0_u64..80, 0_u64..5, 0..5)
            .prop_map(|steps| steps.into_iter().map(|(at, level)| (Time(at), level)).collect())
    }

    proptest! {
        #[test]
        fn the_least_and_greatest_of_all_phases_are_those_of_a_walk(
            steps in levels(), every in 1_u64..30, cleared in prop::option::of(0_u64..80),
            at in 0_u64..120,
        ) {
            let all = (0..every).map(|phase| walk(((phase, every), None), &steps, cleared, at));
            let cleared = cleared.filter(|cleared| *cleared < at).map(Time);
            let form = until_cleared(Dur(every), &steps, cleared, Time(at));
            prop_assert_eq!(form, extremes(all));
        }

        #[test]
        fn the_same_of_the_periodic_copy(
            steps in levels(), every in 1_u64..20, telemetry in 1_u64..40, at in 0_u64..120,
        ) {
            let all = (0..every).flat_map(|poll| (0..telemetry).map(move |reset| (poll, reset)));
            let walked = all.map(|(poll, reset)| {
                walk(((poll, every), Some((reset, telemetry))), &steps, None, at)
            });
            let config = Watermark { poll: Some(Dur(every)), telemetry: Some(Dur(telemetry)) };
            prop_assert_eq!(periodic(&config, &steps, Time(at)), extremes(walked));
        }
    }
}
