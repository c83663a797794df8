//! Flows that a NIC sends no faster than the traffic class they are in: only what knows of such limits says something of them.

use super::{groups, measure};
use rig_lab::{Declared, Kind, Lab, Nic, Nics, Profile};
use rig_oracle::trials::seed::Seed;
use rig_testcases::{Case, FlowSpec, Measure, Verb};
use rig_units::{L2Rate, PortSpeed};

/// Why a measure says nothing of the flows of the case: ETS holds the class of one back, and it is predicted of flows that only their
/// own limiter holds back.
pub(in super::super) fn limited(
    lab: &Lab,
    profile: &Profile,
    case: &Case,
    asked: &Measure,
) -> Option<String> {
    if profile.kind != Kind::Nic || measure::of(asked).knows_class_limits {
        return None;
    }
    let limits = |declared: &Declared| {
        let mut nics = declared.nics().into_iter().flat_map(Nics::all);
        nics.any(|(_, nic)| nic.ets.limits.is_some())
    };
    let groups = groups(case, &profile.declared).ok()?.into_iter();
    groups.filter(|group| limits(&group.declared)).find_map(|group| {
        let context = measure::context(lab, profile, case, group, Seed::of_run(0));
        let points = context.points().ok()?;
        let mut scripts = points.iter().filter_map(|point| context.script(point).ok());
        scripts.find_map(|script| {
            script.flows.iter().find_map(|flow| {
                let port = *script.dut_ports.get(usize::from(sender(flow)?))?;
                let nic = context.nics().behind(port)?;
                let speed = context.group.declared.port_speed(port)?;
                let limit = limit(nic, flow.class, speed)?;
                let part = Nics::port_name(port);
                Some(format!(
                    "`{part}` sends no more than {limit} of the class that {} is in ({part}.ets.limits), and this is predicted of flows that \
                     no class holds back",
                    flow.name
                ))
            })
        })
    })
}

/// The port behind which a NIC sends the data of a flow: what a READ asks for comes from the other end, which may be the rig.
fn sender(flow: &FlowSpec) -> Option<u16> {
    match flow.verb {
        Verb::Read => (flow.to != flow.nic).then_some(flow.to),
        _ => Some(flow.nic),
    }
}

/// What the class of a priority is limited to, where that is less than the port takes.
fn limit(nic: &Nic, priority: u8, speed: PortSpeed) -> Option<L2Rate> {
    let class = nic.ets.priorities.as_ref()?.get(usize::from(priority))?;
    let limit = *nic.ets.limits.as_ref()?.get(class)?;
    (limit.bps < speed.bps()).then_some(limit)
}
