//! Whether what a script does really happened in its trial: every stream, flow and storm sends each time that it is started, PFC by
//! hand leaves, settings are asked for, links go, and each thing that is to be done to frames on the way met one. Where it did not, what was
//! measured is not what the case is about: no departure is held against the device either.

use super::stimulus::injection_text;
use rig_capture::{Dir, Load, Record, Touched, What, analyse};
use rig_oracle::trials::trial::Trial;
use rig_oracle::verdict::Doubt;
use rig_testcases::{Action, Injected, Script, Step, Tap, Which};
use rig_units::{Dur, Time};

/// The word for a part of the stimulus that did not happen.
pub const NOT_APPLIED: &str = "stimulus-not-applied";

/// What the rig was to do in a trial and did not: one doubt for all of it. What is found beside it may come of it.
pub fn unapplied(trial: &Trial) -> Option<Doubt> {
    let mut missing = steps(trial, of_the_rig);
    missing.extend(injections(trial));
    doubt(trial, &missing)
}

/// What did not happen for the device's sake, so that a departure beside it stands: flows of which no NIC sent anything, and
/// streams that the device's own pauses kept back.
pub fn kept_back(trial: &Trial) -> Option<Doubt> {
    doubt(trial, &steps(trial, of_the_device))
}

fn doubt(trial: &Trial, missing: &[String]) -> Option<Doubt> {
    let first = missing.first()?;
    let more = match missing.len() {
        1 => String::new(),
        all => format!(", and {} more like it", all - 1),
    };
    Some(Doubt { reason: NOT_APPLIED, detail: format!("trial {}: {first}{more}", trial.number) })
}

/// Steps that left nothing on the wire.
fn steps(trial: &Trial, idle: impl Fn(&Trial, &Step) -> Option<String>) -> Vec<String> {
    let mut missing: Vec<String> =
        trial.script.steps.iter().filter_map(|step| idle(trial, step)).collect();
    // What is started several times is told once.
    missing.dedup();
    missing
}

/// Why a step of the rig's did nothing, if it did.
fn of_the_rig(trial: &Trial, step: &Step) -> Option<String> {
    let (script, observation) = (&trial.script, &trial.observation);
    let at = step.at;
    let port = |port: u16| &script.ports[usize::from(port)];
    match &step.action {
        Action::StartStream(stream) => {
            let name = &script.streams[usize::from(*stream)].name;
            match sent(trial, *stream, step) {
                Sent::Nothing => Some(format!("nothing of {name} was sent")),
                Sent::NothingFrom(at) => Some(format!("nothing of {name} was sent from {at} on")),
                Sent::Some | Sent::Paused | Sent::Unknown => None,
            }
        }
        Action::StartStorm(storm) => {
            let spec = &script.storms[usize::from(*storm)];
            let none = !pfc_left(trial, spec.from, at);
            none.then(|| format!("{} never left from {at} on", spec.name))
        }
        Action::Pfc(frames) => {
            let none = frames.count > 0 && !pfc_left(trial, frames.from, at);
            none.then(|| format!("no PFC frame left {} from {at} on", port(frames.from)))
        }
        Action::Configure(setting) => {
            let asked = observation.config.iter().any(|outcome| outcome.setting == *setting);
            let refused = observation.config.iter().find_map(|outcome| outcome.refused.as_ref());
            if !asked {
                Some(format!("the device was not asked for {}", setting.path))
            } else if let Some(why) = refused {
                Some(format!("the device refused a setting on the way: {why}"))
            } else {
                let over = at >= script.length;
                over.then(|| format!("{} is set at {at}, as the trial ends", setting.path))
            }
        }
        // It is up again by the trial's end: `for:` is a part of it.
        Action::LinkDown(down) if is_down(script, step, *down) => {
            Some(format!("the link of {} is down already at {at}", port(*down)))
        }
        Action::LinkDown(_)
        | Action::LinkUp(_)
        | Action::StartFlow(_)
        | Action::StopStream(_)
        | Action::StopFlow(_)
        | Action::StopStorm(_)
        | Action::Device(_) => None,
    }
}

/// Why a step did nothing for the device's sake, if it did.
fn of_the_device(trial: &Trial, step: &Step) -> Option<String> {
    let (script, observation) = (&trial.script, &trial.observation);
    match step.action {
        Action::StartStream(stream) => {
            let name = &script.streams[usize::from(stream)].name;
            let paused = sent(trial, stream, step) == Sent::Paused;
            paused.then(|| format!("{name} was kept back from {} on: paused, or no link", step.at))
        }
        Action::StartFlow(flow) => {
            let spec = &script.flows[usize::from(flow)];
            let connection = script.connection(flow);
            let from = earliest(trial, step.at);
            let own = |record: &Record| {
                (record.port, record.what.connection()) == (spec.nic, Some(connection))
                    && record.at >= from
            };
            let known = script.tap(spec.nic) >= Tap::Sampled;
            let none = known && !observation.records.iter().any(own);
            // Whether one that may be refused should be says the measure that is about it.
            (none && !spec.container.may_be_refused).then(|| format!("{} sent nothing", spec.name))
        }
        _ => None,
    }
}

/// What became of a stream that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    Some,
    /// In the whole trial.
    Nothing,
    /// This time.
    NothingFrom(Dur),
    /// The device's pauses left it no time.
    Paused,
    /// Nobody recorded when its frames left.
    Unknown,
}

