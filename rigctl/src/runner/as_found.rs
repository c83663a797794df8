//! A case on a device that nobody can configure, or not in all that the case sets. What of that the control does not set, the device is configured to has to be what the case sets, or what it takes as it
//! finds it (`found:`); then all that happens goes with what is found, and the watchdog has to see of each storm what it was meant to see.

use super::held::{most_searched, sending, tail};
use super::unfit::{Missing, Unfit};
use rig_lab::{Fault, Lab, Profile, Setting, settings};
use rig_oracle::measure::{self, Fires};
use rig_oracle::trials::points::groups;
use rig_oracle::trials::seed::Seed;
use rig_testcases::case::CaseAction;
use rig_testcases::{Accepts, Case, Sweep};
use rig_units::{Bytes, Dur, PortSpeed};

/// The case as it is run there, where the control `sets` what is at some paths; what it does without is added to `left_out`.
///
/// # Errors
/// What the device would have to be configured for, or what does not fit of what is found.
pub(super) fn of(
    lab: &Lab,
    profile: &Profile,
    (case, sets): (&Case, &dyn Fn(&str) -> bool),
    left_out: &mut Vec<String>,
) -> Result<Case, Unfit> {
    // What is set is no more as it is found.
    let own = case.settings.iter().filter(|setting| sets(&setting.path));
    let profile = &profile
        .clone()
        .configured(&own.cloned().collect::<Vec<_>>())
        .map_err(|bad| Missing::Control.so(bad.to_string()))?;
    let declared = &profile.declared;
    let taken = |path: &str| case.found.get(path).is_some_and(|one| one.takes(path, declared));
    let lacks: Vec<String> =
        lacks(profile, case).filter(|(path, _)| !sets(path)).map(|(_, lack)| lack).collect();
    if !lacks.is_empty() {
        return Err(to_configure(&lacks));
    }
    let configures = |action: &CaseAction| match action {
        CaseAction::Configure(setting) if !sets(&setting.path) => Some(setting.path.clone()),
        _ => None,
    };
    let on_the_way = case.steps.iter().filter_map(|step| configures(&step.what));
    // What it changes may stay as it is only where the case says that nothing goes with it.
    let stays = |path: &str| case.found.get(path) == Some(&Accepts::Any);
    if let Some(path) = on_the_way.clone().find(|path| !stays(path)) {
        let why = format!("the case changes {path} on the way, and nothing here can");
        return Err(Missing::Control.so(why));
    }
    let mut found = points(profile, (case, sets), left_out)?;
    let mut changed: Vec<String> = on_the_way.collect();
    changed.dedup();
    left_out.extend(
        changed.iter().map(|path| format!("{path} is not changed on the way: nothing here can")),
    );
    found.steps.retain(|step| configures(&step.what).is_none());
    found.settings.retain(|setting| !taken(&setting.path) || lack(profile, setting).is_none());
    let [times, frames] = case.proportions(declared);
    let dut_ports = case.dut_ports(declared).map_err(|why| Missing::Found.so(why))?;
    let ports = case.rig_ports();
    let speed = |port: &str| {
        let at = ports.iter().position(|name| name == port).and_then(|at| dut_ports.get(at));
        at.and_then(|port| declared.port_speed(*port)).unwrap_or(PortSpeed::G100)
    };
    let slot = |port: &str, size| speed(port).slot(size);
    let found = found.stretched(times, frames, slot);
    if found == *case {
        return Ok(found);
    }
    // A pause stays as long as it is, however much sooner all else happens: what the last one holds leaves after it.
    let pauses = case.storms.values().map(|storm| speed(&storm.from).pause(storm.quanta));
    let found = match pauses.max() {
        Some(pause) if times.0 < times.1 => found.lengthened(pause),
        _ => found,
    };
    soon_enough(lab, profile, case, found, slot)
}

/// The case as it is found, its counted frames as much sooner as the watchdog leaves a held queue alone: a large memory takes long to fill. Where
/// nothing has to be sooner, nothing is.
fn soon_enough(
    lab: &Lab,
    profile: &Profile,
    case: &Case,
    found: Case,
    slot: impl Fn(&str, Bytes) -> Dur + Copy,
) -> Result<Case, Unfit> {
    let Err(why) = same_to_the_watchdog(lab, profile, case, &found) else { return Ok(found) };
    let mut before = found.clone();
    for doubled in 1..=MOST_DOUBLED {
        let hurried = found.clone().hurried(1 << doubled, slot);
        if hurried == before {
            break;
        }
        if same_to_the_watchdog(lab, profile, case, &hurried).is_ok() {
            return Ok(hurried);
        }
        before = hurried;
    }
    Err(Missing::Found.so(why))
}

/// How often the pace of what fills a memory is doubled at most: by then any port is full.
const MOST_DOUBLED: u32 = 16;

