//! What the facts mean: which are as they should be, which are lacks, for whom, and the command that mends each. Pure.

use super::facts::{Cable, Dpdk, Facts, Interface, LinkFacts, Machine, PortFacts, Way};
use rig_lab::{Adapter, Lab};
use rig_units::{Dur, PortSpeed};
use serde::Serialize;

/// What a lab needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needs {
    /// The lab, by name.
    pub lab: String,
    /// Its wire.
    pub wire: Wire,
}

/// A lab's wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wire {
    /// None: virtual time.
    None,
    /// Virtual interfaces that the rig makes.
    Made {
        /// How far off a timestamp may be.
        bound: Dur,
    },
    /// The rig's own interfaces.
    Own {
        /// How far off a timestamp may be.
        bound: Dur,
        /// The interfaces, with the speed that is declared of the port behind each.
        interfaces: Vec<(String, Option<PortSpeed>)>,
    },
}

impl Needs {
    /// What `lab` needs.
    pub fn of(lab: &Lab) -> Needs {
        let wire = match &lab.adapter {
            Adapter::Emulated => Wire::None,
            Adapter::EmulatedWire(wire) => Wire::Made { bound: wire.bound },
            Adapter::Declared(wire) => {
                let speed = |port| lab.duts.first().and_then(|dut| dut.declared.port_speed(port));
                let each = (0..).zip(&wire.interfaces);
                Wire::Own {
                    bound: wire.bound,
                    interfaces: each.map(|(port, name)| (name.clone(), speed(port))).collect(),
                }
            }
        };
        Needs { lab: lab.name.clone(), wire }
    }

    fn bound(&self) -> Option<Dur> {
        match self.wire {
            Wire::None => None,
            Wire::Made { bound } | Wire::Own { bound, .. } => Some(bound),
        }
    }
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Ok,
    /// Good to know; nothing depends on it.
    Note,
    /// Missing, though this lab does without.
    Lack,
    /// Missing, and this lab needs it.
    Need,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What.
    pub name: String,
    /// How it is.
    pub state: State,
    /// What was found, and what it means.
    pub says: String,
    /// The command that mends it, or what else does.
    pub mend: Option<String>,
}

/// Checks that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Section {
    /// What they are about.
    pub name: String,
    /// The checks.
    pub checks: Vec<Check>,
}

fn check(name: &str, state: State, says: impl Into<String>) -> Check {
    Check { name: name.to_owned(), state, says: says.into(), mend: None }
}

impl Check {
    fn mend(mut self, how: impl Into<String>) -> Check {
        self.mend = Some(how.into());
        self
    }
}

/// Missing: needed here, or by others.
const fn missing(needed: bool) -> State {
    if needed { State::Need } else { State::Lack }
}

/// Judges everything.
pub fn judge(facts: &Facts, needs: &Needs) -> Vec<Section> {
    let Facts { machine, pair, interfaces, cable } = facts;
    let section = |name: &str, checks| Section { name: name.to_owned(), checks };
    let mut all = vec![
        section("kernel", kernel(machine, pair, needs)),
        section("time", time(machine, needs)),
        section("DPDK and tools", others(machine)),
    ];
    for interface in interfaces {
        all.push(section(&format!("interface {}", interface.name), own(interface, needs)));
    }
    if let Some(cable) = cable {
        all.push(section(&format!("cable {} - {}", cable.ends[0], cable.ends[1]), cabled(cable)));
    }
    all
}

/// The oldest kernel on which a port opens.
const OLDEST: (u32, u32) = (5, 18);
/// The oldest on which a received frame may be longer than 4 KiB.
const LONG_FRAMES: (u32, u32) = (6, 6);
/// Capabilities of the wire by number and name: ports and links, then sockets, then the program.
const PORTS: [(u32, &str); 3] = [(12, "CAP_NET_ADMIN"), (13, "CAP_NET_RAW"), (39, "CAP_BPF")];
/// In place of CAP_BPF, and to make network namespaces.
const SYS_ADMIN: (u32, &str) = (21, "CAP_SYS_ADMIN");
const IPC_LOCK: u32 = 14;
/// What one port of a run takes of locked memory: pieces of 4 KiB in which frames wait, and three for each that is sent.
const PORT_MEMORY: u64 = (2_048 + 3 * 256) << 12;

