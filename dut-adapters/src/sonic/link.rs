//! The line to the redis of a switch. Every answer is there as a whole within a bounded time, or the line is lost and stays so.
//!
//! Of an error of redis only its code is passed on: its text may repeat what it was asked, and values with it.

use super::shell::Shell;
use super::way::{self, Way};
use super::wire::{Wire, end};
use crate::control::error::Lost;
use core::fmt;
use core::time::Duration;
use redis::{FromRedisValue, Pipeline, Value};
use rig_generator::port::Mono;
use rig_lab::RedisAt;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// How long an answer may take, all of it. Far more than any does over a network.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the keys of a table may take, in however many answers: `SCAN` goes on where others write.
const LISTED: Duration = Duration::from_secs(20);
/// Rows that are asked for at once: of a large switch over a slow line so many come within [`PATIENCE`].
const ROWS: usize = 500;
/// Keys that are asked for at once.
const AT_ONCE: usize = 1_000;
/// So often changes are tried while another hand writes to the same keys.
const TRIES: usize = 8;
/// In so many answers every database of a switch has been gone through: each looks at a thousand keys.
const ROUNDS: usize = 10_000;
/// The most keys that a table may have: no switch has as many queues.
const MOST_KEYS: usize = 100_000;

/// A database, by the number that SONiC's `database_config.json` gives it on every image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

impl Db {
    /// What SONiC's own commands call it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Db::Appl => "APPL_DB",
            Db::Asic => "ASIC_DB",
            Db::Counters => "COUNTERS_DB",
            Db::Config => "CONFIG_DB",
            Db::Flex => "FLEX_COUNTER_DB",
            Db::State => "STATE_DB",
        }
    }
}

