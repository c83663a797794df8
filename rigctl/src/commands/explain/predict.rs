//! What each measure of a case is expected to show: the interval, the formula with this case's numbers, its source.

use super::ecn;
use super::page::Page;
use crate::runner::points::Point;
use crate::runner::session::Session;
use rig_capture::{Reading, Unit};
use rig_lab::{Action, DropBy, Reception, RuleFamily};
use rig_oracle::Prediction;
use rig_oracle::spec::pfcwd::accepts;
use rig_testcases::{Amount, Lookup, Measure, Script, StormSpec, Wanted};
use rig_units::{Dur, PortSpeed};

/// Writes one measure.
pub(super) fn measure(page: &mut Page, session: &Session<'_>, measure: &Measure, points: &[Point]) {
    let on = match measure {
        Measure::Detection { storm, stream, .. }
        | Measure::Restoration { storm, stream }
        | Measure::Fired { storm, stream, .. }
        | Measure::ActionTaken { storm, stream }
        | Measure::MacsecPfc { storm, stream }
        | Measure::Counters { storm, stream } => format!("{storm}, seen in {stream}"),
        Measure::Loss { stream, .. } => stream.clone(),
        Measure::Throughput { streams, .. } | Measure::Withheld { streams, .. } => {
            streams.join(" and ")
        }
        Measure::Coverage { storm } => storm.clone(),
        Measure::PfcSent { port, class, after, .. } => {
            let after = after.as_ref().map(|storm| format!(" once {storm} is acted on"));
            let class = class.map(|class| format!(" class {class}")).unwrap_or_default();
            format!("{port}{class}{}", after.unwrap_or_default())
        }
        Measure::PfcFormat { port }
        | Measure::MacsecCounters { port }
        | Measure::MacsecFrames { port } => port.clone(),
        Measure::Threshold(threshold) => threshold.streams().join(", then "),
        Measure::Watermarks { stream }
        | Measure::Copies { stream }
        | Measure::XoffLatency { stream }
        | Measure::Response { stream }
        | Measure::PauseLength { stream }
        | Measure::HeadroomLoss { stream, .. } => stream.clone(),
        Measure::EcnCurve { streams } => streams.join(" and "),
        Measure::EcnMarks { stream, .. }
        | Measure::EcnCounters { stream }
        | Measure::EcnOrder { stream, .. } => stream.clone(),
        Measure::PfcCounters { port, class } => format!("{port} class {class}"),
        Measure::Duty { storm, stream, .. } => format!("{storm} on {stream}"),
        Measure::Nic(measure) => measure.subjects().join(" and "),
        Measure::Config { .. } => String::new(),
    };
    page.at(4, 24, measure.name(), &on);
    match measure {
        Measure::Detection { at_most, .. } => detection(page, session, *at_most),
        Measure::Restoration { .. } => restoration(page, session),
        Measure::Fired { expect, .. } => fired(page, session, *expect, points),
        Measure::ActionTaken { .. } => page.detail("predicted", action(session)),
        Measure::Loss { stream, expect } => page.detail("wanted", &loss(session, stream, *expect)),
        Measure::Throughput { from, until, .. } => {
            let at = |amount: &Amount| {
                if let Some(text) = of_stream(session, amount) {
                    return text;
                }
                let at = amount.resolve(&session.values() as &dyn Lookup);
                at.map_or_else(|name| format!("`{name}`, which has no value"), |at| at.to_string())
            };
            let window = format!(
                "each queue its share of the port from {} to {}, in frames",
                at(from),
                at(until)
            );
            page.detail("predicted", &window);
            page.detail("formula", "F10: max-min water-filling over the declared scheduler");
        }
        Measure::Withheld { .. } => {
            page.detail(
                "predicted",
                "of each lossless source and each lossy queue, the share that it does not get",
            );
            page.detail("formula", "F11, F12: 1 - granted / offered");
        }
        Measure::Counters { .. } => {
            page.detail("predicted", "each counter of the queue grown by what the wire shows");
            page.detail("source", "COUNTERS_DB names of sonic-swss; the wire is the count");
        }
        Measure::Coverage { storm } => coverage(page, session, storm, points),
        Measure::PfcSent { expect, class, .. } => page.detail(
            "wanted",
            match expect {
                Wanted::None if class.is_none() => "no PFC frame",
                Wanted::None => "no XOFF",
                Wanted::Some | Wanted::All => "at least one XOFF",
                Wanted::Predicted => "any number of XOFFs",
            },
        ),
        Measure::PfcFormat { .. } => {
            page.detail("predicted", "every PFC frame of the device well formed");
            page.detail("source", "IEEE 802.1Q clause 36, IEEE 802.3 Annex 31D");
        }
        Measure::MacsecCounters { .. } => {
            page.detail(
                "predicted",
                "each counter of the port grown by what becomes of the frames on the wire",
            );
            page.detail("source", rig_oracle::spec::macsec::SOURCE);
        }
        Measure::MacsecFrames { .. } => {
            page.detail(
                "predicted",
                "every frame protected as declared, packet numbers one by one",
            );
            page.detail("source", "IEEE 802.1AE clause 9, 10.5");
        }
        Measure::MacsecPfc { .. } => {
            let macsec = &session.group.declared.macsec;
            let told = |reception: Reception| match reception {
                Reception::Honour => "obeyed",
                Reception::Ignore => "ignored",
                Reception::Bad => "counted as bad",
            };
            let (clear, tagged) = (told(macsec.clear()), told(macsec.encrypted()));
            let text = format!("PFC in clear is {clear}, and protected PFC that is valid {tagged}");
            page.detail("predicted", &text);
            page.detail("source", rig_oracle::spec::macsec::SOURCE);
        }
        Measure::Threshold(threshold) => {
            for predicted in crate::runner::measure::searched(session, threshold) {
                prediction(page, &predicted);
            }
        }
        Measure::EcnCurve { .. }
        | Measure::EcnMarks { .. }
        | Measure::EcnCounters { .. }
        | Measure::EcnOrder { .. } => ecn::measure(page, session, measure),
        Measure::Nic(measure) => super::nic::measure(page, session, measure),
        Measure::XoffLatency { .. } => {
            page.detail("predicted", "XOFF leaves as the crossing frame has arrived, or behind the frame that is being sent");
            page.detail("formula", "F5: which frame crosses; F3: one frame ahead at most");
        }
        Measure::Response { .. } => {
            let response = session.group.declared.response(session.group.declared.macsec.sent());
            page.detail(
                "predicted",
                &format!(
                    "the last frame starts {response} after the XOFF, up to a frame before that"
                ),
            );
            page.detail("source", "the declared response; IEEE 802.3 31B.3.7 gives the budget");
        }
        Measure::PauseLength { .. } => {
            page.detail(
                "predicted",
                "idle for q x 512 bit times less the response, up to a frame less",
            );
            page.detail("formula", "F1, F2");
        }
        Measure::Duty { .. } => {
            page.detail("predicted", "idle for (T - t) / p to T / p of the time: T the pause less the response, t a frame, p the period");
            page.detail("formula", "F2");
        }
        Measure::PfcCounters { .. } => {
            page.detail(
                "predicted",
                "each PFC frame on the wire counted once, and none of them as data",
            );
            page.detail("source", "SAI_PORT_STAT_PFC; the wire is the count");
        }
        Measure::HeadroomLoss { .. } => {
            page.detail(
                "predicted",
                "what comes after the crossing frame, less what the headroom holds of it",
            );
            page.detail("formula", "F3, F5");
        }
        Measure::Watermarks { .. } => {
            page.detail(
                "predicted",
                "each watermark as the buffer's closed form, after every number of frames",
            );
            page.detail("formula", "F7");
        }
        Measure::Copies { .. } => {
            page.detail(
                "predicted",
                "the greatest level of what was read since the last clear, over all phases of the polls",
            );
            page.detail("source", rig_oracle::spec::watermark::SOURCE);
        }
        Measure::Config { rejected } => config(page, session, *rejected),
    }
}

