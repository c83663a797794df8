//! What an XOFF does to a port of the device that has a full load to send: how soon it stops, for how long, and what share
//! of the time frames with gaps between them take from it (F1, F2).

use super::judge_context::{JudgeContext, TrialReading};
use super::judged::{Judged, looked};
use super::measurement::{Known, Red, Tells, by_formula, by_source};
use super::stamps::{self, Stamps};
use super::throughput::sends_all_the_time;
use super::unfilled;
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::spec::pause::{Periodic, pause_time};
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use core::cell::Cell;
use rig_capture::analyse::{self, Stop};
use rig_capture::{Dir, Span, Unit};
use rig_lab::{Form, Part};
use rig_testcases::vocabulary::{
    ByPfc, Entry, FROM, Looks, STORM, STREAM, StreamEnds, UNTIL, named,
};
use rig_testcases::{Measure, Script, StreamSpec, Tap};
use rig_units::{Dur, PFC_BUDGETS, PortSpeed, Ppm, Quanta, Within};

/// Every frame of the load, where it arrives.
const EVERY_FRAME_OUT: Looks =
    Looks::of(named, StreamEnds::Out, Tap::All, "follows every frame of `{}`");

/// `pfc.response`.
pub(super) static RESPONSE: Known = Known {
    entry: Entry {
        name: "pfc.response",
        parts: Some(&[Part::Pfc]),
        pfc: ByPfc::Streams,
        about: "from an XOFF, sent by hand to the port that a full load leaves the device by, to the last frame that still starts",
        source: "the declared response",
        fields: &[STREAM],
        looks: &[EVERY_FRAME_OUT],
        ..Entry::USUAL
    },
    tells: Tells::Width("the timestamps of both frames; a frame of the load"),
    red: Red::Mutated("response-time-broadcom", "pfc.response=x1.1"),
    expected: |_, context, _| {
        let declared = context.switch();
        let response = declared.response(declared.macsec.sent());
        by_source(
            format!("the last frame starts {response} after the XOFF, up to a frame before that"),
            "the declared response; IEEE 802.3 31B.3.7 gives the budget",
        )
    },
    judge: |measure, done, judged| response(done, measure.named("stream"), judged),
    stamps: Some(|measure, context, script| {
        let (_, spec) = stamps::stream(script, measure.named("stream"))?;
        let speed = stamps::speed(context, script, spec.to);
        let declared = context.switch();
        let most = declared.response(declared.macsec.sent()).most();
        let budget = PFC_BUDGETS.iter().rev().find(|(bps, _)| *bps <= speed.bps());
        let budget = budget.map_or(Dur::ZERO, |(_, quanta)| pause_time(*quanta, speed));
        // One that takes four times as long is told; one that takes no time at all does no harm.
        let late = most.max(budget) * 2;
        let late = stamps::told(
            late,
            "twice the longest response that is declared, or that the standard allows",
        );
        stamps::finest([late, held(measure, context, script)])
    }),
    at_line_rate: true,
    unpromised: Some(unfilled::of_stream),
    over_memories: |_| true,
    ..Known::USUAL
};

/// `pfc.pause`.
pub(super) static PAUSE: Known = Known {
    entry: Entry {
        name: "pfc.pause",
        parts: Some(&[Part::Pfc]),
        pfc: ByPfc::Streams,
        about: "for how long an XOFF, sent by hand, keeps the port from sending the load",
        source: "F1, F2",
        fields: &[STREAM],
        looks: &[EVERY_FRAME_OUT],
        ..Entry::USUAL
    },
    tells: Tells::Width("the timestamps of both frames"),
    red: Red::Mutated("pause-time-broadcom", "pfc.response=x2"),
    expected: |_, _, _| {
        by_formula("idle for q x 512 bit times less the response, up to a frame less", "F1, F2")
    },
    judge: |measure, done, judged| length(done, measure.named("stream"), judged),
    stamps: Some(held),
    at_line_rate: true,
    unpromised: Some(unfilled::of_stream),
    over_memories: |_| true,
    ..Known::USUAL
};

