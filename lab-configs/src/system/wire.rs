//! A system at real ports: what of it is reached there, and how it is handed to the process that serves it.

use crate::Profile;
use crate::ports::scaled;
use rig_units::{Length, PortSpeed};
use serde_json::Value;

impl Profile {
    /// Leaves of the rig's ports the first `count`, and has every port of each device run at its share of `top`, where one is given:
    /// the fastest of all runs at that. Cables between devices that state no length are `cable_cm` long from now on. Of a device by itself
    /// nothing is changed.
    pub fn put_at_wire(&mut self, count: u16, top: Option<PortSpeed>, cable_cm: u64) {
        let Some(system) = &mut self.system else { return };
        system.ports.truncate(count.into());
        for link in &mut system.links {
            link.cable_cm.get_or_insert(cable_cm);
        }
        let fastest = system.devices.iter().flat_map(Profile::speeds).max();
        for device in &mut system.devices {
            let speeds: Vec<PortSpeed> = device.speeds().collect();
            *device.declared.ports_mut() = scaled(&speeds, fastest, top);
        }
        *self.declared.ports_mut() = system.rig_ports();
    }

    /// The speed of each of its ports.
    fn speeds(&self) -> impl Iterator<Item = PortSpeed> {
        (0..self.declared.port_count()).filter_map(|port| self.declared.port_speed(port))
    }

    /// The devices of the system that it is or stands in, each as it is now; or itself.
    pub fn parts(&self) -> Vec<&Profile> {
        let Some(system) = &self.system else { return vec![self] };
        let own = |(place, device)| if system.alone == Some(place) { self } else { device };
        (0..).zip(&system.devices).map(own).collect()
    }

    /// The text of a lab that names the system that it is or stands in, and nothing else; it finds the profile of each of its devices in
    /// the file that `file` names for the device at that place. `None` where there is no system.
    pub fn written_as_lab(&self, file: impl Fn(usize) -> String) -> Option<String> {
        let system = self.system.as_deref()?;
        let own = system.alone.and_then(|place| system.devices.get(usize::from(place)));
        let whole = own.and_then(|own| self.name.strip_suffix(&format!("-{}", own.name)));
        let quoted = |text: &str| Value::from(text).to_string();
        // The order in which they stand is part of what they are: the first is what the whole states.
        let devices = system.devices.iter().enumerate();
        let devices: Vec<String> = devices
            .map(|(place, device)| format!("{}: {}", device.name, quoted(&file(place))))
            .collect();
        let links = system.links.iter().map(|link| {
            let [from, to] = link.ends.map(|end| system.port_name(end));
            let length = link.cable_cm.map(|cm| format!(", length: {}", Length(cm)));
            format!("{{from: {from}, to: {to}{}}}", length.unwrap_or_default())
        });
        let ports = (1..).zip(&system.ports);
        let ports = ports.map(|(rig, &at)| format!("p{rig}: {}", system.port_name(at)));
        let [links, ports] = [links.collect::<Vec<_>>(), ports.collect()];
        Some(format!(
            "about: {about}\ntransport: virtual\ncable: 0m\nduts:\n- system: {}\n  about: {about}\n  devices: {{{}}}\n  links: [{}]\n  ports: {{{}}}\n",
            whole.unwrap_or(&self.name),
            devices.join(", "),
            links.join(", "),
            ports.join(", "),
            about = quoted(&self.about),
        ))
    }
}
