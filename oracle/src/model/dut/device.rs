//! One device of the subgraph that is under test: what it is configured to, and what is behind its ports.

use super::configure::{self, Refused};
use super::nics::Nics;
use super::switched::Switched;
use super::{Acted, Network};
use crate::model::router;
use crate::model::topology::{End, Topology};
use core::fmt::Debug;
use rig_lab::{
    Actual, BadSetting, Declared, DeviceFaults, Kind, Profile, Setting, WatermarkCopy, fields,
};
use rig_units::{PortSpeed, Time};
use std::collections::BTreeMap;

/// A port of a device, for a cable to end at.
#[derive(Debug, Clone, Copy)]
pub(in crate::model) struct CableEnd {
    pub(in crate::model) end: End,
    pub(in crate::model) speed: PortSpeed,
}

/// What a device of some kind is, beside what moves frames in the network. Ports are its own, counted from 0.
///
/// A kind of device is added as a module with one of these in it, and where [`Device::new`] chooses.
pub(in crate::model) trait Body: Debug + Send + Sync {
    /// Begins, now that the network is there.
    fn start(&mut self, _network: &mut Network) {}

    /// When it polls next.
    fn next(&self) -> Time {
        Time::MAX
    }

    /// Does what is due at `due`, the present; adds what it publishes.
    fn wake(&mut self, _due: Time, _network: &mut Network, _acted: &mut Vec<Acted>) {}

    /// The cable of a port was mended.
    fn mended(&mut self, _port: u16) {}

    /// Clears every watermark of the chip.
    fn clear_watermarks(&mut self, _network: &mut Network) {}

    /// Clears one copy of every watermark.
    fn clear_copy(&mut self, _copy: WatermarkCopy) {}

    /// Adds every counter.
    fn name(&self, network: &Network, into: &mut BTreeMap<String, u64>);

    /// One of them.
    fn find(&self, network: &Network, name: &str) -> Option<u64>;

    /// Looks at a configuration as the device does on its way in.
    ///
    /// # Errors
    /// The first reason to refuse it.
    fn check(&self, _configured: &Declared) -> Result<(), Refused> {
        Ok(())
    }

    /// Goes on with another configuration: what was asked for, and what it works with.
    fn apply(&mut self, configured: &Declared, running: Declared, network: &mut Network);
}

/// One of the devices under test: its configuration as it states it, and what it is.
#[derive(Debug)]
pub(super) struct Device {
    kind: Kind,
    actual: Actual,
    /// What it says it is configured to.
    pub(super) configured: Declared,
    pub(super) body: Box<dyn Body>,
}

impl Device {
    /// The device of `profile`, configured to `configured`, with its first `ports` ports; and what they are in the
    /// `topology`, which it is added to.
    ///
    /// # Errors
    /// When an override of the profile does not fit the configuration, or leaves no time between two polls.
    pub(super) fn new(
        profile: &Profile,
        configured: &Declared,
        (ports, seed): (u16, u64),
        topology: &mut Topology,
    ) -> Result<(Device, Vec<CableEnd>), BadSetting> {
        let actual = profile.actual().clone();
        let running = configure::applied(&actual, configured)?;
        let faults = DeviceFaults::of(actual.deviations());
        let (body, plugs): (Box<dyn Body>, _) = match profile.kind {
            Kind::Nic => {
                let (nics, plugs) = Nics::new(&running, faults.nic, ports, topology);
                (Box::new(nics), plugs)
            }
            Kind::Router => {
                let (router, plugs) = router::Body::of(&running, ports, topology);
                (Box::new(router), plugs)
            }
            Kind::Switch => {
                let asked = (profile.family(), configured);
                let (switch, plugs) =
                    Switched::new(asked, running, faults, (ports, seed), topology);
                (Box::new(switch), plugs)
            }
        };
        Ok((Device { kind: profile.kind, actual, configured: configured.clone(), body }, plugs))
    }

    /// What it would be configured to, and what it would work with then.
    ///
    /// # Errors
    /// When the device refuses the settings.
    pub(super) fn with(&self, settings: &[Setting]) -> Result<(Declared, Declared), Refused> {
        let mut configured = self.configured.clone();
        for setting in settings {
            configured = configured.with(setting)?;
            let live = fields::field(&setting.path).is_some_and(|field| field.live);
            let key = setting.path.split('.').next().unwrap_or_default();
            if !live || !self.kind.has(key) {
                return Err(Refused::NotWhileRunning { path: setting.path.clone() });
            }
        }
        self.body.check(&configured)?;
        let running = configure::applied(&self.actual, &configured)?;
        Ok((configured, running))
    }

    /// Goes on so.
    pub(super) fn take(
        &mut self,
        (configured, running): (Declared, Declared),
        network: &mut Network,
    ) {
        self.body.apply(&configured, running, network);
        self.configured = configured;
    }
}
