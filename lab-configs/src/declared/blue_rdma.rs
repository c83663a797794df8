//! What is declared of two NICs of blue-rdma with the same driver: what the hardware and the driver take, and what the driver's timer is set
//! to. Window and stride are the dialect's own: they stand in each acknowledgement.
//!
//! The rules that go with these values are in `docs/blue-rdma.md`, and built twice: in the oracle's closed forms and in its model.

use crate::Ports;
use crate::field::Holds::{Count, Time};
use crate::field::{Field, needed};
use rig_units::{Bytes, Dur, Ppm};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two NICs of blue-rdma, one behind each port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlueNics {
    /// Its ports, in order.
    pub ports: Ports,
    /// Largest frame the ports take, FCS counted.
    pub mtu: Bytes,
    /// How far its clock may be off, either way (IEEE 802.3 allows the clock of a port 100 ppm). Absent: it is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Ppm>,
    /// What both NICs are.
    pub blue_rdma: BlueRdma,
}

/// A NIC of blue-rdma and its driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlueRdma {
    /// What the hardware takes from a packet that moves its window to the acknowledgement of what is missing.
    pub hardware: Dur,
    /// What the driver takes, from a packet to its acknowledgement, and from an acknowledgement to what it sends again.
    pub driver: Dur,
    /// Exponent t of the driver's timer, 4.096 us x 2^t.
    pub timeout: u8,
    /// How much later than that the driver looks, at most.
    pub timeout_late: Dur,
    /// How often the timer runs out in a row before the driver gives up.
    pub retries: u8,
    /// How long hardware sends no further CNP of a queue pair after one; 0: one for each marked packet.
    pub cnp_interval: Dur,
}

impl BlueRdma {
    /// Its fields, a row each.
    pub const FIELDS: &[Field] = &[
        // A deadline of the case's own holds them: how soon each acknowledgement comes is no promise of the dialect.
        needed("hardware", Time, "500ns").tried(&[]),
        needed("driver", Time, "5us").tried(&[]),
        needed("timeout", Count, "50").by_case().tried(&["1"]),
        needed("timeout_late", Time, "1048576ns").by_case().tried(&[]),
        needed("retries", Count, "5").by_case().tried(&["0"]),
        needed("cnp_interval", Time, "0s").by_case().tried(&["50us"]),
    ];

    /// Every value that lies outside its range: the path below its own, what stands there, what would be accepted.
    pub fn out_of_range(&self) -> Vec<(&'static str, String, String)> {
        let timeout = (self.timeout > 63)
            .then(|| ("timeout", format!("an exponent of {}", self.timeout), "0 to 63".to_owned()));
        timeout.into_iter().collect()
    }
}
