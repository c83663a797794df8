//! Asking a host, with a script for `sh` that reads and changes nothing: on this machine, or by the system's `ssh` on another. Whatever the
//! user's configuration of `ssh` says of it holds: jump hosts, keys, agents, pinned host keys. Nobody is asked for a password.

use super::access::HostAccess;
use super::exchange;
use super::said::END;
use super::session::Session;
use super::settings::answer_of;
use core::time::Duration;

/// What is run there.
const SCRIPT: &str = concat!(include_str!("netlink.sh"), include_str!("gather.sh"));
/// How long all of it may take. A host with eight NICs needs a few seconds.
const LASTS: Duration = Duration::from_secs(60);

/// All that a host says of its NICs, as [`Said::told`](super::Said::told) reads it.
///
/// # Errors
/// The host cannot be asked.
pub fn gather(reach: &HostAccess) -> Result<String, String> {
    let asked = Session::open(reach, LASTS, "rigctl asks");
    asked.and_then(|mut session| ask(&mut session)).map_err(|why| format!("{reach}: {why}"))
}

/// The same, by a shell that is there.
///
/// # Errors
/// The shell cannot be asked.
pub(super) fn ask(host: &mut Session) -> Result<String, String> {
    if !host.is_here() {
        return host.ask(SCRIPT);
    }
    let text = host.ask(&format!("rig_is_here=yes\n{SCRIPT}"))?;
    let Some((told, behind)) = text.rsplit_once(END) else { return Ok(text) };
    let named = |line: &str| {
        line.strip_prefix("F /sys/class/net/")?.strip_suffix("/mtu").map(str::to_owned)
    };
    let answers = told.lines().filter_map(named).map(|net| match exchange::own(&net) {
        Ok(answer) => format!("F {}\n\t{answer}\n", answer_of(&net)),
        Err(why) => format!("E {}\n\t{why}\n", answer_of(&net)),
    });
    Ok(format!("{told}{}{END}{behind}", answers.collect::<String>()))
}
