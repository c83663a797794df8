//! The way to the redis of a switch whose sshd forwards no sockets: a shell there, in which `sonic-db-cli` asks.
//!
//! What that prints of an answer differs from image to image (a representation of Python's, or JSON where it knows `-j`), and of a list
//! of lists it prints none whole. So it is asked for one text alone: a script of redis (`EVAL`) does what is asked, all of it or nothing
//! between two other commands, and answers with JSON of its own. What was watched (`WATCH`) the script compares itself: each time it is
//! another connection that asks.

use super::link::Db;
use super::way::{options, said};
use super::wire::end;
use core::time::Duration;
use redis::{Arg, Pipeline, Value};
use rig_generator::port::Mono;
use serde_json::{Value as Json, json};
use std::io::{self, BufRead as _, BufReader, ErrorKind, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

/// How long one question may take: each starts a program on the processor of a switch.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most bytes of one question: a shell takes no longer word (`MAX_ARG_STRLEN`).
const LONGEST: usize = 100_000;
/// Does commands one after the other, and tells of each what came of it: `["s", text]`, `["i", number]`, `["n"]` for nothing, `["o"]`
/// for done, `["e", error]`, or `["a", ...]` for a list. Of a key that is to be watched the digest of what it holds. Nothing is done,
/// and `["n"]` is all, where one of those that were watched is another now.
const SCRIPT: &str = r#"local q = cjson.decode(ARGV[1])
local function digest(key) local is = redis.call("DUMP", key) return redis.sha1hex(is or "") end
for _, w in ipairs(q.watched) do if digest(w[1]) ~= w[2] then return cjson.encode({"n"}) end end
local function told(r)
if type(r) == "table" then
if r.ok then return {"o", r.ok} end
if r.err then return {"e", r.err} end
local a = {"a"} for i = 1, #r do a[i + 1] = told(r[i]) end return a end
if type(r) == "number" then return {"i", string.format("%.0f", r)} end
if type(r) == "string" then return {"s", r} end
return {"n"} end
local all = {"a"}
for i, c in ipairs(q.asked) do
if c[1] == "WATCH" then local a = {"a"} for j = 2, #c do a[j] = {"s", digest(c[j])} end all[i + 1] = a
elseif c[1] == "UNWATCH" then all[i + 1] = {"o", "OK"}
else all[i + 1] = told(redis.pcall(unpack(c))) end end
return cjson.encode(all)"#;

/// A shell on the switch, which ends with this value.
#[derive(Debug)]
pub(super) struct Shell {
    ssh: Child,
    asks: Option<ChildStdin>,
    hears: Receiver<String>,
    /// How many questions there were.
    asked: u64,
    /// The database of the last one.
    last: Db,
    /// What is watched, and its digest then.
    watched: Vec<(String, String)>,
    /// The namespace that is asked, where it is not the host's.
    chip: Option<String>,
}

impl Shell {
    /// One at that host, of which it is known that `sonic-db-cli` answers there: of that chip where the switch has several.
    pub(super) fn start(host: &str, chip: Option<String>) -> io::Result<Shell> {
        let mut command = Command::new("ssh");
        options().for_each(|option| {
            command.args(["-o", option]);
        });
        command.args(["-T", "--", host, "exec sh"]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut ssh = command.spawn()?;
        let (asks, out) = (ssh.stdin.take(), ssh.stdout.take());
        let (tell, hears) = channel();
        std::thread::Builder::new().name("ssh".into()).spawn(move || {
            let lines = out.map(BufReader::new).into_iter().flat_map(BufReader::lines);
            for line in lines.map_while(Result::ok) {
                if tell.send(line).is_err() {
                    break;
                }
            }
        })?;
        let mut shell =
            Shell { ssh, asks, hears, asked: 0, last: Db::State, watched: Vec::new(), chip };
        shell.say(&format!("rig={}\n", word(SCRIPT)))?;
        let mut ping = redis::pipe();
        ping.cmd("PING");
        shell.ask(Some(Db::State), &ping).map(|_| shell)
    }

    /// All of `ask`, in as many questions as it takes: the answers in their order. Without a database, one transaction in that of the
    /// last question: `None` where what was watched has changed.
    pub(super) fn ask(
        &mut self,
        db: Option<Db>,
        ask: &Pipeline,
    ) -> io::Result<Option<Vec<Result<Value, String>>>> {
        let commands: Vec<Vec<String>> = ask.cmd_iter().map(words).collect();
        let Some(db) = db else {
            let watched = core::mem::take(&mut self.watched);
            return self.question(self.last, &watched, &commands);
        };
        self.last = db;
        let (mut answers, mut from) = (Vec::new(), 0);
        while from < commands.len() {
            let mut length = 0;
            let fits = commands[from..].iter().take_while(|command| {
                length += command.iter().map(|word| word.len() + 3).sum::<usize>();
                length <= LONGEST
            });
            let some = &commands[from..from + fits.count().max(1)];
            let more = self.question(db, &[], some)?.unwrap_or_default();
            if more.len() != some.len() {
                return Err(odd("it answers to other than was asked"));
            }
            for (command, answer) in some.iter().zip(more) {
                answers.push(self.noted(command, answer));
            }
            from += some.len();
        }
        Ok(Some(answers))
    }

    /// What an answer is to whoever asked; what is watched from now on is noted.
    fn noted(
        &mut self,
        command: &[String],
        answer: Result<Value, String>,
    ) -> Result<Value, String> {
        match command.first().map(String::as_str) {
            Some("UNWATCH") => self.watched.clear(),
            Some("WATCH") => {
                let digests: Vec<String> =
                    redis::from_owned_redis_value(answer?).unwrap_or_default();
                self.watched.extend(command.iter().skip(1).cloned().zip(digests));
            }
            _ => return answer,
        }
        Ok(Value::Okay)
    }

    fn question(
        &mut self,
        db: Db,
        watched: &[(String, String)],
        asked: &[Vec<String>],
    ) -> io::Result<Option<Vec<Result<Value, String>>>> {
        self.asked += 1;
        let mark = format!("rig-end-{}", self.asked);
        let asked = word(&json!({ "watched": watched, "asked": asked }).to_string());
        let name = db.name();
        let space = self.chip.as_ref().map_or_else(String::new, |chip| format!("-n {chip} "));
        self.say(&format!(
            "sonic-db-cli {space}{name} EVAL \"$rig\" 0 {asked} 2>/dev/null </dev/null; echo \"{mark} $?\"\n"
        ))?;
        let over = end(PATIENCE);
        let mut text = String::new();
        loop {
            let left = over.since(Mono::now()).unwrap_or_default();
            let left = Duration::from_micros(left.0 / rig_units::Dur::us(1).0);
            match self.hears.recv_timeout(left) {
                Ok(line) => match line.split_once(&mark) {
                    // Where an answer does not end its line the mark stands behind it.
                    Some((rest, code)) => {
                        text.push_str(rest);
                        return answers(&text, code.trim());
                    }
                    None => text.push_str(&line),
                },
                Err(RecvTimeoutError::Timeout) => return Err(ErrorKind::TimedOut.into()),
                Err(RecvTimeoutError::Disconnected) => {
                    let said = said(self.ssh.stderr.as_mut());
                    return Err(io::Error::other(format!("ssh ends: {said}")));
                }
            }
        }
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        let asks = self.asks.as_mut().ok_or(ErrorKind::NotConnected)?;
        asks.write_all(text.as_bytes()).and_then(|()| asks.flush())
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // It ends with its input.
        drop(self.asks.take());
        let _killed = self.ssh.kill();
        let _reaped = self.ssh.wait();
    }
}

/// What was printed, with the code at which the program ended.
fn answers(text: &str, code: &str) -> io::Result<Option<Vec<Result<Value, String>>>> {
    match code {
        "0" => {}
        "127" => return Err(io::Error::other("there is no sonic-db-cli")),
        code => {
            let code: String = code.chars().filter(char::is_ascii_digit).take(3).collect();
            return Err(io::Error::other(format!("sonic-db-cli ends with {code}")));
        }
    }
    let told: Json = serde_json::from_str(text.trim()).map_err(|_| odd("no JSON"))?;
    match value(&told) {
        Some(Ok(Value::Nil)) => Ok(None),
        Some(Ok(Value::Array(_))) => {
            let all = told.as_array().into_iter().flatten().skip(1).map(value);
            all.collect::<Option<_>>().map(Some).ok_or_else(|| odd("no answer of the script"))
        }
        _ => Err(odd("no answer of the script")),
    }
}

/// One answer, as the script tells it: an error by its code alone.
fn value(told: &Json) -> Option<Result<Value, String>> {
    let (kind, rest) = told.as_array()?.split_first()?;
    let text = || rest.first()?.as_str();
    Some(Ok(match kind.as_str()? {
        "n" => Value::Nil,
        "o" if text()? == "OK" => Value::Okay,
        "o" => Value::SimpleString(text()?.to_owned()),
        "i" => Value::Int(text()?.parse().ok()?),
        "s" => Value::BulkString(text()?.as_bytes().to_vec()),
        "e" => return Some(Err(text()?.split(' ').next()?.to_owned())),
        "a" => {
            // With one that redis refuses it refuses all of them.
            let all: Option<Result<Vec<Value>, String>> = rest.iter().map(value).collect();
            return Some(all?.map(Value::Array));
        }
        _ => return None,
    }))
}

/// The words of a command.
fn words(command: &redis::Cmd) -> Vec<String> {
    let word = |arg: Arg<&[u8]>| match arg {
        Arg::Simple(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Arg::Cursor => None,
    };
    command.args_iter().filter_map(word).collect()
}

/// A text as one word of a shell.
fn word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn odd(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why.to_owned())
}
