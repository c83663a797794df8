//! Who is at the other end of the rig's ports, as far as the switch has heard it by LLDP (`LLDP_ENTRY_TABLE` of APPL_DB). A storm is for the
//! rig alone, and a port at which somebody else is is none of the rig's: whatever was measured there would be of other cables.
//!
//! The rig tells a switch of each of its ports before it opens the way to it. What a switch has heard of that stands in its database some seconds later,
//! where it runs LLDP at all.

use super::super::link::{Db, Link};
use crate::control::Lost;
use core::time::Duration;
use rig_units::limits::quoted;
use std::collections::BTreeSet;
use std::fs;

const TABLE: &str = "LLDP_ENTRY_TABLE";
/// What a switch tells of itself, where it runs LLDP.
const RUNS: &str = "LLDP_LOC_CHASSIS";
/// For how long the rig waits for what it has told itself, and for what it told another time, of other ports, to be forgotten.
const TELLS: Duration = Duration::from_secs(15);
const FORGETS: Duration = Duration::from_secs(45);
const LOOK: Duration = Duration::from_millis(500);
/// What is asked of a neighbour: its name, and by what it is known at both ends.
const FIELDS: [&str; 3] = ["lldp_rem_sys_name", "lldp_rem_chassis_id", "lldp_rem_port_id"];

/// What the rig tells a neighbour of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Introduction {
    /// The machine, by what no other one has: one without a name of its own is known, too.
    pub chassis: String,
    /// The host name that the machine was given, in lower case.
    pub name: String,
}

impl Introduction {
    /// That of the machine that the rig runs on, since it was started.
    pub fn of_this_machine() -> Introduction {
        let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
        let started = plain(&read("/proc/sys/kernel/random/boot_id"));
        let name = plain(&read("/proc/sys/kernel/hostname"));
        Introduction { chassis: format!("rig-{started}"), name }
    }

    /// What port `index` of the rig, counted from 0, is called: `p1`.
    pub fn port(index: u16) -> String {
        format!("p{}", u32::from(index) + 1)
    }
}

/// What this machine tells of itself, whoever tells it: its name, and the addresses of its ports.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Own {
    pub(super) chassis: String,
    pub(super) name: String,
    pub(super) addresses: BTreeSet<String>,
}

impl Own {
    /// The machine that the rig runs on, by its name and the addresses of its interfaces.
    pub(super) fn machine() -> Own {
        let Introduction { chassis, name } = Introduction::of_this_machine();
        let ports = fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
        let address = |port: fs::DirEntry| fs::read_to_string(port.path().join("address")).ok();
        let addresses = ports.filter_map(address).map(|text| plain(&text));
        // What is not of Ethernet has none, or one of nothing.
        let is_one = |text: &String| text.contains(':') && text != "00:00:00:00:00:00";
        Own { chassis, name, addresses: addresses.filter(is_one).collect() }
    }

    fn is(&self, [name, chassis, port]: &[String; 3]) -> bool {
        if self.has_told(chassis) {
            return true;
        }
        // With its domain or without it.
        let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
        // A machine without a name of its own says nothing of who it is.
        let named = !["", "localhost"].contains(&&*short(&self.name))
            && short(&plain(name)) == short(&self.name);
        named || [chassis, port].into_iter().any(|text| self.addresses.contains(&plain(text)))
    }
}

impl Own {
    /// Whether the rig itself has told of it, and not an `lldpd` beside it.
    fn has_told(&self, chassis: &str) -> bool {
        !self.chassis.is_empty() && plain(chassis) == self.chassis
    }
}

fn plain(text: &str) -> String {
    text.trim().to_ascii_lowercase()
}

/// Who is at the ports.
#[derive(Debug, Default, PartialEq, Eq)]
struct Heard {
    /// Those at which nobody has said anything.
    silent: Vec<String>,
    /// That another port of the rig's is at one of them, in words: of this session's cables, or of one before.
    crossed: Option<String>,
}

/// The ports at which nobody has said anything, once the switch has had time to hear what the rig has told it.
///
/// # Errors
/// Somebody else is at one of them, or another port of the rig's, and who; or the switch is lost.
pub(super) fn silent(
    link: &mut Link,
    ports: &[String],
    own: &Own,
    pause: &mut dyn FnMut(Duration),
) -> Result<Result<Vec<String>, String>, Lost> {
    let runs = !link.whole(Db::Appl, RUNS)?.is_empty();
    let mut waited = Duration::ZERO;
    loop {
        let heard = match heard(link, ports, own)? {
            Ok(heard) => heard,
            Err(other) => return Ok(Err(other)),
        };
        match heard.crossed {
            Some(why) if waited >= FORGETS => return Ok(Err(why)),
            None if heard.silent.is_empty() || !runs || waited >= TELLS => {
                return Ok(Ok(heard.silent));
            }
            _ => {}
        }
        pause(LOOK);
        waited += LOOK;
    }
}

fn heard(link: &mut Link, ports: &[String], own: &Own) -> Result<Result<Heard, String>, Lost> {
    let fields: Vec<String> = FIELDS.map(str::to_owned).to_vec();
    let asked: Vec<_> =
        ports.iter().map(|port| (format!("{TABLE}:{port}"), fields.clone())).collect();
    let rows = if asked.is_empty() { Vec::new() } else { link.fields(Db::Appl, &asked)? };
    let mut all = Heard::default();
    for (index, (port, row)) in (0..).zip(ports.iter().zip(rows)) {
        let mut said = row.into_iter().map(Option::unwrap_or_default);
        let told = [(); 3].map(|()| said.next().unwrap_or_default());
        if told.iter().all(String::is_empty) {
            all.silent.push(port.clone());
        } else if !own.is(&told) {
            let [name, chassis, at] = told.map(|text| quoted(&text).escape_debug().to_string());
            return Ok(Err(format!(
                "by LLDP the neighbour of {port} is `{name}` (chassis {chassis}, port {at}), and not this rig (`{}`): want the rig's own \
                 ports to be the first that are up, or no LLDP there",
                own.name
            )));
        } else if own.has_told(&told[1]) && told[2] != Introduction::port(index) {
            let at = quoted(&told[2]).escape_debug().to_string();
            let want = Introduction::port(index);
            all.crossed = Some(format!(
                "by LLDP the neighbour of {port} is {at} of this rig, and {want} is to be cabled to it: want the interfaces of the lab in the \
                 order of the switch's ports that are up"
            ));
        }
    }
    Ok(Ok(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_known_by_its_name_or_by_an_address_of_its_ports() {
        let addresses = BTreeSet::from(["02:00:00:00:00:0a".to_owned()]);
        let own = Own { name: "rig-1".to_owned(), addresses, ..Own::default() };
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
