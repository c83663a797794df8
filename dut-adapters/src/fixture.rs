//! A redis of our own for tests, filled from a file of CONFIG_DB, and a way to it that breaks when it is told to.

mod broken_way;
mod orchagent;

pub use broken_way::{Break, BrokenWay};
pub use orchagent::Orchagent;

use crate::standin::Server;
use rig_lab::RedisAt;
use serde_json::Value;
use std::path::Path;

/// That all of CONFIG_DB is there.
const LOADED: &str = "CONFIG_DB_INITIALIZED";

/// A redis-server of the system in a process of its own, at a socket in `folder`. It ends with this value.
#[derive(Debug)]
pub struct RedisServer(Server);

impl RedisServer {
    /// One that keeps nothing on the disk.
    ///
    /// # Errors
    /// The system has none: a test says so and ends.
    ///
    /// # Panics
    /// There is none and `RIG_REQUIRE_ALL=1`, or it does not come up.
    pub fn start(folder: &Path) -> Result<RedisServer, String> {
        match Server::start(&folder.join("redis.sock")) {
            Ok(server) => Ok(RedisServer(server)),
            Err(missing) if missing.starts_with("there is no redis-server") => {
                let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
                assert!(!required, "{missing} and RIG_REQUIRE_ALL=1");
                Err(format!("skipped: {missing}"))
            }
            Err(why) => panic!("{why}"),
        }
    }

    /// Where it listens.
    pub fn at(&self) -> RedisAt {
        RedisAt::Unix(self.0.socket().to_owned())
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
        self.tell(4, &["SET", LOADED, "1"]);
    }

    /// Has it do something in a database, as another hand might.
    ///
    /// # Panics
    /// It refuses.
    pub fn tell(&self, database: i64, words: &[&str]) -> redis::Value {
        let client = redis::Client::open(redis::ConnectionInfo {
            addr: redis::ConnectionAddr::Unix(self.0.socket().to_owned()),
            redis: redis::RedisConnectionInfo { db: database, ..Default::default() },
        });
        let mut line = client.and_then(|client| client.get_connection()).expect("it is up");
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        command.query(&mut line).expect("it does that")
    }

    /// Every key of a database with its fields, in order, but for the mark that CONFIG_DB is whole.
    ///
    /// # Panics
    /// It does not answer.
    pub fn all(&self, database: i64) -> Vec<(String, Vec<(String, String)>)> {
        let keys: Vec<String> =
            redis::from_owned_redis_value(self.tell(database, &["KEYS", "*"])).expect("keys");
        let mut all: Vec<(String, Vec<(String, String)>)> = Vec::new();
        for key in keys.into_iter().filter(|key| key != LOADED) {
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
