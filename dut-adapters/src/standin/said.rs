//! What CONFIG_DB says of the first port, as settings of a device: a device has one configuration for all of its ports.

use super::counted;
use super::names::{Row, Rows, bound, numbers, of_port, ports, referred};
use super::schedulers;
use rig_lab::Setting;
use serde_json::{Value, json};

/// The groups that copy watermarks, and the setting that says how often.
pub(super) const WATERMARKS: [&str; 3] =
    ["QUEUE_WATERMARK", "PG_WATERMARK", "BUFFER_POOL_WATERMARK"];
pub(super) const POLL: &str = "watermark.poll";

/// Millionths in a percent.
pub(super) const PERCENT: u32 = 10_000;

/// What all of it says that a device can be set to.
pub(super) fn settings(rows: &Rows) -> Vec<Setting> {
    let all = ports(rows);
    let Some(port) = all.first() else { return Vec::new() };
    let none = Row::new();
    let map = of_port(rows, "PORT_QOS_MAP", port).unwrap_or(&none);
    let classes = |field: &str| numbers(map.get(field).map_or("", String::as_str));
    let lossless = classes("pfc_enable");
    let mut said = Vec::new();
    let mut say = |path: &str, value: Value| said.push(Setting { path: path.to_owned(), value });
    let is_shut = |port: &&str| {
        let own = rows.get(&format!("PORT|{port}"));
        own.and_then(|row| row.get("admin_status")).is_none_or(|status| status != "up")
    };
    let shut = all.iter().position(is_shut);
    say("shut_port", shut.map_or(Value::Null, |port| json!(port + 1)));
    say("qos.pfc_enable", json!(lossless));
    let watched = of_port(rows, "PFC_WD", port);
    let guarded = if watched.is_some() { classes("pfcwd_sw_enable") } else { Vec::new() };
    say("qos.pfcwd_sw_enable", json!(guarded));
    if let Some(row) = watched {
        let global = rows.get("PFC_WD|GLOBAL").unwrap_or(&none);
        let poll = global.get("POLL_INTERVAL").map_or("100", String::as_str);
        say("pfcwd.poll_interval", json!(format!("{poll}ms")));
        let red = global.get("BIG_RED_SWITCH").is_some_and(|word| word == "enable");
        say("pfcwd.big_red_switch", json!(red));
        for (path, field) in [
            ("pfcwd.detection_time", "detection_time"),
            ("pfcwd.restoration_time", "restoration_time"),
        ] {
            say(path, row.get(field).map_or(Value::Null, |ms| json!(format!("{ms}ms"))));
        }
        say("pfcwd.action", json!(row.get("action").map_or("drop", String::as_str)));
    }
    let referred_to = |table: &str, class: u8, field: &str, of: &str| {
        let name = referred(bound(rows, table, port, class)?.get(field)?);
        rows.get(&format!("{of}|{name}"))
    };
    // A chip whose buffers are worked out beside it has the headroom that it was made with.
    let metadata = rows.get("DEVICE_METADATA|localhost").unwrap_or(&none);
    let is_dynamic = metadata.get("buffer_model").is_some_and(|model| model == "dynamic");
    let group = lossless
        .iter()
        .filter(|_| !is_dynamic)
        .find_map(|&class| referred_to("BUFFER_PG", class, "profile", "BUFFER_PROFILE"));
    if let Some(row) = group {
        let size = |field: &str| row.get(field).and_then(|text| text.parse::<u64>().ok());
        let bytes = |bytes: u64| json!(format!("{bytes}B"));
        let headroom = size("xoff").unwrap_or_default();
        let whole = size("size").unwrap_or_default();
        say("buffer.xoff", bytes(headroom));
        // What a group has for itself holds its headroom, but where it is less than that.
        say("buffer.reserved", bytes(whole.checked_sub(headroom).unwrap_or(whole)));
        say("buffer.xon", bytes(size("xon").unwrap_or_default()));
        say("buffer.xon_offset", bytes(size("xon_offset").unwrap_or_default()));
        if let Some(k) = row.get("dynamic_th").and_then(|text| text.parse::<i8>().ok()) {
            say("buffer.dynamic_th", json!(k));
        }
    }
    let bytes = |row: &Row, field: &str| {
        row.get(field)?.parse().ok().map(|bytes: u64| json!(format!("{bytes}B")))
    };
    let pool = |profile: &Row| rows.get(&format!("BUFFER_POOL|{}", referred(profile.get("pool")?)));
    if let Some(pool) = group.and_then(pool) {
        bytes(pool, "size").into_iter().for_each(|size| say("buffer.pool", size));
        say("buffer.headroom_pool", bytes(pool, "xoff").unwrap_or(Value::Null));
    }
    let lossy = (0..8).filter(|class| !lossless.contains(class));
    let lossy = lossy
        .into_iter()
        .find_map(|class| referred_to("BUFFER_QUEUE", class, "profile", "BUFFER_PROFILE"));
    if let Some(row) = lossy {
        let size = pool(row).and_then(|pool| bytes(pool, "size"));
        size.into_iter().for_each(|size| say("buffer.lossy_pool", size));
        if let Some(k) = row.get("dynamic_th").and_then(|text| text.parse::<i8>().ok()) {
            say("buffer.lossy_dynamic_th", json!(k));
        }
    }
    let share = |queue: u8| {
        let row = referred_to("QUEUE", queue, "scheduler", "SCHEDULER")?;
        Some(match row.get("type")?.as_str() {
            "STRICT" => json!("strict"),
            _ => json!({ "dwrr": schedulers::weight(row) }),
        })
    };
    let shares: Option<Vec<Value>> = (0..8).map(share).collect();
    shares.into_iter().for_each(|shares| say("scheduler.queues", json!(shares)));
    let shaper = map.get("scheduler").map(|name| format!("SCHEDULER|{}", referred(name)));
    let shaper = shaper.and_then(|key| rows.get(&key)).unwrap_or(&none);
    let number = |field: &str| shaper.get(field)?.parse::<u64>().ok().filter(|number| *number > 0);
    let rate = number("pir").map(|bytes| json!(format!("{}bps-L2", bytes * 8)));
    let burst = number("pbs").filter(|_| rate.is_some());
    say("scheduler.pir", rate.unwrap_or(Value::Null));
    say("scheduler.pbs", burst.map_or(Value::Null, |bytes| json!(format!("{bytes}B"))));
    let every = WATERMARKS.map(|group| counted::interval(rows, group));
    let every = every[0].filter(|_| every.iter().all(|other| *other == every[0]));
    say(POLL, every.map_or(Value::Null, |ms| json!(format!("{ms}ms"))));
    let curve = lossless.iter().copied().chain(0..8);
    let curve = curve
        .into_iter()
        .find_map(|queue| referred_to("QUEUE", queue, "wred_profile", "WRED_PROFILE"));
    if let Some(row) = curve {
        let text = |field: &str| row.get(field).cloned().unwrap_or_default();
        say("wred.ecn", json!(text("ecn")));
        say("wred.kmin", json!(format!("{}B", text("green_min_threshold"))));
        say("wred.kmax", json!(format!("{}B", text("green_max_threshold"))));
        say("wred.pmax", json!(format!("{}%", text("green_drop_probability"))));
    }
    said
}

/// Classes as SONiC lists them.
pub(super) fn listed(classes: &[u8]) -> String {
    classes.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
}

/// A word of a profile, which is SONiC's own.
pub(super) fn word(of: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(of).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}