/// What carries questions and answers.
enum Line {
    /// Redis itself, at the end of a way.
    Redis(Way, Wire),
    /// A program on the switch, where no way to its redis may be made.
    Shell(Shell),
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
    line: Line,
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
        let opened =
            Way::to(at).and_then(|way| Wire::open(way.near(), PATIENCE).map(|line| (way, line)));
        let lost = |error: &io::Error| Lost { tried, why: broken(error) };
        let (way, wire) = opened.map_err(|error| lost(&error))?;
        let mut link =
            Link { at: at.clone(), line: Line::Redis(way, wire), chosen: None, lost: None };
        let RedisAt::Ssh { host, .. } = at else { return Ok(link) };
        // A way that the switch does not let through is there until somebody uses it.
        let mut ping = redis::pipe();
        ping.cmd("PING");
        let answered: Result<Vec<Value>, Lost> = link.ask(Db::State, "reach its redis", &ping);
        let Err(closed) = answered else { return Ok(link) };
        let shell = Shell::start(host, way::chip(at)).map_err(|error| Lost {
            why: format!("{}, and by sonic-db-cli: {}", closed.why, broken(&error)),
            ..closed
        })?;
        Ok(Link { line: Line::Shell(shell), chosen: None, lost: None, ..link })
    }

    /// Where another line to it begins, as long as this one is there; `None` where there is none but this.
    pub(super) const fn near(&self) -> Option<&RedisAt> {
        match &self.line {
            Line::Redis(way, _) => Some(way.near()),
            Line::Shell(_) => None,
        }
    }

    /// The keys of a database that begin with `prefix`, a name of a table with its separator.
    pub(super) fn keys(&mut self, db: Db, prefix: &str) -> Result<Vec<String>, Lost> {
        let all = self.keys_of(db, &[prefix.to_owned()])?;
        Ok(all.into_iter().flatten().collect())
    }

    /// The same of several prefixes, those of each by themselves. All are asked for at once: a way over a network is long.
    pub(super) fn keys_of(
        &mut self,
        db: Db,
        prefixes: &[String],
    ) -> Result<Vec<Vec<String>>, Lost> {
        let tried = format!("list the keys {}*", some(prefixes));
        let mut keys = vec![BTreeSet::new(); prefixes.len()];
        let mut cursors: Vec<(usize, u64)> = (0..prefixes.len()).map(|at| (at, 0)).collect();
        let over = end(LISTED.saturating_mul(u32::try_from(prefixes.len()).unwrap_or(u32::MAX)));
        for _ in 0..ROUNDS {
            let mut ask = redis::pipe();
            for &(at, cursor) in &cursors {
                ask.cmd("SCAN").arg(cursor).arg("MATCH").arg(format!("{}*", prefixes[at]));
                ask.arg("COUNT").arg(AT_ONCE);
            }
            let answers: Vec<(u64, Vec<String>)> = self.ask(db, &tried, &ask)?;
            for ((at, cursor), (next, found)) in cursors.iter_mut().zip(answers) {
                let own = found.into_iter().filter(|key| key.starts_with(&prefixes[*at]));
                keys[*at].extend(own);
                *cursor = next;
                if keys[*at].len() > MOST_KEYS {
                    let tried = format!("list the keys {}*", prefixes[*at]);
                    let why = format!("there are more than {MOST_KEYS}");
                    return Err(self.is_lost(Lost { tried, why }));
                }
            }
            cursors.retain(|(_, next)| *next != 0);
            if cursors.is_empty() {
                return Ok(keys.into_iter().map(|keys| keys.into_iter().collect()).collect());
            }
            if Mono::now() >= over {
                break;
            }
        }
        let why = "it comes to no end".to_owned();
        Err(self.is_lost(Lost { tried, why }))
    }

    /// The names of the fields of each key, none where it is not there.
    pub(super) fn names(&mut self, db: Db, keys: &[String]) -> Result<Vec<Vec<String>>, Lost> {
        let ask = |ask: &mut Pipeline, key: &String| {
            ask.cmd("HKEYS").arg(key);
        };
        self.rows(db, "list the fields of", (keys, |key| key), ask)
    }

    /// Fields of keys, in the order in which they are asked for.
    pub(super) fn fields(
        &mut self,
        db: Db,
        asked: &[(String, Vec<String>)],
    ) -> Result<Vec<Vec<Option<String>>>, Lost> {
        let ask = |ask: &mut Pipeline, (key, fields): &(String, Vec<String>)| {
            ask.cmd("HMGET").arg(key).arg(fields);
        };
        self.rows(db, "read", (asked, |(key, _)| key), ask)
    }

    /// What each of these rows says, asked for by `ask`, as many of them at once as a slow line bears. A refusal is told of its row.
    fn rows<R, T: FromRedisValue>(
        &mut self,
        db: Db,
        tries: &str,
        (rows, key): (&[R], fn(&R) -> &String),
        ask: impl Fn(&mut Pipeline, &R),
    ) -> Result<Vec<T>, Lost> {
        let mut all = Vec::new();
        for some_rows in rows.chunks(ROWS) {
            let mut asks = redis::pipe();
            some_rows.iter().for_each(|row| ask(&mut asks, row));
            let keys: Vec<String> = some_rows.iter().map(|row| key(row).clone()).collect();
            let tried = |at: Option<usize>| match at.and_then(|at| keys.get(at)) {
                Some(key) => format!("{tries} {key}"),
                None => format!("{tries} {}", some(&keys)),
            };
            let answers = self.asked(db, &tried, &asks)?;
            let answers: Vec<T> = self.read(&tried(None), answers)?;
            all.extend(answers);
        }
        Ok(all)
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
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        if let Line::Shell(shell) = &mut self.line {
            let done = told(shell, None, ask);
            let done =
                done.map_err(|(_, why)| self.is_lost(Lost { tried: tried.to_owned(), why }))?;
            return Ok(done.is_some());
        }
        // `MULTI`, that each is queued, and what came of all of them.
        let answers = ask.cmd_iter().count() + 2;
        let tried = |_| tried.to_owned();
        let all = self.answers(&tried, &ask.get_packed_pipeline(), answers)?;
        Ok(!matches!(all.last(), None | Some(Value::Nil)))
    }

    /// All of `ask` in one round trip.
    pub(super) fn ask<T: FromRedisValue>(
        &mut self,
        db: Db,
        tried: &str,
        ask: &Pipeline,
    ) -> Result<T, Lost> {
        let answers = self.asked(db, &|_| tried.to_owned(), ask)?;
        self.read(tried, answers)
    }

    fn read<T: FromRedisValue>(&mut self, tried: &str, answers: Vec<Value>) -> Result<T, Lost> {
        redis::from_owned_redis_value(Value::Array(answers)).map_err(|error| {
            let why = format!("its answer is none ({})", error.category());
            self.is_lost(Lost { tried: tried.to_owned(), why })
        })
    }

    /// The answers to all of `ask`; what was `tried`, by the place of that of which it is told, or of all.
    fn asked(
        &mut self,
        db: Db,
        tried: &dyn Fn(Option<usize>) -> String,
        ask: &Pipeline,
    ) -> Result<Vec<Value>, Lost> {
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        if let Line::Shell(shell) = &mut self.line {
            let all = told(shell, Some(db), ask);
            let all = all.map_err(|(at, why)| self.is_lost(Lost { tried: tried(at), why }))?;
            return Ok(all.unwrap_or_default());
        }
        let mut all = redis::pipe();
        let chooses = self.chosen != Some(db);
        if chooses {
            all.cmd("SELECT").arg(db as u8);
        }
        for one in ask.cmd_iter() {
            all.add_command(one.clone());
        }
        let count = all.cmd_iter().count();
        let tried =
            |at: Option<usize>| tried(at.and_then(|at| at.checked_sub(usize::from(chooses))));
        let mut answers = self.answers(&tried, &all.get_packed_pipeline(), count)?;
        if chooses {
            answers.remove(0);
        }
        self.chosen = Some(db);
        Ok(answers)
    }

    /// So many answers to what was packed, all of them within the time of one.
    fn answers(
        &mut self,
        tried: &dyn Fn(Option<usize>) -> String,
        packed: &[u8],
        count: usize,
    ) -> Result<Vec<Value>, Lost> {
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        let Line::Redis(_, line) = &mut self.line else { return Ok(Vec::new()) };
        let mut heard = || -> Result<Vec<Value>, Untold> {
            let over = end(PATIENCE);
            line.send(packed, PATIENCE).map_err(|error| (None, broken(&error)))?;
            let mut all = Vec::new();
            for at in 0..count {
                let reply = line.hear(over).map_err(|error| (None, broken(&error)))?;
                let reply = reply.ok_or_else(|| (None, "no answer in time".to_owned()))?;
                all.push(reply.map_err(|code| (Some(at), refuses(&code)))?);
            }
            Ok(all)
        };
        heard().map_err(|(at, why)| self.is_lost(Lost { tried: tried(at), why }))
    }

    fn is_lost(&mut self, lost: Lost) -> Lost {
        self.lost = Some(lost.clone());
        lost
    }
}

