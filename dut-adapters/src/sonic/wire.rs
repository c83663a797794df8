//! The language of redis (RESP 2) over a socket, with an end by which a whole answer is there: bytes that trickle in do not put it off.

use core::time::Duration;
use redis::Value;
use rig_generator::port::Mono;
use rig_lab::RedisAt;
use rig_units::Dur;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

/// The most bytes of one answer: no table of a switch is as large.
const MOST: usize = 64 << 20;
/// How deep an answer may be nested: none is deeper than a list of lists in a transaction.
const DEEPEST: usize = 8;

/// What carries bytes.
trait Carrier: Read + Write + Send {
    fn wait(&self, most: Duration) -> io::Result<()>;
}

impl Carrier for UnixStream {
    fn wait(&self, most: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(most)).and_then(|()| self.set_write_timeout(Some(most)))
    }
}

impl Carrier for TcpStream {
    fn wait(&self, most: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(most)).and_then(|()| self.set_write_timeout(Some(most)))
    }
}

/// An answer, or the code of the error that redis answers: its text may repeat what it was asked.
pub(super) type Reply = Result<Value, String>;

/// A connection.
pub(super) struct Wire {
    carrier: Box<dyn Carrier>,
    /// What has come and was not taken yet.
    heard: Vec<u8>,
}

impl Wire {
    /// Connects, within `most`.
    pub(super) fn open(at: &RedisAt, most: Duration) -> io::Result<Wire> {
        let carrier: Box<dyn Carrier> = match at {
            RedisAt::Unix(path) => Box::new(UnixStream::connect(path)?),
            RedisAt::Ssh { .. } => {
                return Err(io::Error::other("a way to it has to be made first"));
            }
            RedisAt::Tcp(host, port) => {
                let places = std::net::ToSocketAddrs::to_socket_addrs(&(host.as_str(), *port))?;
                let mut last = ErrorKind::NotFound.into();
                let one = places.into_iter().find_map(|place| {
                    TcpStream::connect_timeout(&place, most).map_err(|error| last = error).ok()
                });
                let stream = one.ok_or(last)?;
                stream.set_nodelay(true)?;
                Box::new(stream)
            }
        };
        Ok(Wire { carrier, heard: Vec::new() })
    }

    /// Sends what was packed, within `most`.
    pub(super) fn send(&mut self, packed: &[u8], most: Duration) -> io::Result<()> {
        self.carrier.wait(most)?;
        self.carrier.write_all(packed)
    }

    /// The next answer, by `end`; `None` where none is there by then.
    pub(super) fn hear(&mut self, end: Mono) -> io::Result<Option<Reply>> {
        loop {
            if let Some((reply, length)) = taken(&self.heard, 0)? {
                self.heard.drain(..length);
                return Ok(Some(reply));
            }
            let left = end.since(Mono::now()).filter(|left| *left > Dur::ZERO);
            let Some(left) = left else { return Ok(None) };
            // Whole microseconds, and never none at all, which would be for ever.
            self.carrier.wait(Duration::from_micros((left.0 / Dur::us(1).0).max(1)))?;
            let mut some = [0; 16 << 10];
            match self.carrier.read(&mut some) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.heard.extend_from_slice(&some[..length]),
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if self.heard.len() > MOST {
                return Err(odd("it is too long"));
            }
        }
    }
}

/// When something that may take `most` has to be over.
pub(super) fn end(most: Duration) -> Mono {
    let most = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
    Mono(Mono::now().0.saturating_add(most))
}

fn odd(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why.to_owned())
}

/// The first answer of `bytes` and how long it is; `None` where its end is not there yet.
fn taken(bytes: &[u8], deep: usize) -> io::Result<Option<(Reply, usize)>> {
    let Some(line) = bytes.windows(2).position(|two| two == b"\r\n") else { return Ok(None) };
    let text = std::str::from_utf8(&bytes[..line]).map_err(|_| odd("no text"))?;
    let (sign, rest) = text.split_at_checked(1).ok_or_else(|| odd("an empty line"))?;
    let number = || rest.parse::<i64>().map_err(|_| odd("no number"));
    let (after, nil) = (line + 2, Ok(Value::Nil));
    let value = match sign {
        "+" if rest == "OK" => Value::Okay,
        "+" => Value::SimpleString(rest.to_owned()),
        "-" => {
            let code = rest.split(' ').next().unwrap_or_default();
            return Ok(Some((Err(code.to_owned()), after)));
        }
        ":" => Value::Int(number()?),
        "$" => {
            let Ok(length) = usize::try_from(number()?) else { return Ok(Some((nil, after))) };
            if length > MOST {
                return Err(odd("it is too long"));
            }
            let Some(whole) = bytes.get(after..after + length + 2) else { return Ok(None) };
            let text = Value::BulkString(whole[..length].to_vec());
            return Ok(Some((Ok(text), after + length + 2)));
        }
        "*" if deep == DEEPEST => return Err(odd("it is nested too deeply")),
        "*" => {
            let Ok(count) = usize::try_from(number()?) else { return Ok(Some((nil, after))) };
            let (mut all, mut at) = (Vec::new(), after);
            for _ in 0..count {
                let Some((one, length)) = taken(&bytes[at..], deep + 1)? else { return Ok(None) };
                all.push(one);
                at += length;
            }
            // With one that redis refuses it refuses all of them.
            return Ok(Some((all.into_iter().collect::<Result<_, _>>().map(Value::Array), at)));
        }
        _ => return Err(odd("no answer of redis")),
    };
    Ok(Some((Ok(value), after)))
}

#[cfg(test)]
mod tests;
