//! Programs of tests that only compute, aside of those that wait. Cargo starts one program of tests after the other, and while that one
//! waits for wires and guests the processors are idle. So CI has cargo start each by way of [`start`] (a target's runner, as cargo calls
//! it): one of [`COMPUTE`] goes on by itself in the idle class while cargo goes on to the next, and what it says goes over a socket to
//! [`Aside`], which shows it and tells how it ended. The command stays that of the README, and all that it lists is run.

use super::beside::{before, idle};
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Error, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::{JoinHandle, spawn};

/// Programs of tests, as cargo names them, that ask no clock and no interface: however long they are kept from a processor, they come to
/// the same.
const COMPUTE: [&str; 19] = [
    "calibration",
    "catalogue",
    "docs",
    "engine",
    "evidence",
    "evidence_values",
    "exhaustive",
    "fires",
    "fluid",
    "language",
    "ns3_dcqcn",
    "otherwise",
    "resolution",
    "rig_capture",
    "rig_oracle",
    "rigctl",
    "sheets",
    "vacuous",
    "worth",
];
/// Programs whose tests wait for things of their own and leave the processors idle: how many of them go on at a time.
const WAIT: [(&str, usize); 2] = [("faults", 4), ("server", 4)];
/// What ends a program that hangs, long after any has: the others are run then, and it is told which one it was. The seconds come behind.
const BOUND: [&str; 3] = ["timeout", "--foreground", "--kill-after=9"];
/// Of what has the processors, and of what has what others leave of them.
const PATIENCE: [&str; 2] = ["480", "2700"];
/// The variable with the socket's path.
const SOCKET: &str = "XTASK_ASIDE";
/// What holds a program: it says whom, and by which process, and how that ended.
const HOLD: &str = r#"echo "$0 $$"; "$@"; printf '\n== ended: %s\n' $?"#;
const ENDED: &[u8] = b"== ended: ";

/// Runs a program of tests for cargo: in the place of this one, or aside. Whether it was started.
pub(crate) fn start(mut words: impl Iterator<Item = String>) -> bool {
    let Some(program) = words.next() else { return false };
    let at_a_time = at_a_time(&program).into_iter();
    let words: Vec<String> = words.chain(at_a_time.flatten()).collect();
    let socket = std::env::var_os(SOCKET).filter(|_| COMPUTE.contains(&named(&program)));
    let started = match socket.zip(idle()) {
        Some((socket, idle)) => aside(Path::new(&socket), idle, &program, &words),
        None => {
            let mut command = before(&bound(PATIENCE[0]), OsStr::new(&program));
            Err(command.args(&words).env_remove(SOCKET).exec())
        }
    };
    started.map_err(|error| eprintln!("== cannot start {program}: {error}")).is_ok()
}

