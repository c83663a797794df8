//! What a switch publishes of its watchdogs (`PFC_WD_ACTION`, `PFC_WD_DEBUG`), on a line of its own, and when that was on the rig's clock.
//!
//! Nothing of it rests on a clock that nobody has looked at. On the line of the events the rig asks `PING` again and again: what comes
//! behind an answer was published after that was asked, and before it came. The scripts of newer images stamp their polls
//! (`PFCWD_POLL_TIMESTAMP_last`) by the clock that redis tells, and how far that is off is measured beside each event, by the shortest
//! of several questions for `TIME`: by somebody else, so that the next event is not heard later for it.

use super::super::wire::{Reply, Wire, end};
use super::published::{self, Published};
use super::timestamps::{Asker, Stamp};
use crate::control::Lost;
use core::time::Duration;
use redis::Value;
use rig_generator::port::Mono;
use rig_lab::RedisAt;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

/// How often the line is asked whether it is there.
const ASKS: Duration = Duration::from_millis(5);
/// How long an answer may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// How often the switch's clock is asked where nothing happens, so that one that is set is found out.
const LOOKS: Duration = Duration::from_secs(1);
/// The most that is kept until somebody asks for it.
const MOST: usize = 100_000;
/// The most queues of which it is kept what a poll told of them last.
const QUEUES: usize = 10_000;

/// One message, and when it was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    /// The queue.
    pub(super) oid: String,
    /// `storm`, `restore`.
    pub(super) word: String,
    /// It was published at this instant of the rig's clock or later, and at that one or earlier.
    pub(super) within: (Mono, Mono),
    /// What is known of the last poll by then, where the image stamps its polls.
    pub(super) stamp: Stamp,
}

/// What was heard and not taken, and why nothing more will be.
#[derive(Debug, Default)]
struct Book {
    messages: Vec<Message>,
    /// What a poll told last of a queue, by its port's object and its number.
    polls: BTreeMap<(String, String), String>,
    /// All that was published before this has come.
    whole: Option<Mono>,
    lost: Option<Lost>,
}

impl Book {
    fn is_asked_for(&self) -> bool {
        self.messages.iter().any(|message| !message.stamp.is_known())
    }

    /// Keeps what a poll told of a queue. One that is known is renewed however many there are: its old text would be told as the last.
    fn keep(&mut self, queue: (String, String), text: String) {
        if self.polls.len() < QUEUES || self.polls.contains_key(&queue) {
            self.polls.insert(queue, text);
        }
    }
}

/// A book that several threads write in.
#[derive(Debug, Default)]
struct Shared {
    book: Mutex<Book>,
    /// Something was written into it.
    news: Condvar,
    ends: AtomicBool,
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, change: impl FnOnce(&mut Book)) {
        change(&mut self.locked());
        self.news.notify_all();
    }

    /// Waits `most` for news, unless `so` already.
    fn wait(&self, most: Duration, so: impl Fn(&Book) -> bool) -> MutexGuard<'_, Book> {
        let waits = |book: &mut Book| !so(book) && !self.is_over();
        let waited = self.news.wait_timeout_while(self.locked(), most, waits);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn is_over(&self) -> bool {
        self.ends.load(Ordering::SeqCst)
    }
}

/// Somebody who listens, until this goes.
#[derive(Debug)]
pub(super) struct Listener {
    shared: Arc<Shared>,
    runs: Vec<JoinHandle<()>>,
    tried: String,
}

impl Listener {
    /// Subscribes at `at`, to which the way begins at `near`: what is published from now on is heard.
    ///
    /// # Errors
    /// Nobody answers there.
    pub(super) fn start((at, near): (&RedisAt, &RedisAt)) -> Result<Listener, Lost> {
        let tried = format!("subscribe to {} of {at}", published::ACTION);
        let lost = |why: &io::Error| Lost { tried: tried.clone(), why: why.to_string() };
        // Nothing that comes was published before this.
        let since = Mono::now();
        let opened = Wire::open(near, PATIENCE).and_then(|mut line| {
            for channel in [published::ACTION, published::DEBUG] {
                say(&mut line, &["SUBSCRIBE", channel])?;
                words(&answer(&mut line, PATIENCE)?)?;
            }
            let mut beside = Wire::open(near, PATIENCE)?;
            say(&mut beside, &["SELECT", "2"])?;
            words(&answer(&mut beside, PATIENCE)?)?;
            Ok((line, Asker::over(beside)))
        });
        let (line, asker) = opened.map_err(|error| lost(&error))?;
        let shared = Arc::new(Shared::default());
        let mut listener = Listener { shared, runs: Vec::new(), tried: tried.clone() };
        let parts: [(&str, Run); 2] = [
            ("events", Box::new(move |shared| listen((line, since), shared))),
            ("stamps", Box::new(move |shared| stamp(asker, shared))),
        ];
        for (name, run) in parts {
            let (shared, tried) = (Arc::clone(&listener.shared), tried.clone());
            let run = move || {
                if let Err(error) = run(&shared) {
                    let lost = Lost { tried, why: error.to_string() };
                    shared.write(|book| book.lost = Some(lost));
                }
            };
            let runs = Builder::new().name(name.into()).spawn(run);
            listener.runs.push(runs.map_err(|error| lost(&error))?);
        }
        Ok(listener)
    }

