//! Keeps two rigs off one host's NICs, wherever they run: whoever sets something there does it in one shell that holds a lock on that host
//! from before the first value is read until the last program that it started is over.
//!
//! So a rig that is killed with a write on its way is waited for: the write comes to a shell that holds the lock, or to none.

use super::access::HostAccess;
use super::session::Session;
use core::time::Duration;
use std::fs;

/// What is run there: `held` and how often it tries.
const SCRIPT: &str = include_str!("lease.sh");
/// How long all of it may take.
const LASTS: Duration = Duration::from_secs(120);

/// How long a host that another one holds is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Not at all.
    No,
    /// Until whoever has been killed is over there.
    ForTheKilled,
}

/// A shell that holds the host's lock.
///
/// # Errors
/// The host cannot be asked; another one holds it, and who.
pub(super) fn take(reach: &HostAccess, wait: Wait) -> Result<Session, String> {
    take_for(reach, wait, LASTS)
}

/// The same, that lives for so long at most.
///
/// # Errors
/// As [`take`].
pub(super) fn take_for(reach: &HostAccess, wait: Wait, lasts: Duration) -> Result<Session, String> {
    let machine = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let fits = |sign: &char| sign.is_ascii_alphanumeric() || ".-".contains(*sign);
    let machine: String = machine.trim().chars().filter(fits).collect();
    let words = format!("rigctl process {} at {machine}", std::process::id());
    let tries = match wait {
        Wait::No => 1,
        Wait::ForTheKilled => 30,
    };
    let of = |why: String| format!("{reach}: {why}");
    let mut session = Session::open(reach, lasts, &words).map_err(of)?;
    let told = session.ask(&format!("{SCRIPT}held {tries}")).map_err(of)?;
    match told.trim() {
        "held" => Ok(session),
        why => Err(of(why.to_owned())),
    }
}
