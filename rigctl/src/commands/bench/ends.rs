//! Where frames are sent for measuring: over a pair of virtual interfaces made for it, or over interfaces that exist.

use core::fmt;
use rig_generator::netlab::{self, End, LabError, Namespace};
use rig_generator::port::{Config, Port};
use std::fs;

/// A sending end and, where it is known, the end that receives.
#[derive(Debug)]
pub(super) struct Ends {
    /// Namespaces of a pair that was made; it goes with them.
    made: Option<(Namespace, Namespace)>,
    near: String,
    far: Option<String>,
}

/// Names of a pair that is made.
const NEAR: &str = "p1";
const FAR: &str = "p2";

impl Ends {
    /// The interface `port` and its `peer`, or a pair made for this with that MTU.
    pub(super) fn of(port: Option<&str>, peer: Option<&str>, mtu: u32) -> Result<Ends, String> {
        Ends::with_queues((port, peer), mtu, 1)
    }

    /// The same; a pair that is made has so many queues at both ends.
    pub(super) fn with_queues(
        (port, peer): (Option<&str>, Option<&str>),
        mtu: u32,
        queues: u32,
    ) -> Result<Ends, String> {
        match port {
            Some(port) => {
                Ok(Ends { made: None, near: port.to_owned(), far: peer.map(str::to_owned) })
            }
            None => Ends::made(mtu, queues).map_err(|error| error.to_string()),
        }
    }

    fn made(mtu: u32, queues: u32) -> Result<Ends, LabError> {
        let (near, far) = (Namespace::new()?, Namespace::new()?);
        let end = |within, name| End { within, name };
        netlab::pair_with_queues(end(&near, NEAR), end(&far, FAR), mtu, queues)?;
        Ok(Ends { made: Some((near, far)), near: NEAR.to_owned(), far: Some(FAR.to_owned()) })
    }

    /// Does `work` where the sending end is.
    pub(super) fn near<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, String> {
        match &self.made {
            Some((near, _)) => near.run(work).map_err(|error| error.to_string()),
            None => Ok(work()),
        }
    }

    /// The name of the sending end.
    pub(super) fn near_name(&self) -> &str {
        &self.near
    }

    /// Opens the sending end.
    pub(super) fn open_near(&self, config: &Config) -> Result<Port, String> {
        let config = Config { interface: self.near.clone(), ..config.clone() };
        self.near(|| Port::open(&config))?.map_err(|error| error.to_string())
    }

    /// Opens the receiving end, if it is known.
    pub(super) fn open_far(&self, config: &Config) -> Result<Option<Port>, String> {
        let Some(far) = &self.far else { return Ok(None) };
        let config = Config { interface: far.clone(), ..config.clone() };
        let opened = match &self.made {
            Some((_, far)) => far.run(|| Port::open(&config)).map_err(|error| error.to_string())?,
            None => Port::open(&config),
        };
        opened.map(Some).map_err(|error| error.to_string())
    }

    /// Frames that the kernel has counted as sent by the sending end.
    pub(super) fn sent(&self) -> Result<u64, String> {
        let table = self.near(|| fs::read_to_string("/proc/thread-self/net/dev"))?;
        let table =
            table.map_err(|error| format!("cannot read the interface's counters: {error}"))?;
        tx_packets(&table, &self.near)
            .ok_or_else(|| format!("the kernel counts nothing for {}", self.near))
    }
}

impl fmt::Display for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.made, &self.far) {
            (Some(_), _) => f.write_str("a pair of virtual interfaces made for this"),
            (None, Some(far)) => write!(f, "{} to {far}", self.near),
            (None, None) => write!(f, "{}, and what arrives is not counted (no --peer)", self.near),
        }
    }
}

/// The frames sent of one interface, from the kernel's table (`/proc/net/dev`).
fn tx_packets(table: &str, name: &str) -> Option<u64> {
    let of = |line: &str| {
        let (interface, counts) = line.split_once(':')?;
        (interface.trim() == name).then(|| counts.split_whitespace().nth(9)?.parse().ok())?
    };
    table.lines().find_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frames_sent_are_the_tenth_figure_of_their_line() {
        let table = "Inter-|   Receive  |  Transmit\n face |bytes packets\n    \
                     lo:  1 2 3 4 5 6 7 8 9 10 11 12\n  p1: 0 0 0 0 0 0 0 0 600 17 0 0 0 0 0 0\n";
        assert_eq!(tx_packets(table, "p1"), Some(17));
        assert_eq!(tx_packets(table, "lo"), Some(10));
        assert_eq!(tx_packets(table, "p"), None);
    }
}