/// Why there is no answer, and to which question where that is known.
type Untold = (Option<usize>, String);

/// What a program on the switch answers; `None`: nothing was done, as what was watched has changed.
fn told(shell: &mut Shell, db: Option<Db>, ask: &Pipeline) -> Result<Option<Vec<Value>>, Untold> {
    let all = shell.ask(db, ask).map_err(|error| (None, broken(&error)))?;
    let Some(all) = all else { return Ok(None) };
    let each = all.into_iter().enumerate();
    let each = each.map(|(at, one)| one.map_err(|code| (Some(at), refuses(&code))));
    each.collect::<Result<Vec<Value>, Untold>>().map(Some)
}

/// The first of several keys, for a message.
fn some(keys: &[String]) -> String {
    match keys {
        [] => "no key".to_owned(),
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}

/// What an error of redis says, by its code.
fn refuses(code: &str) -> String {
    match code {
        "LOADING" => "it is still loading its data (LOADING)".to_owned(),
        "NOAUTH" | "WRONGPASS" => "it wants a password, which nobody has".to_owned(),
        code => format!("it refuses ({})", code.chars().take(20).collect::<String>()),
    }
}

/// What became of the connection, in the machine's own words: no answer stands in them.
fn broken(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "no answer in time".to_owned(),
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::NotConnected => "the connection is closed".to_owned(),
        io::ErrorKind::InvalidData => format!("its answer is none ({error})"),
        _ => error.to_string(),
    }
}
