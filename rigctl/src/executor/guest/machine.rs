//! The guest of a run: booted by whoever needs it first, and ended with the run.

use super::super::wire::broken::Broken;
use super::console;
use super::starved::Starved;
use crate::rights::{self, Work};
use crate::stop::Stop;
use core::sync::atomic::{AtomicU32, Ordering};
use rig_dut::Shell;
use rig_guests::{AsksToEnd, Guest, GuestFault, GuestRole, Image, PATIENCE};
use rig_lab::{ExchangeWay, Guests, IpVersion, OtherEnd};
use rig_units::{Dur, Time};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The guests that the flows of a case are in.
#[derive(Debug, Clone)]
pub struct GuestNics {
    /// That whose NIC sends them.
    pub nic: Arc<GuestHost>,
    /// That at their other end; none where the rig's own responder is.
    pub other: Option<Arc<GuestHost>>,
    /// How far off a stamp at a tap may be.
    pub bound: Dur,
    /// What they go over.
    pub over: IpVersion,
}

impl GuestNics {
    /// Those of a wire: booted when they are needed, from what is in the folder of the image.
    pub fn new(folder: &Path, wire: &Guests, stop: &Arc<Stop>) -> GuestNics {
        let in_role =
            |role| Arc::new(GuestHost::new(folder.to_owned(), wire, role, Arc::clone(stop)));
        let between = wire.other_end == OtherEnd::Nic;
        GuestNics {
            nic: in_role(GuestRole::Nic),
            other: between.then(|| in_role(GuestRole::OtherNic)),
            bound: wire.bound,
            over: wire.over,
        }
    }
}

/// A guest, and where it is made from.
#[derive(Debug)]
pub struct GuestHost {
    /// The folder of its image, in which its console is kept, too: other runs may use it at the same time.
    folder: PathBuf,
    /// What is done in it once it is up, in lines of shell.
    prepare: Vec<String>,
    role: GuestRole,
    /// Whether its programs find those of the other guest beside the rig.
    beside: bool,
    /// How long it may be kept waiting for a processor in one go, and how much of that it makes up for.
    bears: (Dur, Dur),
    /// A guest is not waited for any longer once this hurries: one that is kept waiting for a processor answers nobody.
    stop: Arc<Stop>,
    guest: Mutex<Option<Guest>>,
    /// How often it was booted.
    boots: AtomicU32,
}

impl GuestHost {
    /// One that is booted when it is needed.
    pub fn new(folder: PathBuf, wire: &Guests, role: GuestRole, stop: Arc<Stop>) -> GuestHost {
        let prepare = match role {
            GuestRole::Nic | GuestRole::Switch(_) => wire.prepare.clone(),
            GuestRole::OtherNic => wire.prepare_other.clone(),
        };
        console::forget_former(&folder);
        let bears = (wire.wait, wire.makes_up);
        let beside = wire.exchange == ExchangeWay::Beside;
        let (guest, boots) = (Mutex::default(), AtomicU32::new(0));
        GuestHost { folder, prepare, role, beside, bears, stop, guest, boots }
    }

    /// What it is to the rig.
    pub const fn role(&self) -> GuestRole {
        self.role
    }

    /// Watches how long it is kept waiting for a processor, from `begun` on; where it does not run, or nobody counts that, not at all.
    pub fn watch(&self, begun: Time) -> Starved {
        let held = self.guest.lock().unwrap_or_else(PoisonError::into_inner);
        Starved::watch(held.as_ref(), self.bears, begun)
    }

    /// Waits until it answers: it has a processor then.
    ///
    /// # Errors
    /// It is lost.
    pub fn answers(&self) -> Result<(), Broken> {
        self.with(|guest| guest.run(":", PATIENCE)).map(drop)
    }

    /// What of its waits a trial bears: in one go, and how much of that it makes up for.
    pub const fn bears(&self) -> (Dur, Dur) {
        self.bears
    }

