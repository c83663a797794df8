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
use core::net::{IpAddr, Ipv6Addr};
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

    /// The GID of RoCE v2 that is used toward an address of the rig's, with the address that it was when the port was taken: the one of that index; else, of those
    /// of that family, the one that has most bits in common with it (as RFC 6724 has it, 5, rule 8), and of several the first; none of a link alone.
    ///
    /// # Errors
    /// There is no such GID of RoCE v2, or it is of the other family.
    pub fn gid(&self, asked: Option<u32>, rig: IpAddr) -> Result<(u32, IpAddr), String> {
        let parsed = self.gids.iter().filter_map(|one| {
            let gid = one.gid.parse::<Ipv6Addr>().ok()?;
            Some((one.place.parse::<u32>().ok()?, gid.to_canonical()))
        });
        nearest(&parsed.collect::<Vec<_>>(), asked, rig)
            .map_err(|why| format!("{}: {why}", self.device))
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

/// The GID for an address of the rig's, of all that there are.
fn nearest(
    all: &[(u32, IpAddr)],
    asked: Option<u32>,
    rig: IpAddr,
) -> Result<(u32, IpAddr), String> {
    let family = if rig.is_ipv4() { "IPv4" } else { "IPv6" };
    if let Some(asked) = asked {
        let found = all.iter().find(|(place, _)| *place == asked);
        let (_, gid) = found.ok_or_else(|| format!("it has no GID {asked} of RoCE v2"))?;
        if gid.is_ipv4() != rig.is_ipv4() {
            return Err(format!("GID {asked} is {gid}, and none of {family}, as {rig} is"));
        }
        return Ok((asked, *gid));
    }
    // From one of its link alone nothing goes to an address that is none.
    let of_link = |gid: &IpAddr| matches!(gid, IpAddr::V6(ip) if ip.is_unicast_link_local());
    let fits = |gid: &IpAddr| gid.is_ipv4() == rig.is_ipv4() && !of_link(gid);
    let own = all.iter().filter(|(_, gid)| fits(gid));
    // Of equals the last one is taken, so that the first is.
    let best = own.rev().max_by_key(|(_, gid)| in_common(*gid, rig));
    best.copied().ok_or_else(|| format!("it has no GID of RoCE v2 and {family}"))
}

/// Leading bits that two addresses of one family have in common.
fn in_common(one: IpAddr, other: IpAddr) -> u32 {
    match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
        (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
        _ => 0,
    }
}

impl Drop for HeldServer {
    fn drop(&mut self) {
        // What is left stands in the journal, and whoever looks there is told.
        let _left = self.put_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gid_is_the_one_that_was_asked_for_or_the_nearest_of_the_rigs_family() {
        let all = [
            "fe80::e42:a1ff:fe00:1",
            "10.0.0.1",
            "192.168.7.2",
            "192.168.6.9",
            "fd00:7::2",
            "192.168.7.3",
        ];
        let all: Vec<(u32, IpAddr)> =
            (1..).zip(all.map(|gid| gid.parse().expect("an address"))).collect();
        let rig = |ip: &str| ip.parse::<IpAddr>().expect("an address");
        let place = |asked, ip| nearest(&all, asked, rig(ip)).map(|(place, _)| place);
        // Of two that have as much in common with it the first.
        assert_eq!(place(None, "192.168.7.8"), Ok(3));
        assert_eq!(place(None, "192.168.7.7"), Ok(3));
        assert_eq!(place(None, "192.168.6.1"), Ok(4));
        assert_eq!(place(None, "11.0.0.1"), Ok(2));
        assert_eq!(place(None, "fd00:7::1"), Ok(5));
        assert_eq!(place(Some(2), "192.168.7.1"), Ok(2));
        let why = place(Some(1), "192.168.7.1").expect_err("the other family");
        assert_eq!(why, "GID 1 is fe80::e42:a1ff:fe00:1, and none of IPv4, as 192.168.7.1 is");
        let why = place(Some(2), "fd00:7::1").expect_err("the other family");
        assert_eq!(why, "GID 2 is 10.0.0.1, and none of IPv6, as fd00:7::1 is");
        assert_eq!(place(Some(9), "fd00:7::1").expect_err("none"), "it has no GID 9 of RoCE v2");
        let none = nearest(&all[..3], None, rig("fd00:7::1")).expect_err("none");
        assert_eq!(none, "it has no GID of RoCE v2 and IPv6");
    }
}