/// Whether a stream sent something between a step that starts it and the next one that does.
fn sent(trial: &Trial, stream: u16, step: &Step) -> Sent {
    let (script, observation) = (&trial.script, &trial.observation);
    let spec = &script.streams[usize::from(stream)];
    // A search begins with streams of no frames.
    if spec.count == Some(0) {
        return Sent::Some;
    }
    let all = observation.streams.get(usize::from(stream)).map_or(0, |count| count.sent);
    let from = earliest(trial, step.at);
    let again = |next: &&Step| next.at > step.at && next.action == step.action;
    let until = script.steps.iter().find(again).map_or(script.length, |next| next.at);
    let until = Time::ZERO + until;
    let own = |record: &Record| {
        let stream_of = matches!(record.what, What::Data { stream: of, .. } if of == stream);
        stream_of && (record.port, record.dir) == (spec.from, Dir::Tx)
    };
    let load = |load: &&Load| {
        (load.port, load.dir, load.connection) == (spec.from, Dir::Tx, stream)
            && load.last >= from
            && load.first <= until
    };
    let mut leaving = observation.records.iter().filter(|record| own(record)).peekable();
    let loads = &observation.loads.all;
    let known = leaving.peek().is_some() || loads.iter().any(|load| load.connection == stream);
    if leaving.any(|record| (from..=until).contains(&record.at))
        || loads.iter().any(|one| load(&one))
    {
        return Sent::Some;
    }
    let open = analyse::may_send(observation, script, stream);
    let paused = from < until && !open.iter().any(|&(begin, end)| begin < until && from < end);
    match (all, known) {
        (0, _) if paused => Sent::Paused,
        (0, _) => Sent::Nothing,
        (_, false) => Sent::Unknown,
        (_, true) if paused => Sent::Paused,
        (_, true) => Sent::NothingFrom(step.at),
    }
}

/// Whether a port's link is down as a step takes it down: the last step before it that touched it took it down too.
fn is_down(script: &Script, step: &Step, port: u16) -> bool {
    let before = script.steps.iter().take_while(|other| !core::ptr::eq(*other, step));
    let down = before.filter_map(|other| match other.action {
        Action::LinkDown(of) if of == port => Some(true),
        Action::LinkUp(of) if of == port => Some(false),
        _ => None,
    });
    down.last() == Some(true)
}

/// The earliest timestamp that a frame may bear that left at some time of the script.
fn earliest(trial: &Trial, at: Dur) -> Time {
    Time((Time::ZERO + at).0.saturating_sub(trial.observation.bound().0))
}

/// Whether the rig sent PFC by a port from some time on. Where nobody records it nobody can tell: that it did not is not known.
fn pfc_left(trial: &Trial, port: u16, from: Dur) -> bool {
    let from = earliest(trial, from);
    let pfc = |record: &Record| matches!(record.what, What::Pfc { .. } | What::BadPfc { .. });
    let own = |record: &Record| (record.port, record.dir) == (port, Dir::Tx) && record.at >= from;
    trial.script.tap(port) == Tap::None
        || trial.observation.records.iter().any(|record| own(record) && pfc(record))
}

/// Injections of which no frame came.
fn injections(trial: &Trial) -> Vec<String> {
    let Some((_, _, between)) = &trial.script.between else { return Vec::new() };
    let met = |index: u16| {
        let met = trial.observation.injected.iter().filter(|one| one.injection == Some(index));
        met.count()
    };
    let idle = (0_u16..).zip(&between.inject).filter(|(index, _)| met(*index) == 0);
    let told = idle.map(|(_, injection)| {
        let which = match (injection.tamper, injection.which) {
            (Injected::NotReady(_), _) => " that its receiver expected next",
            (_, Which::Drawn(_)) => " that was drawn",
            _ => "",
        };
        format!("{}: no such frame came{which}", injection_text(&trial.script, injection))
    });
    let kept = trial.observation.injected.iter().filter(|one| kept(trial, one));
    let kept = kept.filter_map(|one| between.inject.get(usize::from(one.injection?)));
    told.chain(kept.map(|injection| {
        format!("{}: it never went on within the trial", injection_text(&trial.script, injection))
    }))
    .collect()
}

/// Whether a frame that was only to go on later never did. Where nobody records what leaves the rig nobody can tell.
fn kept(trial: &Trial, touched: &Touched) -> bool {
    let (script, records) = (&trial.script, &trial.observation.records);
    if !matches!(touched.what, Injected::Behind(_) | Injected::Delay(_)) {
        return false;
    }
    let roce = |record: &Record| match record.what {
        What::Roce(roce) => Some((roce.connection, roce.psn, Some(roce.kind))),
        What::BlueRdma(frame) => Some((frame.connection, frame.psn, None)),
        _ => None,
    };
    // They are in order: what came before is not looked at.
    let records = &records[records.partition_point(|record| record.at < touched.at)..];
    let came = |record: &&Record| {
        (record.port, record.dir, record.at) == (touched.port, Dir::Rx, touched.at)
    };
    let mut at_once = records.iter().take_while(|record| record.at == touched.at);
    let Some(frame) = at_once.find(came).and_then(roce) else { return false };
    let left = |record: &Record| {
        record.port != touched.port && record.dir == Dir::Tx && record.at > touched.at
    };
    let known = (0_u16..).zip(&script.ports).all(|(port, _)| script.tap(port) == Tap::All);
    known && !records.iter().any(|record| left(record) && roce(record) == Some(frame))
}
