//! Two NICs of which one mends holes as the other does not expect it to: a sender that repeats what is missing and nothing else, towards a
//! receiver that has thrown away what came behind it. Each hole is followed by another, and how long that goes on nothing declared says.

use crate::spec::nic::selective;
use crate::trials::context::Context;
use rig_testcases::{FlowSpec, Injected, Injection, Measure, Script, Target, Verb};

/// Why nothing is promised of a flow from one NIC to another of whose packets the case has some lost, or come in another order; of a step of an
/// application, why of any of its steps.
pub(super) fn unmended(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
) -> Option<String> {
    let own = script.flows.iter().find(|flow| flow.name == measure.named("flow"))?;
    let app = |flow: &FlowSpec| flow.app.map(|step| step.app);
    let beside = |flow: &&FlowSpec| app(own).is_some() && app(flow) == app(own);
    let mut all = core::iter::once(own).chain(script.flows.iter().filter(beside));
    all.find_map(|flow| half_kept(flow, context, script))
}

/// Whether a packet with payload comes to its receiver behind another that was sent later, or not at all.
fn loses(done: &Injection<String>) -> bool {
    let stays = matches!(done.tamper, Injected::Ce | Injected::Duplicate);
    done.frames == Target::Data && !stays
}

fn half_kept(flow: &FlowSpec, context: &Context<'_>, script: &Script) -> Option<String> {
    let nics = context.group.declared.nics()?;
    // What a READ brings is mended by its requester, either way; and nothing is lost of what nobody touches.
    let is_touched =
        context.case.between.inject.iter().any(|one| one.on == flow.name && loses(one));
    if flow.verb == Verb::Read || flow.nic == flow.to || !is_touched {
        return None;
    }
    let behind = |port: u16| script.dut_ports.get(usize::from(port)).copied();
    let (from, to) = (behind(flow.nic)?, behind(flow.to)?);
    let kept = |port: u16| nics.behind(port).map(|nic| selective::is_kept(&nic.rc));
    (kept(from)? && !kept(to)?).then(|| {
        let [from, to] = [flow.nic, flow.to].map(|port| script.ports[usize::from(port)].as_str());
        format!(
            "the NIC behind {from} sends again what is missing and no more, and that behind {to} keeps nothing of what comes behind a hole \
             (rc.recovery of either): when that is mended nobody declares"
        )
    })
}
