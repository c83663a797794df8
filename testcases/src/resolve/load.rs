//! Whether a port can carry what a script asks of it at every instant.

use crate::{Action, Case, Script, StreamRate, StreamSpec};
use rig_lab::{Declared, Fault};
use rig_units::{Bytes, Dur, L1_OVERHEAD, PortSpeed, Rate};
use std::collections::BTreeMap;

/// All of a port, in billionths.
const WHOLE: u64 = 1_000_000_000;

/// Refuses a script in which the senders of one port together ask for more than its line rate.
pub(super) fn check(case: &Case, declared: &Declared, script: &Script) -> Result<(), Fault> {
    let speed = |port: u16| {
        let dut_port = script.dut_ports.get(usize::from(port)).copied().unwrap_or_default();
        declared.port_speed(dut_port).unwrap_or(PortSpeed::G100)
    };
    // What each running sender takes, by port and sender; storms come after the streams.
    let mut running: BTreeMap<(u16, u16), (u64, &str)> = BTreeMap::new();
    // When those end that end by themselves.
    let mut ends: BTreeMap<(u16, u16), Dur> = BTreeMap::new();
    let storm_index = |storm: u16| u16::MAX / 2 + storm;
    for (i, step) in script.steps.iter().enumerate() {
        ends.retain(|sender, end| {
            let over = *end <= step.at;
            if over {
                running.remove(sender);
            }
            !over
        });
        let port = match &step.action {
            Action::StartStream(id) => {
                let stream = &script.streams[usize::from(*id)];
                let share = share(stream, speed(stream.from));
                running.insert((stream.from, *id), (share, &stream.name));
                if let Some(length) = stream.length(speed(stream.from)) {
                    ends.insert((stream.from, *id), step.at.saturating_add(length));
                }
                stream.from
            }
            Action::StartStorm(id) => {
                let storm = &script.storms[usize::from(*id)];
                let slot = speed(storm.from).slot(storm.on_wire());
                let share = slot.scaled(WHOLE, storm.every.0).0;
                running.insert((storm.from, storm_index(*id)), (share, &storm.name));
                storm.from
            }
            Action::StopStream(id) => {
                running.remove(&(script.streams[usize::from(*id)].from, *id));
                continue;
            }
            Action::StopStorm(id) => {
                running.remove(&(script.storms[usize::from(*id)].from, storm_index(*id)));
                continue;
            }
            Action::StartFlow(_)
            | Action::StopFlow(_)
            | Action::Pfc(_)
            | Action::LinkDown(_)
            | Action::LinkUp(_)
            | Action::Configure(_)
            | Action::Device(_) => {
                continue;
            }
        };
        // What stops at this very instant may stand after what starts.
        let settled = script.steps.get(i + 1).is_none_or(|next| next.at > step.at);
        let at_port = || running.range((port, 0)..=(port, u16::MAX)).map(|(_, sender)| sender);
        let total: u64 = at_port().map(|(share, _)| share).sum();
        if total > WHOLE && settled {
            let names: Vec<&str> = at_port().map(|&(_, name)| name).collect();
            let found = format!(
                "at {} the senders {} ask {} for {}.{:04} % of its {}",
                step.at,
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
