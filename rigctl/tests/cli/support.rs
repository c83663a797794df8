//! Running the binary in a folder of its own, never for long.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Beyond this a command hangs. Far above what any of them takes, for machines that are busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A folder that goes away with the test.
pub(crate) struct Desk(tempfile::TempDir);

/// What a command left behind.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Desk {
    pub(crate) fn new() -> Desk {
        Desk(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("writable");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
    }

    /// `rigctl` with these arguments, blanks between them.
    pub(crate) fn rigctl(&self, arguments: &str) -> Left {
        let mut command = self.command(env!("CARGO_BIN_EXE_rigctl"));
        command.args(arguments.split_whitespace());
        finish(command.spawn().expect("rigctl starts"))
    }

    /// A line of shell in which `$RIGCTL` is the binary.
    pub(crate) fn shell(&self, line: &str) -> Left {
        let mut command = self.command("sh");
        command.args(["-c", line]).env("RIGCTL", env!("CARGO_BIN_EXE_rigctl"));
        finish(command.spawn().expect("sh starts"))
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.0.path()).env_remove("NO_COLOR");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Every file below `name`, by its path, sorted.
    pub(crate) fn files(&self, name: &str) -> Vec<(PathBuf, Vec<u8>)> {
        let mut all = Vec::new();
        below(&self.path(name), &mut all);
        all.sort();
        let relative = |path: PathBuf| {
            path.strip_prefix(self.path(name)).map(Path::to_path_buf).unwrap_or(path)
        };
        all.into_iter().map(|(path, bytes)| (relative(path), bytes)).collect()
    }
}

fn below(folder: &Path, all: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            below(&path, all);
        } else {
            let bytes = std::fs::read(&path).expect("readable");
            all.push((path, bytes));
        }
    }
}

/// Waits for the end of a child, which is killed when that does not come.
pub(crate) fn finish(mut child: Child) -> Left {
    let (stdout, stderr) = (drain(child.stdout.take()), drain(child.stderr.take()));
    let status = ended(child);
    let text = |thread: thread::JoinHandle<String>| thread.join().expect("text");
    Left { code: status.code().unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) }
}

/// Waits for the end of a child, which is killed when that does not come.
pub(crate) fn ended(mut child: Child) -> ExitStatus {
    let (done, wait) = mpsc::channel();
    let id = child.id();
    thread::spawn(move || done.send(child.wait()));
    if let Ok(status) = wait.recv_timeout(PATIENCE) {
        return status.expect("a status");
    }
    let _killed = Command::new("kill").args(["-KILL", &id.to_string()]).status();
    panic!("still running after {PATIENCE:?}");
}

fn drain(pipe: Option<impl std::io::Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _closed = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The text with `N` for every number and `T` for every length of time: what follows from a seed is another one after any
/// change of what is drawn, and is no matter of layout.
pub(crate) fn layout(text: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_end_matches([',', ':', ';', '\n']);
        let rest = &word[bare.len()..];
        let number =
            |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
        let time =
            ["ns", "us", "ms"].iter().any(|unit| bare.strip_suffix(unit).is_some_and(number));
        match (number(bare), time) {
            (true, _) => format!("N{rest}"),
            (_, true) => format!("T{rest}"),
            (false, false) => word.to_owned(),
        }
    };
    text.split_inclusive('\n')
        .map(|line| line.split(' ').map(word).collect::<Vec<_>>().join(" "))
        .collect()
}

/// A suite of one case, the measure given.
pub(crate) fn suite(body: &str) -> String {
    format!(
        "about: \"a suite of one case\"
device: switch
cases:
  one-case:
    why: \"a test\"
    source: [\"a test\"]
    dut: {{rule_family: broadcom, pfcwd: {{detection_time: 200ms, restoration_time: 200ms, poll_interval: 100ms, action: drop}}}}
{body}"
    )
}

/// Streams, a storm and steps for [`suite`].
pub(crate) const STORM: &str = "    streams: {victim: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 500us}}
    storms: {storm: {from: p2, classes: [3]}}
    steps:
      - {at: 0ms, start: victim}
      - {at: 20ms, start: storm, for: 450ms}
    trials: 1
";
