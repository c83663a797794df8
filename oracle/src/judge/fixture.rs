//! What the tests of this folder share: rules, subjects, and devices that behave by the closed form.

use super::{Fired, Sighting, StormTrial, Subject};
use crate::spec::pfcwd::{Rule, Stimulus};
use rig_capture::{FrameRef, Span};
use rig_lab::{Action, Charge, RuleFamily};
use rig_units::{Apart, Dur, Time, Within};

pub(super) const FAMILIES: [RuleFamily; 5] = [
    RuleFamily::Broadcom,
    RuleFamily::Mellanox,
    RuleFamily::Cisco8000,
    RuleFamily::Barefoot,
    RuleFamily::IntervalCounter,
];

pub(super) const PROBE: Stimulus = Stimulus { data_gap: Some(Dur::us(500)) };

/// How late syncd's loop is each time.
pub(super) const fn tick() -> Within {
    Within::between(Dur::us(50), Dur::us(1_100))
}

/// D and P in milliseconds, R as D.
pub(super) fn rule(family: RuleFamily, d: u64, p: u64) -> Rule {
    let elapsed = family == RuleFamily::Mellanox;
    Rule {
        family,
        detection_time: Dur::ms(d),
        restoration_time: Some(Dur::ms(d)),
        poll_interval: Dur::ms(p),
        action: Action::Drop,
        charge: if elapsed { Charge::Elapsed } else { Charge::Interval },
        min_samples: 1,
        jitter: Within::ZERO,
        skipped_polls: 0,
        action_latency: Within::ZERO,
        timer_lag: Within::ZERO,
        apart: Apart::NOT,
    }
}

pub(super) fn subject(measure: &'static str) -> Subject {
    Subject { measure, on: "storm@p2 class 3".to_owned(), point: String::new() }
}

/// A device whose polls lie at `polls` modulo P, and a rig that reads instants `blur` too late at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Device {
    pub(super) rule: Rule,
    pub(super) polls: Dur,
    pub(super) blur: Dur,
}

impl Device {
    /// What a storm at `start`, `length` long, shows of the device; its last frame comes 1 ms before the pause ends.
    pub(super) fn storm(
        &self,
        trial: u32,
        start: Time,
        length: Dur,
        data: &Stimulus,
    ) -> StormTrial {
        let tail = Dur::ms(1).min(length);
        let p = self.rule.poll_interval.0;
        let until_poll = |at: Time| Dur((self.polls.0 + p - at.0 % p) % p);
        let phase = until_poll(start);
        let last_frame = length.saturating_sub(tail);
        let sighting = |at: u64| Sighting {
            after: Span { lo: at.saturating_sub(self.blur.0 / 3), hi: at + self.blur.0 },
            frames: vec![FrameRef(7)],
        };
        let fires = self.rule.fires(phase, length, data).unwrap_or(false);
        let detected = self.rule.detects_after(phase, data).filter(|_| fires);
        let from = if self.rule.family == RuleFamily::Cisco8000 { length } else { last_frame };
        let restored = detected
            .and_then(|_| self.rule.restores_after(until_poll(start + from)))
            .map(|after| sighting((from + after).0));
        StormTrial {
            trial,
            storm_start: start,
            pause_length: length,
            pause_end: length,
            last_frame,
            fired: detected.map_or(Fired::Never, |at| Fired::At(sighting(at.hi))),
            restored,
            watched: length + Dur::s(5),
            followed: length + Dur::s(5),
            restarted: false,
        }
    }
}

/// The same storm seen by a rig whose stamp of its start is off by `early` and of its end by `late`, both below `slack`,
/// and whose readings allow for that.
pub(super) fn off(seen: &StormTrial, (early, late): (Dur, Dur), slack: Dur) -> StormTrial {
    let wider = |at: &Sighting| Sighting {
        after: Span {
            lo: (at.after.lo + early.0).saturating_sub(slack.0 * 2),
            hi: at.after.hi + early.0 + slack.0 * 2,
        },
        frames: at.frames.clone(),
    };
    StormTrial {
        storm_start: Time(seen.storm_start.0 - early.0),
        pause_length: seen.pause_length + late,
        pause_end: seen.pause_end + late,
        last_frame: seen.last_frame + late,
        fired: seen.detection().map_or(Fired::Never, |at| Fired::At(wider(at))),
        restored: seen.restored.as_ref().map(wider),
        ..seen.clone()
    }
}

/// Draws of a device that does as its chances say (SplitMix64).
#[derive(Debug, Clone)]
pub(super) struct Draws(u64);

impl Draws {
    pub(super) fn new(seed: u64) -> Draws {
        Draws(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    /// Uniform from 0 to 1, 1 left out.
    pub(super) fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Everything that `times` draws of each of these chances can come to, with the chance of it: how many of each were taken.
pub(super) fn all_that_shows(shares: &[f64], times: u32, mut see: impl FnMut(&[u32], f64)) {
    let binomial = |taken: u32, p: f64| {
        let way = |ways: f64, one: u32| ways * f64::from(times - one) / f64::from(one + 1);
        let ways = (0..taken).fold(1.0, way);
        ways * p.powi(taken.cast_signed()) * (1.0 - p).powi((times - taken).cast_signed())
    };
    let mut taken = vec![0_u32; shares.len()];
    loop {
        let each = taken.iter().zip(shares).map(|(&taken, &p)| binomial(taken, p));
        let happens: f64 = each.product();
        if happens > 0.0 {
            see(&taken, happens);
        }
        // The next one, as an odometer counts; what is certain stands still.
        let turns = |at: usize, taken: &mut [u32]| {
            let (least, most) = match shares[at] {
                0.0 => (0, 0),
                1.0 => (times, times),
                _ => (0, times),
            };
            let over = taken[at] >= most;
            taken[at] = if over { least } else { taken[at] + 1 };
            over
        };
        if (0..shares.len()).all(|at| turns(at, &mut taken)) {
            return;
        }
    }
}
