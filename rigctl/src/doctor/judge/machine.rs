//! What this machine can do, whatever is cabled to it.

use super::super::facts::{Dpdk, Machine, PortFacts};
use super::port::shown;
use super::{Check, Needs, State, Wire, check, missing};
use rig_guests::GuestFault;

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

/// Kernel, rights and memory.
pub(super) fn kernel(
    machine: &Machine,
    pair: &Result<PortFacts, String>,
    needs: &Needs,
) -> Vec<Check> {
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

/// Clocks and the scheduler.
pub(super) fn time(machine: &Machine, needs: &Needs) -> Vec<Check> {
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

/// Other programs.
pub(super) fn others(machine: &Machine, needs: &Needs) -> Vec<Check> {
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
    let guests = match machine.guest_lacks.as_slice() {
        [] => check("guests", State::Ok, "Linux in a virtual machine can be built and booted"),
        lacks => {
            let files: Vec<&str> = lacks.iter().map(|(file, _)| *file).collect();
            let (state, whom) = match needs.guests {
                true => (State::Need, "the lab's guests need them"),
                false => (State::Note, "only `rigctl guest` needs them"),
            };
            check("guests", state, format!("no {}; {whom}", files.join(", ")))
                .mend(format!("sudo apt-get install {}", GuestFault::packages(lacks)))
        }
    };
    vec![dpdk, pages, tshark, guests]
}

/// The first two numbers of a release.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}
