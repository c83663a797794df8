//! What shows that a device rebooted (row 15). How long a fast or cold one keeps frames from passing: what of a stream that nobody pauses
//! is lost, and when. Of a warm one the wire shows nothing: that it was is what the device says once it is back.

use super::checks;
use super::judge_context::{JudgeContext, TrialReading, show};
use super::judged::{Judged, Unread, looked};
use super::measurement::{Known, Needs, Red, Tells, by_source};
use crate::Prediction;
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use crate::verdict::Looked;
use rig_capture::fate::{Delays, Fates};
use rig_capture::passage::Passage;
use rig_capture::{Dir, Observation, Span, Unit};
use rig_lab::{Part, Reboot, RebootKind};
use rig_testcases::case::CaseAction;
use rig_testcases::vocabulary::{Entry, Looks, STREAM};
use rig_testcases::{Action, DeviceVerb, Measure, Script};
use rig_units::{Dur, Time};

/// Where it says how long that is.
const SOURCE: &str = "what the device declares of its reboots";

/// `reboot.outage`.
pub(super) static OUTAGE: Known = Known {
    entry: Entry {
        name: "reboot.outage",
        parts: Some(&[Part::Reboot]),
        loses: true,
        about: "for how long a fast or cold reboot lets no frame of a stream pass, from the first frame of it that is lost to the last; all of that before the software is back. Without a loss nothing shows that the device rebooted",
        source: "row 15",
        fields: &[STREAM],
        looks: &[Looks::FOLLOWS],
        ..Entry::USUAL
    },
    tells: Tells::Width("the time from one frame of the stream to the next"),
    red: Red::Mutated("fast-reboot-is-short-broadcom", "reboot.fast_outage=x4"),
    expected: |_, context, _| {
        let declared = &context.switch().reboot;
        let promised = asked(context).and_then(|kind| promised(declared, kind));
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
    over_memories: |_| true,
    ..Known::USUAL
};

/// `reboot.cause`.
pub(super) static CAUSE: Known = Known {
    entry: Entry {
        name: "reboot.cause",
        parts: Some(&[Part::Reboot]),
        about: "how often the device says that it has come back from a reboot, of each kind: as often as it was told to. Of a warm one, in which everything passes, nothing else shows that it was",
        source: "row 15",
        ..Entry::USUAL
    },
    needs: |_| Needs::Counters,
    tells: Tells::Each("reboot"),
    red: Red::Mutated("warm-reboot-passes-frames-broadcom", "deviation=reboot_ignored"),
    on: |_| THE_DEVICE.to_owned(),
    expected: |_, context, _| {
        let text = match asked(context) {
            None => "nothing: no step reboots the device".to_owned(),
            Some(kind) => format!("`{}` one more at the trial's end", kind.counter()),
        };
        by_source(text, CAUSES)
    },
    judge: |_, done, judged| {
        done.each("reboot.cause", THE_DEVICE, judged, |trial| cause(done, trial));
    },
    over_memories: |_| true,
    ..Known::USUAL
};

/// What that is about.
const THE_DEVICE: &str = "the device";
/// Where it says what it was rebooted by.
const CAUSES: &str = "REBOOT_CAUSE of SONiC's STATE_DB";

/// How the case reboots the device, where it does.
fn asked(context: &Context<'_>) -> Option<RebootKind> {
    context.case.steps.iter().find_map(|step| match step.what {
        CaseAction::Device(DeviceVerb::Reboot(kind)) => Some(kind),
        _ => None,
    })
}

/// For how long nothing passes at most, and by when the software is back.
fn promised(declared: &Reboot, kind: RebootKind) -> Option<(Dur, Dur)> {
    declared.outage(kind).zip(declared.back(kind))
}

fn judge(measure: &Measure, done: &JudgeContext<'_>, judged: &mut Judged) {
    let stream = measure.named("stream");
    done.each("reboot.outage", stream, judged, |trial| read(done, trial, stream));
}

/// When the script reboots the device, and how; nothing where it does so twice: what is said here is said of one reboot.
fn rebooted(script: &Script) -> Option<(Time, RebootKind)> {
    let mut all = script.steps.iter().filter_map(|step| match step.action {
        Action::Device(DeviceVerb::Reboot(kind)) => Some((Time::ZERO + step.at, kind)),
        _ => None,
    });
    all.next().filter(|_| all.next().is_none())
}

fn read(done: &JudgeContext<'_>, trial: &Trial, stream: &str) -> Result<TrialReading, Unread> {
    let declared = done.context.switch();
    let (at, kind) = rebooted(&trial.script).ok_or_else(|| {
        trial.doubt(
            "it does not reboot the device exactly once, and nothing is said of several reboots",
        )
    })?;
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
    // A chip that does not begin anew loses nothing, and one that is not told to, neither.
    let (Some(first), Some(last)) = (holes.first(), holes.last().and_then(|hole| hole.last()))
    else {
        let why =
            format!("no frame of {stream} is lost, and nothing shows that the device rebooted");
        return Err(trial.doubt(&why).into());
    };
    let first = &first[0];
    let bound = observation.bound();
    // A frame that was in the chip when that stopped had come before.
    let blur = bound * 2 + declared.transit().most();
    // It is told to at the step, and has done so when it answers.
    let until = at + observation.counters.obeyed + latest_back;
    let want = Prediction {
        unit: Unit::Ps,
        span: Span { lo: 0, hi: longest_outage.0 },
        formula: "",
        text: format!(
            "no frame is lost later than {most} after the first that is, and none once the software is back, {back} after the reboot at the latest"
        ),
        source: SOURCE,
    };
    let lost: usize = holes.iter().map(|hole| hole.len()).sum();
    let looked =
        Looked { count: u64::try_from(lost).unwrap_or(u64::MAX), of: "frames that were lost" };
    let records = holes.iter().flat_map(|hole| hole.iter()).map(|one| one.sent.record).collect();
    let before = all.iter().rev().find(|one| one.seq < first.seq);
    let after = all.iter().find(|one| one.seq > last.seq);
    let from = before.map_or(Time::ZERO, |one| one.sent.at);
    let to = after.map_or(Time::ZERO + observation.length, |one| one.sent.at);
    let lasted = between(first.sent.at, last.sent.at);
    let span = Span { lo: lasted.saturating_sub(blur).0, hi: (between(from, to) + blur).0 };
    let cable = observation.ports[usize::from(spec.from)].cable;
    let early = first.sent.at + cable + blur < at;
    let late = fates.way.arrival(last.sent.at).lo > until.0;
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
        (span, format!("from the first loss to the last {}: {when}", show(Unit::Ps, span)))
    };
    Ok(TrialReading { span, want, got: Some(got), records, looked })
}

