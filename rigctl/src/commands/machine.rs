//! What was measured on: the machine, and how the thread that measures runs.

use core::fmt;
use rig_generator::Fine;
use rig_generator::port::{Machine, Pinned, RealTime, cpus};
use serde::Serialize;
use std::fs::{self, File, OpenOptions};
use std::io::Write;

/// The machine at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Host {
    /// Its processors, as they call themselves.
    pub(crate) cpu: String,
    /// How many of them.
    pub(crate) cpus: usize,
    pub(crate) kernel: String,
    /// Load averages of the last 1, 5 and 15 minutes.
    pub(crate) load: String,
    /// What time is told by.
    pub(crate) clock: String,
    pub(crate) clock_hertz: u64,
    /// What it may be off from CLOCK_MONOTONIC by, in nanoseconds, rounded up.
    pub(crate) clock_error_ns: u64,
    /// The processor that the measuring thread stays on; none when it may not.
    pub(crate) pinned: Option<usize>,
    /// Whether that thread runs before all usual ones.
    pub(crate) real_time: bool,
    /// Whether processors with nothing to do stayed awake.
    pub(crate) awake: bool,
}

/// Processors that have nothing to do stay awake until this is dropped, as far as the kernel lets this program ask for it (its PM
/// QoS: a wake-up may take no time at all). One that halts takes microseconds to come back, on a guest milliseconds: to the
/// thread that sleeps between two frames, and to every call that has to wake another. What measures for a moment asks
/// for it, as cyclictest does; a run of hours does not.
#[derive(Debug)]
pub(crate) struct Awake(#[expect(dead_code, reason = "it is held")] File);

impl Awake {
    /// From now on; `None` where it may not ask.
    pub(crate) fn keep() -> Option<Awake> {
        let mut file = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").ok()?;
        file.write_all(&0_i32.to_ne_bytes()).ok()?;
        Some(Awake(file))
    }
}

/// The measuring thread runs before all usual ones and stays on one processor, as far as it may, until this is dropped.
#[derive(Debug)]
pub(crate) struct Undisturbed {
    real_time: Option<RealTime>,
    pinned: Option<(usize, Pinned)>,
    awake: Option<Awake>,
}

impl Undisturbed {
    /// On processor `cpu`; without a number on the last one that it may use: interrupts prefer the first.
    pub(crate) fn now(cpu: Option<usize>) -> Undisturbed {
        let cpu = cpu.or_else(|| cpus().ok()?.last().copied());
        let pinned = cpu.and_then(|cpu| Some((cpu, Pinned::to(cpu).ok()?)));
        Undisturbed { real_time: RealTime::enter().ok(), pinned, awake: None }
    }

    /// The same, with processors that stay awake: for measuring.
    pub(crate) fn wide_awake(cpu: Option<usize>) -> Undisturbed {
        Undisturbed { awake: Awake::keep(), ..Undisturbed::now(cpu) }
    }

    /// The processor that it stays on.
    pub(crate) fn cpu(&self) -> Option<usize> {
        self.pinned.as_ref().map(|(cpu, _)| *cpu)
    }
}

impl Host {
    /// The machine as it is now.
    pub(crate) fn now(clock: &Fine<Machine>, how: &Undisturbed) -> Host {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name"));
        let model = model.map(|rest| rest.trim_start_matches(['\t', ' ', ':']).to_owned());
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load: Vec<&str> = load.split_whitespace().take(3).collect();
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Host {
            cpu: model.unwrap_or_else(|| "an unnamed processor".to_owned()),
            // Not those that this thread may use: it stays on one.
            cpus: cpuinfo.lines().filter(|line| line.starts_with("processor")).count().max(1),
            kernel: kernel.trim().to_owned(),
            load: load.join(" "),
            clock: clock.counter().to_string(),
            clock_hertz: clock.hertz(),
            clock_error_ns: clock.error().0.div_ceil(1_000),
            pinned: how.cpu(),
            real_time: how.real_time.is_some(),
            awake: how.awake.is_some(),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Host { cpu, cpus, kernel, load, clock, clock_hertz, clock_error_ns, .. } = self;
        writeln!(f, "{:>12} {cpu}, {cpus} of them, Linux {kernel}, load {load}", "Machine")?;
        let mhz = clock_hertz / 1_000_000;
        let khz = clock_hertz / 1_000 % 1_000;
        writeln!(
            f,
            "{:>12} {clock} at {mhz}.{khz:03} MHz, within {clock_error_ns}ns of CLOCK_MONOTONIC",
            "Clock"
        )?;
        let class = if self.real_time {
            "SCHED_FIFO"
        } else {
            "the usual scheduling (SCHED_FIFO needs CAP_SYS_NICE: run with sudo)"
        };
        let place = match self.pinned {
            Some(cpu) => format!("on processor {cpu}"),
            None => "on any processor".to_owned(),
        };
        let idle = if self.awake { ", idle processors kept awake" } else { "" };
        writeln!(f, "{:>12} {class}, {place}{idle}", "Thread")
    }
}
