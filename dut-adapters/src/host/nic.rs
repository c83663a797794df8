//! The RDMA devices of a host, port by port.

use super::counted::{Counted, Port};
use super::names::{self, DRIVERS};
use super::port::{At, FOLDER};
use super::said::Said;
use super::settings::dcbx;
use super::statistic::Statistic;
use crate::dcb::Owner;

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
    /// The interfaces that it lies over: one, or those of a bond.
    pub nets: Vec<String>,
    /// The driver of its only one.
    pub net_driver: Option<String>,
    /// `ACTIVE`, `DOWN`.
    pub state: Option<String>,
    /// As the kernel says it: `100 Gb/sec (4X EDR)`.
    pub rate: Option<String>,
    /// Its GIDs of RoCE v2, by index.
    pub gids: Vec<Gid>,
    /// Who agrees with the neighbour what DCB is set to, by the words of `dcb dcbx`; none where its driver does not say.
    pub dcbx: Option<String>,
    /// For how long its counters may have been kept before they are told, in ms.
    pub kept_ms: Option<String>,
    /// What it has counted.
    pub counted: Counted,
    /// What it counts on demand, and of single queue pairs.
    pub statistic: Statistic,
}

/// An address of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gid {
    /// Its index.
    pub place: String,
    /// Itself.
    pub gid: String,
    /// The interface that it is of, such as a VLAN.
    pub net: Option<String>,
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
    let at = At::of(said, device, port);
    let net_driver = at.net().and_then(|net| {
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
    let over = format!("it lies over {}, each of which counts alone", at.nets.join(" and "));
    let read = Port {
        folder: &folder,
        driver,
        unknown: &unknown,
        net: match at.net() {
            Some(net) => Ok((net, net_driver.as_deref().unwrap_or_default())),
            None if at.nets.is_empty() => Err("it has no interface"),
            None => Err(&over),
        },
    };
    let mut counted = Counted::read(said, &read)?;
    let statistic = Statistic::read(said, (device, port), driver)?;
    statistic.complete(&mut counted, driver);
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
        dcbx: at.net().and_then(|net| dcbx(said, net)).map(Owner::words),
        nets: at.nets,
        net_driver,
        counted,
        statistic,
    })
}

/// The GIDs of RoCE v2.
fn gids(said: &Said, folder: &str) -> Vec<Gid> {
    let mut places = said.names(&format!("{folder}/gid_attrs/types"));
    places.sort_by_key(|place| (place.len(), place.clone()));
    let of = |place: String| {
        let kind = said.line(&format!("{folder}/gid_attrs/types/{place}"))?;
        let gid = said.line(&format!("{folder}/gids/{place}"))?;
        let net = said.line(&format!("{folder}/gid_attrs/ndevs/{place}"));
        (kind == "RoCE v2").then_some(Gid { place, gid, net })
    };
    places.into_iter().filter_map(of).collect()
}
