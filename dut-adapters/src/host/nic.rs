//! The RDMA devices of a host, port by port.

use super::counted::{Counted, Port};
use super::names::{self, DRIVERS};
use super::said::Said;

const FOLDER: &str = "/sys/class/infiniband";

/// A port of an RDMA device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nic {
    /// The device: `mlx5_0`.
    pub device: String,
    /// Its port, counted from 1.
    pub port: String,
    /// The driver whose names its counters have; none where it is not known.
    pub driver: Option<&'static str>,
    /// Where these names are from.
    pub source: &'static str,
    /// Bits of a counter: where it wraps.
    pub bits: u32,
    /// Version of its firmware, as `fw_ver` has it; none where there is no such file.
    pub firmware: Option<String>,
    /// Its interface.
    pub net: Option<String>,
    /// The driver of that.
    pub net_driver: Option<String>,
    /// `ACTIVE`, `DOWN`.
    pub state: Option<String>,
    /// As the kernel says it: `100 Gb/sec (4X EDR)`.
    pub rate: Option<String>,
    /// Its GIDs of RoCE v2: index, then address.
    pub gids: Vec<(String, String)>,
    /// For how long its counters may have been kept before they are told, in ms.
    pub kept_ms: Option<String>,
    /// What it has counted.
    pub counted: Counted,
}

/// Every port of every RDMA device, by name; those of `only` where it is given.
///
/// # Errors
/// There is none, or a counter is no number: each with its path, and what would be taken.
pub fn nics(said: &Said, only: Option<&str>) -> Result<Vec<Nic>, Vec<String>> {
    let devices = said.names(FOLDER);
    if devices.is_empty() {
        return Err(vec![format!(
            "{}: no RDMA device\n   = want: DEVICE/ports/1/hw_counters below it: the driver is loaded (`rdma link`), and of a folder that \
             path was copied with what its links lead to",
            said.shown(FOLDER)
        )]);
    }
    if let Some(only) = only
        && !devices.iter().any(|device| device == only)
    {
        return Err(vec![format!(
            "{}: there is none\n   = want: {}",
            said.shown(&format!("{FOLDER}/{only}")),
            devices.join(", ")
        )]);
    }
    let (mut nics, mut wrong) = (Vec::new(), Vec::new());
    for device in devices.iter().filter(|device| only.is_none_or(|only| only == *device)) {
        let ports = said.names(&format!("{FOLDER}/{device}/ports"));
        if ports.is_empty() {
            let at = said.shown(&format!("{FOLDER}/{device}/ports"));
            wrong.push(format!("{at}: no port\n   = want: 1/hw_counters below it"));
        }
        for port in ports {
            match of_port(said, device, &port) {
                Ok(nic) => nics.push(nic),
                Err(more) => wrong.extend(more),
            }
        }
    }
    if wrong.is_empty() { Ok(nics) } else { Err(wrong) }
}

/// The devices of a host.
pub(super) fn devices(said: &Said) -> Vec<String> {
    said.names(FOLDER)
}

/// The interface of the first port of a device.
pub(super) fn net(said: &Said, device: &str) -> Option<String> {
    if !devices(said).iter().any(|one| one == device) {
        return None;
    }
    let own = format!("{FOLDER}/{device}");
    let port = said.names(&format!("{own}/ports")).into_iter().next()?;
    let soft = || said.line(&format!("{own}/parent"));
    net_of(said, &own, &format!("{own}/ports/{port}"), &port).or_else(soft)
}

fn of_port(said: &Said, device: &str, port: &str) -> Result<Nic, Vec<String>> {
    let (own, folder) = (format!("{FOLDER}/{device}"), format!("{FOLDER}/{device}/ports/{port}"));
    let bus = said.leads(&format!("{own}/device/driver"));
    let soft = said.line(&format!("{own}/parent"));
    let files = said.names(&format!("{folder}/hw_counters"));
    // Software over an interface: its parent on a bus, if any, is that of the interface.
    let driver = match &soft {
        Some(_) => names::of_files(&files).filter(|driver| driver.bus.is_empty()),
        None => bus.as_deref().and_then(names::on_bus).or_else(|| names::of_files(&files)),
    };
    let net = net_of(said, &own, &folder, port).or(soft);
    let net_driver = net.as_ref().and_then(|net| {
        let by_link = said.leads(&format!("/sys/class/net/{net}/device/driver"));
        by_link.or_else(|| {
            let told = said.entry_text(&format!("/ethtool/{net}/driver"))?;
            told.lines()
                .find_map(|line| line.strip_prefix("driver:"))
                .map(|name| name.trim().to_owned())
        })
    });
    let known: Vec<&str> = DRIVERS.iter().map(|driver| driver.name).collect();
    let unknown = format!(
        "of its driver{} no names are known: those of {} are",
        bus.as_ref().map(|bus| format!(" (`{bus}`)")).unwrap_or_default(),
        known.join(", ")
    );
    let read = Port {
        folder: &folder,
        driver,
        unknown: &unknown,
        net: net.as_deref().map(|net| (net, net_driver.as_deref().unwrap_or_default())),
    };
    let counted = Counted::read(said, &read)?;
    Ok(Nic {
        device: device.to_owned(),
        port: port.to_owned(),
        driver: driver.map(|driver| driver.name),
        source: driver.map_or("", |driver| driver.source),
        bits: driver.map_or(64, |driver| driver.bits),
        firmware: said.line(&format!("{own}/fw_ver")),
        state: said.line(&format!("{folder}/state")).map(|state| match state.split_once(": ") {
            Some((_, word)) => word.to_owned(),
            None => state,
        }),
        rate: said.line(&format!("{folder}/rate")),
        gids: gids(said, &folder),
        kept_ms: said.line(&format!("{folder}/hw_counters/lifespan")),
        net,
        net_driver,
        counted,
    })
}

/// The interface of a port: the one that its GIDs are of, or the one of the same device on the bus.
fn net_of(said: &Said, own: &str, folder: &str, port: &str) -> Option<String> {
    let of_gids = said.names(&format!("{folder}/gid_attrs/ndevs"));
    let of_gid = |place: &String| said.line(&format!("{folder}/gid_attrs/ndevs/{place}"));
    if let Some(net) = of_gids.iter().find_map(of_gid) {
        return Some(net);
    }
    let nets = said.names(&format!("{own}/device/net"));
    match nets.as_slice() {
        [net] => Some(net.clone()),
        several => {
            // Counted from 0 here, and from 1 there.
            let number: usize = port.parse().ok()?;
            let is_its = |net: &&String| {
                let at = said.line(&format!("{own}/device/net/{net}/dev_port"));
                at.and_then(|at| at.parse().ok()) == number.checked_sub(1)
            };
            several.iter().find(is_its).cloned()
        }
    }
}

/// The GIDs of RoCE v2.
fn gids(said: &Said, folder: &str) -> Vec<(String, String)> {
    let mut places = said.names(&format!("{folder}/gid_attrs/types"));
    places.sort_by_key(|place| (place.len(), place.clone()));
    let of = |place: String| {
        let kind = said.line(&format!("{folder}/gid_attrs/types/{place}"))?;
        let gid = said.line(&format!("{folder}/gids/{place}"))?;
        (kind == "RoCE v2").then_some((place, gid))
    };
    places.into_iter().filter_map(of).collect()
}
