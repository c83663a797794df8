//! Shutting a port of the switch, and having one negotiate its speed, as `config interface shutdown`, `autoneg` and `advertised-speeds` do:
//! fields of `PORT`, of one of the rig's ports each.

use super::super::link::{Db, Link};
use super::super::port_rows::{ADVERTISED, ALL, AUTONEG, ON, STATUS};
use super::super::tables::Tables;
use super::super::write::Write;
use crate::control::Lost;
use rig_lab::Switch;
use rig_units::PortSpeed;
use std::collections::BTreeMap;

/// The settings that are written so.
pub(super) const PATHS: [&str; 3] =
    ["shut_port", "dynamic_buffer.autoneg_port", "dynamic_buffer.advertised"];
const MBPS: u64 = 1_000_000;

/// What has to be written for these ports of a switch that is configured as `was`, so that it is as `will`. A port that the rig is not cabled to
/// is none of its: who reads it finds that out.
pub(super) fn writes(
    tables: &Tables,
    ports: &[String],
    (was, will): (&Switch, &Switch),
) -> Vec<Write> {
    let mut all = Vec::new();
    let mut change = |number: u16, field: &str, to: &str| {
        let port = usize::from(number).checked_sub(1).and_then(|index| ports.get(index));
        let Some(port) = port else { return };
        let from = tables.field("PORT", port, field).map(|said| said.text.to_owned());
        if from.as_deref() != Some(to) {
            let (key, field) = (format!("PORT|{port}"), field.to_owned());
            all.push(Write { key, field, from, to: Some(to.to_owned()) });
        }
    };
    if was.shut_port != will.shut_port {
        was.shut_port.into_iter().for_each(|port| change(port, STATUS, "up"));
        will.shut_port.into_iter().for_each(|port| change(port, STATUS, "down"));
    }
    let of = |switch: &Switch| {
        let from = &switch.dynamic_buffer;
        from.autoneg_port.map(|port| (port, speeds(from.advertised)))
    };
    if of(was) != of(will) {
        let gone = of(was).filter(|(port, _)| will.dynamic_buffer.autoneg_port != Some(*port));
        gone.into_iter().for_each(|(port, _)| change(port, AUTONEG, "off"));
        // What it advertises first: nobody is to size it for all that it supports meanwhile.
        if let Some((port, speeds)) = of(will) {
            change(port, ADVERTISED, &speeds);
            change(port, AUTONEG, ON);
        }
    }
    all
}

/// As `adv_speeds` has it, in Mb/s.
fn speeds(fastest: Option<PortSpeed>) -> String {
    fastest.map_or_else(|| ALL.to_owned(), |speed| (speed.bps() / MBPS).to_string())
}

/// What the ASIC has not been told yet of ports that are shut and open, and of the one that negotiates; `None`: all of it.
///
/// # Errors
/// The switch is lost.
pub(super) fn missing(
    link: &mut Link,
    (ports, oids): (&[String], &BTreeMap<String, String>),
    of: &Switch,
) -> Result<Option<String>, Lost> {
    for (number, port) in (1..).zip(ports) {
        let Some(oid) = oids.get(port) else { continue };
        let key = format!("ASIC_STATE:SAI_OBJECT_TYPE_PORT:{oid}");
        let mut is = |field: &str| -> Result<Option<String>, Lost> {
            let asked = [(key.clone(), vec![field.to_owned()])];
            Ok(link.fields(Db::Asic, &asked)?.into_iter().flatten().next().flatten())
        };
        let open = is("SAI_PORT_ATTR_ADMIN_STATE")?;
        let shut = of.shut_port == Some(number);
        // Of a port that was up all along nobody need have said so.
        let wanted = if shut { "false" } else { "true" };
        if open.as_deref().is_some_and(|text| text != wanted) || (shut && open.is_none()) {
            let open = open.unwrap_or_else(|| "not there".to_owned());
            return Ok(Some(format!("{key} SAI_PORT_ATTR_ADMIN_STATE is {open}, not {wanted}")));
        }
        if of.dynamic_buffer.autoneg_port == Some(number)
            && is("SAI_PORT_ATTR_AUTO_NEG_MODE")?.as_deref() != Some("true")
        {
            return Ok(Some(format!("{key} SAI_PORT_ATTR_AUTO_NEG_MODE is not true")));
        }
    }
    Ok(None)
}
