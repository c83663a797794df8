//! Which field of CONFIG_DB holds a setting: the inverse of what [`stated`](super::super::stated) reads of it. What is about to be
//! written is read by that reader first, so that the two cannot come apart.

use super::super::copied::FLEX;
use super::super::sized;
use super::super::tables::Tables;
use super::{own_headroom, port_rows, schedulers};
use rig_lab::Switch;
use rig_units::Dur;

/// One field of CONFIG_DB, and what it holds.
pub(super) struct Held {
    /// The settings that it depends on.
    pub(super) paths: &'static [&'static str],
    row: Row,
    /// Its name; nothing where it is the port's.
    pub(super) field: &'static str,
    /// What stands in it for a switch that is configured so; `None`: it is not there.
    text: fn(&Switch, Sized) -> Option<String>,
}

/// Which row of a table a setting of a port stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
    /// The watchdog of all ports.
    Watchdog,
    /// The port's own row of such a table.
    Port(&'static str),
    /// The profile that the port's lossless groups are bound to.
    Lossless,
    /// The pool of that profile.
    LosslessPool,
    /// The profile that the port's other queues are bound to.
    Lossy,
    /// The pool of that profile.
    LossyPool,
    /// The row that says how long the port's cable is.
    Cables,
    /// The row of a table that has one.
    Only(&'static str),
    /// How often this group of flex counters is copied.
    Copied(&'static str),
    /// The profile that the port's lossless queues are bound to.
    Curve,
}

/// What `size` of a buffer profile counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sized {
    /// The reserve and the headroom.
    Both,
    /// The reserve alone.
    Reserve,
}

/// Every field that is written.
pub(super) const TABLE: &[Held] = &[
    Held {
        paths: &["pfcwd.poll_interval"],
        row: Row::Watchdog,
        field: "POLL_INTERVAL",
        text: |of, _| ms(of.pfcwd.poll_interval),
    },
    Held {
        paths: &["pfcwd.big_red_switch"],
        row: Row::Watchdog,
        field: "BIG_RED_SWITCH",
        text: |of, _| Some(if of.pfcwd.big_red_switch { "enable" } else { "disable" }.to_owned()),
    },
    Held {
        paths: &["pfcwd.detection_time"],
        row: Row::Port("PFC_WD"),
        field: "detection_time",
        text: |of, _| ms(of.pfcwd.detection_time),
    },
    Held {
        paths: &["pfcwd.restoration_time"],
        row: Row::Port("PFC_WD"),
        field: "restoration_time",
        text: |of, _| of.pfcwd.restoration_time.and_then(ms),
    },
    Held {
        paths: &["pfcwd.action"],
        row: Row::Port("PFC_WD"),
        field: "action",
        text: |of, _| word(&of.pfcwd.action),
    },
    Held {
        paths: &["qos.pfc_enable"],
        row: Row::Port("PORT_QOS_MAP"),
        field: "pfc_enable",
        text: |of, _| Some(classes(&of.qos.pfc_enable)),
    },
    Held {
        paths: &["qos.pfcwd_sw_enable"],
        row: Row::Port("PORT_QOS_MAP"),
        field: "pfcwd_sw_enable",
        text: |of, _| Some(classes(&of.qos.pfcwd_sw_enable)),
    },
    Held {
        paths: &["buffer.reserved", "buffer.xoff"],
        row: Row::Lossless,
        field: "size",
        text: |of, sized| {
            let headroom = if sized == Sized::Both { of.buffer.xoff.0 } else { 0 };
            Some((of.buffer.reserved.0 + headroom).to_string())
        },
    },
    Held {
        paths: &["buffer.xoff"],
        row: Row::Lossless,
        field: "xoff",
        text: |of, _| Some(of.buffer.xoff.0.to_string()),
    },
    Held {
        paths: &["buffer.xon"],
        row: Row::Lossless,
        field: "xon",
        text: |of, _| Some(of.buffer.xon.0.to_string()),
    },
    Held {
        paths: &["buffer.xon_offset"],
        row: Row::Lossless,
        field: "xon_offset",
        text: |of, _| Some(of.buffer.xon_offset.0.to_string()),
    },
    Held {
        paths: &["buffer.dynamic_th"],
        row: Row::Lossless,
        field: "dynamic_th",
        text: |of, _| Some(of.buffer.dynamic_th.to_string()),
    },
    Held {
        paths: &["buffer.pool"],
        row: Row::LosslessPool,
        field: "size",
        text: |of, _| Some(of.buffer.pool.0.to_string()),
    },
    Held {
        paths: &["buffer.headroom_pool"],
        row: Row::LosslessPool,
        field: "xoff",
        text: |of, _| of.buffer.headroom_pool.map(|pool| pool.0.to_string()),
    },
    Held {
        paths: &["buffer.lossy_pool"],
        row: Row::LossyPool,
        field: "size",
        text: |of, _| Some(of.buffer.lossy_pool.0.to_string()),
    },
    Held {
        paths: &["buffer.lossy_dynamic_th"],
        row: Row::Lossy,
        field: "dynamic_th",
        text: |of, _| Some(of.buffer.lossy_dynamic_th.to_string()),
    },
    copied("QUEUE_WATERMARK", "POLL_INTERVAL", interval),
    copied("PG_WATERMARK", "POLL_INTERVAL", interval),
    copied("BUFFER_POOL_WATERMARK", "POLL_INTERVAL", interval),
    copied("QUEUE_WATERMARK", "FLEX_COUNTER_STATUS", status),
    copied("PG_WATERMARK", "FLEX_COUNTER_STATUS", status),
    copied("BUFFER_POOL_WATERMARK", "FLEX_COUNTER_STATUS", status),
    Held {
        paths: &["flex_counter.port"],
        ..copied("PORT", "POLL_INTERVAL", |of, _| of.flex_counter.port.and_then(ms))
    },
    Held {
        paths: &["flex_counter.port"],
        ..copied("PORT", "FLEX_COUNTER_STATUS", |of, _| on(of.flex_counter.port))
    },
    Held {
        paths: &["flex_counter.queue"],
        ..copied("QUEUE", "POLL_INTERVAL", |of, _| of.flex_counter.queue.and_then(ms))
    },
    Held {
        paths: &["flex_counter.queue"],
        ..copied("QUEUE", "FLEX_COUNTER_STATUS", |of, _| on(of.flex_counter.queue))
    },
    Held {
        paths: &["flex_counter.pg_drop"],
        ..copied("PG_DROP", "POLL_INTERVAL", |of, _| of.flex_counter.pg_drop.and_then(ms))
    },
    Held {
        paths: &["flex_counter.pg_drop"],
        ..copied("PG_DROP", "FLEX_COUNTER_STATUS", |of, _| on(of.flex_counter.pg_drop))
    },
    Held {
        paths: &["dynamic_buffer.cable"],
        row: Row::Cables,
        field: "",
        // Whole metres: the scripts know no other unit.
        text: |of, _| of.dynamic_buffer.cable.map(|cable| format!("{}m", cable.0 / CM)),
    },
    Held {
        paths: &["dynamic_buffer.over_subscribe_ratio"],
        row: Row::Only(sized::SHARED),
        field: "over_subscribe_ratio",
        // 0 is what the templates have for none.
        text: |of, _| Some(of.dynamic_buffer.over_subscribe_ratio.unwrap_or(0).to_string()),
    },
    Held {
        paths: &["dynamic_buffer.lossless_mtu"],
        row: Row::Only(sized::PATTERN),
        field: "mtu",
        text: |of, _| of.dynamic_buffer.lossless_mtu.map(|mtu| mtu.0.to_string()),
    },
    Held {
        paths: &["dynamic_buffer.small_packets"],
        row: Row::Only(sized::PATTERN),
        field: "small_packet_percentage",
        text: |of, _| of.dynamic_buffer.small_packets.map(|small| small.to_string()),
    },
    Held { paths: &["wred.ecn"], row: Row::Curve, field: "ecn", text: |of, _| word(&of.wred.ecn) },
    Held {
        paths: &["wred.kmin"],
        row: Row::Curve,
        field: "green_min_threshold",
        text: |of, _| Some(of.wred.kmin.0.to_string()),
    },
    Held {
        paths: &["wred.kmax"],
        row: Row::Curve,
        field: "green_max_threshold",
        text: |of, _| Some(of.wred.kmax.0.to_string()),
    },
    Held {
        paths: &["wred.pmax"],
        row: Row::Curve,
        field: "green_drop_probability",
        text: |of, _| Some((of.wred.pmax.0 / PERCENT).to_string()),
    },
];

/// A field of how watermarks of one kind are copied: all three kinds alike, as `counterpoll watermark` sets them.
const fn copied(
    kind: &'static str,
    field: &'static str,
    text: fn(&Switch, Sized) -> Option<String>,
) -> Held {
    Held { paths: &["watermark.poll"], row: Row::Copied(kind), field, text }
}

fn interval(of: &Switch, _: Sized) -> Option<String> {
    of.watermark.poll.and_then(ms)
}

fn status(of: &Switch, _: Sized) -> Option<String> {
    on(of.watermark.poll)
}

fn on(every: Option<Dur>) -> Option<String> {
    Some(if every.is_some() { "enable" } else { "disable" }.to_owned())
}

/// Centimetres in a metre.
const CM: u64 = 100;
/// Millionths in a percent.
const PERCENT: u32 = 10_000;

/// Whether a setting can be written.
pub fn is_held(path: &str) -> bool {
    TABLE.iter().any(|held| held.paths.contains(&path))
        || schedulers::PATHS.contains(&path)
        || port_rows::PATHS.contains(&path)
        || path == own_headroom::PATH
}

impl Held {
    /// What it holds for such a switch, by what `size` counts in the row of `port`.
    pub(super) fn text(&self, of: &Switch, sized: Sized) -> Option<String> {
        (self.text)(of, sized)
    }

    /// The name of the field in the row for `port`.
    pub(super) fn field_of<'n>(&self, port: &'n str) -> &'n str {
        if self.field.is_empty() { port } else { self.field }
    }

    /// The key of the row for `port`, of a switch that is configured as `of`: `None` where nothing is bound to the port that could hold it.
    pub(super) fn key(&self, tables: &Tables, port: &str, of: &Switch) -> Option<String> {
        match self.row {
            Row::Watchdog => Some("PFC_WD|GLOBAL".to_owned()),
            Row::Port(table) => Some(row_of_port(tables, table, port)),
            Row::Lossless => Some(format!("BUFFER_PROFILE|{}", lossless(tables, port, of)?)),
            Row::LosslessPool => pool(tables, lossless(tables, port, of)?),
            Row::Lossy => Some(format!("BUFFER_PROFILE|{}", lossy(tables, port, of)?)),
            Row::LossyPool => pool(tables, lossy(tables, port, of)?),
            Row::Cables => {
                sized::row_of_cables(tables, port).map(|key| format!("CABLE_LENGTH|{key}"))
            }
            Row::Only(table) => tables.table(table).next().map(|(key, _)| format!("{table}|{key}")),
            // What was not there would be taken away again, and orchagent goes on with what it heard last: it takes what is set, and
            // nothing of what goes.
            Row::Copied(kind) => {
                let whole = |field| tables.field(FLEX, kind, field).is_some();
                let is_whole = whole("FLEX_COUNTER_STATUS") && whole("POLL_INTERVAL");
                is_whole.then(|| format!("{FLEX}|{kind}"))
            }
            Row::Curve => Some(format!("WRED_PROFILE|{}", marked(tables, port, of)?)),
        }
    }

    /// What `size` counts in the buffer profile of `port`, as [`stated`](super::super::stated) tells it.
    pub(super) fn sized(tables: &Tables, key: &str) -> Sized {
        let name = key.split_once('|').map_or("", |(_, name)| name);
        let of = |field: &str| {
            tables.field("BUFFER_PROFILE", name, field)?.text.trim().parse::<u64>().ok()
        };
        if of("size") >= of("xoff") { Sized::Both } else { Sized::Reserve }
    }
}

