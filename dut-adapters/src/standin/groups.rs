//! Which counters are copied together: the groups of SONiC's flex counters, and what is none of them.

/// A group: its name in CONFIG_DB and in FLEX_COUNTER_DB, and what its counters begin with; a later one has what no earlier one has.
pub(super) const GROUPS: [(&str, &str, &[&str]); 9] = [
    (
        "PORT_BUFFER_DROP",
        "PORT_BUFFER_DROP_STAT",
        &["SAI_PORT_STAT_IN_DROPPED_PKTS", "SAI_PORT_STAT_OUT_DROPPED_PKTS"],
    ),
    (
        "WRED_ECN_PORT",
        "WRED_ECN_PORT_STAT_COUNTER",
        &["SAI_PORT_STAT_WRED_", "SAI_PORT_STAT_GREEN_WRED_"],
    ),
    ("PORT", "PORT_STAT_COUNTER", &["SAI_PORT_STAT_"]),
    ("WRED_ECN_QUEUE", "WRED_ECN_QUEUE_STAT_COUNTER", &["SAI_QUEUE_STAT_WRED_"]),
    (
        "QUEUE",
        "QUEUE_STAT_COUNTER",
        &[
            "SAI_QUEUE_STAT_PACKETS",
            "SAI_QUEUE_STAT_BYTES",
            "SAI_QUEUE_STAT_DROPPED_",
            "SAI_QUEUE_STAT_CURR_OCCUPANCY_",
        ],
    ),
    ("PG_DROP", "PG_DROP_STAT_COUNTER", &["SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_"]),
    ("QUEUE_WATERMARK", "QUEUE_WATERMARK_STAT_COUNTER", &["SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES"]),
    (
        "PG_WATERMARK",
        "PG_WATERMARK_STAT_COUNTER",
        &[
            "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES",
            "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES",
        ],
    ),
    ("BUFFER_POOL_WATERMARK", "BUFFER_POOL_WATERMARK_STAT_COUNTER", &["SAI_BUFFER_POOL_STAT_"]),
];
/// The copies that its scripts keep of watermarks. The device polls by itself, at an instant that nobody is told: it is looked at often
/// enough that a poll shows here hardly later than it was.
pub(super) const COPIES: &str = "_WATERMARKS ";
/// What orchagent itself counts of stormed queues, and writes each second (`COUNTER_CHECK_POLL_TIMEOUT_SEC`).
pub(super) const STORMED: &str = "PFC_WD_QUEUE_STATS_";

/// Which group a counter is of.
pub(super) fn group_of(counter: &str) -> Option<&'static str> {
    if counter.starts_with(STORMED) {
        return Some(STORMED);
    }
    let own = |prefix: &&str| counter.starts_with(*prefix);
    GROUPS.iter().find(|(.., all)| all.iter().any(own)).map(|(_, group, _)| *group)
}
