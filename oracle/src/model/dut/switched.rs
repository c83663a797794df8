//! A switch under test: its watchdogs, its polls, and what of its configuration can be changed while it runs.

use super::actions::Actions;
use super::body::{Acted, Body, CableEnd};
use super::buffer_manager::BufferManager;
use super::configure::{self, Refused};
use super::flex_counters::FlexCounters;
use super::guard::Guard;
use super::handler::{self, Effect};
use super::polls::Polls;
use super::reboot::Absence;
use super::resting::Resting;
use super::watermarks::Watermarks;
use crate::model::chance::{self, Draws};
use crate::model::network::Network;
use crate::model::oscillator::Oscillator;
use crate::model::pfcwd::{Counters, Event, Published};
use crate::model::switch;
use crate::model::topology::{End, PortId, Topology};
use rig_capture::AtRest;
use rig_lab::{Action, Declared, DeviceFaults, Pfcwd, PfcwdFaults, RuleFamily, Switch};
use rig_testcases::DeviceVerb;
use rig_units::{Dur, Time, Within};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A switch of the network, with a watchdog on every guarded queue.
#[derive(Debug)]
pub(super) struct Switched {
    /// Which switch of the network it is.
    pub(super) at: u16,
    /// The rule of its watchdogs; `None` where it has none.
    pub(super) family: Option<RuleFamily>,
    /// What it works with.
    pub(super) running: Switch,
    pub(super) faults: DeviceFaults,
    pub(super) polls: Polls,
    pub(super) actions: Actions,
    /// By how much later than they are set to timers run out.
    lags: Draws,
    pub(super) watermarks: Watermarks,
    flex_counters: FlexCounters,
    buffer_manager: BufferManager,
    pub(super) guards: Vec<Guard>,
    /// Whether a watchdog has restored a queue.
    pub(super) has_restored: bool,
    /// Whether its watchdogs were stopped and started again.
    pub(super) was_restarted: bool,
    /// What of a reboot is still to come.
    pub(super) absence: Absence,
    /// Whether somebody else decides for its watchdogs.
    yields: bool,
    at_rest: Resting,
}

impl Switched {
    /// Adds the switch to `topology`, with its first `ports` ports.
    pub(super) fn new(
        (family, configured): (Option<RuleFamily>, &Switch),
        (running, clock): (Switch, Oscillator),
        faults: DeviceFaults,
        (ports, seed): (u16, u64),
        topology: &mut Topology,
    ) -> (Switched, Vec<CableEnd>) {
        let mut config = config(configured, &running, &faults);
        config.wred.seed = seed;
        config.buffer.seed = seed;
        config.mac.seed = seed;
        config.mac.clock = clock;
        config.ports.truncate(ports.into());
        let at = u16::try_from(topology.switches.len()).unwrap_or(u16::MAX);
        let plug = |(port, &(_, speed)): (u16, &(String, _))| CableEnd {
            end: End::Port(PortId { switch: at, port }),
            speed,
        };
        let plugs: Vec<CableEnd> = (0..).zip(&config.ports).map(plug).collect();
        topology.switches.push(config);
        let mut switched = Switched {
            at,
            family,
            polls: Polls::new(seed, &running.pfcwd),
            actions: Actions::new(seed),
            lags: Draws::new(chance::stream(seed, *b"pw-timer")),
            watermarks: Watermarks::new(seed, &running.watermark, faults.buffer),
            flex_counters: FlexCounters::new(seed, &running.flex_counter, faults.flex_counter),
            buffer_manager: BufferManager::new(&running, &faults.dynamic_buffer),
            faults,
            running,
            guards: Vec::new(),
            has_restored: false,
            was_restarted: false,
            absence: Absence::new(seed),
            yields: false,
            at_rest: Resting::default(),
        };
        let mut classes = switched.running.qos.pfcwd_sw_enable.clone();
        classes.sort_unstable();
        classes.dedup();
        let Some(watchdog) = switched.watchdog() else { return (switched, plugs) };
        for port in (0..).take(plugs.len()) {
            for &class in &classes {
                let at = PortId { switch: at, port };
                switched.guards.push(Guard::new(at, class, watchdog.clone()));
            }
        }
        (switched, plugs)
    }

