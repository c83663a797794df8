//! The emulated device served by another process: what [`crate::serve`] offers, from the other end.
//!
//! Every question has its answer within a bounded time, or the device is [`Lost`]; it stays lost, so that a late answer is
//! never taken for that to a later question.

mod stream;

use crate::control::{
    Ability, Capabilities, Control, ControlError, Health, Lost, Order, PortTally, Readings, Refused,
};
use crate::protocol::{self, Answer, Ask, Happened, Hello, PROTOCOL, PortPassed, VERSION};
use crate::serve::Place;
use core::fmt;
use core::time::Duration;
use rig_capture::DutEvent;
use rig_generator::port::Mono;
use rig_lab::{Declared, Setting};
use rig_testcases::DeviceVerb;
use rig_units::{Dur, Time};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use stream::{Stream, Waits};

/// How long an answer may take. Far more than any does, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a process may take until its device is served: its ports wait for their links. One that was started here may take as
/// long for each answer: whether it has ended is seen at once, and one that lives is only kept waiting by a busy machine.
const START: Duration = Duration::from_secs(20);
/// How much of what a process said before it failed is passed on.
const LAST_WORDS: u64 = 4_096;

/// A device that another process serves.
#[derive(Debug)]
pub struct EmulatedWire {
    configured: Declared,
    /// Zero of the session's clock.
    zero: Mono,
    line: Line,
    lost: Option<Lost>,
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

/// Answers for a device that is served in this process.
pub trait Answers: fmt::Debug + Send {
    /// The answer, or why there is none and never will be.
    ///
    /// # Errors
    /// The device is no more.
    fn answer(&mut self, ask: &Ask) -> Result<Answer, String>;
}

impl EmulatedWire {
    /// What it can do: everything. It tells instants to the nanosecond, on the clock of the rig's own ports.
    pub const CAPABILITIES: Capabilities =
        Capabilities { offered: &Ability::ALL, verbs: &DeviceVerb::ALL, clock_bound: Dur::ns(1) };

    /// The device that is served at `place`.
    ///
    /// # Errors
    /// Nobody is there, or nobody who speaks this language.
    pub fn connect(place: &Place) -> Result<EmulatedWire, Lost> {
        let tried = format!("connect to {place}");
        let stream = place.call().map_err(|error| Lost::of(&tried, &error))?;
        let line = Stream::new(stream, PATIENCE, Waits::as_long_as(|| true));
        EmulatedWire::over(line.map_err(|error| Lost::of(&tried, &error))?, &tried)
    }

