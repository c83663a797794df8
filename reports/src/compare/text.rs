//! A comparison for people, laid out like a run: twelve columns of what happened, then to whom and how.

use super::{By, Change, ChangeKind, Circumstance, Comparison, Ends, Moved};
use crate::figure;
use crate::shown::printable;
use crate::text::count;
use core::fmt;
use rig_capture::Span;

/// What the new run lacks, one line a change, a summary at the end.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for lacking in &self.lacks {
            writeln!(f, "{lacking}")?;
        }
        for Circumstance { what, was, is } in &self.circumstances {
            writeln!(f, "{:>12} {what}: was {}, is {}", "Differs", printable(was), printable(is))?;
        }
        for Change { case, kind } in &self.changes {
            let (status, said) = line(kind);
            let colon = if said.is_empty() { "" } else { ": " };
            writeln!(f, "{status:>12} {}{colon}{}", printable(case), printable(&said))?;
        }
        writeln!(f, "{:>12} {}", "Summary", summary(self))
    }
}

fn line(kind: &ChangeKind) -> (&'static str, String) {
    match kind {
        ChangeKind::NewFailure { was, finding } => {
            let was = was.map_or("not there", |was| was.word());
            ("NEW FAILURE", format!("was {was}; {finding}"))
        }
        ChangeKind::Verdict { was, is, reason } => {
            let status = if kind.is_loss() { "LOST VERDICT" } else { "VERDICT" };
            let because = if reason.is_empty() { "" } else { "; " };
            (status, format!("was {}, is {}{because}{reason}", was.word(), is.word()))
        }
        ChangeKind::Fixed => ("FIXED", String::new()),
        ChangeKind::Appeared { is } => ("APPEARED", is.word().to_owned()),
        ChangeKind::Vanished { was, not_run: false } => ("VANISHED", format!("was {}", was.word())),
        ChangeKind::Vanished { was, not_run: true } => ("NOT RUN", format!("was {}", was.word())),
        ChangeKind::Device { was, is } => ("DEVICE", format!("was {was}, is {is}")),
        ChangeKind::Shifted(moved) => ("SHIFTED", interval(moved)),
        ChangeKind::Predicted(moved) => ("PREDICTED", interval(moved)),
        ChangeKind::Measured { measurement } => {
            ("MEASURED", format!("{measurement}, for the first time"))
        }
        ChangeKind::Unmeasured { measurement } => {
            ("UNMEASURED", format!("{measurement}, no longer"))
        }
    }
}

/// `pfcwd.detection storm@p2: was 203ms to 298ms, is 341ms to 350ms: the least 138ms more, the middle 95ms more, the
/// greatest 52ms more`
fn interval(moved: &Moved) -> String {
    let Moved { measurement, unit, was, is, by } = moved;
    let known = figure::unit(unit);
    let show = |Ends { lo, hi }: &Ends| match known {
        Some(unit) => figure::span(unit, Span { lo: *lo, hi: *hi }),
        None => format!("{lo} to {hi} {unit}"),
    };
    let more = |by: i64| {
        let amount = by.unsigned_abs();
        let amount =
            known.map_or_else(|| format!("{amount} {unit}"), |unit| figure::value(unit, amount));
        match by {
            0 => "as before".to_owned(),
            1.. => format!("{amount} more"),
            _ => format!("{amount} less"),
        }
    };
    let intervals = format!("{measurement}: was {}, is {}", show(was), show(is));
    match by {
        // Of one value each there is one thing to say.
        By { lo: Some(lo), hi: Some(hi), .. } if was.lo == was.hi && is.lo == is.hi && lo == hi => {
            format!("{intervals}, {}", more(*lo))
        }
        By { lo: Some(lo), middle: Some(middle), hi: Some(hi) } => {
            let [lo, middle, hi] = [lo, middle, hi].map(|by| more(*by));
            format!("{intervals}: the least {lo}, the middle {middle}, the greatest {hi}")
        }
        By { lo: Some(lo), hi: None, .. } => format!("{intervals}: the least {}", more(*lo)),
        By { .. } => intervals, // from or to never
    }
}

fn summary(comparison: &Comparison) -> String {
    let Comparison { common, unchanged, changes, .. } = comparison;
    let mut parts = vec![format!("{} in both, {unchanged} unchanged", count(*common, "case"))];
    let mut part = |noun: &str, counts: fn(&ChangeKind) -> bool| {
        let n = changes.iter().filter(|change| counts(&change.kind)).count();
        if n > 0 {
            parts.push(count(n, noun));
        }
    };
    part("new failure", |kind| matches!(kind, ChangeKind::NewFailure { .. }));
    part("lost verdict", |kind| matches!(kind, ChangeKind::Verdict { .. }) && kind.is_loss());
    part("missing case", |kind| matches!(kind, ChangeKind::Vanished { .. }));
    part("lost measurement", |kind| matches!(kind, ChangeKind::Unmeasured { .. }));
    part("other change of verdict", |kind| {
        matches!(kind, ChangeKind::Verdict { .. }) && !kind.is_loss()
    });
    part("fixed failure", |kind| matches!(kind, ChangeKind::Fixed));
    part("new case", |kind| matches!(kind, ChangeKind::Appeared { .. }));
    part("shifted measurement", |kind| matches!(kind, ChangeKind::Shifted(_)));
    part("changed prediction", |kind| matches!(kind, ChangeKind::Predicted(_)));
    parts.join(", ")
}
