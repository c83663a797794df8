//! Fields of CONFIG_DB that stay in effect when they go: orchagent takes each field of `PFC_WD|GLOBAL` that is set, and nothing of one that
//! is no longer there (`pfcwdorch.cpp`, `createEntry`), and so do those who look at what a port negotiates (`portmgr.cpp`, `buffermgrdyn.cpp`). So what
//! was not there is set to what holds without it first, then taken away.

use super::link::{Db, Link};
use super::port_rows::{ADVERTISED, ALL, AUTONEG};
use super::way::pause;
use crate::control::Lost;
use core::time::Duration;

/// Such fields, and what holds where nobody says.
const RESTS: [(&str, &str); 2] = [(RED, "disable"), ("POLL_INTERVAL", "100")];
const RED: &str = "BIG_RED_SWITCH";
/// How a profile is called that the buffer manager has made, before speed and cable.
const SIZED: &str = "pg_lossless_";
/// How often it is looked, and how many times: 20 s in all, as for any setting.
const LOOK: Duration = Duration::from_millis(20);
const LOOKS: usize = 1_000;

/// What holds where such a field is not there; `None`: it is none of these.
pub(super) fn rest(key: &str, field: &str) -> Option<&'static str> {
    if key.starts_with("PORT|") {
        let of_ports = [(AUTONEG, "off"), (ADVERTISED, ALL)];
        return of_ports.into_iter().find(|(own, _)| *own == field).map(|(_, rest)| rest);
    }
    let found = RESTS.into_iter().find(|(own, _)| key == "PFC_WD|GLOBAL" && *own == field);
    found.map(|(_, rest)| rest)
}

/// Waits until that is in effect.
///
/// # Errors
/// It never is, or the switch is lost.
pub(super) fn rests(link: &mut Link, key: &str, field: &str) -> Result<(), Lost> {
    for _ in 0..LOOKS {
        let is_at_rest = match key.strip_prefix("PORT|") {
            Some(port) => is_of_its_own(link, port, field)?,
            None => is_at_rest(link, field)?,
        };
        if is_at_rest {
            return Ok(());
        }
        pause(LOOK);
    }
    let tried = format!("take {key}|{field} away");
    Err(Lost { tried, why: "what holds without it was not in effect after 20 s".to_owned() })
}

fn is_at_rest(link: &mut Link, field: &str) -> Result<bool, Lost> {
    if field == RED {
        let queues = link.whole(Db::Counters, "COUNTERS_QUEUE_NAME_MAP")?;
        let mode = vec!["BIG_RED_SWITCH_MODE".to_owned()];
        let asked: Vec<_> =
            queues.values().map(|oid| (format!("COUNTERS:{oid}"), mode.clone())).collect();
        let modes = if asked.is_empty() { Vec::new() } else { link.fields(Db::Counters, &asked)? };
        return Ok(modes.into_iter().flatten().all(|mode| mode.as_deref() != Some("enable")));
    }
    let group = link.whole(Db::Flex, "FLEX_COUNTER_GROUP_TABLE:PFC_WD")?;
    // Where no watchdog runs there is none.
    let rest = rest("PFC_WD|GLOBAL", field);
    Ok(group.get(field).is_none_or(|every| Some(every.as_str()) == rest))
}

/// Whether what a port negotiates is what it does without being told, for those who have sized its buffers, too: they see a row once, however
/// often it was changed by then.
fn is_of_its_own(link: &mut Link, port: &str, field: &str) -> Result<bool, Lost> {
    let told = link.whole(Db::Appl, &format!("PORT_TABLE:{port}"))?;
    let rest = rest("PORT|", field);
    if told.get(field).is_some_and(|text| Some(text.as_str()) != rest) {
        return Ok(false);
    }
    if field != AUTONEG {
        return Ok(true);
    }
    let row = link.whole(Db::Config, &format!("PORT|{port}"))?;
    let sized = format!("{SIZED}{}_", row.get("speed").map_or("", String::as_str));
    for key in link.keys(Db::Appl, &format!("BUFFER_PG_TABLE:{port}:"))? {
        let bound = link.whole(Db::Appl, &key)?.remove("profile");
        if bound.is_some_and(|name| name.starts_with(SIZED) && !name.starts_with(&sized)) {
            return Ok(false);
        }
    }
    Ok(true)
}
