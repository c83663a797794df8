//! The emulated device served by another process: what [`crate::serve`] offers, from the other end.
//!
//! Every question has its answer within a bounded time, or the device is [`Lost`]; it stays lost, so that a late answer is
//! never taken for that to a later question. [`Dut`] has no room for that error: whoever uses this device through it looks
//! at [`EmulatedWire::lost`] before it believes a refusal or an empty answer.

mod start;

use crate::control::{
    self, Answer, Ask, FlowOrder, Happened, Health, Hello, Keyring, PROTOCOL, Set, VERSION,
};
use crate::serve::Place;
use crate::{Dut, Refused};
use core::fmt;
use core::time::Duration;
use rig_capture::DutEvent;
use rig_generator::port::Mono;
use rig_lab::{Declared, Keys, Setting, WatermarkCopy};
use rig_units::Time;
use start::said_within;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use zeroize::Zeroizing;

/// How long an answer may take. Far more than any does, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a process may take until its device is served: its ports wait for their links. One that was started here may take as
/// long for each answer: whether it has ended is seen at once, and one that lives is only kept waiting by a busy machine.
const START: Duration = Duration::from_secs(20);
/// How long a process may take to end once it is asked to.
const FAREWELL: Duration = Duration::from_millis(500);
/// How much of what a process said before it failed is passed on.
const LAST_WORDS: u64 = 4_096;

/// A device that another process serves.
#[derive(Debug)]
pub struct EmulatedWire {
    hello: Hello,
    configured: Declared,
    /// Zero of the session's clock.
    zero: Mono,
    line: RefCell<Line>,
    lost: RefCell<Option<Lost>>,
    /// The process, if it was started here.
    child: Option<Child>,
}

/// The way to it.
#[derive(Debug)]
enum Line {
    /// Another process.
    Process(Stream),
    /// Somebody in this one.
    Here(Box<dyn Answers>),
}

/// A line to another process.
#[derive(Debug)]
struct Stream {
    from: BufReader<UnixStream>,
    to: UnixStream,
}

/// Answers for a device that is served in this process.
pub trait Answers: fmt::Debug + Send {
    /// The answer, or why there is none and never will be.
    ///
    /// # Errors
    /// The device is no more.
    fn answer(&mut self, ask: &Ask) -> Result<Answer, String>;
}

/// The device cannot be talked to any more: its process has ended, hangs, or speaks another language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// What was tried.
    pub tried: String,
    /// What happened instead.
    pub why: String,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the served device is lost: {}: {}", self.tried, self.why)
    }
}

impl core::error::Error for Lost {}

/// Why the device did not do as it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undone {
    /// It refused: an answer like any other.
    Refused(Refused),
    /// There is no answer.
    Lost(Lost),
}

impl fmt::Display for Undone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Undone::Refused(refused) => refused.fmt(f),
            Undone::Lost(lost) => lost.fmt(f),
        }
    }
}

impl core::error::Error for Undone {}

impl Undone {
    /// A refusal either way, for whoever has no room for more.
    fn into_refused(self) -> Refused {
        match self {
            Undone::Refused(refused) => refused,
            Undone::Lost(lost) => Refused { why: lost.to_string() },
        }
    }
}

impl From<Lost> for Undone {
    fn from(lost: Lost) -> Undone {
        Undone::Lost(lost)
    }
}

impl EmulatedWire {
    /// The device that is served at `place`.
    ///
    /// # Errors
    /// Nobody is there, or nobody who speaks this language.
    pub fn connect(place: &Place) -> Result<EmulatedWire, Lost> {
        let tried = format!("connect to {place}");
        let stream = place.call().map_err(|error| Lost::of(&tried, &error))?;
        EmulatedWire::over(stream, &tried, PATIENCE)
    }

