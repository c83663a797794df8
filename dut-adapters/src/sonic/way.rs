//! The way to the redis of a switch: its socket, a port, or a socket of ours that the system's `ssh` forwards to it. Whatever the
//! user's configuration of `ssh` says of a switch holds: jump hosts, keys, agents, pinned host keys. Nobody is asked for a password.

use super::wire::end;
use core::time::Duration;
use rig_generator::port::Mono;
use rig_lab::RedisAt;
use std::fs::{DirBuilder, remove_dir, remove_file};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// How long `ssh` may take until it forwards.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long it may take to end once it is to.
const ENDS: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(20);
/// The most of what it says that is told.
const SAID: usize = 300;
/// No question that nobody would answer; a line that is dead is found out within ten seconds.
const OPTIONS: [&str; 7] = [
    "BatchMode=yes",
    "ConnectTimeout=15",
    "ExitOnForwardFailure=yes",
    "ControlPath=none",
    "StreamLocalBindMask=0177",
    "ServerAliveInterval=3",
    "ServerAliveCountMax=2",
];

/// What is asked of `ssh` whatever it is to do.
pub(super) fn options() -> impl Iterator<Item = &'static str> {
    OPTIONS.into_iter()
}

/// The chip whose redis that would be at a switch that has several, as SONiC names both: `asic1` of `/var/run/redis1/redis.sock`. A
/// folder of that name is no evidence that there are several: CONFIG_DB is.
pub(super) fn chip(at: &RedisAt) -> Option<String> {
    let (RedisAt::Unix(socket) | RedisAt::Ssh { socket, .. }) = at else { return None };
    let number = socket.parent()?.file_name()?.to_str()?.strip_prefix("redis")?;
    number.parse::<u8>().ok().map(|number| format!("asic{number}"))
}

/// Whether that is where SONiC itself keeps the sockets of its redis servers.
pub(super) fn is_of_sonic(at: &RedisAt) -> bool {
    let (RedisAt::Unix(socket) | RedisAt::Ssh { socket, .. }) = at else { return false };
    ["/var/run", "/run"].iter().any(|run| socket.ancestors().nth(2) == Some(Path::new(run)))
}

/// The last that somebody has said who has ended.
pub(super) fn said(by: Option<&mut impl io::Read>) -> String {
    let mut said = Vec::new();
    let _read = by.map(|said_by| said_by.read_to_end(&mut said));
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.unwrap_or("it does not say why").escape_debug().take(SAID).collect()
}

/// A way that is there until this goes.
#[derive(Debug)]
pub(super) struct Way {
    near: RedisAt,
    _forward: Option<Forward>,
}

impl Way {
    /// The way to `at`.
    ///
    /// # Errors
    /// What `ssh` says of why there is none.
    pub(super) fn to(at: &RedisAt) -> io::Result<Way> {
        match at {
            RedisAt::Ssh { host, socket } => {
                let forward = Forward::start(host, socket)?;
                Ok(Way { near: RedisAt::Unix(forward.socket()), _forward: Some(forward) })
            }
            RedisAt::Unix(_) | RedisAt::Tcp(..) => Ok(Way { near: at.clone(), _forward: None }),
        }
    }

    /// Where it begins.
    pub(super) const fn near(&self) -> &RedisAt {
        &self.near
    }
}

/// An `ssh` that forwards.
#[derive(Debug)]
struct Forward {
    ssh: Child,
    folder: PathBuf,
}

impl Forward {
    fn start(host: &str, far: &Path) -> io::Result<Forward> {
        let folder = format!("rigctl-ssh-{}-{}", std::process::id(), Mono::now().0);
        let folder = std::env::temp_dir().join(folder);
        DirBuilder::new().mode(0o700).create(&folder)?;
        // It runs what ends when its input does: with this process, however that ends. What is left of it then is taken away.
        let run = "folder=$1; shift; ssh \"$@\"; is=$?; rm -f \"$folder/redis.sock\"; rmdir \"$folder\"; exit $is";
        let mut command = Command::new("sh");
        command.args(["-c", run, "ssh"]).arg(&folder).arg("-T");
        options().for_each(|option| {
            command.args(["-o", option]);
        });
        let forward = format!("{}:{}", folder.join("redis.sock").display(), far.display());
        command.args(["-L", &forward, "--", host, "cat"]);
        // Ctrl-C at a terminal is for whoever steers: that one still needs the way.
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let started = command.spawn();
        if started.is_err() {
            let _gone = remove_dir(&folder);
        }
        let mut forward = Forward { ssh: started?, folder };
        let over = end(PATIENCE);
        while UnixStream::connect(forward.socket()).is_err() {
            if forward.ssh.try_wait()?.is_some() {
                let said = said(forward.ssh.stderr.as_mut());
                return Err(io::Error::other(format!("ssh ends: {said}")));
            }
            if Mono::now() >= over {
                return Err(io::Error::new(ErrorKind::TimedOut, "ssh forwards nothing in time"));
            }
            pause(LOOK);
        }
        Ok(forward)
    }

    fn socket(&self) -> PathBuf {
        self.folder.join("redis.sock")
    }
}

impl Drop for Forward {
    fn drop(&mut self) {
        drop(self.ssh.stdin.take());
        let over = end(ENDS);
        while self.ssh.try_wait().is_ok_and(|ended| ended.is_none()) && Mono::now() < over {
            pause(LOOK);
        }
        // Over a dead line it ends by itself a little later; what it would take away is taken away here.
        let _killed = self.ssh.kill();
        let _reaped = self.ssh.wait();
        let _gone = remove_file(self.socket());
        let _gone = remove_dir(&self.folder);
    }
}

#[expect(clippy::disallowed_methods, reason = "what is waited for is another process, or machine")]
pub(super) fn pause(length: Duration) {
    std::thread::sleep(length);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_socket_of_a_chip_is_known_by_its_folder() {
        for (text, named) in [
            ("ssh:admin@leaf-1:/var/run/redis0/redis.sock", Some("asic0")),
            ("unix:/tmp/a/redis11/redis.sock", Some("asic11")),
            ("ssh:admin@leaf-1", None),
            ("unix:/tmp/redisx/redis.sock", None),
            ("unix:near.sock", None),
            ("tcp:leaf-1:6379", None),
        ] {
            let at: RedisAt = text.parse().expect(text);
            assert_eq!(chip(&at).as_deref(), named, "{text}");
            assert_eq!(
                is_of_sonic(&at),
                text.contains("/var/run/") || text == "ssh:admin@leaf-1",
                "{text}"
            );
        }
    }
}
