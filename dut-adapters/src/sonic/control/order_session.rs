//! One command of SONiC's own over `ssh`, in a session of its own: what it printed, and how it ended.
//!
//! Of what it prints nothing is passed on that is quoted, unless the rig asked for it: CONFIG_DB has secrets.

use super::super::way::{options, said};
use super::super::write::Write;
use core::time::Duration;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

/// How long one may take, its login and all: a patch of a switch with many ports is a minute. The switch itself ends it earlier, and
/// for good: what goes on there when nobody listens any more nobody would put back.
const PATIENCE: Duration = Duration::from_secs(150);
/// The most bytes of what it prints that are read.
const LONGEST: u64 = 1 << 20;
/// The most characters of a reason that are told.
const SAID: usize = 300;
/// Between these two stands what it prints; behind the second the code with which it has ended.
const THERE: &str = "rig-there\n";
const END: &str = "rig-end ";
/// What `timeout` ends with where it has ended a command, and where it had to kill it.
const TOO_LONG: [&str; 2] = ["124", "137"];

/// What a command has printed, and the code with which it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) text: String,
    code: String,
}

impl Ended {
    /// What a session has said; `None`: it did not come to the end of the command.
    pub(super) fn of(text: &str) -> Option<Ended> {
        let (_, text) = text.split_once(THERE)?;
        let (text, code) = text.rsplit_once(END)?;
        Some(Ended { text: text.to_owned(), code: code.trim().to_owned() })
    }

    /// Whether it has ended well.
    pub(super) fn is_done(&self) -> bool {
        self.code == "0"
    }

    /// Why it has not, in its last words.
    pub(super) fn failed(&self, writes: &[Write]) -> String {
        let mut lines = self.text.lines().map(|line| line.trim_matches([' ', ':']));
        let last = lines.rfind(|line| !line.is_empty());
        let last =
            last.map_or_else(|| "it does not say why".to_owned(), |line| hidden(line, writes));
        if TOO_LONG.contains(&self.code.as_str()) {
            format!("it was not done after 110 s and was ended; it said last: {last}")
        } else {
            format!("it ends with {}: {last}", self.code.escape_debug())
        }
    }
}

/// Runs a script at the switch, which says `rig-there`, prints what its command prints and says `rig-end` with its code.
///
/// # Errors
/// The switch is not reached, or it does not come to its end in time.
pub(super) fn run(host: &str, script: &str, input: &str) -> Result<Ended, String> {
    let mut command = Command::new("ssh");
    command.arg("-T");
    options().for_each(|option| {
        command.args(["-o", option]);
    });
    command.arg("--").arg(host).arg(script).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut ssh = command.spawn().map_err(|error| format!("cannot start ssh: {error}"))?;
    let (out, asks) = (ssh.stdout.take(), ssh.stdin.take());
    let (tell, hears) = channel();
    let reads = std::thread::Builder::new().name("ssh".into()).spawn(move || {
        let mut text = Vec::new();
        let _read = out.map(|out| out.take(LONGEST).read_to_end(&mut text));
        let _gone = tell.send(String::from_utf8_lossy(&text).into_owned());
    });
    // Where it has ended already what it says tells why.
    let _asked = asks.map(|mut asks| asks.write_all(input.as_bytes()));
    let heard = reads.ok().and_then(|_| hears.recv_timeout(PATIENCE).ok());
    let _killed = ssh.kill();
    let _reaped = ssh.wait();
    let text = heard.ok_or_else(|| format!("no answer within {} s", PATIENCE.as_secs()))?;
    Ended::of(&text).ok_or_else(|| format!("ssh ends: {}", said(ssh.stderr.as_mut())))
}

/// A line without the values that are quoted in it, but those that were asked for and ranges.
pub(super) fn hidden(line: &str, writes: &[Write]) -> String {
    let is_range = |text: &str| {
        text.contains("..") && text.chars().all(|c| c.is_ascii_digit() || ". |".contains(c))
    };
    let is_ours = |text: &str| {
        writes.iter().any(|write| write.field == text || write.to.as_deref() == Some(text))
    };
    let parts = line.split(['"', '\'']).enumerate().map(|(at, part)| match at % 2 {
        1 if !is_range(part) && !is_ours(part) => "*",
        _ => part,
    });
    let told: Vec<&str> = parts.collect();
    told.join("\"").escape_debug().take(SAID).collect::<String>().replace("\\\"", "\"")
}
