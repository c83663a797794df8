//! A case on ports that are slower than it was written for. What it counts takes longer there, and so does a pause: a queue may be held until the
//! watchdog takes it for a stormed one, and what is held at the end of a trial lies in the next one's way. Which of the two it was meant to be is what
//! comes of it on fast ports.

mod length;

use self::length::outlived;
use super::held::{most_searched, sending, tail};
use super::unfit::{Missing, Unfit};
use rig_lab::{Declared, Lab, Profile};
use rig_oracle::measure::{self, Fires};
use rig_oracle::trials::context::Context;
use rig_oracle::trials::points::groups;
use rig_oracle::trials::seed::Seed;
use rig_testcases::{Action, Case, Script, StormSpec, StreamSpec, Sweep};
use rig_units::{Bytes, Dur, PortSpeed};

/// Ports that every case of the catalogue is written for.
const FAST: PortSpeed = PortSpeed::G100;

/// The case as it is run there; what it does without is added to `left_out`.
///
/// # Errors
/// What the watchdog makes of it that the case does not mean.
pub(super) fn of(
    lab: &Lab,
    profile: &Profile,
    case: Case,
    left_out: &mut Vec<String>,
) -> Result<Case, Unfit> {
    let ports = case.dut_ports(&profile.declared).unwrap_or_default().into_iter();
    let mut speeds = ports.filter_map(|port| profile.declared.port_speed(port));
    let is_slow = speeds.any(|speed| speed < FAST);
    // Of ports of other speeds each has its own.
    let varies = case.sweep.iter().any(|one| matches!(one, Sweep::Speed { .. }));
    let is_guarded = !case.storms.is_empty() && profile.family().is_some();
    if varies
        && is_guarded
        && let Some(why) = rare(lab, profile, &case)
    {
        return Err(Missing::Lab.so(why));
    }
    if !is_slow || varies {
        return Ok(case);
    }
    let mut fast = profile.clone();
    fast.run_at(FAST);
    let case = outlived(lab, (profile, &fast), case);
    if let Some(why) = broken(lab, profile, &case)
        && broken(lab, &fast, &case).is_none()
    {
        return Err(Missing::Lab.so(format!("at the speed of its ports {why}")));
    }
    match is_guarded {
        true => of_storms(lab, (profile, &fast), case, left_out),
        false => Ok(case),
    }
}

/// As [`of`], of a case with storms.
fn of_storms(
    lab: &Lab,
    (profile, fast): (&Profile, &Profile),
    mut case: Case,
    left_out: &mut Vec<String>,
) -> Result<Case, Unfit> {
    if let Some(why) = rare(lab, profile, &case)
        && rare(lab, fast, &case).is_none()
    {
        return Err(Missing::Lab.so(why));
    }
    if let Some(why) = outlasts(lab, (profile, fast), &case) {
        let of_size = |size: Bytes| {
            let mut one = case.clone();
            if let Some(Sweep::Size { sizes, .. }) = one.sweep.first_mut() {
                *sizes = vec![size];
            }
            outlasts(lab, (profile, fast), &one).is_none()
        };
        let swept = match &case.sweep[..] {
            [Sweep::Size { sizes, .. }] => sizes.clone(),
            _ => Vec::new(),
        };
        let fit: Vec<Bytes> = swept.iter().copied().filter(|size| of_size(*size)).collect();
        let Some(Sweep::Size { stream, sizes }) =
            case.sweep.first_mut().filter(|_| !fit.is_empty())
        else {
            return Err(Missing::Lab.so(why));
        };
        let not: Vec<String> =
            sizes.iter().filter(|size| !fit.contains(size)).map(Bytes::to_string).collect();
        left_out.push(format!("frames of {} in {stream}: {why}", not.join(", ")));
        *sizes = fit;
    }
    let [meant, most] = [fast, profile].map(|one| last_pause(lab, one, &case));
    // What was to be over by the end of a trial is over by then.
    let is_over = |pause: Dur, rest: Dur| pause <= rest;
    Ok(match (meant, most) {
        (Some((fast, left)), Some((pause, rest)))
            if is_over(fast, left) && !is_over(pause, rest) =>
        {
            case.lengthened(pause)
        }
        _ => case,
    })
}

/// Why a storm is not what it is on fast ports: polls lie between two of its frames, or a single frame pauses a class for as long as the
/// watchdog waits.
fn rare(lab: &Lab, profile: &Profile, case: &Case) -> Option<String> {
    let each = scripts(lab, profile, case, |context, script| {
        let declared = &context.group.declared;
        let speed = |storm: &StormSpec| {
            let port = script.dut_ports.get(usize::from(storm.from))?;
            declared.port_speed(*port)
        };
        let rare = measure::too_rare(context, script).filter(|_| !case.is_about_gaps());
        if let Some((storm, poll)) = rare {
            let (name, every, speed) = (&storm.name, storm.every, speed(storm)?);
            return Some(format!(
                "at {speed} {name} is refreshed every {every}, and the device looks every {poll}: there has to be a PFC frame in every poll interval"
            ));
        }
        let waits = context.switch().pfcwd.detection_time;
        let lasts = |storm: &StormSpec| tail(declared, script, storm);
        let storm = script.storms.iter().find(|storm| lasts(storm) >= waits)?;
        let (name, lasts, speed) = (&storm.name, lasts(storm), speed(storm)?);
        Some(format!(
            "at {speed} a single frame of {name} pauses for {lasts}, which is as long as a storm is (pfcwd.detection_time {waits})"
        ))
    });
    each.into_iter().next()
}

