//! Early detection: what becomes of each frame of a queue at the depth that it sees.

use super::judge_context::{JudgeContext, TrialReading, wanted};
use super::judged::{Judged, looked};
use super::limits;
use super::measurement::{Known, Red, Tells};
use crate::Prediction;
use crate::spec::wred::{self, Class, Fate};
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::analyse::{self, ActionView, Passed, Visit};
use rig_capture::{Span, Unit};
use rig_frames::ip::Ecn;
use rig_lab::Part;
use rig_testcases::vocabulary::{Entry, Looks, STREAM, StreamEnds, ValueKind, required};
use rig_testcases::{Action, Case, Measure, Script, StreamRate, StreamSpec, Switch, Tap, Wanted};

mod averages;
pub(super) mod counters;
pub(super) mod curve;
mod deep;
mod draws;
pub(super) mod order;

/// Every stream to the queues of those that a measure names.
fn to_queue<'a>(measure: &'a Measure, case: &'a Case) -> Vec<&'a str> {
    let named = measure.streams().into_iter().filter_map(|name| case.streams.get(name));
    let queues: Vec<_> = named.map(|of| (&of.to, of.class)).collect();
    let to = case.streams.iter().filter(|(_, of)| queues.contains(&(&of.to, of.class)));
    to.map(|(name, _)| name.as_str()).collect()
}

/// Of a load only a sample is recorded unless every frame is asked for.
fn loads_to_queue<'a>(measure: &'a Measure, case: &'a Case) -> Vec<&'a str> {
    let is_load = |name: &&str| {
        case.streams.get(*name).is_some_and(|of| matches!(of.rate, StreamRate::Load(_)))
    };
    to_queue(measure, case).into_iter().filter(is_load).collect()
}

/// What has to be seen of a queue.
const OF_QUEUE: [Looks; 2] = [
    Looks::follows(to_queue),
    Looks::of(loads_to_queue, StreamEnds::Both, Tap::All, "looks at every frame of `{}`"),
];

/// `ecn.marks`.
pub(super) static MARKS: Known = Known {
    entry: Entry {
        name: "ecn.marks",
        parts: Some(&[Part::Wred]),
        about: "how many frames of a stream arrive marked",
        source: "what the case wants",
        fields: &[
            STREAM,
            required(
                "expect",
                ValueKind::Wanted(&[
                    ("none", Wanted::None),
                    ("some", Wanted::Some),
                    ("all", Wanted::All),
                ]),
                "none, some or all",
                "how many the case wants",
            ),
        ],
        looks: &OF_QUEUE,
        ..Entry::USUAL
    },
    tells: Tells::Each("frame"),
    red: Red::Mutated("marked-before-stays-marked-broadcom", "deviation=clears_ce"),
    expected: |measure, _, _| vec![("wanted", marked(measure.wanted("expect"), u64::MAX).text)],
    judge: |measure, done, judged| {
        marks(done, measure.named("stream"), measure.wanted("expect"), judged);
    },
    limits: |measure, context, script, observation| {
        if measure.wanted("expect") != Wanted::None {
            return Vec::new();
        }
        let named = script.streams.iter().filter(|spec| spec.name == measure.named("stream"));
        named.filter_map(|spec| limits::filling(context, script, observation, spec)).collect()
    },
    unpromised: Some(deep::by_itself),
    ..Known::USUAL
};

/// How many of all frames that arrive are to be marked.
fn marked(expect: Wanted, all: u64) -> Prediction {
    match expect {
        Wanted::None => wanted(Span::exactly(0), "no frame marked"),
        Wanted::All => wanted(Span::exactly(all), "every frame marked"),
        Wanted::Some | Wanted::Predicted => {
            wanted(Span { lo: 1, hi: all }, "at least one frame marked")
        }
    }
}

/// Judges how many frames of a stream arrive marked.
fn marks(done: &JudgeContext<'_>, stream: &str, expect: Wanted, judged: &mut Judged) {
    done.each("ecn.marks", stream, judged, |trial| {
        let (index, _) = trial.stream(stream)?;
        let visits = visits(trial, index, done.context.switch())?;
        let passed = visits.iter().filter(|visit| visit.stream == index);
        let passed: Vec<&Passed> = passed.filter_map(|visit| visit.passed.as_ref()).collect();
        let (marks, unmarked): (Vec<&Passed>, Vec<&Passed>) =
            passed.iter().partition(|passed| passed.marked);
        let (all, count) = (passed.len() as u64, marks.len() as u64);
        if all == 0 {
            return Err(trial.doubt(&format!("no frame of {stream} arrived")).into());
        }
        if expect == Wanted::Some && count == 0 {
            let declared = done.context.switch();
            let drops = match draws::Rule::of(declared, &trial.script, index).fate {
                Fate::Mark => None,
                Fate::Drop => Some("and to mark none"),
                Fate::MarkOrDrop => Some("from kmax on, and none may have been marked below"),
            };
            if let Some(how) = drops {
                let why = format!("early detection is declared to drop frames of {stream}, {how}");
                return Err(Doubt { reason: NOT_OBSERVABLE, ..trial.doubt(&why) }.into());
            }
            // What goes by the depth itself meets its curve wherever the case takes it, unless what it keeps is rounded to steps, the least of its chances to 0.
            if declared.wred.weight > 0 || declared.wred.rounds() {
                untaken(trial, declared, index)?;
            }
        }
        let want = marked(expect, all);
        let odd = if expect == Wanted::None { marks } else { unmarked };
        let records = odd.iter().map(|passed| passed.record).collect();
        let got = Some(format!("{count} of {all} frames marked"));
        let looked = looked(passed.len(), "frames that arrived");
        Ok(TrialReading { span: Span::exactly(count), want, got, records, looked })
    });
}

