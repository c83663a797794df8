//! Asks servers for what cases need there. Nothing is set: each server's lease is taken for that time.

use super::super::facts::{ServerAnswers, ServerFacts};
use crate::executor::guest::{AtServer, ServerNics};
use rig_dut::Journal;
use rig_guests::{FlowsOver, GuestFault, PATIENCE, PROGRAMS, PerftestHost as _, greeted};
use rig_lab::{OtherEnd, Server};
use std::sync::Arc;

/// Asks the servers of `wire`, one after the other.
pub fn servers(wire: &Server, journal: &Arc<Journal>) -> Vec<ServerFacts> {
    let ServerNics { nic, other, .. } = ServerNics::new(wire, journal);
    let greets = wire.other_end() == OtherEnd::Rig;
    let each = wire.ends().zip(core::iter::once(nic).chain(other)).map(|(end, nic)| {
        let at = end.ssh.clone().unwrap_or_else(|| "this machine".to_owned());
        let over = nic.over();
        let meant = match over {
            FlowsOver::V4 => Some(end.address.into()),
            FlowsOver::V6 => end.address_v6.map(Into::into),
        };
        let asked = nic.at("p1", |host| answers(host, over, greets)).map(|(asked, _)| asked);
        let asked = asked.map(|asked| ServerAnswers { meant: meant.filter(|_| !greets), ..asked });
        let asked = asked.map_err(|broken| broken.to_string());
        ServerFacts { at, nic: end.device.clone(), asked }
    });
    each.collect()
}

fn answers(
    host: &mut AtServer<'_>,
    over: FlowsOver,
    greets: bool,
) -> Result<ServerAnswers, GuestFault> {
    let gid = host.gid(over)?;
    // Cases measure no latency by a program of it.
    let names = PROGRAMS.into_iter().filter(|name| name.ends_with("_bw"));
    let names = names.collect::<Vec<_>>().join(" ");
    let look = format!("for name in {names}; do command -v $name >/dev/null || echo $name; done");
    let lacks = host.run(&look, PATIENCE)?.lines;
    let perftest = greets.then(|| greeted((host, over)).map_err(|fault| fault.to_string()));
    Ok(ServerAnswers { gid, meant: None, lacks, perftest })
}
