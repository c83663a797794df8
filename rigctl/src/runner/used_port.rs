//! Ports that nothing of a case can go by, as they are configured.

use rig_lab::{Declared, Switch};
use rig_testcases::{Case, Sweep};

/// A port that passes nothing, or comes to another speed, and that something of the case goes by all the same: by which setting, and in
/// words. `own`: the case itself has set it, or sweeps it; else the device is so.
pub(super) fn used(case: &Case, declared: &Declared, own: bool) -> Option<(&'static str, String)> {
    let switch = declared.switch()?;
    let named = [
        ("shut_port", switch.shut_port, "is shut"),
        ("dynamic_buffer.autoneg_port", switch.dynamic_buffer.autoneg_port, "negotiates its speed"),
    ];
    let set = |path: &str| {
        let swept = case.sweep.iter().filter_map(|sweep| match sweep {
            Sweep::Setting { path, .. } => Some(path),
            _ => None,
        });
        let mut set = case.settings.iter().map(|setting| &setting.path).chain(swept);
        set.any(|one| one == path)
    };
    // The port is the device's own, and the case may have it behind any of the rig's.
    let behind = case.dut_ports(declared).ok()?;
    named.into_iter().filter(|(path, ..)| set(path) == own).find_map(|(path, port, what)| {
        let index = port?.checked_sub(1)?;
        let at = behind.iter().position(|one| *one == index)?;
        let port = case.rig_ports().into_iter().nth(at)?;
        let stream = case.streams.iter().find(|(_, of)| of.from == port || of.to == port);
        let storm = case.storms.iter().find(|(_, of)| of.from == port);
        let name = stream.map(|(name, _)| name).or(storm.map(|(name, _)| name))?;
        let device = Switch::port_name(index);
        Some((path, format!("{device}, the port behind {port}, {what}, and `{name}` goes by it")))
    })
}
