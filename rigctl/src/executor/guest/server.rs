//! The servers of a run: a NIC there is taken by whoever needs it first, and let go with the run.

use super::super::wire::broken::Broken;
use crate::rights::{self, Work};
use crate::stderr;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::time::Duration;
use rig_dut::Journal;
use rig_dut::control::{Lost, Readings};
use rig_dut::host::{HeldServer, HostAccess, NotSet};
use rig_generator::netlab::Namespace;
use rig_guests::guest::ShellOutput;
use rig_guests::{FlowsOver, GuestFault, PerftestHost, RigEnd, WayAcross};
use rig_lab::{Server, ServerEnd};
use rig_units::Dur;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The NICs of servers that the flows of a case are between.
#[derive(Debug, Clone)]
pub struct ServerNics {
    /// That which sends them.
    pub nic: Arc<ServerNic>,
    /// That at their other end; none where the rig's own responder is.
    pub other: Option<Arc<ServerNic>>,
    /// How far off a stamp of the rig may be.
    pub bound: Dur,
}

impl ServerNics {
    /// Those of a wire: taken when they are needed. What is set there is in `journal`.
    pub fn new(wire: &Server, journal: &Arc<Journal>) -> ServerNics {
        let nic = |end: &ServerEnd, toward: &ServerEnd| {
            let toward = (toward.address, toward.address_v6);
            Arc::new(ServerNic::new(end.clone(), toward, Arc::clone(journal)))
        };
        // The address of a NIC whose flows end at the rig is the rig's.
        let toward = wire.other.as_ref().unwrap_or(&wire.end);
        ServerNics {
            nic: nic(&wire.end, toward),
            other: wire.other.as_ref().map(|other| nic(other, &wire.end)),
            bound: wire.bound,
        }
    }
}

/// A NIC of a server, and the rig's interface at the other end of its cable.
#[derive(Debug)]
pub struct ServerNic {
    /// Where it is.
    end: ServerEnd,
    /// The addresses at the other end of its flows.
    toward: (Ipv4Addr, Option<Ipv6Addr>),
    journal: Arc<Journal>,
    held: Mutex<Option<HeldServer>>,
}

impl ServerNic {
    fn new(
        end: ServerEnd,
        toward: (Ipv4Addr, Option<Ipv6Addr>),
        journal: Arc<Journal>,
    ) -> ServerNic {
        ServerNic { end, toward, journal, held: Mutex::default() }
    }

    /// What its flows go over.
    pub const fn over(&self) -> FlowsOver {
        if self.toward.1.is_some() { FlowsOver::V6 } else { FlowsOver::V4 }
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
            let mut at = self.at_port(held, port);
            let done = work(&mut at).map_err(|fault| Broken::Device(fault.to_string()))?;
            Ok((done, at.read))
        })
    }

    /// The same with two, each with the name of its port. Where one is lost both are taken anew the next time.
    ///
    /// # Errors
    /// As [`at`](Self::at), of either.
    pub fn at_both<T>(
        &self,
        other: &ServerNic,
        [port, others]: [&str; 2],
        work: impl FnOnce([&mut AtServer<'_>; 2]) -> Result<T, GuestFault>,
    ) -> Result<(T, Readings), Broken> {
        self.with(|held| {
            other.with(|second| {
                let mut ats = [self.at_port(held, port), other.at_port(second, others)];
                let [at, beyond] = &mut ats;
                let done = work([at, beyond]);
                let done = done.map_err(|fault| Broken::Device(fault.to_string()))?;
                let [mut read, second] = ats.map(|at| at.read);
                read.values.extend(second.values);
                read.vendor.extend(second.vendor);
                read.absent.extend(second.absent);
                Ok((done, read))
            })
        })
    }

    fn at_port<'a>(&'a self, held: &'a mut HeldServer, port: &'a str) -> AtServer<'a> {
        AtServer { held, nic: self, port, read: Readings::default() }
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
        let ServerEnd { ssh, device, port, .. } = &self.end;
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
        let ssh = self.end.ssh.as_deref();
        for why in self.journal.put_back(|change| change.is_to_host(ssh)) {
            stderr::line(&format!("error: {why}; `rigctl restore` tries again"));
        }
    }
}

/// A server on which something is run.
#[derive(Debug)]
pub struct AtServer<'a> {
    held: &'a mut HeldServer,
    nic: &'a ServerNic,
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
        let found = self.held.gid(self.nic.end.gid, self.toward(over));
        found.map_err(|why| GuestFault::failed("find the NIC's GID", why))
    }

    /// The address that flows go to.
    fn toward(&self, over: FlowsOver) -> IpAddr {
        match (over, self.nic.toward) {
            (FlowsOver::V6, (_, Some(address))) => IpAddr::V6(address),
            (FlowsOver::V4 | FlowsOver::V6, (address, _)) => IpAddr::V4(address),
        }
    }
}

impl PerftestHost for AtServer<'_> {
    fn way(&mut self, over: FlowsOver) -> Result<RigEnd, GuestFault> {
        let ServerEnd { interface, device, port, .. } = &self.nic.end;
        let (gid, _) = self.gid(over)?;
        let own = Namespace::of_process(std::process::id());
        let own = own.map_err(|error| GuestFault::failed("use the rig's interface", error))?;
        let port = port.map(|port| format!(" -i {port}")).unwrap_or_default();
        Ok(RigEnd {
            namespace: Arc::new(own),
            interface: interface.clone(),
            meets: self.nic.toward.0,
            own: self.toward(over),
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
        let (toward, toward_v6) = self.nic.toward;
        let asked = self.nic.end.gid.filter(|_| toward_v6.is_none());
        match self.held.gid(asked, IpAddr::V4(toward)) {
            Ok((_, IpAddr::V4(found))) => Ok(found),
            Ok((_, IpAddr::V6(other))) => {
                Err(GuestFault::failed("find the NIC's address", format!("{other} is of IPv6")))
            }
            Err(why) => Err(GuestFault::failed("find the NIC's address", why)),
        }
    }

    fn across(&self) -> WayAcross {
        WayAcross { finds: self.nic.toward.0, beside: false }
    }

    fn has_one_shell(&self) -> bool {
        true
    }
}
