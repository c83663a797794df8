//! The model as a device under test, in virtual time: the stand-in for hardware at a desk.

use crate::control::{Ability, Capabilities, Control, ControlError, Order, Readings, Refused};
use crate::protocol::Polled;
use rig_capture::{AtRest, DutEvent, DutEventKind};
use rig_lab::{Declared, Profile, Setting};
use rig_oracle::model::dut::{self, Rig};
use rig_oracle::model::host;
use rig_oracle::model::network::{Delivered, Network};
use rig_oracle::model::packet::Packet;
use rig_oracle::model::pfcwd::{self, Event};
use rig_oracle::model::tap::Tap;
use rig_testcases::DeviceVerb;
use rig_units::{Dur, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The emulated device with the rig's ports cabled to it: rig host `i` to the device's port `i`, all of them.
#[derive(Debug)]
pub struct Emulated {
    dut: dut::Dut,
    /// Events handed out so far.
    heard: usize,
}

impl Emulated {
    /// Boots the device of `profile` with the settings that a device reads at boot, then configures the others.
    ///
    /// # Errors
    /// When the device refuses a setting, or an override of the profile does not fit what was configured.
    pub fn boot(
        profile: &Profile,
        settings: &[Setting],
        cable_cm: u64,
        seed: u64,
    ) -> Result<Emulated, ControlError> {
        let refused = |why: &dyn core::fmt::Display| Refused { why: why.to_string() };
        // The watchdog is configured while the switch runs; buffers and queues are laid out when it boots.
        let (live, at_boot): (Vec<_>, Vec<_>) =
            settings.iter().cloned().partition(|setting| setting.path.starts_with("pfcwd."));
        let boot = profile.clone().configured(&at_boot).map_err(|bad| refused(&bad))?;
        let declared = &boot.declared;
        let rig = Rig { ports: declared.port_count(), cable_cm, host: host::Config::quiet() };
        let dut = dut::Dut::new(&boot, declared, &rig, seed).map_err(|bad| refused(&bad))?;
        let mut emulated = Emulated { dut, heard: 0 };
        if !live.is_empty() {
            emulated.set(&live)?;
        }
        Ok(emulated)
    }

    /// The configuration as the device states it now.
    pub fn configured(&self) -> &Declared {
        self.dut.configured()
    }

    /// The present, on the clock of the session.
    pub const fn now(&self) -> Time {
        self.dut.now()
    }

    /// Lets virtual time pass; `tap` hears of every frame at the rig's ports.
    pub fn run_until(&mut self, until: Time, tap: &mut impl Tap) {
        self.dut.run_until(until, tap);
    }

    /// How many times its watchdogs have acted so far.
    pub const fn happened(&self) -> usize {
        self.dut.events().len()
    }

    /// When something happens next by itself.
    pub fn next_event(&self) -> Time {
        self.dut.next_event()
    }

    /// A frame of the outside world whose last bit reaches `port` now.
    pub fn deliver(&mut self, port: u16, packet: Packet, tap: &mut impl Tap) -> Delivered {
        self.dut.deliver(port, packet, tap)
    }

    /// Every counter but those that are 0 and of a port, and which ones these are.
    pub fn stirred(&self) -> (BTreeMap<String, u64>, Vec<Arc<AtRest>>) {
        (self.dut.stirred(), self.dut.at_rest())
    }

    /// What a poll of a PFC watchdog reads now, of each queue that is guarded.
    pub fn polled(&mut self) -> Vec<Polled> {
        let polled = |(port, class, read): (String, u8, pfcwd::Counters)| Polled {
            port,
            class,
            pfc_rx_pkts: read.pfc_rx_pkts,
            on2off_rx_pkts: read.on2off_rx_pkts,
            rx_pause_duration_us: read.rx_pause_duration_us,
            packets: read.queue_packets,
            occupancy: read.queue_occupancy_bytes,
            paused: read.paused,
        };
        self.dut.polled().into_iter().map(polled).collect()
    }

    /// The rig's ports, to start and stop what they send.
    pub fn rig(&mut self) -> &mut Network {
        self.dut.rig()
    }

    /// The host of the engine that is the NIC behind a port; of a device that is one.
    pub fn nic_host(&self, port: u16) -> u16 {
        self.dut.nic_host(port)
    }

    /// The name of the port behind a rig port.
    pub fn port_name(&self, port: u16) -> String {
        self.dut.name_behind(port)
    }

    /// Cuts or mends the cable of a rig port, now.
    pub fn set_link(&mut self, port: u16, up: bool) {
        self.dut.set_link(port, up);
    }
}

impl Control for Emulated {
    fn name(&self) -> &'static str {
        "served"
    }

    fn capabilities(&self) -> Capabilities {
        use Ability::{ClearWatermarks, Configure, Counters, Events, Snapshot, YieldPfcwd};
        Capabilities {
            offered: &[Snapshot, Configure, Counters, Events, ClearWatermarks, YieldPfcwd],
            verbs: &DeviceVerb::ALL,
            clock_bound: Dur::ZERO,
        }
    }

    fn snapshot(&mut self) -> Result<Declared, ControlError> {
        Ok(self.dut.configured().clone())
    }

    fn set(&mut self, settings: &[Setting]) -> Result<(), ControlError> {
        self.dut.configure(settings).map_err(|refused| Refused { why: refused.to_string() })?;
        self.read_back(settings)
    }

    fn counters(&mut self, names: &[String]) -> Result<Readings, ControlError> {
        let one = |name: &String| Some((name.clone(), self.dut.counter(name)?));
        let values = match names {
            [] => self.dut.counters(),
            names => names.iter().filter_map(one).collect(),
        };
        Ok(Readings { values, ..Readings::default() })
    }

    fn events(&mut self) -> Result<Vec<DutEvent>, ControlError> {
        let fresh = &self.dut.events()[self.heard..];
        self.heard += fresh.len();
        let dut = &self.dut;
        let event = |acted: &dut::Acted| DutEvent {
            at: acted.at,
            off: Dur::ZERO,
            port: dut.port_name(acted.device, acted.port),
            class: acted.class,
            kind: match acted.event {
                Event::Storm => DutEventKind::Storm,
                Event::Restore => DutEventKind::Restore,
            },
        };
        Ok(fresh.iter().map(event).collect())
    }

    fn order(&mut self, order: Order) -> Result<(), ControlError> {
        match order {
            Order::ClearWatermarks => self.dut.clear_watermarks(),
            Order::Perform { verb } => {
                let (key, word) = (verb.row().key, verb.row().word);
                let why = format!("it has nothing to {key} that is called {word}");
                let why = || Refused { why };
                self.dut.perform(verb).then_some(()).ok_or_else(why)?;
            }
            Order::YieldPfcwd => {
                let why = || Refused { why: "it has no PFC watchdog".to_owned() };
                self.dut.yield_pfcwd().then_some(()).ok_or_else(why)?;
            }
            Order::Decided { port, class, what, due_ns: _ } => {
                let event = match what {
                    DutEventKind::Storm => Event::Storm,
                    DutEventKind::Restore => Event::Restore,
                };
                let why = || Refused { why: format!("no watchdog guards {port}:{class}") };
                self.dut.decided(&port, class, event).then_some(()).ok_or_else(why)?;
            }
            // What is at the other end of a cable is not its own affair: whoever has its ports does these.
            other => return Err(self.lacks(other.needs())),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
