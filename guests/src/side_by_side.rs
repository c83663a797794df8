//! Clients of perftest that run side by side, each with a connection to the rig, for as long as somebody wants to see what becomes of them. Nobody
//! there is told when that is over: they are ended.

use crate::GuestFault;
use crate::guest::HwCounters;
use crate::peer::{Exchanged, FrameTap, Midway, Station};
use crate::session::{PORT, Perftest, PerftestHost, RigEnd};
use core::time::Duration;
use std::sync::mpsc;
use std::thread::{self, ScopedJoinHandle};
use tokio::sync::oneshot;

/// How often somebody looks whether it goes on.
const LOOKS: Duration = Duration::from_millis(5);

/// What came of them.
#[derive(Debug)]
pub struct CameBeside {
    /// What passed at the rig.
    pub passed: Exchanged,
    /// What the NIC had counted before, and after it.
    pub counters: HwCounters,
    /// The place of one that ended by itself, and what the rig's side of its exchange says of that.
    pub ended: Option<(usize, String)>,
}

/// Runs all of `clients` at `host` until `goes_on` says no, or one of them ends. The connection of each is known by its place
/// ([`stream_of`](crate::stream_of) of the rig's queue pair).
///
/// # Errors
/// A host that is lost; a port of the rig that breaks.
pub fn side_by_side(
    host: &mut dyn PerftestHost,
    clients: &[Perftest],
    between: (FrameTap, Box<dyn Midway>),
    goes_on: &dyn Fn() -> bool,
) -> Result<CameBeside, GuestFault> {
    let Some(over) = clients.first().map(|client| client.over) else {
        return Err(GuestFault::failed("run perftest", "there is nothing to run"));
    };
    let before = host.counters()?;
    let RigEnd { namespace, interface, meets, own, nic } = host.way(over)?;
    let station = Station::start(&namespace, &interface, own, between)?;
    let commands: Vec<String> = (PORT..)
        .zip(clients)
        .map(|(port, client)| format!("{} {meets}", client.command(&nic, port)))
        .collect();
    let (ends, stops): (Vec<_>, Vec<_>) = clients.iter().map(|_| oneshot::channel()).unzip();
    let (bound, listens) = mpsc::channel();
    let (ran, ended) = thread::scope(|scope| {
        let (station, namespace) = (&station, &namespace);
        let serves = (0_u16..).zip(clients).zip(stops).map(|((place, client), stop)| {
            let bound = bound.clone();
            scope.spawn(move || {
                let at = (place, own, meets);
                let served = namespace.run(|| client.serve(station, at, &bound, stop));
                served.map_err(|error| error.to_string()).and_then(|served| served)
            })
        });
        let servers: Vec<_> = serves.collect();
        drop(bound);
        // One that does not listen has ended, and says why.
        let ran = if clients.iter().all(|_| listens.recv().is_ok()) {
            let started = host.start(&commands);
            while started.is_ok() && goes_on() && !servers.iter().any(ScopedJoinHandle::is_finished)
            {
                pause();
            }
            Some(started)
        } else {
            None
        };
        let first = servers.iter().position(ScopedJoinHandle::is_finished);
        // Nobody is there any more who would say how the others were done.
        drop(ends);
        let said = servers.into_iter().map(|one| {
            let served = one.join().unwrap_or_else(|_| Err("it panicked".to_owned()));
            served.err().unwrap_or_else(|| "it was done".to_owned())
        });
        let said: Vec<String> = said.collect();
        (ran, first.map(|place| (place, said[place].clone())))
    });
    let passed = station.finish();
    let Some(started) = ran else {
        let why = ended.map(|(_, why)| why).unwrap_or_default();
        return Err(GuestFault::failed("listen for perftest", why));
    };
    host.end(&started?)?;
    let counters = HwCounters { before, after: host.counters()? };
    Ok(CameBeside { passed: passed?, counters, ended })
}

#[expect(clippy::disallowed_methods, reason = "what is waited for are other processes")]
fn pause() {
    thread::sleep(LOOKS);
}
