//! The control of a switch that runs SONiC, through its redis: it is configured by CONFIG_DB, and left as it was found.
//!
//! Nothing is written that the reader of this crate would not read as it was meant, nothing counts as set until the databases behind
//! CONFIG_DB say so, and what another hand has changed meanwhile is told and left alone.

mod arrival;
mod bindings;
mod copies;
mod counters;
mod effect;
mod events;
mod heard;
mod held;
mod kept_up;
mod lease;
mod neighbours;
mod offered;
mod order_session;
mod own_headroom;
mod patched;
mod port_rows;
mod published;
mod reboots;
mod schedulers;
mod stated;
mod timestamps;
mod typed;
mod watermarks;
mod whole_rows;

pub use held::is_held;
pub use neighbours::Introduction;

use super::asic::Base;
use super::link::{Link, Made};
use super::tables::Tables;
use super::way::pause;
use super::write::{self, Back, Write};
use super::{chips, copied, live, sized, stated as reader};
use crate::control::{
    Ability, Capabilities, Control, ControlError, Lost, Readings, Refused, Unseen,
};
use core::time::Duration;
use events::{Clock, Ears};
use lease::Lease;
use neighbours::Own;
use reboots::{Causes, Ordered};
use rig_capture::DutEvent;
use rig_generator::port::Mono;
use rig_lab::{Action, Declared, Profile, RebootKind, RedisAt, Setting, WatermarkCopy, settings};
use rig_testcases::DeviceVerb;
use rig_units::Dur;
use std::collections::BTreeMap;
use watermarks::AskedClear;

/// How long a setting may take to arrive where it is in effect: orchagent does one thing after the other.
const ARRIVES: Duration = Duration::from_secs(20);

/// A switch with SONiC, and what was written to it.
#[derive(Debug)]
pub struct SonicControl {
    at: RedisAt,
    link: Link,
    lease: Lease,
    base: Base,
    /// The device's ports that the rig is cabled to, in order.
    ports: Vec<String>,
    /// CONFIG_DB as it was read last, and the configuration that it states.
    seen: (Tables, Declared),
    /// What was written and not undone, in its order.
    written: Vec<Write>,
    patience: Duration,
    /// Zero of the session's clock.
    zero: Mono,
    /// Whoever listens to what it publishes, once somebody has asked for it.
    ears: Option<Ears>,
    /// How late the user's copy of its watermarks shows what it has come to, where it holds nothing of before the trial.
    cleared: Option<Duration>,
    /// Clears of copies that steps have asked for: whether they show nobody has looked yet.
    clears: Vec<AskedClear>,
    /// A reboot that was ordered, and after which nobody has asked for anything yet.
    ordered: Option<Ordered>,
    causes: Causes,
    /// Whether it was away since somebody asked what it published.
    unheard: bool,
    /// Those of the rig's ports at which it has heard of no neighbour by LLDP.
    silent: Vec<String>,
}

impl SonicControl {
    /// What it can do: state what is configured, set it, read counters, reboot it over `ssh`, and hear what watchdogs do. When that was is known to within
    /// less than a poll and a half where the image says nothing of its polls, and each event says how far off it may be.
    pub const CAPABILITIES: Capabilities = Capabilities {
        offered: &[
            Ability::Snapshot,
            Ability::Configure,
            Ability::Refusals,
            Ability::Counters,
            Ability::Events,
            Ability::ClearWatermarks,
        ],
        verbs: &[
            DeviceVerb::ClearWatermarks(WatermarkCopy::User),
            DeviceVerb::ClearWatermarks(WatermarkCopy::Persistent),
            DeviceVerb::Reboot(RebootKind::Warm),
            DeviceVerb::Reboot(RebootKind::Fast),
            DeviceVerb::Reboot(RebootKind::Cold),
        ],
        clock_bound: Dur::s(1),
    };

    /// The switch whose redis is at `at`, which is what `profile` declares: its first `ports` front-panel ports that are up are
    /// cabled to the rig's. From now on no other rig can have it. `zero` is that of the session's clock.
    ///
    /// # Errors
    /// Nobody answers there, another rig has it, it is not what the profile declares, or not in effect.
    pub fn open(
        (at, zero): (&RedisAt, Mono),
        profile: &Profile,
        ports: u16,
    ) -> Result<SonicControl, String> {
        let mut control = SonicControl::leased((at, true), profile, ports, ARRIVES)?;
        control.zero = zero;
        control.meet(&Own::machine())?;
        Ok(control)
    }

