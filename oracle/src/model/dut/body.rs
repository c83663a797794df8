//! What a device of some kind is, where its cables end, and what its watchdog publishes.

use super::configure::Refused;
use crate::model::network::Network;
use crate::model::pfcwd::{Counters, Event};
use crate::model::topology::End;
use core::fmt::Debug;
use rig_capture::AtRest;
use rig_lab::Declared;
use rig_testcases::DeviceVerb;
use rig_units::{PortSpeed, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a watchdog of the device did, as published on `PFC_WD_ACTION`. Publications without effect are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Acted {
    /// When: the instant of a poll.
    pub at: Time,
    /// Which of its devices.
    pub device: u16,
    /// Port of the device.
    pub port: u16,
    /// The class, which is the queue.
    pub class: u8,
    /// What it did.
    pub event: Event,
}

/// A port of a device, for a cable to end at.
#[derive(Debug, Clone, Copy)]
pub(in crate::model) struct CableEnd {
    pub(in crate::model) end: End,
    pub(in crate::model) speed: PortSpeed,
}

/// What a device of some kind is, beside what moves frames in the network. Ports are its own, counted from 0.
///
/// A kind of device is added as a module with one of these in it, and where [`Device::new`](super::device::Device::new) chooses.
pub(in crate::model) trait Body: Debug + Send + Sync {
    /// Starts its watchdogs; whether it has any.
    fn start_pfcwd(&mut self, _network: &mut Network) -> bool {
        false
    }

    /// Does at once what a step asks of it; whether it has what that is about.
    fn perform(&mut self, _verb: DeviceVerb, _network: &mut Network) -> bool {
        false
    }

    /// When it polls next.
    fn next(&self) -> Time {
        Time::MAX
    }

    /// Does what is due at `due`, the present; adds what it publishes.
    fn wake(&mut self, _due: Time, _network: &mut Network, _acted: &mut Vec<Acted>) {}

    /// The cable of a port was mended.
    fn mended(&mut self, _port: u16) {}

    /// Has its watchdogs decide nothing by themselves from now on; whether it has any.
    fn yield_pfcwd(&mut self) -> bool {
        false
    }

    /// What a poll of a watchdog reads now, of each guarded queue: port, class, and that.
    fn polled(&mut self, _network: &Network) -> Vec<(u16, u8, Counters)> {
        Vec::new()
    }

    /// Does what somebody else has decided of a queue of the port, as its own watchdog would; whether one guards it.
    fn decided(
        &mut self,
        _queue: (u16, u8),
        _event: Event,
        _network: &mut Network,
        _acted: &mut Vec<Acted>,
    ) -> bool {
        false
    }

    /// Clears every watermark of the chip.
    fn clear_watermarks(&mut self, _network: &mut Network) {}

    /// Adds every counter.
    fn name(&self, network: &Network, into: &mut BTreeMap<String, u64>);

    /// Adds every counter but those that are 0 and [at rest](Self::at_rest).
    fn stirred(&self, network: &Network, into: &mut BTreeMap<String, u64>) {
        self.name(network, into);
    }

    /// What may be left out of that; its ports are told by `prefix` and their names, always the same one.
    fn at_rest(&self, _network: &Network, _prefix: &str) -> Option<Arc<AtRest>> {
        None
    }

    /// One of them.
    fn find(&self, network: &Network, name: &str) -> Option<u64>;

    /// Looks at a configuration as the device does on its way in.
    ///
    /// # Errors
    /// The first reason to refuse it.
    fn check(&self, _before: &Declared, _configured: &Declared) -> Result<(), Refused> {
        Ok(())
    }

    /// Goes on with another configuration: what was asked for, and what it works with.
    fn apply(&mut self, configured: &Declared, running: Declared, network: &mut Network);
}
