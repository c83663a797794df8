//! Why a case says nothing of a device: what it rests on does not hold there. Its ports are shaped and a load does not fit, a setting has
//! no meaning, the keys are too short, or all of it happens at one device of several.

use super::{uneven, used_port};
use rig_lab::{Declared, Keys, Kind, Lab, Profile, Setting};
use rig_oracle::measure;
use rig_oracle::trials::context::Context;
use rig_oracle::trials::points::{Varied, groups};
use rig_oracle::trials::seed::Seed;
use rig_testcases::case::Count;
use rig_testcases::running::{TrafficSource, running};
use rig_testcases::{Case, Measure, Script, StreamRate, StreamSpec, Sweep, Wanted};
use rig_units::{L2Rate, PortSpeed};

/// What of the case does not hold on the device, in words; `None`: nothing.
pub(super) fn of(lab: &Lab, profile: &Profile, case: &Case) -> Option<String> {
    keyless(lab, profile, case)
        .or_else(|| slow_host::unread(profile, case))
        .or_else(|| unsaid_speed(profile, case))
        .or_else(|| closed(profile, case))
        .or_else(|| shaped(lab, profile, case))
        .or_else(|| overfull(lab, profile, case))
        .or_else(|| uneven::empty(lab, profile, case))
        .or_else(|| misplaced(profile, case))
        .or_else(|| no_bottleneck(profile, case))
        .or_else(|| apart(profile, case))
        .or_else(|| dropping::of(profile, case))
        .or_else(|| unfounded(lab, profile, case))
        .or_else(|| way::behind(lab, profile, case))
        .or_else(|| slow_host::of(lab, profile, case))
        .or_else(|| few_posted::of(lab, profile, case))
        .or_else(|| memories::of(lab, profile, case))
}

/// Why nothing promises that on which all else rests that the case wants.
fn unfounded(lab: &Lab, profile: &Profile, case: &Case) -> Option<String> {
    let mut founds = case.measure.iter().filter(|one| measure::of(one).founds);
    founds.find_map(|one| unpromised(lab, profile, case, one))
}

/// Why nobody knows what a port negotiates that the case has negotiate: the profile does not say what it supports.
fn unsaid_speed(profile: &Profile, case: &Case) -> Option<String> {
    const PORT: &str = "dynamic_buffer.autoneg_port";
    let own = &profile.declared.switch()?.dynamic_buffer;
    if own.autoneg_port.is_some() || !case.settings.iter().any(|one| one.path == PORT) {
        return None;
    }
    let all = groups(case, &profile.declared).ok()?;
    let is_unsaid = all.iter().filter_map(|group| group.declared.switch()).any(|switch| {
        let from = &switch.dynamic_buffer;
        from.autoneg_port.is_some() && from.advertised.is_none() && from.supported.is_none()
    });
    is_unsaid.then(|| {
        "it has a port negotiate, and nobody says which speeds that supports (dynamic_buffer.supported)"
            .to_owned()
    })
}

/// Why a port that the case uses passes nothing, or comes to a speed that nobody set: so the device is declared.
fn closed(profile: &Profile, case: &Case) -> Option<String> {
    let (path, used) = used_port::used(case, &profile.declared, false)?;
    Some(format!("{used}: so the device is declared ({path})"))
}

/// What the device is configured to once the case has set its own; `None` where that does not fit.
pub(super) fn configured(profile: &Profile, case: &Case) -> Option<Declared> {
    let set = |declared: Declared, setting| declared.with(setting).ok();
    case.settings.iter().try_fold(profile.declared.clone(), set)
}

/// Why what the rig makes a bottleneck of is none: the device's ports are as slow.
fn no_bottleneck(profile: &Profile, case: &Case) -> Option<String> {
    let speed = case.between.bottleneck.as_ref()?.speed;
    let ports = 0..profile.declared.port_count();
    let slowest = ports.filter_map(|port| profile.declared.port_speed(port)).min()?;
    (speed >= slowest).then(|| {
        format!("the rig makes a bottleneck of {speed} before its ports, and they have {slowest}")
    })
}

/// Why the lab's keys do not do for a case with MACsec.
fn keyless(lab: &Lab, profile: &Profile, case: &Case) -> Option<String> {
    let configured = configured(profile, case)?;
    let macsec = &configured.switch()?.macsec;
    let have = lab.keys.as_ref().map_or(0, Keys::key_len);
    let want = macsec.cipher_suite.key_len();
    (macsec.enable && have < want).then(|| match have {
        0 => "its ports speak MACsec, and the lab has no keys (macsec: in the lab file)".to_owned(),
        have => format!("its cipher suite has keys of {want} bytes, and the lab's have {have}"),
    })
}

