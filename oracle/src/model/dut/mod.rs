//! The emulated device under test: the switch of the model, with a watchdog on every guarded queue; or NICs of the model.
//!
//! What an executor does with it:
//!
//! - [`Dut::new`] builds it from a profile, the configuration that the case asks for, the rig's side of the cables and
//!   a seed. Rig port `i` (host `i` of the network) is cabled to device port `i`, or to the NIC behind it: host
//!   [`Dut::nic_host`], on which flows are started.
//! - [`Dut::rig`] is the network, to start and stop streams and storms on hosts; links are cut and mended with
//!   [`Dut::set_link`].
//! - [`Dut::run_until`] advances the engine and the polls together. A poll sees what arrives at its own instant.
//! - [`Dut::configure`] changes the configuration while it runs, or refuses; [`Dut::configured`] reads it back.
//! - [`Dut::events`] and [`Dut::counters`] are what a SONiC device would show on `PFC_WD_ACTION` and in COUNTERS_DB.
//!
//! There is one poll loop per device. Its phase is drawn from the seed, uniformly over the poll interval, and stays for
//! the life of the device. A poll reads the counters of all queues first and acts afterwards.
//!
//! The device does what its configuration says with the profile's overrides applied, and the deviations of the profile
//! on top: each part is built as it should be and given its faults. With neither it does what it declares.
//!
//! Left out: the second between two commits of the watchdog's counters, and the delay between a publication and its
//! action.

mod configure;
mod faults;
mod guard;
mod handler;
mod nics;
mod polls;
mod watermarks;

pub use configure::Refused;

use super::host;
use super::link;
use super::network::{Delivered, Network};
use super::packet::Packet;
use super::pfcwd::Event;
use super::switch;
use super::tap::Tap;
use super::topology::Topology;
use guard::Guard;
use handler::Effect;
use nics::Nics;
use polls::Polls;
use rig_lab::{
    Actual, BadSetting, Declared, DeviceFaults, Kind, Profile, RuleFamily, WatermarkCopy,
};
use rig_units::Time;
use std::collections::BTreeMap;
use watermarks::Watermarks;

/// The rig's side of the cables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rig {
    /// How many of the device's ports are cabled to the rig, from its first port on. The others do not exist.
    pub ports: u16,
    /// Length of each cable, in centimetres.
    pub cable_cm: u64,
    /// What each of the rig's ports does by itself.
    pub host: host::Config,
}

/// What a watchdog of the device did, as published on `PFC_WD_ACTION`. Publications without effect are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Acted {
    /// When: the instant of a poll.
    pub at: Time,
    /// Port of the device.
    pub port: u16,
    /// The class, which is the queue.
    pub class: u8,
    /// What it did.
    pub event: Event,
}

/// The device under test and the network around it.
#[derive(Debug)]
pub struct Dut {
    network: Network,
    /// The rule of its watchdogs; `None` for NICs, which have none.
    family: Option<RuleFamily>,
    actual: Actual,
    /// What it says it is configured to.
    configured: Declared,
    /// What it works with: the same, with the overrides applied.
    running: Declared,
    faults: DeviceFaults,
    polls: Polls,
    watermarks: Watermarks,
    /// The NICs that it is made of, if it is no switch.
    nics: Option<Nics>,
    guards: Vec<Guard>,
    events: Vec<Acted>,
}

impl Dut {
    /// The device of `profile`, configured to `configured`, silent at the start of time.
    ///
    /// # Errors
    /// When an override of the profile does not fit the configuration, or leaves no time between two polls.
    pub fn new(
        profile: &Profile,
        configured: &Declared,
        rig: &Rig,
        seed: u64,
    ) -> Result<Dut, BadSetting> {
        let actual = profile.actual().clone();
        let running = configure::applied(&actual, configured)?;
        let faults = DeviceFaults::of(actual.deviations());
        let nics = (profile.kind == Kind::Nic).then(|| Nics::new(configured, rig));
        let topology = match nics {
            Some(nics) => nics.topology(&running, faults.nic, rig),
            None => {
                let mut device = switch::Config::declared(&running);
                device.wred.seed = seed;
                device.ports.truncate(rig.ports.into());
                device.install(&faults);
                configure::suited(&mut device, configured, &running);
                let speed = rig_units::PortSpeed::G100;
                let cable =
                    link::Config { delay: nics::delay(rig), ..link::Config::ethernet(speed, 0) };
                Topology::star(device, rig.host, cable)
            }
        };
        let watermarks = Watermarks::new(seed, &running.watermark, faults.buffer);
        let mut dut = Dut {
            network: Network::new(&topology, Time::ZERO),
            family: profile.family(),
            faults,
            actual,
            configured: configured.clone(),
            polls: Polls::new(seed, &running.pfcwd),
            watermarks,
            running,
            nics,
            guards: Vec::new(),
            events: Vec::new(),
        };
        let mut classes = dut.running.qos.pfcwd_sw_enable.clone();
        classes.sort_unstable();
        classes.dedup();
        let Some(watchdog) = dut.watchdog() else { return Ok(dut) };
        for port in 0..u16::try_from(topology.hosts.len()).unwrap_or(u16::MAX) {
            for &class in &classes {
                dut.guards.push(Guard::new(port, class, watchdog.clone()));
            }
        }
        dut.restart();
        Ok(dut)
    }

    /// The network, to start and stop what the rig's ports send.
    pub fn rig(&mut self) -> &mut Network {
        &mut self.network
    }

    /// The network, to look at.
    pub const fn network(&self) -> &Network {
        &self.network
    }

