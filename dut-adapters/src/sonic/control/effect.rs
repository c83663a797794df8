//! Whether what CONFIG_DB says is in effect: orchagent and its managers take it from there, and the databases behind them tell
//! what they have made of it. What does not arrive there nobody may rely on.

use super::super::copied;
use super::super::link::{Db, Link};
use super::super::tables::Tables;
use super::super::write::shown;
use super::held::{Held, TABLE};
use super::{bindings, own_headroom, port_rows};
use crate::control::Lost;
use rig_lab::{Action, EcnMode, Switch};
use std::collections::BTreeMap;

/// The attribute of a queue that names its WRED object, and what it says of none.
const BOUND: &str = "SAI_QUEUE_ATTR_WRED_PROFILE_ID";
const UNBOUND: &str = "oid:0x0";

/// Tables whose rows the buffer manager passes on.
const BUFFERS: [&str; 2] = ["BUFFER_PROFILE", "BUFFER_POOL"];

/// Something that must stand in a database once the configuration is in effect.
#[derive(Debug)]
enum Want {
    /// A field of a key; `None`: it is not there, or empty.
    Field { db: Db, key: String, field: &'static str, text: Option<String> },
    /// The WRED object that this queue is bound to has these fields: what is made of a profile bears no name in ASIC_DB, and that
    /// another object is as it should be says nothing of the queue.
    Curve { queue: String, fields: [(&'static str, String); 4] },
    /// There is nothing that tells.
    Untold(String),
}

/// The names of what the ASIC has.
struct Names {
    ports: BTreeMap<String, String>,
    queues: BTreeMap<String, String>,
    pools: BTreeMap<String, String>,
}

/// What is not in effect yet of what CONFIG_DB says of these ports; `None` where all of it is.
///
/// # Errors
/// The switch is lost.
pub(super) fn missing(
    link: &mut Link,
    tables: &Tables,
    ports: &[String],
    of: &Switch,
) -> Result<Option<String>, Lost> {
    let names = Names {
        ports: link.whole(Db::Counters, "COUNTERS_PORT_NAME_MAP")?,
        queues: link.whole(Db::Counters, "COUNTERS_QUEUE_NAME_MAP")?,
        pools: link.whole(Db::Counters, "COUNTERS_BUFFER_POOL_NAME_MAP")?,
    };
    let mut wants = Vec::new();
    for port in ports {
        watchdog(&names, port, of, &mut wants);
        wants.push(priorities(&names, port, of));
        buffers((tables, &names), port, of, &mut wants);
        wants.extend(of.wred.queues.iter().map(|class| curve(&names, (port, *class), of)));
    }
    if !of.qos.pfcwd_sw_enable.is_empty() {
        let poll = of.pfcwd.poll_interval.0 / rig_units::Dur::ms(1).0;
        let key = "FLEX_COUNTER_GROUP_TABLE:PFC_WD".to_owned();
        wants.push(Want::Field {
            db: Db::Flex,
            key,
            field: "POLL_INTERVAL",
            text: Some(poll.to_string()),
        });
    }
    let copied = copied::flex(tables).into_iter().map(|(key, field, text)| Want::Field {
        db: Db::Flex,
        key,
        field,
        text: Some(text),
    });
    wants.extend(copied);
    if let Some(why) = unmet(link, &wants)? {
        return Ok(Some(why));
    }
    if let Some(why) = port_rows::missing(link, (ports, &names.ports), of)? {
        return Ok(Some(why));
    }
    let lingers = own_headroom::lingers(link, tables, (ports, of))?;
    lingers
        .map_or_else(|| bindings::missing(link, tables, (ports, &names.ports)), |why| Ok(Some(why)))
}

/// What orchagent writes beside the counters of each queue that it watches.
fn watchdog(names: &Names, port: &str, of: &Switch, wants: &mut Vec<Want>) {
    for class in &of.qos.pfc_enable {
        let queue = format!("{port}:{class}");
        let Some(oid) = names.queues.get(&queue) else {
            wants.push(Want::Untold(format!("COUNTERS_QUEUE_NAME_MAP has no {queue}")));
            continue;
        };
        let guarded = of.qos.pfcwd_sw_enable.contains(class);
        let us = |time: rig_units::Dur| (time.0 / rig_units::Dur::us(1).0).to_string();
        let word = match of.pfcwd.action {
            Action::Drop => "drop",
            Action::Forward => "forward",
            Action::Alert => "alert",
        };
        let red = of.pfcwd.big_red_switch.then(|| "enable".to_owned());
        for (field, text) in [
            ("PFC_WD_DETECTION_TIME", guarded.then(|| us(of.pfcwd.detection_time))),
            ("PFC_WD_RESTORATION_TIME", of.pfcwd.restoration_time.filter(|_| guarded).map(us)),
            ("PFC_WD_ACTION", guarded.then(|| word.to_owned())),
            ("BIG_RED_SWITCH_MODE", red.filter(|_| guarded)),
        ] {
            wants.push(Want::Field {
                db: Db::Counters,
                key: format!("COUNTERS:{oid}"),
                field,
                text,
            });
        }
    }
}

/// The classes in which the port obeys and sends PFC, as the ASIC was told.
fn priorities(names: &Names, port: &str, of: &Switch) -> Want {
    let Some(oid) = names.ports.get(port) else {
        return Want::Untold(format!("COUNTERS_PORT_NAME_MAP has no {port}"));
    };
    let bits: u16 = of.qos.pfc_enable.iter().map(|class| 1 << class).sum();
    let key = format!("ASIC_STATE:SAI_OBJECT_TYPE_PORT:{oid}");
    let field = "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL";
    Want::Field { db: Db::Asic, key, field, text: Some(bits.to_string()) }
}

/// Profiles and pools, as the buffer manager passes them on; and what the ASIC was told of the pools, where they have names.
fn buffers((tables, names): (&Tables, &Names), port: &str, of: &Switch, wants: &mut Vec<Want>) {
    for held in TABLE {
        let Some(key) = held.key(tables, port, of) else { continue };
        let Some((table, name)) = key.split_once('|').filter(|(table, _)| BUFFERS.contains(table))
        else {
            continue;
        };
        // What it does not say nobody passes on.
        let Some(said) = tables.field(table, name, held.field) else { continue };
        // A pool of which a profile shares no more than it has may be larger.
        let text = match table {
            "BUFFER_POOL" => said.text.to_owned(),
            _ => held.text(of, Held::sized(tables, &key)).unwrap_or_default(),
        };
        let oid = names.pools.get(name).filter(|_| table == "BUFFER_POOL");
        if let Some(oid) = oid {
            let key = format!("ASIC_STATE:SAI_OBJECT_TYPE_BUFFER_POOL:{oid}");
            let size = "SAI_BUFFER_POOL_ATTR_SIZE";
            let field = if held.field == "size" { size } else { "SAI_BUFFER_POOL_ATTR_XOFF_SIZE" };
            wants.push(Want::Field { db: Db::Asic, key, field, text: Some(text.clone()) });
        }
        let key = format!("{table}_TABLE:{name}");
        wants.push(Want::Field { db: Db::Appl, key, field: held.field, text: Some(text) });
    }
}

/// The curve of marking that a queue is bound to.
fn curve(names: &Names, (port, class): (&str, u8), of: &Switch) -> Want {
    let name = format!("{port}:{class}");
    let Some(oid) = names.queues.get(&name) else {
        return Want::Untold(format!("COUNTERS_QUEUE_NAME_MAP has no {name}"));
    };
    let mode = match of.wred.ecn {
        EcnMode::EcnNone => "SAI_ECN_MARK_MODE_NONE",
        EcnMode::EcnGreen => "SAI_ECN_MARK_MODE_GREEN",
        EcnMode::EcnYellow => "SAI_ECN_MARK_MODE_YELLOW",
        EcnMode::EcnRed => "SAI_ECN_MARK_MODE_RED",
        EcnMode::EcnGreenYellow => "SAI_ECN_MARK_MODE_GREEN_YELLOW",
        EcnMode::EcnGreenRed => "SAI_ECN_MARK_MODE_GREEN_RED",
        EcnMode::EcnYellowRed => "SAI_ECN_MARK_MODE_YELLOW_RED",
        EcnMode::EcnAll => "SAI_ECN_MARK_MODE_ALL",
    };
    Want::Curve {
        queue: format!("ASIC_STATE:SAI_OBJECT_TYPE_QUEUE:{oid}"),
        fields: [
            ("SAI_WRED_ATTR_GREEN_MIN_THRESHOLD", of.wred.kmin.0.to_string()),
            ("SAI_WRED_ATTR_GREEN_MAX_THRESHOLD", of.wred.kmax.0.to_string()),
            ("SAI_WRED_ATTR_GREEN_DROP_PROBABILITY", (of.wred.pmax.0 / 10_000).to_string()),
            ("SAI_WRED_ATTR_ECN_MARK_MODE", mode.to_owned()),
        ],
    }
}

/// Why one of them is not so, if it is not. Each database is asked once: what is not in effect yet is waited for, and a way may be long.
fn unmet(link: &mut Link, wants: &[Want]) -> Result<Option<String>, Lost> {
    let mut asked: BTreeMap<Db, Vec<(String, Vec<String>)>> = BTreeMap::new();
    for want in wants {
        let (db, key, field) = match want {
            Want::Untold(why) => {
                return Ok(Some(format!("{why}: nothing tells what is in effect there")));
            }
            Want::Field { db, key, field, .. } => (*db, key, *field),
            Want::Curve { queue, .. } => (Db::Asic, queue, BOUND),
        };
        asked.entry(db).or_default().push((key.clone(), vec![field.to_owned()]));
    }
    let mut found = BTreeMap::new();
    for (db, asked) in asked {
        let all = link.fields(db, &asked)?.into_iter().map(|row| row.into_iter().next().flatten());
        found.insert(db, all);
    }
    let mut next = |db: &Db| found.get_mut(db).and_then(Iterator::next).flatten();
    let mut curves = Vec::new();
    for want in wants {
        match want {
            Want::Untold(_) => {}
            Want::Field { db, key, field, text } => {
                // Where a time never runs out orchagent writes an empty text.
                let found = next(db).filter(|text| !text.is_empty());
                let off = text.is_none() && found.as_deref() == Some("disable");
                if found != *text && !off {
                    let (found, text) = (shown(&found), shown(text));
                    return Ok(Some(format!("{key} {field} is {found}, not {text}")));
                }
            }
            Want::Curve { queue, fields } => {
                let Some(bound) = next(&Db::Asic).filter(|oid| oid != UNBOUND) else {
                    return Ok(Some(format!("{queue} has no {BOUND}")));
                };
                curves.push((format!("ASIC_STATE:SAI_OBJECT_TYPE_WRED:{bound}"), fields));
            }
        }
    }
    other(link, &curves)
}

/// What of these curves is otherwise in ASIC_DB.
fn other(
    link: &mut Link,
    curves: &[(String, &[(&'static str, String); 4])],
) -> Result<Option<String>, Lost> {
    let asked = curves.iter().map(|(key, fields)| {
        (key.clone(), fields.iter().map(|(name, _)| (*name).to_owned()).collect())
    });
    let found = link.fields(Db::Asic, &asked.collect::<Vec<_>>())?;
    for ((key, fields), found) in curves.iter().zip(found) {
        let mut each = found.into_iter().zip(*fields);
        let other = each.find(|(found, (_, text))| found.as_deref() != Some(text));
        if let Some((found, (name, text))) = other {
            let (found, text) = (shown(&found), shown(&Some(text.clone())));
            return Ok(Some(format!("{key} {name} is {found}, not {text}")));
        }
    }
    Ok(None)
}
