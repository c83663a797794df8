//! The guest of a run: booted by whoever needs it first, and ended with the run.

use super::super::wire::broken::Broken;
use super::starved::Starved;
use crate::rights::{self, Work};
use crate::stop::Stop;
use rig_dut::Shell;
use rig_guests::{AsksToEnd, Guest, GuestFault, GuestRole, Image, PATIENCE};
use rig_lab::{ExchangeWay, Guests, IpVersion, OtherEnd};
use rig_units::{Dur, Time};
use std::fs;
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
}

impl GuestHost {
    /// One that is booted when it is needed.
    pub fn new(folder: PathBuf, wire: &Guests, role: GuestRole, stop: Arc<Stop>) -> GuestHost {
        let prepare = match role {
            GuestRole::Nic | GuestRole::Switch(_) => wire.prepare.clone(),
            GuestRole::OtherNic => wire.prepare_other.clone(),
        };
        let bears = (wire.wait, wire.makes_up);
        let beside = wire.exchange == ExchangeWay::Beside;
        GuestHost { folder, prepare, role, beside, bears, stop, guest: Mutex::default() }
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
        sweep(&self.folder);
        let beside = match self.role {
            GuestRole::Nic | GuestRole::Switch(_) => "",
            GuestRole::OtherNic => ".other.end",
        };
        let console = self.folder.join(format!("{CONSOLE}{}{beside}", std::process::id()));
        let until: Arc<dyn AsksToEnd> = Arc::<Stop>::clone(&self.stop);
        let mut guest = if self.beside {
            let line = self.folder.join(format!("{CONSOLE}{}.line", std::process::id()));
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

/// What the name of a console begins with, before the number of the process that the guest is of.
const CONSOLE: &str = "console-";

/// Forgets the consoles of processes that have ended. Nothing hangs on it.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let of = name.to_str().and_then(|name| name.strip_prefix(CONSOLE));
        // What QEMU said stands beside it, with an ending.
        let process = of.and_then(|of| of.split('.').next()).filter(|of| of.parse::<u32>().is_ok());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            let _no_harm = fs::remove_file(entry.path());
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consoles_of_processes_that_have_ended_are_swept_and_nothing_else() {
        let desk = tempfile::tempdir().expect("a folder");
        let own = std::process::id();
        // No process has a number beyond 2^22.
        let of_own = ["", ".qemu", ".other.end", ".other.qemu"];
        let of_own = of_own.map(|ending| format!("console-{own}{ending}"));
        let stays = of_own.into_iter().chain(["recipe".to_owned()]).collect::<Vec<_>>();
        let goes = ["console-4194999".to_owned(), "console-4194999.qemu".to_owned()];
        for name in stays.iter().chain(&goes) {
            fs::write(desk.path().join(name), "").expect("writable");
        }
        sweep(desk.path());
        let is_there = |name: &String| desk.path().join(name).exists();
        assert!(stays.iter().all(is_there) && !goes.iter().any(is_there));
    }
}
