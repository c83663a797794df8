//! A stand-in for a switch that runs SONiC, put together of real parts: a redis-server with its databases, a device that takes
//! settings, counts and has a watchdog, and between the two what orchagent, its managers and syncd do there, as far as a rig looks
//! at it.
//!
//! It shares nothing with [`sonic`](crate::sonic), by which such a switch is steered: names of tables and keys are written down once
//! more, so that a mistake in one of the two shows. What it does not do as SONiC does says docs/sonic.md.

mod asic;
mod buffermgr;
mod chips;
mod counted;
mod ears;
mod faults;
mod filled;
mod groups;
mod names;
mod objects;
mod orchagent;
mod patched;
mod places;
mod reboots;
mod refused;
mod said;
mod schedulers;
mod scripts;
mod server;
mod spoken;
mod told;
mod typed;

pub use asic::{Asic, Served};
pub use chips::Chips;
pub use faults::{FaultSwitch, Faults};
pub use filled::filled;
pub use names::{Row, Rows};
pub use scripts::Scripts;
pub use server::Server;
pub use spoken::spoken;

use core::time::Duration;
use counted::CopySchedule;
use ears::{Ears, HEALTH, Heard};
use names::Db;
use orchagent::Orchagent;
use reboots::Reboots;
use redis::{Client, Connection, ConnectionAddr, ConnectionInfo, RedisError, RedisResult};
use rig_generator::port::Mono;
use rig_lab::{Profile, Setting, WatermarkCopy};
use rig_units::Dur;
use scripts::{Poller, left};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use told::Told;

/// How often it looks for what the device has to tell, where that does not tell by itself.
const LOOK: Duration = Duration::from_millis(4);
/// How often it looks at everything, whoever tells.
const ROUND: Duration = Duration::from_millis(20);
/// How long a change of CONFIG_DB takes until it is taken.
const TAKES: Dur = Dur::ms(2);

/// What is said where orchagent and syncd would write to their logs: of a change that is not taken, of a script that fails.
pub type Log = Box<dyn FnMut(&str) + Send>;

/// What there is of it beside the databases and the device.
#[expect(missing_debug_implementations, reason = "a closure")]
pub struct Ways {
    /// What it does wrong.
    pub faults: Faults,
    /// Who hears of what is not taken.
    pub log: Log,
    /// What decides for the watchdogs; `None`: the device.
    pub scripts: Option<Scripts>,
}

impl From<(Faults, Log)> for Ways {
    /// The device decides.
    fn from((faults, log): (Faults, Log)) -> Ways {
        Ways { faults, log, scripts: None }
    }
}

/// One that takes what CONFIG_DB says, until it goes.
#[derive(Debug)]
pub struct Standin {
    ends: Arc<AtomicBool>,
    #[cfg(feature = "fixture")]
    deaf: Arc<AtomicBool>,
    #[cfg(feature = "fixture")]
    faults: Arc<Mutex<Faults>>,
    runs: Option<JoinHandle<()>>,
}

impl Standin {
    /// One beside the redis at `socket`, whose CONFIG_DB is filled, before `asic`, which is set to `told` already. When this returns it
    /// has taken what is there.
    ///
    /// # Errors
    /// Nobody answers there, or the system has no thread left.
    pub fn beside(
        socket: &Path,
        asic: Box<dyn Asic>,
        told: Vec<Setting>,
        ways: impl Into<Ways>,
    ) -> Result<Standin, String> {
        Standin::begin(socket, asic, (told, Rows::new()), ways)
    }

    /// The same, that begins with `saved` after a reboot in which CONFIG_DB does not go on.
    fn begin(
        socket: &Path,
        asic: Box<dyn Asic>,
        (told, saved): (Vec<Setting>, Rows),
        ways: impl Into<Ways>,
    ) -> Result<Standin, String> {
        let Ways { faults, log, scripts } = ways.into();
        let named = |error: RedisError| format!("{}: {error}", socket.display());
        let (mut line, hears) = (connect(socket).map_err(named)?, connect(socket).map_err(named)?);
        let (ends, deaf) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let orchagent = Orchagent::new(told, faults);
        let poller = scripts.map(|scripts| Poller::load(&scripts, &mut line)).transpose();
        let poller = poller.map_err(named)?;
        let now = Arc::new(Mutex::new(faults));
        let parts = Parts {
            line,
            asic,
            orchagent,
            copies: CopySchedule::new(faults),
            told: Told::new(faults),
            poller,
            reboots: Reboots::of(saved),
            log,
            ends: Arc::clone(&ends),
            deaf: Arc::clone(&deaf),
            faults: Arc::clone(&now),
        };
        let (tell, ready) = channel();
        let run = move || {
            let mut parts = parts;
            // Whoever waits hears that it has ended; afterwards nobody listens.
            let over = parts.run(hears, &mut || {
                let _gone = tell.send(());
            });
            // Redis has ended, or a script: a device that goes on would be one without a watchdog.
            if let Err(error) = over
                && !parts.ends.load(Ordering::SeqCst)
            {
                (parts.log)(&format!("its databases are given up: {error}"));
                parts.asic.ends();
            }
        };
        let runs = Builder::new().name("orchagent".into()).spawn(run);
        let runs = runs.map_err(|error| format!("cannot start a thread: {error}"))?;
        let standin = Standin {
            ends,
            #[cfg(feature = "fixture")]
            deaf,
            #[cfg(feature = "fixture")]
            faults: now,
            runs: Some(runs),
        };
        match ready.recv() {
            Ok(()) => Ok(standin),
            Err(_) => Err(format!("{}: it does not take CONFIG_DB", socket.display())),
        }
    }