    /// Refuses a switch of which one of the rig's ports is somebody else's, as far as it has heard by LLDP.
    fn meet(&mut self, own: &Own) -> Result<(), String> {
        let silent = neighbours::silent(&mut self.link, &self.ports, own, &mut pause);
        self.silent = silent.map_err(|lost| lost.plainly())??;
        Ok(())
    }

    /// The same, that waits no longer than `patience` for what is to arrive, and is not the only one that this process has of it.
    ///
    /// # Errors
    /// As [`SonicControl::open`].
    pub fn with(
        at: &RedisAt,
        profile: &Profile,
        ports: u16,
        patience: Duration,
    ) -> Result<SonicControl, String> {
        SonicControl::leased((at, false), profile, ports, patience)
    }

    fn leased(
        (at, alone): (&RedisAt, bool),
        profile: &Profile,
        ports: u16,
        patience: Duration,
    ) -> Result<SonicControl, String> {
        let mut link = Link::open(at).map_err(|lost| lost.plainly())?;
        let chip = chips::with_ports(at, ports)?;
        if let Some(chip) = &chip {
            link = Link::open(chip).map_err(|lost| lost.plainly())?;
        }
        let at = chip.as_ref().unwrap_or(at);
        let lease = Lease::take(&mut link, at, alone)?;
        let base = Base { name: profile.name.clone(), profile: profile.clone() };
        let found = found(&mut link, at, ports).and_then(|(tables, ports)| {
            let declared = stated::declared(&tables, &ports, &base)?;
            Ok(((tables, declared), ports))
        });
        match found {
            Ok((seen, ports)) => {
                let mut control = SonicControl {
                    at: at.clone(),
                    link,
                    lease,
                    base,
                    ports,
                    seen,
                    written: Vec::new(),
                    patience,
                    zero: Mono(0),
                    ears: None,
                    cleared: None,
                    clears: Vec::new(),
                    ordered: None,
                    causes: Causes::default(),
                    unheard: false,
                    silent: Vec::new(),
                };
                control.is_declared()?;
                control.arrive().map_err(|error| error.to_string())?;
                control.tells_causes().map_err(|lost| lost.plainly())?;
                Ok(control)
            }
            Err(error) => {
                lease.give_back(&mut link);
                Err(error.to_string())
            }
        }
    }

    /// Refuses a switch that is not what its profile declares: every prediction would be of another one.
    fn is_declared(&self) -> Result<(), String> {
        let (tables, stated) = &self.seen;
        for port in &self.ports {
            if let Some(said) = tables.macsec(port) {
                return Err(format!(
                    "{} is `{}`: such a port passes nothing until a peer that holds the same CAK has agreed on keys with it (MKA), which \
                     the rig does not speak; want none (`config macsec port del {port}`)",
                    said.path(),
                    rig_units::limits::quoted(said.text).escape_debug()
                ));
            }
        }
        let declared = &self.base.profile.declared;
        let mut differs = declared.differences(stated);
        // A profile that says nothing of it is of a switch that copies what it counts as it likes.
        let silent = |path: &str| declared.get(path).is_none_or(|value| value.is_null());
        let is_own = |path: &str| copied::is_copied(path) || sized::is_sized(path);
        differs.retain(|path| !(is_own(path) && silent(path)));
        let Some(path) = differs.first() else { return Ok(()) };
        let shown =
            |of: &Declared| of.get(path).map_or_else(|| "never".to_owned(), |v| stated::show(&v));
        let more = match differs.len() {
            1 => String::new(),
            all => format!(", and {} settings more differ", all - 1),
        };
        Err(format!(
            "the switch at {} is not what profile {} declares: {path} is {} in CONFIG_DB for {}, and the profile has {}{more}; `rigctl \
             profile from-dut --redis {}` prints the profile of what it is",
            self.at,
            self.base.name,
            shown(stated),
            self.ports.join(", "),
            shown(declared),
            self.at
        ))
    }

    /// Reads CONFIG_DB anew.
    fn look(&mut self) -> Result<(), ControlError> {
        let tables = live::config(&mut self.link, &live::name(&self.at))?;
        let declared = stated::declared(&tables, &self.ports, &self.base)?;
        self.seen = (tables, declared);
        self.redden();
        Ok(())
    }

    /// Tells whoever listens where the big red switch is on.
    fn redden(&mut self) {
        let red = self.seen.1.switch().is_some_and(|switch| switch.pfcwd.big_red_switch);
        if let Some(ears) = self.ears.as_mut().filter(|_| red) {
            ears.is_red();
        }
    }

    /// From now on what is published is heard, where a line for that can be had.
    fn listen(&mut self) -> Result<(), Lost> {
        if self.ears.is_none() {
            self.ears = Ears::open(&self.at, &mut self.link, &self.ports)?;
            self.redden();
        }
        Ok(())
    }

