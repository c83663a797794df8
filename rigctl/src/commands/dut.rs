//! `rigctl dut serve`: the emulated device as a process of its own, on real ports.

use super::input::Bad;
use super::standing::Standing;
use crate::cli::{ServeArgs, ServedAs};
use crate::interrupt::Requests;
use crate::rights::{self, Work};
use crate::{mutation, stderr, stdout};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getppid};
use rig_dut::serve::{Conversation, Gate, Line, Place, Served, Turned, on_ports};
use rig_dut::standin::{Faults, Scripts};
use rig_generator::clock::Wall;
use rig_generator::port::{Config, Port, RealTime};
use rig_lab::{Lab, Profile, RedisAt, Transport, read};
use rig_reports::Exit;
use rig_units::Dur;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader};
use std::path::Path;
use std::thread;

/// The longest frame, without FCS, that passes a port of the device.
const LONGEST: usize = 9_100;
/// Pieces of 4 KiB in which frames wait while the device is off its processor.
const RING: u32 = 2_048;
/// The folder of the scripts that decide for a switch's watchdogs; without it the device does.
const SCRIPTS: &str = "RIG_SONIC_LUA";
/// Frames under way per port.
const SLOTS: u32 = 256;

/// Serves until it is asked to end.
///
/// # Errors
/// Flags or a profile that cannot be used.
pub fn serve(args: &ServeArgs) -> Result<Exit, Bad> {
    if let Some(parent) = args.parent {
        ends_with(Pid::from_raw(parent))?;
    }
    let profile = mutated(served(profile(args)?, args.port.len())?, &args.mutate)?;
    let count = u16::try_from(args.port.len()).unwrap_or(u16::MAX);
    let profile = on_ports(profile, count, args.speed).map_err(Bad::of)?;
    let place = args.control.as_deref().map(|text| {
        text.parse::<Place>().map_err(|why| Bad::of(format!("`--control {text}`: {why}")))
    });
    let place = place.transpose()?;
    let redis = redis_of(args)?;
    let scripts = redis.and_then(|_| std::env::var_os(SCRIPTS)).filter(|folder| !folder.is_empty());
    let scripts = scripts.map(|folder| {
        Scripts::read(Path::new(&folder), profile.family())
            .map_err(|why| Bad::of(format!("`{SCRIPTS}`: {why}")))
    });
    let switch = redis.zip(Some(scripts.transpose()?));
    // A sleep that ends up to 50 us late, as is usual, would be the greatest error of all.
    let _unsupported = prctl::set_timerslack(1);
    match on(args, &profile, place.as_ref(), switch) {
        Ok(()) => Ok(Exit::Passed),
        Err(why) => {
            stderr::line(&format!("error: {why}"));
            Ok(Exit::Broken)
        }
    }
}

/// Has the kernel end this process with `parent`, also while this one is stopped.
fn ends_with(parent: Pid) -> Result<(), Bad> {
    let set = prctl::set_pdeathsig(Signal::SIGKILL);
    set.map_err(|errno| Bad::of(format!("`--parent {parent}`: the kernel refuses: {errno}")))?;
    // It may have ended before the kernel was asked.
    if getppid() != parent {
        return Err(Bad::of(format!(
            "`--parent {parent}`: it is not this process's parent, or gone"
        )));
    }
    Ok(())
}

/// The device on its ports.
fn on(
    args: &ServeArgs,
    profile: &Profile,
    place: Option<&Place>,
    switch: Option<(&Path, Option<Scripts>)>,
) -> Result<(), String> {
    // Before anything runs before others, and may keep this from a processor half way.
    let requests = Requests::hear().map_err(|error| error.to_string())?;
    let (redis, scripts) = switch.unzip();
    let mut lines = Vec::new();
    for interface in &args.port {
        let config = Config {
            longest: LONGEST,
            slots: SLOTS,
            ring: RING,
            zero_copy: false,
            ..Config::new(interface)
        };
        let Port { tx, rx, .. } = Port::open(&config).map_err(|error| error.to_string())?;
        lines.push(Line { interface: interface.clone(), tx, rx });
    }
    // No other is opened later.
    rights::keep(match (place, redis) {
        (Some(Place::File(_)), _) | (_, Some(_)) => Work::ServedAtFile,
        (Some(Place::Stdio | Place::Name(_)) | None, None) => Work::Served,
    });
    rights::lower(Work::Served);
    let name = profile.name.clone();
    let served = Served::new(profile.clone(), lines, Wall::start(), args.seed);
    let (mut served, post) = served.map_err(|error| error.to_string())?;
    let conversation =
        Conversation { hello: served.hello(), post: post.clone(), until_hangup: args.until_hangup };
    let (hung_up, ended) = (post.clone(), post.clone());
    requests.first(move || ended.stop()).map_err(|error| error.to_string())?;
    let ports = args.port.join(", ");
    // Whoever talks to the device finds the databases filled.
    let faults = Faults::of(&args.fault);
    let ways = (faults, scripts.flatten());
    let by_scripts = ways.1.is_some();
    let switch = redis
        .map(|socket| Standing::start(profile, (socket, args.chips), post, ways))
        .transpose()?;
    let gate = match place {
        None => {
            stderr::line(&format!("serving {name} on {ports}"));
            None
        }
        Some(Place::Stdio) => {
            let talk = move || {
                let _broken = conversation.hold(BufReader::new(io::stdin()), stdout::Conversation);
                // Nobody else can talk to this device: with who started it, however that ended, it ends.
                hung_up.stop();
            };
            thread::Builder::new().name("control".into()).spawn(talk).map_err(|e| e.to_string())?;
            None
        }
        Some(place @ (Place::Name(_) | Place::File(_))) => {
            let gate = {
                let _raised = rights::raise(Work::ServedAtFile);
                Gate::open(place)?
            };
            let admitted = gate.admit(conversation, args.force, turned);
            admitted.map_err(|error| error.to_string())?;
            stderr::line(&format!("serving {name} on {ports}, control {place}"));
            Some(gate)
        }
    };
    if let (Some(socket), false) = (redis, place == Some(&Place::Stdio)) {
        stderr::line(&format!(
            "its databases as SONiC has them: redis-cli -s {}",
            socket.display()
        ));
        if by_scripts {
            stderr::line(&format!("its watchdogs decide by the scripts of `{SCRIPTS}`"));
        }
    }
    // Without the permission it is late more often, and says so whenever it is asked.
    let _usual = RealTime::enter();
    let ended = served.run().map_err(|error| error.to_string());
    // Its file, if it has one, goes with it.
    let _raised = rights::raise(Work::ServedAtFile);
    drop(gate);
    // What was asked of the device and not answered is never answered: only then whoever asks can end.
    drop(served);
    drop(switch);
    ended
}

