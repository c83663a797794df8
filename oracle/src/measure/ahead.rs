//! Frames that may stand in the way of another one at a port.

use rig_lab::Switch;
use rig_testcases::{Script, StreamSpec};
use rig_units::{Bytes, Dur};

/// The largest frame that the device may be sending out of a port.
pub(super) fn ahead(script: &Script, port: u16) -> Bytes {
    let to = script.streams.iter().filter(|spec| spec.to == port);
    to.map(StreamSpec::on_wire).max().unwrap_or(Bytes(0))
}

/// How long a PFC frame of a class may have to wait at a port of the device for whatever else leaves by it: a frame that is being
/// sent, and PFC of each other class that the rig sends into it.
pub(super) fn in_the_way(declared: &Switch, script: &Script, port: u16, class: u8) -> Dur {
    let Some(speed) = declared.port_speed(script.dut_ports[usize::from(port)]) else {
        return Dur::ZERO;
    };
    let entering = |other: u8| {
        let streams = script.streams.iter().map(|spec| (spec.from, spec.class));
        let flows = script.flows.iter().map(|flow| (flow.nic, flow.class));
        streams.chain(flows).any(|one| one == (port, other))
    };
    let others = declared.qos.pfc_enable.iter().filter(|other| **other != class);
    let others = others.filter(|other| entering(**other)).count();
    // What answers a flow, or what a NIC sends back, is at most a frame of its port.
    let ahead = if script.flows.is_empty() { ahead(script, port) } else { declared.mtu };
    let ahead = if ahead == Bytes(0) { Dur::ZERO } else { speed.slot(ahead) };
    ahead + speed.slot(declared.macsec.pfc_size()) * u64::try_from(others).unwrap_or(u64::MAX)
}
