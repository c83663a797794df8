//! One unmodified perftest at one NIC, its server at another, and the rig between the two.

use crate::guest::{HwCounters, ShellOutput};
use crate::peer::{GuestCrossing, Knows, Learner, Middle};
use crate::perftest::Overheard;
use crate::session::{Came, PORT};
use crate::{GuestFault, PATIENCE, Perftest, PerftestHost};
use core::time::Duration;

/// How long a shell's own work may take there.
const SHELL: Duration = Duration::from_secs(120);

impl Perftest {
    /// Runs it between two NICs: the client at the first, the server at the other, with nothing but the rig between them. The rig answers
    /// nobody, so how it would behave as an end ([`conduct`](Perftest::conduct)) is not asked; what came of it are the client's exit
    /// status, and the counters of both NICs.
    ///
    /// # Errors
    /// A host that is lost; a port of the rig that breaks; a server that does not come to listen.
    pub fn run_between(
        &self,
        [client, server]: [&mut dyn PerftestHost; 2],
        crossing: Box<dyn GuestCrossing>,
    ) -> Result<Came, GuestFault> {
        let before = [client.counters()?, server.counters()?];
        let ways = [client.way(self.over)?, server.way(self.over)?];
        let listens = self.served(server, &ways[1].nic)?;
        // What passes is timed from here on, when the server's own start is over.
        let across = client.across();
        let knows = match across.beside {
            true => Knows::Frames(Learner::default()),
            false => Knows::Talk(Overheard::new(PORT)),
        };
        let middle = match Middle::start([&ways[0], &ways[1]], knows, crossing) {
            Ok(middle) => middle,
            Err(fault) => {
                listens.finished(server, false)?;
                return Err(fault);
            }
        };
        let command = format!("{} {}", self.command(&ways[0].nic, PORT), across.finds);
        let ran = client.run(&command, PATIENCE * 2);
        // A server whose client went wrong waits for it in vain.
        let by_itself = ran.as_ref().is_ok_and(|ran| ran.status == 0);
        let unfinished = listens.finished(server, by_itself);
        let passed = middle.finish();
        let (ran, unfinished, passed) = (ran?, unfinished?, passed?);
        let [own, others] = before;
        let counters = HwCounters { before: own, after: client.counters()? };
        let other = Some(HwCounters { before: others, after: server.counters()? });
        Ok(Came { ran, passed, counters, other, unfinished })
    }

    /// Starts the server, and waits until it listens.
    pub(crate) fn served(
        &self,
        server: &mut dyn PerftestHost,
        nic: &str,
    ) -> Result<Served, GuestFault> {
        // One that nobody else has made.
        let made = server.run("mktemp -d /tmp/rig-served-XXXXXX", SHELL)?;
        let folder = made.lines.first().filter(|_| made.status == 0);
        let folder = folder.map(|folder| folder.trim().to_owned()).ok_or_else(|| {
            GuestFault::failed("have a server of perftest listen", made.lines.join("; "))
        })?;
        let command = listening(&self.command(nic, PORT), PORT, &folder, server.has_one_shell());
        let ran = server.run(&command, SHELL)?;
        let served = Served { folder };
        if ran.status == 0 {
            return Ok(served);
        }
        let begun = server.run(&format!("[ -s {}/number ]", served.folder), SHELL)?;
        if begun.status == 0 {
            let _told_below = served.finished(server, false)?;
        }
        Err(GuestFault::failed("have a server of perftest listen", ran.lines.join("; ")))
    }
}