/// Where the redis of a switch that runs SONiC is to listen, if the device is to be one.
fn redis_of(args: &ServeArgs) -> Result<Option<&Path>, Bad> {
    match (args.system, &args.redis) {
        (Some(ServedAs::Sonic), Some(RedisAt::Unix(socket))) => Ok(Some(socket)),
        (Some(ServedAs::Sonic), Some(other)) => {
            let why = "a stand-in's redis listens at a socket of this machine";
            Err(Bad::of(format!("`--redis {other}`: {why}\n   = want: unix:PATH")))
        }
        _ => Ok(None),
    }
}

/// Tells of clients that were turned away: of the first, the second, the fourth and so on, so that nobody can fill a log.
fn turned(turned: &Turned) {
    if turned.count.is_power_of_two() {
        let Turned { why, count } = turned;
        stderr::line(&format!("turned away ({count} so far): {why}"));
    }
}

/// The profile that the flags name.
fn profile(args: &ServeArgs) -> Result<Profile, Bad> {
    let mut bad = Bad::default();
    match (&args.profile, &args.dut) {
        (Some(file), _) => match read::profile(Path::new(file)) {
            Ok(profile) => return Ok(profile),
            Err(faults) => bad.faults(&faults),
        },
        (None, Some(name)) => match read::lab(args.lab.as_deref()) {
            Ok(lab) => {
                let names: Vec<String> = lab.duts.iter().map(|dut| dut.name.clone()).collect();
                if let Some(profile) = lab.duts.into_iter().find(|dut| dut.name == *name) {
                    return Ok(profile);
                }
                let whose =
                    if args.lab.is_some() { "a device of the lab" } else { "a bundled device" };
                let known = names.join(", ");
                return Err(Bad::of(format!("`--dut {name}`: want {whose}: {known}")));
            }
            Err(faults) => bad.faults(&faults),
        },
        (None, None) => {
            return Err(Bad::of("want `--profile FILE` or `--dut NAME`: which device?".to_owned()));
        }
    }
    Err(bad)
}

/// Refuses two NICs at another number of ports, and what stands in a system and is no NIC.
fn served(profile: Profile, ports: usize) -> Result<Profile, Bad> {
    let name = &profile.name;
    if let Some(system) = &profile.system {
        let one_nic = profile.declared.nics().is_some_and(|nics| nics.peer.is_none());
        if system.alone.is_some() && !one_nic {
            return Err(Bad::of(format!(
                "`{name}` is a device of a system: want the system, a device by itself, or one NIC behind others; where anything else stands in one it is under test in virtual time alone"
            )));
        }
        return Ok(profile);
    }
    if profile.declared.nics().is_some_and(|nics| nics.peer.is_some()) && ports != 2 {
        return Err(Bad::of(format!(
            "`{name}` is a pair of NICs: want two `--port`, one for each of them, or one NIC by itself"
        )));
    }
    Ok(profile)
}

/// The device as it is made to depart from what it declares.
fn mutated(profile: Profile, mutate: &[String]) -> Result<Profile, Bad> {
    let mut lab = Lab {
        keys: None,
        name: String::new(),
        about: String::new(),
        transport: Transport::Virtual(Dur::ZERO),
        controls: BTreeMap::new(),
        redis: BTreeMap::new(),
        disposable: BTreeSet::new(),
        cable_cm: 0,
        duts: vec![profile],
    };
    let mut bad = Bad::default();
    bad.all(mutation::apply(&mut lab, mutate).err().unwrap_or_default());
    bad.or(())?;
    Ok(lab.duts.remove(0))
}
