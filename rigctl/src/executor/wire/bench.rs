//! One bench: an emulated device served by a process of its own, pairs of virtual interfaces to it in namespaces of their
//! own, and the rig's ports at the near ends. All of it goes away with this process, however it ends: the namespaces and
//! interfaces because nobody holds them any more, the device because its parent is gone.

use super::Broken;
use nix::sys::memfd::{MFdFlags, memfd_create};
use rig_dut::EmulatedWire;
use rig_generator::clock::Wall;
use rig_generator::netlab::{self, LabError, Namespace};
use rig_generator::port::{Config, Port, PortError};
use rig_generator::{Lane, Obeys, Pacer, Sender, Stall};
use rig_lab::Profile;
use rig_units::Dur;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::Command;

/// How benches are started.
#[derive(Debug)]
pub struct Start {
    /// This program, which also serves devices.
    pub program: PathBuf,
    /// How far off a timestamp of the rig, or the device, may be.
    pub bound: Dur,
}

/// A device in a process of its own, and the rig's ports cabled to it.
#[derive(Debug)]
pub struct Bench {
    /// Name of the device's profile.
    pub(super) profile: String,
    /// Steers the device.
    pub device: EmulatedWire,
    /// The rig's ports: lane `i` is cabled to the device's port `i`.
    pub(super) pacer: Pacer<Wall>,
    pub(super) bound: Dur,
    pub(super) spoilt: bool,
}

/// Space in front of the payload of the longest frame that a case sends.
const MTU: u32 = 9_216;
/// Pieces of 4 KiB per port: a millisecond of the shortest frames at 1 Gb/s, and a machine that looks away for longer.
const RING: u32 = 2_048;
/// Frames under way per port.
const SLOTS: u32 = 256;
/// The longest frame, without FCS.
const LONGEST: usize = 9_100;

impl Bench {
    /// Starts the device of `profile` in a process of its own and cables the rig to it.
    ///
    /// # Errors
    /// What is in the way, and what mends it.
    pub(super) fn start(start: &Start, profile: &Profile) -> Result<Bench, String> {
        let lab = |error: LabError| error.to_string();
        let (near, far) = (Namespace::new().map_err(lab)?, Namespace::new().map_err(lab)?);
        let ports = profile.declared.port_count();
        let names: Vec<(String, String)> =
            (1..=ports).map(|port| (format!("p{port}"), format!("d{port}"))).collect();
        for (own, its) in &names {
            let ends = [(&near, own), (&far, its)];
            let [one, other] = ends.map(|(within, name)| netlab::End { within, name });
            netlab::pair(one, other, MTU).map_err(lab)?;
        }
        let device = serve(start, profile, &far, names.iter().map(|(_, its)| its.as_str()))?;
        let clock = Wall::start();
        let lanes = names.iter().enumerate().map(|(index, (own, _))| {
            let port = open(&near, own)?;
            let index = u16::try_from(index).unwrap_or(u16::MAX);
            let speed = profile.declared.port_speed(index).expect("a port of the device");
            // What is left out was late beyond the bound, and with it the frame before: the trial is void.
            let stall = Stall::SkipAfter(start.bound);
            let sender = Sender::new(speed, Obeys::default(), stall);
            Ok(Lane::new(port.tx, port.rx, sender, true))
        });
        let lanes = lanes.collect::<Result<Vec<Lane>, String>>()?;
        // Nothing spins: what a sleep is late by is far below the bound.
        let pacer = Pacer { clock, lanes, awake: Dur::ZERO };
        Ok(Bench {
            profile: profile.name.clone(),
            device,
            pacer,
            bound: start.bound,
            spoilt: false,
        })
    }

    /// Frames that reached a port of the rig and not this program, since the bench was started.
    pub(super) fn lost(&self) -> Result<u64, Broken> {
        let mut lost = 0;
        for lane in &self.pacer.lanes {
            lost += lane.rx.stats().map_err(Broken::Port)?.rx_lost();
            lost += lane.tx.stats().map_err(Broken::Port)?.tx_lost;
        }
        Ok(lost)
    }
}

/// Opens a port of the rig.
fn open(near: &Namespace, name: &str) -> Result<Port, String> {
    let config = Config {
        longest: LONGEST,
        slots: SLOTS,
        ring: RING,
        zero_copy: false,
        ..Config::new(name)
    };
    let opened: Result<Port, PortError> =
        near.run(|| Port::open(&config)).map_err(|error| error.to_string())?;
    opened.map_err(|error| error.to_string())
}

/// Starts the process that serves the device in the far namespace. It reads its profile from memory that it inherits, and
/// is steered over its standard input and output: there is no file that could remain.
fn serve<'a>(
    start: &Start,
    profile: &Profile,
    far: &Namespace,
    interfaces: impl Iterator<Item = &'a str>,
) -> Result<EmulatedWire, String> {
    let failed = |why: &dyn core::fmt::Display| format!("cannot hand over the profile: {why}");
    let memory = memfd_create(c"profile.yaml", MFdFlags::empty()).map_err(|why| failed(&why))?;
    let text = serde_json::to_string(profile).map_err(|why| failed(&why))?;
    let mut memory = File::from(memory);
    memory.write_all(text.as_bytes()).map_err(|why| failed(&why))?;
    let mut command = Command::new(&start.program);
    command.args(["dut", "serve", "--until-hangup", "--control", "-", "--profile"]);
    command.arg(format!("/proc/self/fd/{}", memory.as_raw_fd()));
    for interface in interfaces {
        command.args(["--port", interface]);
    }
    let launched = far.run(move || EmulatedWire::launch(command)).map_err(|e| e.to_string())?;
    launched.map_err(|lost| lost.to_string())
}
