//! The chips of a switch that has several. Each has databases of its own, in a namespace (`asic0`, `asic1`), and a redis with a socket of
//! its own; `database_global.json` beside the redis of the host names the file of each namespace that says where that is.
//!
//! Whoever names the socket of a chip speaks to that chip. Whoever names the one of the host is spoken to by the chip that has the
//! ports. Facts: SONiC's design document on redis databases in several namespaces.

use super::link::{Db, Link};
use super::way::{options, said};
use super::{live, ports, stated};
use crate::control::Lost;
use rig_lab::{RedisAt, file};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder of these files, beside a socket.
const FOLDER: &str = "sonic-db";
const GLOBAL: &str = "database_global.json";
/// The most bytes of one of them: a database takes a line or five.
const MOST: u64 = 65_536;
/// The most chips that are looked at: no switch has as many.
const MOST_CHIPS: usize = 64;

/// A chip, and where its redis listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chip {
    pub(super) name: String,
    pub(super) at: RedisAt,
}

/// The chips of the switch whose host's redis is at `at`, in their order; none where it has one alone, or `at` is that of a chip.
///
/// # Errors
/// What stands in the files cannot be used, or nobody reads them there.
pub(super) fn chips(at: &RedisAt) -> Result<Vec<Chip>, Lost> {
    let socket = match at {
        RedisAt::Unix(socket) | RedisAt::Ssh { socket, .. } => socket,
        // A port says nothing of where its files are.
        RedisAt::Tcp(..) => return Ok(Vec::new()),
    };
    let folder = socket.parent().unwrap_or(Path::new("")).join(FOLDER);
    let global = folder.join(GLOBAL);
    let lost = |path: &Path, why: String| Lost { tried: format!("read {}", path.display()), why };
    let text = read(at, &global).map_err(|error| lost(&global, error.to_string()))?;
    let Some(text) = text else { return Ok(Vec::new()) };
    let named = spaces(&text).map_err(|why| lost(&global, why))?;
    let one = |(name, include): (String, PathBuf)| {
        let path = folder.join(include);
        let text = read(at, &path).map_err(|error| lost(&path, error.to_string()))?;
        let text = text.ok_or_else(|| lost(&path, "there is no such file".to_owned()))?;
        let socket = socket_in(&text).map_err(|why| lost(&path, why))?;
        let place = match at {
            RedisAt::Ssh { host, .. } => format!("ssh:{host}:{socket}"),
            RedisAt::Unix(_) | RedisAt::Tcp(..) => format!("unix:{socket}"),
        };
        let at = place.parse().map_err(|_| lost(&path, "its socket is none".to_owned()))?;
        Ok(Chip { name, at })
    };
    named.into_iter().map(one).collect()
}

/// Where the redis of the chip is that has the first `ports` front-panel ports that are up; `None` where `at` is to be spoken to itself.
///
/// # Errors
/// Nobody answers, the switch has less of them, or they are on several chips.
pub(super) fn with_ports(at: &RedisAt, ports: u16) -> Result<Option<RedisAt>, String> {
    let all = chips(at).map_err(|lost| lost.plainly())?;
    if all.is_empty() {
        return Ok(None);
    }
    let mut up: Vec<(u32, String, &Chip)> = Vec::new();
    for chip in &all {
        let plainly = |lost: Lost| format!("{}: {}", chip.name, lost.plainly());
        let mut link = Link::open(&chip.at).map_err(plainly)?;
        // One that does nothing but carry between the others has no port of the front.
        let keys = link.keys(Db::Config, "PORT|").map_err(plainly)?;
        if !keys.iter().any(|key| key.strip_prefix("PORT|").is_some_and(ports::is_port)) {
            continue;
        }
        let tables = live::config(&mut link, &live::name(&chip.at)).map_err(plainly)?;
        let own = stated::ports(&tables).into_iter();
        up.extend(
            own.filter(|port| is_up(&tables, port))
                .map(|port| (ports::number(port), port.to_owned(), chip)),
        );
    }
    up.sort_by_key(|(number, ..)| *number);
    let names = all.iter().map(|chip| chip.name.as_str()).collect::<Vec<_>>().join(", ");
    if up.len() < usize::from(ports) {
        return Err(format!(
            "the switch at {at} has {} front-panel ports that are up on its chips {names}, and the rig is cabled to {ports}",
            up.len()
        ));
    }
    up.truncate(ports.into());
    let used: BTreeSet<&str> = up.iter().map(|(.., chip)| chip.name.as_str()).collect();
    match (up.first(), used.len()) {
        (Some((.., chip)), 1) => Ok(Some(chip.at.clone())),
        (Some((.., chip)), _) => {
            let each = up.iter().map(|(_, port, chip)| format!("{port} on {}", chip.name));
            Err(format!(
                "the rig's ports are on several chips ({}), and a profile is of one: have those alone up that the rig is cabled to, all on \
                 one chip, or name the redis of a chip, as {}",
                each.collect::<Vec<_>>().join(", "),
                chip.at
            ))
        }
        (None, _) => Ok(None),
    }
}

/// Whether a port is up by its own word: [`stated::ports`] takes all of a chip where none is.
fn is_up(tables: &super::Tables, port: &str) -> bool {
    tables.field("PORT", port, "admin_status").is_some_and(|said| said.text == "up")
}

