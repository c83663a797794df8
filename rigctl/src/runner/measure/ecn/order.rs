//! Whether marks come before pauses when a queue fills up (B6).

use super::{Done, First, Judged, Prediction, Read, Span, Unit, visits};
use rig_capture::Dir;
use rig_testcases::Declared;
use rig_units::{Dur, Time};

/// Judges which of the two a sender meets first. A mark is taken to be made when the marked frame leaves, an XOFF when it
/// leaves: both as the rig's ports see them.
pub(in super::super) fn judge(done: &Done<'_>, stream: &str, first: First, judged: &mut Judged) {
    let declared: &Declared = &done.session.group.declared;
    done.each("ecn.order", stream, judged, |trial| {
        let (index, spec) = trial.stream(stream)?;
        let visits = visits(trial, index, declared)?;
        let records = &trial.observation.records;
        let marks = visits.iter().filter_map(|visit| visit.passed.as_ref());
        let mark = marks.filter(|passed| passed.marked).map(|passed| passed.record).min();
        let senders =
            trial.script.streams.iter().filter(|of| (of.to, of.class) == (spec.to, spec.class));
        let xoffs = senders.filter_map(|of| {
            let mut words = trial.observation.words((of.from, Dir::Rx), of.class);
            words.find(|(_, _, quanta)| quanta.0 > 0).map(|(index, _, _)| index)
        });
        let xoff = xoffs.min();
        let slack = trial.observation.bound() * 2;
        let time = |record: Option<usize>| record.map(|record| records[record].at);
        let (marked, paused) = (time(mark), time(xoff));
        let (came, wish, text) = match first {
            First::Ecn => (ahead(marked, paused, slack), "a mark", "a mark before the first XOFF"),
            First::Pfc => {
                (ahead(paused, marked, slack), "an XOFF", "an XOFF before the first mark")
            }
        };
        let Some(came) = came else {
            return Err(
                trial.doubt(&format!("neither a mark nor an XOFF: {stream} congests nothing"))
            );
        };
        let at = |record: Option<usize>, what: &str| {
            record.map_or(format!("no {what}"), |record| {
                format!("{what} at {}", Unit::Ps.show(records[record].at.0))
            })
        };
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(1),
            formula: "",
            text: text.to_owned(),
            source: "the case: ECN is to come before PFC (Zhu et al., SIGCOMM 2015)",
        };
        let got = format!("{}, {}", at(mark, "mark"), at(xoff, "XOFF"));
        let got = Some(if came { format!("{wish} first: {got}") } else { got });
        let records = mark.into_iter().chain(xoff).collect();
        Ok(Some(Read { span: Span::exactly(u64::from(came)), want, got, records }))
    });
}

/// Whether `a` came, and surely before `b`, where stamps may be off by `slack` together; `None` when neither came.
fn ahead(a: Option<Time>, b: Option<Time>, slack: Dur) -> Option<bool> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + slack < b),
        (Some(_), None) => Some(true),
        (None, Some(_)) => Some(false),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_first_is_told_only_where_stamps_can_tell() {
        let at = |us: u64| Some(Time::ZERO + Dur::us(us));
        let slack = Dur::us(2);
        assert_eq!(ahead(at(10), at(13), slack), Some(true));
        assert_eq!(ahead(at(10), at(12), slack), Some(false));
        assert_eq!(ahead(at(13), at(10), slack), Some(false));
        assert_eq!(
            (ahead(at(1), None, slack), ahead(None, at(1), slack)),
            (Some(true), Some(false))
        );
        assert_eq!(ahead(None, None, slack), None);
    }
}
