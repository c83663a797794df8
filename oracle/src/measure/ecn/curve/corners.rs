//! The likeliest kmin, kmax and pmax, each with what else the marks leave possible. That is told and convicts nobody: that an interval
//! holds the truth as often as it says is true of many marks only. What convicts is another curve, fixed beforehand, that explains the
//! marks far better.

use super::super::super::judge_context::TrialReading;
use super::super::super::judge_context::judgement;
use super::super::super::judged::Judged;
use super::super::{Fate, Span, Unit};
use super::{Sample, ceil, floor};
use crate::judge::likelihood::Bin;
use crate::judge::marking_fit::{Estimate, Fit};
use crate::judge::moved::{self, Corner, Shift};
use crate::spec::wred::Curves;
use crate::trials::effort::Effort;
use crate::verdict::Finding;
use crate::{Alike, Resolution};
use core::ops::Bound;
use rig_lab::{Color, Curve};

/// What a corner is called, what it is counted in, and where it is on a curve.
const fn told(corner: Corner, curve: &Curve) -> (&'static str, Unit, u64) {
    match corner {
        Corner::Kmin => ("kmin", Unit::Bytes, curve.kmin.0),
        Corner::Kmax => ("kmax", Unit::Bytes, curve.kmax.0),
        Corner::Pmax => ("pmax", Unit::Ppm, curve.pmax.0 as u64),
    }
}

impl Sample<'_> {
    /// Files them.
    pub(super) fn corners(&self, fit: &Fit, bins: &[Bin], judged: &mut Judged) {
        let held = self.rule.held();
        let weighted = self.rule.declared.wred.weight > 0;
        if weighted || !self.rule.declared.wred.queues.contains(&self.queue) {
            return;
        }
        let one = |estimate: Estimate, scale: f64| Span {
            lo: floor(estimate.lo * scale),
            hi: ceil(estimate.hi * scale),
        };
        // A corner that no frame saw is not measured, nor what lies in front of it.
        let whole = self.draws.iter().any(|draw| draw.depth.lo >= held.least.kmax.0);
        self.corner((Corner::Pmax, one(fit.pmax, 1e6)), held, bins, judged, whole);
        self.corner((Corner::Kmin, one(fit.kmin, 1.0)), held, bins, judged, true);
        self.corner((Corner::Kmax, one(fit.kmax, 1.0)), held, bins, judged, whole);
    }

    fn corner(
        &self,
        (corner, span): (Corner, Span),
        held: Curves,
        bins: &[Bin],
        judged: &mut Judged,
        seen: bool,
    ) {
        if !seen {
            return;
        }
        let ((what, unit, one), (.., other)) =
            (told(corner, &held.least), told(corner, &held.most));
        let (lo, hi) = (one.min(other), one.max(other));
        let alpha = self.done.alpha;
        let declared = if lo == hi {
            unit.show(lo)
        } else {
            format!("{} or {}, as it rounds", unit.show(lo), unit.show(hi))
        };
        let text = format!("{what} = {declared}, at a chance of a false alarm of {alpha:.1e}");
        let want = self.prediction(unit, Span { lo, hi }, text.clone());
        let read =
            TrialReading { span, want, got: None, records: Vec::new(), looked: self.looked() };
        let trial = self.draws[0].trial;
        let on = [self.on.as_str(), what].join(", ");
        let Some(mut one) = judgement("ecn.curve", &on, self.place.clone(), &[(trial, read)])
        else {
            return;
        };
        let shown = super::super::super::judge_context::show(unit, span);
        // What speaks against each curve that the device may hold speaks against it.
        let others = held.each().map(|curve| (curve, corner.moved(&curve, &Effort::PARTS)));
        let others: Vec<(Curve, Vec<Curve>)> = others.collect();
        // What it cannot hold by what was seen needs nothing against it.
        let may_hold = |one: &&(Curve, Vec<Curve>)| !moved::is_ruled_out(bins, &one.0);
        let any = others.iter().any(|one| may_hold(&one));
        let held_to = others.iter().filter(|one| !any || may_hold(one));
        let better = held_to.map(|(curve, others)| moved::judge(bins, curve, others, alpha));
        let other = better.reduce(Option::and).flatten();
        let finding = |other: &Curve| Finding {
            rule: "ecn.curve",
            want: text,
            got: format!("{shown}, and marks as of {what} = {}", unit.show(told(corner, other).2)),
            trial,
            frames: Vec::new(),
        };
        one.findings = other.as_ref().map(finding).into_iter().collect();
        one.trials = self.trials;
        // It rests on all trials together.
        one.taken.clear();
        one.resolution = self.told((corner, what, unit), (&held, &others), bins);
        judged.file(self.at, one);
    }

    /// Which values of a corner the frames that were seen do not tell from the declared one.
    fn told(
        &self,
        (corner, what, unit): (Corner, &str, Unit),
        (held, each): (&Curves, &[(Curve, Vec<Curve>)]),
        bins: &[Bin],
    ) -> Resolution {
        let told = |side: Shift| {
            let alpha = self.done.alpha;
            // Whichever it holds of the other corners.
            let pairs = each.iter().flat_map(|one| each.iter().map(move |(base, _)| (base, one)));
            let of = pairs.map(move |(base, (curve, others))| {
                moved::told_of(bins, (corner, base, held), (curve, others), alpha, side)
            });
            // Told from each of them, or not told.
            of.collect::<Option<Vec<u64>>>().unwrap_or_default()
        };
        let (least, most) =
            (told(Shift::Less).into_iter().min(), told(Shift::More).into_iter().max());
        let span = Span {
            lo: least.map_or(0, |least| least + 1),
            hi: most.map_or(u64::MAX, |most| most - 1),
        };
        let end = |value: Option<u64>| value.map_or(Bound::Unbounded, Bound::Excluded);
        let alike = Alike {
            parameter: format!("{}.{what}", self.curve_of()),
            unit,
            least: end(least),
            most: end(most),
            certain: false,
        };
        Resolution::likely(unit, span).with([alike])
    }

    /// The path of the curve that its frames go by.
    const fn curve_of(&self) -> &'static str {
        let wred = &self.rule.declared.wred;
        match (self.rule.fate, self.rule.class.color) {
            (Fate::Drop, _) if wred.drop.is_some() => "wred.drop",
            (_, Color::Yellow) if wred.yellow.is_some() => "wred.yellow",
            (_, Color::Red) if wred.red.is_some() => "wred.red",
            _ => "wred",
        }
    }
}
