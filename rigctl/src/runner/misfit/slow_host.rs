//! Flows to a NIC whose host takes less than its port brings: it asks for pauses, and what is predicted of connections that nobody holds back, in how
//! long their messages are done and when a timer runs out, does not hold.

use super::{groups, measure};
use rig_lab::{Declared, Kind, Lab, Nic, Nics, Part, Profile};
use rig_oracle::spec::nic::slow_receiver::bus;
use rig_oracle::trials::seed::Seed;
use rig_testcases::{Case, FlowSpec, Measure, Script, Sweep, Verb};
use rig_units::{Bytes, L2Rate, PortSpeed};

/// Why the case says nothing of the device: it is about reliable connections, more comes to one of its NICs than fits below XOFF, and its host is
/// slower than its port. A case that says itself how slow hosts are is about that. What reacts to marks and CNPs is judged by each of them,
/// whoever is paused.
pub(super) fn of(lab: &Lab, profile: &Profile, case: &Case) -> Option<String> {
    let is_timed = |one: &Measure| measure::of(one).tells_rate || one.parts().contains(&Part::Rc);
    if profile.kind != Kind::Nic || says_of(case, ".host.") || !case.measure.iter().any(is_timed) {
        return None;
    }
    groups(case, &profile.declared).ok()?.into_iter().find_map(|group| {
        let declared = group.declared.clone();
        if !declared.nics()?.all().any(|(_, nic)| bus(&nic.host).is_some()) {
            return None;
        }
        let context = measure::context(lab, profile, case, group, Seed::of_run(0));
        let points = context.points().ok()?;
        let mut scripts = points.iter().filter_map(|point| context.script(point).ok());
        scripts.find_map(|script| overrun(&declared, &script))
    })
}

/// Why the case cannot have what it sets of a NIC's memory: nobody declared what a read from its host takes.
pub(super) fn unread(profile: &Profile, case: &Case) -> Option<String> {
    profile.declared.nics()?.all().find_map(|(part, nic)| {
        let field = ["contexts", "mtt"].map(|field| format!("{part}.host.{field}"));
        let asked = field.into_iter().find(|path| says_of(case, path))?;
        let missing = format!("{part}.host.mtt_miss");
        let silent = nic.host.pcie.is_some() && nic.host.mtt_miss.is_none();
        (silent && !says_of(case, &missing)).then(|| {
            format!("how long a read from its host takes is not declared ({missing}), and the case sets {asked}")
        })
    })
}

/// Whether the case sets anything whose path has `part` in it.
pub(super) fn says_of(case: &Case, part: &str) -> bool {
    let swept = case.sweep.iter().filter_map(|sweep| match sweep {
        Sweep::Setting { path, .. } => Some(path),
        _ => None,
    });
    let mut paths = case.settings.iter().map(|setting| &setting.path).chain(swept);
    paths.any(|path| path.contains(part))
}

/// The first NIC to which more comes than fits below XOFF, in words.
fn overrun(declared: &Declared, script: &Script) -> Option<String> {
    script.dut_ports.iter().zip(0..).find_map(|(&port, index)| {
        let nic = declared.nics()?.behind(port)?;
        let takes = slower(nic, declared.port_speed(port)?)?;
        let of_each = script.flows.iter().filter(|flow| receiver(flow) == Some(index)).map(bytes);
        let comes = of_each.fold(0, u64::saturating_add);
        let part = Nics::port_name(port);
        (Bytes(comes) > nic.pfc.xoff?).then(|| {
            format!(
                "the host behind `{part}` takes no more than {takes} of what its port brings ({part}.host.pcie): it asks for pauses, and the case \
                 is laid out for flows that nobody holds back"
            )
        })
    })
}

/// What its host takes, where the port brings more.
fn slower(nic: &Nic, speed: PortSpeed) -> Option<L2Rate> {
    bus(&nic.host).filter(|takes| takes.bps < speed.bps())
}

/// The port behind which a NIC takes in the data of a flow that another NIC sends.
fn receiver(flow: &FlowSpec) -> Option<u16> {
    let to = if flow.verb == Verb::Read { flow.nic } else { flow.to };
    (flow.nic != flow.to).then_some(to)
}

/// What comes of a flow at the most, each packet sent again once.
fn bytes(flow: &FlowSpec) -> u64 {
    let messages = flow.count.map_or(u64::MAX, u64::from);
    messages.saturating_mul(u64::from(flow.message)).saturating_mul(2)
}
