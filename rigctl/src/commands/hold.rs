//! What the device of a lab is known by to other rigs, which are kept off it for as long as a run takes.

use crate::state;
use rig_dut::{DeviceLock, device_lock};
use rig_lab::{Backend, Lab, Transport};

/// Keeps other rigs off the lab's device, if it is not the rig that makes it.
///
/// # Errors
/// Another one uses it, and which.
pub(super) fn hold(lab: &Lab) -> Result<Option<DeviceLock>, String> {
    let (interfaces, backend) = match &lab.transport {
        Transport::Interfaces(wire) => (wire.interfaces.clone(), wire.backend),
        // Of the NIC itself the lease on its server does.
        Transport::Server(wire) => (wire.interfaces(), Backend::AfPacket),
        Transport::Virtual(_) | Transport::Veth(_) | Transport::Guests(_) => return Ok(None),
    };
    let name = |port: &String| match backend {
        // A port of DPDK is in no namespace.
        Backend::Dpdk => Ok(format!("port {port}")),
        Backend::AfXdp | Backend::AfPacket => device_lock::interface(port),
    };
    let names = interfaces.iter().map(name).collect::<Result<Vec<_>, _>>();
    let names = names.map_err(|why| format!("/proc: {why}"))?;
    DeviceLock::take(&state::journals(), &names).map(Some)
}
