//! `rigctl dut nic`: what a server's NIC is, has counted and is set to, under the rig's terms. `rigctl dut set` sets it.

use super::input::Bad;
use crate::cli::{Format, NicArgs, SetArgs};
use crate::{state, stderr, stdout};
use rig_dut::host::{
    self, Gid, HostAccess, Nic, Optional, PortAt, QueuePairCount, QueuePairs, Said, Set, gather,
    nics, settings,
};
use rig_dut::{DeviceLock, Journal};
use rig_reports::Exit;
use serde_json::{Value as Json, json};
use std::fmt::Write as _;

/// Asks and prints.
///
/// # Errors
/// A place that cannot be used.
pub fn nic(args: &NicArgs) -> Result<Exit, Bad> {
    let broken = |why: &str| {
        stderr::line(&format!("error: {why}"));
        Ok(Exit::Broken)
    };
    let only = args.device.as_deref();
    let (said, found) = match &args.sysroot {
        Some(place) => {
            let said = Said::at(place).map_err(Bad::of)?;
            let found = nics(&said, only).map_err(all)?;
            (said, found)
        }
        None => {
            let reach = args.ssh.clone().map_or(HostAccess::Here, HostAccess::Ssh);
            let text = match gather(&reach) {
                Ok(text) if args.raw => {
                    stdout::text(&text);
                    return Ok(Exit::Passed);
                }
                Ok(text) => text,
                Err(why) => return broken(&why),
            };
            let said = Said::told(&reach.to_string(), &text);
            let found = |said: Said| nics(&said, only).map(|found| (said, found));
            match said.map_err(|why| vec![why]).and_then(found) {
                Ok(found) => found,
                Err(wrong) => return broken(&wrong.join("\nerror: ")),
            }
        }
    };
    let found: Vec<(Nic, Vec<Set>)> = found
        .into_iter()
        .map(|nic| {
            let set = settings(&said, &nic);
            (nic, set)
        })
        .collect();
    match args.format {
        Format::Human => stdout::text(
            &found.iter().map(|(nic, set)| text(nic, set)).collect::<Vec<_>>().join("\n"),
        ),
        Format::Json => {
            let nics: Vec<Json> = found.iter().map(|(nic, set)| json(nic, set)).collect();
            stdout::json(&format!("{:#}", json!({"version": 1, "nics": nics})));
        }
    }
    Ok(Exit::Passed)
}

/// All that is wrong.
fn all(wrong: Vec<String>) -> Bad {
    let mut bad = Bad::default();
    bad.all(wrong);
    bad
}

/// Sets what is asked for, and says how it was.
///
/// # Errors
/// A setting that makes no sense.
pub fn set(args: &SetArgs) -> Result<Exit, Bad> {
    let reach = args.ssh.clone().map_or(HostAccess::Here, HostAccess::Ssh);
    let broken = |wrong: &[String]| {
        stderr::line(&format!("error: {}", wrong.join("\nerror: ")));
        Ok(Exit::Broken)
    };
    // Another rig of this machine is told before the host is asked, which has a lock of its own for those elsewhere.
    let _held = match DeviceLock::take(&state::journals(), &[format!("host {reach}")]) {
        Ok(held) => held,
        Err(why) => return broken(&[why]),
    };
    let journal = Journal::at(&state::journals());
    let at = PortAt { device: &args.device, port: args.port };
    let changed = match host::set(&reach, at, &args.settings, &journal) {
        Ok(changed) => changed,
        Err(host::NotSet::Asked(wrong)) => return Err(all(wrong)),
        Err(host::NotSet::Broken(wrong)) => return broken(&wrong),
    };
    let mut touched = false;
    for host::Changed { name, place, before, now } in &changed {
        let was = if before == now { "as it was".to_owned() } else { format!("was {before}") };
        touched |= before != now;
        stdout::text(&format!("{} {name}={now}, {was} ({place})\n", args.device));
    }
    if touched {
        stderr::note("`rigctl restore` puts back what was set");
    }
    Ok(Exit::Passed)
}