/// What is not to be told of what early detection does.
const NOT_OBSERVABLE: &str = "not-observable";

/// The logarithm of a chance that no verdict is built on: once in five hundred million trials.
const RARE: f64 = -20.0;

/// Where no frame of a stream was marked, or none dropped, whether that need not have been: an average may stay below kmin all through a load.
///
/// # Errors
/// By what is declared none was likely enough to be, with the chance.
pub(super) fn untaken(trial: &Trial, declared: &Switch, stream: u16) -> Result<(), Doubt> {
    let draws = draws::draws(trial, declared, &[stream])?;
    let none: f64 = draws.iter().map(|draw| (1.0 - draw.shares.0).max(0.0).ln()).sum();
    if none <= RARE {
        return Ok(());
    }
    let why = format!(
        "none of {} frames of {} is certain to have met enough of a queue: that none is taken has a chance of up to {:.1e}",
        draws.len(),
        trial.script.streams[usize::from(stream)].name,
        none.exp()
    );
    Err(Doubt { reason: NOT_OBSERVABLE, ..trial.doubt(&why) })
}

/// Whether early detection may have dropped so many frames of a stream as were lost: each of them where it is declared to have a chance of that, and so
/// many that they are no rarity by those chances. Chernoff's bound holds whatever the order, as each chance is the greatest that it may have been.
pub(super) fn may_take(trial: &Trial, declared: &Switch, stream: u16, lost: u64) -> bool {
    match draws::Rule::of(declared, &trial.script, stream).fate {
        Fate::Mark => false,
        Fate::Drop => {
            draws::draws(trial, declared, &[stream]).is_ok_and(|draws| explain(&draws, lost))
        }
        // There it surely drops: as many as were lost there may be.
        Fate::MarkOrDrop => {
            draws::lost_beyond(trial, declared, stream).is_ok_and(|most| lost <= most)
        }
    }
}

fn explain(draws: &[draws::Draw], lost: u64) -> bool {
    let chance = |draw: &draws::Draw| draw.shares.1;
    let taken = draws.iter().filter(|draw| draw.taken && chance(draw) > 0.0).count();
    if u64::try_from(taken).unwrap_or(u64::MAX) < lost {
        return false;
    }
    let expected: f64 = draws.iter().map(chance).sum();
    let lost = f64::from(u32::try_from(lost).unwrap_or(u32::MAX));
    lost <= expected || lost - expected + lost * (expected / lost).ln() > RARE
}

/// What is declared when a stream starts: the case may have changed settings on the way.
fn declared_at(declared: &Switch, script: &Script, stream: u16) -> Switch {
    let before = script.steps.iter().take_while(|step| step.action != Action::StartStream(stream));
    before.fold(declared.clone(), |declared, step| match &step.action {
        Action::Configure(setting) => declared.with(setting).unwrap_or(declared),
        _ => declared,
    })
}

/// How early detection looks at the frames of a stream.
pub fn class(declared: &Switch, spec: &StreamSpec) -> Class {
    Class { color: declared.qos.color(spec.dscp), capable: spec.ecn != Ecn::NotEct }
}

/// Every frame that a trial sent to the queue of a stream.
fn visits(trial: &Trial, stream: u16, declared: &Switch) -> Result<Vec<Visit>, Doubt> {
    let (observation, script) = (&trial.observation, &trial.script);
    trial.taken()?;
    let spec = &script.streams[usize::from(stream)];
    let weigh = |size| wred::step(&declared.buffer, &declared.wred, size);
    let visits = analyse::depths(
        observation,
        script,
        (spec.to, spec.class),
        declared.switching_mode,
        &weigh,
    );
    let visits = visits.map_err(|why| trial.doubt(&why))?;
    // A frame that is still under way is neither lost nor unmarked.
    let view = ActionView::from(declared);
    let same = (0_u16..).zip(&script.streams);
    for (index, _) in same.filter(|(_, of)| (of.to, of.class) == (spec.to, spec.class)) {
        let open = analyse::loss(observation, script, index, view.delays()).open;
        if open > 0 {
            return Err(trial.doubt(&format!("{open} frames had not arrived when it ended")));
        }
    }
    Ok(visits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_early_detections_where_it_may_drop_each_of_them_and_so_many() {
        let draw = |(taken, most): (bool, f64)| draws::Draw {
            trial: 1,
            record: 0,
            depth: Span::exactly(0),
            other: Span::exactly(0),
            shares: (0.0, most),
            queued: (0, 0),
            met: None,
            taken,
            lost: taken,
            beyond: (false, false),
        };
        let of = |all: &[(bool, f64)], lost| {
            explain(&all.iter().copied().map(draw).collect::<Vec<_>>(), lost)
        };
        assert!(of(&[(true, 0.5), (false, 0.5)], 1));
        // One of the two was lost where there is no chance of it, and one of them is no draw at all.
        assert!(!of(&[(true, 0.5), (true, 0.0)], 2));
        assert!(!of(&[(true, 0.5), (false, 0.5)], 2));
        // Ten of a thousand at one in a thousand each are rare: 9 + 10 ln(1 / 10) is -14; twenty are none: -41.
        let thousand = |lost| {
            let all: Vec<_> = (0..1_000).map(|n| (n < lost, 0.001)).collect();
            of(&all, lost)
        };
        assert_eq!([1, 10, 20].map(thousand), [true, true, false]);
    }
}
