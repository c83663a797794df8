//! What becomes of a crossing: how soon the device says so, and what is lost when the sender stops too late.

use super::{Done, Judged, Read};
use crate::runner::fill::Fill;
use crate::runner::session::Trial;
use rig_capture::analyse::{self, ActionView};
use rig_capture::{Dir, Reading, Span, Unit, What};
use rig_oracle::Prediction;
use rig_oracle::spec::buffer;
use rig_oracle::spec::in_flight::{self, InFlight};
use rig_oracle::verdict::{Doubt, Finding, Judgement};
use rig_testcases::{Script, StreamSpec, Wanted};
use rig_units::{Bytes, Dur, Length, MIN_FRAME, Quanta, Time};

fn found<'a>(trial: &'a Trial, stream: &str) -> Result<(u16, &'a StreamSpec), Doubt> {
    let found = (0_u16..).zip(&trial.script.streams).find(|(_, spec)| spec.name == stream);
    found.ok_or_else(|| doubt(trial, &format!("{stream} is not in the script")))
}

fn doubt(trial: &Trial, why: &str) -> Doubt {
    Doubt { reason: "not-observable", detail: format!("trial {}: {why}", trial.number) }
}

/// How soon a PFC frame leaves a port on which another one may be under way.
fn behind(wait: Dur) -> String {
    match wait {
        Dur::ZERO => "at once".to_owned(),
        wait => format!("at once or behind a frame of {wait}"),
    }
}

/// What is to be seen of a crossing.
fn crossed(frame: u64, emission: Option<Dur>, wait: Dur) -> String {
    let taken = emission.map_or(String::new(), |taken| format!(" after the declared {taken}"));
    format!("frame {frame} crosses the limit, and XOFF leaves{taken} {}", behind(wait))
}

/// The largest frame that the device may be sending out of a port.
fn ahead(script: &Script, port: u16) -> Bytes {
    let to = script.streams.iter().filter(|spec| spec.to == port);
    to.map(|spec| spec.size).max().unwrap_or(Bytes(0))
}

/// Judges how soon after the crossing frame the first XOFF begins.
pub(super) fn latency(done: &Done<'_>, stream: &str, judged: &mut Judged) {
    let declared = &done.session.group.declared;
    done.each("pfc.latency", stream, judged, |trial| {
        let (index, spec) = found(trial, stream)?;
        let observation = &trial.observation;
        let trace = &observation.ports[usize::from(spec.from)];
        let crossing = buffer::first_xoff(
            &declared.buffer,
            spec.size,
            &Fill::empty(declared).others(spec.from),
        );
        let mut sent = (0..).zip(&observation.records).filter(|(_, record)| {
            let own = matches!(record.what, What::Data { stream, .. } if stream == index);
            own && (record.port, record.dir) == (spec.from, Dir::Tx)
        });
        let nth = usize::try_from(crossing - 1).unwrap_or(usize::MAX);
        let Some((number, frame)) = sent.nth(nth) else {
            let why =
                format!("fewer than the {crossing} frames of {stream} that cross were recorded");
            return Err(doubt(trial, &why));
        };
        let xoff = (0..).zip(&observation.records).find(|(_, record)| {
            (record.port, record.dir) == (spec.from, Dir::Rx)
                && record.what.pauses(spec.class).is_some_and(|quanta| quanta > Quanta(0))
        });
        let frame_ahead = ahead(&trial.script, spec.from);
        let wait = if frame_ahead.0 == 0 { Dur::ZERO } else { trace.speed.slot(frame_ahead) };
        let want = Prediction {
            unit: Unit::Ps,
            span: in_flight::emitted(&declared.pfc, wait),
            formula: "F3, F5",
            text: crossed(crossing, declared.pfc.emission, wait),
            source: "IEEE 802.1Q clause 36",
        };
        let Some((at, record)) = xoff else {
            let got = Some("no XOFF".to_owned());
            return Ok(Some(Read {
                span: Span::exactly(u64::MAX),
                want,
                got,
                records: vec![number],
            }));
        };
        // From the last bit of the frame at the device to the first bit of the XOFF there.
        let arrived = frame.at + trace.cable;
        let began =
            record.at.saturating_sub(trace.cable + trace.speed.serialise(MIN_FRAME + PREAMBLE));
        let slack = trace.provenance.bound() * 2;
        let after = |time: Time| time.since(arrived).unwrap_or_default().0;
        let early = arrived.since(began + slack).unwrap_or_default();
        let span = if early > Dur::ZERO {
            // Before the frame that is to cross had arrived.
            Span::exactly(u64::MAX)
        } else {
            Span { lo: after(began.saturating_sub(slack)), hi: after(began + slack) }
        };
        let got =
            (early > Dur::ZERO).then(|| format!("XOFF {early} before frame {crossing} arrived"));
        Ok(Some(Read { span, want, got, records: vec![number, at] }))
    });
}

