//! How ports depart from their scheduling.

use super::table::table;

table! {
    /// What a port does wrong with the queues that share it.
    SchedulerFaults of Scheduler

    /// The weighted queues of a port share it equally, whatever their weights.
    // The heavy queue gets no more of a full port than the light one.
    weights_ignored;
    /// Strict queues are served in turns with the weighted ones, as if each had a weight of 1.
    // What has to go first waits for the rest of a full port.
    strict_ignored;
    /// Ports send at less than their rate.
    // A full port carries less than it should, and PFC holds back the rest.
    egress_rate_low ("by how many ppm", 1..=990_000, default 50_000);
    /// Now and then two frames of one flow that wait in a queue leave it in the other order.
    // What was sent later arrives sooner; nothing is lost.
    flow_reordered ("after how many", 2..=1_000, default 64);
    /// A frame takes longer through the device the longer it is.
    // Every frame arrives, and the long ones later than is declared.
    latency_grows ("picoseconds for each byte", 1..=1_000, default 10);
    /// Frames with an 802.1Q tag leave with another priority in it.
    // Every frame arrives, and the next switch takes it for another class's.
    pcp_rewritten ("which", 0..=7, default 0);
    /// Frames leave without the 802.1Q tag that they came with.
    // Every frame arrives, four bytes shorter, and belongs to no VLAN.
    tag_stripped;
}
