//! What was done so far, night for night: a line a round, in a file that is only ever added to. A night that is cut off
//! loses the round that was under way, and the next goes on behind the last line.

use super::checks::Check;
use core::time::Duration;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// One round that was run to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoggedRound {
    /// The state of the code, as git calls it.
    pub(crate) code: String,
    /// The check, by name.
    pub(crate) check: String,
    /// The round, from 0.
    pub(crate) round: u64,
    /// How it ended; 0: nothing was found.
    pub(crate) exit: i32,
    /// How long it took.
    pub(crate) took: Duration,
    /// What was run, as it is typed.
    pub(crate) command: String,
}

impl LoggedRound {
    fn line(&self) -> String {
        let LoggedRound { code, check, round, exit, took, command } = self;
        format!("{code}\t{check}\t{round}\t{exit}\t{}\t{command}\n", took.as_millis())
    }

    fn of(line: &str) -> Option<LoggedRound> {
        let mut parts = line.splitn(6, '\t');
        let mut next = || parts.next();
        Some(LoggedRound {
            code: next()?.to_owned(),
            check: next()?.to_owned(),
            round: next()?.parse().ok()?,
            exit: next()?.parse().ok()?,
            took: Duration::from_millis(next()?.parse().ok()?),
            command: next()?.to_owned(),
        })
    }
}

/// Everything done so far.
#[derive(Debug)]
pub(crate) struct Log {
    file: PathBuf,
    pub(crate) done: Vec<LoggedRound>,
}

impl Log {
    /// What stands in `file`; nothing where there is none. A line that was cut off is as good as not there.
    pub(crate) fn read(file: &Path) -> io::Result<Log> {
        let text = match std::fs::read_to_string(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text?,
        };
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        if whole.len() < text.len() {
            std::fs::write(file, whole)?;
        }
        let done = whole.lines().filter_map(LoggedRound::of).collect();
        Ok(Log { file: file.to_owned(), done })
    }

    /// Adds a line.
    pub(crate) fn add(&mut self, done: LoggedRound) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.file)?;
        file.write_all(done.line().as_bytes())?;
        self.done.push(done);
        Ok(())
    }

    /// The next round of a check; `None` when it needs no more. Seeds are never used twice, whatever became of the code;
    /// what has an end is done once for each state of it.
    pub(crate) fn next(&self, check: &Check, code: &str) -> Option<u64> {
        let own = self.done.iter().filter(|done| done.check == check.name);
        match check.rounds {
            None => Some(own.map(|done| done.round + 1).max().unwrap_or(0)),
            Some(rounds) => {
                let here = own.filter(|done| done.code == code).map(|done| done.round + 1);
                Some(here.max().unwrap_or(0)).filter(|&next| next < rounds())
            }
        }
    }

    /// What to do next: of the checks that need more, the one that has had the least of its share with this code.
    pub(crate) fn pick<'a>(&self, checks: &[&'a Check], code: &str) -> Option<(&'a Check, u64)> {
        let open = checks.iter().filter_map(|&check| Some((check, self.next(check, code)?)));
        open.min_by_key(|(check, _)| self.took(check, code).as_millis() / u128::from(check.share))
    }

    /// How long a check took so far with this code.
    pub(crate) fn took(&self, check: &Check, code: &str) -> Duration {
        self.of(check, code).map(|done| done.took).sum()
    }

    /// The rounds of a check with this code.
    pub(crate) fn of(&self, check: &Check, code: &str) -> impl Iterator<Item = &LoggedRound> {
        self.done.iter().filter(move |done| done.check == check.name && done.code == code)
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::Round;
    use super::*;

    const fn check(name: &'static str, share: u64, rounds: Option<fn() -> u64>) -> Check {
        Check { name, about: "", share, rounds, round: |_| Round::Rigctl(Vec::new()) }
    }

    fn done(code: &str, check: &Check, round: u64, seconds: u64) -> LoggedRound {
        LoggedRound {
            code: code.to_owned(),
            check: check.name.to_owned(),
            round,
            exit: 3,
            took: Duration::from_secs(seconds),
            command: "rigctl run --seed 7".to_owned(),
        }
    }

    struct Desk(PathBuf);

    impl Desk {
        fn new(name: &str) -> Desk {
            let folder = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
            std::fs::create_dir_all(&folder).expect("writable");
            Desk(folder)
        }

        fn log(&self) -> Log {
            Log::read(&self.0.join("log")).expect("readable")
        }
    }

    impl Drop for Desk {
        fn drop(&mut self) {
            let _gone = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_was_done_is_read_back_and_a_line_that_was_cut_off_is_done_again() {
        let desk = Desk::new("nightly-log");
        let seeds = check("seeds", 1, None);
        let mut log = desk.log();
        assert_eq!(log.next(&seeds, "a"), Some(0));
        log.add(done("a", &seeds, 0, 5)).expect("writable");
        log.add(done("a", &seeds, 1, 5)).expect("writable");
        let file = desk.0.join("log");
        let text = std::fs::read_to_string(&file).expect("text");
        std::fs::write(&file, &text[..text.len() - 4]).expect("writable");
        let mut again = desk.log();
        assert_eq!(again.done, [done("a", &seeds, 0, 5)]);
        assert_eq!(again.next(&seeds, "a"), Some(1));
        again.add(done("a", &seeds, 1, 5)).expect("writable");
        assert_eq!(desk.log().done.len(), 2);
    }

    #[test]
    fn seeds_go_on_with_other_code_and_what_has_an_end_begins_anew() {
        let (seeds, matrix) = (check("seeds", 1, None), check("matrix", 1, Some(|| 2)));
        let mut log = Desk::new("nightly-code").log();
        log.done =
            vec![done("a", &seeds, 6, 1), done("a", &matrix, 0, 1), done("a", &matrix, 1, 1)];
        assert_eq!([log.next(&seeds, "b"), log.next(&matrix, "b")], [Some(7), Some(0)]);
        assert_eq!(log.next(&matrix, "a"), None, "both rounds were run");
    }

    #[test]
    fn each_check_gets_its_share_of_the_night() {
        let (large, small) = (check("large", 3, None), check("small", 1, None));
        let mut log = Desk::new("nightly-share").log();
        for _ in 0..40 {
            let (check, round) = log.pick(&[&large, &small], "a").expect("there is always more");
            log.done.push(done("a", check, round, 60));
        }
        let minutes = |check| log.took(check, "a").as_secs() / 60;
        assert_eq!([minutes(&large), minutes(&small)], [30, 10]);
    }
}
