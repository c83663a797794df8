//! Counters that are 0: a switch of 128 ports has 24 000 of them, of which a trial moves a few hundred. Which ones there are is said once
//! for all ports, and a reading tells the others.

use std::collections::BTreeSet;

/// Counters that a device has, and that are 0 where a reading leaves them out: what stands behind each of its ports.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AtRest {
    ports: BTreeSet<String>,
    tables: Vec<Table>,
}

/// Counters whose names begin and end so, with a port between.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Table {
    before: String,
    behind: BTreeSet<String>,
}

impl AtRest {
    /// No counter yet, of these ports.
    pub fn of_ports(ports: impl IntoIterator<Item = String>) -> AtRest {
        AtRest { ports: ports.into_iter().collect(), tables: Vec::new() }
    }

    /// Adds counters of every port: what stands in their names before it, such as `USER_WATERMARKS `, and behind it, such as
    /// `:3 SAI_QUEUE_STAT_PACKETS`.
    #[must_use]
    pub fn with(mut self, before: &str, behind: impl IntoIterator<Item = String>) -> AtRest {
        let behind = behind.into_iter().collect();
        self.tables.push(Table { before: before.to_owned(), behind });
        self
    }

    /// Whether there is such a counter.
    pub fn has(&self, name: &str) -> bool {
        self.tables.iter().any(|table| {
            let rest = name.strip_prefix(table.before.as_str());
            let apart = |rest: &str| {
                let end = rest.find([' ', ':'])?;
                let (port, behind) = rest.split_at(end);
                Some(self.ports.contains(port) && table.behind.contains(behind))
            };
            rest.and_then(apart).unwrap_or(false)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_there_that_stands_behind_a_port_of_the_device() {
        let behind = || [":3 SENT".to_owned(), " ERRORS".to_owned()];
        let ports = ["near/Ethernet0", "near/Ethernet4"].map(str::to_owned);
        let rest = AtRest::of_ports(ports).with("", behind()).with("COPY ", [":3 SENT".to_owned()]);
        for name in ["near/Ethernet0:3 SENT", "near/Ethernet4 ERRORS", "COPY near/Ethernet4:3 SENT"]
        {
            assert!(rest.has(name), "{name}");
        }
        for name in [
            "near/Ethernet8:3 SENT",
            "near/Ethernet0:4 SENT",
            "near/Ethernet0",
            "Ethernet0:3 SENT",
            "COPY near/Ethernet0 ERRORS",
            "pool SENT",
            "",
        ] {
            assert!(!rest.has(name), "{name}");
        }
    }
}
