//! `rigctl lint`: mis-sizings of a profile, of the devices of a lab and the links between them, or of a switch by its CONFIG_DB.

mod config_db;

use super::input::Bad;
use super::words::count;
use crate::cli::{Format, LintArgs};
use crate::stdout;
use rig_dut::sonic::FILE_RULES;
use rig_lab::fault::{Fault, Place, one_of};
use rig_lab::read::{LabOrigin, NamedFile, named_file};
use rig_lab::{Lab, Profile, System};
use rig_oracle::lint::{self, Flaw, LINTS, Linted};
use rig_reports::{Exit, printable};
use rig_units::{Bytes, Length};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// One flaw, where it stands.
struct Found {
    rule: &'static str,
    about: &'static str,
    source: &'static str,
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
        let rows = FILE_RULES
            .iter()
            .map(|rule| format!("| `{}` | {} | {} |\n", rule.name, rule.about, rule.source));
        stdout::text(&(lint::table() + &rows.collect::<String>()));
        return Ok(Exit::Passed);
    }
    let mut bad = Bad::default();
    let names =
        || LINTS.iter().map(|lint| lint.name).chain(FILE_RULES.iter().map(|rule| rule.name));
    for name in args.allow.iter().filter(|name| !names().any(|known| known == *name)) {
        bad.note(format!(
            "`--allow {name}`: there is no such rule\n   = want: {}",
            one_of(name, names())
        ));
    }
    let mut found = Vec::new();
    let looked = match config_db::is_one(args.file.as_deref()) {
        Some(file) => config_db::of_file(args, file, &mut found),
        None => of_named(args, &mut found),
    };
    let looked = looked.map_err(|faults| bad.faults(&faults)).ok();
    let (Some(looked), true) = (looked, bad.is_clean()) else { return Err(bad) };
    found.retain(|one| !args.allow.iter().any(|allowed| allowed == one.rule));
    match args.format {
        Format::Json => {
            let json = serde_json::to_string_pretty(&told(&found, &looked)).unwrap_or_default();
            stdout::json(&json);
        }
        Format::Human => stdout::text(&text(&found, &looked)),
    }
    Ok(if found.is_empty() { Exit::Passed } else { Exit::Failed })
}

/// What was looked at.
struct Looked {
    /// How many of them, and what they are in words.
    switches: usize,
    of: &'static str,
    /// Rules that speak of what the file does not state.
    left_out: BTreeSet<&'static str>,
}

/// What is wrong with a profile or a lab.
fn of_named(args: &LintArgs, found: &mut Vec<Found>) -> Result<Looked, Vec<Fault>> {
    let flags = [("--base", &args.base), ("--namespace", &args.namespace)];
    if let Some((flag, _)) = flags.iter().find(|(_, value)| value.is_some()) {
        let want = "a file of CONFIG_DB, which ends in .json";
        return Err(vec![Fault::of_file(flag, "this is for CONFIG_DB alone", want)]);
    }
    let switches = match named_file(args.file.as_deref())? {
        NamedFile::Profile(profile, origin) => {
            let place = |path: &str| origin.place(path);
            let memory = Memory { memory: args.memory, elsewhere: Bytes(0) };
            of_switch(&profile, args.cable, memory, place, found)
        }
        NamedFile::Lab(lab, origin) => of_lab(args, &lab, &origin, found),
    };
    Ok(Looked { switches, of: "switch", left_out: BTreeSet::new() })
}

/// The packet memory, where a flag says it.
#[derive(Clone, Copy)]
struct Memory {
    memory: Option<Bytes>,
    /// What ports that are configured otherwise keep of it.
    elsewhere: Bytes,
}

