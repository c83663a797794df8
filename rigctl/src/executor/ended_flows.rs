//! The queue pairs of a trial, which end with it: what one of them would send again takes nothing of the port in the next.

use super::recorder::Recorder;
use rig_dut::Emulated;
use rig_testcases::Script;

/// Each queue pair of the trial's flows: its NIC, and what the engine calls it.
pub(super) fn ended_flows(
    dut: &Emulated,
    script: &Script,
    recorder: &Recorder<'_>,
) -> Vec<(u16, u16)> {
    let behind = |port: u16| dut.nic_host(script.dut_ports[usize::from(port)]);
    let ends = (0_u16..).zip(&script.flows).flat_map(|(flow, spec)| {
        let connection = script.connection(flow);
        let ends = [Some(spec.nic), (spec.to != spec.nic).then_some(spec.to)];
        ends.into_iter().flatten().map(move |port| (port, connection))
    });
    ends.flat_map(|(port, connection)| recorder.ids(connection).map(move |id| (behind(port), id)))
        .collect()
}
