//! The host behind a NIC, as far as it can be slow: the bus to its memory, and the addresses of pages that the NIC has at hand.

use crate::field::Holds::{Count, Range, Rate, Size};
use crate::field::{Field, optional};
use rig_units::{Bytes, L2Rate, Within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The host behind a NIC: what it takes of what arrives. Where nothing is declared of the bus it takes all at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NicHost {
    /// What the bus between NIC and memory takes of frames with payload. Unset: the host is never slow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcie: Option<L2Rate>,
    /// What of that the host takes for what it sends to itself through the NIC. Unset: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loopback: Option<L2Rate>,
    /// Pages whose addresses the NIC has at hand (its memory translation table, MTT); the one used least lately makes room. Unset: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtt: Option<u32>,
    /// Size of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<Bytes>,
    /// What a read over the bus takes, of the address of another page or of the context of another connection, another time each; nothing else is taken
    /// meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtt_miss: Option<Within>,
    /// Memory that is registered for each connection: what it brings is placed there one behind the other, and from the beginning again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Bytes>,
    /// Connections whose context the NIC has at hand; the one used least lately makes room. That of another is read over the bus. Unset: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contexts: Option<u32>,
}

impl NicHost {
    /// Its fields, a row each.
    pub const FIELDS: &[Field] = &[
        optional("pcie", Rate).by_case().tried(&["x0.9", "x1.1"]),
        optional("loopback", Rate).by_case().live().tried(&["x0.5", "x1.1"]),
        optional("mtt", Count).tried(&["x0.5", "x2"]),
        optional("page", Size).by_case().live().tried(&["4KiB", "2MiB"]),
        optional("mtt_miss", Range).varies().tried(&["x0.9", "x1.1"]),
        optional("region", Size).by_case().live().tried(&["x0.5", "x2"]),
        optional("contexts", Count).by_case().live().tried(&["x0.5", "x2"]),
    ];

    /// Every value that lies outside its range, as [`Nic::out_of_range`](crate::Nic::out_of_range) tells it.
    pub(crate) fn out_of_range(&self) -> Vec<(&'static str, String, String)> {
        let NicHost { pcie, loopback, mtt, page, mtt_miss, region, contexts } = self;
        let mut all = Vec::new();
        let mut wrong = |is: bool, path, found: &str, want: &str| {
            if is {
                all.push((path, found.to_owned(), want.to_owned()));
            }
        };
        // Pages and regions are the host's whatever the NIC has of them.
        // A read may be of contexts alone.
        let some = mtt.is_some() || (mtt_miss.is_some() && contexts.is_none());
        let whole = [mtt.is_some(), page.is_some(), mtt_miss.is_some(), region.is_some()]
            .into_iter()
            .all(|is| is);
        let parts = "mtt and mtt_miss, or neither, with page and region";
        wrong(some && !whole, "host.mtt", "a part of a memory translation table", parts);
        let unread = contexts.is_some() && mtt_miss.is_none();
        wrong(unread, "host.contexts", "no time that a read takes", "mtt_miss, too");
        wrong(*contexts == Some(0), "host.contexts", "no connection", "at least 1");
        let rate = pcie.map_or(0, |rate| rate.bps);
        let slow = (whole || loopback.is_some() || contexts.is_some()) && pcie.is_none();
        wrong(slow, "host.pcie", "no bus", "what it takes, such as 56Gbps-L2");
        wrong(pcie.is_some() && rate == 0, "host.pcie", "no rate", "more than 0bps-L2");
        let all_of_it = pcie.is_some() && loopback.is_some_and(|taken| taken.bps >= rate);
        wrong(all_of_it, "host.loopback", "all of the bus", "less than host.pcie");
        wrong(*mtt == Some(0), "host.mtt", "no page", "at least 1");
        let small = page.is_some_and(|page| page < Bytes(512));
        wrong(small, "host.page", "less than a page", "at least 512B");
        wrong(*region == Some(Bytes(0)), "host.region", "no memory", "at least 1B");
        all
    }
}
