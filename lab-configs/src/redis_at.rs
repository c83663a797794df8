//! Where the redis of a switch listens.

use core::fmt;
use core::str::FromStr;
use std::path::{Component, Path, PathBuf};

/// Where the redis of a switch listens: `unix:PATH`, `tcp:HOST:PORT`, or `ssh:USER@HOST` where `ssh` is the way to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum RedisAt {
    /// A socket in the file system: the switch's own, or the near end of a forward to it.
    Unix(PathBuf),
    /// A name or an address, and a port.
    Tcp(String, u16),
    /// A socket at the other end of `ssh`.
    Ssh {
        /// As it is said to `ssh`: a host, a user at one, or a name of its configuration.
        host: String,
        /// The socket there.
        socket: PathBuf,
    },
}

/// Where the redis of SONiC listens.
const SOCKET: &str = "/var/run/redis/redis.sock";

impl RedisAt {
    /// What is accepted.
    pub const WANT: &str =
        "unix:PATH or tcp:HOST:PORT, such as unix:/var/run/redis/redis.sock, or ssh:USER@HOST";
}

impl FromStr for RedisAt {
    type Err = String;

    fn from_str(text: &str) -> Result<RedisAt, String> {
        let wanted = || format!("want {}", RedisAt::WANT);
        if text.chars().any(char::is_control) {
            return Err(wanted());
        }
        if let Some(path) = text.strip_prefix("unix:") {
            let path = Path::new(path);
            let names = path.components().any(|part| matches!(part, Component::Normal(_)));
            return names.then(|| RedisAt::Unix(path.to_owned())).ok_or_else(wanted);
        }
        if let Some(way) = text.strip_prefix("ssh:") {
            let (host, socket) = match way.split_once(":/") {
                Some((host, path)) => (host, format!("/{path}")),
                None => (way, SOCKET.to_owned()),
            };
            // What begins with a dash is an option of ssh; a colon ends the socket in what it is told to forward.
            let wrong = host.is_empty()
                || host.starts_with('-')
                || host.chars().any(char::is_whitespace)
                || socket.contains(':')
                || socket.len() == 1;
            let socket = PathBuf::from(socket);
            return if wrong {
                Err(wanted())
            } else {
                Ok(RedisAt::Ssh { host: host.to_owned(), socket })
            };
        }
        let (host, port) =
            text.strip_prefix("tcp:").and_then(|rest| rest.rsplit_once(':')).ok_or_else(wanted)?;
        // An address of IPv6 stands in brackets.
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        match port.parse() {
            Ok(port) if !host.is_empty() && port > 0 => Ok(RedisAt::Tcp(host.to_owned(), port)),
            _ => Err(wanted()),
        }
    }
}

impl fmt::Display for RedisAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RedisAt::Unix(path) => write!(f, "unix:{}", path.display()),
            RedisAt::Tcp(host, port) if host.contains(':') => write!(f, "tcp:[{host}]:{port}"),
            RedisAt::Tcp(host, port) => write!(f, "tcp:{host}:{port}"),
            RedisAt::Ssh { host, socket } if *socket == Path::new(SOCKET) => {
                write!(f, "ssh:{host}")
            }
            RedisAt::Ssh { host, socket } => write!(f, "ssh:{host}:{}", socket.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_as_it_is_written_and_anything_else_is_refused_with_what_is_accepted() {
        for text in [
            "unix:/var/run/redis/redis.sock",
            "unix:near.sock",
            "tcp:127.0.0.1:6379",
            "tcp:leaf-1:1",
            "tcp:[fe80::1]:6379",
            "ssh:leaf-1",
            "ssh:admin@leaf-1",
            "ssh:admin@leaf-1:/var/run/redis0/redis.sock",
        ] {
            let at: RedisAt = text.parse().expect(text);
            assert_eq!(at.to_string(), text);
        }
        for text in [
            "",
            "unix:",
            "unix:/",
            "/run/redis.sock",
            "tcp:6379",
            "tcp::6379",
            "tcp:leaf:0",
            "tcp:leaf:70000",
            "redis://leaf",
            "unix:/a\nb",
            "ssh:",
            "ssh:-oProxyCommand=sh",
            "ssh:leaf 1",
            "ssh::/redis.sock",
            "ssh:leaf:/a:b",
        ] {
            assert_eq!(text.parse::<RedisAt>(), Err(format!("want {}", RedisAt::WANT)), "{text}");
        }
    }
}