/// What starts `command` in a shell, its words, number and exit status in `folder`, and waits until it listens at `port`.
fn listening(command: &str, port: u16, folder: &str, has_one_shell: bool) -> String {
    // With a shell that ends its programs are to end, also where it is told so: by the line that breaks, as a rule, while it writes.
    let last = match has_one_shell {
        true => format!(
            "trap 'kill $(cat {folder}/number) 2>/dev/null; rm -rf {folder}' EXIT; trap exit HUP INT PIPE TERM"
        ),
        false => "true".to_owned(),
    };
    format!(
        "{{ {last}; \
         ({command} >{folder}/said 2>&1 & echo $! >{folder}/number; wait $!; echo $? >{folder}/status) >/dev/null 2>&1 & \
         n=0; until cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ':{port:04X} 0*:0000 0A' || [ -s {folder}/status ] || [ $n -ge 600 ]; \
         do sleep 0.05; n=$((n+1)); done; \
         [ ! -s {folder}/status ] && [ $n -lt 600 ] || {{ cat {folder}/said; false; }}; }}"
    )
}

/// A server of perftest that listens.
pub(crate) struct Served {
    /// Where its output, its number and its exit status are.
    folder: String,
}

impl Served {
    /// Waits for its end; one of a client that failed is ended. Why it did not end well by itself, if it did not.
    pub(crate) fn finished(
        &self,
        server: &mut dyn PerftestHost,
        by_itself: bool,
    ) -> Result<Option<String>, GuestFault> {
        let ran = self.ended(server, by_itself)?;
        let told = || format!("its server: exit status {}; {}", ran.status, ran.lines.join("; "));
        Ok((ran.status != 0).then(told))
    }

    /// The same: how it ended, and what it said.
    pub(crate) fn ended(
        &self,
        server: &mut dyn PerftestHost,
        by_itself: bool,
    ) -> Result<ShellOutput, GuestFault> {
        let Served { folder } = self;
        let waits = if by_itself { 40 } else { 0 };
        // It runs under `timeout -k`, which passes on that it is to end, and a second later kills what has not: `timeout` killed leaves it there.
        let last = match server.has_one_shell() {
            true => "trap - EXIT HUP INT PIPE TERM",
            false => "true",
        };
        let command = format!(
            "n=0; until [ -s {folder}/status ] || [ $n -ge {waits} ]; do sleep 0.05; n=$((n+1)); done; \
             [ -s {folder}/status ] || kill $(cat {folder}/number); \
             until [ -s {folder}/status ]; do sleep 0.05; done; cat {folder}/said; n=$(cat {folder}/status); rm -rf {folder}; {last}; (exit $n)"
        );
        server.run(&command, SHELL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;
    use std::path::Path;
    use std::process::{Command, Stdio};

    /// As where a rig is killed: the line to the server breaks, and its shell hears no more.
    #[test]
    fn a_server_of_perftest_ends_with_the_line_to_its_shell_and_leaves_nothing() {
        let folder = std::env::temp_dir().join(format!("rig-listens-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("a folder");
        let folder = folder.display().to_string();
        // Who listens is this test: what is started only has to go on.
        let listens = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listens.local_addr().expect("an address").port();
        let mut shell = Command::new("sh");
        shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.spawn().expect("there is a shell");
        let (mut line, said) = (shell.stdin.take().expect("a pipe"), shell.stdout.take());
        writeln!(line, "{}", listening("sleep 300", port, &folder, true)).expect("it listens");
        writeln!(line, "cat {folder}/number").expect("it listens");
        let mut number = String::new();
        let _length = BufReader::new(said.expect("a pipe")).read_line(&mut number).expect("words");
        let program = Path::new("/proc").join(number.trim());
        let runs = || std::fs::read(program.join("cmdline")).is_ok_and(|words| !words.is_empty());
        assert!(runs() && Path::new(&folder).exists(), "{number}");

        drop(line);
        shell.wait().expect("it ends");
        // A program that is told to end takes a moment for it.
        let left = (0..500).all(|_| {
            wait(Duration::from_millis(20));
            runs()
        });
        assert!(!left && !Path::new(&folder).exists(), "{number}");
    }

    #[expect(clippy::disallowed_methods, reason = "what is waited for is another process")]
    fn wait(length: Duration) {
        std::thread::sleep(length);
    }
}
