//! A port of an RDMA device, and the interfaces on a bus that it lies over: one, or of a bond all that are in it. A VLAN's is the one below it.

use super::said::Said;
use std::collections::BTreeSet;

pub(super) const FOLDER: &str = "/sys/class/infiniband";
/// How many interfaces may lie over each other: a VLAN over a bond is three.
const DEEP: u32 = 8;

/// Which port is meant.
#[derive(Debug, Clone, Copy)]
pub struct PortAt<'a> {
    /// The device: `mlx5_0`.
    pub device: &'a str,
    /// Its port; none where it has but one.
    pub port: Option<u32>,
}

/// A port that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct At {
    pub(super) device: String,
    pub(super) port: String,
    /// What its GIDs are of: an interface, or a bond or VLAN over it.
    pub(super) named: Vec<String>,
    /// What it lies over.
    pub(super) nets: Vec<String>,
}

impl PortAt<'_> {
    /// Where that is.
    ///
    /// # Errors
    /// It is not there, or it has several ports, and what would be taken.
    pub(super) fn found(self, said: &Said) -> Result<At, String> {
        let PortAt { device, port } = self;
        let devices = said.names(FOLDER);
        let none = || {
            let want = devices.join(", ");
            format!("`{device}`: it is no RDMA device there with an interface\n   = want: {want}")
        };
        if !devices.iter().any(|one| one == device) {
            return Err(none());
        }
        let ports = said.names(&format!("{FOLDER}/{device}/ports"));
        let port = match (port.map(|port| port.to_string()), ports.as_slice()) {
            (None, [only]) => only.clone(),
            (Some(port), _) if ports.contains(&port) => port,
            (None, []) => return Err(none()),
            (None, _) => {
                let want = ports.join(" or ");
                return Err(format!("`{device}`: which of its ports?\n   = want: --port {want}"));
            }
            (Some(port), _) => {
                let want = ports.join(" or ");
                return Err(format!("`{device}`: it has no port {port}\n   = want: --port {want}"));
            }
        };
        let at = At::of(said, device, &port);
        if at.nets.is_empty() { Err(none()) } else { Ok(at) }
    }
}

impl At {
    /// That port of that device.
    pub(super) fn of(said: &Said, device: &str, port: &str) -> At {
        let own = format!("{FOLDER}/{device}");
        let named = named(said, &own, port);
        let mut nets = BTreeSet::new();
        named.iter().for_each(|net| below(said, net, DEEP, &mut nets));
        // Where nothing says what a VLAN lies over, its neighbour among the GIDs does.
        if nets.iter().any(|net| is_on_bus(said, net)) {
            nets.retain(|net| is_on_bus(said, net));
        }
        let nets = nets.into_iter().collect();
        At { device: device.to_owned(), port: port.to_owned(), named, nets }
    }

    /// The interface that it lies over, where that is one.
    pub(super) fn net(&self) -> Option<&str> {
        match self.nets.as_slice() {
            [net] => Some(net),
            _ => None,
        }
    }
}

/// The interfaces that the GIDs of a port are of, else the one of the same device on the bus, else what software says it is over.
fn named(said: &Said, own: &str, port: &str) -> Vec<String> {
    let folder = format!("{own}/ports/{port}/gid_attrs/ndevs");
    let of_gids = said.names(&folder).into_iter();
    let mut named: Vec<String> =
        of_gids.filter_map(|place| said.line(&format!("{folder}/{place}"))).collect();
    named.sort_unstable();
    named.dedup();
    if !named.is_empty() {
        return named;
    }
    let nets = said.names(&format!("{own}/device/net"));
    let on_bus = match nets.as_slice() {
        [net] => Some(net.clone()),
        several => {
            // Counted from 0 here, and from 1 there.
            let number: Option<usize> = port.parse().ok();
            let is_its = |net: &&String| {
                let at = said.line(&format!("{own}/device/net/{net}/dev_port"));
                number.is_some_and(|number| {
                    at.and_then(|at| at.parse().ok()) == number.checked_sub(1)
                })
            };
            several.iter().find(is_its).cloned()
        }
    };
    on_bus.or_else(|| said.line(&format!("{own}/parent"))).into_iter().collect()
}

/// Adds what an interface lies over; itself where that is nothing.
fn below(said: &Said, net: &str, deep: u32, all: &mut BTreeSet<String>) {
    let own = format!("/sys/class/net/{net}");
    let names = said.names(&own);
    let lower = names.iter().filter_map(|name| name.strip_prefix("lower_"));
    let mut lower = lower.peekable();
    if is_on_bus(said, net) || deep == 0 || lower.peek().is_none() {
        all.insert(net.to_owned());
        return;
    }
    lower.for_each(|lower| below(said, lower, deep - 1, all));
}

/// Whether it is a device of its own, and not one over others.
fn is_on_bus(said: &Said, net: &str) -> bool {
    let device = format!("/sys/class/net/{net}/device");
    // Of a copied tree it is a folder.
    said.leads(&device).is_some() || !said.names(&device).is_empty()
}
