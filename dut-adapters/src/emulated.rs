//! The model as a device under test, in virtual time: the stand-in for hardware at a desk.

use crate::{Dut, Refused};
use rig_capture::{DutEvent, DutEventKind};
use rig_lab::{Declared, Profile, Setting, WatermarkCopy};
use rig_oracle::model::dut::{self, Rig};
use rig_oracle::model::host;
use rig_oracle::model::network::{Delivered, Network};
use rig_oracle::model::packet::Packet;
use rig_oracle::model::pfcwd::Event;
use rig_oracle::model::tap::Tap;
use rig_units::Time;
use std::collections::BTreeMap;

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
    ) -> Result<Emulated, Refused> {
        let refused = |why: &dyn core::fmt::Display| Refused { why: why.to_string() };
        // The watchdog is configured while the switch runs; buffers and queues are laid out when it boots.
        let (live, at_boot): (Vec<_>, Vec<_>) =
            settings.iter().cloned().partition(|setting| setting.path.starts_with("pfcwd."));
        let boot = at_boot
            .iter()
            .try_fold(profile.declared.clone(), |declared, setting| declared.with(setting));
        let boot = boot.map_err(|bad| refused(&bad))?;
        let rig = Rig { ports: boot.port_count(), cable_cm, host: host::Config::quiet() };
        let dut = dut::Dut::new(profile, &boot, &rig, seed).map_err(|bad| refused(&bad))?;
        let mut emulated = Emulated { dut, heard: 0 };
        if !live.is_empty() {
            emulated.configure(&live)?;
        }
        Ok(emulated)
    }

    /// The present, on the clock of the session.
    pub const fn now(&self) -> Time {
        self.dut.now()
    }

    /// Lets virtual time pass; `tap` hears of every frame at the rig's ports.
    pub fn run_until(&mut self, until: Time, tap: &mut impl Tap) {
        self.dut.run_until(until, tap);
    }

    /// When something happens next by itself.
    pub fn next_event(&self) -> Time {
        self.dut.next_event()
    }

    /// A frame of the outside world whose last bit reaches `port` now.
    pub fn deliver(&mut self, port: u16, packet: Packet, tap: &mut impl Tap) -> Delivered {
        self.dut.deliver(port, packet, tap)
    }

    /// The rig's ports, to start and stop what they send.
    pub fn rig(&mut self) -> &mut Network {
        self.dut.rig()
    }

    /// The host of the engine that is the NIC behind a port; of a device that is one.
    pub fn nic_host(&self, port: u16) -> u16 {
        self.dut.nic_host(port)
    }

    /// Cuts or mends the cable of a rig port, now.
    pub fn set_link(&mut self, port: u16, up: bool) {
        self.dut.set_link(port, up);
    }
}

impl Dut for Emulated {
    fn configure(&mut self, settings: &[Setting]) -> Result<(), Refused> {
        self.dut.configure(settings).map_err(|refused| Refused { why: refused.to_string() })?;
        let stated = self.dut.configured();
        match settings.iter().find(|setting| stated.satisfies(setting) != Ok(true)) {
            None => Ok(()),
            Some(setting) => Err(Refused {
                why: format!("{} reads back otherwise than it was set", setting.path),
            }),
        }
    }

    fn configured(&self) -> &Declared {
        self.dut.configured()
    }

    fn counters(&self) -> BTreeMap<String, u64> {
        self.dut.counters()
    }

    fn read(&self, names: &[String]) -> Vec<Option<u64>> {
        names.iter().map(|name| self.dut.counter(name)).collect()
    }

    fn clear_watermarks(&mut self) -> Result<(), Refused> {
        self.dut.clear_watermarks();
        Ok(())
    }

    fn clear_copy(&mut self, copy: WatermarkCopy) -> Result<(), Refused> {
        self.dut.clear_watermark_copy(copy);
        Ok(())
    }

    fn events(&mut self) -> Option<Vec<DutEvent>> {
        let fresh = &self.dut.events()[self.heard..];
        self.heard += fresh.len();
        let event = |acted: &dut::Acted| DutEvent {
            at: acted.at,
            port: Declared::port_name(acted.port),
            class: acted.class,
            kind: match acted.event {
                Event::Storm => DutEventKind::Storm,
                Event::Restore => DutEventKind::Restore,
            },
        };
        Some(fresh.iter().map(event).collect())
    }
}
