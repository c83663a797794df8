//! Why a case says nothing of a device: what it rests on does not hold there. Its ports are shaped and a load does not fit, a setting has
//! no meaning, the keys are too short, or all of it happens at one device of several.

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
        .or_else(|| shaped(lab, profile, case))
        .or_else(|| overfull(lab, profile, case))
        .or_else(|| misplaced(profile, case))
        .or_else(|| apart(profile, case))
}

/// What the device is configured to once the case has set its own; `None` where that does not fit.
fn configured(profile: &Profile, case: &Case) -> Option<Declared> {
    let set = |declared: Declared, setting| declared.with(setting).ok();
    case.settings.iter().try_fold(profile.declared.clone(), set)
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

/// The rate to which a shaper holds ports back, the least where there are several; `None` where all send at their speed.
fn held_back(configured: &Profile) -> Option<L2Rate> {
    let of_one = |device: &Profile| {
        let switch = device.declared.switch()?;
        let pir = switch.scheduler.pir?;
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
    let none = |one: &&Measure| one.name() == "loss" && one.wanted("expect") == Wanted::None;
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

#[cfg(test)]
mod tests {
    use super::super::applicability;
    use super::*;

    fn shape(device: &mut Profile, pir: Option<L2Rate>) {
        let Declared::Switch(switch) = &mut device.declared else { panic!("it is a switch") };
        switch.scheduler.pir = pir;
    }

    /// What can be done of each bundled case for the first device of the default lab, shaped to so many bits a second.
    fn shaped_to(bps: u64) -> Vec<(String, Option<String>)> {
        let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
        lab.duts.truncate(1);
        shape(&mut lab.duts[0], Some(L2Rate { bps }));
        let suites = rig_testcases::read::bundled(&measure::Registry).expect("the catalogue");
        let cases = suites.into_iter().flat_map(|suite| suite.cases);
        let cases = cases.filter(|case| case.suits(&lab.duts[0]).is_ok());
        let why =
            |case: Case| (case.id.to_string(), applicability::of(&lab, &lab.duts[0], &case).err());
        cases.map(why).collect()
    }

    /// What of a case of one stream from p1 to p3 can be done on the device of that name in the default lab.
    fn on(
        (kind, device): (&str, &str),
        (settings, measure): (&str, &str),
        change: impl FnOnce(&mut Profile),
    ) -> Result<Vec<String>, String> {
        let text = format!(
            "about: a\ndevice: {kind}\ncases:\n  one:\n    why: a\n    source: [a]\n    dut: {settings}\n    streams: {{load: {{from: p1, to: p3, class: 3, kind: udp, size: 64B, every: 1ms, count: 9}}}}\n    taps: {{p3: all}}\n    trials: 1\n    steps: [{{at: 0ms, start: load}}]\n    length: 9ms\n    measure: [{measure}]\n"
        );
        let suite = rig_testcases::read::piped(text.as_bytes(), &measure::Registry);
        let case = suite.unwrap_or_else(|faults| panic!("{faults:#?}")).cases.remove(0);
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let dut = lab.duts.iter().find(|dut| dut.name == device).expect("a device");
        let mut dut = dut.clone();
        change(&mut dut);
        assert_eq!(case.suits(&dut), Ok(()));
        applicability::of(&lab, &dut, &case).map(|reach| reach.left_out)
    }

    /// What can be done of a case that wants no marks on a device shaped to 30 Gb/s, its two loads of 24 Gb/s each started so.
    fn loads(steps: &str, count: &str) -> Result<(), String> {
        let load = |from: &str, count: &str| {
            format!("{{from: {from}, to: p3, class: 3, kind: udp, size: 1024B, rate: 25%{count}}}")
        };
        let (a, b) = (load("p1", count), load("p2", ""));
        let text = format!(
            "about: a\ndevice: switch\ncases:\n  one:\n    why: a\n    source: [a]\n    streams: {{a: {a}, b: {b}}}\n    taps: {{p1: all, p2: all, p3: all}}\n    trials: 1\n    steps: {steps}\n    length: 9ms\n    measure: [ecn.marks: {{stream: a, expect: none}}]\n"
        );
        let suite = rig_testcases::read::piped(text.as_bytes(), &measure::Registry);
        let case = suite.unwrap_or_else(|faults| panic!("{faults:#?}")).cases.remove(0);
        let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
        lab.duts.truncate(1);
        shape(&mut lab.duts[0], Some(L2Rate { bps: 30_000_000_000 }));
        applicability::of(&lab, &lab.duts[0], &case).map(|_| ())
    }

    #[test]
    fn loads_that_fit_one_after_the_other_are_not_added_up() {
        let apart = "[{at: 0ms, start: a, for: 2ms}, {at: 2ms, start: b, for: 2ms}]";
        assert_eq!(loads(apart, ""), Ok(()));
        let at_once = "[{at: 0ms, start: a, for: 2ms}, {at: 1999999ns, start: b, for: 2ms}]";
        let why = loads(at_once, "").expect_err("48 Gb/s for a nanosecond");
        assert!(why.contains("the streams to p3 offer more"), "{why}");
    }

    #[test]
    fn a_load_that_has_sent_its_frames_is_over_and_one_that_is_searched_is_there_all_the_time() {
        let steps = "[{at: 0ms, start: a}, {at: 5ms, start: b, for: 2ms}]";
        assert_eq!(loads(steps, ", count: 9"), Ok(()));
        loads(steps, "").expect_err("it runs to the end");
    }

    const SYSTEM: (&str, &str) = ("system", "two-in-a-row");
    const LOSS: &str = "loss: {stream: load, expect: none}";

    #[test]
    fn what_is_predicted_at_line_rate_is_not_asked_of_a_shaped_port() {
        let shaped = |bps: u64| {
            let all = shaped_to(bps).into_iter();
            let all = all.filter(|(_, why)| why.as_ref().is_some_and(|why| why.contains("shaped")));
            all.map(|(id, _)| id).collect::<Vec<_>>()
        };
        // No slower than the port, but where a case makes that faster.
        assert_eq!(shaped(100_000_000_000), ["headroom::loss-against-speed-broadcom"]);
        let held_back = shaped(30_000_000_000);
        assert!(held_back.contains(&"headroom::response-time-broadcom".to_owned()));
        assert!(!held_back.contains(&"buffers::xoff-threshold-broadcom".to_owned()));
    }

    #[test]
    fn a_load_that_the_line_carries_and_the_shaper_does_not_shows_no_fault_of_the_device() {
        let of = |all: &[(String, Option<String>)], id: &str| {
            let own = all.iter().find(|(own, _)| own == id);
            own.expect("it suits").1.clone().unwrap_or_default()
        };
        let (ample, scarce) = (shaped_to(97_000_000_000), shaped_to(30_000_000_000));
        // Twice 49 % of 100 Gb/s with 20 B beside each frame.
        let marks = "ecn::none-under-a-load-that-fits-broadcom";
        assert_eq!(of(&ample, marks), "");
        assert_eq!(
            of(&scarce, marks),
            "its ports are shaped to 30Gbps-L2, the streams to p2 offer more, and that there is no ecn.marks holds of a load that fits"
        );
        for id in [
            "headroom::pause-stays-on-its-link-broadcom",
            "pfcwd::restoration-of-forward-broadcom",
            "buffers::slow-receiver-with-dynamic-sharing-broadcom",
        ] {
            assert!(of(&scarce, id).contains("shaped"), "{id}");
        }
    }

    #[test]
    fn limits_of_ingress_groups_are_not_set_on_virtual_output_queues() {
        let set = ("{buffer: {port_dynamic_th: -1}}", LOSS);
        assert_eq!(on(("switch", "broadcom"), set, |_| {}), Ok(Vec::new()));
        let why = "its limits are those of virtual output queues, and buffer.port_dynamic_th is of ingress groups";
        assert_eq!(on(("switch", "voq"), set, |_| {}), Err(why.to_owned()));
    }

    #[test]
    fn a_case_on_a_system_in_which_no_stream_leaves_its_switch_shows_nothing_of_it() {
        assert_eq!(on(SYSTEM, ("{}", LOSS), |_| {}), Ok(Vec::new()));
        // p3 is at the near switch, too.
        let at_one = on(SYSTEM, ("{}", LOSS), |whole| {
            let system = whole.system.as_mut().expect("it is one");
            system.ports[2] = rig_lab::DevicePort { device: 0, port: 2 };
        });
        let why = "no stream that it measures goes over a link between two devices of two-in-a-row, as the rig is cabled";
        assert_eq!(at_one, Err(why.to_owned()));
    }

    #[test]
    fn a_shaper_of_any_device_of_a_system_counts() {
        let latency = ("{}", "latency: {stream: load}");
        assert_eq!(on(SYSTEM, latency, |_| {}), Ok(Vec::new()));
        for device in [0, 1] {
            let shaped = on(SYSTEM, latency, |whole| {
                let system = whole.system.as_mut().expect("it is one");
                let pir = Some(L2Rate { bps: 30_000_000_000 });
                shape(&mut system.devices[device], pir);
            });
            let why =
                "its ports are shaped to 30Gbps-L2, and latency is predicted of ports at line rate";
            assert_eq!(shaped, Err(why.to_owned()));
        }
    }
}