    /// The present.
    pub const fn now(&self) -> Time {
        self.network.now()
    }

    /// Handles everything before `until`, which becomes the present; a poll at `until` itself comes later.
    pub fn run_until(&mut self, until: Time, tap: &mut impl Tap) {
        while !tap.is_over() && self.next_poll() < until {
            let due = self.next_poll();
            self.network.run_through(due, tap);
            if self.watermarks.next() == due {
                self.watermarks.wake(due, &mut self.network);
            }
            if self.polls.next() == due {
                self.poll();
                self.polls.advance(&self.running.pfcwd);
            }
        }
        self.network.run_until(until, tap);
    }

    /// When something happens next by itself: an event of the network, or a poll.
    pub fn next_event(&self) -> Time {
        self.network.next_event().map_or(self.next_poll(), |event| event.min(self.next_poll()))
    }

    /// When something is polled next: by the watchdog, or for watermarks.
    fn next_poll(&self) -> Time {
        if self.nics.is_some() {
            return Time::MAX;
        }
        self.polls.next().min(self.watermarks.next())
    }

    /// A frame of the outside world whose last bit reaches `port` now. A poll at this instant sees it.
    pub fn deliver(&mut self, port: u16, packet: Packet, tap: &mut impl Tap) -> Delivered {
        if self.nics.is_some() {
            return self.network.deliver_to_host(self.nic_host(port), &packet, tap);
        }
        self.network.deliver(port, packet, tap)
    }

    /// Cuts or mends the cable of a rig port, now.
    pub fn set_link(&mut self, port: u16, up: bool) {
        self.network.set_link(port, up);
        if up && self.faults.pfcwd.link_toggle_fires {
            for guard in self.guards.iter_mut().filter(|guard| guard.port == port) {
                guard.debug_storm = true;
            }
        }
    }

    /// Clears one copy of every watermark, as a request on `WATERMARK_CLEAR_REQUEST` does. What the chip has seen since the last
    /// poll comes with the next one.
    pub fn clear_watermark_copy(&mut self, copy: WatermarkCopy) {
        self.watermarks.request(copy);
    }

    /// Clears every watermark of the chip: it becomes what is in use now.
    pub fn clear_watermarks(&mut self) {
        self.network.clear_watermarks();
    }

    /// The configuration as the device states it.
    pub const fn configured(&self) -> &Declared {
        &self.configured
    }

    /// Everything that watchdogs did so far, in order of time, port and class.
    pub fn events(&self) -> &[Acted] {
        &self.events
    }

    /// Every counter now: those of the switch under SONiC's names, and for each guarded queue `PFC_WD_QUEUE_STATS_*`; those of
    /// NICs under NVIDIA's.
    pub fn counters(&self) -> BTreeMap<String, u64> {
        let mut all = self.network.snapshot();
        self.watermarks.name(&mut all);
        self.name_nics(&mut all);
        for guard in &self.guards {
            guard.stats(&self.network).name(
                &Declared::port_name(guard.port),
                guard.class,
                &mut all,
            );
        }
        all
    }

    /// One of them; `None` when there is no such counter.
    pub fn counter(&self, name: &str) -> Option<u64> {
        let own = self.network.counter(name).or_else(|| self.watermarks.find(name));
        let own = own.or_else(|| self.find_nic(name));
        if own.is_some() {
            return own;
        }
        let (port, class, counter) = super::counters::split(name)?;
        let at = |guard: &&Guard| guard.class == class && Declared::port_name(guard.port) == port;
        self.guards.iter().find(at)?.stats(&self.network).find(counter)
    }

    fn poll(&mut self) {
        if self.running.pfcwd.big_red_switch || self.polls_are_over() {
            return;
        }
        let now = self.network.now();
        let network = &self.network;
        let counters: Vec<_> =
            self.guards.iter_mut().map(|guard| guard.read(network, &self.faults.pfcwd)).collect();
        for (index, counters) in counters.iter().enumerate() {
            if self.overlooks(index) {
                continue;
            }
            let guard = &mut self.guards[index];
            let Some(published) = guard.watchdog.poll(counters) else { continue };
            guard.debug_storm = false;
            if !published.heeded {
                continue;
            }
            let event = published.event;
            self.events.push(Acted { at: now, port: guard.port, class: guard.class, event });
            match event {
                Event::Storm => self.handle(index, self.effect()),
                Event::Restore => guard.release(&mut self.network),
            }
        }
    }

    /// Puts a handler on a guarded queue.
    fn handle(&mut self, index: usize, effect: Effect) {
        let (port, class) = (self.guards[index].port, self.guards[index].class);
        let also = self.spread(index);
        let order = handler::Order {
            port,
            class,
            effect,
            config: &self.running.pfcwd,
            also,
            faults: &self.faults.pfcwd,
        };
        self.guards[index].handle(&order, &mut self.network);
    }

    /// Takes every handler off and starts every watchdog afresh; with the big red switch on, puts the drop handler on
    /// every guarded queue instead.
    fn restart(&mut self) {
        let Some(fresh) = self.watchdog() else { return };
        for guard in &mut self.guards {
            guard.release(&mut self.network);
            guard.watchdog = fresh.clone();
        }
        if self.running.pfcwd.big_red_switch {
            let missed = usize::from(self.faults.pfcwd.big_red_switch_misses_queue);
            for index in 0..self.guards.len().saturating_sub(missed) {
                self.handle(index, Effect::Drop);
            }
        }
    }
}

#[cfg(test)]
mod tests;
