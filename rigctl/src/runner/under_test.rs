//! What a system under test is made of, in words, for pages and for `rigctl explain`.

use rig_lab::{Profile, System};
use rig_units::Length;

/// The devices of the system that `profile` is or stands in, the cables between them, a line each, and the port
/// that each rig port is cabled to; nothing for a device by itself.
pub fn system(profile: &Profile) -> Vec<String> {
    let Some(system) = profile.system.as_deref() else { return Vec::new() };
    let devices = (0..).zip(&system.devices).map(|(index, device)| {
        let alone = if system.alone == Some(index) { ", which is under test" } else { "" };
        format!("{}: {}, {}{alone}", device.name, device.asic, device.about)
    });
    let links = system.links.iter().map(|link| {
        let [one, other] = link.ends.map(|end| system.port_name(end));
        let long = link
            .cable_cm
            .map_or("as long as the cables to the rig".to_owned(), |cm| Length(cm).to_string());
        format!("{one} to {other}: {long}")
    });
    devices.chain(links).chain([rig(system)]).collect()
}

/// Where the rig is, on one line.
fn rig(system: &System) -> String {
    let port = |(number, &at)| format!("p{number} at {}", system.port_name(at));
    let ports: Vec<String> = (1..).zip(&system.ports).map(port).collect();
    format!("the rig: {}", ports.join(", "))
}
