//! What of CONFIG_DB is kept. A list of what may be known, not of what may not: a secret that nobody thought of is left behind, too.

use super::ports::is_port;

/// Which fields of a table are kept.
enum Fields {
    /// Those of these names.
    Named(&'static [&'static str]),
    /// Code points, classes, queues: small numbers.
    Numbers,
    /// Names of ports.
    Ports,
}

const TABLES: &[(&str, Fields)] = &[
    (
        "DEVICE_METADATA",
        Fields::Named(&[
            "platform",
            "hwsku",
            "switch_type",
            "buffer_model",
            "hostname",
            "asic_name",
        ]),
    ),
    ("VERSIONS", Fields::Named(&["VERSION"])),
    (
        "PORT",
        Fields::Named(&[
            "speed",
            "lanes",
            "mtu",
            "admin_status",
            "role",
            "macsec",
            "autoneg",
            "adv_speeds",
        ]),
    ),
    ("BUFFER_PORT_EGRESS_PROFILE_LIST", Fields::Named(&["profile_list"])),
    ("CABLE_LENGTH", Fields::Ports),
    ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", Fields::Named(&["over_subscribe_ratio"])),
    ("LOSSLESS_TRAFFIC_PATTERN", Fields::Named(&["mtu", "small_packet_percentage"])),
    (
        "PFC_WD",
        Fields::Named(&[
            "POLL_INTERVAL",
            "BIG_RED_SWITCH",
            "action",
            "detection_time",
            "restoration_time",
            "pfc_stat_history",
        ]),
    ),
    (
        "PORT_QOS_MAP",
        Fields::Named(&[
            "dscp_to_tc_map",
            "tc_to_queue_map",
            "tc_to_pg_map",
            "pfc_to_queue_map",
            "scheduler",
            "pfc_enable",
            "pfcwd_sw_enable",
        ]),
    ),
    ("DSCP_TO_TC_MAP", Fields::Numbers),
    ("TC_TO_QUEUE_MAP", Fields::Numbers),
    ("TC_TO_PRIORITY_GROUP_MAP", Fields::Numbers),
    ("MAP_PFC_PRIORITY_TO_QUEUE", Fields::Numbers),
    ("BUFFER_POOL", Fields::Named(&["type", "mode", "size", "xoff"])),
    (
        "BUFFER_PROFILE",
        Fields::Named(&["pool", "size", "xon", "xon_offset", "xoff", "dynamic_th", "static_th"]),
    ),
    ("BUFFER_PG", Fields::Named(&["profile"])),
    ("BUFFER_QUEUE", Fields::Named(&["profile"])),
    (
        "WRED_PROFILE",
        Fields::Named(&[
            "ecn",
            "wred_green_enable",
            "green_min_threshold",
            "green_max_threshold",
            "green_drop_probability",
        ]),
    ),
    ("QUEUE", Fields::Named(&["scheduler", "wred_profile"])),
    ("SCHEDULER", Fields::Named(&["type", "weight", "meter_type", "cir", "pir", "pbs"])),
    ("FLEX_COUNTER_TABLE", Fields::Named(&["FLEX_COUNTER_STATUS", "POLL_INTERVAL"])),
    (
        "MACSEC_PROFILE",
        Fields::Named(&[
            "cipher_suite",
            "policy",
            "send_sci",
            "enable_replay_protect",
            "replay_window",
        ]),
    ),
];

/// The tables of which something is kept, and the fields by name; `None` where their names are numbers or ports.
pub(super) fn tables() -> impl Iterator<Item = (&'static str, Option<&'static [&'static str]>)> {
    TABLES.iter().map(|(table, fields)| match fields {
        Fields::Named(names) => (*table, Some(*names)),
        Fields::Numbers | Fields::Ports => (*table, None),
    })
}

/// Whether anything of this table is kept.
pub(super) fn is_kept(table: &str) -> bool {
    TABLES.iter().any(|(name, _)| *name == table)
}

/// Whether this field of a table is kept.
pub(super) fn keeps(table: &str, field: &str) -> bool {
    let fields = TABLES.iter().find(|(name, _)| *name == table).map(|(_, fields)| fields);
    fields.is_some_and(|fields| match fields {
        Fields::Named(names) => names.contains(&field),
        Fields::Numbers => field.len() <= 2 && field.bytes().all(|byte| byte.is_ascii_digit()),
        Fields::Ports => is_port(field),
    })
}
