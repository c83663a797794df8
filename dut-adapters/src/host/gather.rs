//! Asking a host, with a script for `sh` that reads and changes nothing: on this machine, or by the system's `ssh` on another. Whatever the
//! user's configuration of `ssh` says of it holds: jump hosts, keys, agents, pinned host keys. Nobody is asked for a password.

use super::said::MOST;
use core::fmt;
use core::time::Duration;
use rig_generator::port::Mono;
use std::io::{self, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;

/// What is run there.
const SCRIPT: &str = include_str!("gather.sh");
/// In front of whatever is run: words as the C locale has them, and the folders in which `ethtool` and `dcb` are.
const BEFORE: &str = "export LC_ALL=C PATH=\"$PATH:/usr/sbin:/sbin\"\n";
/// How long all of it may take. A host with eight NICs needs a few seconds.
const PATIENCE_NS: u64 = 60_000_000_000;
const LOOK: Duration = Duration::from_millis(5);
/// The most bytes of what it complains of that are told.
const COMPLAINT: u64 = 4 << 10;

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
    /// What runs a script there that comes by standard input.
    fn shell(&self) -> Command {
        let HostAccess::Ssh(host) = self else {
            let mut shell = Command::new("sh");
            shell.arg("-s");
            return shell;
        };
        let mut shell = Command::new("ssh");
        shell.arg("-T");
        OPTIONS.iter().for_each(|option| {
            shell.args(["-o", option]);
        });
        shell.args(["--", host, "sh -s"]);
        shell
    }

    /// What a script prints there.
    ///
    /// # Errors
    /// What it, or `ssh`, says of why it did not succeed.
    pub(super) fn run(&self, script: &str) -> Result<String, String> {
        let mut shell = self.shell();
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C at a terminal is for whoever steers.
        shell.process_group(0);
        let program = shell.get_program().to_string_lossy().into_owned();
        let child =
            shell.spawn().map_err(|why| format!("{self}: cannot start {program}: {why}"))?;
        heard(child, &format!("{BEFORE}{script}\n")).map_err(|why| format!("{self}: {why}"))
    }
}

/// All that a host says of its NICs, as [`Said::told`](super::Said::told) reads it.
///
/// # Errors
/// The host cannot be asked.
pub fn gather(reach: &HostAccess) -> Result<String, String> {
    reach.run(SCRIPT)
}

/// What a shell prints that is given the script.
fn heard(mut child: Child, script: &str) -> Result<String, String> {
    let (input, out, complaints) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let (Some(mut input), Some(out), Some(complaints)) = (input, out, complaints) else {
            return Err("it has no pipes".to_owned());
        };
        let out = scope.spawn(|| read(out, MOST));
        let complaints = scope.spawn(|| read(complaints, COMPLAINT));
        // Who ends before it has read the script says why by itself.
        let _closed = scope.spawn(move || input.write_all(script.as_bytes()));
        let over = Mono(Mono::now().0.saturating_add(PATIENCE_NS));
        let ended = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Mono::now() < over => pause(LOOK),
                Ok(None) | Err(_) => break None,
            }
        };
        if ended.is_none() {
            let _killed = child.kill();
            let _reaped = child.wait();
        }
        let joined = |text: thread::Result<io::Result<Vec<u8>>>| {
            let read = text.map_err(|_| "its reader panicked".to_owned())?;
            read.map_err(|why| why.to_string())
        };
        let complaints = joined(complaints.join())?;
        let out = joined(out.join())?;
        let Some(status) = ended else {
            return Err(format!("it has not answered within {} s", PATIENCE_NS / 1_000_000_000));
        };
        if !status.success() {
            let said = String::from_utf8_lossy(&complaints).into_owned();
            let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
            return Err(format!(
                "{status}: {}",
                last.unwrap_or("it does not say why").escape_debug()
            ));
        }
        if out.len() as u64 > MOST {
            return Err(format!("it says more than {MOST} bytes"));
        }
        // One odd byte of a name hides nothing else.
        Ok(String::from_utf8_lossy(&out).into_owned())
    })
}

/// What comes, of which what is beyond `most` is read and thrown away, so that nobody waits for a reader.
fn read(mut from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    (&mut from).take(most + 1).read_to_end(&mut bytes)?;
    io::copy(&mut from, &mut io::sink())?;
    Ok(bytes)
}

#[expect(clippy::disallowed_methods, reason = "what is waited for is another process")]
fn pause(length: Duration) {
    thread::sleep(length);
}