/// The key of the row of a table that is of `port`: one of several ports, or its own, which may not be there yet.
pub(super) fn row_of_port(tables: &Tables, table: &str, port: &str) -> String {
    let names = |key: &&str| key.split(',').any(|one| one.trim() == port);
    let own = tables.table(table).map(|(key, _)| key).find(names);
    format!("{table}|{}", own.unwrap_or(port))
}

/// The buffer profile of the first lossless class of a port that has one.
fn lossless<'t>(tables: &'t Tables, port: &str, of: &Switch) -> Option<&'t str> {
    let one = |&class: &u8| {
        let key = tables.bound("BUFFER_PG", port, class)?;
        // Where it is the buffer manager's to size, or the rig's own that a case sets, there is none.
        let is_found = |text: &str| text != "NULL" && !text.starts_with(sized::OWN);
        let said = tables.field("BUFFER_PG", key, "profile").filter(|said| is_found(said.text));
        said?.referred("BUFFER_PROFILE")
    };
    of.qos.pfc_enable.iter().find_map(one)
}

/// That of its first other queue that has one.
fn lossy<'t>(tables: &'t Tables, port: &str, of: &Switch) -> Option<&'t str> {
    let one = |class: u8| {
        let key = tables.bound("BUFFER_QUEUE", port, class)?;
        tables.field("BUFFER_QUEUE", key, "profile")?.referred("BUFFER_PROFILE")
    };
    (0..8).filter(|class| !of.qos.pfc_enable.contains(class)).find_map(one)
}

/// The key of the pool of a profile.
fn pool(tables: &Tables, profile: &str) -> Option<String> {
    let pool = tables.field("BUFFER_PROFILE", profile, "pool")?.referred("BUFFER_POOL")?;
    Some(format!("BUFFER_POOL|{pool}"))
}

/// The profile by which queues of a port are marked: that of its lossless ones first.
fn marked<'t>(tables: &'t Tables, port: &str, of: &Switch) -> Option<&'t str> {
    let one = |class: u8| {
        let key = tables.bound("QUEUE", port, class)?;
        tables.field("QUEUE", key, "wred_profile")?.referred("WRED_PROFILE")
    };
    of.qos.pfc_enable.iter().copied().chain(0..8).find_map(one)
}

/// Whole milliseconds. What is none is found out when it is read.
fn ms(time: Dur) -> Option<String> {
    Some((time.0 / Dur::ms(1).0).to_string())
}

fn classes(all: &[u8]) -> String {
    let all: Vec<String> = all.iter().map(u8::to_string).collect();
    all.join(",")
}

/// A word of a profile, which is SONiC's own.
fn word(of: &impl serde::Serialize) -> Option<String> {
    serde_json::to_value(of).ok()?.as_str().map(str::to_owned)
}
