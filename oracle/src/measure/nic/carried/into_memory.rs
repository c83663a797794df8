//! A flow into the memory of a host whose bus is declared: what is declared of NICs and of the way leaves it more than the bus, and the table of
//! pages behind it, let through.

use crate::trials::context::Context;
use rig_testcases::{Measure, Script, Verb};

/// Why what is declared leaves a flow no time that is known, where a case is content with that.
pub(super) fn kept_by_host(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
) -> Option<String> {
    measure.arguments.word("or")?;
    let nics = context.group.declared.nics()?;
    let flow = script.flows.iter().find(|flow| flow.name == measure.named("flow"))?;
    let into = if flow.verb == Verb::Read { flow.nic } else { flow.to };
    let into = usize::from(into);
    let nic = nics.behind(*script.dut_ports.get(into)?)?;
    nic.host.pcie.filter(|_| flow.nic != flow.to)?;
    Some(format!(
        "the host of the NIC behind {} takes what comes as its bus and its table of pages let it (host.pcie): what that leaves a flow is not \
         counted",
        script.ports[into]
    ))
}