    fn poll(&mut self, network: &mut Network, acted: &mut Vec<Acted>) {
        if self.yields || self.running.pfcwd.big_red_switch || self.polls_are_over() {
            return;
        }
        let faults = &self.faults.pfcwd;
        let healthy = *faults == PfcwdFaults::NONE;
        let awake = |guard: &mut Guard| !(healthy && guard.sleeps(network));
        let guards = self.guards.iter_mut().enumerate();
        let counters: Vec<_> = guards
            .filter_map(|(at, guard)| awake(guard).then(|| (at, guard.read(network, faults))))
            .collect();
        for (index, counters) in counters {
            if self.overlooks(index) {
                continue;
            }
            let guard = &mut self.guards[index];
            let Some(published) = guard.watchdog.poll(&counters) else { continue };
            guard.debug_storm = false;
            self.publish((index, published), network, acted);
        }
    }

    /// When a timer of a watchdog in hardware may run out next.
    fn timers(&self) -> Time {
        // Whoever polls is not asked: that is looked at before every event of a device of many queues.
        let is_timed = self.family == Some(RuleFamily::Hardware);
        if !is_timed || self.yields || self.running.pfcwd.big_red_switch || self.polls_are_over() {
            return Time::MAX;
        }
        let asks = self.guards.iter().filter_map(|guard| guard.watchdog.asks());
        asks.min().unwrap_or(Time::MAX)
    }

    /// What has run out of all timers that are due.
    fn run_out(&mut self, due: Time, network: &mut Network, acted: &mut Vec<Acted>) {
        let lag = self.running.pfcwd.timer_lag.unwrap_or(Within::ZERO);
        for index in 0..self.guards.len() {
            let is_due = |asks: Time| asks <= due;
            if !self.guards[index].watchdog.asks().is_some_and(is_due) || self.polls_are_over() {
                continue;
            }
            let overlooked = self.overlooks(index);
            let guard = &mut self.guards[index];
            let paused = guard.paused(network, overlooked);
            let lags = &mut self.lags;
            let Some(published) = guard.watchdog.look(&paused, || lags.next(lag)) else { continue };
            self.publish((index, published), network, acted);
        }
    }

    /// What the watchdog of a guarded queue publishes, and what comes of it.
    fn publish(
        &mut self,
        (index, published): (usize, Published),
        network: &mut Network,
        acted: &mut Vec<Acted>,
    ) {
        if !published.heeded {
            return;
        }
        let (guard, event, at) = (&self.guards[index], published.event, network.now());
        if !(self.faults.pfcwd.storm_untold && event == Event::Storm) {
            acted.push(Acted { at, device: 0, port: guard.at.port, class: guard.class, event });
        }
        self.has_restored |= event == Event::Restore;
        self.actions.decide(at, (index, event), self.latency());
        self.act(network);
    }

    /// What the action takes from the poll that decides. Who is only told is told by the poll itself.
    fn latency(&self) -> Within {
        match self.running.pfcwd.action {
            Action::Drop | Action::Forward => {
                self.running.pfcwd.action_latency.unwrap_or(Within::ZERO)
            }
            Action::Alert => Within::ZERO,
        }
    }

    /// Does what is due of all that was decided.
    fn act(&mut self, network: &mut Network) {
        while let Some((index, event)) = self.actions.due(network.now()) {
            match event {
                Event::Storm => self.handle(index, self.effect(), network),
                Event::Restore => self.guards[index].release(network),
            }
        }
    }

    /// What the watchdogs saw is forgotten, and their settings are the running ones. One in hardware begins at once.
    pub(super) fn forget(&mut self, network: &Network) {
        let Some(fresh) = self.watchdog() else { return };
        for guard in &mut self.guards {
            guard.begin(fresh.clone());
            let paused = guard.paused(network, true);
            guard.watchdog.look(&paused, || Dur::ZERO);
        }
    }