    /// By what events are told, as the switch is configured.
    fn clock(&self) -> Clock {
        let pfcwd = self.seen.1.switch().map(|switch| &switch.pfcwd);
        Clock {
            zero: self.zero,
            poll: pfcwd.map_or(Dur::ZERO, |pfcwd| pfcwd.poll_interval),
            alerts: pfcwd.is_some_and(|pfcwd| pfcwd.action == Action::Alert),
        }
    }

    fn plan(&self, settings: &[Setting]) -> Result<Vec<Write>, Refused> {
        let (tables, now) = &self.seen;
        stated::plan((tables, &self.ports, &self.base), now, settings)
    }

    /// From now on another session rests on the switch: it is looked at anew where another rig may have been there meanwhile.
    fn begin(&mut self) -> Result<(), ControlError> {
        self.returned()?;
        if !self.written.is_empty() {
            return Ok(self.lease.renew(&mut self.link)?);
        }
        if self.lease.begin(&mut self.link)? {
            // What was published by now is of whoever was there.
            (self.ears, self.cleared) = (None, None);
            self.look()?;
            self.is_declared().map_err(|why| Refused { why })?;
            self.arrive()?;
        }
        Ok(())
    }

    /// A line that works: a new one in place of one that has broken.
    ///
    /// # Errors
    /// There is no way, or another rig has the switch now: what it finds set it may have set itself, and undoing that is left to
    /// the journal.
    fn mend(&mut self) -> Result<(), Lost> {
        if self.lease.renew(&mut self.link).is_err() {
            // Whoever listens does so over the way that has broken.
            self.ears = None;
            self.link = Link::open(&self.at)?;
            self.lease.begin(&mut self.link)?;
        }
        Ok(())
    }

    /// Undoes what was written since `first`, the last one first; what another hand has changed is told.
    fn undo(&mut self, first: usize) -> Result<(), ControlError> {
        let mut told = Vec::new();
        while self.written.len() > first {
            let Some(last) = self.written.last() else { break };
            if let Back::Other(found) = last.undo(&mut self.link)? {
                told.push(last.told(&found));
            }
            self.written.pop();
        }
        if told.is_empty() { Ok(()) } else { Err(Refused { why: told.join("; ") }.into()) }
    }

    fn stated_now(&mut self) -> Result<Declared, ControlError> {
        self.begin()?;
        self.look()?;
        Ok(self.seen.1.clone())
    }

    fn write(&mut self, settings: &[Setting]) -> Result<(), ControlError> {
        // By what was seen when the changes were noted: what is otherwise by now is found out before anything is written.
        let writes = self.plan(settings)?;
        self.make(settings, &writes, |link, writes| Ok(Write::all(link, writes)?))
    }

    /// Has these written, and waits until they are in effect.
    fn make(
        &mut self,
        settings: &[Setting],
        writes: &[Write],
        make: impl FnOnce(&mut Link, &[Write]) -> Result<Made, ControlError>,
    ) -> Result<(), ControlError> {
        self.returned()?;
        self.lease.renew(&mut self.link)?;
        let (first, clock, before) = (self.written.len(), self.clock(), self.seen.clone());
        self.written.extend(writes.iter().cloned());
        let made = make(&mut self.link, writes);
        if let Err(ControlError::Refused(_)) | Ok(Made::None(..)) = made {
            self.written.truncate(first);
        }
        if let Made::None(at, found) = made? {
            let Write { key, field, from, .. } = &writes[at];
            let (found, from) = (write::shown(&found), write::shown(from));
            let why = format!(
                "{key}|{field} is {found} and no longer {from}: another hand has changed it, and nothing was written"
            );
            return Err(Refused { why }.into());
        }
        let came = self.look().and_then(|()| match self.awaited()? {
            None => Ok(()),
            Some(lost) => {
                let otherwise = !self.holds(&before)?;
                Err(ControlError::Unseen(Unseen { lost, otherwise }))
            }
        });
        if let Err(error) = came {
            // What is not in effect is not left behind either. What cannot be undone now stays noted.
            let _stays = self.undo(first).and_then(|()| self.look());
            return Err(error);
        }
        self.restarted(writes, clock)?;
        self.stated(settings)
    }

    /// Tells whoever listens that orchagent has started the watchdogs anew, where these changes have it do so.
    fn restarted(&mut self, writes: &[Write], before: Clock) -> Result<(), Lost> {
        let starts = |write: &Write| {
            let of_a_port = write.key.starts_with("PFC_WD|") && write.key != "PFC_WD|GLOBAL";
            of_a_port || write.key.starts_with("PORT_QOS_MAP|")
        };
        match &mut self.ears {
            Some(ears) if writes.iter().any(starts) => ears.restarted(before),
            _ => Ok(()),
        }
    }

