//! Where a host is, and how a shell is started there.

use core::fmt;
use std::process::Command;

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
