//! A stand-in that the rig has started: all goes through its databases, as with a switch, but for how the device behind them has kept
//! up with its clock, which no switch tells. A machine that looks away is not taken for a device that is late.

use crate::control::{Capabilities, Control, ControlError, Health, Order, PortTally, Readings};
use crate::journal::Change;
use crate::{EmulatedWire, SonicControl};
use rig_capture::DutEvent;
use rig_generator::port::Mono;
use rig_lab::{Declared, Profile, RedisAt, Setting};

/// A switch with SONiC, and the device behind it.
#[derive(Debug)]
pub struct StandinControl {
    /// Ends first: what it has set is taken back while there is somebody who takes it.
    switch: SonicControl,
    device: EmulatedWire,
}

impl StandinControl {
    /// The device that is served as a switch whose redis is at `at`, which is what `profile` declares and has its first `ports` ports
    /// cabled to the rig's. `zero` is that of the session's clock.
    ///
    /// # Errors
    /// As [`SonicControl::open`].
    pub fn open(
        device: EmulatedWire,
        (at, zero): (&RedisAt, Mono),
        profile: &Profile,
        ports: u16,
    ) -> Result<StandinControl, String> {
        let switch = SonicControl::open((at, zero), profile, ports)?;
        Ok(StandinControl { switch, device: device.counting_from(zero) })
    }
}

impl Control for StandinControl {
    fn name(&self) -> &'static str {
        self.switch.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.switch.capabilities()
    }

    fn snapshot(&mut self) -> Result<Declared, ControlError> {
        self.switch.snapshot()
    }

    fn changes(&self, settings: &[Setting]) -> Vec<Change> {
        self.switch.changes(settings)
    }

    fn set(&mut self, settings: &[Setting]) -> Result<(), ControlError> {
        self.switch.set(settings)
    }

    fn counters(&mut self, names: &[String]) -> Result<Readings, ControlError> {
        self.switch.counters(names)
    }

    fn events(&mut self) -> Result<Vec<DutEvent>, ControlError> {
        self.switch.events()
    }

    fn missed(&mut self) -> Option<String> {
        self.switch.missed()
    }

    fn restore(&mut self, before: &Declared, touched: &[Setting]) -> Result<(), ControlError> {
        self.switch.restore(before, touched)
    }

    /// Cables are the rig's own here: the device behind is told of them, as a switch sees its links go down.
    fn order(&mut self, order: Order) -> Result<(), ControlError> {
        match order {
            Order::Link { .. } | Order::Cable { .. } => self.device.order(order),
            other => self.switch.order(other),
        }
    }

    fn health(&mut self) -> Result<Health, ControlError> {
        self.device.health()
    }

    fn passed(&mut self) -> Result<Vec<PortTally>, ControlError> {
        self.device.passed()
    }
}
