//! Another program that is measured beside this one: a child that ends with its value, and is given time and no more.

use rig_generator::{Clock, Fine};
use rig_units::Dur;
use std::io::{BufRead, BufReader};
use std::process::{Child, ExitStatus};

/// How often it is asked whether it has ended.
const STEP: Dur = Dur::ms(20);
/// So many lines of what it said last are passed on.
const LINES: usize = 4;

/// A child that is ended with this value.
#[derive(Debug)]
pub(super) struct Running(pub(super) Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only when it has ended already.
        let _ended = self.0.kill();
        let _ended = self.0.wait();
    }
}

impl Running {
    /// Whether it has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        self.0.try_wait().is_ok_and(|ended| ended.is_some())
    }

    /// Gives it `patience` to end; how it did, or `None` while it still runs.
    pub(super) fn ended(
        &mut self,
        clock: &Fine,
        patience: Dur,
    ) -> Result<Option<ExitStatus>, String> {
        let until = clock.now() + patience;
        loop {
            let ended = self.0.try_wait().map_err(|error| error.to_string())?;
            if ended.is_some() || clock.now() >= until {
                return Ok(ended);
            }
            pass(clock, STEP)?;
        }
    }

    /// Ends it; what it said last on its standard error.
    pub(super) fn last_words(mut self) -> String {
        let _ended = self.0.kill();
        let words = self.0.stderr.take().map(BufReader::new).into_iter().flat_map(BufRead::lines);
        let words: Vec<String> = words.map_while(Result::ok).collect();
        words[words.len().saturating_sub(LINES)..].join(" | ")
    }
}

/// Waits.
pub(super) fn pass(clock: &Fine, time: Dur) -> Result<(), String> {
    let until = clock.now() + time;
    while clock.now() < until {
        clock.sleep(until, &[]).map_err(|error| error.to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn sh(script: &str) -> Running {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null()).stderr(Stdio::piped());
        Running(command.spawn().expect("sh"))
    }

    #[test]
    fn a_child_that_ends_says_how_and_in_which_words() {
        let mut child = sh("for word in 1 2 3 4 5; do echo $word >&2; done; exit 3");
        let ended = child.ended(&Fine::start(), Dur::s(60)).expect("ours").expect("in time");
        assert_eq!(ended.code(), Some(3));
        assert!(child.has_ended());
        assert_eq!(child.last_words(), "2 | 3 | 4 | 5");
    }

    #[test]
    fn a_child_that_does_not_end_is_given_up_and_ended() {
        let mut child = sh("exec sleep 600");
        let pid = child.0.id();
        assert!(child.ended(&Fine::start(), Dur::ms(1)).expect("ours").is_none());
        drop(child);
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    }
}
