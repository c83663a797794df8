//! The line to the redis of a switch. Every answer comes within a bounded time, or the line is lost and stays so.
//!
//! Of an error of redis only its code is passed on: its text may repeat what it was asked, and values with it.

use crate::control::error::Lost;
use core::fmt;
use core::time::Duration;
use redis::{
    Client, Connection, ConnectionAddr, ConnectionInfo, FromRedisValue, Pipeline,
    RedisConnectionInfo, RedisError,
};
use rig_lab::RedisAt;
use std::collections::{BTreeMap, BTreeSet};

/// How long an answer may take. Far more than any does over a network.
const PATIENCE: Duration = Duration::from_secs(5);
/// Keys that are asked for at once.
const AT_ONCE: usize = 1_000;
/// So often changes are tried while another hand writes to the same keys.
const TRIES: usize = 8;
/// The most keys that a table may have: no switch has as many queues.
const MOST_KEYS: usize = 100_000;

/// A database, by the number that SONiC's `database_config.json` gives it on every image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Db {
    /// What the managers make of it for orchagent.
    Appl = 0,
    /// What the ASIC was told.
    Asic = 1,
    /// What was counted, and what the watchdog runs with.
    Counters = 2,
    /// What is configured.
    Config = 4,
    /// Which counters are read how often, the watchdog's among them.
    Flex = 5,
    /// What the switch says of itself.
    State = 6,
}

/// What came of changes that were to be made together.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Made {
    /// All of them were.
    All,
    /// None: this one of them was not as it was taken to be, but this.
    None(usize, Option<String>),
}

/// A field of a key that is to become something else.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edit<'e> {
    pub(super) key: &'e str,
    pub(super) field: &'e str,
    /// What it is taken to be; `None`: it is not there.
    pub(super) from: Option<&'e str>,
    /// What it becomes; `None`: it goes.
    pub(super) to: Option<&'e str>,
}

/// A connection.
pub(super) struct Link {
    at: RedisAt,
    line: Connection,
    chosen: Option<Db>,
    lost: Option<Lost>,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Link({})", self.at)
    }
}

impl Link {
    /// Connects.
    pub(super) fn open(at: &RedisAt) -> Result<Link, Lost> {
        let tried = format!("connect to {at}");
        let addr = match at {
            RedisAt::Unix(path) => ConnectionAddr::Unix(path.clone()),
            RedisAt::Tcp(host, port) => ConnectionAddr::Tcp(host.clone(), *port),
        };
        let info = ConnectionInfo { addr, redis: RedisConnectionInfo::default() };
        let opened = Client::open(info).and_then(|client| {
            let line = client.get_connection_with_timeout(PATIENCE)?;
            line.set_read_timeout(Some(PATIENCE))?;
            line.set_write_timeout(Some(PATIENCE))?;
            Ok(line)
        });
        let line = opened.map_err(|error| Lost { tried, why: why(&error) })?;
        Ok(Link { at: at.clone(), line, chosen: None, lost: None })
    }

    /// The keys of a database that begin with `prefix`, a name of a table with its separator.
    pub(super) fn keys(&mut self, db: Db, prefix: &str) -> Result<Vec<String>, Lost> {
        let tried = format!("list the keys {prefix}*");
        let mut keys = BTreeSet::new();
        let mut cursor = 0_u64;
        loop {
            let mut ask = redis::pipe();
            ask.cmd("SCAN").arg(cursor).arg("MATCH").arg(format!("{prefix}*"));
            ask.arg("COUNT").arg(AT_ONCE);
            let [(next, some)]: [(u64, Vec<String>); 1] = self.ask(db, &tried, &ask)?;
            keys.extend(some.into_iter().filter(|key| key.starts_with(prefix)));
            if keys.len() > MOST_KEYS {
                let why = format!("there are more than {MOST_KEYS}");
                return Err(self.is_lost(Lost { tried, why }));
            }
            if next == 0 {
                return Ok(keys.into_iter().collect());
            }
            cursor = next;
        }
    }

    /// The names of the fields of each key, none where it is not there.
    pub(super) fn names(&mut self, db: Db, keys: &[String]) -> Result<Vec<Vec<String>>, Lost> {
        let mut ask = redis::pipe();
        for key in keys {
            ask.cmd("HKEYS").arg(key);
        }
        self.ask(db, &format!("list the fields of {}", some(keys)), &ask)
    }

