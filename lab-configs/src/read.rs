//! Reading labs and DUT profiles: from files, or from the bundled ones that are part of the program.

use crate::fault::Fault;
use crate::walk::{At, Walk};
use crate::yaml::{Source, Value};
use crate::{Adapter, Lab, Profile, bundled, check, declare};
use rig_units::Length;
use rig_units::limits::{self, DEVICES};
use std::path::Path;

mod adapter;
mod keys;
pub(crate) use adapter::ADAPTERS;

/// Reads a lab; without a path the bundled `emulated.yaml`. Files that it names are found relative to its own.
///
/// # Errors
/// Every fault of the lab and of the profiles it names.
pub fn lab(path: Option<&Path>) -> Result<Lab, Vec<Fault>> {
    match path {
        Some(path) => {
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            let mut lab = lab_from(&Source::read(path)?, &|name| Source::read(&folder.join(name)))?;
            if let Adapter::Declared(wire) = &mut lab.adapter
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
/// Every fault of the file.
pub fn profile(path: &Path) -> Result<Profile, Vec<Fault>> {
    profile_from(&Source::read(path)?)
}

/// Reads a lab from a text; `dut` finds the profiles it names.
///
/// # Errors
/// As [`lab`].
pub fn lab_from(
    source: &Source,
    dut: &dyn Fn(&str) -> Result<Source, Vec<Fault>>,
) -> Result<Lab, Vec<Fault>> {
    let root = source.parse()?;
    let walk = Walk::new(source);
    let mut elsewhere = Vec::new();
    let lab = read_lab(&walk.root(&root), stem(&source.file), &mut |at, name| {
        let found = dut(name).map_err(|faults| {
            // The profile cannot be opened at all: that is a fault of the line that names it.
            faults.iter().for_each(|f| at.fault(format!("`{name}`: {}", f.found), f.want.clone()));
        });
        let profile = found.ok().map(|source| profile_from(&source))?;
        profile.map_err(|faults| elsewhere.extend(faults)).ok()
    });
    let mut faults = walk.finish();
    faults.append(&mut elsewhere);
    lab.filter(|_| faults.is_empty()).ok_or(faults)
}

/// Reads a profile from a text.
///
/// # Errors
/// As [`profile`].
pub fn profile_from(source: &Source) -> Result<Profile, Vec<Fault>> {
    let root = source.parse()?;
    let walk = Walk::new(source);
    let profile = declare::profile(&walk.root(&root));
    if let Some(profile) = &profile {
        check::profile(&walk.root(&root), profile);
    }
    let faults = walk.finish();
    profile.filter(|_| faults.is_empty()).ok_or(faults)
}

type FindDut<'a> = &'a mut dyn FnMut(&At<'_>, &str) -> Option<Profile>;

fn read_lab(at: &At<'_>, name: String, find: FindDut<'_>) -> Option<Lab> {
    const DUTS: &str = "a list of profiles, such as [duts/broadcom.yaml]";
    at.is_short(&name);
    let fields = at.fields(&["about", "adapter", "cable", "wire", "macsec", "duts"])?;
    let about = fields.need("about", "one line for people").and_then(|at| at.text("one line"));
    let adapter = adapter::read(at, &fields);
    let cable =
        fields.need("cable", "its length, such as 3m").and_then(|at| at.quantity::<Length>());
    let mut listed = fields.need("duts", DUTS).and_then(|at| at.list(DUTS)).unwrap_or_default();
    if let Some(at) = listed.get(DEVICES) {
        at.fault(format!("a lab of {} devices", listed.len()), limits::devices().want);
        // To read them all would take minutes.
        listed.truncate(1);
    }
    let mut duts: Vec<Profile> = Vec::new();
    for at in &listed {
        let Some(profile) = device(at, find) else { continue };
        if duts.iter().any(|other| other.name == profile.name) {
            let found = format!("a device of the name `{}` is already in this lab", profile.name);
            at.fault(found, "profiles with different names");
            continue;
        }
        duts.push(profile);
    }
    if listed.is_empty() && fields.get("duts").is_some() {
        at.fault("the lab has no device", DUTS);
    }
    let keys = match fields.get("macsec") {
        Some(at) => Some(keys::read(&at)?),
        None => None,
    };
    let Length(cable_cm) = cable?;
    let adapter = adapter?;
    adapter::fit(&adapter, &mut duts, &listed);
    Some(Lab { name, about: about?.to_owned(), adapter, cable_cm, keys, duts })
}

/// One device: a profile, or a pair of them.
fn device(at: &At<'_>, find: FindDut<'_>) -> Option<Profile> {
    const FILE: &str = "the file of a DUT profile, or {pair: [duts/gen1.yaml, duts/gen2.yaml]}";
    let Value::Map(_) = at.node.value else {
        return find(at, at.text(FILE)?);
    };
    let pair = at.fields(&["pair"])?.need("pair", "two files of NIC profiles")?;
    let files = pair.list("two files of NIC profiles")?;
    let [first, second] = &files[..] else {
        pair.fault(format!("a pair of {}", files.len()), "two files of NIC profiles");
        return None;
    };
    let first = find(first, first.text(FILE)?);
    let second = find(second, second.text(FILE)?);
    let made = Profile::pair(&first?, &second?);
    made.map_err(|why| at.fault(why, "two NICs of one speed, such as duts/gen1.yaml")).ok()
}

/// The stem of a file's name.
fn stem(file: &str) -> String {
    Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