    /// What was published since this was last asked, all of it.
    ///
    /// # Errors
    /// The line has broken: what was published since nobody knows.
    pub(super) fn take(&self) -> Result<Vec<Message>, Lost> {
        let now = Mono::now();
        let is_whole =
            |book: &Book| book.whole.is_some_and(|whole| whole >= now) && !book.is_asked_for();
        let mut book = self.shared.wait(PATIENCE, |book| book.lost.is_some() || is_whole(book));
        if let Some(lost) = &book.lost {
            return Err(lost.clone());
        }
        if !is_whole(&book) {
            let why = "no answer in time".to_owned();
            return Err(Lost { tried: self.tried.clone(), why });
        }
        Ok(core::mem::take(&mut book.messages))
    }
}

impl Listener {
    /// What a poll told last of this queue of a port, which is named by its object.
    pub(super) fn polled(&self, port: &str, queue: u8) -> Option<String> {
        self.shared.locked().polls.get(&(port.to_owned(), queue.to_string())).cloned()
    }
}

/// What a thread does until it is over.
type Run = Box<dyn FnOnce(&Shared) -> io::Result<()> + Send>;

impl Drop for Listener {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::SeqCst);
        self.shared.news.notify_all();
        for run in self.runs.drain(..) {
            let _ended = run.join();
        }
    }
}

/// Asks for the stamp of each message, a few times at once for all that wait.
fn stamp(mut asker: Asker, shared: &Shared) -> io::Result<()> {
    while !shared.is_over() {
        drop(shared.wait(LOOKS, Book::is_asked_for));
        let asked = Mono::now();
        let (text, told) = asker.ask()?;
        shared.write(|book| {
            for Message { within: (_, came), stamp, .. } in &mut book.messages {
                // What has come meanwhile is asked for anew.
                if *came <= asked && !stamp.is_known() {
                    stamp.add(text.as_ref(), told);
                }
            }
        });
    }
    Ok(())
}

/// Listens until it is over.
fn listen((mut line, mut since): (Wire, Mono), shared: &Shared) -> io::Result<()> {
    let mut asked: Option<Mono> = None;
    let mut next = Mono(0);
    while !shared.is_over() {
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
            [kind, ..] if kind == "pong" => {
                since = asked.take().unwrap_or(since);
                shared.write(|book| book.whole = Some(since));
            }
            [kind, channel, text] if kind == "message" => match published::read(channel, text) {
                Some(Published::Action { oid, word, stamp }) => {
                    if shared.locked().messages.len() >= MOST {
                        return Err(io::Error::other("more was published than anybody asks for"));
                    }
                    let (within, stamp) = ((since, came), Stamp::of_its_own(stamp));
                    shared.write(|book| book.messages.push(Message { oid, word, within, stamp }));
                }
                Some(Published::Poll { port, queue, text }) => {
                    shared.locked().keep((port, queue), text);
                }
                None => {}
            },
            _ => {}
        }
    }
    Ok(())
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

pub(super) fn say(line: &mut Wire, words: &[&str]) -> io::Result<()> {
    let mut command = redis::Cmd::new();
    words.iter().for_each(|word| {
        command.arg(word);
    });
    line.send(&command.get_packed_command(), PATIENCE)
}

pub(super) fn answer(line: &mut Wire, most: Duration) -> io::Result<Reply> {
    let answer = line.hear(end(most))?;
    answer.ok_or_else(|| io::Error::new(io::ErrorKind::TimedOut, "no answer in time"))
}

/// The texts of an answer; none of one that is nothing.
pub(super) fn words(reply: &Reply) -> io::Result<Vec<String>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_as_many_queues_as_are_kept_each_is_renewed_and_none_is_added() {
        let mut book = Book::default();
        let queue = |number: usize| ("oid:0x1".to_owned(), number.to_string());
        (0..=QUEUES).for_each(|number| book.keep(queue(number), "first".to_owned()));
        book.keep(queue(3), "second".to_owned());
        assert_eq!(book.polls.len(), QUEUES);
        assert_eq!(book.polls.get(&queue(3)).map(String::as_str), Some("second"));
        assert_eq!(book.polls.get(&queue(QUEUES)), None);
    }
}
