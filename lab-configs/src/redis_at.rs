//! Where the redis of a switch listens.

use core::fmt;
use core::str::FromStr;
use std::path::{Component, Path, PathBuf};

/// Where the redis of a switch listens: `unix:PATH` or `tcp:HOST:PORT`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum RedisAt {
    /// A socket in the file system: the switch's own, or the near end of a forward to it.
    Unix(PathBuf),
    /// A name or an address, and a port.
    Tcp(String, u16),
}

impl RedisAt {
    /// What is accepted.
    pub const WANT: &str = "unix:PATH or tcp:HOST:PORT, such as unix:/var/run/redis/redis.sock";
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
        ] {
            assert_eq!(text.parse::<RedisAt>(), Err(format!("want {}", RedisAt::WANT)), "{text}");
        }
    }
}
