//! Which bundled profile stands for the ASIC: its watchdog's rule, its cells, and whatever no database tells.

use super::tables::Tables;
use rig_lab::read::profile_from;
use rig_lab::yaml::Source;
use rig_lab::{Fault, Profile, Switch};
use rig_units::PortSpeed;

/// What of the platform or the hardware SKU, in lower case, tells an ASIC, and the bundled profile of it.
const KNOWN: &[(&str, &str)] = &[
    ("mlnx", "mellanox-by-standard"),
    ("nvidia", "mellanox-by-standard"),
    ("wedge100bf", "barefoot-by-standard"),
    ("barefoot", "barefoot-by-standard"),
    ("arista_7170", "barefoot-by-standard"),
    ("cisco-8", "cisco-8000-by-standard"),
    ("arista-7050", "broadcom-by-standard"),
    ("arista-7060", "broadcom-by-standard"),
    ("arista-7260", "broadcom-by-standard"),
    ("dx010", "broadcom-by-standard"),
    ("s6000", "broadcom-by-standard"),
    ("s6100", "broadcom-by-standard"),
    ("z9100", "broadcom-by-standard"),
];
/// Of virtual output queues there is one profile.
const VOQ: (&str, &str) = ("cisco-8000-by-standard", "voq");
/// The Broadcom profile of a chip of so fast a port.
const FAST: (&str, PortSpeed, &str) = ("broadcom-by-standard", PortSpeed::G400, "broadcom-400g");

/// A bundled profile and its name.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) name: String,
    pub(super) profile: Profile,
}

impl Base {
    /// What is declared of it; a base is a switch.
    pub(super) fn switch(&self) -> Option<&Switch> {
        self.profile.declared.switch()
    }

    /// The speed of its ports.
    pub(super) fn speed(&self) -> PortSpeed {
        let groups = self.switch().map(|switch| switch.ports.as_slice()).unwrap_or_default();
        groups.iter().map(|group| group.speed).max().unwrap_or(PortSpeed::G100)
    }
}

/// The profile that was `asked` for, or that of the ASIC that platform or hardware SKU names.
pub(super) fn base(
    tables: &Tables,
    asked: Option<&str>,
    fastest: PortSpeed,
) -> Result<Base, Vec<Fault>> {
    let name = match asked {
        Some(name) => name.to_owned(),
        None => guessed(tables, fastest).ok_or_else(|| vec![unknown(tables)])?,
    };
    let text = format!("name: base\nabout: \"what no database tells\"\nextends: {name}\n");
    let profile = profile_from(&Source::new("--base", &text)).map_err(|faults| {
        let want = faults.into_iter().map(|fault| fault.want).next().unwrap_or_default();
        vec![Fault::of_file(&format!("--base {name}"), "there is no such bundled profile", want)]
    })?;
    if profile.declared.switch().is_none() {
        let want = "a bundled profile of a switch, such as broadcom-by-standard";
        return Err(vec![Fault::of_file(&format!("--base {name}"), "it is no switch", want)]);
    }
    Ok(Base { name, profile })
}

fn guessed(tables: &Tables, fastest: PortSpeed) -> Option<String> {
    let said =
        |field| tables.metadata(field).map_or(String::new(), |said| said.text.to_lowercase());
    let (platform, sku) = (said("platform"), said("hwsku"));
    let known = KNOWN.iter().find(|(word, _)| platform.contains(word) || sku.contains(word));
    let name = known.map(|(_, name)| *name)?;
    let voq = said("switch_type") == "voq";
    match (name, voq) {
        (name, true) => (name == VOQ.0).then(|| VOQ.1.to_owned()),
        (name, false) if name == FAST.0 && fastest >= FAST.1 => Some(FAST.2.to_owned()),
        (name, false) => Some(name.to_owned()),
    }
}

fn unknown(tables: &Tables) -> Fault {
    let want = "--base with the bundled profile of its ASIC, such as broadcom-by-standard";
    let said = tables.metadata("hwsku").or_else(|| tables.metadata("platform"));
    match said {
        Some(said) => Fault {
            place: Box::new(said.place()),
            found: format!("no ASIC is known to be in `{}`", rig_units::limits::quoted(said.text)),
            want: want.to_owned(),
        },
        None => {
            Fault::of_file(&tables.file, "DEVICE_METADATA names no platform and no hwsku", want)
        }
    }
}