fn kernel(machine: &Machine, pair: &Result<PortFacts, String>, needs: &Needs) -> Vec<Check> {
    let wire = needs.wire != Wire::None;
    let release = &machine.kernel;
    let has = |bit: u32| machine.capabilities >> bit & 1 == 1;
    let kernel = match version(release) {
        Some(at) if at < OLDEST => {
            check("kernel", missing(wire), format!("Linux {release}: AF_XDP ports need 5.18"))
                .mend("a kernel of 5.18 or later, best 6.6 or later")
        }
        Some(at) if at < LONG_FRAMES => check(
            "kernel",
            State::Note,
            format!("Linux {release}: received frames of up to 3.8 kB; longer ones need 6.6"),
        ),
        _ => check("kernel", State::Ok, format!("Linux {release}")),
    };
    let made = matches!(needs.wire, Wire::Made { .. });
    let mut lacking: Vec<&str> = PORTS
        .iter()
        .filter(|&&(bit, _)| !(has(bit) || bit == 39 && has(SYS_ADMIN.0)))
        .map(|&(_, name)| name)
        .collect();
    if (made || !wire) && !has(SYS_ADMIN.0) {
        lacking.push(SYS_ADMIN.1);
    }
    let capabilities = if lacking.is_empty() {
        check("capabilities", State::Ok, "all that ports and network namespaces take")
    } else {
        check("capabilities", missing(wire), format!("without {}: no ports", lacking.join(", ")))
            .mend("sudo rigctl ...")
    };
    let pair = match pair {
        Ok(port) => {
            check("AF_XDP", State::Ok, format!("{}, on a pair made for the purpose", shown(port)))
        }
        Err(why) => check("AF_XDP", missing(made), why.clone()),
    };
    let memory = match machine.memlock {
        Some(limit) if limit < PORT_MEMORY && !has(IPC_LOCK) => check(
            "locked memory",
            missing(wire),
            format!(
                "{} KiB, without CAP_IPC_LOCK: a port takes {} KiB",
                limit >> 10,
                PORT_MEMORY >> 10
            ),
        )
        .mend("ulimit -l unlimited"),
        _ => check("locked memory", State::Ok, "as much as ports take"),
    };
    let btf = if machine.btf {
        check("BTF", State::Ok, "/sys/kernel/btf/vmlinux")
    } else {
        check("BTF", State::Note, "none; the ports do without")
    };
    vec![kernel, capabilities, pair, memory, btf]
}

fn time(machine: &Machine, needs: &Needs) -> Vec<Check> {
    let wire = needs.wire != Wire::None;
    let clock = match (machine.clocksource.as_str(), machine.steady_tsc) {
        ("tsc", true) => check("clock", State::Ok, "tsc, constant and never stopping"),
        ("tsc", false) => {
            check("clock", State::Note, "tsc, not announced as constant and never stopping")
        }
        (other, _) => {
            check("clock", State::Note, format!("{other}: each reading costs more than with tsc"))
                .mend("clocksource=tsc on the kernel's command line, where the processor has it")
        }
    };
    let priority = match &machine.no_real_time {
        None => check("priority", State::Ok, "SCHED_FIFO while frames are sent"),
        Some(why) => check(
            "priority",
            missing(wire),
            format!(
                "no SCHED_FIFO ({why}): whoever wants the processor delays frames by milliseconds"
            ),
        )
        .mend("sudo rigctl ..., or `ulimit -r 50`"),
    };
    let reserve = match machine.rt_runtime {
        Some(us) => check(
            "reserve",
            State::Note,
            format!(
                "real-time threads get {us} us of each second; the rig sleeps in between and keeps below"
            ),
        ),
        None => check("reserve", State::Ok, "real-time threads may take all of it"),
    };
    let group = if machine.autogroup {
        check("autogroup", State::Note, "on: without SCHED_FIFO a higher priority is worth nothing")
    } else {
        check("autogroup", State::Ok, "off")
    };
    let cpus = match machine.cpus {
        1 => check("processors", State::Note, "1: the rig and an emulated device take turns on it"),
        n => check("processors", State::Ok, n.to_string()),
    };
    let isolated = match machine.isolated.as_str() {
        "" => check("isolated", State::Note, "no processor is kept free of other work")
            .mend("isolcpus=N on the kernel's command line, for bounds below some 100 us"),
        list => check("isolated", State::Ok, format!("processors {list}")),
    };
    let governor = match machine.governor.as_deref() {
        None => check("governor", State::Ok, "none: the clock of the processors is not changed"),
        Some("performance") => check("governor", State::Ok, "performance"),
        Some(other) => check(
            "governor",
            State::Note,
            format!("{other}: a processor that was idle is slow at first"),
        )
        .mend("sudo cpupower frequency-set -g performance"),
    };
    let floor = &machine.floor;
    let said = format!(
        "sleeps end {} late, 1 in 100 by {}, at worst {} (of {})",
        floor.p50, floor.p99, floor.max, floor.sleeps
    );
    let floor = match needs.bound() {
        Some(bound) if floor.p99 > bound => {
            check("floor", State::Need, format!("{said}; the lab's bound is {bound}"))
                .mend("the checks above, or a wider `wire.bound`")
        }
        Some(bound) if floor.max > bound => check(
            "floor",
            State::Note,
            format!("{said}; now and then a trial is void at the lab's bound of {bound}"),
        ),
        _ => check("floor", State::Ok, said),
    };
    vec![clock, priority, floor, cpus, isolated, governor, reserve, group]
}

