//! Ports of several speeds. A case that asks for no speeds is written for ports of one: a share of a port is of one that what is sent goes to,
//! too, or a load that fits everywhere else floods the slower of the two.

use rig_lab::{Lab, Profile};
use rig_oracle::measure::{self, unfilled};
use rig_oracle::trials::points::groups;
use rig_oracle::trials::seed::Seed;
use rig_testcases::{Case, StreamRate, Sweep, Wanted};
use rig_units::{PortSpeed, Rate};
use std::borrow::Cow;

/// The case with each load a share of the slower of the two ports between which it goes.
pub(super) fn of<'a>(profile: &Profile, case: &'a Case) -> Cow<'a, Case> {
    let mut own = Cow::Borrowed(case);
    let of_sender = |name: &String| {
        let mut all = case.measure.iter().filter(|one| measure::of(one).of_sender);
        all.any(|one| one.streams().contains(&name.as_str()))
    };
    let slower =
        case.streams.iter().filter(|(name, _)| !of_sender(name)).filter_map(|(name, stream)| {
            let StreamRate::Load(Rate::Share(mut share)) = stream.rate else { return None };
            let [from, to] = speeds(profile, case, [&stream.from, &stream.to])?;
            if to >= from {
                return None;
            }
            let of = u128::from(share.ppm) * u128::from(to.bps()) / u128::from(from.bps());
            share.ppm = u32::try_from(of).ok()?.max(1);
            Some((name, StreamRate::Load(Rate::Share(share))))
        });
    for (name, rate) in slower {
        if let Some(stream) = own.to_mut().streams.get_mut(name) {
            stream.rate = rate;
        }
    }
    own
}

/// The speeds of the device's ports behind two of the rig; `None` where the case itself says what they are to be.
fn speeds(profile: &Profile, case: &Case, names: [&str; 2]) -> Option<[PortSpeed; 2]> {
    let varies = case.sweep.iter().any(|one| matches!(one, Sweep::Speed { .. }));
    if !case.ports.is_empty() || varies {
        return None;
    }
    let (dut_ports, ports) = (case.dut_ports(&profile.declared).ok()?, case.rig_ports());
    let speed = |name: &str| {
        let at = ports.iter().position(|port| port == name)?;
        profile.declared.port_speed(*dut_ports.get(at)?)
    };
    let [from, to] = names.map(speed);
    Some([from?, to?])
}

/// Why what the case wants to see of a full port is not to be seen: those that send to it are slower.
pub(super) fn empty(lab: &Lab, profile: &Profile, case: &Case) -> Option<String> {
    let one = case.measure.iter().find(|one| one.wanted("expect") == Wanted::Some)?;
    let ports = 0..profile.declared.port_count();
    let speeds: Vec<PortSpeed> =
        ports.filter_map(|port| profile.declared.port_speed(port)).collect();
    if speeds.iter().min() == speeds.iter().max() {
        return None;
    }
    let why = groups(case, &profile.declared).ok()?.into_iter().find_map(|group| {
        let context = measure::context(lab, profile, case, group, Seed::of_run(0));
        let points = context.points().ok()?;
        let mut scripts = points.iter().filter_map(|point| context.script(point).ok());
        scripts.find_map(|script| unfilled(&context, &script, |_| true))
    })?;
    Some(format!("{why}, and the case wants {}", one.name()))
}
