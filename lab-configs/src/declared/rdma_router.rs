//! What is declared of a software RDMA router: one core of a host between the queue pairs of its containers and the host's NIC
//! (FreeFlow: Kim et al., NSDI'19). What a request goes through, and what holds it back.
//!
//! The rules that go with these values are in `docs/freeflow.md`, and built twice: in the oracle's closed forms and in its model.

use crate::field::Holds::{Count, Rate, Size, Time};
use crate::field::{Field, needed, optional};
use rig_units::{Bytes, Dur, L2Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The core that passes on, and its policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RdmaRouter {
    /// What the core takes for a request, from the mailbox of a queue pair to the NIC. A mailbox holds one: the next one of its queue
    /// pair is written when this one is through.
    pub request: Dur,
    /// For how long the core sleeps each time that it has looked into every mailbox (FreeFlow's low-CPU mode). 0s: it never does.
    pub sleep: Dur,
    /// How fast a container copies the data of a SEND to where the router finds it, before it asks. Unset: nothing is copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<L2Rate>,
    /// What the token bucket of each queue pair lets through, of payload. Unset: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<L2Rate>,
    /// Payload that a bucket lets through at once when it is full. A message above it never gets through a bucket.
    pub burst: Bytes,
    /// What it takes until a container may use memory that it registers. The other hosts learn of it from a store that all of them
    /// ask, so that it waits for none of them.
    pub registration: Dur,
    /// Hosts of the router's list that are gone.
    pub hosts_gone: u16,
    /// How many queue pairs a container may have. What asks for more is refused. Unset: as many as it likes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<u16>,
}

impl RdmaRouter {
    /// Its fields, a row each.
    pub const FIELDS: &[Field] = &[
        needed("request", Time, "600ns").by_case(),
        needed("sleep", Time, "0s").by_case(),
        optional("copy", Rate).by_case(),
        optional("cap", Rate).by_case(),
        needed("burst", Size, "4MB").by_case(),
        needed("registration", Time, "10us").by_case(),
        // What is gone makes no difference to a router that does as it declares.
        needed("hosts_gone", Count, "0").by_case().tried(&[]),
        optional("quota", Count).by_case().tried(&["x2", "never"]),
    ];

    /// Every value that lies outside its range: the path below its own, what stands there, what would be accepted.
    pub fn out_of_range(&self) -> Vec<(&'static str, String, String)> {
        let mut all = Vec::new();
        if self.request == Dur::ZERO {
            // Nobody looks into a mailbox in no time: an instant would have no end.
            all.push(("request", "no time".to_owned(), "more than 0s".to_owned()));
        }
        for (path, rate) in [("copy", self.copy), ("cap", self.cap)] {
            if rate.is_some_and(|rate| rate.bps == 0) {
                all.push((path, "no rate".to_owned(), "more than 0bps-L2".to_owned()));
            }
        }
        if self.quota == Some(0) {
            let want = "1 at least, or no quota".to_owned();
            all.push(("quota", "no queue pair at all".to_owned(), want));
        }
        all
    }
}
