//! The part of a device that is served: its first ports, at their own speed or at another.

use rig_lab::{PortGroup, Profile};
use rig_units::PortSpeed;

/// `profile` with its first `count` ports only, each of them at `speed` where one is given.
///
/// # Errors
/// When it has fewer ports.
pub fn on_ports(
    mut profile: Profile,
    count: u16,
    speed: Option<PortSpeed>,
) -> Result<Profile, String> {
    let declared = &mut profile.declared;
    let has = declared.port_count();
    if !(1..=has).contains(&count) {
        return Err(format!(
            "device {} has {has} ports: want 1 to {has}, not {count}",
            profile.name
        ));
    }
    if profile.system.is_some() {
        profile.put_at_wire(count, speed, 0);
        return Ok(profile);
    }
    let mut groups: Vec<PortGroup> = Vec::new();
    for port in 0..count {
        let Some(speed) = speed.or_else(|| declared.port_speed(port)) else { continue };
        match groups.last_mut() {
            Some(group) if group.speed == speed => group.count += 1,
            _ => groups.push(PortGroup { count: 1, speed }),
        }
    }
    *declared.ports_mut() = groups;
    Ok(profile)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixed() -> Profile {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        lab.duts.into_iter().find(|dut| dut.name == "broadcom-mixed").expect("a mixed device")
    }

    #[test]
    fn the_first_ports_keep_their_speeds_unless_there_is_another() {
        let own = on_ports(mixed(), 5, None).unwrap().declared.ports().clone();
        let group = |count, speed| PortGroup { count, speed };
        assert_eq!(own, [group(4, PortSpeed::G400), group(1, PortSpeed::G100)]);
        let slow = PortSpeed::from_bps(1_000_000_000).unwrap();
        assert_eq!(*on_ports(mixed(), 5, Some(slow)).unwrap().declared.ports(), [group(5, slow)]);
    }

    #[test]
    fn more_ports_than_it_has_or_none_are_refused() {
        let refused = on_ports(mixed(), 9, None).unwrap_err();
        assert_eq!(refused, "device broadcom-mixed has 8 ports: want 1 to 8, not 9");
        assert!(on_ports(mixed(), 0, None).is_err());
    }
}