/// An instant that depends on how long a counted stream takes to send, which depends on the port.
fn of_stream(session: &Session<'_>, amount: &Amount) -> Option<String> {
    let Amount::Of { of, times, plus, .. } = amount else { return None };
    session.case.streams.contains_key(of).then(|| {
        let times = Unit::Ppm.show(*times);
        format!("{times} x the time that {of} takes to send + {plus}")
    })
}

/// Interval, formula and source of a prediction.
fn prediction(page: &mut Page, prediction: &Prediction) {
    let Prediction { unit, span, formula, text, source } = prediction;
    let reading = Reading { unit: *unit, span: *span, frames: Vec::new() };
    page.detail("predicted", &reading.to_string());
    page.detail("formula", &format!("{formula}: {text}"));
    page.detail("source", source);
}

fn detection(page: &mut Page, session: &Session<'_>, at_most: Option<Dur>) {
    match session.rule.predicted_detection(&session.stimulus) {
        Some(predicted) => prediction(page, &predicted),
        None => page.detail("predicted", "never: to this rule an empty queue is not stormed"),
    }
    if let Some(limit) = at_most {
        page.detail("wanted", &format!("at most {limit}: the case asks for more than the oracle"));
    }
    page.detail("resolution", &session.rule.detection_resolution());
}

fn restoration(page: &mut Page, session: &Session<'_>) {
    let (rule, tail) = (session.rule, session.names.tail);
    match rule.predicted_restoration(tail, &session.stimulus) {
        Some(predicted) => prediction(page, &predicted),
        None => page.detail("predicted", "never: no restoration time is configured"),
    }
    if rule.family == RuleFamily::IntervalCounter
        && let Some(predicted) = rule.predicted_recovery()
    {
        page.detail("recovery", &predicted.text);
    }
    if let Some(resolution) = rule.restoration_resolution() {
        page.detail("resolution", &resolution);
    }
}

