//! What is declared of two NICs of blue-rdma with the same driver: what the hardware and the driver take, and what the driver's timer is set
//! to. Window and stride of the bitmap are the dialect's own: they stand in each acknowledgement.
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
    /// Most packets that may be outstanding in a queue pair, from the first that is not known to have come to the last that the driver has posted.
    pub psn_window: u32,
    /// Most messages that may be outstanding in a queue pair: posted, and not completed.
    pub msn_window: u32,
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
        needed("psn_window", Count, "8388608").by_case().tried(&["16"]),
        needed("msn_window", Count, "32768").by_case().tried(&["1"]),
    ];

    /// Every value that lies outside its range: the path below its own, what stands there, what would be accepted.
    pub fn out_of_range(&self) -> Vec<(&'static str, String, String)> {
        let timeout = (self.timeout > 63)
            .then(|| ("timeout", format!("an exponent of {}", self.timeout), "0 to 63".to_owned()));
        // Half of all numbers: of more nobody could say which is the newer of two.
        let window = |path, size: u32, most: u32| {
            let is_one = (1..=most).contains(&size);
            (!is_one).then(|| (path, format!("a window of {size}"), format!("1 to {most}")))
        };
        let psn = window("psn_window", self.psn_window, 1 << 23);
        timeout
            .into_iter()
            .chain(psn)
            .chain(window("msn_window", self.msn_window, 1 << 15))
            .collect()
    }
}