/// `pfc.duty`.
pub(super) static DUTY: Known = Known {
    entry: Entry {
        name: "pfc.duty",
        parts: Some(&[Part::Pfc]),
        pfc: ByPfc::Streams,
        about: "the share of time for which a storm with gaps keeps the port from sending a full load",
        source: "F2",
        fields: &[STORM, STREAM, FROM, UNTIL],
        looks: &[Looks::of(named, StreamEnds::Out, Tap::All, "counts the frames of `{}`")],
        about_gaps: true,
        ..Entry::USUAL
    },
    tells: Tells::Width("a frame at either end of the time"),
    red: Red::Mutated(
        "pause-restarts-with-every-frame-broadcom",
        "deviation=pause_time_not_restarted",
    ),
    on: storm_on_stream,
    expected: |_, _, _| {
        by_formula(
            "idle for (T - t) / p to T / p of the time: T the pause less the response, t a frame, p the period",
            "F2",
        )
    },
    judge: |measure, done, judged| duty(done, measure, judged),
    stamps: Some(|measure, context, script| stamps::gaps(context, script, measure.named("storm"))),
    at_line_rate: true,
    unpromised: Some(unfilled::of_stream),
    over_memories: |_| true,
    ..Known::USUAL
};

/// What holds the port that a stream leaves by, and when.
fn held(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<Stamps> {
    let (_, spec) = stamps::stream(script, measure.named("stream"))?;
    let declared = context.switch();
    let most = declared.response(declared.macsec.sent()).most();
    let hidden = most + stamps::speed(context, script, spec.to).slot(spec.on_wire());
    stamps::finest([stamps::pauses(context, script, (spec.to, hidden)), stamps::steps(script)])
}

fn storm_on_stream(measure: &Measure) -> String {
    format!("{} on {}", measure.named("storm"), measure.named("stream"))
}

/// What every reading needs of a trial.
struct Port<'a> {
    spec: &'a StreamSpec,
    speed: PortSpeed,
}

impl Port<'_> {
    /// One frame of the load, its preamble and gap.
    fn slot(&self) -> Dur {
        self.speed.slot(self.spec.on_wire())
    }

    /// What the device declares of its response to PFC of the form that it was sent in.
    fn response(&self, done: &JudgeContext<'_>, trial: &Trial) -> Within {
        let mut sent = trial.observation.words((self.spec.to, Dir::Tx), self.spec.class);
        let tagged = sent.any(|(_, record, _)| record.secured.is_some());
        let form = if tagged { Form::Encrypted } else { Form::Clear };
        done.context.switch().response(form)
    }
}

fn port<'a>(trial: &'a Trial, stream: &str) -> Result<(u16, Port<'a>), Doubt> {
    let (index, spec) = trial.stream(stream)?;
    let speed = trial.observation.ports[usize::from(spec.to)].speed;
    Ok((index, Port { spec, speed }))
}

/// Judges how soon a port stops.
fn response(done: &JudgeContext<'_>, stream: &str, judged: &mut Judged) {
    let told = Cell::new(None);
    done.each("pfc.response", stream, judged, |trial| {
        let (index, port) = port(trial, stream)?;
        let declared = port.response(done, trial);
        let most = declared.most();
        let stops = analyse::stops(&trial.observation, &trial.script, index, most);
        // From the XOFF to the start of the last frame. Each must be right: of several the one that is furthest off.
        let after = |stop: &Stop| stop.last_start.since(stop.at);
        let wanted = Span { lo: declared.least().saturating_sub(port.slot()).0, hi: most.0 };
        let off = |stop: &&Stop| after(stop).middle().abs_diff(wanted.middle());
        // A pause that is over before the port has reacted leaves no gap.
        let shows = |stop: &&Stop| pause_time(stop.quanta, port.speed) > most + port.slot();
        let Some(stop) = stops.iter().filter(shows).max_by_key(off) else {
            let why = format!("no XOFF that outlasts the response met {stream}");
            return Err(trial.doubt(&why).into());
        };
        let span = after(stop);
        let want = Prediction {
            unit: Unit::Ps,
            span: wanted,
            formula: "F3",
            text: format!(
                "the last frame starts within the declared response of {declared}, and less than a frame of {} before its {}",
                port.slot(),
                if declared.width() > Dur::ZERO { "least" } else { "end" },
            ),
            source: "IEEE 802.3 31B.3.7; the declared response of the MAC",
        };
        let looked = looked(stops.iter().filter(shows).count(), "XOFFs");
        // One that is a frame and what the reading leaves open outside of what is declared shows it at every XOFF.
        let blur = port.slot() + Dur(span.hi - span.lo);
        told.set(told.get().max(Some(blur)));
        Ok(TrialReading { span, want, got: None, records: vec![stop.records[0]], looked })
    });
    if let Some(blur) = told.get() {
        let declared = done.context.switch();
        // What protection takes of a word hides as much of what the MAC does.
        let blur = blur + declared.macsec.pfc_latency(Form::Encrypted).width();
        judged
            .resolved("pfc.response", &[("pfc.response".to_owned(), declared.pfc.response, blur)]);
    }
}

