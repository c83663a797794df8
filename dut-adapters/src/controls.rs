//! Every control that a lab can name, and what each can do.

use crate::control::{Ability, Capabilities, Control, NotOffered};
use crate::{Dummy, EmulatedWire, LinuxControl, NoControl, PerftestControl, SonicControl, sonic};
use rig_generator::port::Mono;
use rig_lab::{ControlName, Profile, RedisAt};

/// What the control of that name can do.
pub const fn capabilities(name: ControlName) -> Capabilities {
    match name {
        ControlName::None => NoControl::CAPABILITIES,
        ControlName::Served => EmulatedWire::CAPABILITIES,
        ControlName::Dummy => Dummy::CAPABILITIES,
        ControlName::Perftest => PerftestControl::CAPABILITIES,
        ControlName::Linux => LinuxControl::CAPABILITIES,
        ControlName::Sonic => SonicControl::CAPABILITIES,
        // What perftest does, and knobs: those of the fields that have one.
        ControlName::Server => PerftestControl::CAPABILITIES,
    }
}

/// That the control of that name cannot do this, in words; `None` where it can.
pub fn lacking(name: ControlName, ability: Ability) -> Option<NotOffered> {
    let (control, _) = ControlName::NAMES.into_iter().find(|&(_, other)| other == name)?;
    (!capabilities(name).offers(ability)).then_some(NotOffered { control, ability })
}

/// Whether a control that configures can set this.
pub fn can_set(name: ControlName, path: &str) -> bool {
    match name {
        ControlName::Sonic => sonic::control::is_held(path),
        ControlName::Linux => LinuxControl::holds(path),
        _ => true,
    }
}

/// The control of that name of a device that is there already and as `profile` declares, with its first `ports` ports cabled to the
/// rig; where the device has a redis, at `redis`. `zero` is that of the session's clock.
///
/// # Errors
/// The rig itself has to make its device, or the device cannot be steered.
pub fn over_interfaces(
    (name, redis, zero): (ControlName, Option<&RedisAt>, Mono),
    profile: &Profile,
    ports: u16,
) -> Result<Box<dyn Control>, String> {
    let made = |of: &str| Err(format!("the control `{}` is of a device {of}", word(name)));
    match name {
        ControlName::None => Ok(Box::new(NoControl::of(profile.declared.clone()))),
        ControlName::Dummy => Ok(Box::new(Dummy)),
        ControlName::Sonic => match redis {
            Some(at) => Ok(Box::new(SonicControl::open((at, zero), profile, ports)?)),
            None => made("whose redis the lab names"),
        },
        ControlName::Served => made("that the rig has made"),
        ControlName::Perftest | ControlName::Linux => made("in a guest"),
        ControlName::Server => made("of a server"),
    }
}

/// The word for a control in a lab.
fn word(name: ControlName) -> &'static str {
    ControlName::NAMES.into_iter().find(|&(_, other)| other == name).map_or("", |(word, _)| word)
}
