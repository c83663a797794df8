//! The labs and profiles that are part of the program, so that it works from any directory.

use crate::fault::{Fault, one_of};
use crate::yaml::Source;

const EMULATED: &str = include_str!("../emulated.yaml");

macro_rules! duts {
    ($($name:literal)*) => {
        const DUTS: &[(&str, &str)] =
            &[$((concat!("duts/", $name), include_str!(concat!("../duts/", $name)))),*];
    };
}
duts! {
    "broadcom.yaml"
    "barefoot.yaml"
    "barefoot-by-standard.yaml"
    "broadcom-400g.yaml"
    "broadcom-by-standard.yaml"
    "broadcom-dlr.yaml"
    "broadcom-macsec.yaml"
    "broadcom-mixed.yaml"
    "broadcom-tick.yaml"
    "broadcom-weighted.yaml"
    "cisco-8000.yaml"
    "cisco-8000-by-standard.yaml"
    "connectx-default.yaml"
    "gen1.yaml"
    "gen2.yaml"
    "gen2-interop-fixed.yaml"
    "gen3.yaml"
    "hardware.yaml"
    "interval-counter.yaml"
    "linux-switch.yaml"
    "mellanox.yaml"
    "mellanox-by-standard.yaml"
    "mellanox-tick.yaml"
    "nic-by-standard.yaml"
    "rig-peer.yaml"
    "router.yaml"
    "shallow-32x100g.yaml"
    "soft-roce.yaml"
    "voq.yaml"
}

/// The default lab.
pub(crate) fn lab() -> Source {
    Source::new("lab-configs/emulated.yaml", EMULATED)
}

/// A bundled profile, by its name in a lab.
pub(crate) fn dut(name: &str) -> Result<Source, Vec<Fault>> {
    let found = DUTS.iter().find(|&&(file, _)| file == name);
    found.map(|&(file, text)| Source::new(&format!("lab-configs/{file}"), text)).ok_or_else(|| {
        let names = DUTS.iter().map(|&(file, _)| file);
        vec![Fault::of_file(name, "there is no such bundled profile", one_of(name, names))]
    })
}
