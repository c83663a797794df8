//! How long what a case sends takes, on the device that it is sent to.

use super::{Counted, Resolving};
use crate::{Case, Lookup};
use rig_lab::Declared;
use rig_units::Dur;

impl Case {
    /// How long a stream of a number of frames, or a flow of a number of messages, takes to send on a device that was configured to `declared`.
    pub fn lasts(&self, name: &str, declared: &Declared, lookup: &dyn Lookup) -> Option<Dur> {
        let (ports, dut_ports) = (self.rig_ports(), self.dut_ports(declared).ok()?);
        let (ports, dut_ports) = (&ports, &dut_ports);
        let counted = Counted::default();
        let qos = &*declared.qos();
        let resolving = Resolving { case: self, declared, qos, lookup, ports, dut_ports, counted };
        if let Some(flow) = self.flows.get(name) {
            let flow = resolving.flow(name, flow).ok()?;
            return flow.length(resolving.speed(flow.nic));
        }
        let stream = resolving.stream(name, self.streams.get(name)?).ok()?;
        stream.length(resolving.speed(stream.from))
    }
}
