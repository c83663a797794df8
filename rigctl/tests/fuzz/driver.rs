//! Tries inputs one after the other on a thread of its own, and tells of the first that panics, hangs or takes memory.

use crate::mutate::{Kind, input};
use core::fmt;
use core::ops::Range;
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

/// What one input may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Beyond this it hangs. Far above what any takes, for machines that are busy.
    pub(crate) patience: Duration,
    /// Memory of the whole process, over what it had at the start, in KiB.
    pub(crate) memory: u64,
}

impl Limits {
    pub(crate) const USUAL: Limits = Limits { patience: Duration::from_secs(60), memory: 1 << 20 };
}

/// An input that breaks something.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) number: u64,
    pub(crate) what: &'static str,
    bytes: Vec<u8>,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Found { number, what, bytes } = self;
        let text = String::from_utf8_lossy(bytes);
        let head: String = text.chars().take(4_000).collect();
        write!(
            f,
            "input {number} {what} (RIG_FUZZ_SEED={number} RIG_FUZZ_INPUTS=1); it begins:\n{head}"
        )
    }
}

/// How many of the inputs of these numbers `target` takes.
///
/// # Errors
/// The first that breaks it.
pub(crate) fn drive(
    kind: Kind,
    seeds: &[Vec<u8>],
    numbers: Range<u64>,
    limits: Limits,
    target: impl Fn(&[u8]) -> bool + Send + 'static,
) -> Result<u64, Found> {
    let (done, wait) = mpsc::channel();
    let (own, inputs) = (seeds.to_vec(), numbers.clone());
    let most = peak() + limits.memory;
    thread::spawn(move || {
        for number in inputs {
            let bytes = input(kind, &own, number);
            let taken = catch_unwind(AssertUnwindSafe(|| target(&bytes))).map_err(|_| "panics");
            let taken =
                taken.and_then(|taken| if peak() > most { Err("takes memory") } else { Ok(taken) });
            let stop = taken.is_err();
            if done.send(taken).is_err() || stop {
                return;
            }
        }
    });
    let mut count = 0;
    for number in numbers {
        let found = |what| Found { number, what, bytes: input(kind, seeds, number) };
        match wait.recv_timeout(limits.patience) {
            Ok(Ok(taken)) => count += u64::from(taken),
            Ok(Err(what)) => return Err(found(what)),
            Err(RecvTimeoutError::Timeout) => return Err(found("hangs")),
            Err(RecvTimeoutError::Disconnected) => return Err(found("ends its thread")),
        }
    }
    Ok(count)
}

/// The most memory that this process has had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.expect("a line of proc(5)")
}