/// Judges how soon after the frame whose leaving brings the group to its XON the first XON begins. A device may free a frame
/// as it begins to leave or when it has left.
pub(super) fn resumes(done: &Done<'_>, stream: &str, judged: &mut Judged) {
    let declared = &done.session.group.declared;
    done.each("pfc.latency", &format!("{stream}, XON"), judged, |trial| {
        let (index, spec) = found(trial, stream)?;
        let observation = &trial.observation;
        let sender = &observation.ports[usize::from(spec.from)];
        let port = &observation.ports[usize::from(spec.to)];
        let others = Fill::empty(declared).others(spec.from);
        let count = spec.count.unwrap_or(0);
        let leave = buffer::xon_after(&declared.buffer, spec.size, &others, count);
        let Some(nth) = leave.and_then(|leave| usize::try_from(leave.checked_sub(1)?).ok()) else {
            return Ok(None);
        };
        let mut arrived = (0..).zip(&observation.records).filter(|(_, record)| {
            let own = matches!(record.what, What::Data { stream, .. } if stream == index);
            own && (record.port, record.dir) == (spec.to, Dir::Rx)
        });
        let Some((number, frame)) = arrived.nth(nth) else {
            return Err(doubt(trial, &format!("fewer than {} frames of {stream} left", nth + 1)));
        };
        let frame_ahead = ahead(&trial.script, spec.from);
        let wait = if frame_ahead.0 == 0 { Dur::ZERO } else { sender.speed.slot(frame_ahead) };
        let leaving = port.speed.serialise(spec.size + PREAMBLE);
        let want = Prediction {
            unit: Unit::Ps,
            span: Span { lo: 0, hi: (leaving + wait).0 },
            formula: "F3, F4",
            text: format!(
                "frame {} of those held takes {leaving} to leave, and XON leaves meanwhile {}",
                nth + 1,
                behind(wait)
            ),
            source: "IEEE 802.1Q clause 36",
        };
        let xon = (0..).zip(&observation.records).find(|(_, record)| {
            (record.port, record.dir) == (spec.from, Dir::Rx)
                && record.what.pauses(spec.class) == Some(Quanta(0))
        });
        let Some((at, record)) = xon else {
            let got = Some("no XON".to_owned());
            return Ok(Some(Read {
                span: Span::exactly(u64::MAX),
                want,
                got,
                records: vec![number],
            }));
        };
        let begins = frame.at.saturating_sub(port.cable + leaving);
        let began =
            record.at.saturating_sub(sender.cable + sender.speed.serialise(MIN_FRAME + PREAMBLE));
        let slack = sender.provenance.bound() + port.provenance.bound();
        let early = begins.since(began + slack).unwrap_or_default();
        let after = |time: Time| time.since(begins).unwrap_or_default().0;
        let span = if early > Dur::ZERO {
            Span::exactly(u64::MAX)
        } else {
            Span { lo: after(began.saturating_sub(slack)), hi: after(began + slack) }
        };
        let got = (early > Dur::ZERO).then(|| format!("XON {early} before frame {} left", nth + 1));
        Ok(Some(Read { span, want, got, records: vec![number, at] }))
    });
}

