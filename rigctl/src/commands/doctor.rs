//! `rigctl doctor`: what this machine and a lab can do, what is missing, how to get it.

use super::input::Bad;
use crate::cli::{DoctorArgs, Format};
use crate::doctor::facts::{Cable, Interface};
use crate::doctor::{Facts, Needs, Report, gather, judge};
use crate::executor::wire::backend;
use crate::{state, stdout};
use rig_dut::Journal;
use rig_generator::port::Backend;
use rig_lab::{Lab, Transport};
use rig_reports::Exit;
use std::sync::Arc;

/// Looks, judges, prints.
///
/// # Errors
/// A lab that cannot be used, or interfaces that cannot be meant.
pub fn doctor(args: &DoctorArgs) -> Result<Exit, Bad> {
    let lab = rig_lab::read::lab(args.lab.as_deref()).map_err(|faults| {
        let mut bad = Bad::default();
        bad.faults(&faults);
        bad
    })?;
    let (names, carrier) = match &lab.transport {
        // A port of DPDK can be opened once in a process, and is none of the kernel's to look at.
        Transport::Interfaces(wire) if wire.dpdk.is_some() && !args.cabled.is_empty() => {
            return Err(Bad::of(format!(
                "`--cabled {}`: the ports of lab {} are DPDK's, which are not tried\n   = want: interfaces of the \
                 kernel, and a lab with `backend: af-xdp` or `af-packet`",
                args.cabled.join(" "),
                lab.name
            )));
        }
        Transport::Interfaces(wire) if wire.dpdk.is_some() => (Vec::new(), Backend::Dpdk),
        Transport::Interfaces(wire) => (wire.interfaces.clone(), backend(wire.backend)),
        Transport::Server(wire) => (wire.interfaces(), Backend::AfPacket),
        Transport::Virtual(_) | Transport::Veth(_) => (Vec::new(), Backend::AfXdp),
        Transport::Guests(_) => (Vec::new(), Backend::AfPacket),
    };
    let ends = match args.cabled.as_slice() {
        [one, other] => Some(ends(&lab, one, other)?),
        _ => None,
    };
    let machine = gather::machine();
    // An interface carries one port at a time: each is looked at and let go before the next.
    let interfaces: Vec<Interface> =
        names.iter().map(|name| gather::interface(name, carrier)).collect();
    let cable: Option<Cable> = ends.map(|ends| gather::cable(&ends, carrier));
    let servers = match &lab.transport {
        Transport::Server(wire) => {
            gather::servers(wire, &Arc::new(Journal::at(&state::journals())))
        }
        Transport::Virtual(_)
        | Transport::Veth(_)
        | Transport::Interfaces(_)
        | Transport::Guests(_) => Vec::new(),
    };
    let facts = Facts { machine, pair: gather::on_a_pair(), interfaces, cable, servers };
    let needs = Needs::of(&lab);
    let report = Report::new(&needs, judge(&facts, &needs));
    match args.format {
        Format::Human => stdout::text(&report.to_string()),
        Format::Json => stdout::json(&report.to_json()),
    }
    Ok(report.exit())
}

/// The interfaces that are meant: each by its own name, or by that of the rig's port in the lab (`p1`).
fn ends(lab: &Lab, one: &str, other: &str) -> Result<[String; 2], Bad> {
    let meant = |name: &str| {
        let Transport::Interfaces(wire) = &lab.transport else { return name.to_owned() };
        let number = name.strip_prefix('p').and_then(|number| number.parse::<usize>().ok());
        let port = number.and_then(|number| wire.interfaces.get(number.checked_sub(1)?));
        port.filter(|_| !wire.interfaces.iter().any(|own| own == name))
            .map_or_else(|| name.to_owned(), Clone::clone)
    };
    let ends = [meant(one), meant(other)];
    if ends[0] == ends[1] {
        return Err(Bad::of(format!(
            "`--cabled {one} {other}`: a cable has two ends\n   = want: two interfaces that are cabled to each other"
        )));
    }
    Ok(ends)
}
