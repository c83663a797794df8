//! What was asked for on the command line: suites, a lab, a device of it. Every fault of every file at once.

use crate::cli::Selection;
use crate::{secrecy, stderr};
use globset::{Glob, GlobMatcher};
use rig_lab::fault::Fault;
use rig_lab::file::{STDIN, STDIN_SAID};
use rig_lab::settings::nearest;
use rig_lab::{Lab, Profile};
use rig_testcases::{Case, Suite};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Input that cannot be used: everything that is wrong with it, in words.
#[derive(Debug, Default)]
pub struct Bad(Vec<String>);

impl Bad {
    /// One thing that is wrong.
    pub fn of(what: impl Into<String>) -> Bad {
        Bad(vec![what.into()])
    }

    /// Whether nothing is wrong so far.
    pub fn is_clean(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes faults of files.
    pub fn faults(&mut self, faults: &[Fault]) {
        self.0.extend(faults.iter().map(ToString::to_string));
    }

    /// Notes several things that are wrong.
    pub fn all(&mut self, whats: Vec<String>) {
        self.0.extend(whats);
    }

    /// Notes something else.
    pub fn note(&mut self, what: impl Into<String>) {
        self.0.push(what.into());
    }

    /// Notes all that is wrong elsewhere.
    pub fn also(&mut self, other: Bad) {
        self.0.extend(other.0);
    }

    /// `value`, unless something is wrong.
    ///
    /// # Errors
    /// Itself, when something was noted.
    pub fn or<T>(self, value: T) -> Result<T, Bad> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }

    /// For a terminal: each fault, a blank line between, and how many there are.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for fault in &self.0 {
            let _infallible = writeln!(text, "error: {fault}\n");
        }
        let count = self.0.len();
        let _infallible =
            writeln!(text, "{count} fault{}, nothing was run", if count == 1 { "" } else { "s" });
        text
    }
}

/// What is to be used.
#[derive(Debug)]
pub struct Input {
    /// The suites, in the order asked for; cases that were not selected are left out.
    pub suites: Vec<Suite>,
    /// The lab, with its devices.
    pub lab: Lab,
    /// Only this device of it.
    pub only_dut: Option<String>,
    /// The paths as typed, for commands that repeat something.
    pub typed: String,
    /// That there is no case, and why: `--only` matches nothing, with what may have been meant, or a folder has no file.
    pub unmatched: Option<String>,
}

impl Input {
    /// Reads everything that `selection` names.
    ///
    /// # Errors
    /// Every fault of every file and flag.
    pub fn read(selection: &Selection) -> Result<Input, Bad> {
        let mut bad = Bad::default();
        let mut take = |faults: Vec<Fault>| bad.faults(&faults);
        let suites = match bundled_suite(selection) {
            Some(suites) => suites,
            None => suites(&selection.paths, &mut take),
        };
        let mut lab = rig_lab::read::lab(selection.lab.as_deref()).map_err(&mut take).ok();
        if lab.as_ref().is_some_and(|lab| lab.keys.is_some()) {
            secrecy::no_dumps();
        }
        let only_dut = match (&selection.dut, &mut lab) {
            (Some(named), Some(lab)) => device(named, lab).map_err(|other| bad.also(other)).ok(),
            _ => None,
        };
        let glob = selection.only.as_deref().map(|only| (only, matcher(only)));
        let mut unmatched = None;
        let suites = match glob {
            Some((only, Err(why))) => {
                bad.note(format!("`--only {only}`: {why}"));
                suites
            }
            Some((only, Ok(glob))) => {
                let ids = ids(&suites);
                let kept = matching(suites, &glob);
                unmatched = kept.is_empty().then(|| meant(only, &ids));
                kept
            }
            None => suites,
        };
        if suites.is_empty() && unmatched.is_none() && !selection.paths.is_empty() {
            unmatched = Some(empty(&selection.paths));
        }
        match lab {
            Some(lab) => {
                let typed = selection.paths.iter().map(|path| path.display().to_string());
                let typed = typed.collect::<Vec<_>>().join(" ");
                bad.or(Input { suites, lab, only_dut, typed, unmatched })
            }
            None => Err(bad),
        }
    }

    /// Tells people on stderr why there is no case.
    pub fn tell_unmatched(&self) {
        if let Some(unmatched) = &self.unmatched {
            stderr::note(unmatched);
        }
    }

    /// Every selected case.
    pub fn cases(&self) -> Vec<&Case> {
        self.suites.iter().flat_map(|suite| &suite.cases).collect()
    }
}

/// The one suite of the bundled catalogue that `--only` names with its first words, where it has a case that matches: the others need not
/// be read then, which is most of the time that such a command takes to start.
fn bundled_suite(selection: &Selection) -> Option<Vec<Suite>> {
    let only = selection.only.as_deref().filter(|_| selection.paths.is_empty())?;
    let (suite, _) = only.split_once("::")?;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let glob = matcher(only).ok().filter(|_| suite.chars().all(plain))?;
    let named =
        rig_testcases::read::bundled_of(&rig_oracle::measure::Registry, |name| name == suite);
    let named = named.ok()?;
    ids(&named).iter().any(|id| glob.is_match(id)).then_some(named)
}