    /// Does something with the guest, which nobody else has meanwhile. One that was lost is booted anew the next time.
    ///
    /// # Errors
    /// It does not boot, or is lost.
    pub fn with<T>(
        &self,
        work: impl FnOnce(&mut Guest) -> Result<T, GuestFault>,
    ) -> Result<T, Broken> {
        let _raised = rights::raise(Work::Ports);
        let mut held = self.guest.lock().unwrap_or_else(PoisonError::into_inner);
        let mut guest = self.taken(&mut held)?;
        let done = work(&mut guest).map_err(|fault| self.lost(&fault))?;
        *held = Some(guest);
        Ok(done)
    }

    /// The same with two guests. Where one is lost both are booted anew the next time: what the other one has come to nobody knows.
    ///
    /// # Errors
    /// One does not boot, or is lost.
    pub fn with_both<T>(
        &self,
        other: &GuestHost,
        work: impl FnOnce([&mut Guest; 2]) -> Result<T, GuestFault>,
    ) -> Result<T, Broken> {
        let _raised = rights::raise(Work::Ports);
        let mut held = self.guest.lock().unwrap_or_else(PoisonError::into_inner);
        let mut held_other = other.guest.lock().unwrap_or_else(PoisonError::into_inner);
        if self.beside && held.is_none() {
            // The line that the other one has leads to a guest that is gone.
            *held_other = None;
        }
        let (mut guest, mut second) = (self.taken(&mut held)?, other.taken(&mut held_other)?);
        let done = work([&mut guest, &mut second]).map_err(|fault| self.lost(&fault))?;
        (*held, *held_other) = (Some(guest), Some(second));
        Ok(done)
    }

    /// Ends the guest, if one runs: whoever needs one next has another, as its lab prepares it.
    pub fn ends(&self) {
        let _raised = rights::raise(Work::Ports);
        *self.guest.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The guest that is there, or one that is booted now.
    fn taken(&self, held: &mut Option<Guest>) -> Result<Guest, Broken> {
        if let Some(guest) = held.take() {
            return Ok(guest);
        }
        // Nobody wants another one any more.
        if self.stop.hurried() {
            return Err(Broken::Stopped);
        }
        self.boot().map_err(|fault| self.lost(&fault))
    }

    /// What a fault of the guest means for the run: none that is broken off says anything of the guest.
    fn lost(&self, fault: &GuestFault) -> Broken {
        if self.stop.hurried() { Broken::Stopped } else { Broken::Device(fault.to_string()) }
    }

    fn boot(&self) -> Result<Guest, GuestFault> {
        let image = Image::build(&self.folder)?;
        console::sweep(&self.folder);
        let boot = self.boots.fetch_add(1, Ordering::Relaxed) + 1;
        let console = console::file(&self.folder, self.role, boot);
        let until: Arc<dyn AsksToEnd> = Arc::<Stop>::clone(&self.stop);
        let mut guest = if self.beside {
            let line = console::line(&self.folder);
            Guest::boot_beside(&image, self.role, (&console, &line), until)?
        } else {
            Guest::boot(&image, self.role, &console, until)?
        };
        for line in &self.prepare {
            let ran = guest.run(line, PATIENCE)?;
            if ran.status != 0 {
                let why = format!("exit status {}: {}", ran.status, ran.lines.join("; "));
                return Err(GuestFault::failed(format!("prepare the guest with `{line}`"), why));
            }
        }
        Ok(guest)
    }
}

impl AsksToEnd for Stop {
    fn is_asked(&self) -> bool {
        self.hurried()
    }
}

/// A shell in the guest of a run.
#[derive(Debug)]
pub struct GuestShell(pub Arc<GuestHost>);

impl Shell for GuestShell {
    fn run(&mut self, line: &str) -> Result<Vec<String>, String> {
        let ran = self.0.with(|guest| guest.run(line, PATIENCE));
        let ran = ran.map_err(|broken| broken.to_string())?;
        match ran.status {
            0 => Ok(ran.lines),
            status => Err(format!("exit status {status}: {}", ran.lines.join("; "))),
        }
    }
}
