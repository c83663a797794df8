//! Asking a host, with a script for `sh` that reads and changes nothing: on this machine, or by the system's `ssh` on another. Whatever the
//! user's configuration of `ssh` says of it holds: jump hosts, keys, agents, pinned host keys. Nobody is asked for a password.

use super::exchange;
use super::said::END;
use super::session::Session;
use super::settings::answer_of;
use core::fmt;
use core::time::Duration;
use std::process::Command;

/// What is run there.
const SCRIPT: &str = concat!(include_str!("netlink.sh"), include_str!("gather.sh"));
/// How long all of it may take. A host with eight NICs needs a few seconds.
const LASTS: Duration = Duration::from_secs(60);

/// No question that nobody would answer; a line that is dead is found out within ten seconds.
const OPTIONS: [&str; 5] = [
    "BatchMode=yes",
    "ConnectTimeout=20",
    "ControlPath=none",
    "ServerAliveInterval=3",
    "ServerAliveCountMax=2",
];

/// Where a host is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostAccess {
    /// It is this machine.
    Here,
    /// It is where `ssh` of that destination leads.
    Ssh(String),
}

impl fmt::Display for HostAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostAccess::Here => f.write_str("this machine"),
            HostAccess::Ssh(host) => f.write_str(host),
        }
    }
}

impl HostAccess {
    /// What runs a script there that comes by standard input, and is ended there with all that it has started after so many seconds. Its
    /// words are plain ones, for whatever login shell there is.
    pub(super) fn shell(&self, seconds: u64, words: &str) -> Command {
        let limited = format!("timeout -s KILL {seconds} sh -s {words}");
        let HostAccess::Ssh(host) = self else {
            let mut words = limited.split(' ');
            let mut shell = Command::new(words.next().unwrap_or_default());
            shell.args(words);
            return shell;
        };
        let mut shell = Command::new("ssh");
        shell.arg("-T");
        OPTIONS.iter().for_each(|option| {
            shell.args(["-o", option]);
        });
        shell.args(["--", host, &limited]);
        shell
    }
}

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
