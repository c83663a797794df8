//! How long this thread was kept off its processor while it measured, so that a gap or a lapse that is the machine's is seen to be:
//! what the kernel counts as waiting for a turn (`schedstat`, its second number, in nanoseconds), and what the hypervisor gave to
//! other guests (`steal` of `/proc/stat`, in ticks of 10 ms). Where neither grew and frames were late all the same, it was the call
//! or the pacer.

use core::fmt;
use rig_units::Dur;
use serde::Serialize;
use std::fs;

/// In one round, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(super) struct KeptOff {
    /// The kernel ran others, or nobody because this thread had used up its share.
    pub(super) waited_ns: u64,
    /// The host ran others; `None`: it is not known on which processor.
    pub(super) stolen_ns: Option<u64>,
}

/// What it was when a round began.
#[derive(Debug)]
pub(super) struct Watch {
    cpu: Option<usize>,
    before: KeptOff,
}

/// A tick of `/proc/stat`: a hundredth of a second on every machine that has AF_XDP.
const TICK_NS: u64 = 10_000_000;

impl Watch {
    /// From now on, for the thread that calls and stays on processor `cpu`.
    pub(super) fn start(cpu: Option<usize>) -> Watch {
        Watch { cpu, before: KeptOff::read(cpu) }
    }

    /// What grew since [`start`](Watch::start), in nanoseconds.
    pub(super) fn end(&self) -> KeptOff {
        KeptOff::read(self.cpu).since(self.before)
    }
}

impl KeptOff {
    fn read(cpu: Option<usize>) -> KeptOff {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        KeptOff {
            waited_ns: waited(&text("/proc/thread-self/schedstat")).unwrap_or(0),
            stolen_ns: cpu.and_then(|cpu| stolen(&text("/proc/stat"), cpu)),
        }
    }

    fn since(self, before: KeptOff) -> KeptOff {
        let stolen = self.stolen_ns.zip(before.stolen_ns);
        KeptOff {
            waited_ns: self.waited_ns.saturating_sub(before.waited_ns),
            stolen_ns: stolen.map(|(now, before)| now.saturating_sub(before)),
        }
    }

    /// The worst of several rounds in each respect.
    pub(super) fn worst(all: impl IntoIterator<Item = KeptOff>) -> KeptOff {
        let worse = |a: KeptOff, b: KeptOff| KeptOff {
            waited_ns: a.waited_ns.max(b.waited_ns),
            stolen_ns: a.stolen_ns.max(b.stolen_ns),
        };
        all.into_iter().reduce(worse).unwrap_or_default()
    }
}

impl fmt::Display for KeptOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} waiting for the processor", Dur::ns(self.waited_ns))?;
        match self.stolen_ns {
            Some(stolen) => write!(f, ", {} taken by the host", Dur::ns(stolen)),
            None => Ok(()),
        }
    }
}

/// The second number of `schedstat`.
fn waited(text: &str) -> Option<u64> {
    text.split_whitespace().nth(1)?.parse().ok()
}

/// The eighth number behind the name of a processor.
fn stolen(text: &str, cpu: usize) -> Option<u64> {
    let name = format!("cpu{cpu}");
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(&name))?;
    let ticks: u64 = line.split_whitespace().nth(8)?.parse().ok()?;
    Some(ticks * TICK_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_and_the_host_say_is_read() {
        assert_eq!(waited("2053213 81234 17\n"), Some(81_234));
        let stat =
            "cpu  9 9 9 9 9 9 9 99 9 9\ncpu1 1 2 3 4 5 6 7 8 9 10\ncpu10 1 2 3 4 5 6 7 80 9 10\n";
        assert_eq!(stolen(stat, 1), Some(80_000_000));
        assert_eq!(stolen(stat, 10), Some(800_000_000));
        assert_eq!(stolen(stat, 2), None);
    }

    #[test]
    fn of_several_rounds_the_worst_is_told() {
        let of = |waited_ns, stolen_ns| KeptOff { waited_ns, stolen_ns };
        let worst = KeptOff::worst([of(3, Some(7)), of(9, Some(0)), of(0, None)]);
        assert_eq!(worst, of(9, Some(7)));
        assert_eq!(of(9, Some(30)).since(of(4, Some(10))), of(5, Some(20)));
        let text = of(8_600_000, Some(10_000_000)).to_string();
        assert_eq!(text, "8.6ms waiting for the processor, 10ms taken by the host");
    }

    /// A thread that shares a processor with one that spins has waited.
    #[test]
    fn a_thread_that_waited_for_its_turn_is_told() {
        use rig_generator::port::{Pinned, cpus};
        let cpu = cpus().ok().and_then(|all| all.first().copied()).expect("a processor");
        let spin = move || {
            let _pinned = Pinned::to(cpu);
            let watch = Watch::start(Some(cpu));
            let mut sum = 0_u64;
            while watch.end().waited_ns == 0 && sum < 1 << 22 {
                sum += 1;
            }
            watch.end()
        };
        let both = [std::thread::spawn(spin), std::thread::spawn(spin)];
        let waited = both.map(|one| one.join().expect("it ends").waited_ns);
        assert!(waited.iter().any(|ns| *ns > 0), "{waited:?}");
    }
}
