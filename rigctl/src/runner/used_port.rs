//! Ports that nothing of a case can go by, as they are configured.

use rig_lab::Switch;
use rig_testcases::Case;

/// A port that passes nothing, or comes to another speed, and that something of the case goes by all the same: by which setting, and in
/// words. `own`: the case itself has set it; else the device is so.
pub(super) fn used(case: &Case, switch: &Switch, own: bool) -> Option<(&'static str, String)> {
    let named = [
        ("shut_port", switch.shut_port, "is shut"),
        ("dynamic_buffer.autoneg_port", switch.dynamic_buffer.autoneg_port, "negotiates its speed"),
    ];
    let set = |path: &str| case.settings.iter().any(|setting| setting.path == path);
    named.into_iter().filter(|(path, ..)| set(path) == own).find_map(|(path, port, what)| {
        let port = format!("p{}", port?);
        let stream = case.streams.iter().find(|(_, of)| of.from == port || of.to == port);
        let storm = case.storms.iter().find(|(_, of)| of.from == port);
        let name = stream.map(|(name, _)| name).or(storm.map(|(name, _)| name))?;
        Some((path, format!("the port behind {port} {what}, and `{name}` goes by it")))
    })
}
