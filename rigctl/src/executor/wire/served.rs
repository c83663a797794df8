//! A bench that the rig makes itself: an emulated device served by a process of its own, and pairs of virtual interfaces
//! to it in namespaces of their own. All of it goes away with this process, however it ends: the namespaces and
//! interfaces because nobody holds them any more, the device because its parent is gone.

use super::bench::{Bench, Far, LONGEST, RING, SLOTS};
use super::clocks::Clocks;
use super::keeper::Keeper;
use super::steered::Steered;
use crate::stop::Stop;
use nix::sys::memfd::{MFdFlags, memfd_create};
use rig_dut::{EmulatedWire, StandinControl};
use rig_generator::netlab::{self, LabError, Namespace};
use rig_generator::port::memory::Halves;
use rig_generator::port::{Config, Mono, Port, PortError};
use rig_lab::{ControlName, Lab, Profile, RedisAt};
use rig_units::Dur;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// Space in front of the payload of the longest frame that a case sends.
const MTU: u32 = 9_216;

/// How emulated devices are started.
#[derive(Debug)]
pub struct Serve {
    /// This program, which also serves devices.
    pub program: PathBuf,
    /// How far off a timestamp of the rig, or the device, may be.
    pub bound: Dur,
    /// The devices that are to be switches with SONiC, by name.
    pub sonic: Vec<String>,
    /// Nobody waits for a device to start once it hurries.
    pub stop: Arc<Stop>,
}

impl Serve {
    /// How those of `lab` are.
    pub fn of(lab: &Lab, bound: Dur, stop: Arc<Stop>) -> Serve {
        // The program itself serves the devices; where it cannot be found again the system's search path has it.
        let program = std::env::current_exe().unwrap_or_else(|_| "rigctl".into());
        let sonic = lab.duts.iter().filter(|dut| lab.control(dut) == ControlName::Sonic);
        Serve { program, bound, sonic: sonic.map(|dut| dut.name.clone()).collect(), stop }
    }
}

/// Starts the device of `profile` in a process of its own and cables the rig to it.
///
/// # Errors
/// What is in the way, and what mends it.
pub(super) fn start(
    serve: &Serve,
    profile: &Profile,
    clocks: &dyn Clocks,
) -> Result<Bench, String> {
    let lab = |error: LabError| error.to_string();
    let (near, far) = (Namespace::new().map_err(lab)?, Arc::new(Namespace::new().map_err(lab)?));
    let ports = profile.declared.port_count();
    let names: Vec<(String, String)> =
        (1..=ports).map(|port| (format!("p{port}"), format!("d{port}"))).collect();
    for (own, its) in &names {
        let ends = [(&near, own), (&far, its)];
        let [one, other] = ends.map(|(within, name)| netlab::End { within, name });
        netlab::pair(one, other, MTU).map_err(lab)?;
    }
    let its = names.iter().map(|(_, its)| its.as_str());
    let redis = serve.sonic.contains(&profile.name).then(|| socket(&far)).transpose()?;
    let (device, keeper) = served((serve, redis.as_deref()), profile, &far, its)?;
    let ports: Result<Vec<Port>, String> = names.iter().map(|(own, _)| open(&near, own)).collect();
    let ports = ports?;
    let sees_tags = ports.iter().all(|port| port.caps.vlan_tags);
    let ports = ports.into_iter().map(halves).collect();
    let interfaces = names.iter().map(|(_, its)| its.clone()).collect();
    let opened = Mono::now();
    let control = match redis {
        None => Steered::new(Box::new(device)),
        Some(socket) => {
            let ports = profile.declared.port_count();
            let redis = (&RedisAt::Unix(socket), opened);
            let standin = StandinControl::open(device, redis, profile, ports)?;
            Steered::running(Box::new(standin), opened)
        }
    };
    let clock = clocks.since(opened);
    let bench = Bench::of(profile, control, clock, (ports, serve.bound));
    Ok(Bench { far: Some(Far { within: far, interfaces, keeper }), sees_tags, ..bench })
}

fn halves(Port { tx, rx, .. }: Port) -> Halves {
    (tx, rx)
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
fn served<'a>(
    (Serve { program, stop, .. }, redis): (&Serve, Option<&Path>),
    profile: &Profile,
    far: &Arc<Namespace>,
    interfaces: impl Iterator<Item = &'a str>,
) -> Result<(EmulatedWire, Keeper), String> {
    let mut command = Command::new(program);
    command.args(["dut", "serve", "--until-hangup", "--control", "-"]);
    // Open until the process has been started: it inherits them.
    let files: Result<Vec<File>, String> =
        profile.parts().iter().map(|device| handed(&device.written().to_string())).collect();
    let files = files?;
    let file = |place: usize| inherited(&files[place]);
    let lab = profile.written_as_lab(file).map(|text| handed(&text)).transpose()?;
    match &lab {
        Some(lab) => command.arg("--lab").arg(inherited(lab)).arg("--dut").arg(&profile.name),
        None => command.arg("--profile").arg(inherited(&files[0])),
    };
    for interface in interfaces {
        command.args(["--port", interface]);
    }
    if let Some(socket) = redis {
        command.args(["--as", "sonic", "--redis"]).arg(format!("unix:{}", socket.display()));
    }
    Keeper::launch(far, command, stop)
}

/// Where the databases of a device in `far` listen: in a folder that is made for them alone, and goes with them.
fn socket(far: &Namespace) -> Result<PathBuf, String> {
    let place = far.number().map_err(|error| format!("a network namespace: {error}"))?;
    let folder = format!("rigctl-sonic-{}-{place}", std::process::id());
    Ok(std::env::temp_dir().join(folder).join("redis.sock"))
}

/// Memory with `text` in it that a process which is started now inherits.
fn handed(text: &str) -> Result<File, String> {
    let failed = |why: &dyn core::fmt::Display| format!("cannot hand over the profile: {why}");
    let memory = memfd_create(c"profile.yaml", MFdFlags::empty()).map_err(|why| failed(&why))?;
    let mut memory = File::from(memory);
    memory.write_all(text.as_bytes()).map_err(|why| failed(&why))?;
    Ok(memory)
}

/// How who inherits it opens it.
fn inherited(memory: &File) -> String {
    format!("/proc/self/fd/{}", memory.as_raw_fd())
}
