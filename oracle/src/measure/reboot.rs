//! How long a reboot keeps frames from passing (row 15): what of a stream that nobody pauses is lost, and when.

use super::judge_context::{JudgeContext, TrialReading, show};
use super::judged::{Judged, Unread};
use super::measurement::{Known, Red, Tells, by_source};
use crate::Prediction;
use crate::trials::trial::Trial;
use crate::verdict::Looked;
use rig_capture::fate::{Delays, Fates};
use rig_capture::passage::Passage;
use rig_capture::{Dir, Span, Unit};
use rig_lab::{Part, Reboot, RebootKind};
use rig_testcases::case::CaseAction;
use rig_testcases::vocabulary::{Entry, Looks, STREAM};
use rig_testcases::{Action, DeviceVerb, Measure};
use rig_units::{Dur, Time};

/// Where it says how long that is.
const SOURCE: &str = "what the device declares of its reboots";

/// `reboot.outage`.
pub(super) static OUTAGE: Known = Known {
    entry: Entry {
        name: "reboot.outage",
        parts: Some(&[Part::Reboot]),
        loses: true,
        about: "for how long a fast or cold reboot lets no frame of a stream pass, by the longest of the holes in it; all of them before the software is back. Without one nothing shows that the device rebooted",
        source: "row 15",
        fields: &[STREAM],
        looks: &[Looks::FOLLOWS],
        ..Entry::USUAL
    },
    tells: Tells::Width("the time from one frame of the stream to the next"),
    red: Red::Mutated("fast-reboot-is-short-broadcom", "reboot.fast_outage=x4"),
    expected: |_, context, _| {
        let asked = context.case.steps.iter().find_map(|step| match step.what {
            CaseAction::Device(DeviceVerb::Reboot(kind)) => Some(kind),
            _ => None,
        });
        let declared = &context.switch().reboot;
        let promised = asked.and_then(|kind| promised(declared, kind));
        let text = match promised {
            None => "nothing: no step reboots the device, or it does not say how long that takes"
                .to_owned(),
            Some((outage, back)) => format!(
                "nothing passes for {outage} at most, and all does once the software is back after {back}"
            ),
        };
        by_source(text, SOURCE)
    },
    judge: |measure, done, judged| judge(measure, done, judged),
    ..Known::USUAL
};

/// For how long nothing passes at most, and by when the software is back.
fn promised(declared: &Reboot, kind: RebootKind) -> Option<(Dur, Dur)> {
    declared.outage(kind).zip(declared.back(kind))
}

fn judge(measure: &Measure, done: &JudgeContext<'_>, judged: &mut Judged) {
    let stream = measure.named("stream");
    done.each("reboot.outage", stream, judged, |trial| read(done, trial, stream));
}

/// When the script reboots the device, and how.
fn rebooted(trial: &Trial) -> Option<(Time, RebootKind)> {
    trial.script.steps.iter().find_map(|step| match step.action {
        Action::Device(DeviceVerb::Reboot(kind)) => Some((Time::ZERO + step.at, kind)),
        _ => None,
    })
}

fn read(done: &JudgeContext<'_>, trial: &Trial, stream: &str) -> Result<TrialReading, Unread> {
    let declared = done.context.switch();
    let (at, kind) = rebooted(trial).ok_or_else(|| trial.doubt("no step reboots the device"))?;
    let Some((most, back)) = promised(&declared.reboot, kind) else {
        return Err(trial.doubt("the device does not say how long a reboot takes").into());
    };
    // As the rig's clock may show them.
    let apart = done.context.apart();
    let (longest_outage, latest_back) = (apart.most(most), apart.most(back));
    let observation = &trial.observation;
    let (index, spec) = trial.stream(stream)?;
    let delays = Delays::from(done.context.seen());
    let fates = Fates::of(observation, &trial.script, index, delays);
    if fates.sampled {
        return Err(trial.doubt(&format!("not every frame of {stream} was recorded")).into());
    }
    if observation.words((spec.to, Dir::Tx), spec.class).next().is_some() {
        return Err(trial.doubt(&format!("{stream} was paused on the way")).into());
    }
    let all = &fates.passages.all;
    let holes: Vec<&[Passage]> = all
        .chunk_by(|one, next| fates.lost(one) == fates.lost(next))
        .filter(|of| fates.lost(&of[0]))
        .collect();
    let length = |hole: &&[Passage]| between(hole[0].sent.at, hole[hole.len() - 1].sent.at);
    // A chip that does not begin anew loses nothing, and one that is not told to, neither.
    let (Some(first), Some(last)) = (holes.first(), holes.last().and_then(|hole| hole.last()))
    else {
        let why =
            format!("no frame of {stream} is lost, and nothing shows that the device rebooted");
        return Err(trial.doubt(&why).into());
    };
    let (first, longest) =
        (&first[0], holes.iter().max_by_key(|hole| length(hole)).unwrap_or(first));
    let bound = observation.bound();
    // A frame that was in the chip when that stopped had come before.
    let blur = bound * 2 + declared.transit().most();
    // It is told to at the step, and has done so when it answers.
    let until = at + observation.counters.took + latest_back;
    let want = Prediction {
        unit: Unit::Ps,
        span: Span { lo: 0, hi: longest_outage.0 },
        formula: "",
        text: format!(
            "nothing passes for {most} at most, and all does again once the software is back, {back} after the reboot at the latest"
        ),
        source: SOURCE,
    };
    let lost: usize = holes.iter().map(|hole| hole.len()).sum();
    let looked =
        Looked { count: u64::try_from(lost).unwrap_or(u64::MAX), of: "frames that were lost" };
    let records: Vec<usize> = longest.iter().map(|passage| passage.sent.record).collect();
    let (begins, ends) = (longest[0].seq, longest[longest.len() - 1].seq);
    let before = all.iter().rev().find(|one| one.seq < begins);
    let after = all.iter().find(|one| one.seq > ends);
    let from = before.map_or(Time::ZERO, |one| one.sent.at);
    let to = after.map_or(Time::ZERO + observation.length, |one| one.sent.at);
    let span =
        Span { lo: length(longest).saturating_sub(blur).0, hi: (between(from, to) + blur).0 };
    let cable = observation.ports[usize::from(spec.from)].cable;
    let early = first.sent.at + cable + blur < at;
    let late = (last.sent.at + cable).saturating_sub(bound) > until;
    let when = format!(
        "{lost} frames lost in {} gap{}, from {} after the reboot to {}",
        holes.len(),
        if holes.len() == 1 { "" } else { "s" },
        show_from(at, first.sent.at),
        show_from(at, last.sent.at)
    );
    let (span, got) = if early || late {
        let why =
            if early { "some before the reboot" } else { "some when the software is to be back" };
        (Span::exactly(u64::MAX), format!("{when}: {why}"))
    } else {
        (span, format!("nothing passes for {}: {when}", show(Unit::Ps, span)))
    };
    Ok(TrialReading { span, want, got: Some(got), records, looked })
}

/// How much later the second is.
const fn between(one: Time, other: Time) -> Dur {
    Dur(other.0.saturating_sub(one.0))
}

/// How long after the reboot that is.
fn show_from(at: Time, instant: Time) -> String {
    instant.since(at).map_or_else(|| format!("-{}", between(instant, at)), |dur| dur.to_string())
}
