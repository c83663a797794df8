//! A shell of a host that is asked one thing after the other, while nobody else's words come in between. It ends when whoever asks does, and
//! its time is limited at both ends: by this process, and there by `timeout`, which ends what hangs below the shell.
//!
//! Left out on purpose: what a program does that has left the shell's group. Nobody waits for it.

use super::access::HostAccess;
use super::said::MOST;
use core::time::Duration;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use rig_generator::port::Mono;
use std::io::{Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;

/// In front of whatever is run: words as the C locale has them, and the folders in which `ethtool` and `dcb` are.
const BEFORE: &str = "export LC_ALL=C PATH=\"$PATH:/usr/sbin:/sbin\"";
/// What a login shell prints of its own stands before it, and is none of what was asked.
const BEGIN: &str = "# rigctl asked";
/// What follows an answer: with it the number of the question, and the status of what was run.
const END: &str = "# rigctl is answered";
/// The most bytes of what it complains of that are kept.
const COMPLAINT: usize = 4 << 10;
/// How long a shell may take to end once nobody asks any more.
const GOODBYE_NS: u64 = 2_000_000_000;
const LOOK: Duration = Duration::from_millis(5);

/// A shell that waits for questions.
#[derive(Debug)]
pub(super) struct Session {
    child: Child,
    /// Nobody asks any more where there is none.
    input: Option<ChildStdin>,
    printed: Receiver<(Pipe, Vec<u8>)>,
    out: Text,
    complaints: Text,
    asked: u32,
    lasts: Duration,
    over: Mono,
    is_here: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pipe {
    Out,
    Complaints,
}

/// What has come by one pipe and is not told yet.
#[derive(Debug, Default)]
struct Text {
    bytes: Vec<u8>,
    /// Up to here nobody has found what is looked for.
    searched: usize,
    /// Nothing more comes.
    is_whole: bool,
}

impl Session {
    /// Starts one that ends after that time, whatever it does then. `words` are what `ps` shows of it there.
    ///
    /// # Errors
    /// No shell answers.
    pub(super) fn open(
        reach: &HostAccess,
        lasts: Duration,
        words: &str,
    ) -> Result<Session, String> {
        let mut session = Session::through(reach.shell(lasts.as_secs(), words), lasts)?;
        session.is_here = *reach == HostAccess::Here;
        Ok(session)
    }

    fn through(mut shell: Command, lasts: Duration) -> Result<Session, String> {
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C at a terminal is for whoever steers; and what hangs is ended with what hangs below it.
        shell.process_group(0);
        let program = shell.get_program().to_string_lossy().into_owned();
        let mut child = shell.spawn().map_err(|why| format!("cannot start {program}: {why}"))?;
        let (say, printed) = sync_channel(16);
        if let Some(out) = child.stdout.take() {
            read(out, Pipe::Out, say.clone());
        }
        if let Some(complaints) = child.stderr.take() {
            read(complaints, Pipe::Complaints, say);
        }
        let over =
            Mono(Mono::now().0.saturating_add(u64::try_from(lasts.as_nanos()).unwrap_or(u64::MAX)));
        let input = child.stdin.take();
        let (out, complaints) = (Text::default(), Text::default());
        let mut session = Session {
            child,
            input,
            printed,
            out,
            complaints,
            asked: 0,
            lasts,
            over,
            is_here: false,
        };
        session.write(&format!("{BEFORE}\necho '{BEGIN}' >&2\necho '{BEGIN}'\n"));
        session.heard(&format!("{BEGIN}\n")).map_err(|ended| match ended {
            Ended::With(status, why) if !status.success() => format!("{status}: {why}"),
            Ended::With(..) => no_shell(&session.out.bytes),
            Ended::Late => session.late(),
            Ended::Long => too_long(),
        })?;
        Ok(session)
    }

    /// What a script prints there, whose last command's status is whether it succeeds.
    ///
    /// # Errors
    /// What it, or `ssh`, says of why it did not succeed; no whole answer.
    pub(super) fn ask(&mut self, script: &str) -> Result<String, String> {
        if self.is_over() {
            return Err("the line to it is lost".to_owned());
        }
        self.asked += 1;
        let end = format!("{END} {} ", self.asked);
        self.write(&format!(
            "{{\n{script}\n}} </dev/null; rig=$?; echo \"{end}\" >&2; echo \"{end}$rig\"\n"
        ));
        let (said, complaints) = self.heard(&end).map_err(|ended| match ended {
            Ended::With(status, why) if !status.success() => format!("{status}: {why}"),
            Ended::With(..) => "its answer is cut short".to_owned(),
            Ended::Late => self.late(),
            Ended::Long => too_long(),
        })?;
        // Behind the mark stands the status.
        match self.status()?.as_str() {
            "0" => Ok(said),
            status => Err(format!("exit status: {status}: {}", last(&complaints))),
        }
    }

    /// Whether it is a shell of this machine.
    pub(super) const fn is_here(&self) -> bool {
        self.is_here
    }

    /// Whether nothing more can be asked.
    pub(super) const fn is_over(&self) -> bool {
        self.input.is_none()
    }

    fn late(&self) -> String {
        format!("it has not answered within {} s", self.lasts.as_secs())
    }

    /// Who ends before it has read the script says why by itself.
    fn write(&mut self, script: &str) {
        if let Some(input) = &mut self.input {
            let _closed = input.write_all(script.as_bytes()).and_then(|()| input.flush());
        }
    }

    /// What comes by both pipes before `mark`, which goes with it.
    fn heard(&mut self, mark: &str) -> Result<(String, String), Ended> {
        loop {
            if let (Some(_), Some(_)) = (self.out.find(mark), self.complaints.find(mark)) {
                // One odd byte of a name hides nothing else.
                return Ok((self.out.before(mark), self.complaints.before(mark)));
            }
            if self.out.is_whole && self.complaints.is_whole {
                return Err(self.ended());
            }
            if let Err(ended) = self.more() {
                self.end(ended.is_none());
                return Err(ended.unwrap_or(Ended::Late));
            }
        }
    }

    /// What stands up to the end of the line.
    fn status(&mut self) -> Result<String, String> {
        while self.out.find("\n").is_none() {
            if self.out.is_whole || self.more().is_err() {
                self.end(true);
                return Err("its answer is cut short".to_owned());
            }
        }
        Ok(self.out.before("\n").trim().to_owned())
    }

    /// Waits for the next piece of either pipe; an error without a reason where none came in time.
    fn more(&mut self) -> Result<(), Option<Ended>> {
        let left = Duration::from_nanos(self.over.0.saturating_sub(Mono::now().0));
        let (pipe, bytes) = match self.printed.recv_timeout(left) {
            Ok(piece) => piece,
            Err(RecvTimeoutError::Timeout) => return Err(None),
            Err(RecvTimeoutError::Disconnected) => {
                self.out.is_whole = true;
                self.complaints.is_whole = true;
                return Ok(());
            }
        };
        let text = match pipe {
            Pipe::Out => &mut self.out,
            Pipe::Complaints => &mut self.complaints,
        };
        text.is_whole = bytes.is_empty();
        text.bytes.extend(bytes);
        if pipe == Pipe::Complaints && text.bytes.len() > 2 * COMPLAINT {
            text.bytes.drain(..text.bytes.len() - COMPLAINT);
            text.searched = 0;
        }
        if self.out.bytes.len() as u64 > MOST { Err(Some(Ended::Long)) } else { Ok(()) }
    }

    /// How it ended by itself, and its last complaint.
    fn ended(&mut self) -> Ended {
        let why = last(&String::from_utf8_lossy(&self.complaints.bytes));
        match self.end(false) {
            Some(status) => Ended::With(status, why),
            None => Ended::Late,
        }
    }

    /// Ends it, at once where it hangs.
    fn end(&mut self, hangs: bool) -> Option<ExitStatus> {
        drop(self.input.take());
        let patient = Mono(Mono::now().0.saturating_add(if hangs { 0 } else { GOODBYE_NS }));
        let ended = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Mono::now() < patient => pause(LOOK),
                Ok(None) | Err(_) => break None,
            }
        };
        if ended.is_none() {
            let group = i32::try_from(self.child.id()).unwrap_or_default();
            if group > 0 {
                let _gone = killpg(Pid::from_raw(group), Signal::SIGKILL);
            }
            let _reaped = self.child.wait();
        }
        ended
    }
}