fn others(machine: &Machine) -> Vec<Check> {
    let Dpdk { version, shim } = &machine.dpdk;
    let dpdk = match (version, shim) {
        (None, _) => check("DPDK", State::Note, "not installed; only its back end needs it")
            .mend("sudo apt-get install libdpdk-dev gcc pkg-config"),
        (Some(version), None) => {
            check("DPDK", State::Note, format!("{version}, and no shim of the rig's to it"))
                .mend("cargo xtask dpdk-shim")
        }
        (Some(version), Some(shim)) => check("DPDK", State::Ok, format!("{version}, shim {shim}")),
    };
    let pages = &machine.hugepages;
    let pages = match pages.total {
        0 => check("large pages", State::Note, "none; only DPDK uses them, and can do without")
            .mend("sudo sysctl vm.nr_hugepages=256"),
        total => check(
            "large pages",
            State::Ok,
            format!("{total} of {} KiB, {} free", pages.kib, pages.free),
        ),
    };
    let tshark = match &machine.tshark {
        Some(path) => check("tshark", State::Ok, path.clone()),
        None => check(
            "tshark",
            State::Note,
            "not found; it reads the evidence files, the rig does not need it",
        )
        .mend("sudo apt-get install tshark"),
    };
    vec![dpdk, pages, tshark]
}

/// RoCEv2 with an MTU of 4096: the payload and every header from IP on.
const ROCE_4096: usize = 4_096 + 20 + 8 + 12 + 16 + 4;
/// The longest frame of the catalogue, from behind the Ethernet header on and without FCS.
const CATALOGUE: usize = 9_022 - 18;

fn own(interface: &Interface, needs: &Needs) -> Vec<Check> {
    let name = &interface.name;
    let (needed, speed) = match &needs.wire {
        Wire::Own { interfaces, .. } => {
            let found = interfaces.iter().find(|(known, _)| known == name);
            (found.is_some(), found.and_then(|(_, speed)| *speed))
        }
        Wire::None | Wire::Made { .. } => (false, None),
    };
    let link = match &interface.link {
        Ok(link) => link,
        Err(why) => return vec![check("interface", missing(needed), why.clone())],
    };
    let mut all = Vec::new();
    let driver = link.driver.clone().unwrap_or_else(|| "a driver without a name".to_owned());
    all.push(match (link.up, link.carrier) {
        (true, true) => check("link", State::Ok, format!("{driver}, up")),
        (true, false) => check(
            "link",
            missing(needed),
            format!("{driver}, no link: is the cable in, and the other end up?"),
        ),
        (false, _) => check("link", missing(needed), format!("{driver}, down"))
            .mend(format!("sudo ip link set {name} up")),
    });
    all.extend(at_speed(link, speed, needed));
    let longer = |least: usize, what: &str| {
        check("MTU", missing(needed), format!("{}: {what}", link.mtu))
            .mend(format!("sudo ip link set {name} mtu {least}, and the same at the other end"))
    };
    all.push(match link.mtu {
        mtu if mtu < ROCE_4096 => {
            longer(9_216, "RoCE with an MTU of 4096 takes 4156, cases with 9 kB frames 9004")
        }
        mtu if mtu < CATALOGUE => longer(9_216, "cases with 9 kB frames take 9004"),
        mtu => check("MTU", State::Ok, format!("{mtu}: RoCE with an MTU of 4096, and 9 kB frames")),
    });
    all.push(match &interface.port {
        Err(why) => check("port", missing(needed), why.clone()),
        Ok(port) if port.native || port.mode == "AF_PACKET" => {
            check("port", State::Ok, shown(port))
        }
        Ok(port) => {
            check("port", State::Note, format!("{}: behind the driver, slower", shown(port)))
        }
    });
    let packet = interface.port.as_ref().is_ok_and(|port| port.mode == "AF_PACKET");
    if let Some(queues) = link.queues.filter(|&queues| queues > 1 && !packet) {
        let says =
            format!("received frames are spread over {queues}, and the port sees one of them");
        let one = format!("sudo ethtool -L {name} combined 1");
        all.push(check("queues", missing(needed), says).mend(one));
    }
    all.push(match link.stamps {
        Some((true, true)) => {
            check("stamps", State::Ok, "the hardware has them; the rig stamps in software")
        }
        _ => check("stamps", State::Note, "software only: times are as good as the lab's bound"),
    });
    all.push(if link.counts_pauses {
        check("pauses", State::Ok, "the driver counts them by priority")
    } else {
        check(
            "pauses",
            State::Note,
            "the driver does not count them by priority: what its MAC swallows is seen by nobody",
        )
    });
    all
}

