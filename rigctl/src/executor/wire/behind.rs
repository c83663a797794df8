//! What is at the other ends of the rig's ports, as far as the rig can reach it.

use super::broken::Broken;
use super::cuts::Cuts;
use rig_capture::DutEvent;
use rig_dut::control::{FlowOrder, Health};
use rig_dut::emulated_wire::{Lost, Undone};
use rig_dut::{EmulatedWire, Refused};
use rig_generator::Lane;
use rig_generator::port::{Mono, PortError};
use rig_lab::{Declared, Keys, Setting, WatermarkCopy};
use rig_testcases::Script;
use rig_units::Time;
use std::collections::BTreeMap;

/// The device behind the rig's ports.
#[derive(Debug)]
pub enum Behind {
    /// An emulated device that another process serves, steered over its control channel.
    Emulated(Box<EmulatedWire>),
    /// Whatever is cabled to these interfaces. There is no way to it but the wire: it is what its profile declares, boots
    /// for nobody, and says nothing.
    Declared {
        /// The interface of each lane.
        interfaces: Vec<String>,
        /// What it declares.
        declared: Box<Declared>,
        /// When the bench was opened: its clock runs on from session to session, as the device does.
        opened: Mono,
        /// Links that the rig cuts.
        cuts: Cuts,
    },
}

impl Behind {
    /// A device in this configuration, and zero of the session's clock. One that cannot be booted goes on as it is.
    ///
    /// # Errors
    /// When it refuses a setting, or cannot be reached.
    pub fn boot(&mut self, settings: &[Setting], seed: u64) -> Result<Mono, Undone> {
        match self {
            Behind::Emulated(device) => device.boot(settings, seed),
            Behind::Declared { declared, opened, .. } => {
                let lack = settings.iter().find(|setting| declared.satisfies(setting) != Ok(true));
                lack.map_or(Ok(*opened), |setting| Err(untouchable(setting)))
            }
        }
    }

    /// Whether it was booted afresh for the session.
    pub const fn boots(&self) -> bool {
        matches!(self, Behind::Emulated(_))
    }

    /// Gives it the keys that it shares with the rig. One that cannot be steered has them from elsewhere.
    pub(super) fn key(&mut self, keys: &Keys) -> Result<(), Undone> {
        match self {
            Behind::Emulated(device) => device.key(keys),
            Behind::Declared { .. } => Ok(()),
        }
    }

    /// Says which of its ports the rig's are cabled to.
    pub(super) fn cable(&mut self, behind: &[u16]) -> Result<(), Undone> {
        match self {
            Behind::Emulated(device) => device.cable(behind),
            Behind::Declared { .. } => Ok(()),
        }
    }

    /// Lets every connection of a NIC begin anew.
    pub(super) fn disconnect(&mut self) -> Result<(), Undone> {
        match self {
            Behind::Emulated(device) => device.disconnect(),
            Behind::Declared { .. } => Ok(()),
        }
    }

    /// Lets the NIC behind a port send by itself. Labs have NICs that nobody could ask only where a case asks none.
    pub(super) fn start_flow(&mut self, port: u16, flow: FlowOrder) -> Result<(), Undone> {
        match self {
            Behind::Emulated(device) => device.start_flow(port, flow),
            Behind::Declared { .. } => Ok(()),
        }
    }

    /// Lets it send nothing new.
    pub(super) fn stop_flow(&mut self, port: u16, connection: u16) -> Result<(), Undone> {
        match self {
            Behind::Emulated(device) => device.stop_flow(port, connection),
            Behind::Declared { .. } => Ok(()),
        }
    }

    /// Changes a setting.
    ///
    /// # Errors
    /// It refuses, or is lost.
    pub fn set(&mut self, setting: &Setting) -> Result<(), Undone> {
        match self {
            Behind::Emulated(device) => device.set(core::slice::from_ref(setting)),
            Behind::Declared { .. } => Err(untouchable(setting)),
        }
    }

