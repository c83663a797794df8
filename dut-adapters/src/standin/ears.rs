//! What is published that a stand-in listens for, on a thread of its own: a socket's timeout is a whole number of the kernel's jiffies, too
//! coarse for whoever has polls to make meanwhile.

use super::names::Db;
use super::reboots::ORDERS;
use crate::serve::Herald;
use core::error::Error as _;
use core::time::Duration;
use redis::{Connection, ErrorKind, Msg, RedisError, RedisResult};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};

/// Where it hears that a copy of watermarks is to be cleared.
const CLEARS: &str = "WATERMARK_CLEAR_REQUEST";
/// Where it hears what was decided of a queue.
const ACTIONS: &str = "PFC_WD_ACTION";
/// Where it hears that somebody asks how its device has kept up, and the row of STATE_DB that it answers in. No switch has either.
pub(super) const HEALTH: &str = "RIG_STANDIN_HEALTH";

/// How soon the thread sees that it is to end.
const ENDS: Duration = Duration::from_millis(40);

/// Something that was published, with what it says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// It listens from now on.
    Listens,
    /// A key of CONFIG_DB has changed.
    Change,
    /// A queue was decided of.
    Decided(String),
    /// Somebody asks how the device has kept up.
    Asked(String),
    /// It is to reboot.
    Ordered(String),
    /// A copy of watermarks is to be cleared.
    Clears(String),
    /// The device's watchdogs have done something.
    Acted,
}

/// What listens, until it goes.
#[derive(Debug)]
pub(super) struct Ears {
    tell: Sender<RedisResult<Heard>>,
    heard: Receiver<RedisResult<Heard>>,
    ends: Arc<AtomicBool>,
    runs: Option<JoinHandle<()>>,
}

impl Ears {
    /// Listens over `line` from now on.
    pub(super) fn open(line: Connection) -> RedisResult<Ears> {
        let (tell, heard) = channel();
        let ends = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&ends);
        let said = tell.clone();
        let run = move || {
            if let Err(error) = listen(line, &said, &over) {
                let _gone = said.send(Err(error));
            }
        };
        let runs = Some(Builder::new().name("subscriber".into()).spawn(run)?);
        let ears = Ears { tell, heard, ends, runs };
        // What is changed once this returns is heard of.
        while ears.hear(ENDS)?.is_none() {}
        Ok(ears)
    }

    /// What a device tells by that its watchdogs have done something.
    pub(super) fn herald(&self) -> Herald {
        let tell = self.tell.clone();
        Box::new(move || {
            let _gone = tell.send(Ok(Heard::Acted));
        })
    }

    /// What was published next; `None`: nothing within that time.
    pub(super) fn hear(&self, within: Duration) -> RedisResult<Option<Heard>> {
        match self.heard.recv_timeout(within) {
            Ok(heard) => heard.map(Some),
            Err(RecvTimeoutError::Timeout) if !self.is_over() => Ok(None),
            // A thread that is over has said why, unless it has panicked.
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                self.heard.try_recv().unwrap_or_else(|_| Err(gone())).map(Some)
            }
        }
    }

    fn is_over(&self) -> bool {
        self.runs.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for Ears {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        let _ended = self.runs.take().map(JoinHandle::join);
    }
}

fn gone() -> RedisError {
    (ErrorKind::IoError, "nobody listens any more").into()
}

fn listen(
    mut line: Connection,
    tell: &Sender<RedisResult<Heard>>,
    ends: &AtomicBool,
) -> RedisResult<()> {
    let mut hears = line.as_pubsub();
    hears.psubscribe(format!("__keyspace@{}__:*", Db::Config as u8))?;
    hears.subscribe(&[CLEARS, ORDERS, ACTIONS, HEALTH])?;
    let mut next = Heard::Listens;
    // Only now: on a busy machine a subscription is answered later than that, and it would be taken for an end of its redis.
    hears.set_read_timeout(Some(ENDS))?;
    while tell.send(Ok(next)).is_ok() {
        next = loop {
            if ends.load(Ordering::SeqCst) {
                return Ok(());
            }
            match hears.get_message() {
                Ok(message) => break of(&message),
                Err(error) if error.is_timeout() || is_interrupted(&error) => {}
                Err(error) => return Err(error),
            }
        };
    }
    Ok(())
}

/// Whether this process was stopped meanwhile and goes on: a socket with a timeout tells that as an error.
fn is_interrupted(error: &RedisError) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    source.is_some_and(|error| error.kind() == io::ErrorKind::Interrupted)
}

fn of(message: &Msg) -> Heard {
    let said = message.get_payload().unwrap_or_default();
    match message.get_channel_name() {
        ACTIONS => Heard::Decided(said),
        HEALTH => Heard::Asked(said),
        ORDERS => Heard::Ordered(said),
        CLEARS => Heard::Clears(said),
        _ => Heard::Change,
    }
}
