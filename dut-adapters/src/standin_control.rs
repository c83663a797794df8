//! A stand-in that the rig has started: all goes through its databases, as with a switch, but for its cables and for when frames passed its
//! ports, which no switch tells.

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
    device: Box<dyn Control>,
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
        Ok(StandinControl::around(switch, Box::new(device.counting_from(zero))))
    }

    /// One whose databases are steered so, before this device.
    pub(crate) fn around(switch: SonicControl, device: Box<dyn Control>) -> StandinControl {
        StandinControl { switch, device }
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

    fn takes_a_while(&self) -> bool {
        self.switch.takes_a_while()
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

    /// By its databases too: the device alone does not know how late what it did was told there, and a storm that is dated by when it was heard
    /// of would be held against it.
    fn health(&mut self) -> Result<Health, ControlError> {
        match self.switch.health() {
            // Whoever has taken that row away: there is a device all the same.
            Err(ControlError::NotOffered(_)) => self.device.health(),
            told => told,
        }
    }

    fn passed(&mut self) -> Result<Vec<PortTally>, ControlError> {
        self.device.passed()
    }
}