    /// Starts `command`, which is to serve a device on its standard input and output (`--control -`). The process ends
    /// with this value, and with this process.
    ///
    /// Nobody waits for it any more once `waits` says so: it is ended then.
    ///
    /// # Errors
    /// It does not start, or does not serve a device; with its last words, where its standard error is piped.
    pub fn launch(mut command: Command, waits: &dyn Fn() -> bool) -> Result<EmulatedWire, Lost> {
        let tried = format!("start {}", command.get_program().to_string_lossy());
        let failed = |error: &io::Error| Lost::of(&tried, error);
        let (own, theirs) = UnixStream::pair().map_err(|error| failed(&error))?;
        let input = theirs.try_clone().map_err(|error| failed(&error))?;
        command.stdin(Stdio::from(OwnedFd::from(input))).stdout(Stdio::from(OwnedFd::from(theirs)));
        let started = command.spawn();
        // It holds the process's end of the line: with it here nobody would notice that the process has gone.
        drop(command);
        let mut child = started.map_err(|error| failed(&error))?;
        let said = said_within(&own, START, waits).map_err(|error| failed(&error));
        match said.and_then(|()| EmulatedWire::over(own, &tried, START)) {
            Ok(mut wire) => {
                if let Line::Process(line) = wire.line.get_mut() {
                    let line = line.from.get_ref();
                    line.set_read_timeout(Some(START)).map_err(|error| failed(&error))?;
                }
                wire.child = Some(child);
                Ok(wire)
            }
            Err(lost) => {
                let _ended = child.kill();
                let status = child.wait().map(|status| status.to_string()).unwrap_or_default();
                let mut words = String::new();
                if let Some(stderr) = child.stderr.take() {
                    let _cut = stderr.take(LAST_WORDS).read_to_string(&mut words);
                }
                let why = format!("{} ({status}) {}", lost.why, words.trim());
                Err(Lost { why: why.trim_end().to_owned(), ..lost })
            }
        }
    }

    fn over(stream: UnixStream, tried: &str, patience: Duration) -> Result<EmulatedWire, Lost> {
        let failed = |error: &io::Error| Lost::of(tried, error);
        stream.set_write_timeout(Some(PATIENCE)).map_err(|error| failed(&error))?;
        stream.set_read_timeout(Some(patience)).map_err(|error| failed(&error))?;
        let to = stream.try_clone().map_err(|error| failed(&error))?;
        let mut line = Stream { from: BufReader::new(stream), to };
        let hello = line.hear(tried)?;
        let said = |why: String| Lost { tried: tried.to_owned(), why };
        if let Ok(Answer::Refused { why }) = control::read("an answer", &hello) {
            return Err(said(why));
        }
        let hello: Hello =
            control::read("a hello", &hello).map_err(|error| said(error.to_string()))?;
        if (hello.protocol.as_str(), hello.version) != (PROTOCOL, VERSION) {
            let why = format!(
                "it speaks {} {}: want {PROTOCOL} {VERSION}; are both of one build?",
                hello.protocol, hello.version
            );
            return Err(Lost { tried: tried.to_owned(), why });
        }
        line.from.get_ref().set_read_timeout(Some(PATIENCE)).map_err(|error| failed(&error))?;
        Ok(EmulatedWire::by(hello, Line::Process(line)))
    }

    /// A device that is served in this process.
    pub fn here(hello: Hello, answers: Box<dyn Answers>) -> EmulatedWire {
        EmulatedWire::by(hello, Line::Here(answers))
    }

    fn by(hello: Hello, line: Line) -> EmulatedWire {
        let (configured, lost) = (hello.declared.clone(), RefCell::default());
        EmulatedWire { hello, configured, zero: Mono(0), line: line.into(), lost, child: None }
    }

    /// Who it is, and on which interfaces.
    pub const fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Boots it afresh with these settings; when, on the ports' clock. The session's clock starts there.
    ///
    /// # Errors
    /// It refuses a setting, or is lost.
    pub fn boot(&mut self, settings: &[Setting], seed: u64) -> Result<Mono, Undone> {
        let ask = Ask::Boot { seed, settings: settings.iter().map(Set::from).collect() };
        match self.ask("boot", &ask)? {
            Answer::Booted { epoch_ns, declared } => {
                self.configured = *declared;
                self.zero = Mono(epoch_ns);
                Ok(self.zero)
            }
            other => Err(self.undone("boot", other)),
        }
    }

    /// Counts the session's time from `zero` on instead of from the boot.
    pub fn set_zero(&mut self, zero: Mono) {
        self.zero = zero;
    }

