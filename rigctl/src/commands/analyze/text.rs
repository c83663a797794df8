//! The same for people: twelve columns of what it is, then the thing itself.

use super::seen::{Analysis, Anchor, Malformed, Pfc, PfcClass, Port, Ps, Storm, Stream, Watchdog};
use super::{blue_rdma, connection};
use crate::commands::words::count;
use rig_capture::{Reading, Span, Unit};
use rig_lab::Profile;
use rig_reports::printable;
use serde::Serialize;
use std::fmt::Write as _;

/// Most malformed frames that are told one by one.
const TOLD: usize = 3;

/// The whole page; `guessed` says why this device, when nobody said which one the capture is of.
pub(super) fn text(file: &str, analysis: &Analysis, device: &Profile, guessed: &str) -> String {
    let Analysis { frames, ports, storms, streams, .. } = analysis;
    let mut lines = Lines(String::new());
    let within = time(analysis.length_ps);
    lines.add("Capture", &format!("{file}: {}, {within} long", count(*frames, "frame")));
    let hint = match guessed {
        "" => String::new(),
        why => format!("; assumed: {why}, --dut names another"),
    };
    let declared = device.family().zip(device.declared.switch()).map_or_else(
        || "no watchdog".to_owned(),
        |(family, switch)| {
            let of = &switch.pfcwd;
            let drops = of.action == rig_lab::Action::Drop;
            let backlog =
                if drops { format!(", backlog {}", word(of.backlog)) } else { String::new() };
            format!("action {}{backlog}, rule {family}", word(of.action))
        },
    );
    lines.add("Read as", &format!("device {} declares: {declared}{hint}", device.name));
    for Port { name, dut_port, speed, sent, received } in ports {
        let behind = if dut_port.is_empty() { String::new() } else { format!(" at {dut_port}") };
        lines.add("Port", &format!("{name}{behind}, {speed}: {sent} sent, {received} received"));
    }
    storms.iter().for_each(|of| storm(&mut lines, of));
    streams.iter().for_each(|of| lines.add("Stream", &stream(of)));
    analysis.loads.iter().for_each(|of| lines.add("Load", of));
    analysis.pfc.iter().for_each(|of| pfc(&mut lines, of));
    for of in &analysis.connections {
        let port = ports.get(usize::from(of.port)).map_or("", |port| &port.name);
        connection::lines(of, port).iter().for_each(|(what, text)| lines.add(what, text));
    }
    for of in &analysis.blue_rdma {
        let port = ports.get(usize::from(of.port)).map_or("", |port| &port.name);
        blue_rdma::lines(of, port).iter().for_each(|(what, text)| lines.add(what, text));
    }
    for Watchdog { storm, stream, detection, restoration, restoration_from, why_not } in
        &analysis.watchdog
    {
        let (Some(storm), Some(stream)) = (storms.get(*storm), streams.get(*stream)) else {
            continue;
        };
        let on = format!("{} class {}", storm.port, storm.class);
        if let Some(after) = detection {
            let said = format!(
                "{on} {} after the first XOFF at {}, seen in {}",
                span(*after),
                time(storm.first_xoff.lo),
                stream.name
            );
            lines.add("Detected", &said);
        }
        if let Some(after) = restoration {
            let from = match restoration_from {
                Anchor::LastFrame => "last frame",
                Anchor::Detection => "detection",
            };
            lines.add("Restored", &format!("{on} {} after the {from}", span(*after)));
        }
        if let Some(why) = why_not {
            let what = if detection.is_none() { "Undetected" } else { "Unrestored" };
            lines.add(what, &format!("{on}, {}: {why}", stream.name));
        }
    }
    if analysis.watchdog.is_empty() && *frames > 0 {
        let why = match (storms.is_empty(), streams.is_empty()) {
            (true, true) => "neither a storm nor a stream was recognised",
            (true, false) => "no storm towards the device was recognised",
            (false, true) => "no stream was recognised",
            (false, false) => "no stream passed through a stormed queue",
        };
        lines.add("Watchdog", &format!("nothing to be said: {why}"));
    }
    analysis.doubts.iter().for_each(|doubt| lines.add("Doubt", doubt));
    analysis.notes.iter().for_each(|note| lines.add("Note", note));
    lines.0
}

struct Lines(String);

impl Lines {
    fn add(&mut self, what: &str, text: &str) {
        // What a comment or a name says stays on its line.
        let _infallible = writeln!(self.0, "{what:>12} {}", printable(text));
    }
}

fn storm(lines: &mut Lines, of: &Storm) {
    let lapses = match (of.longest_lapse_ps, of.longest_lapse_at_ps) {
        (Some(longest), Some(at)) => format!(
            "{}, the longest of {} at {}",
            count(of.lapses, "lapse"),
            time(longest),
            time(at)
        ),
        _ => "no lapse".to_owned(),
    };
    let Storm { port, class, quanta, .. } = of;
    let every = time(of.every_ps);
    let (percent, rest) = (of.covered_ppm / 10_000, of.covered_ppm / 100 % 100);
    let held = format!("paused {percent}.{rest:02} % of the time, {lapses}");
    lines.add("Storm", &format!("{port} class {class}, XOFF of {quanta}q every {every}: {held}"));
    let (from, to) = (time(of.first_xoff.lo), time(of.last_xoff.lo));
    lines.add("", &format!("from {from} to {to}, pause over at {}", time(of.pause_end.lo)));
}

fn stream(of: &Stream) -> String {
    let Stream { name, from, to, class, bytes, sent, received, lost, whole, .. } = of;
    let lost = match lost {
        Some(lost) if *whole => format!("{lost} lost"),
        Some(lost) => {
            format!("{lost} lost or on their way at the end, by the counts of the file's comments")
        }
        None if from == to => "loss unknown, only one side of the device was captured".to_owned(),
        None => "loss unknown, frames of it may be missing from the file".to_owned(),
    };
    let mut text = format!(
        "{name}: {from} to {to}, class {class}, {bytes}B: {sent} sent, {received} received, {lost}"
    );
    for (n, what) in [
        (of.open, "in flight at the end"),
        (of.reordered, "out of order"),
        (of.duplicated, "twice"),
        (of.stray, "astray"),
    ] {
        if n > 0 && *whole {
            let _infallible = write!(text, ", {n} {what}");
        }
    }
    text
}

fn pfc(lines: &mut Lines, Pfc { port, frames, classes, malformed }: &Pfc) {
    let number = usize::try_from(*frames).unwrap_or(usize::MAX);
    let format = match malformed.len() {
        0 => "all well formed".to_owned(),
        bad => format!("{bad} malformed"),
    };
    lines.add("PFC", &format!("{} received at {port}, {format}", count(number, "frame")));
    for PfcClass { class, xoff, xon, longest_refresh_ps } in classes {
        let refresh = longest_refresh_ps
            .map(|longest| format!(", at most {} between two", time(longest)))
            .unwrap_or_default();
        lines.add("", &format!("class {class}: {xoff} XOFF{refresh}, {xon} XON"));
    }
    for Malformed { at_ps, what } in malformed.iter().take(TOLD) {
        lines.add("", &format!("at {}: {what}", time(*at_ps)));
    }
    if malformed.len() > TOLD {
        lines.add("", &format!("and {} more", malformed.len() - TOLD));
    }
}

/// A setting's value as it is written in a profile.
fn word(value: impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

pub(super) fn time(ps: u64) -> String {
    Unit::Ps.show(ps)
}

fn span(Ps { lo, hi }: Ps) -> String {
    Reading { unit: Unit::Ps, span: Span { lo, hi }, frames: Vec::new() }.to_string()
}
