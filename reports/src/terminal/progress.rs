//! A progress bar for long runs, below the lines that are written meanwhile.
//!
//! The caller makes one only where stderr is a terminal, and writes every line inside [`Progress::aside`], which takes
//! the bar away first: line and bar never share a row.

use crate::RunEvent;
use crate::outcome::{Outcome, Tally};
use crate::shown::printable;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rig_testcases::CaseId;

/// The bar: how many cases have ended, how, and which are running.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    tally: Tally,
    /// In the order of their start.
    running: Vec<CaseId>,
}

impl Progress {
    /// A bar on stderr.
    #[expect(clippy::disallowed_methods, reason = "the one bar; its message is escaped")]
    pub fn on_stderr() -> Progress {
        Progress::on_target(ProgressDrawTarget::stderr())
    }

    /// A bar anywhere; `ProgressDrawTarget::hidden()` for none.
    pub fn on_target(target: ProgressDrawTarget) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(0), target);
        // `{wide_msg}` is cut to what is left of the row: long names cannot wrap and leave rubbish behind.
        let style = ProgressStyle::with_template("     Running [{bar:20}] {pos}/{len} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        Progress { bar, tally: Tally::default(), running: Vec::new() }
    }

    /// Moves the bar.
    pub fn on(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(started) => self.bar.set_length(started.cases.len() as u64),
            RunEvent::CaseStarted(id) => self.running.push(id.clone()),
            RunEvent::CaseFinished(report) => {
                self.running.retain(|id| *id != report.id);
                self.tally.add(Outcome::of(&report.verdict));
                self.bar.set_position(self.tally.all() as u64);
            }
            RunEvent::Finished(_) => return self.bar.finish_and_clear(),
        }
        self.bar.set_message(self.message());
    }

    /// Does `write` with the bar out of the way.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    /// `2 failed, 1 inconclusive: pfcwd::detection-latency, pfcwd::restoration`
    fn message(&self) -> String {
        let bad = [Outcome::Fail, Outcome::Inconclusive, Outcome::Broken];
        let counts: Vec<String> = bad
            .into_iter()
            .filter(|&outcome| self.tally.count(outcome) > 0)
            .map(|outcome| format!("{} {}", self.tally.count(outcome), outcome.participle()))
            .collect();
        let running: Vec<String> =
            self.running.iter().map(|id| printable(&id.to_string())).collect();
        match (counts.join(", "), running.join(", ")) {
            (counts, running) if counts.is_empty() => running,
            (counts, running) if running.is_empty() => counts,
            (counts, running) => format!("{counts}: {running}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use indicatif::TermLike;
    use std::io;
    use std::sync::{Arc, Mutex};

    /// A terminal of one row as a bar uses it: remembers what is on the row, and every row written whole.
    #[derive(Debug, Clone, Default)]
    struct Screen(Arc<Mutex<String>>);

    impl Screen {
        fn text(&self) -> String {
            self.0.lock().expect("no test panics while drawing").clone()
        }

        fn edit(&self, edit: impl FnOnce(&mut String)) -> io::Result<()> {
            edit(&mut self.0.lock().expect("no test panics while drawing"));
            Ok(())
        }
    }

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            60
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, line: &str) -> io::Result<()> {
            self.edit(|text| *text = format!("{text}{line}\n"))
        }
        fn write_str(&self, part: &str) -> io::Result<()> {
            self.edit(|text| text.push_str(part))
        }
        fn clear_line(&self) -> io::Result<()> {
            self.edit(|text| text.truncate(text.rfind('\n').map_or(0, |end| end + 1)))
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    fn bar(screen: &Screen) -> Progress {
        Progress::on_target(ProgressDrawTarget::term_like(Box::new(screen.clone())))
    }

    #[test]
    fn lines_written_aside_stand_alone_and_the_bar_is_gone_in_the_end() {
        let screen = Screen::default();
        let mut bar = bar(&screen);
        for event in fixture::events() {
            bar.on(&event);
            bar.aside(|| screen.edit(|text| text.push_str("a line\n"))).expect("memory");
        }
        let text = screen.text();
        assert!(text.lines().all(|line| line.trim_end() == "a line"), "{text}");
        assert_eq!(text.lines().count(), fixture::events().len());
    }

    #[test]
    fn the_bar_fits_the_row_and_names_what_runs_and_what_went_wrong() {
        let screen = Screen::default();
        let mut bar = bar(&screen);
        for event in &fixture::events()[..6] {
            bar.on(event);
        }
        bar.bar.force_draw();
        assert!(bar.message().starts_with("1 failed: "), "{}", bar.message());
        let text = screen.text();
        let row = text.lines().last().expect("the bar");
        assert!(row.starts_with("     Running ["), "{row}");
        assert!(row.chars().count() <= 60, "{row}");
    }
}