/// The namespaces that `database_global.json` names, each with the file of it.
fn spaces(text: &str) -> Result<Vec<(String, PathBuf)>, String> {
    let wants =
        || "want {\"INCLUDES\": [{\"namespace\": \"asic0\", \"include\": FILE}, ...]}".to_owned();
    let global: Value =
        serde_json::from_str(text).map_err(|error| format!("{error}; {}", wants()))?;
    let all = global["INCLUDES"].as_array().ok_or_else(wants)?;
    // The host has no name, and what has another kind of one (a DPU in a container) is none of the switch's chips.
    let named: Vec<&Value> = all.iter().filter(|one| one["namespace"].is_string()).collect();
    if named.len() > MOST_CHIPS {
        return Err(format!(
            "it has {} namespaces, and at most {MOST_CHIPS} are read",
            named.len()
        ));
    }
    let one = |one: &Value| {
        let name = one["namespace"].as_str().filter(|name| is_name(name)).ok_or_else(wants)?;
        let include = one["include"].as_str().filter(|path| !path.is_empty()).ok_or_else(wants)?;
        Ok((name.to_owned(), PathBuf::from(include)))
    };
    named.into_iter().map(one).collect()
}

/// Whether it is what SONiC calls a namespace.
fn is_name(text: &str) -> bool {
    text.strip_prefix("asic").is_some_and(|number| number.parse::<u8>().is_ok())
}

/// The socket of the redis that has CONFIG_DB, by a `database_config.json`.
fn socket_in(text: &str) -> Result<String, String> {
    let config: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let database = &config["DATABASES"][Db::Config.name()];
    let number = Db::Config as u64;
    if database["id"].as_u64() != Some(number) {
        let found = &database["id"];
        return Err(format!(
            "{} is database {found}, and {number} alone is read",
            Db::Config.name()
        ));
    }
    let instance = database["instance"].as_str().unwrap_or_default();
    let socket = config["INSTANCES"][instance]["unix_socket_path"].as_str();
    socket.map(str::to_owned).ok_or_else(|| "it says no unix_socket_path".to_owned())
}

/// What stands in a file at the switch; `None` where there is none.
fn read(at: &RedisAt, path: &Path) -> io::Result<Option<String>> {
    let RedisAt::Ssh { host, .. } = at else {
        return match std::fs::symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
            Ok(_) => {
                let bytes =
                    file::read(path, MOST).map_err(|unread| io::Error::other(unread.found))?;
                Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
            }
        };
    };
    let path = path.display().to_string().replace('\'', r"'\''");
    // What the file is not there for ends with 3, whatever ssh, the shell or timeout may end with.
    let run = format!("[ -e '{path}' ] || exit 3; exec timeout 10 head -c {MOST} -- '{path}'");
    let mut command = Command::new("ssh");
    options().for_each(|option| {
        command.args(["-o", option]);
    });
    command.args(["-T", "--", host, &run]).stdin(Stdio::null());
    let mut ssh = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut text = Vec::new();
    let heard = ssh.stdout.take().map(|out| out.take(MOST).read_to_end(&mut text));
    let said = said(ssh.stderr.as_mut());
    let code = ssh.wait()?.code();
    heard.transpose()?;
    match code {
        Some(0) => Ok(Some(String::from_utf8_lossy(&text).into_owned())),
        Some(3) => Ok(None),
        _ => Err(io::Error::other(format!("ssh ends: {said}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_files_say_is_read_and_what_they_leave_out_is_named() {
        let global = r#"{"INCLUDES": [{"include": "../redis/sonic-db/database_config.json"},
            {"namespace": "asic0", "include": "../redis0/sonic-db/database_config.json"},
            {"container_name": "dpu0", "include": "../redisdpu0/sonic-db/database_config.json"}], "VERSION": "1.0"}"#;
        let one = ("asic0".to_owned(), PathBuf::from("../redis0/sonic-db/database_config.json"));
        assert_eq!(spaces(global), Ok(vec![one]));
        for (text, why) in [
            ("{}", "want {\"INCLUDES\""),
            ("[", "EOF"),
            (r#"{"INCLUDES": [{"namespace": "x;y", "include": "z"}]}"#, "want {\"INCLUDES\""),
            (r#"{"INCLUDES": [{"namespace": "asic0"}]}"#, "want {\"INCLUDES\""),
        ] {
            let told = spaces(text).expect_err(text);
            assert!(told.contains(why), "{told}");
        }
        let config = |id: u8| {
            format!(
                r#"{{"INSTANCES": {{"redis": {{"unix_socket_path": "/var/run/redis0/redis.sock"}}}},
                     "DATABASES": {{"CONFIG_DB": {{"id": {id}, "separator": "|", "instance": "redis"}}}}}}"#
            )
        };
        assert_eq!(socket_in(&config(4)), Ok("/var/run/redis0/redis.sock".to_owned()));
        let other = Err("CONFIG_DB is database 5, and 4 alone is read".to_owned());
        assert_eq!(socket_in(&config(5)), other);
        let none = config(4).replace("unix_socket_path", "port");
        assert_eq!(socket_in(&none), Err("it says no unix_socket_path".to_owned()));
    }
}