fn cause(done: &JudgeContext<'_>, trial: &Trial) -> Result<TrialReading, Unread> {
    let (at, kind) = rebooted(&trial.script).ok_or_else(|| {
        trial.doubt(
            "it does not reboot the device exactly once, and nothing is said of several reboots",
        )
    })?;
    let Observation { counters, length, .. } = &trial.observation;
    let told = |of: RebootKind| Span::exactly(u64::from(of == kind));
    let others = RebootKind::ALL.into_iter().filter(|of| *of != kind);
    let others = others.filter_map(|of| checks::grown_if_there(counters, &of.counter(), told(of)));
    let own = checks::grown(counters, &kind.counter(), told(kind));
    let short = own.got.is_some_and(|got| got < own.want.lo);
    let checks: Vec<_> = core::iter::once(own).chain(others).collect();
    // What has not come back when it is asked has not said so yet.
    let back = done.context.switch().reboot.back(kind);
    let until = back.map(|back| at + counters.obeyed + done.context.apart().most(back));
    if short && until.is_none_or(|until| Time::ZERO + *length < until) {
        return Err(trial.doubt("it was asked before its software is to be back").into());
    }
    checks::read(trial, &checks, looked(1, "orders to reboot"), CAUSES)
}

/// Why a trial does not tell how a device is once it is back: it was told to reboot so late that it may not have been when what is sent
/// to it then began.
pub(super) fn overrun(
    context: &Context<'_>,
    script: &Script,
    observation: &Observation,
) -> Option<String> {
    let (at, kind) = rebooted(script)?;
    let back = context.seen().switch()?.reboot.back(kind)?;
    let due = at + context.apart().most(back);
    let starts = |action: &Action| {
        matches!(action, Action::StartStream(_) | Action::StartStorm(_) | Action::Pfc(_))
    };
    let behind = script.steps.iter().filter(|step| starts(&step.action));
    let behind = behind.filter_map(|step| (Time::ZERO + step.at).since(due)).min()?;
    let took = observation.counters.obeyed;
    (took > behind).then(|| {
        let [took, behind] = [took, behind].map(|time| Unit::Ps.show(time.0));
        format!(
            "the device took {took} to take the order to reboot, and what is sent to it once it is back begins {behind} after that"
        )
    })
}

/// How much later the second is.
const fn between(one: Time, other: Time) -> Dur {
    Dur(other.0.saturating_sub(one.0))
}

/// How long after the reboot that is.
fn show_from(at: Time, instant: Time) -> String {
    instant.since(at).map_or_else(|| format!("-{}", between(instant, at)), |dur| dur.to_string())
}
