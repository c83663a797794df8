//! How long what a case sends takes, on the device that it is sent to.

use super::{Counted, Resolving};
use crate::{Case, Lookup};
use rig_lab::Declared;
use rig_units::Dur;

impl Case {
    /// How long a stream of a number of frames takes to send on a device that was configured to `declared`.
    pub fn lasts(&self, name: &str, declared: &Declared, lookup: &dyn Lookup) -> Option<Dur> {
        let stream = self.streams.get(name)?;
        let (ports, dut_ports) = (self.rig_ports(), self.dut_ports(declared).ok()?);
        let (ports, dut_ports) = (&ports, &dut_ports);
        let counted = Counted::default();
        let resolving = Resolving { case: self, declared, lookup, ports, dut_ports, counted };
        let stream = resolving.stream(name, stream).ok()?;
        stream.length(resolving.speed(stream.from))
    }
}