/// Why a trial of the case is none: one of its steps comes behind its end, or what it sends does not fit.
fn broken(lab: &Lab, profile: &Profile, case: &Case) -> Option<String> {
    let all = groups(case, &profile.declared).ok()?;
    all.into_iter().find_map(|group| {
        let context = measure::context(lab, profile, case, group, Seed::of_run(0));
        let points = context.points().ok()?;
        points.iter().find_map(|point| context.script(point).err().map(|fault| fault.found))
    })
}

/// What `of` says of each trial of the case, as many frames as are searched at most.
fn scripts<T>(
    lab: &Lab,
    profile: &Profile,
    case: &Case,
    of: impl Fn(&Context<'_>, &Script) -> Option<T>,
) -> Vec<T> {
    let mut all = Vec::new();
    for group in groups(case, &profile.declared).unwrap_or_default() {
        let context = measure::context(lab, profile, case, group, Seed::of_run(0));
        for mut point in context.points().unwrap_or_default() {
            if let Some(switch) = context.group.declared.switch() {
                point.counts = most_searched(case, switch, &context.values());
            }
            let script = context.script(&point).ok();
            all.extend(script.and_then(|script| of(&context, &script)));
        }
    }
    all
}

/// Why a case that is about no watchdog rests on one that does nothing, and has one that may.
fn outlasts(lab: &Lab, (profile, fast): (&Profile, &Profile), case: &Case) -> Option<String> {
    let meant = storms(lab, fast, case);
    let seen = storms(lab, profile, case);
    let mut both = meant.iter().zip(&seen);
    let (_, (name, lasts, _)) =
        both.find(|((_, _, fast), (_, _, slow))| *fast == Fires::Never && *slow != Fires::Never)?;
    let switch = profile.clone().configured(&case.settings).ok()?;
    let detection = switch.declared.switch()?.pfcwd.detection_time;
    Some(format!(
        "at the speed of its ports {name} lasts {lasts}, which its watchdog may take for a storm (pfcwd.detection_time {detection}), and the case rests on one that never fires"
    ))
}

/// Each storm, how long it pauses whenever it is started, its last frame's pause counted, and whether the watchdog fires in it; none
/// where a measure is about that.
fn storms(lab: &Lab, profile: &Profile, case: &Case) -> Vec<(String, Dur, Fires)> {
    let mut all = Vec::new();
    for group in groups(case, &profile.declared).unwrap_or_default() {
        let context = measure::context(lab, profile, case, group, Seed::of_run(0));
        let Some(watch) = context.watch.as_ref().filter(|watch| !watch.is_measured()) else {
            continue;
        };
        for mut point in context.points().unwrap_or_default() {
            point.counts = most_searched(case, context.switch(), &context.values());
            let Ok(script) = context.script(&point) else { continue };
            all.extend(sending(&script).into_iter().map(|(id, sends)| {
                let storm = &script.storms[usize::from(id)];
                let tail = tail(&context.group.declared, &script, storm);
                (storm.name.clone(), sends + tail, watch.fires(sends, tail))
            }));
        }
    }
    all
}

/// The pause of the last frame of the storm that is stopped last, with what it takes to send what it holds, and how long the trial goes on after
/// that, where that lacks most or leaves least.
fn last_pause(lab: &Lab, profile: &Profile, case: &Case) -> Option<(Dur, Dur)> {
    let each = scripts(lab, profile, case, |context, script| {
        let stops = script.steps.iter().filter_map(|step| match step.action {
            Action::StopStorm(id) => Some((step.at, id)),
            _ => None,
        });
        let (at, id) = stops.max()?;
        let storm = script.storms.get(usize::from(id))?;
        let declared = &context.group.declared;
        let pause = tail(declared, script, storm) + held(declared, script, storm);
        Some((pause, script.length.saturating_sub(at)))
    });
    each.into_iter().min_by_key(|(pause, rest)| i128::from(rest.0) - i128::from(pause.0))
}

/// How long the port of a storm takes to send all the frames of streams that it holds: one after the other, at its own speed.
fn held(declared: &Declared, script: &Script, storm: &StormSpec) -> Dur {
    let port = script.dut_ports.get(usize::from(storm.from));
    let speed = port.and_then(|port| declared.port_speed(*port)).unwrap_or(FAST);
    let is_held = |one: &&StreamSpec| one.to == storm.from && storm.classes >> one.class & 1 == 1;
    let frames =
        |one: &StreamSpec| speed.slot(one.on_wire()).saturating_mul(one.count.unwrap_or(0));
    let all = script.streams.iter().filter(is_held).map(frames);
    all.fold(Dur::ZERO, Dur::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::super::{bundled, fits};
    use super::*;
    use rig_testcases::Amount;

    /// What is run of a bundled case on broadcom's switch with eight ports of that speed.
    fn at(speed: &str, id: &str) -> Result<(Case, Vec<String>), String> {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let mut dut = lab.duts[0].clone();
        dut.run_at(speed.parse().expect("a speed"));
        let case = bundled::cases().iter().find(|case| case.id.to_string() == id);
        let mut left_out = Vec::new();
        let case = case.unwrap_or_else(|| panic!("{id}")).clone();
        let case = fits::paced(&dut, case, &mut left_out).expect("it fits");
        let case = of(&lab, &dut, case, &mut left_out).map_err(|unfit| unfit.why)?;
        Ok((case, left_out))
    }

    #[test]
    fn a_storm_that_is_another_one_at_slow_ports_is_none_for_the_watchdog() {
        let why = |speed, id: &str| at(speed, &format!("pfcwd::{id}-broadcom")).err();
        assert_eq!(why("1Gbps", "multi-port-storm"), None);
        insta::assert_snapshot!(why("50Mbps", "multi-port-storm").expect("rare"), @"at 50Mbps storms-p2 is refreshed every 335.5392ms, and the device looks every 100ms: there has to be a PFC frame in every poll interval");
        insta::assert_snapshot!(why("50Mbps", "idle-queue-is-stormed").expect("one frame"), @"at 50Mbps a single frame of storm pauses for 671.0784ms, which is as long as a storm is (pfcwd.detection_time 200ms)");
    }

    #[test]
    fn a_case_of_which_a_step_comes_too_late_there_is_skipped() {
        let id = "reboot::warm-reboot-obeys-pfc-broadcom";
        assert!(at("1Gbps", id).is_ok());
        insta::assert_snapshot!(at("50Mbps", id).expect_err("it is too late"), @"at the speed of its ports the trial ends at 450ms, and a step at 468.712ms");
    }

    #[test]
    fn trials_last_until_the_stream_of_a_slow_port_is_through() {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let mut dut = lab.duts[0].clone();
        let id = "buffers::lossy-drop-threshold-broadcom";
        let case = bundled::cases().iter().find(|case| case.id.to_string() == id);
        let case = case.expect("a case");
        let length = |dut: &Profile| {
            let case = of(&lab, dut, case.clone(), &mut Vec::new()).expect("it fits");
            case.length.expect("as it says")
        };
        let is_of =
            |length: Amount, name: &str| matches!(length, Amount::Of { of, .. } if of == name);
        assert!(is_of(length(&dut), "one"));
        let Declared::Switch(switch) = &mut dut.declared else { panic!("a switch") };
        let speeds = ["100Gbps", "100Gbps", "1Gbps"]
            .map(|speed| serde_json::json!({"count": 1, "speed": speed}));
        switch.ports = serde_json::from_value(serde_json::json!(speeds)).expect("ports");
        assert!(is_of(length(&dut), "another"));
    }

    #[test]
    fn what_holds_a_queue_for_longer_than_the_watchdog_waits_is_left_out() {
        let id = "headroom::loss-against-frame-size-broadcom";
        let of = |speed| {
            let (case, left_out) = at(speed, id).expect("some fit");
            let [Sweep::Size { sizes, .. }] = &case.sweep[..] else { panic!("{:?}", case.sweep) };
            (sizes.iter().map(|size| size.0).collect::<Vec<_>>(), left_out)
        };
        assert_eq!(of("1Gbps"), (vec![128, 200, 256, 512, 1024, 4096], Vec::new()));
        let (sizes, left_out) = of("50Mbps");
        assert_eq!(sizes, [128, 200, 256, 512, 1024]);
        insta::assert_snapshot!(left_out.join("\n"), @"frames of 4096B in load: at the speed of its ports hold lasts 8.6737984s, which its watchdog may take for a storm (pfcwd.detection_time 5s), and the case rests on one that never fires");
    }

    #[test]
    fn a_pause_that_lasts_longer_on_slow_ports_is_over_by_the_end_of_a_trial() {
        let id = "buffers::threshold-over-frame-sizes-broadcom";
        let length = |speed| at(speed, id).expect("it fits").0.length;
        let meant = bundled::cases().iter().find(|case| case.id.to_string() == id);
        let meant = meant.expect("it is in the catalogue").clone();
        assert_eq!(length("1Gbps"), meant.length);
        let slow: PortSpeed = "50Mbps".parse().expect("a speed");
        let pause = slow.pause(rig_units::Quanta(u16::MAX));
        let plus = |length: Option<Amount>| match length {
            Some(Amount::Of { plus, .. }) => plus,
            other => panic!("{other:?}"),
        };
        // And until what it held has left.
        assert!(plus(length("50Mbps")) >= plus(meant.lengthened(pause).length));
    }
}
