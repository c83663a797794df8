//! What a switch publishes of its watchdogs (`PFC_WD_ACTION`), on a line of its own, and when that was on the rig's clock.
//!
//! Nothing of it rests on a clock that nobody has looked at. On the line of the events the rig asks `PING` again and again: what comes
//! behind an answer was published after that was asked, and before it came. The scripts of newer images stamp their polls
//! (`PFCWD_POLL_TIMESTAMP_last`) by the clock that redis tells, and how far that is off is measured beside each event, by the shortest
//! of several questions for `TIME`.

use super::super::wire::{Reply, Wire, end};
use crate::control::Lost;
use core::time::Duration;
use redis::Value;
use rig_generator::port::Mono;
use rig_lab::RedisAt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Where it is published.
const CHANNEL: &str = "PFC_WD_ACTION";
/// How often the line is asked whether it is there.
const ASKS: Duration = Duration::from_millis(5);
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often the clock is asked beside an event.
const TIMES: usize = 3;
/// The most that is kept until somebody asks for it.
const MOST: usize = 100_000;

/// One message, and when it was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    /// The queue.
    pub(super) oid: String,
    /// `storm`, `restore`.
    pub(super) word: String,
    /// It was published at this instant of the rig's clock or later, and at that one or earlier.
    pub(super) within: (Mono, Mono),
    /// Between which two instants of the rig's clock the last poll was stamped, where the image says.
    pub(super) polled: Option<(Mono, Mono)>,
}

/// What was heard and not taken, and why nothing more will be.
#[derive(Debug, Default)]
struct Book {
    messages: Vec<Message>,
    lost: Option<Lost>,
}

/// Somebody who listens, until this goes.
#[derive(Debug)]
pub(super) struct Listener {
    book: Arc<Mutex<Book>>,
    ends: Arc<AtomicBool>,
    runs: Option<JoinHandle<()>>,
}

impl Listener {
    /// Subscribes: what is published from now on is heard.
    ///
    /// # Errors
    /// Nobody answers there.
    pub(super) fn start(at: &RedisAt) -> Result<Listener, Lost> {
        let tried = format!("subscribe to {CHANNEL} of {at}");
        let lost = |why: &io::Error| Lost { tried: tried.clone(), why: why.to_string() };
        // Nothing that comes was published before this.
        let since = Mono::now();
        let opened = Wire::open(at, PATIENCE).and_then(|mut line| {
            say(&mut line, &["SUBSCRIBE", CHANNEL])?;
            words(&answer(&mut line)?)?;
            let mut beside = Wire::open(at, PATIENCE)?;
            say(&mut beside, &["SELECT", "2"])?;
            words(&answer(&mut beside)?)?;
            Ok((line, beside))
        });
        let (line, beside) = opened.map_err(|error| lost(&error))?;
        let (book, ends) = (Arc::new(Mutex::default()), Arc::new(AtomicBool::new(false)));
        let (own, over) = (Arc::clone(&book), Arc::clone(&ends));
        let named = tried.clone();
        let run = move || {
            let heard = listen((line, since), beside, &own, &over);
            if let Err(error) = heard {
                let lost = Lost { tried: named, why: error.to_string() };
                locked(&own).lost = Some(lost);
            }
        };
        let runs = Builder::new().name("events".into()).spawn(run);
        let runs = Some(runs.map_err(|error| lost(&error))?);
        Ok(Listener { book, ends, runs })
    }

    /// What was heard since this was last asked.
    ///
    /// # Errors
    /// The line has broken: what was published since nobody knows.
    pub(super) fn take(&self) -> Result<Vec<Message>, Lost> {
        let mut book = locked(&self.book);
        match &book.lost {
            Some(lost) => Err(lost.clone()),
            None => Ok(core::mem::take(&mut book.messages)),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        let _ended = self.runs.take().map(JoinHandle::join);
    }
}

fn locked(book: &Mutex<Book>) -> std::sync::MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Listens until it is over.
fn listen(
    (mut line, mut since): (Wire, Mono),
    mut beside: Wire,
    book: &Mutex<Book>,
    over: &AtomicBool,
) -> io::Result<()> {
    let mut asked: Option<Mono> = None;
    let mut next = Mono(0);
    while !over.load(Ordering::SeqCst) {
        let now = Mono::now();
        if asked.is_none() && next <= now {
            say(&mut line, &["PING"])?;
            asked = Some(now);
            next = end(ASKS);
        }
        let late = asked.is_some_and(|asked| asked.0.saturating_add(nanos(PATIENCE)) < now.0);
        if late {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "no answer in time"));
        }
        let Some(reply) = line.hear(end(ASKS))? else { continue };
        let came = Mono::now();
        match words(&reply)?.as_slice() {
            [kind, ..] if kind == "pong" => since = asked.take().unwrap_or(since),
            [kind, _, text] if kind == "message" => {
                // Some scripts say more behind these two.
                let told: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
                let [oid, word] = [0, 1].map(|at| told[at].as_str().unwrap_or_default().to_owned());
                let polled = polled(&mut beside)?;
                let mut book = locked(book);
                if book.messages.len() == MOST {
                    return Err(io::Error::other("more was published than anybody asks for"));
                }
                book.messages.push(Message { oid, word, within: (since, came), polled });
            }
            _ => {}
        }
    }
    Ok(())
}