/// Why what the case measures says nothing of its ports: they are shaped, and it is predicted for ports that are not, or wanted of
/// a load that fits.
fn shaped(lab: &Lab, profile: &Profile, case: &Case) -> Option<String> {
    let groups = groups(case, &profile.declared).ok()?;
    groups.into_iter().find_map(|group| {
        let mut configured = profile.clone().configured(&group.settings).ok()?;
        if let Some(Varied::Speed(speed)) = group.varied {
            configured.run_at(speed);
        }
        let pir = held_back(&configured)?;
        if let Some(one) = case.measure.iter().find(|one| measure::of(one).at_line_rate) {
            let name = one.name();
            return Some(format!(
                "its ports are shaped to {pir}, and {name} is predicted of ports at line rate"
            ));
        }
        let one = case.measure.iter().find(|one| one.wanted("expect") == Wanted::None)?;
        let context = measure::context(lab, profile, case, group, Seed::of_run(0));
        let points = context.points().ok()?;
        let scripts = points.iter().filter_map(|point| context.script(point).ok());
        let to = scripts.into_iter().find_map(|script| too_much(&context, &script, pir))?;
        let name = one.name();
        Some(format!(
            "its ports are shaped to {pir}, the streams to {to} offer more, and that there is no {name} holds of a load that fits"
        ))
    })
}

/// Why nothing promises what the case wants of a measure on the device, configured as the case has it; `None` where it is promised.
pub(super) fn unpromised(
    lab: &Lab,
    profile: &Profile,
    case: &Case,
    asked: &Measure,
) -> Option<String> {
    let unpromised = measure::of(asked).unpromised?;
    let groups = groups(case, &profile.declared).ok()?;
    groups.into_iter().find_map(|group| {
        let context = measure::context(lab, profile, case, group, Seed::of_run(0));
        let points = context.points().ok()?;
        let mut scripts = points.iter().filter_map(|point| context.script(point).ok());
        scripts.find_map(|script| unpromised(asked, &context, &script))
    })
}

/// The rate to which a shaper holds ports back, as slow as it may be, the least where there are several; `None` where all send at their speed.
fn held_back(configured: &Profile) -> Option<L2Rate> {
    let of_one = |device: &Profile| {
        let switch = device.declared.switch()?;
        let pir = switch.scheduler.slowest().pir?;
        switch.ports.iter().any(|group| pir.bps < group.speed.bps()).then_some(pir)
    };
    configured.devices().iter().filter_map(of_one).min()
}

/// A rig port to which streams that run at the same time offer more than `pir`, bits in frames counted; over a system of devices,
/// where they share what is between, all of them.
fn too_much(context: &Context<'_>, script: &Script, pir: L2Rate) -> Option<String> {
    let speed = |port: u16| {
        let dut_port = script.dut_ports.get(usize::from(port)).copied().unwrap_or_default();
        context.group.declared.port_speed(dut_port).unwrap_or(PortSpeed::G100)
    };
    // Nobody knows yet how many frames a searched one sends.
    let searched = |stream: &StreamSpec| {
        context.case.streams.get(&stream.name).is_some_and(|of| of.count == Some(Count::Searched))
    };
    let whole = context.profile.kind == Kind::System;
    running(script, &speed).into_iter().find_map(|(_, senders)| {
        let streams = (0_u16..).zip(&script.streams);
        let runs = |(id, stream): &(u16, &StreamSpec)| {
            searched(stream) || senders.contains(&TrafficSource::Stream(*id))
        };
        let now: Vec<&StreamSpec> = streams.filter(runs).map(|(_, stream)| stream).collect();
        let offered = |to: u16| -> u128 {
            now.iter()
                .filter(|one| whole || one.to == to)
                .map(|one| offers(one, speed(one.from)))
                .sum()
        };
        let to = now.iter().map(|one| one.to).find(|&to| offered(to) > u128::from(pir.bps))?;
        script.ports.get(usize::from(to)).cloned()
    })
}

/// Bits a second in frames that a stream offers, sent at a port of that speed.
fn offers(stream: &StreamSpec, speed: PortSpeed) -> u128 {
    let gap = match stream.rate {
        StreamRate::Every(gap) => gap,
        StreamRate::Load(rate) => rate.pace(stream.on_wire(), speed).gap(),
    };
    u128::from(stream.on_wire().0) * PS_PER_BYTE_AT_1_BPS / u128::from(gap.0.max(1))
}

/// Picoseconds that a byte takes at a bit a second.
const PS_PER_BYTE_AT_1_BPS: u128 = 8_000_000_000_000;

