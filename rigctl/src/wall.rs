//! The one room that reads a clock: when a run started, how long it took, what CPU and memory it used.
#![expect(clippy::disallowed_types, reason = "this is the room")]

use rig_units::Dur;
use std::time::Instant;

/// A stopwatch on the machine's own clock. Nothing it says enters a result, except under `wall`.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts to measure.
    pub fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// Time since the start, in whole microseconds.
    pub fn elapsed(&self) -> Dur {
        Dur::us(u64::try_from(self.0.elapsed().as_micros()).unwrap_or(u64::MAX / 1_000_000))
    }
}

/// Now, in UTC: RFC 3339 for reports.
pub fn now_rfc3339() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Now, in UTC, as part of a folder's name: `20261121T031209Z`.
pub fn now_compact() -> String {
    jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// Columns of the terminal on stdout, if it is one.
#[expect(clippy::disallowed_methods, reason = "it is asked, and nothing is written")]
pub fn terminal_width() -> Option<usize> {
    let (_, columns) = console::Term::stdout().size_checked()?;
    Some(usize::from(columns))
}

/// The name of this machine.
pub fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map(|name| name.trim().to_owned())
        .unwrap_or_default()
}

/// The command line, in words. An argument may be any bytes: what is no text in it shows as `\u{fffd}`.
pub fn command() -> String {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    words.collect::<Vec<_>>().join(" ")
}

/// A seed for a run that was given none.
pub fn fresh_seed() -> u64 {
    u64::from(jiff::Timestamp::now().subsec_nanosecond().unsigned_abs())
}

/// CPU time that this process has used so far, all threads together, in whole microseconds.
pub fn cpu_time() -> Dur {
    use nix::sys::resource::{UsageWho, getrusage};
    let of = |time: nix::sys::time::TimeVal| {
        let part = |part: i64| u64::try_from(part).unwrap_or(0);
        Dur::s(part(time.tv_sec())) + Dur::us(part(time.tv_usec()))
    };
    getrusage(UsageWho::RUSAGE_SELF)
        .map_or(Dur::ZERO, |usage| of(usage.user_time()) + of(usage.system_time()))
}
