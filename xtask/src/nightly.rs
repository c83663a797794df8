//! What CI has no time for: the checks of one table, round by round, for so many hours; resumable, and honest about how much
//! was done.

mod checks;
mod log;

use crate::watch::{Minutes, Watch};
use checks::{CHECKS, Check, Round};
use core::time::Duration;
use log::{Log, LoggedRound};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What was asked for.
#[derive(Debug, PartialEq)]
struct Asked {
    hours: f64,
    /// Only these; all where there is none.
    only: Vec<String>,
}

/// Hours when nobody says.
const HOURS: f64 = 8.0;

/// Runs checks until the hours are over; whether nothing was found with this state of the code.
pub(crate) fn run(root: &Path, args: impl Iterator<Item = String>) -> bool {
    let asked = match asked(args) {
        Ok(asked) => asked,
        Err(why) => {
            eprintln!("nightly: {why}");
            return false;
        }
    };
    night(root, &asked).unwrap_or_else(|why| {
        eprintln!("nightly: {why}");
        false
    })
}

fn asked(mut args: impl Iterator<Item = String>) -> Result<Asked, String> {
    let mut asked = Asked { hours: HOURS, only: Vec::new() };
    while let Some(flag) = args.next() {
        let value = args.next().ok_or_else(|| format!("{flag} wants a value"))?;
        match flag.as_str() {
            "--hours" => {
                let hours = value.parse().ok().filter(|hours| (0.0..=1_000.0).contains(hours));
                asked.hours = hours.ok_or_else(|| format!("--hours {value}: want 0 to 1000"))?;
            }
            "--check" if CHECKS.iter().any(|check| check.name == value) => asked.only.push(value),
            "--check" => {
                let names: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
                return Err(format!("--check {value}: want {}", names.join(", ")));
            }
            _ => return Err(format!("{flag}: want --hours or --check")),
        }
    }
    Ok(asked)
}

fn night(root: &Path, asked: &Asked) -> Result<bool, String> {
    let watch = Watch::start();
    let bench = Bench::build(root)?;
    let mut log = Log::read(&bench.folder.join("log")).map_err(|error| error.to_string())?;
    let wanted =
        |check: &&Check| asked.only.is_empty() || asked.only.iter().any(|n| n == check.name);
    let checks: Vec<&Check> = CHECKS.iter().filter(wanted).collect();
    println!("== {}, {} hours; {} rounds are done", bench.code, asked.hours, log.done.len());
    let end = Duration::from_secs_f64(asked.hours * 3_600.0);
    // A round that is under way when the hours are over is let to its end.
    while watch.elapsed() < end {
        let Some((check, round)) = log.pick(&checks, &bench.code) else { break };
        let done = bench.round(check, round)?;
        let how = if done.exit == 0 { "well".to_owned() } else { format!("EXIT {}", done.exit) };
        println!("{how:>8}  {:>9}  {}", Minutes(done.took).to_string(), done.command);
        log.add(done).map_err(|error| error.to_string())?;
    }
    print!("{}", told(&log, &checks, &bench));
    let found = |done: &LoggedRound| done.code == bench.code && done.exit != 0;
    Ok(!log.done.iter().any(found))
}

/// What runs the rounds.
struct Bench {
    root: PathBuf,
    program: PathBuf,
    /// Where the log is, and what was found.
    folder: PathBuf,
    /// The state of the code.
    code: String,
    cargo: std::ffi::OsString,
}

impl Bench {
    /// Builds the release binary.
    fn build(root: &Path) -> Result<Bench, String> {
        let root = root.canonicalize().map_err(|error| format!("{}: {error}", root.display()))?;
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        let folder = target.join("nightly");
        std::fs::create_dir_all(folder.join("found"))
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut build = Command::new(&cargo);
        build.args(["build", "--release", "--locked", "--package", "rigctl"]).current_dir(&root);
        let built = build.status().map_err(|error| format!("cannot start cargo: {error}"))?;
        if !built.success() {
            return Err(format!("the release binary does not build: {built}"));
        }
        let code = state(&root);
        Ok(Bench { program: target.join("release/rigctl"), root, folder, code, cargo })
    }

    /// Runs one round to its end. What one that found something printed is kept.
    fn round(&self, check: &Check, round: u64) -> Result<LoggedRound, String> {
        let watch = Watch::start();
        let (mut command, typed) = self.command(&(check.round)(round));
        let output = command.output().map_err(|error| format!("{typed}: {error}"))?;
        let exit = output.status.code().unwrap_or(-1);
        let kept = if exit == 0 { &["figures"][..] } else { &[check.name][..] };
        if kept.contains(&check.name) {
            self.keep(&format!("{}-{round}", check.name), &typed, &output)?;
        }
        Ok(LoggedRound {
            code: self.code.clone(),
            check: check.name.to_owned(),
            round,
            exit,
            took: watch.elapsed(),
            command: typed,
        })
    }