    /// Clears its watermarks, where it has any.
    pub(super) fn clear_watermarks(&mut self) -> Result<(), Undone> {
        match self {
            Behind::Emulated(device) => device.forget_watermarks(),
            Behind::Declared { .. } => Ok(()),
        }
    }

    /// Clears one copy of them.
    ///
    /// # Errors
    /// It cannot, or is lost.
    pub(super) fn clear_copy(&mut self, copy: WatermarkCopy) -> Result<(), Undone> {
        match self {
            Behind::Emulated(device) => device.forget_copy(copy),
            Behind::Declared { .. } => Err(Undone::Refused(Refused {
                why: "nothing here can clear copies of watermarks".to_owned(),
            })),
        }
    }

    /// Every counter now; none where it offers none.
    pub(super) fn counters(&self) -> Result<BTreeMap<String, u64>, Lost> {
        match self {
            Behind::Emulated(device) => device.values(&[]),
            Behind::Declared { .. } => Ok(BTreeMap::new()),
        }
    }

    /// What it did since this was last asked; `None` where it says nothing.
    pub(super) fn happened(&self) -> Result<Option<Vec<DutEvent>>, Lost> {
        match self {
            Behind::Emulated(device) => device.happened().map(Some),
            Behind::Declared { .. } => Ok(None),
        }
    }

    /// How it has kept up since this was last asked; `None` where it does not say.
    pub(super) fn health(&mut self) -> Result<Option<Health>, Lost> {
        match self {
            Behind::Emulated(device) => device.lateness().map(Some),
            Behind::Declared { .. } => Ok(None),
        }
    }

    /// The rig's interface of a lane, by its own name where it has one.
    pub(super) fn interface(&self, lane: usize) -> String {
        match self {
            Behind::Declared { interfaces, .. } if lane < interfaces.len() => {
                interfaces[lane].clone()
            }
            Behind::Declared { .. } | Behind::Emulated(_) => format!("p{}", lane + 1),
        }
    }

    /// Cuts the link at `lane`, the device's port of that number, or mends it. A link that takes its time to come up holds up
    /// what is due: that leaves late, and the trial does not count.
    pub(super) fn link(
        &mut self,
        lane: &mut Lane,
        port: u16,
        at: Time,
        up: bool,
    ) -> Result<(), Broken> {
        match self {
            Behind::Emulated(device) => {
                device.set_link(port, up)?;
                lane.sender.set_up(at, up);
            }
            Behind::Declared { interfaces, .. } if up => {
                Cuts::mend(&interfaces[usize::from(port)])?;
                lane.plug(at);
            }
            Behind::Declared { interfaces, cuts, .. } => {
                lane.unplug(at);
                cuts.cut(&interfaces[usize::from(port)])?;
            }
        }
        Ok(())
    }

    /// Notes what a trial of `script` will change outside the rig.
    ///
    /// # Errors
    /// It cannot be noted, so that the trial must not begin.
    pub(super) fn note_cuts(&mut self, script: &Script) -> Result<(), Broken> {
        match self {
            Behind::Emulated(_) => Ok(()),
            Behind::Declared { interfaces, cuts, .. } => cuts.note(script, interfaces),
        }
    }

    /// Mends every link that the rig itself has cut: nothing remains of a trial that was broken off.
    pub(super) fn mend_all(&mut self, lanes: &mut [Lane], now: Time) -> Result<(), PortError> {
        let Behind::Declared { interfaces, cuts, .. } = self else { return Ok(()) };
        for (lane, interface) in lanes.iter_mut().zip(interfaces) {
            if lane.is_unplugged() {
                Cuts::mend(interface)?;
                lane.plug(now);
            }
        }
        cuts.strike();
        Ok(())
    }
}

/// A setting that nobody can make.
fn untouchable(setting: &Setting) -> Undone {
    let value = setting.value.as_str().map_or_else(|| setting.value.to_string(), str::to_owned);
    let why = format!("{}={value}: the adapter `declared` configures nothing", setting.path);
    Undone::Refused(Refused { why })
}
