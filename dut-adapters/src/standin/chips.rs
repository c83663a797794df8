//! The databases of a switch that has several chips: a redis of the host's, one of each chip's in a folder of its own beside it, and the
//! files that say where they are. One chip is the emulated one, the last; ports of the front stand at the others, too, and are down.

use super::names::{self, Db, Row, row};
use super::{Server, connect, filled};
use redis::RedisError;
use rig_lab::Profile;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// The databases by their names, as the files number them, and what stands between the parts of a key there.
const DATABASES: [(&str, u8, &str); 6] = [
    ("APPL_DB", 0, ":"),
    ("ASIC_DB", 1, ":"),
    ("COUNTERS_DB", 2, ":"),
    ("CONFIG_DB", 4, "|"),
    ("FLEX_COUNTER_DB", 5, ":"),
    ("STATE_DB", 6, "|"),
];
/// The number of the first port of a chip that is not the emulated one.
const ELSEWHERE: usize = 512;
/// How many of them there are at each.
const PORTS: usize = 4;

/// All of these redis servers. They end with this value.
#[derive(Debug)]
pub struct Chips {
    host: Server,
    chips: Vec<Server>,
}

impl Chips {
    /// The host's redis at `socket`, and `count` others, none of which holds anything.
    ///
    /// # Errors
    /// The system has no redis-server, somebody listens at one of the sockets, or a file cannot be written.
    pub fn start(socket: &Path, count: u8) -> Result<Chips, String> {
        // The files say it to whoever stands elsewhere.
        let socket = &std::path::absolute(socket).map_err(|error| error.to_string())?;
        let host = Server::start(socket)?;
        files(socket, &global(count), "database_global.json")?;
        files(socket, &config(socket), "database_config.json")?;
        let one = |number: u8| {
            let own = socket_of(socket, number);
            let server = Server::start(&own)?;
            files(&own, &config(&own), "database_config.json")?;
            Ok(server)
        };
        let chips: Result<Vec<Server>, String> = (0..count).map(one).collect();
        Ok(Chips { host, chips: chips? })
    }

    /// Where the redis of the emulated chip listens.
    pub fn own(&self) -> &Path {
        self.chips.last().unwrap_or(&self.host).socket()
    }

    /// Fills what is not the emulated chip's, and names that, once its CONFIG_DB is there.
    ///
    /// # Errors
    /// A redis does not answer.
    pub fn fill(&self, profile: &Profile) -> Result<(), String> {
        let all = filled(profile)?;
        let metadata = all.get("DEVICE_METADATA|localhost").cloned().unwrap_or_default();
        written(self.host.socket(), &[("DEVICE_METADATA|localhost".to_owned(), metadata.clone())])?;
        for (number, server) in self.chips.iter().enumerate() {
            let mut named = metadata.clone();
            named.insert("asic_name".to_owned(), format!("asic{number}"));
            named.insert("sub_role".to_owned(), "FrontEnd".to_owned());
            let mut rows = vec![("DEVICE_METADATA|localhost".to_owned(), named)];
            if server.socket() != self.own() {
                let first = ELSEWHERE + number * PORTS;
                rows.extend((first..first + PORTS).flat_map(elsewhere));
            }
            written(server.socket(), &rows)?;
        }
        Ok(())
    }
}

/// What there is of a port of another chip.
fn elsewhere(number: usize) -> [(String, Row); 2] {
    let port = [
        ("admin_status", "down".to_owned()),
        ("alias", format!("Ethernet{number}/1")),
        ("lanes", number.to_string()),
        ("mtu", "9100".to_owned()),
        ("role", "Ext".to_owned()),
        ("speed", "100000".to_owned()),
    ];
    let guarded = [("detection_time", "200".to_owned()), ("action", "drop".to_owned())];
    [
        (format!("PORT|Ethernet{number}"), row(port)),
        (format!("PFC_WD|Ethernet{number}"), row(guarded)),
    ]
}

/// Where the redis of a chip listens, by where the host's does.
pub(super) fn socket_of(host: &Path, number: u8) -> PathBuf {
    let folder = host.parent().and_then(Path::parent).unwrap_or(Path::new(".."));
    folder.join(format!("redis{number}")).join("redis.sock")
}

/// Where the redis of a namespace listens, as `sonic-db-cli -n` is told it.
pub(super) fn named(host: &Path, space: &str) -> Option<PathBuf> {
    let number: u8 = space.strip_prefix("asic")?.parse().ok()?;
    Some(socket_of(host, number)).filter(|socket| socket.exists())
}

fn global(count: u8) -> serde_json::Value {
    let host = json!({"include": "database_config.json"});
    let chip = |number: u8| {
        let include = format!("../../redis{number}/sonic-db/database_config.json");
        json!({"namespace": format!("asic{number}"), "include": include})
    };
    let all: Vec<_> = core::iter::once(host).chain((0..count).map(chip)).collect();
    json!({"INCLUDES": all, "VERSION": "1.0"})
}

fn config(socket: &Path) -> serde_json::Value {
    let databases: serde_json::Map<String, serde_json::Value> = DATABASES
        .iter()
        .map(|(name, id, separator)| {
            let is = json!({"id": id, "separator": separator, "instance": "redis"});
            ((*name).to_owned(), is)
        })
        .collect();
    let instance = json!({"hostname": "127.0.0.1", "port": 6379, "unix_socket_path": socket});
    json!({"INSTANCES": {"redis": instance}, "DATABASES": databases, "VERSION": "1.0"})
}

/// Writes a file of that name beside a socket, in the folder that is for such files.
fn files(socket: &Path, text: &serde_json::Value, name: &str) -> Result<(), String> {
    let folder = socket.parent().unwrap_or(Path::new(".")).join("sonic-db");
    let file = folder.join(name);
    let made = fs::create_dir_all(&folder).and_then(|()| fs::write(&file, format!("{text:#}\n")));
    made.map_err(|error| format!("cannot write {}: {error}", file.display()))
}

/// Writes rows to CONFIG_DB, and that all of it is there.
fn written(socket: &Path, rows: &[(String, Row)]) -> Result<(), String> {
    let named = |error: RedisError| format!("{}: {error}", socket.display());
    let mut all = redis::pipe();
    all.cmd("SELECT").arg(Db::Config as u8).ignore();
    rows.iter().for_each(|(key, row)| names::set(&mut all, key, row));
    all.cmd("SET").arg("CONFIG_DB_INITIALIZED").arg(1).ignore();
    all.exec(&mut connect(socket).map_err(named)?).map_err(named)
}