/// One storm length, or the ends and the middle of a ramp of them.
fn fired(page: &mut Page, session: &Session<'_>, expect: Option<bool>, points: &[Point]) {
    if let Some(expect) = expect {
        page.detail("wanted", if expect { "every storm detected" } else { "no storm detected" });
    }
    let shown = match points {
        [] => Vec::new(),
        [only] => vec![only],
        [first, .., last] => vec![first, &points[points.len() / 2], last],
    };
    for (index, point) in shown.iter().enumerate() {
        let Some(length) = point.pause.or_else(|| pause_of(session, point)) else { continue };
        let Prediction { span, formula, text, source, .. } =
            session.rule.predicted_chance(length, &session.stimulus);
        let chance = Reading { unit: Unit::Ppm, span, frames: Vec::new() };
        page.detail("predicted", &format!("detected with probability {chance}"));
        page.detail("formula", &format!("{formula}: {text}"));
        if index + 1 == shown.len() {
            page.detail("source", source);
        }
    }
    if shown.len() > 1 {
        page.detail("resolution", &session.rule.detection_resolution());
    }
}

/// The pause that the first storm of the script makes.
fn pause_of(session: &Session<'_>, point: &Point) -> Option<Dur> {
    let script = session.script(point).ok()?;
    let mut steps = script.steps.iter();
    let start = steps.find(|step| matches!(step.action, rig_testcases::Action::StartStorm(_)))?;
    let stop = steps.find(|step| matches!(step.action, rig_testcases::Action::StopStorm(_)));
    let run = stop.map_or(script.length, |stop| stop.at).0.checked_sub(start.at.0 + 1)?;
    let cadence = session.cadence()?;
    Some(cadence.every * (run / cadence.every.0) + cadence.pause)
}

fn action(session: &Session<'_>) -> &'static str {
    match session.group.declared.pfcwd.action {
        Action::Drop => "each frame that meets the stormed queue is dropped",
        Action::Forward => "each frame that meets the stormed queue is sent in spite of the pause",
        Action::Alert => "each frame that meets the stormed queue stays until the pause is over",
    }
}

fn loss(session: &Session<'_>, stream: &str, expect: Wanted) -> String {
    match expect {
        Wanted::None => "no frame lost".to_owned(),
        Wanted::Some => "at least one frame lost".to_owned(),
        Wanted::All => "every frame lost".to_owned(),
        Wanted::Predicted => {
            let pfcwd = &session.group.declared.pfcwd;
            let of = session.case.streams.get(stream);
            let meets = session.case.storms.values().any(|storm| {
                of.is_some_and(|of| {
                    let enters = of.from == storm.from && pfcwd.drop_by == DropBy::Acl;
                    storm.classes.contains(&of.class) && (of.to == storm.from || enters)
                })
            });
            if meets && pfcwd.action == Action::Drop {
                "lost is what reaches the stormed queue from detection to restoration".to_owned()
            } else {
                "no frame lost: none of it meets the drop action".to_owned()
            }
        }
    }
}

fn coverage(page: &mut Page, session: &Session<'_>, name: &str, points: &[Point]) {
    let script = points.first().and_then(|point| session.script(point).ok());
    let Some(script) = script else { return };
    let Some(spec) = script.storms.iter().find(|spec| spec.name == name) else { return };
    let Some(speed) = speed_of(session, &script, spec) else { return };
    let (pause, every) = (speed.pause(spec.quanta), spec.every);
    let share = pause.scaled(1_000_000, every.0.max(pause.0)).0;
    let (percent, rest) = (share / 10_000, share / 100 % 100);
    page.detail("predicted", &format!("paused {percent}.{rest:02} % of the time"));
    page.detail(
        "formula",
        &format!("F1: a pause of {} every {}: min(1, T/t)", super::time(pause), super::time(every)),
    );
    page.detail("source", "IEEE 802.3 Annex 31B: a quantum is 512 bit times");
}

fn speed_of(session: &Session<'_>, script: &Script, spec: &StormSpec) -> Option<PortSpeed> {
    session.group.declared.port_speed(script.dut_ports[usize::from(spec.from)])
}

fn config(page: &mut Page, session: &Session<'_>, rejected: bool) {
    page.detail("wanted", if rejected { "each one refused" } else { "each one accepted" });
    for setting in &session.case.configure {
        let declared = session.group.declared.with(setting).map_err(|bad| bad.to_string());
        let answer = declared.and_then(|declared| {
            accepts(&declared.pfcwd, session.rule.family).map_err(ToString::to_string)
        });
        let answer = match answer {
            Ok(()) => "accepted".to_owned(),
            Err(why) => format!("refused: {why}"),
        };
        let shown = super::settings(std::slice::from_ref(setting));
        page.detail("predicted", &format!("{shown} {answer}"));
    }
    page.detail("source", "sonic-swss pfcwdorch.cpp, sonic-pfcwd.yang");
}
