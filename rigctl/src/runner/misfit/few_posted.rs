//! Flows of a host that posts a few messages and no more until one is polled: what is predicted of how fast they go, and by when they are done, is of hosts
//! that post all at once.

use super::slow_host::says_of;
use super::{Context, groups, measure};
use rig_lab::{Kind, Lab, Nics, Part, Profile};
use rig_oracle::trials::flow_time::round_trip;
use rig_oracle::trials::seed::Seed;
use rig_testcases::{Case, FlowSpec, Measure, Script};
use rig_units::{Bytes, Dur, Within};

/// Why the case says nothing of the device: its host posts fewer messages of a flow than keep it going until the first of them is polled. A case that says
/// itself how a host posts is about that.
pub(super) fn of(lab: &Lab, profile: &Profile, case: &Case) -> Option<String> {
    let is_timed = |one: &Measure| {
        let parts = [Part::Rc, Part::Rp, Part::Ets];
        measure::of(one).tells_rate || parts.iter().any(|part| one.parts().contains(part))
    };
    if profile.kind != Kind::Nic || says_of(case, ".estats.") || !case.measure.iter().any(is_timed)
    {
        return None;
    }
    groups(case, &profile.declared).ok()?.into_iter().find_map(|group| {
        if !group.declared.nics()?.all().any(|(_, nic)| nic.estats.depth.is_some()) {
            return None;
        }
        let context = measure::context(lab, profile, case, group, Seed::of_run(0));
        let points = context.points().ok()?;
        let mut scripts = points.iter().filter_map(|point| context.script(point).ok());
        scripts.find_map(|script| {
            script.flows.iter().find_map(|flow| held_up(&context, &script, flow))
        })
    })
}

/// Why a flow stands still at times, in words.
fn held_up(context: &Context<'_>, script: &Script, flow: &FlowSpec) -> Option<String> {
    let port = |of: u16| script.dut_ports.get(usize::from(of)).copied();
    let (own, other) = (port(flow.nic)?, port(flow.to)?);
    let nics = context.nics();
    let (host, answers) = (&nics.behind(own)?.estats, &nics.behind(other)?.rc);
    let depth = host.depth?;
    // What fits is posted as the flow begins.
    if flow.count.is_some_and(|count| count <= depth) {
        return None;
    }
    let frame = Bytes(u64::from(flow.mtu)) + flow.headers();
    let packets = u64::from(flow.message.div_ceil(flow.mtu.max(1)));
    let speed = context.group.declared.port_speed(own)?;
    let others = speed.slot(frame) * (packets * u64::from(depth.saturating_sub(1)));
    let told = answers.ack_latency.most() + answers.ack_held.map_or(Dur::ZERO, Within::most);
    let polled = host.latency.map_or(Dur::ZERO, Within::most) + host.poll.unwrap_or_default();
    let back = round_trip(context, script, frame) + told + polled;
    // The rig acknowledges nothing of what is sent to it, so that nothing of that is ever polled.
    (flow.nic == flow.to || others < back).then(|| {
        let part = Nics::port_name(own);
        let messages = if depth == 1 { "message" } else { "messages" };
        format!(
            "the host behind `{part}` posts {depth} {messages} of {} and no more until one is polled ({part}.estats.depth): the case is laid out for hosts \
             that post all at once",
            flow.name
        )
    })
}
