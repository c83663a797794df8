//! Reading labs and DUT profiles: from files, or from the bundled ones that are part of the program.

use crate::fault::Fault;
use crate::file_kind::FileKind;
use crate::walk::{At, Fields, Walk};
use crate::yaml::{Source, Value};
use crate::{Lab, Profile, Transport, bundled, check, declare};
use rig_units::Length;
use rig_units::limits::{self, DEVICES};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How a lab names a device.
const FILE: &str = "the file of a DUT profile, or {pair: [duts/gen1.yaml, duts/gen2.yaml]}";

mod fit;
mod keys;
mod origin;
mod server;
mod steering;
mod system;
mod transport;
pub use origin::{LabOrigin, NamedFile, Origin, named_file};
use steering::{Steering, steering};
pub(crate) use transport::TRANSPORTS;

/// Reads a lab; without a path the bundled `emulated.yaml`. Files that it names are found relative to its own.
///
/// # Errors
/// Every fault of the lab and of the profiles it names.
pub fn lab(path: Option<&Path>) -> Result<Lab, Vec<Fault>> {
    match path {
        Some(path) => {
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            let mut lab = lab_from(&Source::read(path)?, &|name| Source::read(&folder.join(name)))?;
            if let Transport::Interfaces(wire) = &mut lab.transport
                && let Some(shim) = wire.dpdk.as_mut().and_then(|dpdk| dpdk.shim.as_mut())
            {
                *shim = folder.join(&*shim);
            }
            Ok(lab)
        }
        None => lab_from(&bundled::lab(), &bundled::dut),
    }
}

/// Reads one DUT profile.
///
/// # Errors
/// Every fault of the file, or of one that it extends.
pub fn profile(path: &Path) -> Result<Profile, Vec<Fault>> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let beside = |name: &str| Source::read(&folder.join(name));
    extended(&Source::read(path)?, Path::new(""), &beside, &[])
}

/// Reads a lab from a text; `dut` finds the profiles it names.
///
/// # Errors
/// As [`lab`].
pub fn lab_from(source: &Source, dut: FindSource<'_>) -> Result<Lab, Vec<Fault>> {
    let root = source.parse()?;
    let walk = Walk::new(source);
    let mut elsewhere = Vec::new();
    let lab = read_lab(&walk.root(&root), stem(&source.file), &mut |at, name| {
        let found = dut(name).map_err(|faults| {
            // The profile cannot be opened at all: that is a fault of the line that names it.
            faults.iter().for_each(|f| at.fault(format!("`{name}`: {}", f.found), f.want.clone()));
        });
        let folder = Path::new(name).parent().unwrap_or(Path::new(""));
        let profile = found.ok().map(|source| extended(&source, folder, dut, &[]))?;
        profile.map_err(|faults| elsewhere.extend(faults)).ok()
    });
    let mut faults = walk.finish();
    faults.append(&mut elsewhere);
    lab.filter(|_| faults.is_empty()).ok_or(faults)
}

/// Reads a profile from a text; what it extends is bundled.
///
/// # Errors
/// As [`profile`].
pub fn profile_from(source: &Source) -> Result<Profile, Vec<Fault>> {
    extended(source, Path::new("duts"), &bundled::dut, &[])
}

/// Finds a file by its name in a lab, or beside a profile.
type FindSource<'a> = &'a dyn Fn(&str) -> Result<Source, Vec<Fault>>;

/// Reads a profile, and the one that it extends: a file of that name in the same `folder`, or a bundled one. `below` are the files that
/// extend this one.
fn extended(
    source: &Source,
    folder: &Path,
    dut: FindSource<'_>,
    below: &[&str],
) -> Result<Profile, Vec<Fault>> {
    let root = source.parse()?;
    let walk = Walk::new(source);
    let chain = [below, &[&*source.file]].concat();
    let mut elsewhere = Vec::new();
    let profile = declare::profile(&walk.root(&root), &mut |at, name| {
        let file = format!("{name}.yaml");
        let Ok(found) = dut(&folder.join(&file).display().to_string()) else {
            // What a bundled one extends is bundled, too, whatever lies beside this one.
            let bundled = bundled::dut(&format!("duts/{file}")).map_err(|faults| {
                let want = faults.first().map_or("", |fault| &fault.want);
                at.fault(
                    format!("there is no profile `{name}`"),
                    format!("a file {file} beside this one, or a bundled one: {want}"),
                );
            });
            return profile_from(&bundled.ok()?).map_err(|faults| elsewhere.extend(faults)).ok();
        };
        if chain.contains(&&*found.file) {
            let way = chain.join(" extends ");
            let found = format!("a profile that extends itself: {way} extends {}", found.file);
            at.fault(found, "profiles of which the last extends none");
            return None;
        }
        let parent = extended(&found, folder, dut, &chain);
        parent.map_err(|faults| elsewhere.extend(faults)).ok()
    });
    if let Some(profile) = &profile {
        check::profile(&walk.root(&root), profile);
    }
    let mut faults = walk.finish();
    faults.append(&mut elsewhere);
    profile.filter(|_| faults.is_empty()).ok_or(faults)
}

