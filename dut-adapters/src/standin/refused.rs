//! What orchagent does not take of `PFC_WD` and `SCHEDULER`: it says so in its log, and goes on with what it had.

use super::names::Row;

/// Milliseconds (`PFC_WD_DETECTION_TIME_MIN` and its kin of sonic-swss `pfcwdorch.cpp`; the interval as its YANG model has it).
pub(super) const DETECTION: (u64, u64) = (100, 5_000);
pub(super) const RESTORATION: (u64, u64) = (100, 60_000);
pub(super) const POLL: (u64, u64) = (100, 1_000);

/// What it knows of a row of `PFC_WD` (`createEntry` of `pfcwdorch.cpp`).
const WATCHDOG: [&str; 4] = ["detection_time", "restoration_time", "action", "pfc_stat_history"];

/// Why it does not take this row.
pub(super) fn why(key: &str, row: &Row) -> Option<String> {
    let outside = |field: &str, (least, most): (u64, u64)| {
        let text = row.get(field)?;
        let inside = text.parse().is_ok_and(|ms: u64| (least..=most).contains(&ms));
        (!inside).then(|| format!("{key}|{field} `{text}` is not from {least} to {most}"))
    };
    if key == "PFC_WD|GLOBAL" {
        let red = row.get("BIG_RED_SWITCH").filter(|word| !is_one(word, &["enable", "disable"]));
        let red = red.map(|word| format!("{key}|BIG_RED_SWITCH `{word}` is not enable or disable"));
        return outside("POLL_INTERVAL", POLL).or(red);
    }
    if key.starts_with("SCHEDULER|") {
        return scheduler(key, row);
    }
    if !key.starts_with("PFC_WD|") {
        return None;
    }
    // With one such field it takes nothing of the row.
    let unknown = row.keys().find(|field| !WATCHDOG.contains(&field.as_str()));
    if let Some(field) = unknown {
        return Some(format!("{key} has an unknown field {field}"));
    }
    if !row.contains_key("detection_time") {
        return Some(format!("{key} has no detection_time"));
    }
    let action = row.get("action").filter(|word| !is_one(word, &["drop", "forward", "alert"]));
    let action = action.map(|word| format!("{key}|action `{word}` is not drop, forward or alert"));
    outside("detection_time", DETECTION)
        .or_else(|| outside("restoration_time", RESTORATION))
        .or(action)
}

/// Makes of each time of such a row that is outside of its limits the limit.
pub(super) fn clamp(key: &str, row: &mut Row) {
    let limits =
        [("POLL_INTERVAL", POLL), ("detection_time", DETECTION), ("restoration_time", RESTORATION)];
    for (field, (least, most)) in limits.into_iter().filter(|_| key.starts_with("PFC_WD|")) {
        let text = row.get_mut(field);
        let ms = text.as_ref().and_then(|text| text.parse::<u64>().ok());
        if let (Some(text), Some(ms)) = (text, ms) {
            *text = ms.clamp(least, most).to_string();
        }
    }
}

/// The same of a scheduler (`qosorch.cpp`, `handleSchedulerTable`): a field that it does not know, or a word. `WRR` it takes, and the
/// emulated chip has none.
fn scheduler(key: &str, row: &Row) -> Option<String> {
    let bad = |(field, text): (&String, &String)| match field.as_str() {
        "type" if is_one(text, &["DWRR", "STRICT"]) => None,
        "meter_type" if is_one(text, &["bytes", "packets"]) => None,
        "weight" | "cir" | "cbs" | "pir" | "pbs" if text.parse::<u64>().is_ok() => None,
        "priority" => None,
        "type" if text == "WRR" => Some(format!("{key}|{field} `{text}`: the chip has none")),
        "type" | "meter_type" | "weight" | "cir" | "cbs" | "pir" | "pbs" => {
            Some(format!("{key}|{field} `{text}` is none"))
        }
        _ => Some(format!("{key} has an unknown field {field}")),
    };
    row.iter().find_map(bad)
}

fn is_one(word: &str, of: &[&str]) -> bool {
    of.contains(&word)
}