    /// Fields of keys, in the order in which they are asked for.
    pub(super) fn fields(
        &mut self,
        db: Db,
        asked: &[(String, Vec<String>)],
    ) -> Result<Vec<Vec<Option<String>>>, Lost> {
        let keys: Vec<String> = asked.iter().map(|(key, _)| key.clone()).collect();
        let mut ask = redis::pipe();
        for (key, fields) in asked {
            ask.cmd("HMGET").arg(key).arg(fields);
        }
        self.ask(db, &format!("read {}", some(&keys)), &ask)
    }

    /// Every field of a key.
    pub(super) fn whole(&mut self, db: Db, key: &str) -> Result<BTreeMap<String, String>, Lost> {
        let mut ask = redis::pipe();
        ask.cmd("HGETALL").arg(key);
        let [all]: [BTreeMap<String, String>; 1] = self.ask(db, &format!("read {key}"), &ask)?;
        Ok(all)
    }

    /// Makes changes to hashes, all or none: none where one of the fields is not what it is taken to be, also where it becomes
    /// otherwise between the look and the change.
    pub(super) fn edit(&mut self, db: Db, edits: &[Edit<'_>]) -> Result<Made, Lost> {
        if edits.is_empty() {
            return Ok(Made::All);
        }
        let keys: Vec<String> = edits.iter().map(|edit| edit.key.to_owned()).collect();
        let tried = format!("write {}", some(&keys));
        for _ in 0..TRIES {
            let mut look = redis::pipe();
            look.cmd("WATCH").arg(&keys);
            for Edit { key, field, .. } in edits {
                look.cmd("HGET").arg(key).arg(field);
            }
            let mut found: Vec<Option<String>> = self.ask(db, &tried, &look)?;
            // That they are watched.
            found.remove(0);
            let other =
                edits.iter().zip(&found).position(|(edit, has)| edit.from != has.as_deref());
            if let Some(other) = other {
                let mut leave = redis::pipe();
                leave.cmd("UNWATCH");
                let () = self.ask(db, &tried, &leave)?;
                return Ok(Made::None(other, found.into_iter().nth(other).flatten()));
            }
            let mut change = redis::pipe();
            change.atomic();
            for Edit { key, field, to, .. } in edits {
                match to {
                    Some(to) => change.cmd("HSET").arg(key).arg(field).arg(to).ignore(),
                    None => change.cmd("HDEL").arg(key).arg(field).ignore(),
                };
            }
            // Else somebody wrote to one of the keys: another field of it perhaps.
            if self.ask_whole(&tried, &change)? {
                return Ok(Made::All);
            }
        }
        let why = format!("another hand wrote there each of {TRIES} times");
        Err(self.is_lost(Lost { tried, why }))
    }

    /// All of `ask`, which is one transaction, in the database that was watched. Whether it was done: not where what was watched has
    /// changed.
    pub(super) fn ask_whole(&mut self, tried: &str, ask: &Pipeline) -> Result<bool, Lost> {
        match ask.query::<Option<()>>(&mut self.line) {
            Ok(done) => Ok(done.is_some()),
            Err(error) => Err(self.is_lost(Lost { tried: tried.to_owned(), why: why(&error) })),
        }
    }

    /// All of `ask` in one round trip.
    pub(super) fn ask<T: FromRedisValue>(
        &mut self,
        db: Db,
        tried: &str,
        ask: &Pipeline,
    ) -> Result<T, Lost> {
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        let mut all = redis::pipe();
        if self.chosen != Some(db) {
            all.cmd("SELECT").arg(db as u8).ignore();
        }
        for one in ask.cmd_iter() {
            all.add_command(one.clone());
        }
        match all.query(&mut self.line) {
            Ok(answer) => {
                self.chosen = Some(db);
                Ok(answer)
            }
            Err(error) => Err(self.is_lost(Lost { tried: tried.to_owned(), why: why(&error) })),
        }
    }

    fn is_lost(&mut self, lost: Lost) -> Lost {
        self.lost = Some(lost.clone());
        lost
    }
}

/// The first of several keys, for a message.
fn some(keys: &[String]) -> String {
    match keys {
        [] => "no key".to_owned(),
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}

/// What happened, without what was asked and answered.
fn why(error: &RedisError) -> String {
    match error.code() {
        Some("LOADING") => "it is still loading its data (LOADING)".to_owned(),
        Some("NOAUTH" | "WRONGPASS") => "it wants a password, which nobody has".to_owned(),
        Some(code) => format!("it refuses ({})", code.chars().take(20).collect::<String>()),
        None if error.is_timeout() => "no answer in time".to_owned(),
        None if error.is_connection_dropped() => "the connection is closed".to_owned(),
        // Of the machine's own words alone: no answer stands in them.
        None if error.is_io_error() => error.to_string(),
        None => format!("its answer is none ({})", error.category()),
    }
}
