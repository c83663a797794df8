//! The rig's ends of the cables, and who cuts one: the rig at its own interface, or the device at its end of a virtual one.

use super::broken::Broken;
use super::cuts::Cuts;
use rig_dut::control::{Control, Order};
use rig_generator::Lane;
use rig_generator::port::PortError;
use rig_testcases::Script;
use rig_units::Time;

/// What is known of the rig's ends of the cables.
#[derive(Debug)]
pub(super) struct Cabling {
    /// The interface of each lane, by its own name; none where the rig has made them.
    interfaces: Vec<String>,
    /// Links that the rig cuts; without, the device does.
    cuts: Option<Cuts>,
}

impl Cabling {
    /// Virtual interfaces that the rig has made: no link of them is ever down, and the device is told which counts as cut.
    pub(super) const fn made() -> Cabling {
        Cabling { interfaces: Vec::new(), cuts: None }
    }

    /// Interfaces that were there before the rig.
    pub(super) const fn found(interfaces: Vec<String>, cuts: Cuts) -> Cabling {
        Cabling { interfaces, cuts: Some(cuts) }
    }

    /// Whether it is the device that cuts a link, so that nobody else sees when.
    pub(super) const fn is_cut_by_the_device(&self) -> bool {
        self.cuts.is_none()
    }

    /// The rig's interface of a lane, by its own name where it has one.
    pub(super) fn interface(&self, lane: usize) -> String {
        self.interfaces.get(lane).cloned().unwrap_or_else(|| format!("p{}", lane + 1))
    }

    /// Cuts the link at `lane`, the device's port of that number, or mends it. A link that takes its time to come up holds up
    /// what is due: that leaves late, and the trial does not count.
    pub(super) fn link(
        &mut self,
        control: &mut dyn Control,
        lane: &mut Lane,
        (port, up): (u16, bool),
        at: Time,
    ) -> Result<(), Broken> {
        let interface = self.interface(port.into());
        match &mut self.cuts {
            None => {
                control.order(Order::Link { port, up })?;
                lane.sender.set_up(at, up);
            }
            Some(_) if up => {
                Cuts::mend(&interface)?;
                lane.plug(at);
            }
            Some(cuts) => {
                lane.unplug(at);
                cuts.cut(&interface)?;
            }
        }
        Ok(())
    }

    /// Notes what a trial of `script` will change outside the rig.
    ///
    /// # Errors
    /// It cannot be noted, so that the trial must not begin.
    pub(super) fn note(&mut self, script: &Script) -> Result<(), Broken> {
        self.cuts.as_mut().map_or(Ok(()), |cuts| cuts.note(script, &self.interfaces))
    }

    /// Mends every link that the rig itself has cut: nothing remains of a trial that was broken off.
    pub(super) fn mend_all(&mut self, lanes: &mut [Lane], now: Time) -> Result<(), PortError> {
        let Some(cuts) = &mut self.cuts else { return Ok(()) };
        for (lane, interface) in lanes.iter_mut().zip(&self.interfaces) {
            if lane.is_unplugged() {
                Cuts::mend(interface)?;
                lane.plug(now);
            }
        }
        cuts.strike();
        Ok(())
    }
}