    /// Puts a handler on a guarded queue.
    pub(super) fn handle(&mut self, index: usize, effect: Effect, network: &mut Network) {
        let (at, class) = (self.guards[index].at, self.guards[index].class);
        let also = self.spread(index);
        let order = handler::Order {
            at,
            class,
            effect,
            config: &self.running.pfcwd,
            also,
            faults: &self.faults.pfcwd,
        };
        self.guards[index].handle(&order, network);
    }
}

impl Body for Switched {
    /// Takes every handler off and starts every watchdog afresh; with the big red switch on, puts the drop handler on
    /// every guarded queue instead.
    fn start_pfcwd(&mut self, network: &mut Network) -> bool {
        self.actions.forget();
        if self.faults.reboot.warm_reboot_replays_storm {
            self.absence.leave_rows(&self.guards);
        }
        self.guards.iter_mut().for_each(|guard| guard.release(network));
        if !self.faults.pfcwd.restart_forgets_nothing {
            self.forget(network);
        }
        if self.running.pfcwd.big_red_switch {
            let missed = usize::from(self.faults.pfcwd.big_red_switch_misses_queue);
            for index in 0..self.guards.len().saturating_sub(missed) {
                self.handle(index, Effect::Drop, network);
            }
        }
        self.family.is_some()
    }

    fn perform(&mut self, verb: DeviceVerb, network: &mut Network) -> bool {
        self.does(verb, network)
    }

    fn next(&self) -> Time {
        let own = self.polls.next().min(self.timers()).min(self.absence.next());
        own.min(self.actions.next()).min(self.watermarks.next()).min(self.flex_counters.next())
    }

    fn wake(&mut self, due: Time, network: &mut Network, acted: &mut Vec<Acted>) {
        if self.absence.next() <= due {
            self.reboots_on(due, network);
        }
        if self.watermarks.next() == due {
            self.watermarks.wake(due, self.at, network);
        }
        self.flex_counters.wake(due, network.switch(self.at));
        self.act(network);
        if self.timers() <= due {
            self.run_out(due, network, acted);
        }
        if self.polls.next() == due {
            self.poll(network, acted);
            self.polls.advance(&self.running.pfcwd, &self.faults.pfcwd);
        }
    }

    fn mended(&mut self, port: u16) {
        if self.faults.pfcwd.link_toggle_fires {
            for guard in self.guards.iter_mut().filter(|guard| guard.at.port == port) {
                guard.debug_storm = true;
            }
        }
    }

    fn yield_pfcwd(&mut self) -> bool {
        self.yields = true;
        self.family.is_some()
    }

    fn polled(&mut self, network: &Network) -> Vec<(u16, u8, Counters)> {
        let faults = &self.faults.pfcwd;
        let read = |guard: &mut Guard| (guard.at.port, guard.class, guard.read(network, faults));
        self.guards.iter_mut().map(read).collect()
    }

    fn decided(
        &mut self,
        (port, class): (u16, u8),
        event: Event,
        network: &mut Network,
        acted: &mut Vec<Acted>,
    ) -> bool {
        let ours = |guard: &Guard| guard.at.port == port && guard.class == class;
        let Some(index) = self.guards.iter().position(ours) else { return false };
        // With the big red switch on each queue has a handler already.
        if !self.running.pfcwd.big_red_switch {
            let published = self.guards[index].watchdog.told(event);
            self.publish((index, published), network, acted);
        }
        true
    }

    fn clear_watermarks(&mut self, network: &mut Network) {
        network.clear_watermarks(self.at);
    }

    /// Those of the switch under SONiC's names, and for each guarded queue `PFC_WD_QUEUE_STATS_*`.
    fn name(&self, network: &Network, into: &mut BTreeMap<String, u64>) {
        let own = network.snapshot(self.at);
        into.append(&mut own.map(|(name, value)| (name.to_owned(), value)).collect());
        self.watermarks.name(into);
        self.flex_counters.name(into);
        self.buffer_manager.name(into);
        self.absence.name(&self.running.reboot, into);
        for guard in &self.guards {
            guard.stats(network).name(&Switch::port_name(guard.at.port), guard.class, into);
        }
    }

