//! The parts of a device that a suite of cases looks at: what breaks in another part is another suite's business.

use core::fmt;

/// One part; named as its key below `declared:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The PFC watchdog.
    Pfcwd,
    /// The packet buffer, its watermarks and drop counters.
    Buffer,
    /// Sending and obeying of PFC.
    Pfc,
    /// Scheduling of the ports.
    Scheduler,
    /// The sizing of headroom and pools by a buffer manager.
    DynamicBuffer,
    /// The copying of counters.
    FlexCounter,
    /// What passes in a reboot, and what is back after one.
    Reboot,
    /// Early marking and dropping.
    Wred,
    /// MACsec on the ports.
    Macsec,
    /// Passing frames on: how long it takes.
    Forwarding,
    /// A NIC's notification point, and its receive pipeline.
    Np,
    /// A NIC's reaction point.
    Rp,
    /// A NIC's reliable connections.
    Rc,
    /// A NIC's port, as it obeys PFC and sends some for a host that is slow.
    NicPfc,
    /// A NIC's port, as traffic classes share it.
    Ets,
    /// The software that shares a NIC.
    RdmaRouter,
    /// NICs of blue-rdma and their driver.
    BlueRdma,
    /// The clock that a device goes by.
    Clock,
}

impl Part {
    /// Its key below `declared:`.
    pub fn key(self) -> &'static str {
        let name = Part::NAMES.into_iter().find(|(_, part)| *part == self);
        name.and_then(|(name, _)| name.split('.').next()).unwrap_or_default()
    }

    /// Their names in YAML.
    pub const NAMES: [(&str, Part); 18] = [
        ("pfcwd", Part::Pfcwd),
        ("buffer", Part::Buffer),
        ("pfc", Part::Pfc),
        ("scheduler", Part::Scheduler),
        ("dynamic_buffer", Part::DynamicBuffer),
        ("flex_counter", Part::FlexCounter),
        ("reboot", Part::Reboot),
        ("wred", Part::Wred),
        ("macsec", Part::Macsec),
        ("forwarding_delay", Part::Forwarding),
        ("nic.np", Part::Np),
        ("nic.rp", Part::Rp),
        ("nic.rc", Part::Rc),
        ("nic.pfc", Part::NicPfc),
        ("nic.ets", Part::Ets),
        ("rdma_router", Part::RdmaRouter),
        ("blue_rdma", Part::BlueRdma),
        ("clock", Part::Clock),
    ];

    /// The part that a setting belongs to; `None` for what no part is asked about: ports, maps, delays.
    pub fn of_path(path: &str) -> Option<Part> {
        let key = path.split('.').next()?;
        if key == "nic" || key == "peer" {
            return match path.split('.').nth(1)? {
                "np" | "receive" => Some(Part::Np),
                "rp" => Some(Part::Rp),
                "rc" | "estats" => Some(Part::Rc),
                "pfc" | "host" => Some(Part::NicPfc),
                "ets" => Some(Part::Ets),
                _ => None,
            };
        }
        if key == "watermark" {
            return Some(Part::Buffer);
        }
        Part::NAMES.into_iter().find(|(name, _)| *name == key).map(|(_, part)| part)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Part::NAMES.into_iter().find(|(_, part)| part == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}
