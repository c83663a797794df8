//! Counters of the device, each of which must have grown by what the wire shows.

use super::judge_context::TrialReading;
use super::judged::Unread;
use crate::Prediction;
use crate::trials::trial::Trial;
use crate::verdict::Looked;
use rig_capture::analyse::CounterCheck;
use rig_capture::{Counters, Span, Unit};

/// By how much a counter grew, and by how much it must have.
pub(super) fn grown(counters: &Counters, name: &str, want: Span) -> CounterCheck {
    let got = counters.grew(name);
    CounterCheck { want, got, name: counters.called(name), frames: Vec::new() }
}

/// The same of a counter that not every device has: none, where this one had it neither before nor after.
pub(super) fn grown_if_there(counters: &Counters, name: &str, want: Span) -> Option<CounterCheck> {
    counters.has(name).then(|| grown(counters, name, want))
}

/// What all of them show: how many are wrong, the first of them in words. `looked`: what they had to count, or not to.
///
/// # Errors
/// The device does not offer one of them.
pub(super) fn read(
    trial: &Trial,
    checks: &[CounterCheck],
    looked: Looked,
    source: &'static str,
) -> Result<TrialReading, Unread> {
    if let Some(missing) = checks.iter().find(|check| check.got.is_none()) {
        let name = &missing.name;
        let why = if trial.observation.counters.moving.contains(name) {
            format!("nothing shows that {name} stood still when it was read")
        } else {
            format!("the device offers no counter {name}")
        };
        return Err(trial.doubt(&why).into());
    }
    let (span, text, got) = said(checks);
    let want = Prediction { unit: Unit::Count, span: Span::exactly(0), formula: "", text, source };
    let wrong = checks.iter().find(|check| check.wrong());
    let records = wrong.map(|check| check.frames.clone()).unwrap_or_default();
    Ok(TrialReading { span, want, got, records, looked })
}

/// How many are wrong, what was wanted, and what the first that is wrong shows instead.
fn said(checks: &[CounterCheck]) -> (Span, String, Option<String>) {
    let wrong: Vec<_> = checks.iter().filter(|check| check.wrong()).collect();
    let count = Span::exactly(u64::try_from(wrong.len()).unwrap_or(u64::MAX));
    let Some(first) = wrong.first() else {
        let text = format!("each of {} counters grown by what the wire shows", checks.len());
        return (count, text, None);
    };
    let others = match wrong.len() - 1 {
        0 => String::new(),
        others => format!(", and {others} more off"),
    };
    let got = format!("{}{others}", first.got.unwrap_or(0));
    (count, format!("{} grown by {}", first.name, shown(first.want)), Some(got))
}

fn shown(span: Span) -> String {
    if span.lo == span.hi { span.lo.to_string() } else { format!("{} to {}", span.lo, span.hi) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_counter_that_is_off_is_told_and_the_others_are_counted() {
        let check = |name: &str, (lo, hi), got| CounterCheck {
            name: name.to_owned(),
            want: Span { lo, hi },
            got: Some(got),
            frames: Vec::new(),
        };
        let right = [check("a", (3, 3), 3), check("b", (3, 5), 5)];
        let (span, text, got) = said(&right);
        assert_eq!((span, got), (Span::exactly(0), None));
        assert_eq!(text, "each of 2 counters grown by what the wire shows");
        let wrong = [check("a", (3, 3), 3), check("b", (3, 5), 6), check("c", (0, 0), 1)];
        let (span, text, got) = said(&wrong);
        assert_eq!((span, text.as_str()), (Span::exactly(2), "b grown by 3 to 5"));
        assert_eq!(got.as_deref(), Some("6, and 1 more off"));
    }

    #[test]
    fn a_counter_is_told_with_what_the_device_calls_it() {
        let of = |value| [("a".to_owned(), value), ("b".to_owned(), value)].into();
        let mut counters = Counters::read(of(1), of(3));
        counters.vendor =
            std::sync::Arc::new([("a".to_owned(), "eth0 2:5 red marked".to_owned())].into());
        let wrong = [grown(&counters, "a", Span::exactly(5))];
        let (_, text, got) = said(&wrong);
        assert_eq!(text, "a (eth0 2:5 red marked) grown by 5");
        assert_eq!(got.as_deref(), Some("2"));
        assert_eq!(grown(&counters, "b", Span::exactly(2)).name, "b");
        assert_eq!(grown_if_there(&counters, "c", Span::exactly(0)), None);
    }
}