/// The words by which a program is ended after so many seconds; none where the machine has no such command.
fn bound(seconds: &'static str) -> Vec<&'static str> {
    let words = [&BOUND[..], &[seconds]].concat();
    let tried = before(&words, OsStr::new("true")).status();
    if tried.is_ok_and(|status| status.success()) { words } else { Vec::new() }
}

/// The name of a program of tests without what cargo has put behind it.
fn named(program: &str) -> &str {
    let file = Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or_default();
    file.rsplit_once('-').map_or(file, |(name, _)| name)
}

/// The words by which more tests of a program go on at a time than there are processors.
fn at_a_time(program: &str) -> Option<[String; 2]> {
    let of = WAIT.iter().find(|(name, _)| *name == named(program));
    of.map(|(_, most)| ["--test-threads".to_owned(), most.to_string()])
}

/// Starts a program and leaves it to itself; all that is said goes to the socket.
fn aside(socket: &Path, idle: &[&str], program: &str, words: &[String]) -> Result<(), Error> {
    let line = UnixStream::connect(socket)?;
    let mut held = before(idle, OsStr::new("sh"));
    held.args(["-c", HOLD, named(program)])
        .args(bound(PATIENCE[1]))
        .arg(program)
        .args(words)
        .env_remove(SOCKET);
    held.stdin(Stdio::null()).stdout(OwnedFd::from(line.try_clone()?)).stderr(OwnedFd::from(line));
    held.spawn().map(drop)
}

/// A program that runs, and what came of it once it has ended.
struct Running {
    name: String,
    holder: String,
    came: JoinHandle<bool>,
}

/// Puts a process, and all that it has started, into the usual class: from above, for what is started meanwhile is in that of who starts it.
fn hasten(process: &str) {
    // One that has ended is in no class.
    let _ended =
        Command::new("chrt").args(["--all-tasks", "--other", "--pid", "0", process]).output();
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    for task in tasks {
        let started = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        started.split_whitespace().for_each(hasten);
    }
}

/// Where programs that run aside tell what they do.
pub(super) struct Aside {
    socket: PathBuf,
    runner: (String, OsString),
    heard: JoinHandle<Vec<Running>>,
}

impl Aside {
    /// Listens; `None` where nothing can run in the idle class, or cargo has a runner of somebody else's.
    pub(super) fn listen(cargo: &OsStr) -> Option<Aside> {
        idle()?;
        let own = std::env::current_exe().ok()?;
        // Cargo takes words apart at spaces.
        let own = own.to_str().filter(|own| !own.contains(char::is_whitespace))?;
        let said = Command::new(cargo).arg("-vV").output().ok()?;
        let name = runner(&String::from_utf8_lossy(&said.stdout))?;
        if std::env::var_os(&name).is_some() {
            return None;
        }
        let runner = (name, format!("{own} start-tests").into());
        let socket = std::env::temp_dir().join(format!("xtask-aside-{}", std::process::id()));
        Aside::at(socket, runner).ok()
    }

    fn at(socket: PathBuf, runner: (String, OsString)) -> Result<Aside, Error> {
        let listener = UnixListener::bind(&socket)?;
        let heard = spawn(move || hear(&listener));
        Ok(Aside { socket, runner, heard })
    }

    /// What cargo is to have in its environment.
    pub(super) fn variables(&self) -> [(OsString, OsString); 2] {
        let (name, own) = &self.runner;
        [(name.into(), own.clone()), (SOCKET.into(), self.socket.clone().into())]
    }

    /// Waits for all that was started; whether all of it went well.
    pub(super) fn end(self) -> bool {
        // Who was started is in the queue before this.
        let told = UnixStream::connect(&self.socket).and_then(|mut line| line.write_all(b"\n"));
        let _gone = std::fs::remove_file(&self.socket);
        if told.is_err() {
            return false;
        }
        let all = self.heard.join().unwrap_or_default();
        // Nothing waits beside them any more: they get their share, whoever else is at work on this machine.
        for running in all.iter().filter(|running| !running.came.is_finished()) {
            println!("== aside: {} goes on", running.name);
            hasten(&running.holder);
        }
        let came = all.into_iter().map(|of| (of.name, of.came.join().unwrap_or(false)));
        let failed: Vec<String> = came.filter(|(_, well)| !well).map(|(name, _)| name).collect();
        if !failed.is_empty() {
            // Once more at the end, where people look.
            eprintln!("== aside failed: {}", failed.join(", "));
        }
        failed.is_empty()
    }
}

/// The variable that names a runner for what is built here, by what `cargo -vV` says.
fn runner(said: &str) -> Option<String> {
    let host = said.lines().find_map(|line| line.strip_prefix("host: "))?;
    Some(format!("CARGO_TARGET_{}_RUNNER", host.to_uppercase().replace(['-', '.'], "_")))
}

/// Hears whoever is started, until a line that names nobody.
fn hear(listener: &UnixListener) -> Vec<Running> {
    let mut all = Vec::new();
    for line in listener.incoming() {
        let Ok(line) = line else { break };
        let (mut said, mut name) = (BufReader::new(line), String::new());
        let named = said.read_line(&mut name);
        if named.is_ok() && name == "\n" {
            break;
        }
        let (name, holder) = name.trim().split_once(' ').unwrap_or_default();
        let [name, holder] = [name, holder].map(str::to_owned);
        let told = name.clone();
        all.push(Running { name, holder, came: spawn(move || show(&told, heard(said))) });
    }
    all
}

/// All that a program says, and how it ended; `None` of one whose holder has gone without a word.
fn heard(mut said: impl BufRead) -> (String, Option<i32>) {
    let (mut text, mut line) = (String::new(), Vec::new());
    while said.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        if let Some(code) = line.strip_prefix(ENDED) {
            return (text, String::from_utf8_lossy(code).trim().parse().ok());
        }
        text += &String::from_utf8_lossy(&line);
        line.clear();
    }
    (text, None)
}

/// In one piece, not between the lines of the tests. Whether it went well.
fn show(name: &str, (text, ended): (String, Option<i32>)) -> bool {
    let how = match ended {
        Some(0) => "ok".to_owned(),
        Some(code) => format!("failed: exit status: {code}"),
        None => "failed: nobody says how it ended".to_owned(),
    };
    println!("== aside: {name}\n{}\n== aside: {name}: {how}", text.trim_end());
    ended == Some(0)
}

#[cfg(test)]
mod tests;
