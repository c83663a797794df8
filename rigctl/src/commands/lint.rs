//! `rigctl lint`: mis-sizings of a profile, or of the devices of a lab and the links between them.

use super::input::Bad;
use super::words::count;
use crate::cli::{Format, LintArgs};
use crate::stdout;
use rig_lab::fault::{Fault, Place, one_of};
use rig_lab::read::{LabOrigin, NamedFile, named_file};
use rig_lab::{Lab, Profile};
use rig_oracle::lint::{self, Flaw, LINTS, Lint, Linted};
use rig_reports::{Exit, printable};
use rig_units::Length;
use serde_json::{Value as Json, json};

/// One flaw, where it stands.
struct Found {
    rule: &'static Lint,
    device: String,
    place: Place,
    flaw: Flaw,
}

/// Looks and tells; the exit code says whether something was found.
///
/// # Errors
/// A file that cannot be read, or a rule that there is not.
pub fn lint(args: &LintArgs) -> Result<Exit, Bad> {
    if args.list && args.format == Format::Json {
        return Err(Bad::of(
            "`--list --format json`\n   = want: `--list` alone: the table is for people",
        ));
    }
    if args.list {
        stdout::text(&lint::table());
        return Ok(Exit::Passed);
    }
    let mut bad = Bad::default();
    let names = || LINTS.iter().map(|lint| lint.name);
    for name in args.allow.iter().filter(|name| !names().any(|known| known == *name)) {
        bad.note(format!(
            "`--allow {name}`: there is no such rule\n   = want: {}",
            one_of(name, names())
        ));
    }
    let read = named_file(args.file.as_deref()).map_err(|faults| bad.faults(&faults)).ok();
    let (Some(read), true) = (read, bad.is_clean()) else { return Err(bad) };
    let mut found = Vec::new();
    let switches = match &read {
        NamedFile::Profile(profile, origin) => {
            of_switch(args, profile, args.cable, |path| origin.place(path), &mut found)
        }
        NamedFile::Lab(lab, origin) => of_lab(args, lab, origin, &mut found),
    };
    found.retain(|one| !args.allow.iter().any(|allowed| allowed == one.rule.name));
    match args.format {
        Format::Json => {
            let json = serde_json::to_string_pretty(&told(&found, switches)).unwrap_or_default();
            stdout::json(&json);
        }
        Format::Human => stdout::text(&text(&found, switches)),
    }
    Ok(if found.is_empty() { Exit::Passed } else { Exit::Failed })
}

/// What is wrong with a switch; how many switches it is.
fn of_switch(
    args: &LintArgs,
    profile: &Profile,
    cable: Length,
    place: impl Fn(&str) -> Place,
    found: &mut Vec<Found>,
) -> usize {
    let Some(declared) = profile.declared.switch() else { return 0 };
    let linted = Linted { declared, family: profile.family(), cable, memory: args.memory };
    found.extend(lint::switch(&linted).into_iter().map(|(rule, flaw)| Found {
        rule,
        device: profile.name.clone(),
        place: place(flaw.path),
        flaw,
    }));
    1
}

/// The same of every switch of a lab, and of the links of its systems. A device of a system is looked at once, with its longest link.
fn of_lab(args: &LintArgs, lab: &Lab, origin: &LabOrigin, found: &mut Vec<Found>) -> usize {
    let place =
        |name: &str, path: &str| origin.device(name).map(|own| own.place(path)).unwrap_or_default();
    let mut switches = 0;
    for dut in &lab.duts {
        match &dut.system {
            None => {
                let cable = Length(lab.cable_cm);
                switches += of_switch(args, dut, cable, |path| place(&dut.name, path), found);
            }
            Some(system) if system.alone.is_none() => {
                for (index, device) in system.devices.iter().enumerate() {
                    let ends_here = |link: &&rig_lab::SystemLink| {
                        link.ends.iter().any(|end| usize::from(end.device) == index)
                    };
                    let links =
                        system.links.iter().filter(ends_here).filter_map(|link| link.cable_cm);
                    let cable = Length(links.fold(lab.cable_cm, u64::max));
                    switches +=
                        of_switch(args, device, cable, |path| place(&device.name, path), found);
                }
                found.extend(lint::links(system).into_iter().map(|(rule, index, flaw)| Found {
                    rule,
                    device: dut.name.clone(),
                    place: origin.link(&dut.name, index),
                    flaw,
                }));
            }
            Some(_) => {}
        }
    }
    switches
}

fn text(found: &[Found], switches: usize) -> String {
    let mut text = String::new();
    for Found { rule, device, place, flaw } in found {
        let fault = Fault {
            place: Box::new(place.clone()),
            found: format!("{}, {device}: {}", rule.name, flaw.found),
            want: flaw.want.clone(),
        };
        let lines = format!(
            "{fault}\n   = by: {}\n   = why: {}\n   = source: {}",
            flaw.numbers, rule.about, rule.source
        );
        text.extend(lines.lines().map(|line| printable(line) + "\n"));
        text.push('\n');
    }
    text + &format!("{} in {}\n", count(found.len(), "finding"), switches_in_words(switches))
}

fn switches_in_words(switches: usize) -> String {
    match switches {
        1 => "1 switch".to_owned(),
        more => format!("{more} switches"),
    }
}

fn told(found: &[Found], switches: usize) -> Json {
    let one = |Found { rule, device, place, flaw }: &Found| {
        json!({
            "rule": rule.name,
            "device": device,
            "file": place.file,
            "line": place.line,
            "column": place.column,
            "path": flaw.path,
            "found": flaw.found,
            "want": flaw.want,
            "numbers": flaw.numbers,
            "about": rule.about,
            "source": rule.source,
        })
    };
    json!({"version": 1, "switches": switches, "findings": found.iter().map(one).collect::<Vec<_>>()})
}
