//! Asks a server for what cases need there. Nothing is set: the server's lease is taken for that time.

use super::super::facts::{ServerAnswers, ServerFacts};
use crate::executor::guest::ServerNic;
use core::net::IpAddr;
use rig_dut::Journal;
use rig_guests::{GuestFault, PATIENCE, PROGRAMS, PerftestHost, greeted};
use rig_lab::Server;
use std::sync::Arc;

/// Asks the server of `wire`.
pub fn server(wire: &Server, journal: Arc<Journal>) -> ServerFacts {
    let at = wire.ssh.clone().unwrap_or_else(|| "this machine".to_owned());
    let nic = ServerNic::new(wire.clone(), journal);
    let asked = nic.at("p1", |host| answers(host)).map(|(asked, _)| asked);
    let asked = asked.map_err(|broken| broken.to_string());
    ServerFacts { at, nic: (wire.device.clone(), wire.gid), asked }
}

fn answers(host: &mut dyn PerftestHost) -> Result<ServerAnswers, GuestFault> {
    let address = IpAddr::V4(host.address()?);
    // Cases measure no latency by a program of it.
    let names = PROGRAMS.into_iter().filter(|name| name.ends_with("_bw"));
    let names = names.collect::<Vec<_>>().join(" ");
    let look = format!("for name in {names}; do command -v $name >/dev/null || echo $name; done");
    let lacks = host.run(&look, PATIENCE)?.lines;
    let perftest = greeted(host).map_err(|fault| fault.to_string());
    Ok(ServerAnswers { address, lacks, perftest })
}
