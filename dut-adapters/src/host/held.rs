//! A server that a run has for itself: one shell, which holds the server's lease for as long as that. In it the NIC's counters are read, its knobs
//! are set and put back, and its applications run.

use super::access::HostAccess;
use super::change::{Changed, NotSet, set_in};
use super::counted::Counted;
use super::gather::ask;
use super::lease::{self, Wait};
use super::nic::{Gid, Nic, nics};
use super::port::PortAt;
use super::said::Said;
use super::session::Session;
use super::settings::settings;
use super::written::put_back;
use crate::journal::{Journal, Number};
use core::net::{Ipv4Addr, Ipv6Addr};
use core::time::Duration;
use std::sync::Arc;

/// How long the shell lives at most, whatever hangs: longer than any run. It ends before with the line to it, and so with this process.
const LASTS: Duration = Duration::from_secs(24 * 60 * 60);
/// What stands before the status of a program, behind all that it says.
const STATUS: &str = "=";

/// A port of a server's NIC, which nobody else sets meanwhile. What was set there is put back when this is dropped.
#[derive(Debug)]
pub struct HeldServer {
    reach: HostAccess,
    device: String,
    port: Option<u32>,
    gids: Vec<Gid>,
    session: Session,
    journal: Arc<Journal>,
    /// What was set, and its number in the journal; the last one last.
    touched: Vec<(Number, Changed)>,
}

impl HeldServer {
    /// Takes it.
    ///
    /// # Errors
    /// The server cannot be asked, or another rig holds it; it has no such device or port.
    pub fn take(
        reach: HostAccess,
        (device, port): (&str, Option<u32>),
        journal: Arc<Journal>,
    ) -> Result<HeldServer, String> {
        let session = lease::take_for(&reach, Wait::No, LASTS)?;
        let device = device.to_owned();
        let (gids, touched) = (Vec::new(), Vec::new());
        let mut held = HeldServer { reach, device, port, gids, session, journal, touched };
        let (_, nic) = held.asked()?;
        held.gids = nic.gids;
        Ok(held)
    }

    /// What the NIC has counted so far.
    ///
    /// # Errors
    /// The line is lost; the device is not there any more, or a counter is no number.
    pub fn counted(&mut self) -> Result<Counted, String> {
        self.asked().map(|(_, nic)| nic.counted)
    }

    /// The address of IPv4 that its GID of that index was when it was taken.
    ///
    /// # Errors
    /// There is no such GID of RoCE v2, or it is of IPv6.
    pub fn address(&self, gid: u32) -> Result<Ipv4Addr, String> {
        let place = gid.to_string();
        let found = self.gids.iter().find(|one| one.place == place);
        let found =
            found.ok_or_else(|| format!("{}: it has no GID {gid} of RoCE v2", self.device))?;
        let address = found.gid.parse::<Ipv6Addr>().ok().and_then(|gid| gid.to_ipv4_mapped());
        address
            .ok_or_else(|| format!("{}: GID {gid} is {}, and none of IPv4", self.device, found.gid))
    }

    /// What the server says, and the NIC there.
    fn asked(&mut self) -> Result<(Said, Nic), String> {
        let of = |why: String| format!("{}: {why}", self.reach);
        let text = ask(&mut self.session).map_err(of)?;
        let said = Said::told(&self.reach.to_string(), &text)?;
        let at = PortAt { device: &self.device, port: self.port }.found(&said).map_err(of)?;
        let all = nics(&said, Some(&self.device)).map_err(|wrong| wrong.join("; "))?;
        let own = all.into_iter().find(|nic| nic.port == at.port);
        own.map(|nic| (said, nic))
            .ok_or_else(|| format!("{}: it has no port {}", self.device, at.port))
    }

    /// Which knobs that can be read there say otherwise than `declared`, `NAME=VALUE` each: in words.
    ///
    /// # Errors
    /// The line is lost, or the device is not there any more.
    pub fn departs(&mut self, declared: &[String]) -> Result<Vec<String>, String> {
        let (said, nic) = self.asked()?;
        let all = settings(&said, &nic);
        let departs = declared.iter().filter_map(|declared| {
            let (name, value) = declared.split_once('=')?;
            let is = all.iter().find(|set| set.name == name && set.value != value)?;
            Some(format!("{name} is {} ({}), and the profile says {value}", is.value, is.place))
        });
        Ok(departs.collect())
    }

    /// Runs a line of shell there: its exit status, and what it wrote.
    ///
    /// # Errors
    /// The line to the server is lost.
    pub fn run(&mut self, line: &str) -> Result<(u8, Vec<String>), String> {
        let of = |why: String| format!("{}: {why}", self.reach);
        let asked =
            self.session.ask(&format!("{{ {line}\n}} 2>&1; echo \"{STATUS}$?\"")).map_err(of)?;
        let mut lines: Vec<String> = asked.lines().map(str::to_owned).collect();
        let last = lines.pop().unwrap_or_default();
        // A program whose last line has no end has the status behind it.
        let (before, status) = last.rsplit_once(STATUS).unwrap_or((&last, ""));
        if !before.is_empty() {
            lines.push(before.to_owned());
        }
        let status = status.trim().parse();
        status
            .map(|status| (status, lines))
            .map_err(|_| of(format!("`{line}`: its answer is cut short")))
    }

    /// Sets all of this, `NAME=VALUE` each, and nothing else: what was set before is put back.
    ///
    /// # Errors
    /// Nothing of it stays; what could not be put back is told.
    pub fn set(&mut self, asked: &[String]) -> Result<(), NotSet> {
        let left = self.put_back();
        if !left.is_empty() {
            return Err(NotSet::Broken(left));
        }
        let at = PortAt { device: &self.device, port: self.port };
        if !asked.is_empty() {
            self.touched =
                set_in(&mut self.session, (&self.reach, at), asked, &self.journal)?.touched;
        }
        Ok(())
    }

    /// Makes what was set what it was, the last one first. What could not be is told, and stays in the journal.
    pub fn put_back(&mut self) -> Vec<String> {
        let mut left = Vec::new();
        for (number, Changed { name, place, before, .. }) in self.touched.drain(..).rev() {
            match put_back(&mut self.session, &place, &before) {
                Ok(_) => self.journal.strike(&[number]),
                Err(why) => left.push(format!("{name}: {why}; `rigctl restore` makes it {before}")),
            }
        }
        left
    }
}

impl Drop for HeldServer {
    fn drop(&mut self) {
        // What is left stands in the journal, and whoever looks there is told.
        let _left = self.put_back();
    }
}
