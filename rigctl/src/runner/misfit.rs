//! Why a case says nothing of a device: what it rests on does not hold there. A load does not fit its ports, a setting has no meaning, the keys are too short, or all of it happens at one device of several.

use rig_lab::{Declared, Keys, Kind, Lab, Profile, Setting};
use rig_oracle::measure;
use rig_testcases::case::CaseAction;
use rig_testcases::{Amount, Case, Measure, StreamRate, Sweep, Wanted};
use rig_units::Dur;

/// What of the case does not hold on the device, in words; `None`: nothing.
pub(super) fn of(lab: &Lab, profile: &Profile, case: &Case) -> Option<String> {
    keyless(lab, profile, case)
        .or_else(|| shaped(profile, case))
        .or_else(|| overfull(profile, case))
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
fn shaped(profile: &Profile, case: &Case) -> Option<String> {
    let configured = profile.clone().configured(&case.settings).ok()?;
    let held_back = |device: &Profile| {
        let switch = device.declared.switch()?;
        let pir = switch.scheduler.pir?;
        switch.ports.iter().any(|group| pir.bps < group.speed.bps()).then_some(pir)
    };
    let pir = configured.devices().iter().filter_map(held_back).min()?;
    if let Some(one) = case.measure.iter().find(|one| measure::of(one).at_line_rate) {
        let name = one.name();
        return Some(format!(
            "its ports are shaped to {pir}, and {name} is predicted of ports at line rate"
        ));
    }
    let one = case.measure.iter().find(|one| one.wanted("expect") == Wanted::None)?;
    let too_much = |to: &&String| offered(&configured, case, to) > u128::from(pir.bps);
    let to = case.streams.values().map(|stream| &stream.to).find(too_much)?;
    let name = one.name();
    Some(format!(
        "its ports are shaped to {pir}, the streams to {to} offer more, and that there is no {name} holds of a load that fits"
    ))
}

/// Why no device could keep what the case wants: it wants no loss of a class that pauses nobody, and so much is sent to the port for so
/// long that not even a device that gave all its memory to it would hold what the line does not take.
fn overfull(profile: &Profile, case: &Case) -> Option<String> {
    let configured = profile.clone().configured(&case.settings).ok()?;
    let switch = configured.declared.switch()?;
    let ports = case.dut_ports(&configured.declared).unwrap_or_default();
    let speed = |name: &str| {
        let at = case.rig_ports().iter().position(|port| port == name)?;
        configured.declared.port_speed(*ports.get(at)?)
    };
    let memory = u128::from(switch.buffer.pool.0) + u128::from(switch.buffer.lossy_pool.0);
    let wanted = case.measure.iter().filter(|one| one.wanted("expect") == Wanted::None);
    wanted.filter(|one| one.name() == "loss").find_map(|one| {
        let stream = case.streams.get(one.named("stream"))?;
        if switch.qos.pfc_enable.contains(&stream.class) {
            return None;
        }
        let line = u128::from(speed(&stream.to)?.bps());
        let more = offered(&configured, case, &stream.to).checked_sub(line)?;
        let lasting = together(case, &stream.to)?;
        let left = more * u128::from(lasting.0) / 8_000_000_000_000;
        (left > memory).then(|| {
            let (to, class) = (&stream.to, stream.class);
            format!(
                "the streams to {to} offer {left} B more within {lasting} than its line takes, class {class} pauses nobody, and \
                 the device has {memory} B of memory: some must be lost"
            )
        })
    })
}

/// How long all streams to a rig port are sent at once; `None` where the case does not say it in plain times.
fn together(case: &Case, to: &str) -> Option<Dur> {
    let plain = |amount: &Amount| match amount {
        Amount::Exactly(dur) => Some(*dur),
        Amount::Of { .. } | Amount::Swept(_) => None,
    };
    let own = case.streams.iter().filter(|(_, stream)| stream.to == to);
    let sent = own.map(|(name, stream)| {
        let mut starts = case.steps.iter().filter_map(|step| match &step.what {
            CaseAction::Start { names, lasting } if names.contains(name) => {
                Some((&step.at, lasting.as_ref()?))
            }
            _ => None,
        });
        let (at, lasting) = starts.next().filter(|_| stream.count.is_none())?;
        let from = plain(at)?;
        Some((from, from + plain(lasting)?))
    });
    let sent: Vec<(Dur, Dur)> = sent.collect::<Option<_>>()?;
    let from = sent.iter().map(|(from, _)| *from).max()?;
    let until = sent.iter().map(|(_, until)| *until).min()?;
    Some(until.saturating_sub(from))
}

/// Bits a second in frames that all streams to a rig port offer it; over a system of devices, where they share what is between, all.
fn offered(profile: &Profile, case: &Case, to: &str) -> u128 {
    let ports = case.dut_ports(&profile.declared).unwrap_or_default();
    let speed = |name: &str| {
        let at = case.rig_ports().iter().position(|port| port == name)?;
        profile.declared.port_speed(*ports.get(at)?)
    };
    let own = case.streams.values().filter(|one| one.to == to || profile.kind == Kind::System);
    let bps = own.filter_map(|stream| {
        let gap = match stream.rate {
            StreamRate::Every(gap) => gap,
            StreamRate::Load(rate) => rate.pace(stream.size, speed(&stream.from)?).gap(),
        };
        Some(u128::from(stream.size.0) * 8_000_000_000_000 / u128::from(gap.0.max(1)))
    });
    bps.sum()
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
    use rig_units::L2Rate;

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

    const SYSTEM: (&str, &str) = ("system", "two-in-a-row");
    const LOSS: &str = "loss: {stream: load, expect: none}";

    #[test]
    fn what_is_predicted_at_line_rate_is_not_asked_of_a_shaped_port() {
        let shaped = |bps: u64| {
            let all = shaped_to(bps).into_iter();
            let all = all.filter(|(_, why)| why.as_ref().is_some_and(|why| why.contains("shaped")));
            all.map(|(id, _)| id).collect::<Vec<_>>()
        };
        assert_eq!(shaped(100_000_000_000), [""; 0], "no slower than the port");
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