/// When the last poll was, by the stamp of the image; `None` where it has none.
fn polled(beside: &mut Wire) -> io::Result<Option<(Mono, Mono)>> {
    say(beside, &["HGET", "TIMESTAMP", "PFCWD_POLL_TIMESTAMP_last"])?;
    let Some(stamp) = words(&answer(beside)?)?.into_iter().next() else { return Ok(None) };
    let mut best: Option<(u64, Time)> = None;
    for _ in 0..TIMES {
        let before = Mono::now();
        say(beside, &["TIME"])?;
        let told = words(&answer(beside)?)?;
        let after = Mono::now();
        let [seconds, micros] = told.as_slice() else { return Ok(None) };
        let (Ok(seconds), Ok(micros)) = (seconds.parse::<u64>(), micros.parse::<u64>()) else {
            return Ok(None);
        };
        let took = after.0 - before.0;
        let time = Time { before, after, micros: seconds.saturating_mul(1_000_000) + micros };
        if best.is_none_or(|(shortest, _)| took < shortest) {
            best = Some((took, time));
        }
    }
    Ok(best.and_then(|(_, time)| time.on_the_rigs_clock(&stamp)))
}

/// What redis told of its clock, and between which instants of the rig's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time {
    pub(super) before: Mono,
    pub(super) after: Mono,
    /// Microseconds since 1970, by the switch.
    pub(super) micros: u64,
}

impl Time {
    /// Between which two instants of the rig's clock the switch's showed `stamp`; `None` where that is no number of microseconds.
    pub(super) fn on_the_rigs_clock(&self, stamp: &str) -> Option<(Mono, Mono)> {
        let (at, blur) = match stamp.parse::<u64>() {
            Ok(at) => (at, 1),
            // Older scripts let Lua print it, which keeps 14 digits of 16: `1.7872668687188e+15`.
            Err(_) => {
                let at = stamp.parse::<f64>().ok().filter(|at| (1e15..1e16).contains(at))?;
                (format!("{at:.0}").parse().ok()?, 100)
            }
        };
        // Microseconds before the clock was told, with what both of them leave out.
        let ago = i128::from(self.micros) - i128::from(at);
        let (least, most) = ((ago - blur) * 1_000, (ago + blur) * 1_000);
        let rig = |from: Mono, ago: i128| u64::try_from(i128::from(from.0) - ago).ok().map(Mono);
        Some((rig(self.before, most)?, rig(self.after, least)?))
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn say(line: &mut Wire, words: &[&str]) -> io::Result<()> {
    let mut command = redis::Cmd::new();
    words.iter().for_each(|word| {
        command.arg(word);
    });
    line.send(&command.get_packed_command(), PATIENCE)
}

fn answer(line: &mut Wire) -> io::Result<Reply> {
    let answer = line.hear(end(PATIENCE))?;
    answer.ok_or_else(|| io::Error::new(io::ErrorKind::TimedOut, "no answer in time"))
}

/// The texts of an answer; none of one that is nothing.
fn words(reply: &Reply) -> io::Result<Vec<String>> {
    let text = |value: &Value| match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::SimpleString(text) => text.clone(),
        Value::Int(number) => number.to_string(),
        _ => String::new(),
    };
    match reply {
        Ok(Value::Array(all)) => Ok(all.iter().map(text).collect()),
        Ok(Value::Nil) => Ok(Vec::new()),
        Ok(one) => Ok(vec![text(one)]),
        Err(code) => Err(io::Error::other(format!("it refuses ({})", code.escape_debug()))),
    }
}
