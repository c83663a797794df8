//! Who is at the other end of the rig's ports, as far as the switch has heard it by LLDP (`LLDP_ENTRY_TABLE` of APPL_DB). A storm is for the
//! rig alone, and a port at which somebody else is is none of the rig's: whatever was measured there would be of other cables.

use super::super::link::{Db, Link};
use crate::control::Lost;
use rig_units::limits::quoted;
use std::collections::BTreeSet;
use std::fs;

const TABLE: &str = "LLDP_ENTRY_TABLE";
/// What is asked of a neighbour: its name, and by what it is known at both ends.
const FIELDS: [&str; 3] = ["lldp_rem_sys_name", "lldp_rem_chassis_id", "lldp_rem_port_id"];

/// What this machine tells of itself, whoever tells it: its name, and the addresses of its ports.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Own {
    pub(super) name: String,
    pub(super) addresses: BTreeSet<String>,
}

impl Own {
    /// The machine that the rig runs on, by its name and the addresses of its interfaces.
    pub(super) fn machine() -> Own {
        let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let ports = fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
        let address = |port: fs::DirEntry| fs::read_to_string(port.path().join("address")).ok();
        let addresses = ports.filter_map(address).map(|text| plain(&text));
        // What is not of Ethernet has none, or one of nothing.
        let is_one = |text: &String| text.contains(':') && text != "00:00:00:00:00:00";
        Own { name: plain(&name), addresses: addresses.filter(is_one).collect() }
    }

    fn is(&self, [name, chassis, port]: &[String; 3]) -> bool {
        // With its domain or without it.
        let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
        // A machine without a name of its own says nothing of who it is.
        let named = !["", "localhost"].contains(&&*short(&self.name))
            && short(&plain(name)) == short(&self.name);
        named || [chassis, port].into_iter().any(|text| self.addresses.contains(&plain(text)))
    }
}

fn plain(text: &str) -> String {
    text.trim().to_ascii_lowercase()
}

/// The ports at which nobody has said anything.
///
/// # Errors
/// Somebody else is at one of them, and who; or the switch is lost.
pub(super) fn silent(
    link: &mut Link,
    ports: &[String],
    own: &Own,
) -> Result<Result<Vec<String>, String>, Lost> {
    let fields: Vec<String> = FIELDS.map(str::to_owned).to_vec();
    let asked: Vec<_> =
        ports.iter().map(|port| (format!("{TABLE}:{port}"), fields.clone())).collect();
    let rows = if asked.is_empty() { Vec::new() } else { link.fields(Db::Appl, &asked)? };
    let mut silent = Vec::new();
    for (port, row) in ports.iter().zip(rows) {
        let mut said = row.into_iter().map(Option::unwrap_or_default);
        let told = [(); 3].map(|()| said.next().unwrap_or_default());
        if told.iter().all(String::is_empty) {
            silent.push(port.clone());
        } else if !own.is(&told) {
            let [name, chassis, at] = told.map(|text| quoted(&text).escape_debug().to_string());
            return Ok(Err(format!(
                "by LLDP the neighbour of {port} is `{name}` (chassis {chassis}, port {at}), and not this rig (`{}`): want the rig's own \
                 ports to be the first that are up, or no LLDP there",
                own.name
            )));
        }
    }
    Ok(Ok(silent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_known_by_its_name_or_by_an_address_of_its_ports() {
        let addresses = BTreeSet::from(["02:00:00:00:00:0a".to_owned()]);
        let own = Own { name: "rig-1".to_owned(), addresses };
        let is = |told: [&str; 3]| own.is(&told.map(str::to_owned));
        assert!(is(["rig-1.lab.example.net", "", ""]) && is(["RIG-1", "", "eth3"]));
        assert!(
            is(["", "02:00:00:00:00:0A", "eth3"]) && is(["localhost", "x", "02:00:00:00:00:0a"])
        );
        assert!(!is(["rig-10", "", ""]) && !is(["", "02:00:00:00:00:0b", ""]));
        let nobody = Own::default();
        assert!(!nobody.is(&[String::new(), String::new(), "eth0".to_owned()]));
    }
}
