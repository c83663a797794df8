//! `rigctl restore`: puts back what runs that were killed have left changed.

use super::input::Bad;
use crate::cli::RestoreArgs;
use crate::executor::wire::ControlPath;
use crate::rights::{self, Work};
use crate::{state, stderr, stdout};
use rig_dut::journal;
use rig_lab::{Interfaces, Server};
use rig_reports::Exit;

/// Restores, or lists; the exit code.
///
/// # Errors
/// Never: what is in the way is told, and the code is 4.
pub fn restore(args: &RestoreArgs) -> Result<Exit, Bad> {
    match journal::restore(&state::journals(), args.dry_run, |_| true) {
        Ok(told) => {
            // A reader that went away changes nothing of what was done.
            told.iter().for_each(|told| stdout::text(&format!("{told}\n")));
            let left = told.iter().any(journal::Told::is_left);
            Ok(if left { Exit::Broken } else { Exit::Passed })
        }
        Err(why) => {
            stderr::line(&format!("error: {why}"));
            Ok(Exit::Broken)
        }
    }
}

/// Puts back what an earlier run has left changed at the interfaces of `wire` and in the switch that `reach` leads to, before they
/// are used again, and says so.
///
/// # Errors
/// What could not be put back.
pub fn mend(wire: &Interfaces, reach: &ControlPath) -> Result<(), String> {
    mend_what(|entry| {
        let own = |interface: &String| entry.change.is_to_interface(interface);
        wire.interfaces.iter().any(own)
            || reach.redis.as_ref().is_some_and(|at| entry.change.is_to_redis(at))
    })
}

/// Puts back what an earlier run has left changed on the server of `wire`, before that is used again, and says so.
///
/// # Errors
/// What could not be put back.
pub fn mend_server(wire: &Server) -> Result<(), String> {
    mend_what(|entry| wire.ends().any(|end| entry.change.is_to_host(end.ssh.as_deref())))
}

fn mend_what(ours: impl Fn(&journal::Entry) -> bool) -> Result<(), String> {
    let _raised = rights::raise(Work::Restoring);
    let told = journal::restore(&state::journals(), false, ours)?;
    for told in told.iter().filter(|told| told.matters()) {
        stderr::note(&told.to_string());
    }
    // A journal that cannot be read may be about other interfaces.
    let left = told.iter().filter(|told| told.entry.is_some() && told.is_left());
    let left: Vec<String> = left.map(ToString::to_string).collect();
    if left.is_empty() { Ok(()) } else { Err(left.join("; ")) }
}
