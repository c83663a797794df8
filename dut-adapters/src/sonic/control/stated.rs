//! What CONFIG_DB says of the rig's ports, as a configuration; and what has to be written there so that it says another one.

use super::super::asic::Base;
use super::super::copied;
use super::super::port_rows as rows;
use super::super::sized;
use super::super::stated::{Stated, of_port};
use super::super::tables::Tables;
use super::super::write::Write;
use super::held::{Held, TABLE, is_held};
use super::{own_headroom, port_rows, schedulers};
use crate::control::Refused;
use rig_lab::yaml::Source;
use rig_lab::{Declared, Setting, Switch, fields};
use serde_json::Value;

/// What the reader states and no database says: it follows from a profile.
const UNSAID: [&str; 3] = ["qos.dscp_to_color", "pfcwd.config_path", "pfc."];

/// The configuration that the databases state of these ports: what no database says is as `base` has it.
///
/// # Errors
/// A value that cannot be used, or ports that are not alike.
pub(super) fn declared(
    tables: &Tables,
    ports: &[String],
    base: &Base,
) -> Result<Declared, Refused> {
    let mut first: Option<(&str, Vec<Stated>)> = None;
    for port in ports {
        let facts = of_port(tables, port, base);
        if let Some(fault) = tables.faults.borrow().first() {
            let why = format!("{}: {}; want {}", fault.place.path, fault.found, fault.want);
            return Err(Refused { why });
        }
        let Some(facts) = facts else {
            return Err(Refused { why: format!("PORT has no row {port} with a speed") });
        };
        let stated: Vec<Stated> = facts.stated.into_iter().filter(is_said).collect();
        match &first {
            None => first = Some((port, stated)),
            Some((other, others)) => alike((other, others), (port, &stated))?,
        }
    }
    let mut declared = base.profile.declared.clone();
    for Stated { path, value, why, .. } in first.map(|(_, stated)| stated).unwrap_or_default() {
        let setting = Setting { path: path.to_owned(), value: read(path, &value) };
        let bad = |bad: rig_lab::BadSetting| Refused { why: format!("{why}: {bad}") };
        declared = declared.with(&setting).map_err(bad)?;
    }
    let copied = copied::settings(tables).into_iter();
    let copied = copied
        .map(|(path, every)| (path, every.map_or(Value::Null, |every| every.to_string().into())));
    let own = sized::settings(tables, ports).into_iter().chain(rows::settings(tables, ports));
    copied.chain(own).try_fold(declared, |declared, (path, value)| {
        let setting = Setting { path: path.to_owned(), value };
        declared.with(&setting).map_err(|bad| Refused { why: format!("CONFIG_DB: {bad}") })
    })
}

fn is_said(stated: &Stated) -> bool {
    let unsaid = UNSAID.iter().any(|path| stated.path.starts_with(path));
    // A limit that the reader draws where the database has no row.
    let drawn = stated.path == "buffer.lossy_pool" && stated.place.is_none();
    !unsaid && !drawn
}

/// Refuses ports of which the databases say different things: a profile has one configuration for all.
fn alike(
    (one, first): (&str, &[Stated]),
    (other, second): (&str, &[Stated]),
) -> Result<(), Refused> {
    let has = |all: &[Stated], path: &str| {
        all.iter().find(|stated| stated.path == path).map(|stated| stated.value.clone())
    };
    let paths = first.iter().chain(second).map(|stated| stated.path);
    let Some(path) = paths.into_iter().find(|path| has(first, path) != has(second, path)) else {
        return Ok(());
    };
    let said = |all| has(all, path).unwrap_or_else(|| "nothing".to_owned());
    let (first, second) = (said(first), said(second));
    let why = format!(
        "{path} is {first} of {one} and {second} of {other}, and a profile has one configuration for all of its ports"
    );
    Err(Refused { why })
}

/// A value as the reader writes it into a profile.
fn read(path: &str, text: &str) -> Value {
    if text == "never" && fields::is_optional(path) {
        return Value::Null;
    }
    let root = Source::new("CONFIG_DB", &format!("value: {text}\n")).parse();
    root.map(|root| root.json()["value"].take()).unwrap_or_default()
}

/// What has to be written so that `settings` hold at these ports, which are configured as `now`.
///
/// # Errors
/// What of it cannot be written, or would not be read as it was meant.
pub(super) fn plan(
    (tables, ports, base): (&Tables, &[String], &Base),
    now: &Declared,
    settings: &[Setting],
) -> Result<Vec<Write>, Refused> {
    let with = |declared: Declared, setting: &Setting| declared.with(setting);
    let wanted = settings.iter().try_fold(now.clone(), with);
    let wanted = wanted.map_err(|bad| Refused { why: bad.to_string() })?;
    let Some((was, will)) = now.switch().zip(wanted.switch()) else {
        return Err(Refused { why: "it is no switch".to_owned() });
    };
    let mut writes = Vec::new();
    for held in TABLE {
        for port in ports {
            if let Some(write) = one(held, (tables, port), was, will)
                && !writes.contains(&write)
            {
                writes.push(write);
            }
        }
    }
    writes.extend(schedulers::writes(tables, ports, (&was.scheduler, &will.scheduler)));
    writes.extend(own_headroom::writes(tables, ports, (was, will)));
    writes.extend(port_rows::writes(tables, ports, (was, will)));
    let after = writes.iter().fold(tables.clone(), |tables, write: &Write| {
        tables.with(&write.key, &write.field, write.to.as_deref())
    });
    let read = declared(&after, ports, base)?;
    match read.differences(&wanted).first() {
        None => Ok(writes),
        Some(path) => {
            let shown =
                |of: &Declared| of.get(path).map_or_else(|| "never".to_owned(), |v| show(&v));
            let why = if is_held(path) {
                let (meant, read) = (shown(&wanted), shown(&read));
                format!(
                    "{path}={meant}: CONFIG_DB of {} cannot hold it, and would say {read}",
                    ports.join(", ")
                )
            } else {
                format!("{path}={}: the control `sonic` does not set it", shown(&wanted))
            };
            Err(Refused { why })
        }
    }
}

/// A value as people write it.
pub(super) fn show(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The change of one field for one port, if there is one.
fn one(held: &Held, (tables, port): (&Tables, &str), was: &Switch, will: &Switch) -> Option<Write> {
    let key = held.key(tables, port, was)?;
    let sized = Held::sized(tables, &key);
    let to = held.text(will, sized);
    if held.text(was, sized) == to {
        return None;
    }
    let (table, name) = key.split_once('|')?;
    let field = held.field_of(port);
    let from = tables.field(table, name, field).map(|said| said.text.to_owned());
    Some(Write { field: field.to_owned(), from, to, key })
}
