//! Whether marks come before pauses when a queue fills up (B6).

use super::{Done, First, Judged, Prediction, Read, Span, Unit, visits};
use rig_capture::Dir;
use rig_testcases::Declared;
use rig_units::Dur;

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
        let marks_first = match (mark, xoff) {
            (Some(mark), Some(xoff)) => {
                let (mark, xoff) = (records[mark].at, records[xoff].at);
                if mark.0.abs_diff(xoff.0) <= slack.0 && slack > Dur::ZERO {
                    return Err(trial.doubt(
                        "the first mark and the first XOFF lie too close together for these stamps",
                    ));
                }
                mark < xoff
            }
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => {
                let why = format!("neither a mark nor an XOFF: {stream} congests nothing");
                return Err(trial.doubt(&why));
            }
        };
        let (came, wish, text) = match first {
            First::Ecn => (marks_first, "a mark", "a mark before the first XOFF"),
            First::Pfc => (!marks_first, "an XOFF", "an XOFF before the first mark"),
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
