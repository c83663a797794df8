//! The thread that starts a served device and lives as long as it: the kernel ends a process with the *thread* that started
//! it (PR_SET_PDEATHSIG), even one that is stopped and could not end by itself.

use crate::rights::{self, Work};
use crate::stop::Stop;
use core::convert::Infallible;
use rig_dut::EmulatedWire;
use rig_generator::netlab::Namespace;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// While this is there so is the thread; without it a device that still runs is killed.
#[derive(Debug)]
pub(super) struct Keeper(
    #[expect(dead_code, reason = "the thread waits for this to go")] Sender<Infallible>,
);

impl Keeper {
    /// Starts `command`, which serves a device, inside a namespace.
    ///
    /// # Errors
    /// It cannot be started, or serves nothing.
    pub(super) fn launch(
        within: &Arc<Namespace>,
        mut command: Command,
        stop: &Arc<Stop>,
    ) -> Result<(EmulatedWire, Keeper), String> {
        let (keeper, end) = channel();
        let (tell, launched) = channel();
        let (within, stop) = (Arc::clone(within), Arc::clone(stop));
        // It looks whether this process is still there once it has asked the kernel to end it.
        command.args(["--parent", &std::process::id().to_string()]);
        let keep = move || {
            let launched = within.enter().map_err(|why| why.to_string());
            let launched = launched.and_then(|()| {
                EmulatedWire::launch(command, move || !stop.hurried())
                    .map_err(|lost| lost.to_string())
            });
            rights::lower(Work::Waiting);
            if tell.send(launched).is_ok() {
                let _gone = end.recv();
            }
        };
        let thread = thread::Builder::new().name("keeper".into()).spawn(keep);
        thread.map_err(|why| format!("cannot start a device: {why}"))?;
        let launched = launched.recv().map_err(|_| "cannot start a device".to_owned())?;
        launched.map(|device| (device, Keeper(keeper)))
    }
}