    /// The device of `profile`, in a redis whose databases are empty.
    ///
    /// # Errors
    /// CONFIG_DB cannot hold what the profile declares, or is not empty; or as [`Standin::beside`].
    pub fn of(
        profile: &Profile,
        socket: &Path,
        asic: Box<dyn Asic>,
        ways: impl Into<Ways>,
    ) -> Result<Standin, String> {
        let rows = filled(profile)?;
        // How often its watermarks are polled the device does not know yet where it does not declare it.
        let mut told = said::settings(&rows);
        told.retain(|one| profile.declared.satisfies(one) == Ok(true));
        fill(socket, &rows, profile)?;
        Standin::begin(socket, asic, (told, rows), ways)
    }

    /// From now on these are its faults.
    #[cfg(feature = "fixture")]
    #[cfg_attr(not(test), expect(dead_code, reason = "a test's"))]
    pub(crate) fn falls(&self, faults: Faults) {
        *self.faults.lock().unwrap_or_else(PoisonError::into_inner) = faults;
    }

    /// Takes nothing any more, or again.
    #[cfg(feature = "fixture")]
    pub(crate) fn is_deaf(&self, deaf: bool) {
        self.deaf.store(deaf, Ordering::SeqCst);
    }
}

impl Drop for Standin {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        let _ended = self.runs.take().map(JoinHandle::join);
    }
}

/// Writes CONFIG_DB, where every database is empty: what is there may be a switch.
fn fill(socket: &Path, rows: &Rows, profile: &Profile) -> Result<(), String> {
    let named = |error: RedisError| format!("{}: {error}", socket.display());
    let mut line = connect(socket).map_err(named)?;
    let keyspace: String = redis::cmd("INFO").arg("keyspace").query(&mut line).map_err(named)?;
    if keyspace.contains("keys=") {
        return Err(format!(
            "the redis at {} is not empty: want one that is, or no socket there, so that one is started",
            socket.display()
        ));
    }
    let mut all = redis::pipe();
    all.cmd("SELECT").arg(Db::Config as u8).ignore();
    rows.iter().for_each(|(key, row)| names::set(&mut all, key, row));
    // As `sonic-cfggen` says it once all of it is there.
    all.cmd("SET").arg("CONFIG_DB_INITIALIZED").arg(1).ignore();
    buffermgr::born(profile, &mut all);
    all.exec(&mut line).map_err(named)?;
    reboots::told("Power Loss", &mut line).map_err(named)
}

fn connect(socket: &Path) -> RedisResult<Connection> {
    let addr = ConnectionAddr::Unix(socket.to_owned());
    Client::open(ConnectionInfo { addr, redis: Default::default() })?.get_connection()
}

/// All that runs on its thread.
struct Parts {
    line: Connection,
    asic: Box<dyn Asic>,
    orchagent: Orchagent,
    copies: CopySchedule,
    told: Told,
    /// Who polls in place of the device's own watchdogs.
    poller: Option<Poller>,
    reboots: Reboots,
    log: Log,
    ends: Arc<AtomicBool>,
    deaf: Arc<AtomicBool>,
    /// What it does wrong now.
    faults: Arc<Mutex<Faults>>,
}