/// For people.
fn text(nic: &Nic, set: &[Set]) -> String {
    let mut text = String::new();
    let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "unknown".to_owned());
    let driver = nic.driver.unwrap_or("no known driver");
    let _infallible = writeln!(
        text,
        "{} port {}: {driver}, firmware {}, {}, {}",
        nic.device,
        nic.port,
        word(&nic.firmware),
        word(&nic.state),
        word(&nic.rate)
    );
    let _infallible = match (nic.nets.as_slice(), &nic.net_driver) {
        ([net], Some(driver)) => writeln!(text, "  interface {net} ({driver})"),
        ([net], None) => writeln!(text, "  interface {net}"),
        ([], _) => writeln!(text, "  no interface"),
        (nets, _) => writeln!(text, "  interfaces {}", nets.join(", ")),
    };
    for Gid { place, gid, net } in &nic.gids {
        let over = net.as_ref().filter(|net| nic.nets.as_slice() != [(*net).clone()]);
        let over = over.map(|net| format!(", of {net}")).unwrap_or_default();
        let _infallible = writeln!(text, "  GID {place}: RoCE v2, {gid}{over}");
    }
    if let Some(dcbx) = &nic.dcbx {
        let _infallible = writeln!(text, "  DCBX: {dcbx}");
    }
    if let Some(kept) = &nic.kept_ms {
        let _infallible =
            writeln!(text, "  counters are up to {kept} ms old (hw_counters/lifespan)");
    }
    if nic.bits < 64 {
        let _infallible = writeln!(text, "  counters of {} bits wrap", nic.bits);
    }
    if !nic.source.is_empty() {
        let _infallible = writeln!(text, "  names: {}", nic.source);
    }
    let wide = nic.counted.values.iter().map(|value| value.term.len()).max().unwrap_or_default();
    let mut quiet = 0;
    for value in &nic.counted.values {
        // Of eight priorities one or two are used.
        if value.value == 0 && value.term.contains("_prio") {
            quiet += 1;
            continue;
        }
        let (term, count, called) = (&value.term, value.value, &value.called);
        let but = if value.but.is_empty() { String::new() } else { format!("; {}", value.but) };
        let _infallible =
            writeln!(text, "  {term:wide$} {count:>14}  {} ({called}{but})", value.what);
    }
    if quiet > 0 {
        let _infallible =
            writeln!(text, "  {quiet} counters of priorities are 0 (--format json names them)");
    }
    text += &on_demand(nic);
    let missing = || nic.counted.missing.iter().chain(&nic.statistic.missing);
    if missing().next().is_some() {
        let _infallible = writeln!(text, "  not counted:");
        for missing in missing() {
            let _infallible = writeln!(text, "    {}: {}", missing.term, missing.why);
        }
    }
    if !set.is_empty() {
        let _infallible = writeln!(text, "  set to:");
        for Set { name, value, place } in set {
            let _infallible = writeln!(text, "    {name}={value} ({place})");
        }
    }
    text
}

/// What is counted while somebody has asked for it, for people.
fn on_demand(nic: &Nic) -> String {
    let mut text = String::new();
    let statistic = &nic.statistic;
    if !statistic.optional.is_empty() {
        let _infallible = writeln!(text, "  optional counters (rdma statistic):");
    }
    for Optional { name, what, value } in &statistic.optional {
        let _infallible = match value {
            Some(value) => writeln!(text, "    {name} {value:>14}  {what}"),
            None => writeln!(text, "    {name}: switched off"),
        };
    }
    for QueuePairs { counter, qpns, process, values } in &statistic.queue_pairs {
        let qpns = qpns.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let process = process.as_ref().map(|of| format!(" of {of}")).unwrap_or_default();
        let _infallible = writeln!(text, "  queue pairs {qpns}{process} (counter {counter}):");
        let zero = values.iter().filter(|value| value.value == 0).count();
        for value in values.iter().filter(|value| value.value > 0) {
            let (term, count, called) = (&value.term, value.value, &value.called);
            let _infallible = writeln!(text, "    {term} {count:>14}  ({called})");
        }
        let _infallible = writeln!(text, "    {zero} others are 0 (--format json names them)");
    }
    text
}

/// For scripts.
fn json(nic: &Nic, set: &[Set]) -> Json {
    let values = nic.counted.values.iter().map(|value| {
        json!({"term": value.term, "value": value.value, "called": value.called, "but": value.but})
    });
    let missing = nic.counted.missing.iter().chain(&nic.statistic.missing);
    let missing = missing.map(|missing| json!({"term": missing.term, "why": missing.why}));
    let optional = nic.statistic.optional.iter();
    let optional = optional.map(|one| json!({"name": one.name, "value": one.value}));
    let queue_pairs = nic.statistic.queue_pairs.iter().map(|of| {
        let one = |one: &QueuePairCount| json!({"term": one.term, "value": one.value, "called": one.called});
        let counters = of.values.iter().map(one).collect::<Vec<_>>();
        json!({"counter": of.counter, "queue_pairs": of.qpns, "process": of.process, "counters": counters})
    });
    let set =
        set.iter().map(|one| json!({"name": one.name, "value": one.value, "place": one.place}));
    let gids = nic
        .gids
        .iter()
        .map(|Gid { place, gid, net }| json!({"index": place, "gid": gid, "interface": net}));
    let interface = match nic.nets.as_slice() {
        [net] => Some(net),
        _ => None,
    };
    json!({
        "device": nic.device,
        "port": nic.port,
        "driver": nic.driver,
        "names_from": nic.source,
        "bits": nic.bits,
        "firmware": nic.firmware,
        "interface": interface,
        "interfaces": nic.nets,
        "interface_driver": nic.net_driver,
        "state": nic.state,
        "rate": nic.rate,
        "gids": gids.collect::<Vec<_>>(),
        "dcbx": nic.dcbx,
        "kept_ms": nic.kept_ms,
        "counters": values.collect::<Vec<_>>(),
        "not_counted": missing.collect::<Vec<_>>(),
        "optional_counters": optional.collect::<Vec<_>>(),
        "of_queue_pairs": queue_pairs.collect::<Vec<_>>(),
        "settings": set.collect::<Vec<_>>(),
    })
}
