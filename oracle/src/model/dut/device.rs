//! One device of the subgraph that is under test: what it is configured to, and what is behind its ports.

use super::body::{Body, CableEnd};
use super::configure::{self, Refused};
use super::nics::Nics;
use super::switched::Switched;
use crate::model::chance;
use crate::model::network::Network;
use crate::model::oscillator::Oscillator;
use crate::model::topology::Topology;
use rig_lab::{Actual, BadSetting, Declared, DeviceFaults, Profile, Setting, fields};

/// A device with the profile that it was built from.
#[derive(Debug)]
pub(super) struct Device {
    /// What its ports and counters are told by, where there are several devices: `near/`.
    pub(super) prefix: String,
    actual: Actual,
    /// What it says it is configured to.
    pub(super) configured: Declared,
    clock: Oscillator,
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
        let drawn = chance::draw(chance::stream(seed, *b"dutclock"), 0);
        let clock = Oscillator::of(&running, &faults.clock, drawn);
        let running = clock.running(running)?;
        let (body, plugs): (Box<dyn Body>, _) = match running {
            Declared::Nic(running) => {
                let (nics, plugs) =
                    Nics::new(&running, (faults.nic, clock), (ports, seed), topology);
                (Box::new(nics), plugs)
            }
            Declared::Router(running) => {
                let (router, plugs) =
                    super::routed::Body::of(&running, clock, (ports, seed), topology);
                (Box::new(router), plugs)
            }
            Declared::BlueRdma(running) => {
                let faults = (faults.blue_rdma, clock);
                let (nics, plugs) = super::blue_rdma::Body::of(&running, faults, ports, topology);
                (Box::new(nics), plugs)
            }
            Declared::Switch(running) => {
                let asked = match configured {
                    Declared::Switch(asked) => asked.as_ref().clone(),
                    Declared::Nic(_) | Declared::Router(_) | Declared::BlueRdma(_) => {
                        running.as_ref().clone()
                    }
                };
                let (switch, plugs) = Switched::new(
                    (profile.family(), &asked),
                    (*running, clock),
                    faults,
                    (ports, seed),
                    topology,
                );
                (Box::new(switch), plugs)
            }
        };
        let configured = configured.clone();
        Ok((Device { prefix: String::new(), actual, configured, clock, body }, plugs))
    }

    /// What it calls a port of its own.
    pub(super) fn port_name(&self, port: u16) -> String {
        format!("{}{}", self.prefix, self.configured.name_of(port))
    }

    /// Whether it has the part that a setting is of.
    pub(super) fn has(&self, setting: &Setting) -> bool {
        let part = setting.path.split('.').next().unwrap_or_default();
        self.configured.kind().has(part)
    }

    /// What it would be configured to, and what it would work with then.
    ///
    /// # Errors
    /// When the device refuses the settings.
    pub(super) fn with<'s>(
        &self,
        settings: impl Iterator<Item = &'s Setting>,
    ) -> Result<(Declared, Declared), Refused> {
        let mut configured = self.configured.clone();
        for setting in settings {
            configured = configured.with(setting)?;
            let live = fields::field(&setting.path).is_some_and(|field| field.live);
            if !live {
                return Err(Refused::NotWhileRunning { path: setting.path.clone() });
            }
        }
        self.body.check(&self.configured, &configured)?;
        let running = configure::applied(&self.actual, &configured)?;
        Ok((configured, self.clock.running(running)?))
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
