//! The device's own watermarks and drop counters of a group and a queue, after every number of frames that was tried (F7).

use super::{Done, Judged, Read, judgement};
use crate::runner::fill::Fill;
use crate::runner::plan::Role;
use crate::runner::session::Trial;
use rig_capture::{Span, Unit};
use rig_lab::Declared;
use rig_oracle::Prediction;
use rig_oracle::spec::buffer;
use rig_oracle::verdict::Doubt;
use rig_testcases::{Script, StreamSpec};

/// One counter of the device, and what it must show.
struct Check {
    name: String,
    want: u64,
    got: Option<u64>,
}

/// Judges the watermarks of the group that `stream` fills and of the queue that it is sent to.
pub(super) fn judge(done: &Done<'_>, stream: &str, judged: &mut Judged) {
    let declared = &done.session.group.declared;
    if let Some(poll) = declared.watermark.poll {
        let detail = format!("the device reads and clears its watermarks by itself every {poll}");
        judged.doubts.push(Doubt { reason: "not-observable", detail });
        return;
    }
    let mut all = Vec::new();
    for trial in done.trials {
        if trial.void.is_some() || !matches!(trial.role, Role::Search(_)) {
            continue;
        }
        let Some(spec) = trial.script.streams.iter().find(|spec| spec.name == stream) else {
            continue;
        };
        let checks = checks(declared, trial, spec);
        if let Some(missing) = checks.iter().find(|check| check.got.is_none()) {
            let detail =
                format!("trial {}: the device offers no counter {}", trial.number, missing.name);
            judged.doubts.push(Doubt { reason: "not-observable", detail });
            return;
        }
        let wrong: Vec<&Check> =
            checks.iter().filter(|check| check.got != Some(check.want)).collect();
        let frames = spec.count.unwrap_or(0);
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(0),
            formula: "F7",
            text: match wrong.first() {
                Some(first) => format!("{} {} after {frames} frames", first.name, first.want),
                None => format!(
                    "each of {} watermarks and counters right after every number of frames",
                    checks.len()
                ),
            },
            source: "SAI_INGRESS_PRIORITY_GROUP_STAT, SAI_QUEUE_STAT, SAI_BUFFER_POOL_STAT",
        };
        let got = wrong.first().map(|first| {
            let more = match wrong.len() {
                1 => String::new(),
                more => format!(", and {} more off", more - 1),
            };
            format!("{}{more}", first.got.unwrap_or_default())
        });
        let off = u64::try_from(wrong.len()).unwrap_or(u64::MAX);
        all.push((trial.number, Read { span: Span::exactly(off), want, got, records: Vec::new() }));
    }
    let place = done.session.group.label.clone();
    judged.judgements.extend(judgement("buffer.watermarks", stream, place, &all));
}

/// What the counters must show after a trial.
fn checks(declared: &Declared, trial: &Trial, spec: &StreamSpec) -> Vec<Check> {
    let buffer = &declared.buffer;
    let frames = spec.count.unwrap_or(0);
    let before = before(&trial.script, spec);
    let fill = Fill::of(declared, &trial.script, &before);
    let lossless = fill.is_lossless(spec.class);
    let kept = frames.min(fill.first_drop(spec) - 1);
    let queued = kept * buffer::occupied(buffer, spec.size);
    let dropped = frames - kept;
    let port = |rig: u16| trial.observation.ports[usize::from(rig)].dut_port.clone();
    let (from, to, class) = (port(spec.from), port(spec.to), spec.class);
    let peak = |name: String, want: u64| {
        let got = trial.observation.counters.after.get(&name).copied();
        Check { name, want, got }
    };
    let grown = |name: String, want: u64| {
        let got = trial.observation.counters.grew(&name);
        Check { name, want, got }
    };
    let group = format!("{from}:{class} SAI_INGRESS_PRIORITY_GROUP_STAT");
    let mut all = vec![
        peak(format!("{to}:{class} SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES"), queued),
        grown(format!("{group}_PACKETS"), frames),
        grown(format!("{from} SAI_PORT_STAT_IF_IN_NON_UCAST_PKTS"), 0),
        grown(format!("{to} SAI_PORT_STAT_IF_IN_NON_UCAST_PKTS"), 0),
    ];
    if lossless {
        let others = fill.others(spec.from);
        let held = fill.holds(spec, frames);
        let (shared, headroom) = (held.shared, held.headroom);
        all.push(peak(format!("{group}_SHARED_WATERMARK_BYTES"), shared));
        all.push(peak(format!("{group}_XOFF_ROOM_WATERMARK_BYTES"), headroom));
        all.push(grown(format!("{group}_DROPPED_PACKETS"), dropped));
        let pool = "ingress_lossless_pool SAI_BUFFER_POOL_STAT";
        all.push(peak(format!("{pool}_WATERMARK_BYTES"), fill.pool() + shared));
        all.push(peak(format!("{pool}_XOFF_ROOM_WATERMARK_BYTES"), others.headroom + headroom));
    } else {
        all.push(grown(format!("{to}:{class} SAI_QUEUE_STAT_DROPPED_PACKETS"), dropped));
        all.push(peak("egress_lossy_pool SAI_BUFFER_POOL_STAT_WATERMARK_BYTES".to_owned(), queued));
    }
    all
}

/// The other streams of a trial that were filled before this one.
fn before<'a>(script: &'a Script, spec: &StreamSpec) -> Vec<&'a str> {
    let others = script.streams.iter().take_while(|other| other.name != spec.name);
    others.filter(|other| other.count.is_some()).map(|other| other.name.as_str()).collect()
}