/// The suites of files, folders and standard input; the bundled ones without any.
fn suites(paths: &[PathBuf], faults: &mut impl FnMut(Vec<Fault>)) -> Vec<Suite> {
    if paths.is_empty() {
        return rig_testcases::read::bundled(&rig_oracle::measure::Registry)
            .map_err(faults)
            .unwrap_or_default();
    }
    let mut all: Vec<Suite> = Vec::new();
    if paths.iter().filter(|path| path.as_os_str() == STDIN).count() > 1 {
        let found = format!("`{STDIN}` is given more than once");
        faults(vec![Fault::of_file(STDIN_SAID, found, "one text by standard input")]);
        return all;
    }
    for path in paths.iter().flat_map(|path| files(path)) {
        let read = if path.as_os_str() == STDIN {
            rig_testcases::read::piped(io::stdin().lock(), &rig_oracle::measure::Registry)
        } else {
            rig_testcases::read(&path, &rig_oracle::measure::Registry)
        };
        let Ok(suite) = read.map_err(&mut *faults) else { continue };
        if let Some(other) = all.iter().find(|other| other.name == suite.name) {
            let found = format!(
                "its cases would be called {}::..., as those of {} are",
                suite.name, other.file
            );
            faults(vec![Fault::of_file(&suite.file, found, "files with different names")]);
            continue;
        }
        all.push(suite);
    }
    all
}

/// That folders hold no test-case file.
fn empty(paths: &[PathBuf]) -> String {
    let names = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    format!("no test-case file (*.yaml) in {names}")
}

/// The YAML files of a folder, by name; any other path is itself.
fn files(path: &Path) -> Vec<PathBuf> {
    let is_pipe = path.as_os_str() == STDIN;
    let Some(entries) = fs::read_dir(path).ok().filter(|_| !is_pipe) else {
        return vec![path.to_owned()];
    };
    let mut all: Vec<PathBuf> =
        entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    all.retain(|file| file.extension().is_some_and(|end| end == "yaml" || end == "yml"));
    all.sort();
    all
}

/// The name of the one device to use: one of the lab, or one that is read from a file and takes the others' place.
fn device(named: &str, lab: &mut Lab) -> Result<String, Bad> {
    if lab.duts.iter().any(|dut| dut.name == named) {
        return Ok(named.to_owned());
    }
    if !Path::new(named).exists() {
        let names = lab.duts.iter().map(|dut| dut.name.as_str());
        let near =
            nearest(named, names.clone()).first().map(|near| format!("; did you mean `{near}`?"));
        let names = names.collect::<Vec<_>>().join(", ");
        return Err(Bad::of(format!(
            "`--dut {named}`: there is no such device in lab {}, and no such file\n   = want: one of {names}, or a \
             profile file{}",
            lab.name,
            near.unwrap_or_default()
        )));
    }
    let profile: Profile = rig_lab::read::profile(Path::new(named)).map_err(|faults| {
        let mut bad = Bad::default();
        bad.faults(&faults);
        bad
    })?;
    let name = profile.name.clone();
    lab.duts = vec![profile];
    Ok(name)
}

fn matcher(only: &str) -> Result<GlobMatcher, String> {
    Glob::new(only).map(|glob| glob.compile_matcher()).map_err(|error| error.kind().to_string())
}

fn matching(suites: Vec<Suite>, glob: &GlobMatcher) -> Vec<Suite> {
    let keep = |mut suite: Suite| {
        suite.cases.retain(|case| glob.is_match(case.id.to_string()));
        (!suite.cases.is_empty()).then_some(suite)
    };
    suites.into_iter().filter_map(keep).collect()
}

fn ids(suites: &[Suite]) -> Vec<String> {
    suites.iter().flat_map(|suite| &suite.cases).map(|case| case.id.to_string()).collect()
}

/// That no case matches `only`, with the cases that may have been meant: those that have it as a part, else those that are
/// spelt nearly so.
fn meant(only: &str, ids: &[String]) -> String {
    const FEW: usize = 3;
    let wider = format!("*{}*", only.trim_matches('*'));
    let part = matcher(&wider).ok();
    let parts: Vec<&String> =
        ids.iter().filter(|id| part.as_ref().is_some_and(|glob| glob.is_match(id))).collect();
    let none = format!("no case matches `--only {only}`");
    if !parts.is_empty() {
        let few: Vec<&str> = parts.iter().take(FEW).map(|id| id.as_str()).collect();
        let more = parts.len() - few.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        return format!("{none}; did you mean `--only '{wider}'`: {}{more}?", few.join(", "));
    }
    let bare = only.replace(['*', '?'], "");
    match nearest(&bare, ids.iter().map(String::as_str)).as_slice() {
        [] => format!("{none}; rigctl list names them all"),
        near => format!("{none}; did you mean {}?", near.join(" or ")),
    }
}