/// Why no device could keep what the case wants: no loss of a class that pauses nobody, where so much is sent to the port for so long
/// that not even one that gave it all its memory would hold what the line does not take.
fn overfull(lab: &Lab, profile: &Profile, case: &Case) -> Option<String> {
    let unpaused = |one: &&Measure| {
        let switch = profile.declared.switch();
        let class = case.streams.get(one.named("stream")).map(|stream| stream.class);
        let pausing = switch.zip(class).map(|(of, class)| of.qos.pfc_enable.contains(&class));
        pausing == Some(false)
    };
    let none = |one: &&Measure| one.entry.loses && one.wanted("expect") == Wanted::None;
    let wanted: Vec<&Measure> = case.measure.iter().filter(none).filter(unpaused).collect();
    if wanted.is_empty() {
        return None;
    }
    let groups = groups(case, &profile.declared).ok()?;
    groups.into_iter().find_map(|group| {
        let context = measure::context(lab, profile, case, group, Seed::of_run(0));
        let points = context.points().ok()?;
        let scripts: Vec<Script> =
            points.iter().filter_map(|point| context.script(point).ok()).collect();
        let name = |one: &&Measure| one.named("stream").to_owned();
        wanted.iter().map(name).find_map(|stream| {
            scripts.iter().find_map(|script| left_over(&context, script, &stream))
        })
    })
}

/// What of a stream's class waits for its port, where it is more than all that the device has to hold it in. Streams of which the number of
/// frames is given are left out: they may have ended.
fn left_over(context: &Context<'_>, script: &Script, stream: &str) -> Option<String> {
    let declared = &context.group.declared;
    let buffer = &declared.switch()?.buffer;
    let memory = u128::from(buffer.pool.0) + u128::from(buffer.lossy_pool.0);
    let of = script.streams.iter().find(|one| one.name == stream)?;
    let speed = |port: u16| {
        let dut_port = script.dut_ports.get(usize::from(port)).copied().unwrap_or_default();
        declared.port_speed(dut_port).unwrap_or(PortSpeed::G100)
    };
    let line = u128::from(speed(of.to).bps());
    let times = running(script, &speed);
    let ends = times.iter().skip(1).map(|(at, _)| *at).chain([script.length]);
    let mut waits = 0_u128;
    let most = times.iter().zip(ends).map(|((from, senders), until)| {
        // Those of other classes wait elsewhere, and a pause may hold them.
        let own = (0_u16..).zip(&script.streams).filter(|(id, one)| {
            let runs = one.count.is_none() && senders.contains(&TrafficSource::Stream(*id));
            (one.to, one.class) == (of.to, of.class) && runs
        });
        let offered: u128 = own.map(|(_, one)| offers(one, speed(one.from))).sum();
        let lasting = u128::from(until.saturating_sub(*from).0);
        let bytes = |bps: u128| bps * lasting / PS_PER_BYTE_AT_1_BPS;
        waits = (waits + bytes(offered)).saturating_sub(bytes(line));
        waits
    });
    let most = most.max().filter(|most| *most > memory)?;
    let port = script.ports.get(usize::from(of.to))?;
    Some(format!(
        "the streams to {port} offer {most} B more than its line takes, class {} pauses nobody, and the device has {memory} B of memory: \
         some must be lost",
        of.class
    ))
}

/// What the case sets of ingress groups on a device whose limits are those of virtual output queues.
fn misplaced(profile: &Profile, case: &Case) -> Option<String> {
    let of_sweep = |sweep: &Sweep| match sweep {
        Sweep::Setting { path, values } => {
            let setting =
                |value: &serde_json::Value| Setting { path: path.clone(), value: value.clone() };
            values.iter().map(setting).collect()
        }
        _ => Vec::new(),
    };
    let swept = case.sweep.iter().flat_map(of_sweep).map(Some);
    let wrong = |swept: Option<Setting>| {
        let settings: Vec<Setting> = case.settings.iter().cloned().chain(swept).collect();
        let configured = profile.clone().configured(&settings).ok()?;
        let wrong =
            |device: &Profile| device.declared.switch()?.buffer.misplaced().first().copied();
        configured.devices().iter().find_map(wrong)
    };
    let path = core::iter::once(None).chain(swept).find_map(wrong)?;
    Some(format!(
        "its limits are those of virtual output queues, and buffer.{path} is of ingress groups"
    ))
}

/// Why a case on a system shows nothing of several devices: no stream that it measures goes from one to another.
fn apart(profile: &Profile, case: &Case) -> Option<String> {
    let system = profile.system.as_deref().filter(|system| system.alone.is_none())?;
    let ports = case.dut_ports(&profile.declared).ok()?;
    let port = |name: &str| {
        let at = case.rig_ports().iter().position(|port| port == name)?;
        ports.get(at).copied()
    };
    let crosses = |name: &str| {
        let stream = case.streams.get(name)?;
        Some(system.way(port(&stream.from)?, port(&stream.to)?)?.len() > 1)
    };
    let measured: Vec<&str> = case.measure.iter().flat_map(Measure::streams).collect();
    let crossing = measured.iter().any(|name| crosses(name) == Some(true));
    (!crossing).then(|| {
        let name = &profile.name;
        format!("no stream that it measures goes over a link between two devices of {name}, as the rig is cabled")
    })
}

mod dropping;
mod few_posted;
mod limited;
mod memories;
mod slow_host;
#[cfg(test)]
mod tests;
mod way;

pub(super) use limited::limited;