type FindDut<'a> = &'a mut dyn FnMut(&At<'_>, &str) -> Option<Profile>;

fn read_lab(at: &At<'_>, name: String, find: FindDut<'_>) -> Option<Lab> {
    const DUTS: &str = "a list of profiles, such as [duts/broadcom.yaml]";
    at.is_short(&name);
    FileKind::Lab.may_be(at).then_some(())?;
    transport::is_of_now(at).then_some(())?;
    let keys = ["about", "transport", "cable", "wire", "macsec", "duts"];
    let fields = at.fields_hinted(&keys, &transport::elsewhere)?;
    let about = fields.need("about", "one line for people").and_then(|at| at.text("one line"));
    let transport = transport::read(at, &fields);
    let cable =
        fields.need("cable", "its length, such as 3m").and_then(|at| at.quantity::<Length>());
    let mut listed = fields.need("duts", DUTS).and_then(|at| at.list(DUTS)).unwrap_or_default();
    if let Some(at) = listed.get(DEVICES) {
        at.fault(format!("a lab of {} devices", listed.len()), limits::devices().want);
        // To read them all would take minutes.
        listed.truncate(1);
    }
    let mut duts: Vec<Profile> = Vec::new();
    let (mut controls, mut redis, mut places) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    let mut disposable = BTreeSet::new();
    for at in &listed {
        let (profiles, control) = devices(at, find);
        for profile in profiles {
            if duts.iter().any(|other| other.name == profile.name) {
                let found =
                    format!("a device of the name `{}` is already in this lab", profile.name);
                at.fault(found, "profiles with different names");
                continue;
            }
            if let Some(steering) = &control {
                let Steering { at, control, redis: listens, .. } = steering;
                transport.iter().for_each(|transport| {
                    transport::offers(at, transport, (*control, profile.kind));
                    steering::listens(steering, transport);
                });
                controls.insert(profile.name.clone(), *control);
                redis.extend(listens.clone().map(|at| (profile.name.clone(), at)));
                disposable.extend(steering.disposable.then(|| profile.name.clone()));
            }
            duts.push(profile);
            places.push(at.clone());
        }
    }
    if listed.is_empty() && fields.get("duts").is_some() {
        at.fault("the lab has no device", DUTS);
    }
    let keys = fields.maybe("macsec", |at| keys::read(&at))?;
    let Length(cable_cm) = cable?;
    let transport = transport?;
    fit::fit(&transport, &mut duts, &mut places, cable_cm);
    let about = about?.to_owned();
    Some(Lab { name, about, transport, controls, redis, disposable, cable_cm, keys, duts })
}

/// One device and its control, where the lab says so; of a system the whole and its devices.
fn devices<'w>(at: &At<'w>, find: FindDut<'_>) -> (Vec<Profile>, Option<Steering<'w>>) {
    if let Value::Map(entries) = &at.node.value
        && entries.iter().any(|(key, _)| key.name == "system")
    {
        let read = |fields: Fields<'_>| system::read(at, &fields, find);
        return (at.fields(&system::KEYS).map(read).unwrap_or_default(), None);
    }
    let (profile, control) = device(at, find).unzip();
    (profile.into_iter().collect(), control.flatten())
}

/// One device: a profile, or a pair of them; and its control, where the lab says so.
fn device<'w>(at: &At<'w>, find: FindDut<'_>) -> Option<(Profile, Option<Steering<'w>>)> {
    let Value::Map(_) = at.node.value else {
        return find(at, at.text(FILE)?).map(|profile| (profile, None));
    };
    let fields = at.fields(&["profile", "pair", "control", "redis", "disposable"])?;
    let control = steering(&fields)?;
    let profile = match (fields.get("profile"), fields.get("pair")) {
        (Some(file), None) => find(&file, file.text(FILE)?),
        (None, Some(files)) => pair(&files, find),
        (Some(_), Some(pair)) => {
            pair.at_key("a device is one profile or a pair of them", "`profile` or `pair`");
            None
        }
        (None, None) => {
            at.fault("the device has no profile", FILE);
            None
        }
    };
    Some((profile?, control))
}

/// Two NICs that are one device.
pub(in crate::read) fn pair(pair: &At<'_>, find: FindDut<'_>) -> Option<Profile> {
    let files = pair.list("two files of NIC profiles")?;
    let [first, second] = &files[..] else {
        pair.fault(format!("a pair of {}", files.len()), "two files of NIC profiles");
        return None;
    };
    let first = find(first, first.text(FILE)?);
    let second = find(second, second.text(FILE)?);
    let made = Profile::pair(&first?, &second?);
    made.map_err(|why| pair.fault(why, "two NICs of one speed, such as duts/gen1.yaml")).ok()
}

/// The stem of a file's name.
fn stem(file: &str) -> String {
    Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
