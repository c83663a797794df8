//! The machine: what /proc and /sys say, and by how much sleeps end late.

use super::super::facts::{Floor, Hugepages, Machine};
use super::dpdk::dpdk;
use nix::sys::prctl;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use rig_generator::Clock;
use rig_generator::clock::Wall;
use rig_generator::port::RealTime;
use rig_units::Dur;
use std::fs;
use std::path::Path;
use std::thread::available_parallelism;

/// Sleeps that are measured, and how long each is: a second in all.
const SLEEPS: usize = 1_000;
const SLEEP: Dur = Dur::ms(1);

/// Everything that is to be known of it. Takes a second.
pub fn machine() -> Machine {
    let no_real_time = RealTime::enter().err().map(|errno| errno.to_string());
    Machine {
        kernel: read("/proc/sys/kernel/osrelease"),
        capabilities: capabilities(),
        btf: Path::new("/sys/kernel/btf/vmlinux").exists(),
        memlock: memlock(),
        cpus: available_parallelism().map_or(1, core::num::NonZeroUsize::get),
        isolated: read("/sys/devices/system/cpu/isolated"),
        governor: Some(read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
            .filter(|governor| !governor.is_empty()),
        clocksource: read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        steady_tsc: steady_tsc(),
        rt_runtime: read("/proc/sys/kernel/sched_rt_runtime_us").parse().ok(),
        autogroup: read("/proc/sys/kernel/sched_autogroup_enabled") == "1",
        no_real_time,
        floor: floor(),
        hugepages: hugepages(&read("/proc/meminfo")),
        dpdk: dpdk(),
        tshark: found("tshark"),
        guest_lacks: rig_guests::image::missing(),
    }
}

/// What a file of the kernel's says; nothing where there is none.
fn read(path: &str) -> String {
    fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default()
}

fn capabilities() -> u64 {
    let status = read("/proc/self/status");
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0)
}

fn memlock() -> Option<u64> {
    let (soft, _) = getrlimit(Resource::RLIMIT_MEMLOCK).ok()?;
    (soft != RLIM_INFINITY).then_some(soft)
}

fn steady_tsc() -> bool {
    let info = read("/proc/cpuinfo");
    let flags = info.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    let has = |wanted: &str| flags.split_whitespace().any(|flag| flag == wanted);
    has("constant_tsc") && has("nonstop_tsc")
}

fn hugepages(meminfo: &str) -> Hugepages {
    let number = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    };
    Hugepages {
        total: number("HugePages_Total"),
        free: number("HugePages_Free"),
        kib: number("Hugepagesize"),
    }
}

/// A program on the search path.
fn found(program: &str) -> Option<String> {
    let paths = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&paths).map(|folder| folder.join(program));
    places.find(|place| place.is_file()).map(|place| place.display().to_string())
}

/// By how much sleeps end late, at the priority that the rig sends with where it may have it.
fn floor() -> Floor {
    // A sleep that ends up to 50 us late, as is usual, would be all that is measured.
    let _unsupported = prctl::set_timerslack(1);
    let _usual = RealTime::enter();
    let clock = Wall::start();
    let mut late: Vec<Dur> = Vec::with_capacity(SLEEPS);
    for _ in 0..SLEEPS {
        let until = clock.now() + SLEEP;
        // It waits for no port, so that none can fail.
        let _nothing = clock.sleep(until, &[]);
        // Whole microseconds: less is not to be told apart here.
        late.push(Dur::us(clock.now().since(until).unwrap_or_default().div_ceil(Dur::us(1))));
    }
    late.sort_unstable();
    let at = |share: usize| late.get(late.len() * share / 100).copied().unwrap_or_default();
    Floor {
        sleeps: SLEEPS,
        p50: at(50),
        p99: at(99),
        max: late.last().copied().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pages_are_counted() {
        let text = "MemTotal: 1 kB\nHugePages_Total:     256\nHugePages_Free:      200\nHugepagesize:       2048 kB";
        assert_eq!(hugepages(text), Hugepages { total: 256, free: 200, kib: 2_048 });
        assert_eq!(hugepages(""), Hugepages::default());
    }

    #[test]
    fn this_machine_has_a_kernel_and_a_processor() {
        let machine = machine();
        assert!(!machine.kernel.is_empty() && machine.cpus > 0);
        assert_eq!(machine.floor.sleeps, SLEEPS);
        assert!(machine.floor.p50 <= machine.floor.p99 && machine.floor.p99 <= machine.floor.max);
    }
}