    /// Changes settings, all or none, and reads them back.
    ///
    /// # Errors
    /// It refuses them, states another value afterwards, or is lost.
    pub fn set(&mut self, settings: &[Setting]) -> Result<(), Undone> {
        let ask = Ask::Configure { settings: settings.iter().map(Set::from).collect() };
        match self.ask("configure", &ask)? {
            Answer::Configured { declared } => self.configured = *declared,
            other => return Err(self.undone("configure", other)),
        }
        match settings.iter().find(|setting| self.configured.satisfies(setting) != Ok(true)) {
            None => Ok(()),
            Some(setting) => {
                let why = format!("{} reads back otherwise than it was set", setting.path);
                Err(Undone::Refused(Refused { why }))
            }
        }
    }

    /// Gives it the keys that it shares with the rig. They travel over the line alone.
    ///
    /// # Errors
    /// They are too short for its cipher suite, or the device is lost.
    pub fn key(&mut self, keys: &Keys) -> Result<(), Undone> {
        self.done("key", &Ask::Key { keys: Keyring(keys.clone()) })
    }

    /// Says which of the device's ports the rig's are cabled to: rig port `i` to `behind[i]`.
    ///
    /// # Errors
    /// There is no such port, or the device is lost.
    pub fn cable(&mut self, behind: &[u16]) -> Result<(), Undone> {
        self.done("cable", &Ask::Cable { behind: behind.to_vec() })
    }

    /// Cuts or mends the link of a port of the device, as the device sees it.
    ///
    /// # Errors
    /// There is no such port, or the device is lost.
    pub fn set_link(&mut self, port: u16, up: bool) -> Result<(), Undone> {
        self.done("link", &Ask::Link { port, up })
    }

    /// Lets every connection of a NIC begin anew.
    ///
    /// # Errors
    /// The device is lost.
    pub fn disconnect(&mut self) -> Result<(), Undone> {
        self.done("disconnect", &Ask::Disconnect)
    }

    /// Lets the NIC at a port send by itself.
    ///
    /// # Errors
    /// It is no NIC, has no such port, or is lost.
    pub fn start_flow(&mut self, port: u16, flow: FlowOrder) -> Result<(), Undone> {
        self.done("start-flow", &Ask::StartFlow { port, flow })
    }

    /// Lets it send nothing new on a connection.
    ///
    /// # Errors
    /// It is no NIC, has no such port, or is lost.
    pub fn stop_flow(&mut self, port: u16, connection: u16) -> Result<(), Undone> {
        self.done("stop-flow", &Ask::StopFlow { port, connection })
    }

    /// How it has kept up since this was last asked.
    ///
    /// # Errors
    /// It is lost.
    pub fn lateness(&mut self) -> Result<Health, Lost> {
        match self.ask("lateness", &Ask::Lateness)? {
            Answer::Health(health) => Ok(health),
            other => Err(self.odd("lateness", &other)),
        }
    }

    /// Counters now: those of these names that it knows; all, where none is named.
    ///
    /// # Errors
    /// It is lost.
    pub fn values(&self, names: &[String]) -> Result<BTreeMap<String, u64>, Lost> {
        match self.ask("counters", &Ask::Counters { names: names.to_vec() })? {
            Answer::Counters { values } => Ok(values),
            other => Err(self.odd("counters", &other)),
        }
    }

    /// Makes every watermark what is in use now.
    ///
    /// # Errors
    /// It is lost.
    pub fn forget_watermarks(&self) -> Result<(), Undone> {
        self.done("clear-watermarks", &Ask::ClearWatermarks)
    }

    /// Clears one copy of every watermark.
    ///
    /// # Errors
    /// It is lost.
    pub fn forget_copy(&self, copy: WatermarkCopy) -> Result<(), Undone> {
        self.done("clear-copy", &Ask::ClearCopy { copy })
    }

    /// What its watchdogs did since this was last asked, on the session's clock.
    ///
    /// # Errors
    /// It is lost.
    pub fn happened(&self) -> Result<Vec<DutEvent>, Lost> {
        let events = match self.ask("events", &Ask::Events)? {
            Answer::Events { events } => events,
            other => return Err(self.odd("events", &other)),
        };
        let event = |Happened { at_ns, port, class, what }| {
            let at = Time::ZERO + Mono(at_ns).since(self.zero).unwrap_or_default();
            DutEvent { at, port, class, kind: what.into() }
        };
        Ok(events.into_iter().map(event).collect())
    }

    /// Why nothing that was said since is to be believed, if the device is lost.
    pub fn lost(&self) -> Option<Lost> {
        self.lost.borrow().clone()
    }

