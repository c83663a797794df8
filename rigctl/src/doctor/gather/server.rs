//! Asks a server for what cases need there. Nothing is set: the server's lease is taken for that time.

use super::super::facts::{ServerAnswers, ServerFacts};
use crate::executor::guest::{AtServer, ServerNic};
use rig_dut::Journal;
use rig_guests::{FlowsOver, GuestFault, PATIENCE, PROGRAMS, PerftestHost as _, greeted};
use rig_lab::Server;
use std::sync::Arc;

/// Asks the server of `wire`.
pub fn server(wire: &Server, journal: Arc<Journal>) -> ServerFacts {
    let at = wire.ssh.clone().unwrap_or_else(|| "this machine".to_owned());
    let nic = ServerNic::new(wire.clone(), journal);
    let over = nic.over();
    let asked = nic.at("p1", |host| answers(host, over)).map(|(asked, _)| asked);
    let asked = asked.map_err(|broken| broken.to_string());
    ServerFacts { at, nic: wire.device.clone(), asked }
}

fn answers(host: &mut AtServer<'_>, over: FlowsOver) -> Result<ServerAnswers, GuestFault> {
    let gid = host.gid(over)?;
    // Cases measure no latency by a program of it.
    let names = PROGRAMS.into_iter().filter(|name| name.ends_with("_bw"));
    let names = names.collect::<Vec<_>>().join(" ");
    let look = format!("for name in {names}; do command -v $name >/dev/null || echo $name; done");
    let lacks = host.run(&look, PATIENCE)?.lines;
    let perftest = greeted((host, over)).map_err(|fault| fault.to_string());
    Ok(ServerAnswers { gid, lacks, perftest })
}
