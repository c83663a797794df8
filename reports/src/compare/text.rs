//! A comparison for people, laid out like a run: twelve columns of what happened, then to whom and how.

use super::{Change, Circumstance, Comparison, Kind, Moved};
use crate::figure;
use crate::text::{count, printable};
use core::fmt;
use rig_capture::Span;

/// One line a change, a summary at the end.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

fn line(kind: &Kind) -> (&'static str, String) {
    match kind {
        Kind::NewFailure { was, finding } => {
            let was = was.map_or("not there", |was| was.word());
            ("NEW FAILURE", format!("was {was}; {finding}"))
        }
        Kind::Verdict { was, is, reason } if reason.is_empty() => {
            ("VERDICT", format!("was {}, is {}", was.word(), is.word()))
        }
        Kind::Verdict { was, is, reason } => {
            ("VERDICT", format!("was {}, is {}; {reason}", was.word(), is.word()))
        }
        Kind::Fixed => ("FIXED", String::new()),
        Kind::Appeared { is } => ("APPEARED", is.word().to_owned()),
        Kind::Vanished { was, not_run: false } => ("VANISHED", format!("was {}", was.word())),
        Kind::Vanished { was, not_run: true } => ("NOT RUN", format!("was {}", was.word())),
        Kind::Device { was, is } => ("DEVICE", format!("was {was}, is {is}")),
        Kind::Shifted(moved) => ("SHIFTED", interval(moved)),
        Kind::Predicted(moved) => ("PREDICTED", interval(moved)),
        Kind::Measured { measurement } => {
            ("MEASURED", format!("{measurement}, for the first time"))
        }
        Kind::Unmeasured { measurement } => ("UNMEASURED", format!("{measurement}, no longer")),
    }
}

/// `pfcwd.detection storm@p2: was 203ms to 298ms, is 341ms to 350ms, 43ms more`
fn interval(moved: &Moved) -> String {
    let Moved { measurement, unit, was, is } = moved;
    let show = |(lo, hi): (u64, u64)| match figure::unit(unit) {
        Some(unit) => figure::span(unit, Span { lo, hi }),
        None => format!("{lo} to {hi} {unit}"),
    };
    let by = |amount| {
        figure::unit(unit)
            .map_or_else(|| format!("{amount} {unit}"), |unit| figure::value(unit, amount))
    };
    let apart = if was.0.max(is.0) == u64::MAX {
        String::new() // from or to never
    } else if was.1 < is.0 {
        format!(", {} more", by(is.0 - was.1))
    } else if is.1 < was.0 {
        format!(", {} less", by(was.0 - is.1))
    } else {
        String::new()
    };
    format!("{measurement}: was {}, is {}{apart}", show(*was), show(*is))
}

fn summary(comparison: &Comparison) -> String {
    let Comparison { common, unchanged, changes, .. } = comparison;
    let mut parts = vec![format!("{} in both, {unchanged} unchanged", count(*common, "case"))];
    let mut part = |noun: &str, counts: fn(&Kind) -> bool| {
        let n = changes.iter().filter(|change| counts(&change.kind)).count();
        if n > 0 {
            parts.push(count(n, noun));
        }
    };
    part("new failure", |kind| matches!(kind, Kind::NewFailure { .. }));
    part("other change of verdict", |kind| matches!(kind, Kind::Verdict { .. }));
    part("fixed failure", |kind| matches!(kind, Kind::Fixed));
    part("missing case", |kind| matches!(kind, Kind::Vanished { .. }));
    part("new case", |kind| matches!(kind, Kind::Appeared { .. }));
    part("shifted measurement", |kind| matches!(kind, Kind::Shifted(_)));
    part("changed prediction", |kind| matches!(kind, Kind::Predicted(_)));
    parts.join(", ")
}