/// What is wrong with a switch; how many switches it is.
fn of_switch(
    profile: &Profile,
    cable: Length,
    of: Memory,
    place: impl Fn(&str) -> Place,
    found: &mut Vec<Found>,
) -> usize {
    let Some(declared) = profile.declared.switch() else { return 0 };
    let Memory { memory, elsewhere } = of;
    let linted = Linted { declared, family: profile.family(), cable, memory, elsewhere };
    found.extend(lint::switch(&linted).into_iter().map(|(rule, flaw)| Found {
        rule: rule.name,
        about: rule.about,
        source: rule.source,
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
    let memory = Memory { memory: args.memory, elsewhere: Bytes(0) };
    let mut switches = 0;
    for (listed, dut) in lab.duts.iter().enumerate() {
        // A system that is no device as a whole is listed by its devices alone, each of which has all of it.
        let told = |system: &System| {
            let earlier = lab.duts[..listed].iter().filter_map(|other| other.system.as_deref());
            system.alone.is_some() && earlier.map(|it| &it.devices).any(|it| *it == system.devices)
        };
        match &dut.system {
            None => {
                let cable = Length(lab.cable_cm);
                switches += of_switch(dut, cable, memory, |path| place(&dut.name, path), found);
            }
            Some(system) if told(system) => {}
            Some(system) => {
                let alone = system.alone.and_then(|index| system.devices.get(usize::from(index)));
                let name = alone.and_then(|one| dut.name.strip_suffix(&format!("-{}", one.name)));
                let name = name.unwrap_or(&dut.name);
                for (index, device) in system.devices.iter().enumerate() {
                    let ends_here = |link: &&rig_lab::SystemLink| {
                        link.ends.iter().any(|end| usize::from(end.device) == index)
                    };
                    let links =
                        system.links.iter().filter(ends_here).filter_map(|link| link.cable_cm);
                    let cable = Length(links.fold(lab.cable_cm, u64::max));
                    switches +=
                        of_switch(device, cable, memory, |path| place(&device.name, path), found);
                }
                found.extend(lint::links(system).into_iter().map(|(rule, index, flaw)| Found {
                    rule: rule.name,
                    about: rule.about,
                    source: rule.source,
                    device: name.to_owned(),
                    place: origin.link(name, index),
                    flaw,
                }));
            }
        }
    }
    switches
}

fn text(found: &[Found], looked: &Looked) -> String {
    let mut text = String::new();
    for Found { rule, about, source, device, place, flaw } in found {
        let fault = Fault {
            place: Box::new(place.clone()),
            found: format!("{rule}, {device}: {}", flaw.found),
            want: flaw.want.clone(),
        };
        let lines =
            format!("{fault}\n   = by: {}\n   = why: {about}\n   = source: {source}", flaw.numbers);
        text.extend(lines.lines().map(|line| printable(line) + "\n"));
        text.push('\n');
    }
    if !looked.left_out.is_empty() {
        let rules: Vec<&str> = looked.left_out.iter().copied().collect();
        let rules = rules.join(", ");
        text += &format!("Not judged, for the file does not say what they rest on: {rules}\n");
    }
    text + &format!("{} in {}\n", count(found.len(), "finding"), in_words(looked))
}

fn in_words(looked: &Looked) -> String {
    match (looked.switches, looked.of) {
        (1, of) => format!("1 {of}"),
        (more, "switch") => format!("{more} switches"),
        (more, of) => format!("{more} {}", of.replacen("set", "sets", 1)),
    }
}

fn told(found: &[Found], looked: &Looked) -> Json {
    let one = |Found { rule, about, source, device, place, flaw }: &Found| {
        json!({
            "rule": rule,
            "device": device,
            "file": place.file,
            "line": place.line,
            "column": place.column,
            "path": flaw.path,
            "in": place.path,
            "found": flaw.found,
            "want": flaw.want,
            "numbers": flaw.numbers,
            "about": about,
            "source": source,
        })
    };
    json!({
        "version": 1,
        "switches": looked.switches,
        "findings": found.iter().map(one).collect::<Vec<_>>(),
        "not_judged": looked.left_out,
    })
}
