//! Ctrl-C: the first asks for a stop between two trials, so that a partial report is written; the second ends at once.
//!
//! This is the control plane: a small runtime on a thread of its own, never on one that carries data.

use crate::runner::pool::Stop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Whether an interrupt has come.
#[derive(Debug, Clone, Default)]
pub struct Interrupted(Arc<AtomicBool>);

impl Interrupted {
    /// Whether Ctrl-C was pressed.
    pub fn happened(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Exit code of a process that a second Ctrl-C ends, as shells expect it.
const EXIT_SIGINT: i32 = 130;

/// Listens until the process ends.
///
/// # Errors
/// When the system gives no thread or no signal handler.
pub fn listen(stop: Arc<Stop>) -> std::io::Result<Interrupted> {
    let interrupted = Interrupted::default();
    let seen = interrupted.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    thread::Builder::new().name("control".into()).spawn(move || {
        runtime.block_on(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                if seen.0.swap(true, Ordering::Relaxed) {
                    std::process::exit(EXIT_SIGINT);
                }
                stop.hurry();
            }
        });
    })?;
    Ok(interrupted)
}
