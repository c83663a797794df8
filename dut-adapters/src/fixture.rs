//! A redis of our own for tests, filled from a file of CONFIG_DB, and a way to it that breaks when it is told to.

#![expect(clippy::disallowed_methods, reason = "what is waited for here is another process")]

mod broken_way;
mod orchagent;

pub use broken_way::{Break, BrokenWay};
pub use orchagent::Orchagent;

use core::time::Duration;
use rig_lab::RedisAt;
use serde_json::Value;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;

/// Ends its server when its own input ends: whoever started it may be killed.
const KEEPER: &str =
    "redis-server \"$@\" & server=$!; read -r line; kill \"$server\"; wait \"$server\"";

/// A redis-server of the system in a process of its own, at a socket in `folder`. It ends with this value.
#[derive(Debug)]
pub struct RedisServer {
    keeper: Child,
    socket: PathBuf,
}

impl RedisServer {
    /// One that keeps nothing on the disk.
    ///
    /// # Errors
    /// The system has none: a test says so and ends.
    ///
    /// # Panics
    /// There is none and `RIG_REQUIRE_ALL=1`, or it does not come up.
    pub fn start(folder: &Path) -> Result<RedisServer, String> {
        let socket = folder.join("redis.sock");
        let is_there = Command::new("redis-server").arg("--version").output().is_ok();
        if !is_there {
            let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
            let missing = "there is no redis-server (apt-get install redis-server)";
            assert!(!required, "{missing} and RIG_REQUIRE_ALL=1");
            return Err(format!("skipped: {missing}"));
        }
        let mut command = Command::new("sh");
        command.args(["-c", KEEPER, "redis-server", "--port", "0", "--unixsocket"]);
        command.arg(&socket).args(["--unixsocketperm", "700", "--save", "", "--dir"]).arg(folder);
        // As SONiC's own: consumers hear of changes by keyspace events.
        command.args(["--notify-keyspace-events", "AKE", "--loglevel", "warning"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let keeper = command.spawn().expect("sh starts");
        let server = RedisServer { keeper, socket };
        for _ in 0..500 {
            if UnixStream::connect(&server.socket).is_ok() {
                return Ok(server);
            }
            sleep(Duration::from_millis(20));
        }
        panic!("redis-server is not up after ten seconds");
    }

    /// Where it listens.
    pub fn at(&self) -> RedisAt {
        RedisAt::Unix(self.socket.clone())
    }

    /// Loads a file as SONiC saves CONFIG_DB, all of it.
    ///
    /// # Panics
    /// It cannot be read or taken in.
    pub fn load(&self, config_db: &Path) {
        let text = std::fs::read_to_string(config_db).expect("a file");
        let tables: Value = serde_json::from_str(&text).expect("JSON");
        for (table, rows) in tables.as_object().expect("tables") {
            for (key, fields) in rows.as_object().expect("rows") {
                let key = format!("{table}|{key}");
                let mut line = vec!["HSET", &key];
                let fields = fields.as_object().expect("fields");
                for (field, value) in fields {
                    line.extend([field.as_str(), value.as_str().expect("a text")]);
                }
                // A row without fields.
                if fields.is_empty() {
                    line.extend(["NULL", "NULL"]);
                }
                self.tell(4, &line);
            }
        }
    }

    /// Has it do something in a database, as another hand might.
    ///
    /// # Panics
    /// It refuses.
    pub fn tell(&self, database: i64, words: &[&str]) -> redis::Value {
        let client = redis::Client::open(redis::ConnectionInfo {
            addr: redis::ConnectionAddr::Unix(self.socket.clone()),
            redis: redis::RedisConnectionInfo { db: database, ..Default::default() },
        });
        let mut line = client.and_then(|client| client.get_connection()).expect("it is up");
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        command.query(&mut line).expect("it does that")
    }

    /// Every key of a database with its fields, in order.
    ///
    /// # Panics
    /// It does not answer.
    pub fn all(&self, database: i64) -> Vec<(String, Vec<(String, String)>)> {
        let keys: Vec<String> =
            redis::from_owned_redis_value(self.tell(database, &["KEYS", "*"])).expect("keys");
        let mut all: Vec<(String, Vec<(String, String)>)> = Vec::new();
        for key in keys {
            let fields = self.tell(database, &["HGETALL", &key]);
            let mut fields: Vec<(String, String)> =
                redis::from_owned_redis_value(fields).expect("a hash");
            fields.sort();
            all.push((key, fields));
        }
        all.sort();
        all
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _reaped = self.keeper.wait();
    }
}