    fn stirred(&self, network: &Network, into: &mut BTreeMap<String, u64>) {
        network.switch(self.at).stirred(network.now(), into);
        self.watermarks.stirred(into);
        self.flex_counters.name(into);
        self.buffer_manager.name(into);
        self.absence.name(&self.running.reboot, into);
        for guard in &self.guards {
            guard.stats(network).stirred(guard.at.port, guard.class, into);
        }
    }

    fn at_rest(&self, network: &Network, prefix: &str) -> Option<Arc<AtRest>> {
        Some(self.at_rest.get(prefix, network.switch(self.at), self))
    }

    fn find(&self, network: &Network, name: &str) -> Option<u64> {
        let own = network.counter(self.at, name).or_else(|| self.watermarks.find(name));
        let own = own.or_else(|| self.flex_counters.find(name));
        let own = own.or_else(|| self.buffer_manager.find(name));
        let own = own.or_else(|| self.absence.find(&self.running.reboot, name));
        if own.is_some() {
            return own;
        }
        let (port, class, counter) = crate::model::counters::split(name)?;
        let at = |guard: &&Guard| guard.class == class && Switch::port_name(guard.at.port) == port;
        self.guards.iter().find(at)?.stats(network).find(counter)
    }

    fn check(&self, before: &Declared, configured: &Declared) -> Result<(), Refused> {
        let (Declared::Switch(before), Declared::Switch(configured)) = (before, configured) else {
            return Ok(());
        };
        if !self.faults.pfcwd.accepts_out_of_range {
            // Which way a configuration takes is the device's own matter, whatever it says of itself.
            let config_path = self.running.pfcwd.config_path;
            let wanted = Pfcwd { config_path, ..configured.pfcwd.clone() };
            configure::check(self.family, &before.pfcwd, &wanted)?;
        }
        if self.faults.pfcwd.refuses_limits {
            configure::within(&configured.pfcwd)?;
        }
        Ok(())
    }

    /// A change of `pfcwd.*` takes every handler off and starts the watchdogs afresh.
    fn apply(&mut self, configured: &Declared, running: Declared, network: &mut Network) {
        let (Declared::Switch(configured), Declared::Switch(running)) = (configured, running)
        else {
            return;
        };
        let before = core::mem::replace(&mut self.running, *running);
        // With a static limit the dynamic one waits until there is none.
        if self.running.buffer != before.buffer && self.running.buffer.static_th.is_none() {
            for port in network.switch(self.at).port_numbers() {
                let port = PortId { switch: self.at, port };
                for &class in &self.running.qos.pfc_enable {
                    network.set_alpha(port, class, self.running.buffer.dynamic_th);
                }
            }
        }
        if self.running.shut_port != before.shut_port {
            for (port, open) in [(before.shut_port, true), (self.running.shut_port, false)] {
                let port = port.and_then(|port| port.checked_sub(1));
                if let Some(port) = port
                    .filter(|port| network.switch(self.at).port_numbers().any(|own| own == *port))
                {
                    network.set_port(PortId { switch: self.at, port }, open);
                }
            }
            self.buffer_manager.follow(&self.running, &self.faults.dynamic_buffer);
        }
        let (wred, macsec) =
            (self.running.wred != before.wred, self.running.macsec != before.macsec);
        if wred || macsec {
            let config = config(configured, &self.running, &self.faults);
            if wred {
                network.set_wred(self.at, &config.wred);
            }
            if macsec {
                network.set_macsec(self.at, &config);
            }
        }
        let resets =
            self.faults.pfcwd.buffer_change_ends_storm && self.running.buffer != before.buffer;
        if resets || self.running.pfcwd != before.pfcwd {
            self.forget(network);
            self.start_pfcwd(network);
        }
    }
}

/// The switch as it works, with its faults. It notes whether it protects frames with the cipher suite that its peers were told.
fn config(configured: &Switch, running: &Switch, faults: &DeviceFaults) -> switch::Config {
    let mut config = switch::Config::declared(running);
    config.install(faults);
    if let Some(macsec) = &mut config.macsec {
        macsec.other_suite = configured.macsec.cipher_suite != running.macsec.cipher_suite;
    }
    config
}