    fn read(&mut self, names: &[String]) -> Result<Readings, ControlError> {
        self.returned()?;
        self.lease.renew(&mut self.link)?;
        let clock = self.clock();
        self.listen()?;
        let ears = &mut self.ears;
        let mut watched = || match ears {
            Some(ears) => ears.acted(clock),
            None => Ok(BTreeMap::new()),
        };
        // One that never shows is for the case to find.
        for clear in core::mem::take(&mut self.clears) {
            let _shows = clear.shows(&mut self.link, &mut pause)?;
        }
        let asked = (self.ports.as_slice(), names, self.cleared);
        let read = counters::read(&mut self.link, asked, &mut watched, &mut pause)?;
        let counters::CounterValues { mut values, moving } = read;
        let (tables, of) = &self.seen;
        let mut absent = BTreeMap::new();
        if let Some(of) = of.switch() {
            let mut shown = sized::shown(&mut self.link, tables, (&self.ports, of))?;
            let sizes = sized::POOL.iter().any(|name| shown.contains_key(*name));
            values.append(&mut shown);
            absent = sized::untold(tables, (&self.ports, of), sizes);
        }
        self.tells_causes()?;
        let is_asked = |name: &String| names.is_empty() || names.contains(name);
        values.extend(self.causes.counted().filter(|(name, _)| is_asked(name)));
        Ok(Readings { values, moving, absent, ..Readings::default() })
    }

    /// Makes the user's copy of its watermarks hold what comes from now on and nothing else.
    fn clear_all(&mut self) -> Result<(), ControlError> {
        self.cleared = None;
        self.clears.clear();
        self.lease.renew(&mut self.link)?;
        self.cleared = watermarks::begin_anew(&mut self.link, &self.ports, &mut pause)?;
        self.cleared.map(drop).ok_or_else(|| self.lacks(Ability::ClearWatermarks))
    }

    /// Asks for one copy to be cleared, as a step of a case does, and goes on: there are frames to send.
    fn clear(&mut self, copy: WatermarkCopy) -> Result<(), ControlError> {
        self.clears.push(AskedClear::send(&mut self.link, &self.ports, copy)?);
        Ok(())
    }

    fn hear(&mut self) -> Result<Vec<DutEvent>, ControlError> {
        self.returned()?;
        self.lease.renew(&mut self.link)?;
        let clock = self.clock();
        self.listen()?;
        let unheard = core::mem::take(&mut self.unheard);
        let Some(ears) = self.ears.as_mut().filter(|_| !unheard) else {
            return Err(self.lacks(Ability::Events));
        };
        let events = ears.since(&mut self.link, clock)?;
        self.redden();
        Ok(events)
    }

    fn take_back(&mut self) -> Result<(), ControlError> {
        self.returned()?;
        self.mend()?;
        let (clock, written) = (self.clock(), self.written.clone());
        self.undo(0)?;
        self.look()?;
        self.arrive()?;
        Ok(self.restarted(&written, clock)?)
    }
}

/// CONFIG_DB, and the names of the first `ports` ports that are up.
fn found(link: &mut Link, at: &RedisAt, ports: u16) -> Result<(Tables, Vec<String>), ControlError> {
    let tables = live::config(link, &live::name(at))?;
    let names: Vec<String> = reader::ports(&tables).into_iter().map(str::to_owned).collect();
    if names.len() < usize::from(ports) {
        let has = names.len();
        let why = format!(
            "CONFIG_DB of {at} has {has} front-panel ports that are up, and the rig is cabled to {ports}"
        );
        return Err(Refused { why }.into());
    }
    Ok((tables, names.into_iter().take(ports.into()).collect()))
}

impl SonicControl {
    /// Whether CONFIG_DB, as it was read last, states these.
    fn stated(&self, settings: &[Setting]) -> Result<(), ControlError> {
        let (_, stated) = &self.seen;
        let other = settings.iter().find(|setting| stated.satisfies(setting) != Ok(true));
        match other.filter(|setting| settings::configurable(&setting.path)) {
            None => Ok(()),
            Some(setting) => {
                let why = format!("{} reads back otherwise than it was set", setting.path);
                Err(Refused { why }.into())
            }
        }
    }
}

impl Drop for SonicControl {
    fn drop(&mut self) {
        // What cannot be undone stays in the journal, and a lease that cannot be given back goes by itself.
        let _gone = self.returned();
        if self.mend().is_ok() {
            let _stays = self.undo(0);
        }
        self.lease.give_back(&mut self.link);
    }
}

#[cfg(test)]
mod tests;
