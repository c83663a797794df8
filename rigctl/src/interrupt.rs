//! Ctrl-C, SIGTERM and SIGHUP: the first breaks off what runs, so that a partial report is written; the second
//! puts back what was changed outside this process, and ends at once.
//!
//! This is the control plane: a small runtime on a thread of its own, never on one that carries data.

use crate::rights::{self, Work};
use crate::stop::Stop;
use crate::wall::Stopwatch;
use core::future::poll_fn;
use core::task::Poll;
use nix::sys::signal::{SigSet, SigmaskHow, Signal as NixSignal};
use rig_units::Dur;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Whether an interrupt has come.
#[derive(Debug, Clone, Default)]
pub struct Interrupted(Arc<AtomicBool>);

impl Interrupted {
    /// Whether a signal asked for the end.
    pub fn happened(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How long what arrives is still the first request: `timeout` signals its child and then the child's group, and a terminal
/// that closes says so twice.
const ONE: Dur = Dur::ms(250);

/// Requests to end that are noticed from now on, and answered once somebody listens.
#[derive(Debug)]
pub struct Requests {
    runtime: Runtime,
    asked: Vec<(SignalKind, Signal)>,
}

impl Requests {
    /// From here on none is missed. While this is the only thread: what comes before there are more is kept from the handlers until
    /// they are whole, for between what the system knows of one and what it calls a request would be lost.
    ///
    /// # Errors
    /// When the system gives no signal handler.
    pub fn hear() -> io::Result<Requests> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let asked = {
            let _entered = runtime.enter();
            let before = held_back().thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
            let listened = |kind: SignalKind| signal(kind).map(|signal| (kind, signal));
            let asked = requests().map(listened).collect::<io::Result<Vec<_>>>();
            before.thread_set_mask()?;
            asked?
        };
        Ok(Requests { runtime, asked })
    }

    /// Listens for the first alone, on a thread of its own: of a process that has nothing to put back.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn first(self, stop: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let Requests { runtime, mut asked } = self;
        let listen = move || {
            runtime.block_on(next(&mut asked));
            stop();
        };
        thread::Builder::new().name("signals".into()).spawn(listen).map(drop)
    }

    /// Listens until the process ends, on a thread that keeps of root's rights what `keeps` takes, none of it in effect. `restore`
    /// is what is still done at a second signal, before the process ends with 128 and the signal's number, as shells expect it.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn listen(
        self,
        stop: Arc<Stop>,
        keeps: Work,
        restore: impl FnOnce() + Send + 'static,
    ) -> io::Result<Interrupted> {
        let Requests { runtime, mut asked } = self;
        let interrupted = Interrupted::default();
        let seen = interrupted.clone();
        let (lowered, is_lowered) = mpsc::channel();
        thread::Builder::new().name("requests".into()).spawn(move || {
            rights::keep(keeps);
            rights::lower(Work::Waiting);
            let _heard = lowered.send(());
            runtime.block_on(async move {
                next(&mut asked).await;
                let first = Stopwatch::start();
                seen.0.store(true, Ordering::Relaxed);
                stop.hurry();
                loop {
                    let kind = next(&mut asked).await;
                    if first.elapsed() > ONE {
                        restore();
                        std::process::exit(128 + kind.as_raw_value());
                    }
                }
            });
        })?;
        // Nothing else begins before it has given up the rest.
        let _lowered = is_lowered.recv();
        Ok(interrupted)
    }
}

/// The signals that ask for the end. A hangup that the process was started to ignore, as by `nohup`, stays ignored.
fn requests() -> impl Iterator<Item = SignalKind> {
    let hangup = (!is_ignored(SignalKind::hangup())).then(SignalKind::hangup);
    [SignalKind::interrupt(), SignalKind::terminate()].into_iter().chain(hangup)
}

/// The same, as a mask.
fn held_back() -> SigSet {
    requests().filter_map(|kind| NixSignal::try_from(kind.as_raw_value()).ok()).collect()
}

fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    // Signals are counted from 1, bits from 0.
    mask >> (kind.as_raw_value() - 1) & 1 == 1
}

/// The next of them that comes.
async fn next(asked: &mut [(SignalKind, Signal)]) -> SignalKind {
    poll_fn(|context| {
        for (kind, signal) in asked.iter_mut() {
            if signal.poll_recv(context).is_ready() {
                return Poll::Ready(*kind);
            }
        }
        Poll::Pending
    })
    .await
}