/// Preamble and start delimiter.
const PREAMBLE: Bytes = Bytes(8);

/// Judges how many frames are lost because the sender goes on for longer than the headroom lasts.
pub(super) fn loss(done: &Done<'_>, stream: &str, expect: Wanted, judged: &mut Judged) {
    let before = judged.judgements.len();
    each_loss(done, stream, expect, judged);
    if expect == Wanted::Some {
        somewhere(stream, before, judged);
    }
}

/// The headroom is one step short of what may come: at some phase a frame must be lost, and the trials must have met it.
fn somewhere(stream: &str, from: usize, judged: &mut Judged) {
    let own = &judged.judgements[from..];
    let Some(worst) = own.iter().max_by_key(|one| one.reading.span.hi).cloned() else { return };
    let lost = worst.reading.span.hi;
    let text = format!("a frame lost at one of {} phases at least", own.len());
    let prediction = Prediction {
        span: Span { lo: 1, hi: u64::MAX },
        text: text.clone(),
        ..worst.prediction.clone()
    };
    let finding = (lost == 0).then(|| Finding {
        rule: "headroom.loss",
        want: text,
        got: "none at any".to_owned(),
        trial: 1,
        frames: Vec::new(),
    });
    judged.judgements.push(Judgement {
        subject: format!("{stream}, worst phase"),
        prediction,
        findings: finding.into_iter().collect(),
        ..worst
    });
}

fn each_loss(done: &Done<'_>, stream: &str, expect: Wanted, judged: &mut Judged) {
    let declared = &done.session.group.declared;
    let view = ActionView::from(declared);
    done.each("headroom.loss", stream, judged, |trial| {
        let (index, spec) = found(trial, stream)?;
        let trace = &trial.observation.ports[usize::from(spec.from)];
        let lost = analyse::loss(&trial.observation, &trial.script, index, view.delays());
        if lost.sent == 0 {
            return Err(doubt(trial, &format!("nothing of {stream} was sent")));
        }
        let response = trial.script.endpoint(spec.from).response;
        let in_flight = InFlight {
            speed: trace.speed,
            frame: spec.size,
            ahead: ahead(&trial.script, spec.from),
            cable: Length(done.session.cable_cm()),
            delays: in_flight::delays(
                &declared.pfc,
                Span { lo: response.0, hi: (response + done.bound() * 2).0 },
            ),
        };
        let others = Fill::empty(declared).others(spec.from);
        let xoff = buffer::first_xoff(&declared.buffer, spec.size, &others);
        let drop = buffer::first_drop(&declared.buffer, spec.size, &others);
        // No more can come than were sent.
        let most = lost.sent.saturating_sub(xoff);
        let come = in_flight.frames();
        let (fit, come) = (drop - xoff - 1, Span { lo: come.lo.min(most), hi: come.hi.min(most) });
        let predicted = Span { lo: come.lo.saturating_sub(fit), hi: come.hi.saturating_sub(fit) };
        let want = Prediction {
            unit: Unit::Frames,
            // Whatever may come is to fit.
            span: if expect == Wanted::None { Span::exactly(0) } else { predicted },
            formula: "F3, F5",
            text: format!(
                "{} frames come after the crossing one with a response of {response}, and {fit} of them fit",
                Reading { unit: Unit::Frames, span: come, frames: Vec::new() }
            ),
            source: "IEEE 802.1Q Annex N and 802.3 31B.3.7: cable, PFC frame, response, frames under way",
        };
        let got = Some(format!("{} of {} frames lost", lost.lost, lost.sent));
        let span = Span { lo: lost.lost, hi: lost.lost + lost.open };
        Ok(Some(Read { span, want, got, records: lost.frames }))
    });
}
