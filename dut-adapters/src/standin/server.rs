//! A redis-server of the system, as SONiC starts its own, at a unix socket. It ends with this value, and with this process however
//! that ends.

use core::time::Duration;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Ends its server when its own input ends, and takes the folder away that was made for it, with files of where databases are: whoever
/// started it may be killed.
const KEEPER: &str = "folder=$1; shift; redis-server \"$@\" & server=$!; read -r line; kill \"$server\"; wait \"$server\"; \
                      [ -z \"$folder\" ] || { rm -rf \"$folder/sonic-db\"; rmdir \"$folder\"; }";
/// How often it is looked whether it is up, and after how long each time: ten seconds in all.
const LOOKS: u32 = 500;
const LOOK: Duration = Duration::from_millis(20);

/// A redis-server in a process of its own.
#[derive(Debug)]
pub struct Server {
    keeper: Child,
    socket: PathBuf,
}

impl Server {
    /// One at `socket` that keeps nothing on the disk; the folder of the socket is made where it is not there, for this user alone, and
    /// goes with it then.
    ///
    /// # Errors
    /// The system has no redis-server, somebody listens there already, or it does not come up.
    pub fn start(socket: &Path) -> Result<Server, String> {
        let is_there = Command::new("redis-server").arg("--version").output().is_ok();
        if !is_there {
            return Err("there is no redis-server (apt-get install redis-server)".to_owned());
        }
        if UnixStream::connect(socket).is_ok() {
            return Err(format!("somebody listens at {} already", socket.display()));
        }
        let folder = socket.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let made = match DirBuilder::new().mode(0o700).create(folder) {
            Ok(()) => folder,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Path::new(""),
            Err(error) => return Err(format!("cannot make {}: {error}", folder.display())),
        };
        let mut command = Command::new("sh");
        command.args(["-c", KEEPER, "redis-server"]).arg(made).args([
            "--port",
            "0",
            "--unixsocket",
        ]);
        command.arg(socket).args(["--unixsocketperm", "700", "--save", "", "--dir"]).arg(folder);
        // As SONiC's own: consumers hear of changes by keyspace events.
        command.args(["--notify-keyspace-events", "AKE", "--loglevel", "warning"]);
        // Ctrl-C at a terminal is for whoever steers: that one still needs it.
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let keeper = command.spawn().map_err(|error| format!("cannot start sh: {error}"))?;
        let server = Server { keeper, socket: socket.to_owned() };
        for _ in 0..LOOKS {
            if UnixStream::connect(socket).is_ok() {
                return Ok(server);
            }
            pause(LOOK);
        }
        Err(format!("redis-server is not up at {} after ten seconds", socket.display()))
    }

    /// Where it listens.
    pub fn socket(&self) -> &Path {
        &self.socket
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _reaped = self.keeper.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "what is waited for is another process")]
fn pause(length: Duration) {
    std::thread::sleep(length);
}