/// The case with those points of its sweep of settings that the device is at. Where it is at none, and may be found elsewhere, there is
/// that one instead.
fn points(
    profile: &Profile,
    (case, sets): (&Case, &dyn Fn(&str) -> bool),
    left_out: &mut Vec<String>,
) -> Result<Case, Unfit> {
    let mut found = case.clone();
    let mut lacking: Vec<String> = Vec::new();
    found.sweep.retain_mut(|sweep| {
        let Sweep::Setting { path, values } = sweep else { return true };
        if sets(path) {
            return true;
        }
        let own = |value: &serde_json::Value| {
            lack(profile, &Setting { path: path.clone(), value: value.clone() })
        };
        let lacks: Vec<String> = values.iter().filter_map(own).collect();
        values.retain(|value| own(value).is_none());
        let takes = |one: &Accepts| one.takes(path, &profile.declared);
        if !values.is_empty() || !case.found.get(path).is_some_and(takes) {
            left_out.extend(lacks.iter().map(|lack| format!("{lack}: nothing here configures it")));
            lacking.extend(lacks);
        }
        !values.is_empty()
    });
    let of_settings = |case: &Case| {
        case.sweep.iter().filter(|sweep| matches!(sweep, Sweep::Setting { .. })).count()
    };
    if of_settings(case) > 0 && of_settings(&found) == 0 && !lacking.is_empty() {
        return Err(to_configure(&lacking));
    }
    Ok(found)
}

fn to_configure(lacks: &[String]) -> Unfit {
    Missing::Control.so(format!("it would have to be configured: {}", lacks.join(", ")))
}

/// Settings of the case, those that it sweeps left out, that the device does not declare and the case does not take as they are.
fn lacks<'a>(profile: &'a Profile, case: &'a Case) -> impl Iterator<Item = (&'a str, String)> {
    let swept = |path: &str| {
        case.sweep
            .iter()
            .any(|sweep| matches!(sweep, Sweep::Setting { path: other, .. } if other == path))
    };
    let once = case.settings.iter().filter(move |setting| {
        let takes = |one: &Accepts| one.takes(&setting.path, &profile.declared);
        let taken = case.found.get(&setting.path).is_some_and(takes);
        settings::configurable(&setting.path) && !swept(&setting.path) && !taken
    });
    once.filter_map(|setting| Some((setting.path.as_str(), lack(profile, setting)?)))
}

/// What the device declares in place of `setting`; `None` where it is that.
fn lack(profile: &Profile, setting: &Setting) -> Option<String> {
    let Setting { path, value } = setting;
    let show = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Null => "never".to_owned(),
        other => other.to_string(),
    };
    if profile.declared.satisfies(setting) == Ok(true) {
        return None;
    }
    let has = profile.declared.get(path).map_or_else(|| "never".to_owned(), |has| show(&has));
    Some(format!("{path}={} (it declares {has})", show(value)))
}

/// Refuses what is found where the device's watchdog makes something else of a storm of the case than that of the device that the case
/// would have configured.
fn same_to_the_watchdog(
    lab: &Lab,
    profile: &Profile,
    case: &Case,
    found: &Case,
) -> Result<(), String> {
    if case.storms.is_empty() || profile.family().is_none() {
        return Ok(());
    }
    let meant = storms(lab, profile, case, false)?;
    let seen = storms(lab, profile, found, true)?;
    let word = |fires: &Fires| match fires {
        Fires::Never => "never fires",
        Fires::Perhaps => "may fire or not",
        Fires::Always => "always fires",
    };
    for ((name, _, meant), (_, length, seen)) in meant.iter().zip(&seen) {
        if *meant != Fires::Perhaps && meant != seen {
            let (is, was) = (word(seen), word(meant));
            return Err(format!(
                "as the device is found {name} lasts {length}, in which its watchdog {is}: the case rests on one that {was}"
            ));
        }
    }
    Ok(())
}

/// How long each storm sends whenever it is started, at the configuration of the case where it sends longest, and whether the watchdog
/// fires in it. Of a stream whose number of frames is searched `searched` says that as many are sent as a search may try; else it sends
/// none.
fn storms(
    lab: &Lab,
    profile: &Profile,
    case: &Case,
    searched: bool,
) -> Result<Vec<(String, Dur, Fires)>, String> {
    let misfit = |why: String| format!("as it is found the case does not fit the device: {why}");
    let mut all: Vec<(String, Dur, Fires)> = Vec::new();
    for group in groups(case, &profile.declared).map_err(|bad| misfit(bad.to_string()))? {
        let context = measure::context(lab, profile, case, group, Seed::of_run(0));
        let points = context.points().map_err(|name| misfit(format!("`{name}` has no value")))?;
        let Some(mut point) = points.into_iter().next() else { continue };
        if searched {
            point.counts = most_searched(case, context.switch(), &context.values());
        }
        let script = context.script(&point).map_err(|fault| misfit(in_a_line(&fault)))?;
        let Some(watch) = &context.watch else { continue };
        let of = sending(&script).into_iter().map(|(id, sends)| {
            let storm = &script.storms[usize::from(id)];
            (storm.name.clone(), sends, watch.fires(sends, tail(&profile.declared, &script, storm)))
        });
        for (at, one) in of.enumerate() {
            match all.get_mut(at) {
                Some(longest) if longest.1 < one.1 => *longest = one,
                Some(_) => {}
                None => all.push(one),
            }
        }
    }
    Ok(all)
}

/// A fault as a reason among others, without the line of the file.
fn in_a_line(fault: &Fault) -> String {
    format!("{}; it would take {}", fault.found, fault.want)
}

#[cfg(test)]
mod tests;
