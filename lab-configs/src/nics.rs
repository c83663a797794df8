//! What is declared of a device of NICs: one behind each of its ports.

use crate::declared::RdmaRouter;
use crate::ports::speed_of;
use crate::{Nic, Ports};
use rig_units::{Bytes, Ppm};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One NIC, or two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nics {
    /// The ports, one for each NIC.
    pub ports: Ports,
    /// Largest frame the ports take, FCS counted.
    pub mtu: Bytes,
    /// How far its clock may be off, either way (IEEE 802.3 allows the clock of a port 100 ppm). Absent: it is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Ppm>,
    /// What the NIC behind the first port does.
    pub nic: Nic,
    /// What the NIC behind the second port does, where there are two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Nic")]
    pub peer: Option<Nic>,
    /// The software between the NIC and whoever uses it, where there is some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "RdmaRouter")]
    pub rdma_router: Option<RdmaRouter>,
}

impl Nics {
    /// Each NIC with its key, in the order of the ports.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Nic)> {
        [("nic", &self.nic)].into_iter().chain(self.peer.iter().map(|peer| ("peer", peer)))
    }

    /// Every value of a NIC, or of the router in front of it, that lies outside its range: its path, what stands there, what would be accepted.
    pub(crate) fn values_out_of_range(&self) -> Vec<(String, String, String)> {
        let of_nics = (0..).zip(self.all()).map(|(port, (part, nic))| {
            let speed = speed_of(&self.ports, port);
            let late = speed.and_then(|speed| nic.pfc.refreshed_too_late(speed));
            (part, nic.out_of_range().into_iter().chain(late).collect())
        });
        let of_router = self.rdma_router.iter().map(|one| ("rdma_router", one.out_of_range()));
        let below = |(part, all): (&'static str, Vec<_>)| {
            all.into_iter().map(move |(path, found, want)| (format!("{part}.{path}"), found, want))
        };
        of_nics.chain(of_router).flat_map(below).collect()
    }

    /// The NIC behind port `index`; `None` past the last.
    pub fn behind(&self, index: u16) -> Option<&Nic> {
        self.all().nth(index.into()).map(|(_, nic)| nic)
    }

    /// What counters call the NIC behind port `index`: the part by which it is configured.
    pub fn port_name(index: u16) -> String {
        match index {
            0 => "nic".to_owned(),
            1 => "peer".to_owned(),
            further => format!("peer{further}"),
        }
    }
}
