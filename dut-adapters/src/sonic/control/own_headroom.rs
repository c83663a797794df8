//! Headroom of an operator's own, where the switch works headroom out itself: a `BUFFER_PROFILE` of the rig's, and the `BUFFER_PG` rows of its
//! ports that are bound to it in place of `NULL`.
//!
//! Rows that are there are left as they are. All of it is one transaction, the profile first: undone in reverse, it does not go while a
//! group is bound to it.

use super::super::link::{Db, Link};
use super::super::sized::{self, OWN};
use super::super::tables::Tables;
use super::super::write::Write;
use crate::control::Lost;
use rig_lab::Switch;

/// The setting that is written so.
pub(super) const PATH: &str = "dynamic_buffer.own_xoff";
/// The pool of lossless groups, as SONiC's templates call it.
const POOL: &str = "ingress_lossless_pool";
const KIB: u64 = 1_024;

/// What has to be written for these ports of a switch that is configured as `was`, so that it is as `will`.
pub(super) fn writes(
    tables: &Tables,
    ports: &[String],
    (was, will): (&Switch, &Switch),
) -> Vec<Write> {
    let name = |of: &Switch| profile(of).map(|(name, _)| name);
    if name(was) == name(will) {
        return Vec::new();
    }
    let mut all: Vec<Write> = Vec::new();
    let mut change = |key: String, field: &str, to: String| {
        let from = key.split_once('|').and_then(|(table, row)| tables.field(table, row, field));
        let from = from.map(|said| said.text.to_owned());
        let write = Write { field: field.to_owned(), to: Some(to), from, key };
        if write.from != write.to && !all.contains(&write) {
            all.push(write);
        }
    };
    let own = profile(will);
    if let Some((name, fields)) = &own {
        let key = format!("BUFFER_PROFILE|{name}");
        fields.iter().for_each(|(field, text)| change(key.clone(), field, text.clone()));
    }
    let bound = own.map_or_else(|| "NULL".to_owned(), |(name, _)| name);
    for port in ports {
        for class in &will.qos.pfc_enable {
            if let Some(key) = tables.bound("BUFFER_PG", port, *class) {
                change(format!("BUFFER_PG|{key}"), "profile", bound.clone());
            }
        }
    }
    all
}

/// The group of one of these ports that CONFIG_DB gives back to the switch and that still has what the rig gave it: a buffer manager that is busy
/// may never see that it was given back, and go by that where it refuses what comes next. `None`: all of them are as CONFIG_DB has them.
///
/// # Errors
/// The switch is lost.
pub(super) fn lingers(
    link: &mut Link,
    tables: &Tables,
    (ports, of): (&[String], &Switch),
) -> Result<Option<String>, Lost> {
    if of.dynamic_buffer.sized_from().is_none() {
        return Ok(None);
    }
    for port in ports {
        for class in &of.qos.pfc_enable {
            let Some(key) = tables.bound("BUFFER_PG", port, *class) else { continue };
            let bound = tables.field("BUFFER_PG", key, "profile");
            if bound.is_none_or(|said| said.text != "NULL") {
                continue;
            }
            let key = sized::group(port, key);
            let profile = link.whole(Db::Appl, &key)?.remove("profile");
            if let Some(profile) = profile.filter(|profile| profile.starts_with(OWN)) {
                return Ok(Some(format!("{key} profile is {profile}, not the switch's own")));
            }
        }
    }
    Ok(None)
}

/// The profile of the rig's own that says so, by its name.
fn profile(of: &Switch) -> Option<(String, [(&'static str, String); 5])> {
    let from = of.dynamic_buffer.sized_from()?;
    let xoff = from.own_xoff?.0;
    // What XON is the pipeline says, in whole KiB.
    let xon = u64::from(from.pipeline_latency).div_ceil(1_000) * KIB;
    let size = if from.ratio > 0 { xon } else { xon + xoff };
    let fields = [
        ("pool", POOL.to_owned()),
        ("xon", xon.to_string()),
        ("xoff", xoff.to_string()),
        ("size", size.to_string()),
        ("dynamic_th", of.buffer.dynamic_th.to_string()),
    ];
    Some((format!("{OWN}{xoff}_{size}"), fields))
}