impl Drop for Session {
    /// What it was asked last is over when this returns, unless the line is lost.
    fn drop(&mut self) {
        if self.input.is_some() {
            let _how = self.end(false);
        }
    }
}

/// How a shell ended before it had answered.
enum Ended {
    With(ExitStatus, String),
    Late,
    Long,
}

impl Text {
    fn find(&mut self, mark: &str) -> Option<usize> {
        let from = self.searched.saturating_sub(mark.len());
        let found =
            self.bytes[from..].windows(mark.len()).position(|piece| piece == mark.as_bytes());
        self.searched = found.map_or(self.bytes.len(), |at| from + at);
        found.map(|at| from + at)
    }

    /// What stands before `mark`, which goes with it.
    fn before(&mut self, mark: &str) -> String {
        let at = self.find(mark).unwrap_or(self.bytes.len());
        let behind = self.bytes.split_off((at + mark.len()).min(self.bytes.len()));
        let said = String::from_utf8_lossy(&self.bytes[..at]).into_owned();
        self.bytes = behind;
        self.searched = 0;
        said
    }
}

/// Hands on what comes, and an empty piece at the end, until nobody hears it any more.
fn read(mut from: impl Read + Send + 'static, pipe: Pipe, say: SyncSender<(Pipe, Vec<u8>)>) {
    thread::spawn(move || {
        let mut bytes = vec![0; 64 << 10];
        loop {
            let count = from.read(&mut bytes).unwrap_or_default();
            if say.send((pipe, bytes[..count].to_vec())).is_err() || count == 0 {
                return;
            }
        }
    });
}

/// The last line of what it complains of.
fn last(complaints: &str) -> String {
    let last = complaints.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.unwrap_or("it does not say why").escape_debug().to_string()
}

fn too_long() -> String {
    format!("it says more than {MOST} bytes")
}

/// What to say of something that ran none of the script.
fn no_shell(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let first = said.lines().find(|line| !line.trim().is_empty());
    let but = first.map_or_else(String::new, |line| {
        format!(", but `{}`", line.chars().take(60).collect::<String>().escape_debug())
    });
    format!("no shell answers there{but}")
}

#[expect(clippy::disallowed_methods, reason = "what is waited for is another process")]
fn pause(length: Duration) {
    thread::sleep(length);
}

#[cfg(test)]
mod tests;
