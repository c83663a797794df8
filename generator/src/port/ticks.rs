//! What the machine counts finely: its time-stamp counter where that runs evenly, CLOCK_MONOTONIC elsewhere.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "nothing safe reads the time-stamp counter")
)]

use super::Mono;
use core::fmt;
use std::fs;

/// A counter beside the clock of the ports. An argument of [`Fine`](crate::fine::Fine), so that a test can make both up.
pub trait Counter: fmt::Debug {
    /// The counter's reading.
    fn ticks(&self) -> u64;
    /// CLOCK_MONOTONIC.
    fn mono(&self) -> Mono;
}

/// The counter of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Machine {
    /// The time-stamp counter of its processors.
    Tsc,
    /// CLOCK_MONOTONIC in nanoseconds.
    Monotonic {
        /// Why not the time-stamp counter.
        why: String,
    },
}

impl Machine {
    /// The best that this machine has.
    pub fn best() -> Machine {
        if !cfg!(target_arch = "x86_64") {
            return Machine::Monotonic { why: "this is no x86-64 processor".to_owned() };
        }
        let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let sources = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
        match unfit(&cpus, fs::read_to_string(sources).ok().as_deref()) {
            None => Machine::Tsc,
            Some(why) => Machine::Monotonic { why },
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Machine::Tsc => f.write_str("the time-stamp counter"),
            Machine::Monotonic { why } => write!(f, "CLOCK_MONOTONIC, because {why}"),
        }
    }
}

impl Counter for Machine {
    #[inline]
    fn ticks(&self) -> u64 {
        match self {
            Machine::Tsc => tsc(),
            Machine::Monotonic { .. } => Mono::now().0,
        }
    }

    #[inline]
    fn mono(&self) -> Mono {
        Mono::now()
    }
}

/// Why the time-stamp counter is of no use, by what the kernel says of the processors and of its own sources of time;
/// `None` when it is.
fn unfit(cpus: &str, sources: Option<&str>) -> Option<String> {
    let flags = cpus.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    let missing = ["constant_tsc", "nonstop_tsc"];
    let missing = missing.iter().find(|want| flags.split_whitespace().all(|flag| flag != **want));
    if let Some(missing) = missing {
        return Some(format!("the processor does not promise an even counter (no {missing})"));
    }
    // A kernel that found the counters of two processors apart has struck it from its list.
    let struck = sources.is_some_and(|all| all.split_whitespace().all(|source| source != "tsc"));
    struck.then(|| "the kernel does not trust the time-stamp counter here".to_owned())
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn tsc() -> u64 {
    // SAFETY: the instruction reads a counter and touches no memory; Linux lets every process execute it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn tsc() -> u64 {
    Mono::now().0
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "processor : 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc sse\n";

    #[test]
    fn a_counter_that_may_stop_or_change_its_pace_is_not_used() {
        assert_eq!(unfit(GOOD, Some("kvm-clock tsc acpi_pm\n")), None);
        assert_eq!(unfit(GOOD, None), None);
        for flag in ["constant_tsc", "nonstop_tsc"] {
            let why = unfit(&GOOD.replace(flag, "tsc_adjust"), None).expect("unfit");
            assert!(why.contains(flag), "{why}");
        }
        assert!(unfit(GOOD, Some("hpet acpi_pm")).expect("unfit").contains("trust"));
        assert!(unfit("", None).is_some());
    }

    #[test]
    fn the_counter_of_this_machine_goes_on() {
        let machine = Machine::best();
        let earlier = machine.ticks();
        let later = (0..1_000).map(|_| machine.ticks()).max();
        assert!(later > Some(earlier), "{machine}");
    }
}