    fn ask(&self, tried: &str, ask: &Ask) -> Result<Answer, Lost> {
        if let Some(lost) = self.lost() {
            return Err(lost);
        }
        let tried = format!("ask for {tried}");
        let answer = match &mut *self.line.borrow_mut() {
            Line::Process(line) => line.ask(&tried, ask),
            Line::Here(answers) => {
                answers.answer(ask).map_err(|why| Lost { tried: tried.clone(), why })
            }
        };
        self.lost.replace(answer.as_ref().err().cloned());
        answer
    }

    fn done(&self, tried: &str, ask: &Ask) -> Result<(), Undone> {
        match self.ask(tried, ask)? {
            Answer::Done => Ok(()),
            other => Err(self.undone(tried, other)),
        }
    }

    fn undone(&self, tried: &str, answer: Answer) -> Undone {
        match answer {
            Answer::Refused { why } | Answer::Bad { why } => Undone::Refused(Refused { why }),
            other => Undone::Lost(self.odd(tried, &other)),
        }
    }

    /// It answers another question than it was asked.
    fn odd(&self, tried: &str, answer: &Answer) -> Lost {
        let why = format!("it answered {}", control::line(answer).trim_end());
        let lost = Lost { tried: format!("ask for {tried}"), why };
        self.lost.replace(Some(lost.clone()));
        lost
    }
}

impl Stream {
    fn ask(&mut self, tried: &str, ask: &Ask) -> Result<Answer, Lost> {
        let failed = |error: io::Error| Lost::of(tried, &error);
        // It may hold keys.
        let question = Zeroizing::new(control::line(ask));
        self.to.write_all(question.as_bytes()).map_err(failed)?;
        let answer = self.hear(tried)?;
        control::read("an answer", &answer)
            .map_err(|error| Lost { tried: tried.to_owned(), why: error.to_string() })
    }

    fn hear(&mut self, tried: &str) -> Result<String, Lost> {
        let mut text = String::new();
        // Counters of a large device are longer than a question.
        let mut whole = self.from.by_ref().take(control::LONGEST * 64);
        match whole.read_line(&mut text) {
            Ok(_) if text.ends_with('\n') => Ok(text),
            Ok(_) => Err(Lost { tried: tried.to_owned(), why: "its process has ended".to_owned() }),
            Err(error) => Err(Lost::of(tried, &error)),
        }
    }
}

impl Lost {
    fn of(tried: &str, error: &io::Error) -> Lost {
        let why = match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "no answer in time".to_owned(),
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
                "its process has ended".to_owned()
            }
            _ => error.to_string(),
        };
        Lost { tried: tried.to_owned(), why }
    }
}

impl Drop for EmulatedWire {
    fn drop(&mut self) {
        let Line::Process(line) = self.line.get_mut() else { return };
        let Some(mut child) = self.child.take() else {
            // A process that is just being started by another thread may have the line too, and must not keep it.
            let _gone = line.to.shutdown(Shutdown::Both);
            return;
        };
        // One that hangs is not waited for.
        let _set = line.from.get_ref().set_read_timeout(Some(FAREWELL));
        // The answer comes before the end, and the end of the line with it.
        let _gone = line.to.write_all(control::line(&Ask::Quit).as_bytes());
        let mut rest = Vec::new();
        if line.from.read_to_end(&mut rest).is_err() {
            let _ended = child.kill();
        }
        let _reaped = child.wait();
    }
}

impl Dut for EmulatedWire {
    fn configure(&mut self, settings: &[Setting]) -> Result<(), Refused> {
        self.set(settings).map_err(Undone::into_refused)
    }

    fn configured(&self) -> &Declared {
        &self.configured
    }

    fn counters(&self) -> BTreeMap<String, u64> {
        self.values(&[]).unwrap_or_default()
    }

    fn clear_watermarks(&mut self) -> Result<(), Refused> {
        self.forget_watermarks().map_err(Undone::into_refused)
    }

    fn clear_copy(&mut self, copy: WatermarkCopy) -> Result<(), Refused> {
        self.forget_copy(copy).map_err(Undone::into_refused)
    }

    fn events(&mut self) -> Option<Vec<DutEvent>> {
        self.happened().ok()
    }
}

#[cfg(test)]
mod tests;
