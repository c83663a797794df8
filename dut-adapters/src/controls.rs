//! Every control that a lab can name, and what each can do.

use crate::control::{Ability, Capabilities, Control, NotOffered};
use crate::{Dummy, EmulatedWire, LinuxControl, NoControl, PerftestControl};
use rig_lab::{ControlName, Declared};

/// What the control of that name can do.
pub const fn capabilities(name: ControlName) -> Capabilities {
    match name {
        ControlName::None => NoControl::CAPABILITIES,
        ControlName::Served => EmulatedWire::CAPABILITIES,
        ControlName::Dummy => Dummy::CAPABILITIES,
        ControlName::Perftest => PerftestControl::CAPABILITIES,
        ControlName::Linux => LinuxControl::CAPABILITIES,
    }
}

/// That the control of that name cannot do this, in words; `None` where it can.
pub fn lacking(name: ControlName, ability: Ability) -> Option<NotOffered> {
    let (control, _) = ControlName::NAMES.into_iter().find(|&(_, other)| other == name)?;
    (!capabilities(name).offers(ability)).then_some(NotOffered { control, ability })
}

/// The control of that name of a device that is there already.
///
/// # Errors
/// The rig itself has to make its device.
pub fn over_interfaces(
    name: ControlName,
    declared: &Declared,
) -> Result<Box<dyn Control>, &'static str> {
    match name {
        ControlName::None => Ok(Box::new(NoControl::of(declared.clone()))),
        ControlName::Dummy => Ok(Box::new(Dummy)),
        ControlName::Served => Err("the control `served` is of a device that the rig has made"),
        ControlName::Perftest => Err("the control `perftest` is of a device in a guest"),
        ControlName::Linux => Err("the control `linux` is of a device in a guest"),
    }
}
