//! A profile or a lab as a command line names it, and where in its files each setting stands.

use super::{FindSource, lab_from, profile, profile_from};
use crate::fault::{Fault, Place};
use crate::walk::{At, Walk};
use crate::yaml::{Node, Source, Value};
use crate::{Lab, Profile, bundled};
use std::path::Path;

/// The file of a device, and those that it extends, each after the one that extends it.
#[derive(Debug, Clone)]
pub struct Origin(Vec<Source>);

/// What was named.
#[derive(Debug)]
pub enum NamedFile {
    /// One device.
    Profile(Box<Profile>, Origin),
    /// A lab; of each file of a device in it the name that the lab gives the device, or the file's own.
    Lab(Box<Lab>, LabOrigin),
}

/// A lab's file, and those of its devices by name.
#[derive(Debug, Clone)]
pub struct LabOrigin {
    lab: Source,
    devices: Vec<(String, Origin)>,
}

/// Reads a profile or a lab: a file, or a bundled profile by its name. Without a name the bundled lab.
///
/// # Errors
/// Every fault of what was read.
pub fn named_file(what: Option<&Path>) -> Result<NamedFile, Vec<Fault>> {
    let Some(path) = what else {
        return lab_of(bundled::lab(), &bundled::dut, lab_from);
    };
    if !path.exists() {
        let source = bundled::dut(&format!("duts/{}.yaml", path.display())).map_err(|faults| {
            let want = faults.into_iter().map(|fault| fault.want).collect::<String>();
            let name = path.display().to_string();
            vec![Fault::of_file(
                &name,
                "there is no such file, and no bundled profile of the name",
                format!("a file, or {want}"),
            )]
        })?;
        let profile = Box::new(profile_from(&source)?);
        return Ok(NamedFile::Profile(
            profile,
            Origin::of(source, Path::new("duts"), &bundled::dut),
        ));
    }
    let source = Source::read(path)?;
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let beside = |name: &str| Source::read(&folder.join(name));
    if is_lab(&source.parse()?) {
        return lab_of(source, &beside, |_, _| super::lab(Some(path)));
    }
    Ok(NamedFile::Profile(Box::new(profile(path)?), Origin::of(source, Path::new(""), &beside)))
}

fn is_lab(root: &Node) -> bool {
    matches!(&root.value, Value::Map(entries) if entries.iter().any(|(key, _)| key.name == "duts"))
}

fn lab_of(
    source: Source,
    dut: FindSource<'_>,
    read: impl FnOnce(&Source, FindSource<'_>) -> Result<Lab, Vec<Fault>>,
) -> Result<NamedFile, Vec<Fault>> {
    let lab = Box::new(read(&source, dut)?);
    let root = source.parse()?;
    let mut files = Vec::new();
    {
        let walk = Walk::new(&source);
        devices_in(&walk.root(&root).down("duts"), None, &mut files);
    }
    let devices = files.into_iter().filter_map(|(name, file)| {
        let folder = Path::new(&file).parent().unwrap_or(Path::new("")).to_owned();
        let origin = Origin::of(dut(&file).ok()?, &folder, dut);
        Some((name.or_else(|| origin.own_name())?, origin))
    });
    let devices = devices.collect();
    Ok(NamedFile::Lab(lab, LabOrigin { lab: source, devices }))
}

/// Every file of a device, and what a system calls it.
fn devices_in(at: &At<'_>, name: Option<&str>, files: &mut Vec<(Option<String>, String)>) {
    match &at.node.value {
        Value::Text(file) => files.push((name.map(str::to_owned), file.clone())),
        Value::List(_) => at.one_or_many().iter().for_each(|one| devices_in(one, None, files)),
        Value::Map(entries) => {
            let system = entries.iter().any(|(key, _)| key.name == "devices");
            for (key, _) in entries {
                let below = at.down(&key.name);
                match (key.name.as_str(), system, &below.node.value) {
                    ("profile" | "pair", ..) => devices_in(&below, None, files),
                    ("devices", _, Value::Map(all)) => {
                        all.iter().for_each(|(own, _)| {
                            devices_in(&below.down(&own.name), Some(&own.name), files);
                        });
                    }
                    _ => {}
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Whole(_) | Value::Real(_) => {}
    }
}

impl Origin {
    /// A profile's file and those that it extends.
    fn of(source: Source, folder: &Path, find: FindSource<'_>) -> Origin {
        let mut all = vec![source];
        let mut is_bundled = false;
        while let Some(name) = all.last().and_then(|last| text_of(last, "extends")) {
            let file = format!("{name}.yaml");
            let beside =
                find(&folder.join(&file).display().to_string()).ok().filter(|_| !is_bundled);
            // What a bundled one extends is bundled, too, as when it is read.
            is_bundled |= beside.is_none();
            let Some(next) = beside.or_else(|| bundled::dut(&format!("duts/{file}")).ok()) else {
                break;
            };
            if all.iter().any(|own| own.file == next.file) {
                break;
            }
            all.push(next);
        }
        Origin(all)
    }

    fn own_name(&self) -> Option<String> {
        text_of(self.0.first()?, "name")
    }

    /// Where the setting at `path` below `declared:` stands: in the first of the files that states it. Of what none states, and so is the
    /// usual, the part in which it would stand, in the first file.
    pub fn place(&self, path: &str) -> Place {
        let at = |source: &Source, whole: bool| {
            let root = source.parse().ok()?;
            let walk = Walk::new(source);
            let wanted = format!("declared.{path}");
            let at = walk.root(&root).down(&wanted);
            (!whole || at.path == wanted).then(|| at.place())
        };
        let stated = self.0.iter().find_map(|source| at(source, true));
        stated.or_else(|| at(self.0.first()?, false)).unwrap_or_default()
    }
}

impl LabOrigin {
    /// The files of the device of this name.
    pub fn device(&self, name: &str) -> Option<&Origin> {
        self.devices.iter().find(|(own, _)| own == name).map(|(_, origin)| origin)
    }

    /// Where a link of a system stands, counted from 0.
    pub fn link(&self, system: &str, index: usize) -> Place {
        let found = || {
            let root = self.lab.parse().ok()?;
            let walk = Walk::new(&self.lab);
            let duts = walk.root(&root).down("duts").one_or_many();
            let is_it = |at: &&At<'_>| at.down("system").node.written() == system;
            let links = duts.iter().find(is_it)?.down("links").one_or_many();
            links.get(index).map(At::place)
        };
        found().unwrap_or_default()
    }
}

/// The text of a key at the top of a file.
fn text_of(source: &Source, key: &str) -> Option<String> {
    let root = source.parse().ok()?;
    let Value::Map(entries) = &root.value else { return None };
    entries.iter().find(|(own, _)| own.name == key).map(|(_, node)| node.written())
}