/// Every figure follows from the speed.
fn at_speed(link: &LinkFacts, declared: Option<PortSpeed>, needed: bool) -> Option<Check> {
    let declared = declared?;
    if link.pair {
        return Some(check(
            "speed",
            State::Note,
            format!("a virtual interface has none; {declared} is declared"),
        ));
    }
    let mbps = link.speed?;
    let found = PortSpeed::from_bps(u64::from(mbps) * 1_000_000);
    let shown = found.map_or_else(|| format!("{mbps} Mb/s"), |speed| speed.to_string());
    Some(if found == Some(declared) {
        check("speed", State::Ok, shown)
    } else {
        check(
            "speed",
            missing(needed),
            format!("{shown}, and {declared} is declared of the port behind it"),
        )
        .mend("correct `declared.ports` of the profile, or give the lab `wire.speed`")
    })
}

/// Whether MAC Control passes.
fn cabled(cable: &Cable) -> Vec<Check> {
    let ways = match &cable.ways {
        Ok(ways) => ways,
        Err(why) => return vec![check("cable", State::Need, why.clone())],
    };
    let [one, other] = &cable.ends;
    let mut all = Vec::new();
    for (from, to, way) in [(one, other, &ways[0]), (other, one, &ways[1])] {
        let Way { ordinary, pfc, pause, counted } = way;
        let name = |kind: &str| format!("{kind} {from} -> {to}");
        if ordinary != "passes" {
            all.push(
                check(&name("frames"), State::Need, ordinary.clone())
                    .mend("a cable between the two"),
            );
            continue;
        }
        all.push(match (pfc.as_str(), counted) {
            ("passes", _) => check(&name("PFC"), State::Ok, "passes"),
            (other, Some((sent, received))) => check(
                &name("PFC"),
                State::Lack,
                format!(
                    "{other}: pauses are known from the drivers' counters only ({sent} sent and {received} received \
                     meanwhile)"
                ),
            ),
            (other, None) => check(
                &name("PFC"),
                State::Need,
                format!("{other}, and no counters by priority: pauses that arrive there are not seen"),
            )
            .mend(format!("PFC and 802.3x off in the MAC: sudo ethtool -A {to} rx off tx off; dcb pfc set dev {to} prio-pfc all:off")),
        });
        all.push(match pause.as_str() {
            "passes" => check(&name("802.3x"), State::Ok, "passes"),
            other => check(&name("802.3x"), State::Note, other),
        });
    }
    all
}

/// A port's mode in words.
fn shown(port: &PortFacts) -> String {
    let copy = if port.zero_copy { "zero copy" } else { "copies" };
    let frames = if port.multi_buffer { "frames of any length" } else { "frames of up to 3.8 kB" };
    let mut said = if port.mode == "AF_PACKET" {
        port.mode.to_owned()
    } else {
        format!("{}, {copy}, {frames}", port.mode)
    };
    if !port.refused.is_empty() {
        said += &format!(" ({})", port.refused.join("; "));
    }
    said
}

/// The first two numbers of a release.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests;
