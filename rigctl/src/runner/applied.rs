//! Whether what a script does really happened in its trial: every stream, flow and storm that is started sends, PFC by hand
//! leaves, settings are asked for, and each thing that is to be done to frames on the way met one. Where it did not, what was
//! measured is not what the case is about: no departure is held against the device either.

use super::stimulus::injection_text;
use super::trial::Trial;
use rig_capture::{Dir, Record, Touched, What};
use rig_oracle::verdict::Doubt;
use rig_testcases::{Action, Injected, Tap};
use rig_units::{Dur, Time};

/// The word for a part of the stimulus that did not happen.
pub const NOT_APPLIED: &str = "stimulus-not-applied";

/// What the rig was to do in a trial and did not: one doubt for all of it. What is found beside it may come of it.
pub fn unapplied(trial: &Trial) -> Option<Doubt> {
    let mut missing = steps(trial, of_the_rig);
    missing.extend(injections(trial));
    doubt(trial, &missing)
}

/// Flows that were started and of which nothing came: what a NIC owes, so that a departure beside it stands.
pub fn idle_flows(trial: &Trial) -> Option<Doubt> {
    doubt(trial, &steps(trial, |trial, _, action| of_a_nic(trial, action)))
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
fn steps(trial: &Trial, idle: impl Fn(&Trial, Dur, &Action) -> Option<String>) -> Vec<String> {
    let steps = trial.script.steps.iter();
    let mut missing: Vec<String> =
        steps.filter_map(|step| idle(trial, step.at, &step.action)).collect();
    // What is started several times is told once.
    missing.dedup();
    missing
}

/// Why a step of the rig's did nothing, if it did.
fn of_the_rig(trial: &Trial, at: Dur, action: &Action) -> Option<String> {
    let (script, observation) = (&trial.script, &trial.observation);
    match action {
        Action::StartStream(stream) => {
            let spec = &script.streams[usize::from(*stream)];
            let sent = observation.streams.get(usize::from(*stream)).map_or(0, |count| count.sent);
            // A search begins with streams of no frames.
            (sent == 0 && spec.count != Some(0))
                .then(|| format!("nothing of {} was sent", spec.name))
        }
        Action::StartStorm(storm) => {
            let spec = &script.storms[usize::from(*storm)];
            let none = !pfc_left(trial, spec.from, Dur::ZERO);
            none.then(|| format!("{} never left", spec.name))
        }
        Action::Pfc(frames) => {
            let none = frames.count > 0 && !pfc_left(trial, frames.from, at);
            let port = &script.ports[usize::from(frames.from)];
            none.then(|| format!("no PFC frame left {port} from {at} on"))
        }
        Action::Configure(setting) => {
            let asked = observation.config.iter().any(|outcome| outcome.setting == *setting);
            let refused = observation.config.iter().find_map(|outcome| outcome.refused.as_ref());
            let refused =
                || refused.map(|why| format!("the device refused a setting on the way: {why}"));
            if asked {
                refused()
            } else {
                Some(format!("the device was not asked for {}", setting.path))
            }
        }
        Action::StartFlow(_)
        | Action::StopStream(_)
        | Action::StopFlow(_)
        | Action::StopStorm(_)
        | Action::LinkDown(_)
        | Action::LinkUp(_)
        | Action::ClearWatermarks(_) => None,
    }
}

/// Why a flow did nothing, if it did.
fn of_a_nic(trial: &Trial, action: &Action) -> Option<String> {
    let (script, observation) = (&trial.script, &trial.observation);
    let Action::StartFlow(flow) = action else { return None };
    let spec = &script.flows[usize::from(*flow)];
    let connection = script.connection(*flow);
    let own = |record: &Record| match record.what {
        What::Roce(roce) => (record.port, roce.connection) == (spec.nic, connection),
        _ => false,
    };
    let known = script.tap(spec.nic) >= Tap::Sampled;
    let none = known && !observation.records.iter().any(own);
    none.then(|| format!("{} sent nothing", spec.name))
}

/// Whether the rig sent PFC by a port from some time on. Where nobody records it nobody can tell: that it did not is not known.
fn pfc_left(trial: &Trial, port: u16, from: Dur) -> bool {
    let observation = &trial.observation;
    let from = Time((Time::ZERO + from).0.saturating_sub(observation.bound().0));
    let pfc = |record: &Record| matches!(record.what, What::Pfc { .. } | What::BadPfc { .. });
    let own = |record: &Record| (record.port, record.dir) == (port, Dir::Tx) && record.at >= from;
    trial.script.tap(port) == Tap::None
        || observation.records.iter().any(|record| own(record) && pfc(record))
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
        format!("{}: no such frame came", injection_text(&trial.script, injection))
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
        What::Roce(roce) => Some((roce.connection, roce.psn, roce.kind)),
        _ => None,
    };
    let came = |record: &&Record| {
        (record.port, record.dir, record.at) == (touched.port, Dir::Rx, touched.at)
    };
    let Some(frame) = records.iter().find(came).and_then(roce) else { return false };
    let left = |record: &Record| {
        record.port != touched.port && record.dir == Dir::Tx && record.at > touched.at
    };
    let known = (0_u16..).zip(&script.ports).all(|(port, _)| script.tap(port) == Tap::All);
    known && !records.iter().any(|record| left(record) && roce(record) == Some(frame))
}