    /// What a round runs, and how it is typed by hand.
    fn command(&self, round: &Round) -> (Command, String) {
        match round {
            Round::Rigctl(args) => {
                let mut command = Command::new(&self.program);
                command.args(args).current_dir(&self.root);
                if args.first().is_some_and(|first| first == "run") {
                    let out = self.folder.join("run");
                    let _none_before = std::fs::remove_dir_all(&out);
                    command.arg("--out").arg(out);
                }
                (command, format!("rigctl {}", args.join(" ")))
            }
            Round::Test(args, environment) => {
                let mut command = Command::new(&self.cargo);
                command.arg("test").args(args).current_dir(&self.root);
                command.env("RIG_PROGRAM", &self.program);
                command.envs(environment.iter().map(|(name, value)| (name, value)));
                let set = environment.iter().map(|(name, value)| format!("{name}={value} "));
                (command, format!("{}cargo test {}", set.collect::<String>(), args.join(" ")))
            }
        }
    }

    fn keep(&self, name: &str, typed: &str, output: &Output) -> Result<(), String> {
        let file = self.folder.join("found").join(format!("{}-{name}.txt", self.code));
        let mut text = format!("{typed}\n").into_bytes();
        text.extend_from_slice(&output.stdout);
        text.extend_from_slice(&output.stderr);
        std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))
    }
}

/// The state of the code, as git calls it; without git it has no name.
fn state(root: &Path) -> String {
    let mut git = Command::new("git");
    git.args(["describe", "--always", "--dirty", "--exclude", "*"]).current_dir(root);
    let said = git.output().ok().filter(|output| output.status.success());
    let name = said.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "unnamed".to_owned())
}

/// How much was done with this code, of every check, and what was found.
fn told(log: &Log, checks: &[&Check], bench: &Bench) -> String {
    let mut text = format!("== {}\n", bench.code);
    for check in checks {
        let rounds: Vec<&LoggedRound> = log.of(check, &bench.code).collect();
        let of = check.rounds.map(|rounds| format!(" of {}", rounds())).unwrap_or_default();
        let took = Minutes(log.took(check, &bench.code));
        let found: Vec<&&LoggedRound> = rounds.iter().filter(|done| done.exit != 0).collect();
        let (name, done, about) = (check.name, rounds.len(), check.about);
        text += &format!(
            "{name}: {done}{of} rounds, {took}, {} found something ({about})\n",
            found.len()
        );
        if let [first, .., last] | [first @ last] = &rounds[..] {
            text += &format!("    from  {}\n    to    {}\n", first.command, last.command);
        }
        for done in found {
            text += &format!("    EXIT {}: {}\n", done.exit, done.command);
        }
    }
    text + &format!(
        "What rounds printed that found something: {}\n",
        bench.folder.join("found").display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> impl Iterator<Item = String> {
        text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().into_iter()
    }

    #[test]
    fn hours_and_checks_are_asked_for_and_nothing_else() {
        assert_eq!(asked(words("")), Ok(Asked { hours: HOURS, only: vec![] }));
        let two = Asked { hours: 0.5, only: vec!["seeds".to_owned(), "figures".to_owned()] };
        assert_eq!(asked(words("--check seeds --hours 0.5 --check figures")), Ok(two));
        assert_eq!(asked(words("--hours")), Err("--hours wants a value".to_owned()));
        assert_eq!(asked(words("--hours -1")), Err("--hours -1: want 0 to 1000".to_owned()));
        let unknown = asked(words("--check seed")).expect_err("there is none");
        assert!(unknown.starts_with("--check seed: want seeds, "), "{unknown}");
    }

    #[test]
    fn what_was_found_is_told_with_the_command_that_repeats_it() {
        let bench = Bench {
            root: PathBuf::new(),
            program: PathBuf::new(),
            folder: PathBuf::from("target/nightly"),
            code: "abc".to_owned(),
            cargo: "cargo".into(),
        };
        let done = |code: &str, round, exit| LoggedRound {
            code: code.to_owned(),
            check: CHECKS[0].name.to_owned(),
            round,
            exit,
            took: Duration::from_secs(90),
            command: format!("rigctl run --seed {round}"),
        };
        let mut log = Log::read(Path::new("/nonexistent")).expect("no log is an empty one");
        log.done = vec![done("old", 0, 1), done("abc", 1, 0), done("abc", 2, 1), done("abc", 3, 0)];
        let text = told(&log, &[&CHECKS[0]], &bench);
        let want = "== abc\n\
             seeds: 3 rounds, 4.5 min, 1 found something (the catalogue under a seed of its own, on one virtual lab after the other)\n\
             \x20   from  rigctl run --seed 1\n    to    rigctl run --seed 3\n    EXIT 1: rigctl run --seed 2\n\
             What rounds printed that found something: target/nightly/found\n";
        assert_eq!(text, want);
    }
}
