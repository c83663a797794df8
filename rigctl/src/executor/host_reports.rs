//! What the hosts behind emulated NICs say of one trial, told as a script calls things.

use super::recorder::Recorder;
use rig_capture::{HostCheck, HostCompletion, HostGave, HostHistogram, HostRead, HostReport};
use rig_dut::Emulated;
use rig_testcases::Script;
use rig_units::Time;
use std::collections::{BTreeMap, BTreeSet};

/// What hosts at the ends of flows of `script` say of the trial that began at `origin`; `None` where none keeps anything.
pub(super) fn host_reports(
    dut: &mut Emulated,
    script: &Script,
    (recorder, origin): (&Recorder<'_>, Time),
) -> Option<HostReport> {
    let connections = (0_u16..).zip(&script.flows).map(|(flow, _)| script.connection(flow));
    let names: BTreeMap<u16, u16> = connections
        .flat_map(|connection| recorder.ids(connection).map(move |id| (id, connection)))
        .collect();
    let behind = |port: &u16| dut.nic_host(script.dut_ports[usize::from(*port)]);
    let hosts: BTreeSet<u16> = script
        .flows
        .iter()
        .flat_map(|flow| [flow.nic, flow.to])
        .map(|port| behind(&port))
        .collect();
    let mut all: Option<HostReport> = None;
    for host in hosts {
        let Some(said) = dut.rig().host_report(host) else { continue };
        let all = all.get_or_insert_default();
        // What was polled after an earlier trial is of that one.
        let since = |at: Time| Time(at.0.saturating_sub(origin.0));
        all.completions.extend(said.completions.into_iter().filter_map(|one| {
            let HostCompletion { connection, posted, completed, polled, .. } = one;
            Some(HostCompletion {
                connection: *names.get(&connection)?,
                posted: since(posted),
                completed: since(completed),
                polled: polled.map(since),
                ..one
            })
        }));
        all.histograms.extend(said.histograms.into_iter().filter_map(|one| {
            Some(HostHistogram { connection: *names.get(&one.connection)?, ..one })
        }));
        all.checks.extend(
            said.checks.into_iter().filter_map(|one| {
                Some(HostCheck { connection: *names.get(&one.connection)?, ..one })
            }),
        );
        all.gave.extend(
            said.gave.into_iter().filter_map(|one| {
                Some(HostGave { connection: *names.get(&one.connection)?, ..one })
            }),
        );
        all.read.extend(
            said.read.into_iter().filter_map(|one| {
                Some(HostRead { connection: *names.get(&one.connection)?, ..one })
            }),
        );
    }
    all
}
