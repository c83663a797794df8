//! `config apply-patch` at a stand-in, with the texts of sonic-utilities (`generic_config_updater`): of the YANG models that of `PFC_WD`
//! alone (`sonic-pfcwd.yang`), which refuses what orchagent would take.

use super::faults::Faults;
use super::names::{Db, Row, Rows};
use super::orchagent;
use super::refused::{DETECTION, POLL, RESTORATION};
use redis::{Connection, RedisError};
use serde_json::Value;
use std::io::Read as _;
use std::path::Path;

/// The most bytes of a patch.
const LONGEST: u64 = 1 << 20;
const USAGE: &str = "Usage: config apply-patch [OPTIONS] PATCH_FILE_PATH\nTry \"config apply-patch -h\" for help.\n\n";

/// Applies the patch in a file: what is printed then.
///
/// # Errors
/// It is no patch of CONFIG_DB, or the model refuses what would come of it.
pub(super) fn apply(line: &mut Connection, file: &Path, faults: &Faults) -> Result<String, String> {
    let fails = |why: &str| {
        let scopes = format!("Failed to apply patch on the following scopes:\n- localhost: {why}");
        format!("Failed to apply patch due to: {scopes}\n{USAGE}Error: {scopes}")
    };
    let mut text = String::new();
    let read =
        std::fs::File::open(file).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
    read.map_err(|error| fails(&error.to_string()))?;
    let patch: Vec<Value> =
        serde_json::from_str(&text).map_err(|error| fails(&error.to_string()))?;
    let broken = |error: RedisError| fails(&error.to_string());
    let before = orchagent::read(line).map_err(broken)?;
    let mut after = before.clone();
    for one in &patch {
        changed(&mut after, one).ok_or_else(|| fails(&format!("can't apply {one}")))?;
    }
    if let Some(why) = invalid(&after).filter(|_| !faults.no_yang) {
        let why =
            format!("Given patch will produce invalid config. Error: Data Loading Failed\n{why}");
        return Err(fails(&why));
    }
    let mut all = redis::pipe();
    all.atomic();
    for (key, row) in &after {
        let was = before.get(key);
        for (field, text) in
            row.iter().filter(|(field, text)| was.and_then(|was| was.get(*field)) != Some(*text))
        {
            all.cmd("HSET").arg(key).arg(field).arg(text).ignore();
        }
        for field in was.into_iter().flat_map(Row::keys).filter(|field| !row.contains_key(*field)) {
            all.cmd("HDEL").arg(key).arg(field).ignore();
        }
    }
    let config = redis::cmd("SELECT").arg(Db::Config as u8).exec(line);
    config.and_then(|()| all.exec(line)).map_err(broken)?;
    let patch = Value::Array(patch);
    Ok(format!(
        "Patch Applier: localhost: Patch application starting.\nPatch Applier: localhost: Patch: {patch}\nPatch Applier: localhost patch \
         application completed.\nPatch applied successfully.\n"
    ))
}

/// Makes one change; `None` where there is nothing that it could be made to.
fn changed(rows: &mut Rows, one: &Value) -> Option<()> {
    let path = one["path"].as_str()?.strip_prefix('/')?;
    let names: Vec<String> =
        path.split('/').map(|name| name.replace("~1", "/").replace("~0", "~")).collect();
    match (one["op"].as_str()?, names.as_slice()) {
        ("add" | "replace", [table, key]) => {
            let fields = one["value"].as_object()?.iter();
            let row = fields.map(|(field, text)| Some((field.clone(), text.as_str()?.to_owned())));
            rows.insert(format!("{table}|{key}"), row.collect::<Option<_>>()?);
        }
        ("add" | "replace", [table, key, field]) => {
            let row = rows.get_mut(&format!("{table}|{key}"))?;
            row.insert(field.clone(), one["value"].as_str()?.to_owned());
        }
        ("remove", [table, key, field]) => {
            rows.get_mut(&format!("{table}|{key}"))?.remove(field)?;
        }
        _ => return None,
    }
    Some(())
}

/// What the model says of these rows, where it refuses them.
fn invalid(rows: &Rows) -> Option<String> {
    let global = rows.get("PFC_WD|GLOBAL");
    let poll = global.and_then(|row| row.get("POLL_INTERVAL"));
    let ranged = |row: &Row, field: &str, (least, most): (u64, u64)| {
        let text = row.get(field)?;
        let inside = text.parse().is_ok_and(|ms: u64| (least..=most).contains(&ms));
        (!inside).then(|| {
            format!("Value \"{text}\" does not satisfy the constraint \"{least}..{most}\" (range, length, or pattern).")
        })
    };
    let of = |(key, row): (&String, &Row)| {
        if !key.starts_with("PFC_WD|") {
            return None;
        }
        if key == "PFC_WD|GLOBAL" {
            return None;
        }
        for (field, range) in [("detection_time", DETECTION), ("restoration_time", RESTORATION)] {
            if let Some(why) = ranged(row, field, range) {
                return Some(why);
            }
            // A row GLOBAL without an interval is less than none: the comparison is false.
            let number = |text: &String| text.parse::<u64>().ok();
            let time = row.get(field).and_then(number);
            if let Some(time) = time.filter(|_| global.is_some())
                && poll.and_then(number).is_none_or(|poll| time < poll)
            {
                return Some(format!("{field} must be greater than or equal to POLL_INTERVAL"));
            }
        }
        let action =
            row.get("action").filter(|word| !["drop", "forward", "alert"].contains(&word.as_str()));
        action.map(|word| format!("Invalid value \"{word}\" in \"action\" element."))
    };
    // A field that the model does not have is found out before any value is looked at.
    let unknown = global.filter(|row| row.contains_key("BIG_RED_SWITCH")).map(|_| {
        "All Keys are not parsed in PFC_WD\ndict_keys(['GLOBAL'])\nexceptionList:[\"'BIG_RED_SWITCH'\"]".to_owned()
    });
    // What is of no range is of no type, and that is looked at before any time is held against it.
    let first = unknown.or_else(|| global.and_then(|row| ranged(row, "POLL_INTERVAL", POLL)));
    first.or_else(|| rows.iter().find_map(of))
}