/// Judges for how long a port stops.
fn length(done: &JudgeContext<'_>, stream: &str, judged: &mut Judged) {
    let told: Cell<Option<u64>> = Cell::new(None);
    done.each("pfc.pause", stream, judged, |trial| {
        let (index, port) = port(trial, stream)?;
        let declared = port.response(done, trial);
        let (least, most) = (declared.least(), declared.most());
        let stops = analyse::stops(&trial.observation, &trial.script, index, most);
        let slot = port.slot();
        // A pause that is over before the port has reacted leaves no gap, whoever obeys it.
        let shows = |stop: &&Stop| pause_time(stop.quanta, port.speed) > most + slot;
        let stops: Vec<Stop> = stops.into_iter().filter(|stop| shows(&stop)).collect();
        let apart = done.context.apart();
        let wanted = |stop: &Stop| {
            // By the clock of who is paused.
            let least_pause = |quanta| apart.least(pause_time(quanta, port.speed));
            let most_pause = |quanta| apart.most(pause_time(quanta, port.speed));
            // The MAC takes its response to an XON as to an XOFF, of each anew. A pause runs out without one.
            let (soonest, latest) = match stop.last {
                // A pause that is over before the MAC takes it in ends the one before, as XON does.
                Some((word, quanta)) => {
                    let word = Dur(word.since(stop.at).middle());
                    (word + least_pause(quanta).max(least), word + most_pause(quanta).max(most))
                }
                None => (least_pause(stop.quanta), most_pause(stop.quanta)),
            };
            // It begins a response after the XOFF, and up to a frame before that.
            let shortest = soonest.saturating_sub(most + slot);
            Span { lo: shortest.0, hi: latest.saturating_sub(least).0 }
        };
        // One that is off, else the first.
        let off = stops.iter().find(|stop| !stop.idle.meets(wanted(stop)));
        let Some(stop) = off.or(stops.first()) else {
            let why = format!("no XOFF that outlasts the response, and ends within the trial, met {stream}");
            return Err(trial.doubt(&why).into());
        };
        let want = Prediction {
            unit: Unit::Ps,
            span: wanted(stop),
            formula: "F1, F2",
            text: match stop.last {
                Some((word, quanta)) if quanta > Quanta(0) => format!(
                    "{quanta} from {} after the first XOFF on, less the response of {declared}, and up to a frame of {slot} that had started",
                    Unit::Ps.show(word.since(stop.at).middle())
                ),
                Some((xon, _)) => format!(
                    "XON {} after the XOFF, less up to a frame of {slot} that had started",
                    Unit::Ps.show(xon.since(stop.at).middle())
                ),
                None => format!(
                    "{} pause for {}, less the response of {declared}, and up to a frame of {slot} that had started",
                    stop.quanta,
                    pause_time(stop.quanta, port.speed)
                ),
            },
            source: "IEEE 802.3 Annex 31B: a quantum is 512 bit times",
        };
        // Both ends of what is wanted and of the reading, of the longest pause that ran out by itself.
        let alone = stops.iter().filter(|stop| stop.last.is_none());
        let finest = alone.map(|stop| {
            let (want, pause) = (wanted(stop), pause_time(stop.quanta, port.speed));
            let open = Dur(want.hi - want.lo + stop.idle.hi - stop.idle.lo);
            open.scaled(Ppm::ONE.0.into(), pause.0.max(1)).0 + 1
        });
        told.set(finest.min().max(told.get()));
        let looked = looked(stops.len(), "XOFFs");
        Ok(TrialReading { span: stop.idle, want, got: None, records: stop.records.to_vec(), looked })
    });
    if let Some(ppm) = told.get() {
        let remark = format!("a clock that is more than {ppm}ppm off shows");
        judged.beside(("pfc.pause", stream), &remark);
    }
}

