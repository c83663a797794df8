//! Whether marks come before pauses when a queue fills up (B6).

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, looked};
use super::super::measurement::{Known, Red, Tells};
use super::super::stamps;
use super::{Doubt, NOT_OBSERVABLE, OF_QUEUE, Prediction, RARE, Span, Trial, Unit, draws, visits};
use crate::measure::buffer_ledger::BufferLedger;
use rig_capture::Dir;
use rig_lab::Part;
use rig_testcases::Measure;
use rig_testcases::Switch;
use rig_testcases::vocabulary::{ByPfc, Entry, LOAD, ValueKind, optional};
use rig_units::{Dur, Time};

/// `ecn.order`.
pub(in super::super) static ORDER: Known = Known {
    entry: Entry {
        name: "ecn.order",
        parts: Some(&[Part::Wred]),
        pfc: ByPfc::Rests,
        about: "under rising load, whether the first mark or the first XOFF comes first",
        source: "what the case wants",
        fields: &[
            LOAD,
            optional(
                "first",
                ValueKind::Word(&["ecn", "pfc"]),
                "which the case wants; absent: the mark",
            ),
        ],
        looks: &OF_QUEUE,
        ..Entry::USUAL
    },
    tells: Tells::Each("order of two frames"),
    red: Red::Mutated("marks-before-pauses-broadcom", "deviation=depth_averaged:15"),
    expected: |measure, _, _| {
        let text = match first(measure) {
            First::Ecn => "a mark before the first XOFF",
            First::Pfc => "an XOFF before the first mark",
        };
        vec![("wanted", text.to_owned())]
    },
    judge: |measure, done, judged| judge(done, measure.named("stream"), first(measure), judged),
    stamps: Some(|measure, context, script| {
        let (_, spec) = stamps::stream(script, measure.named("stream"))?;
        let frames = BufferLedger::span(context.switch(), |empty| empty.first_xoff(spec)).lo;
        let slot = stamps::speed(context, script, spec.from).slot(spec.on_wire());
        stamps::told(slot * frames, "the time in which a sender fills its group")
    }),
    ..Known::USUAL
};

/// What comes first when a queue fills up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum First {
    /// A mark: the senders slow down before anybody has to stop (B6).
    Ecn,
    /// An XOFF.
    Pfc,
}

fn first(measure: &Measure) -> First {
    match measure.arguments.word("first") {
        Some("pfc") => First::Pfc,
        _ => First::Ecn,
    }
}

/// Judges which of the two a sender meets first. A mark is taken to be made when the marked frame leaves, an XOFF when it
/// leaves: both as the rig's ports see them.
fn judge(done: &JudgeContext<'_>, stream: &str, first: First, judged: &mut Judged) {
    let declared: &Switch = done.context.switch();
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
        let marks_first =
            is_first(time(mark), time(xoff), slack).map_err(|why| trial.doubt(why))?;
        by_chance(trial, declared, index, (first, marks_first), xoff)?;
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
        let records: Vec<usize> = mark.into_iter().chain(xoff).collect();
        let looked = looked(records.len(), "first marks and XOFFs");
        Ok(TrialReading { span: Span::exactly(u64::from(came)), want, got, records, looked })
    });
}

/// Where it came the other way round than wanted, whether it had to come as wanted: marks are drawn, and by a curve that is low where XOFF comes none need
/// have come before it, or one may have.
///
/// # Errors
/// By what is declared it may have come as it did, with the chance.
fn by_chance(
    trial: &Trial,
    declared: &Switch,
    stream: u16,
    (first, marks_first): (First, bool),
    xoff: Option<usize>,
) -> Result<(), Doubt> {
    let spec = &trial.script.streams[usize::from(stream)];
    let to_queue = (0_u16..).zip(&trial.script.streams);
    let to_queue = to_queue.filter(|(_, of)| (of.to, of.class) == (spec.to, spec.class));
    let streams: Vec<u16> = to_queue.map(|(index, _)| index).collect();
    let early = |record: usize| xoff.is_none_or(|xoff| record < xoff);
    // The logarithm of the chance that none was marked before XOFF, at the most and at the least.
    let unmarked = || -> Result<(f64, f64), Doubt> {
        let draws = draws::draws(trial, declared, &streams)?;
        let before = draws.iter().filter(|draw| early(draw.record));
        let none = |share: f64| (1.0 - share).max(0.0).ln();
        Ok(before.fold((0.0, 0.0), |(most, least), draw| {
            (most + none(draw.shares.0), least + none(draw.shares.1))
        }))
    };
    let (what, chance) = match first {
        First::Ecn if !marks_first => ("no frame is marked", unmarked()?.0.exp()),
        First::Pfc if marks_first => ("a frame is marked", -unmarked()?.1.exp_m1()),
        First::Ecn | First::Pfc => return Ok(()),
    };
    if chance <= RARE.exp() {
        return Ok(());
    }
    let why = format!(
        "by what is declared {what} before the first XOFF with a chance of up to {chance:.1e}"
    );
    Err(Doubt { reason: NOT_OBSERVABLE, ..trial.doubt(&why) })
}

/// Whether `a` came before `b`, where timestamps may be off by `slack` together.
fn is_first(a: Option<Time>, b: Option<Time>, slack: Dur) -> Result<bool, &'static str> {
    match (a, b) {
        (Some(a), Some(b)) if slack > Dur::ZERO && a.0.abs_diff(b.0) <= slack.0 => {
            Err("the first mark and the first XOFF lie too close together for these stamps")
        }
        (Some(a), Some(b)) => Ok(a < b),
        (Some(_), None) => Ok(true),
        (None, Some(_)) => Ok(false),
        (None, None) => Err("neither a mark nor an XOFF: nothing is congested"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_first_is_told_only_where_stamps_can_tell() {
        let at = |us: u64| Some(Time::ZERO + Dur::us(us));
        let slack = Dur::us(2);
        assert_eq!(is_first(at(10), at(13), slack), Ok(true));
        assert_eq!(is_first(at(13), at(10), slack), Ok(false));
        assert!(
            is_first(at(10), at(12), slack).is_err() && is_first(at(12), at(10), slack).is_err()
        );
        assert_eq!(
            (is_first(at(1), None, slack), is_first(None, at(1), slack)),
            (Ok(true), Ok(false))
        );
        assert!(is_first(None, None, slack).is_err());
        // Exact timestamps tell everything.
        assert_eq!(is_first(at(10), at(11), Dur::ZERO), Ok(true));
    }
}
