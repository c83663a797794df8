//! The server of a run: its NIC is taken by whoever needs it first, and let go with the run.

use super::super::wire::broken::Broken;
use crate::rights::{self, Work};
use crate::stderr;
use core::net::{IpAddr, Ipv4Addr};
use core::time::Duration;
use rig_dut::Journal;
use rig_dut::control::{Lost, Readings};
use rig_dut::host::{HeldServer, HostAccess, NotSet};
use rig_generator::netlab::Namespace;
use rig_guests::guest::ShellOutput;
use rig_guests::{FlowsOver, GuestFault, PerftestHost, RigEnd};
use rig_lab::Server;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A NIC of a server, and the rig's interface at the other end of its cable.
#[derive(Debug)]
pub struct ServerNic {
    /// Where it is.
    pub wire: Server,
    journal: Arc<Journal>,
    held: Mutex<Option<HeldServer>>,
}

impl ServerNic {
    /// One that is taken when it is needed. What is set there is in `journal`.
    pub fn new(wire: Server, journal: Arc<Journal>) -> ServerNic {
        ServerNic { wire, journal, held: Mutex::default() }
    }

    /// What its flows go over.
    pub const fn over(&self) -> FlowsOver {
        if self.wire.address_v6.is_some() { FlowsOver::V6 } else { FlowsOver::V4 }
    }

    /// Sets all of this, and puts back what was set before. Then its knobs have to say what `declared` does, as far as they can be read.
    ///
    /// # Errors
    /// It is not taken, refuses, or is set otherwise than it is declared.
    pub fn set(&self, asked: &[String], declared: &[String]) -> Result<(), Broken> {
        self.with(|held| {
            let away =
                |why: String| Broken::Away(Lost { tried: "measure the NIC".to_owned(), why });
            // Of a NIC that lacks a knob, or makes another value of it, the case says nothing.
            held.set(asked).map_err(|not| {
                let (NotSet::Asked(why) | NotSet::Broken(why)) = not;
                Broken::Away(Lost { tried: "set the NIC".to_owned(), why: why.join("; ") })
            })?;
            let other = held.departs(declared).map_err(Broken::Device)?;
            if other.is_empty() { Ok(()) } else { Err(away(other.join("; "))) }
        })
    }

    /// Runs something there, with the NIC's counters around it, called as those of this port.
    ///
    /// # Errors
    /// The server is lost, or what is run says so.
    pub fn at<T>(
        &self,
        port: &str,
        work: impl FnOnce(&mut AtServer<'_>) -> Result<T, GuestFault>,
    ) -> Result<(T, Readings), Broken> {
        self.with(|held| {
            let mut at = AtServer { held, wire: &self.wire, port, read: Readings::default() };
            let done = work(&mut at).map_err(|fault| Broken::Device(fault.to_string()))?;
            Ok((done, at.read))
        })
    }

    /// Does something with it, which nobody else has meanwhile. A server that was lost is taken anew the next time.
    fn with<T>(
        &self,
        work: impl FnOnce(&mut HeldServer) -> Result<T, Broken>,
    ) -> Result<T, Broken> {
        let _raised = rights::raise(Work::Ports);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let mut own = match held.take() {
            Some(own) => own,
            None => self.take().map_err(Broken::Device)?,
        };
        let done = work(&mut own)?;
        // Of one where something went wrong nobody knows: what was set there is put back as it is let go, or as it is taken again.
        *held = Some(own);
        Ok(done)
    }

    fn take(&self) -> Result<HeldServer, String> {
        let Server { ssh, device, port, .. } = &self.wire;
        // What was set there when the line was lost is set still: nothing is measured on that.
        let left = self.journal.put_back(|change| change.is_to_host(ssh.as_deref()));
        if !left.is_empty() {
            return Err(left.join("; "));
        }
        let reach = ssh.clone().map_or(HostAccess::Here, HostAccess::Ssh);
        HeldServer::take(reach, (device, *port), Arc::clone(&self.journal))
    }
}

impl Drop for ServerNic {
    /// What was set there and could not be put back over a line that is lost is put back over a new one, or told.
    fn drop(&mut self) {
        let _raised = rights::raise(Work::Ports);
        drop(self.held.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        let ssh = self.wire.ssh.as_deref();
        for why in self.journal.put_back(|change| change.is_to_host(ssh)) {
            stderr::line(&format!("error: {why}; `rigctl restore` tries again"));
        }
    }
}

/// A server on which something is run.
#[derive(Debug)]
pub struct AtServer<'a> {
    held: &'a mut HeldServer,
    wire: &'a Server,
    port: &'a str,
    /// What its NIC counted, the last time that it was asked.
    read: Readings,
}

impl AtServer<'_> {
    /// The index of the NIC's GID that flows go by, and its address.
    ///
    /// # Errors
    /// The NIC has none such.
    pub fn gid(&self, over: FlowsOver) -> Result<(u32, IpAddr), GuestFault> {
        let found = self.held.gid(self.wire.gid, self.own(over));
        found.map_err(|why| GuestFault::failed("find the NIC's GID", why))
    }

    /// The rig's address that flows go to.
    fn own(&self, over: FlowsOver) -> IpAddr {
        match (over, self.wire.address_v6) {
            (FlowsOver::V6, Some(own)) => IpAddr::V6(own),
            (FlowsOver::V4 | FlowsOver::V6, _) => IpAddr::V4(self.wire.address),
        }
    }
}

impl PerftestHost for AtServer<'_> {
    fn way(&mut self, over: FlowsOver) -> Result<RigEnd, GuestFault> {
        let Server { interface, address, device, port, .. } = self.wire;
        let (gid, _) = self.gid(over)?;
        let own = Namespace::of_process(std::process::id());
        let own = own.map_err(|error| GuestFault::failed("use the rig's interface", error))?;
        let port = port.map(|port| format!(" -i {port}")).unwrap_or_default();
        Ok(RigEnd {
            namespace: Arc::new(own),
            interface: interface.clone(),
            meets: *address,
            own: self.own(over),
            nic: format!("-d {device}{port} -x {gid}"),
        })
    }

    fn counters(&mut self) -> Result<BTreeMap<String, u64>, GuestFault> {
        let counted = self.held.counted();
        let counted = counted.map_err(|why| GuestFault::failed("read the NIC's counters", why))?;
        self.read = counted.readings(self.port);
        Ok(self.read.values.clone())
    }

    fn run(&mut self, line: &str, _patience: Duration) -> Result<ShellOutput, GuestFault> {
        let ran = self.held.run(line);
        let (status, lines) = ran.map_err(|why| GuestFault::failed("run perftest there", why))?;
        Ok(ShellOutput { status, lines })
    }

    fn address(&mut self) -> Result<Ipv4Addr, GuestFault> {
        // Programs meet over IPv4: where flows do not, by another one of its addresses.
        let Server { address, address_v6, gid, .. } = self.wire;
        let asked = gid.filter(|_| address_v6.is_none());
        match self.held.gid(asked, IpAddr::V4(*address)) {
            Ok((_, IpAddr::V4(found))) => Ok(found),
            Ok((_, IpAddr::V6(other))) => {
                Err(GuestFault::failed("find the NIC's address", format!("{other} is of IPv6")))
            }
            Err(why) => Err(GuestFault::failed("find the NIC's address", why)),
        }
    }

    fn has_one_shell(&self) -> bool {
        true
    }
}
