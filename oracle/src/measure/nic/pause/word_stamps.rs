//! What timestamps tell of a NIC that obeys PFC: by the pauses that it is asked for, and by what it takes to obey.

use super::super::super::stamps::{self, Stamps};
use crate::trials::context::Context;
use rig_testcases::{FlowSpec, Measure, Script};
use rig_units::{Bytes, Dur};

/// What holds the NIC that a flow leaves by, and when.
pub(super) fn held(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<Stamps> {
    let (spec, response) = responds(measure, context, script)?;
    let packet = Bytes(spec.mtu.min(spec.message).into()) + spec.headers();
    let hidden = response + stamps::speed(context, script, spec.nic).slot(packet);
    stamps::finest([stamps::pauses(context, script, (spec.nic, hidden)), stamps::steps(script)])
}

/// The same, and within what it obeys.
pub(super) fn obeys(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<Stamps> {
    let (_, response) = responds(measure, context, script)?;
    let takes = stamps::told(response, "the longest response that is declared");
    stamps::finest([takes, held(measure, context, script)])
}

/// A flow, and the longest that the NIC which it leaves by may take to obey.
fn responds<'a>(
    measure: &Measure,
    context: &Context<'_>,
    script: &'a Script,
) -> Option<(&'a FlowSpec, Dur)> {
    let spec = script.flows.iter().find(|spec| spec.name == measure.named("flow"))?;
    let behind = *script.dut_ports.get(usize::from(spec.nic))?;
    Some((spec, context.nics().behind(behind)?.pfc.response.most()))
}
