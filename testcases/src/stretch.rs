//! A case that goes with the device as it is found: slower or faster, with more frames or fewer.

use crate::case::{CaseAction, CaseStep, Count, Storm, Stream};
use crate::vocabulary::Argument;
use crate::{Accepts, Amount, Case, StreamRate, Sweep};
use rig_lab::field::Holds;
use rig_lab::{Declared, fields, settings};
use rig_units::{Bytes, Dur};
use serde_json::Value;
use std::collections::BTreeMap;

/// A part of something, as two whole numbers.
pub type Proportion = (u64, u64);

/// What a limit of 2^k times what is left makes of an empty pool: 2^k of 1 + 2^k.
fn part_of_a_pool(k: i128) -> Proportion {
    let power = 1 << k.unsigned_abs().min(10);
    if k < 0 { (1, power + 1) } else { (power, power + 1) }
}

impl Case {
    /// What the case sets `path` to; the last of what it sweeps.
    fn set(&self, path: &str) -> Option<&Value> {
        let swept = self.sweep.iter().find_map(|sweep| match sweep {
            Sweep::Setting { path: own, values } if own == path => values.last(),
            _ => None,
        });
        let once = || self.settings.iter().find(|setting| setting.path == path);
        swept.or_else(|| once().map(|setting| &setting.value))
    }

    /// By how much the device's own configuration makes lengths of time and numbers of frames of the case larger, where it takes
    /// settings as it finds them. Of several the one that makes them largest decides.
    pub fn proportions(&self, declared: &Declared) -> [Proportion; 2] {
        let of = |holds: Holds| {
            let own = self.found.iter().filter(|(path, accepts)| {
                let held = fields::field(path).is_some_and(|field| field.holds == holds);
                **accepts == Accepts::InProportion && held
            });
            let each = own.filter_map(|(path, _)| {
                let set = self.set(path)?;
                let number = |value: &Value| {
                    settings::number(path, value).and_then(|n| u64::try_from(n).ok())
                };
                Some((number(&declared.get(path)?)?, number(set)?.max(1)))
            });
            let larger = |a: &Proportion, b: &Proportion| {
                let cross = |a: u64, b: u64| u128::from(a) * u128::from(b);
                cross(a.0, b.1).cmp(&cross(b.0, a.1))
            };
            each.max_by(larger).unwrap_or((1, 1))
        };
        let (more, less) = of(Holds::Size);
        let (by, over) = self.limits(declared);
        [of(Holds::Time), (more.saturating_mul(by), less.saturating_mul(over))]
    }

    /// By how much more the device's own dynamic limits leave one group of a pool, where the case goes with them.
    fn limits(&self, declared: &Declared) -> Proportion {
        let own = self.found.iter().filter(|(path, accepts)| {
            let held = fields::field(path).is_some_and(|field| field.holds == Holds::Exponent);
            **accepts == Accepts::InProportion && held
        });
        let each = own.filter_map(|(path, _)| {
            let part = |value: &Value| settings::number(path, value).map(part_of_a_pool);
            Some((part(&declared.get(path)?)?, part(self.set(path)?)?))
        });
        each.fold((1, 1), |(by, over), (has, set)| (by * has.0 * set.1, over * has.1 * set.0))
    }