/// Judges what share of the time a storm with gaps takes.
fn duty(done: &JudgeContext<'_>, measure: &Measure, judged: &mut Judged) {
    let (storm, stream) = (measure.named("storm"), measure.named("stream"));
    done.each("pfc.duty", &storm_on_stream(measure), judged, |trial| {
        let (index, port) = port(trial, stream)?;
        let spec = trial.script.storms.iter().find(|spec| spec.name == storm);
        let spec = spec.ok_or_else(|| trial.doubt(&format!("{storm} is not in the script")))?;
        let (from, until) = done.stretch(trial, measure)?;
        sends_all_the_time(trial, (index, port.spec), (from, until))?;
        let xoffs = trial.observation.words((spec.from, Dir::Tx), port.spec.class);
        let xoffs = xoffs.filter(|(_, record, _)| (from..=until).contains(&record.at));
        let looked = looked(xoffs.count(), "XOFFs");
        if looked.count == 0 {
            let why = format!("no XOFF of {storm} between {from} and {until}");
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let rate = analyse::throughput(&trial.observation, &trial.script, index, (from, until));
        let mut arrivals = trial.observation.of_stream(index, (port.spec.to, Dir::Rx));
        let none = !arrivals.any(|(_, record)| (from..=until).contains(&record.at));
        let rate = match rate {
            Ok(rate) => Some(rate),
            // A port that sends nothing is idle all of the time.
            Err(_) if none => None,
            Err(why) => return Err(trial.doubt(&why).into()),
        };
        let frame = u128::from(port.spec.on_wire().0);
        let idle = |bps: u64| {
            let wire = u128::from(bps) * (frame + 20) / frame * 1_000_000 / u128::from(port.speed.bps());
            1_000_000_u64.saturating_sub(u64::try_from(wire).unwrap_or(u64::MAX))
        };
        let duty = |response| Periodic {
            quanta: spec.quanta,
            every: spec.every,
            speed: port.speed,
            response,
            frame: port.spec.on_wire(),
        };
        let over = rate.as_ref().map_or(until - from, |rate| rate.over);
        // Least of a port that always responds late, most of one that always responds soon.
        let response = port.response(done, trial);
        let (lo, _) = duty(response.most()).within(over);
        let (_, hi) = duty(response.least()).within(over);
        // Of the time itself, of a frame, and of the rate that the time between is told by.
        let part = done.context.apart().part(1_000_000);
        let (lo, hi) = (lo.saturating_sub(part * 3), (hi + part * 2).min(1_000_000));
        let (span, every) = (Span { lo, hi }, spec.every);
        let want = Prediction {
            unit: Unit::Ppm,
            span,
            formula: "F2",
            text: format!(
                "{} to {}: {} every {every} take T - t to T each, T the pause less the response, t a frame",
                Unit::Ppm.show(span.lo),
                Unit::Ppm.show(span.hi),
                spec.quanta
            ),
            source: "IEEE 802.3 Annex 31B; a frame that has started is finished",
        };
        let span = rate.as_ref().map_or(Span::exactly(1_000_000), |rate| Span {
            lo: idle(rate.bps.hi),
            hi: idle(rate.bps.lo),
        });
        let records = rate.map(|rate| rate.records.to_vec()).unwrap_or_default();
        Ok(TrialReading { span, want, got: None, records, looked })
    });
}
