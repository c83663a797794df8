//! What `PORT` says of a port beside its speed: whether it is shut, and what it negotiates.

use super::tables::Tables;
use serde_json::{Value, json};

/// The fields, and what SONiC has where a port negotiates.
pub(super) const STATUS: &str = "admin_status";
pub(super) const AUTONEG: &str = "autoneg";
pub(super) const ADVERTISED: &str = "adv_speeds";
pub(super) const ON: &str = "on";
/// What it advertises where nobody says.
pub(super) const ALL: &str = "all";

/// The settings that CONFIG_DB states of these ports, each by the number of the one that it is of. Where several negotiate none does so because
/// of a setting.
pub(super) fn settings(tables: &Tables, ports: &[String]) -> Vec<(&'static str, Value)> {
    let number = |port: Option<usize>| port.map_or(Value::Null, |port| json!(port + 1));
    let shut = ports.iter().position(|port| is_shut(tables, port));
    let mut negotiate = (0..ports.len()).filter(|port| negotiates(tables, &ports[*port]));
    let one = negotiate.next().filter(|_| negotiate.next().is_none());
    let fastest = one.and_then(|port| advertised(tables, &ports[port]));
    let fastest = fastest.map_or(Value::Null, |mbps| json!(format!("{mbps}Mbps")));
    vec![
        ("shut_port", number(shut)),
        ("dynamic_buffer.autoneg_port", number(one)),
        ("dynamic_buffer.advertised", fastest),
    ]
}

/// Whether the operator has shut a port.
pub(super) fn is_shut(tables: &Tables, port: &str) -> bool {
    tables.field("PORT", port, STATUS).is_none_or(|said| said.text != "up")
}

/// Whether it negotiates.
pub(super) fn negotiates(tables: &Tables, port: &str) -> bool {
    tables.field("PORT", port, AUTONEG).is_some_and(|said| said.text == ON)
}

/// The fastest speed that it advertises, in Mb/s; `None`: all that it supports.
fn advertised(tables: &Tables, port: &str) -> Option<u64> {
    let said = tables.field("PORT", port, ADVERTISED)?;
    said.text.split(',').filter_map(|speed| speed.trim().parse().ok()).max()
}