    /// The same case, slower by `times` and with more frames by `frames`; of a stream without a number of frames they come that much
    /// sooner where a storm holds it, since it is what the memory is filled with. No stream is faster than its port, of which `slot` knows
    /// how long a frame takes, and those that begin together have it together. Variables, pauses and what the rig's ports take to react stay.
    #[must_use]
    pub fn stretched(
        mut self,
        times: Proportion,
        frames: Proportion,
        slot: impl Fn(&str, Bytes) -> Dur,
    ) -> Case {
        let dur = |dur: Dur| dur.scaled(times.0, times.1);
        let amount = |of: &mut Amount| match of {
            Amount::Exactly(exactly) => *exactly = dur(*exactly),
            Amount::Of { plus, minus, .. } => (*plus, *minus) = (dur(*plus), dur(*minus)),
            Amount::Swept(_) => {}
        };
        let (storms, largest) = (&self.storms, self.largest());
        let beside = self.beside();
        for (name, stream) in &mut self.streams {
            let held =
                |storm: &Storm| storm.from == stream.to && storm.classes.contains(&stream.class);
            let fills = stream.count.is_none() && storms.values().any(held);
            // Never later: what is shown by one of its frames would be known less well.
            let sooner = if fills && frames.0 > frames.1 { frames } else { (1, 1) };
            if let StreamRate::Every(gap) = &mut stream.rate
                && (times.0 != times.1 || sooner.0 != sooner.1)
            {
                let least = slot(&stream.from, largest[name]) * beside[name];
                *gap = dur(*gap).scaled(sooner.1, sooner.0).max(least);
            }
            if let Some(Count::Frames(count)) = &mut stream.count {
                let all = u128::from(*count) * u128::from(frames.0);
                *count = u64::try_from(all.div_ceil(u128::from(frames.1))).unwrap_or(u64::MAX);
            }
        }
        for step in &mut self.steps {
            amount(&mut step.at);
            match &mut step.what {
                CaseAction::Start { lasting, .. } => lasting.iter_mut().for_each(amount),
                CaseAction::LinkDown { lasting, .. } => amount(lasting),
                CaseAction::Pfc { every, .. } => *every = dur(*every),
                CaseAction::Stop { .. } | CaseAction::Configure(_) | CaseAction::Device(_) => {}
            }
        }
        self.length.iter_mut().for_each(amount);
        for measure in &mut self.measure {
            measure.arguments.move_windows(dur);
            for value in measure.arguments.values_mut() {
                if let Argument::Amount(of) = value {
                    amount(of);
                }
            }
        }
        self
    }

    /// The same case with trials that are longer by `more`.
    #[must_use]
    pub fn lengthened(mut self, more: Dur) -> Case {
        match &mut self.length {
            Some(Amount::Exactly(exactly)) => *exactly += more,
            Some(Amount::Of { plus, .. }) => *plus += more,
            Some(Amount::Swept(_)) | None => {}
        }
        self
    }

    /// The same case with the frames of streams that have a number of them, or of which it is searched, sooner one after the other: `sooner`
    /// times as soon, as far as their port has room for them. What is counted stays.
    #[must_use]
    pub fn hurried(mut self, sooner: u64, slot: impl Fn(&str, Bytes) -> Dur) -> Case {
        let (largest, beside) = (self.largest(), self.beside());
        for (name, stream) in &mut self.streams {
            let StreamRate::Every(gap) = &mut stream.rate else { continue };
            if stream.count.is_none() {
                continue;
            }
            let least = (slot(&stream.from, largest[name]) * beside[name]).min(*gap);
            *gap = gap.scaled(1, sooner.max(1)).max(least);
        }
        self
    }

    /// The largest frame of each stream, whatever of its size is swept.
    fn largest(&self) -> BTreeMap<String, Bytes> {
        let swept = |name: &String| {
            self.sweep.iter().find_map(|one| match one {
                Sweep::Size { stream, sizes } if stream == name => sizes.iter().max().copied(),
                _ => None,
            })
        };
        let of = |(name, stream): (&String, &Stream)| {
            (name.clone(), swept(name).map_or(stream.size, |most| stream.size.max(most)))
        };
        self.streams.iter().map(of).collect()
    }

    /// How many streams begin with each from its port, itself counted.
    fn beside(&self) -> BTreeMap<String, u64> {
        let starts = |step: &CaseStep, name: &String| match &step.what {
            CaseAction::Start { names, .. } => names.contains(name),
            _ => false,
        };
        let together = |one: &String, other: &String| {
            let begins = self.steps.iter().filter(|step| starts(step, one));
            let with =
                |at: &Amount| self.steps.iter().any(|step| step.at == *at && starts(step, other));
            begins.map(|step| &step.at).any(with)
        };
        let with = |(name, stream): (&String, &Stream)| {
            let others = self.streams.iter().filter(|(_, other)| other.from == stream.from);
            let count = others.filter(|(other, _)| together(name, other)).count();
            (name.clone(), u64::try_from(count).unwrap_or(u64::MAX).max(1))
        };
        self.streams.iter().map(with).collect()
    }
}
