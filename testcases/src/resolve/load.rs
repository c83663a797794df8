//! Whether a port can carry what a script asks of it at every instant.

use crate::running::{TrafficSource, running};
use crate::{Case, Script, StreamRate, StreamSpec};
use rig_lab::{Declared, Fault};
use rig_units::{Bytes, L1_OVERHEAD, PortSpeed, Rate};
use std::collections::BTreeMap;

/// All of a port, in billionths.
const WHOLE: u64 = 1_000_000_000;

/// Refuses a script in which the senders of one port together ask for more than its line rate.
pub(super) fn check(case: &Case, declared: &Declared, script: &Script) -> Result<(), Fault> {
    let speed = |port: u16| {
        let dut_port = script.dut_ports.get(usize::from(port)).copied().unwrap_or_default();
        declared.port_speed(dut_port).unwrap_or(PortSpeed::G100)
    };
    for (at, senders) in running(script, &speed) {
        let mut ports: BTreeMap<u16, (u64, Vec<&str>)> = BTreeMap::new();
        for sender in senders {
            let (port, share, name) = match sender {
                TrafficSource::Stream(id) => {
                    let stream = &script.streams[usize::from(id)];
                    (stream.from, share(stream, speed(stream.from)), &stream.name)
                }
                TrafficSource::Storm(id) => {
                    let storm = &script.storms[usize::from(id)];
                    let slot = speed(storm.from).slot(storm.on_wire());
                    (storm.from, slot.scaled(WHOLE, storm.every.0).0, &storm.name)
                }
            };
            let (total, names) = ports.entry(port).or_default();
            *total = total.saturating_add(share);
            names.push(name);
        }
        let over = ports.into_iter().find(|(_, (total, _))| *total > WHOLE);
        if let Some((port, (total, names))) = over {
            let found = format!(
                "at {at} the senders {} ask {} for {}.{:04} % of its {}",
                names.join(", "),
                script.ports[usize::from(port)],
                total / 10_000_000,
                total / 1_000 % 10_000,
                speed(port),
            );
            let key = format!("streams.{}.rate", names[0]);
            return Err(case.fault(&key, found, "at most 100 % together, storms counted"));
        }
    }
    Ok(())
}

/// How much of a port a stream takes, in billionths.
fn share(stream: &StreamSpec, speed: PortSpeed) -> u64 {
    let billionths =
        |num: u128, den: u128| u64::try_from(num * 1_000_000_000 / den).unwrap_or(u64::MAX);
    let bps = u128::from(speed.bps());
    match stream.rate {
        StreamRate::Every(gap) => {
            billionths(u128::from(speed.slot(stream.on_wire()).0), u128::from(gap.0))
        }
        StreamRate::Load(Rate::Share(share)) => u64::from(share.ppm) * 1_000,
        StreamRate::Load(Rate::L1(rate)) => billionths(u128::from(rate.bps), bps),
        StreamRate::Load(Rate::L2(rate)) => {
            let Bytes(on_wire) = stream.on_wire() + L1_OVERHEAD;
            billionths(
                u128::from(rate.bps) * u128::from(on_wire),
                bps * u128::from(stream.on_wire().0),
            )
        }
    }
}
