//! Dependencies between rooms run one way (`Cargo.toml` of each room against this table).

use super::breach::Breach;
use super::tree::Source;

/// Room, and the rooms that it may use.
const MAY_USE: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("frames", &["rig-units"]),
    ("lab-configs", &["rig-units"]),
    ("testcases", &["rig-units", "rig-frames", "rig-lab"]),
    ("generator", &["rig-units", "rig-frames", "rig-testcases"]),
    ("capture", &["rig-units", "rig-frames", "rig-testcases"]),
    ("oracle", &["rig-units", "rig-frames", "rig-lab", "rig-testcases", "rig-capture"]),
    (
        "dut-adapters",
        &[
            "rig-units",
            "rig-frames",
            "rig-lab",
            "rig-testcases",
            "rig-generator",
            "rig-capture",
            "rig-oracle",
        ],
    ),
    ("guests", &["rig-units", "rig-frames", "rig-generator", "rig-capture"]),
    ("reports", &["rig-units", "rig-testcases", "rig-capture", "rig-oracle"]),
    ("xtask", &[]),
];

/// Arrows of one manifest that the table does not know. `rigctl` may use all.
pub(crate) fn check(source: &Source) -> Vec<Breach> {
    let Some(room) = source.path.strip_suffix("/Cargo.toml") else { return Vec::new() };
    let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == room) else {
        return Vec::new();
    };
    let uses = |line: &str| {
        let name = line.split(['.', ' ', '=']).next().unwrap_or_default().to_owned();
        name.starts_with("rig-").then_some(name)
    };
    let lines = (1..).zip(source.text.lines());
    lines
        .filter_map(|(line, text)| {
            let name = uses(text)?;
            // A room's tests may use the room itself, with features that only they turn on.
            if allowed.contains(&name.as_str()) || text.contains("path = \".\"") {
                return None;
            }
            let why = format!("`{room}` must not use `{name}`: it may use {}", allowed.join(", "));
            Some(Breach { file: source.path.clone(), line, why })
        })
        .collect()
}