impl Parts {
    /// Runs until it is to end, or redis has.
    fn run(&mut self, hears: Connection, ready: &mut dyn FnMut()) -> RedisResult<()> {
        let ears = Ears::open(hears)?;
        self.take()?;
        // Who is asked here may answer only once this is ready.
        ready();
        if self.asic.health().is_some() {
            self.keeps_up("0")?;
        }
        if self.poller.is_some() {
            self.asic.yields();
        }
        let look = if self.asic.tells(ears.herald()) { ROUND } else { LOOK };
        // When what has changed is taken.
        let mut due = Some(Mono::now());
        while !self.ends.load(Ordering::SeqCst) {
            let mut naps = self.naps(due).map_or(look, |naps| naps.min(look));
            if let Some(poller) = &mut self.poller {
                poller.poll(&self.orchagent.rows, &mut self.line, &mut *self.asic)?;
                naps = naps.min(poller.naps());
            }
            let heard = match ears.hear(naps)? {
                Some(Heard::Change) => true,
                Some(Heard::Decided(said)) => {
                    self.decided(&said)?;
                    false
                }
                Some(Heard::Asked(said)) => {
                    self.keeps_up(&said)?;
                    false
                }
                Some(Heard::Ordered(said)) => {
                    self.reboots.ordered(&said, &mut *self.asic);
                    false
                }
                Some(Heard::Clears(said)) => {
                    self.clear(&said);
                    false
                }
                Some(Heard::Acted | Heard::Listens) | None => false,
            };
            // What was heard meanwhile came with the faults of now.
            let faults = *self.faults.lock().unwrap_or_else(PoisonError::into_inner);
            (self.orchagent.faults, self.copies.faults, self.told.faults) =
                (faults, faults, faults);
            let begins = self.reboots.begin(&mut self.line, &mut *self.asic)?;
            if begins {
                self.orchagent.begins();
            }
            let heard = begins || heard;
            let now = Mono::now();
            if heard {
                due = due.or(Some(Mono(now.0 + TAKES.0 / 1_000)));
                // There may be more of the same change.
                if due.is_some_and(|due| due > now) {
                    continue;
                }
            }
            let takes = !self.deaf.load(Ordering::SeqCst) && !self.reboots.is_away();
            if due.is_some_and(|due| due <= now) && takes {
                due = None;
                self.take()?;
            }
            self.orchagent.sizes(&mut self.line)?;
            if self.poller.is_none() {
                self.told.tell(&self.orchagent.rows, &mut self.line, &mut *self.asic)?;
            }
            self.copies.copy(&self.orchagent.rows, now, &mut self.line, &mut *self.asic)?;
        }
        Ok(())
    }

    /// How long until something is to be done that nobody tells of, where a change is taken at `due`.
    fn naps(&self, due: Option<Mono>) -> Option<Duration> {
        // What is due and not taken waits for something else.
        if let Some(left) = due.map(left).filter(|left| !left.is_zero()) {
            return Some(left);
        }
        let all = [self.copies.next(), self.told.next(), self.orchagent.sizes_at()];
        all.into_iter().flatten().min().map(left)
    }

    /// Takes what was decided, by a script or by whoever publishes.
    fn decided(&mut self, message: &str) -> RedisResult<()> {
        let Parts { poller, orchagent, line, asic, .. } = self;
        let Some(poller) = poller else { return Ok(()) };
        poller.decided(&orchagent.rows, message, line, &mut **asic)
    }

    /// Clears a copy of watermarks. The device has one of all kinds: who names one clears the others, too.
    fn clear(&mut self, asked: &str) {
        let words: Vec<String> = serde_json::from_str(asked).unwrap_or_default();
        let copy = match words.first().map(String::as_str) {
            Some("USER") => WatermarkCopy::User,
            Some("PERSISTENT") => WatermarkCopy::Persistent,
            _ => return,
        };
        if !self.orchagent.faults.lost_clears {
            self.asic.clear(copy);
            self.copies.look();
        }
    }

    /// Answers who asks how the device has kept up, under the name of that question.
    fn keeps_up(&mut self, asked: &str) -> RedisResult<()> {
        let Some(mut health) = self.asic.health() else { return Ok(()) };
        // Who asks has read the events: one that waits here yet came too late for that.
        if self.poller.is_none() {
            self.told.tell(&self.orchagent.rows, &mut self.line, &mut *self.asic)?;
        }
        health.told_late = self.told.lateness();
        let Ok(said) = serde_json::to_string(&health) else { return Ok(()) };
        let mut all = redis::pipe();
        all.cmd("SELECT").arg(Db::State as u8).ignore();
        all.cmd("HSET").arg(HEALTH).arg(&["said", &said, "asked", asked][..]).ignore();
        all.exec(&mut self.line)
    }

    fn take(&mut self) -> RedisResult<()> {
        if let Some(why) = self.orchagent.take(&mut self.line, &mut *self.asic)? {
            (self.log)(&format!("not taken of CONFIG_DB: {why}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
