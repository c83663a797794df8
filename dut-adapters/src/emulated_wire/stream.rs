//! The line to another process that serves a device: what is asked and heard, as long as somebody waits for it.

use crate::control::Lost;
use crate::protocol::{self, Answer, Ask};
use core::fmt;
use core::time::Duration;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use zeroize::Zeroizing;

/// How soon it is noticed that nobody waits for an answer.
const LOOK: Duration = Duration::from_millis(50);
/// How long a process may take for an answer, or to end, once nobody waits for it.
const FAREWELL: Duration = Duration::from_millis(500);
/// How long a question may take to be written.
const WRITING: Duration = Duration::from_secs(5);
/// The most bytes of an answer: counters of a large device are longer than a question.
const LONGEST: u64 = protocol::LONGEST * 64;

/// Whether somebody still waits for what the process says.
pub(super) struct Waits(Box<dyn Fn() -> bool + Send>);

impl Waits {
    /// As long as `waits` says so.
    pub(super) fn as_long_as(waits: impl Fn() -> bool + Send + 'static) -> Waits {
        Waits(Box::new(waits))
    }
}

impl fmt::Debug for Waits {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Waits({})", (self.0)())
    }
}

/// A line to another process.
#[derive(Debug)]
pub(super) struct Stream {
    from: BufReader<UnixStream>,
    to: UnixStream,
    /// How long it may be silent.
    patience: Duration,
    waits: Waits,
}

impl Stream {
    /// # Errors
    /// The stream is none that can be written to and read from.
    pub(super) fn new(stream: UnixStream, patience: Duration, waits: Waits) -> io::Result<Stream> {
        stream.set_write_timeout(Some(WRITING))?;
        let to = stream.try_clone()?;
        Ok(Stream { from: BufReader::new(stream), to, patience, waits })
    }

    /// What is answered to `ask`.
    ///
    /// # Errors
    /// Nothing is, in time, or nothing that is an answer.
    pub(super) fn ask(&mut self, tried: &str, ask: &Ask) -> Result<Answer, Lost> {
        // It may hold keys.
        let question = Zeroizing::new(protocol::line(ask));
        self.to.write_all(question.as_bytes()).map_err(|error| Lost::of(tried, &error))?;
        let answer = self.hear(tried)?;
        protocol::read("an answer", &answer)
            .map_err(|error| Lost { tried: tried.to_owned(), why: error.to_string() })
    }

    /// The next line.
    ///
    /// # Errors
    /// None comes in time, or nobody waits for it any more.
    pub(super) fn hear(&mut self, tried: &str) -> Result<String, Lost> {
        self.line().map_err(|error| Lost::of(tried, &error))
    }

    fn line(&mut self) -> io::Result<String> {
        let mut said = Vec::new();
        while !said.ends_with(b"\n") {
            if self.from.buffer().is_empty() {
                self.said_within()?;
            }
            let more = self.from.fill_buf()?;
            let ends = more.iter().position(|&byte| byte == b'\n');
            let taken = ends.map_or(more.len(), |at| at + 1);
            let ended = more.is_empty() || said.len() as u64 > LONGEST;
            said.extend_from_slice(&more[..taken]);
            self.from.consume(taken);
            if ended {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
        }
        String::from_utf8(said).map_err(|_| io::Error::other("it does not speak UTF-8"))
    }

    /// Waits until something was said: as long as it may be silent, but no longer than for a farewell once nobody waits.
    fn said_within(&self) -> io::Result<()> {
        let looks = |within: Duration| within.as_millis() / LOOK.as_millis();
        let look = PollTimeout::try_from(LOOK).unwrap_or(PollTimeout::ZERO);
        let mut unwanted = 0;
        for _ in 0..looks(self.patience) {
            let mut line = [PollFd::new(self.from.get_ref().as_fd(), PollFlags::POLLIN)];
            match poll(&mut line, look) {
                Ok(0) | Err(Errno::EINTR) if (self.waits.0)() => {}
                Ok(0) | Err(Errno::EINTR) => {
                    unwanted += 1;
                    if unwanted >= looks(FAREWELL) {
                        return Err(io::Error::other("nobody waits for it any more"));
                    }
                }
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    /// Nobody speaks on it any more.
    pub(super) fn cut(&mut self) {
        let _gone = self.to.shutdown(Shutdown::Both);
    }

    /// Asks the process to end; whether it did. One that hangs is not waited for.
    pub(super) fn farewell(&mut self) -> bool {
        let _set = self.from.get_ref().set_read_timeout(Some(FAREWELL));
        // The answer comes before the end, and the end of the line with it.
        let _gone = self.to.write_all(protocol::line(&Ask::Quit).as_bytes());
        let mut rest = Vec::new();
        self.from.read_to_end(&mut rest).is_ok()
    }
}