    /// Starts `command`, which is to serve a device on its standard input and output (`--control -`). The process ends
    /// with this value, and with this process.
    ///
    /// Nobody waits for it any more once `waits` says no: if it is silent then, at its start or at any question later, it is
    /// ended.
    ///
    /// # Errors
    /// It does not start, or does not serve a device; with its last words, where its standard error is piped.
    pub fn launch(
        mut command: Command,
        waits: impl Fn() -> bool + Send + 'static,
    ) -> Result<EmulatedWire, Lost> {
        let tried = format!("start {}", command.get_program().to_string_lossy());
        let failed = |error: &io::Error| Lost::of(&tried, error);
        let (own, theirs) = UnixStream::pair().map_err(|error| failed(&error))?;
        let input = theirs.try_clone().map_err(|error| failed(&error))?;
        command.stdin(Stdio::from(OwnedFd::from(input))).stdout(Stdio::from(OwnedFd::from(theirs)));
        let started = command.spawn();
        // It holds the process's end of the line: with it here nobody would notice that the process has gone.
        drop(command);
        let mut child = started.map_err(|error| failed(&error))?;
        let line = Stream::new(own, START, Waits::as_long_as(waits));
        let line = line.map_err(|error| failed(&error));
        match line.and_then(|line| EmulatedWire::over(line, &tried)) {
            Ok(mut wire) => {
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

    fn over(mut line: Stream, tried: &str) -> Result<EmulatedWire, Lost> {
        let hello = line.hear(tried)?;
        let said = |why: String| Lost { tried: tried.to_owned(), why };
        if let Ok(Answer::Refused { why }) = protocol::read("an answer", &hello) {
            return Err(said(why));
        }
        let hello: Hello =
            protocol::read("a hello", &hello).map_err(|error| said(error.to_string()))?;
        if (hello.protocol.as_str(), hello.version) != (PROTOCOL, VERSION) {
            let why = format!(
                "it speaks {} {}: want {PROTOCOL} {VERSION}; are both of one build?",
                hello.protocol, hello.version
            );
            return Err(Lost { tried: tried.to_owned(), why });
        }
        Ok(EmulatedWire::by(hello, Line::Process(line)))
    }

    /// A device that is served in this process.
    pub fn here(hello: Hello, answers: Box<dyn Answers>) -> EmulatedWire {
        EmulatedWire::by(hello, Line::Here(answers))
    }

    fn by(hello: Hello, line: Line) -> EmulatedWire {
        let configured = hello.declared;
        EmulatedWire { configured, zero: Mono(0), line, lost: None, child: None }
    }

    /// The same, whose clock began at `zero`, whoever has booted it.
    #[must_use]
    pub(crate) fn counting_from(mut self, zero: Mono) -> EmulatedWire {
        self.zero = zero;
        self
    }

    /// Why nothing that was said since is to be believed, if the device is lost.
    pub const fn lost(&self) -> Option<&Lost> {
        self.lost.as_ref()
    }

    fn ask(&mut self, tried: &str, ask: &Ask) -> Result<Answer, Lost> {
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        let tried = format!("ask for {tried}");
        let answer = match &mut self.line {
            Line::Process(line) => line.ask(&tried, ask),
            Line::Here(answers) => {
                answers.answer(ask).map_err(|why| Lost { tried: tried.clone(), why })
            }
        };
        self.lost = answer.as_ref().err().cloned();
        answer
    }

    fn undone(&mut self, tried: &str, answer: Answer) -> ControlError {
        match answer {
            Answer::Refused { why } | Answer::Bad { why } => Refused { why }.into(),
            other => self.odd(tried, &other),
        }
    }

    /// It answers another question than it was asked.
    fn odd(&mut self, tried: &str, answer: &Answer) -> ControlError {
        let why = format!("it answered {}", protocol::line(answer).trim_end());
        let lost = Lost { tried: format!("ask for {tried}"), why };
        self.lost = Some(lost.clone());
        lost.into()
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
        let Line::Process(line) = &mut self.line else { return };
        let Some(mut child) = self.child.take() else {
            // A process that is just being started by another thread may have the line too, and must not keep it.
            line.cut();
            return;
        };
        if !line.farewell() {
            let _ended = child.kill();
        }
        let _reaped = child.wait();
    }
}

impl Control for EmulatedWire {
    fn name(&self) -> &'static str {
        "served"
    }

    fn capabilities(&self) -> Capabilities {
        EmulatedWire::CAPABILITIES
    }

    fn snapshot(&mut self) -> Result<Declared, ControlError> {
        Ok(self.configured.clone())
    }

    fn boot(&mut self, settings: &[Setting], seed: u64) -> Result<Mono, ControlError> {
        let ask = Ask::Boot { seed, settings: settings.to_vec() };
        match self.ask("boot", &ask)? {
            Answer::Booted { epoch_ns, declared } => {
                self.configured = *declared;
                self.zero = Mono(epoch_ns);
                Ok(self.zero)
            }
            other => Err(self.undone("boot", other)),
        }
    }

    fn set(&mut self, settings: &[Setting]) -> Result<(), ControlError> {
        let ask = Ask::Configure { settings: settings.to_vec() };
        match self.ask("configure", &ask)? {
            Answer::Configured { declared } => self.configured = *declared,
            other => return Err(self.undone("configure", other)),
        }
        self.read_back(settings)
    }

    fn counters(&mut self, names: &[String]) -> Result<Readings, ControlError> {
        match self.ask("counters", &Ask::Counters { names: names.to_vec() })? {
            Answer::Counters { values } => Ok(Readings { values, ..Readings::default() }),
            other => Err(self.odd("counters", &other)),
        }
    }

    fn events(&mut self) -> Result<Vec<DutEvent>, ControlError> {
        let events = match self.ask("events", &Ask::Events)? {
            Answer::Events { events } => events,
            other => return Err(self.odd("events", &other)),
        };
        let off = EmulatedWire::CAPABILITIES.clock_bound;
        let event = |Happened { at_ns, port, class, what }| {
            let at = Time::ZERO + Mono(at_ns).since(self.zero).unwrap_or_default();
            DutEvent { at, off, port, class, kind: what }
        };
        Ok(events.into_iter().map(event).collect())
    }

    fn health(&mut self) -> Result<Health, ControlError> {
        match self.ask("lateness", &Ask::Lateness)? {
            Answer::Health(health) => Ok(health),
            other => Err(self.odd("lateness", &other)),
        }
    }

    fn passed(&mut self) -> Result<Vec<PortTally>, ControlError> {
        let ports = match self.ask("passed", &Ask::Passed)? {
            Answer::Passed { ports } => ports,
            other => return Err(self.odd("passed", &other)),
        };
        let own = |all: Vec<(u64, u64)>| {
            let since = |ns| Mono(ns).since(self.zero).unwrap_or_default();
            all.into_iter().map(|(ns, count)| (Time::ZERO + since(ns), count)).collect()
        };
        let passed =
            |port: PortPassed| PortTally { came: own(port.came_ns), left: own(port.left_ns) };
        Ok(ports.into_iter().map(passed).collect())
    }

    fn order(&mut self, order: Order) -> Result<(), ControlError> {
        let tried = order.word();
        match self.ask(tried, &Ask::Do(order))? {
            Answer::Done => Ok(()),
            other => Err(self.undone(tried, other)),
        }
    }
}

#[cfg(test)]
mod tests;
