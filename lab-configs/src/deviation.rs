//! Named ways in which an emulated device departs from what it declares: a table a part, a row a deviation. From its rows a
//! part has its flags, which the model asks where it does otherwise.

use crate::Part;

mod blue_rdma;
mod buffer;
mod clock;
mod dynamic_buffer;
mod ets;
mod flex_counter;
mod macsec;
mod nic_pfc;
mod np;
mod pfc;
mod pfcwd;
mod rc;
mod rdma_router;
mod reboot;
mod row;
mod rp;
mod scheduler;
mod switched;
mod table;
mod wred;
pub use blue_rdma::BlueRdmaFaults;
pub use buffer::BufferFaults;
pub use clock::ClockFaults;
pub use dynamic_buffer::DynamicBufferFaults;
pub use ets::EtsFaults;
pub use flex_counter::FlexCounterFaults;
pub use macsec::MacsecFaults;
pub use nic_pfc::NicPfcFaults;
pub use np::NpFaults;
pub use pfc::PfcFaults;
pub use pfcwd::PfcwdFaults;
pub use rc::RcFaults;
pub use rdma_router::RdmaRouterFaults;
pub use reboot::RebootFaults;
pub use row::Deviation;
use row::Value;
pub use rp::RpFaults;
pub use scheduler::SchedulerFaults;
pub use switched::Switched;
pub use wred::WredFaults;

impl Deviation {
    /// All of them: the tables of the parts, one after the other.
    pub fn all() -> impl Iterator<Item = &'static Deviation> + Clone {
        Part::NAMES.into_iter().flat_map(|(_, part)| part.deviations())
    }

    /// The one called `name`, as in `drop_leaks`.
    pub fn named(name: &str) -> Option<&'static Deviation> {
        Deviation::all().find(|deviation| deviation.name == name)
    }

    /// This deviation with the value in `text`, if any.
    ///
    /// # Errors
    /// Why it cannot have that value, and what would be accepted.
    pub fn switched(&'static self, text: Option<&str>) -> Result<Switched, String> {
        let value = match (text, &self.value) {
            (None, _) => None,
            (Some(_), None) => return Err(format!("`{self}` takes no value: want `{self}`")),
            (Some(text), Some(Value { accepted, .. })) => {
                let value = text.parse().ok().filter(|value| accepted.contains(value));
                let (least, most) = (accepted.start(), accepted.end());
                Some(value.ok_or_else(|| {
                    format!(
                        "`{text}` is no value for `{self}`: want a whole number, {least} to {most}"
                    )
                })?)
            }
        };
        Ok(Switched { name: self, value })
    }
}

/// What a device does wrong, part by part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceFaults {
    /// Of its PFC watchdogs.
    pub pfcwd: PfcwdFaults,
    /// Of its packet buffer.
    pub buffer: BufferFaults,
    /// Of its buffer manager.
    pub dynamic_buffer: DynamicBufferFaults,
    /// Of the copying of its counters.
    pub flex_counter: FlexCounterFaults,
    /// Of its ports, in PFC both ways.
    pub pfc: PfcFaults,
    /// Of its ports, as their queues share them.
    pub scheduler: SchedulerFaults,
    /// Of its reboots.
    pub reboot: RebootFaults,
    /// Of early marking and dropping.
    pub wred: WredFaults,
    /// Of MACsec on its ports.
    pub macsec: MacsecFaults,
    /// Of the NICs that it is made of.
    pub nic: NicFaults,
    /// Of the NICs of blue-rdma that it is made of.
    pub blue_rdma: BlueRdmaFaults,
    /// Of its clock.
    pub clock: ClockFaults,
}

/// What a NIC does wrong, part by part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NicFaults {
    /// Of its notification point, and its receive pipeline.
    pub np: NpFaults,
    /// Of its reaction point.
    pub rp: RpFaults,
    /// Of its reliable connections.
    pub rc: RcFaults,
    /// Of its port, as it obeys PFC and sends some.
    pub pfc: NicPfcFaults,
    /// Of its port, as traffic classes share it.
    pub ets: EtsFaults,
    /// Of the software that shares it.
    pub rdma_router: RdmaRouterFaults,
}

impl NicFaults {
    /// Nothing wrong.
    pub const NONE: NicFaults = NicFaults {
        np: NpFaults::NONE,
        rp: RpFaults::NONE,
        rc: RcFaults::NONE,
        pfc: NicPfcFaults::NONE,
        ets: EtsFaults::NONE,
        rdma_router: RdmaRouterFaults::NONE,
    };
}

impl DeviceFaults {
    /// Nothing wrong.
    pub const NONE: DeviceFaults = DeviceFaults {
        pfcwd: PfcwdFaults::NONE,
        buffer: BufferFaults::NONE,
        dynamic_buffer: DynamicBufferFaults::NONE,
        flex_counter: FlexCounterFaults::NONE,
        pfc: PfcFaults::NONE,
        scheduler: SchedulerFaults::NONE,
        reboot: RebootFaults::NONE,
        wred: WredFaults::NONE,
        macsec: MacsecFaults::NONE,
        nic: NicFaults::NONE,
        blue_rdma: BlueRdmaFaults::NONE,
        clock: ClockFaults::NONE,
    };

    /// What is wrong with a device on which these are switched on. Of one that is named twice the last value counts.
    pub fn of(switched: &[Switched]) -> DeviceFaults {
        let mut faults = DeviceFaults::NONE;
        for &Switched { name: Deviation { name, part, .. }, value } in switched {
            match part {
                Part::Pfcwd => faults.pfcwd.switch_on(name, value),
                Part::Buffer => faults.buffer.switch_on(name, value),
                Part::DynamicBuffer => faults.dynamic_buffer.switch_on(name, value),
                Part::Pfc => faults.pfc.switch_on(name, value),
                Part::Scheduler => faults.scheduler.switch_on(name, value),
                // It is as it is declared, or its value is another.
                Part::Forwarding => {}
                Part::FlexCounter => faults.flex_counter.switch_on(name, value),
                Part::Reboot => faults.reboot.switch_on(name, value),
                Part::Wred => faults.wred.switch_on(name, value),
                Part::Macsec => faults.macsec.switch_on(name, value),
                Part::Np => faults.nic.np.switch_on(name, value),
                Part::Rp => faults.nic.rp.switch_on(name, value),
                Part::Rc => faults.nic.rc.switch_on(name, value),
                Part::NicPfc => faults.nic.pfc.switch_on(name, value),
                Part::Ets => faults.nic.ets.switch_on(name, value),
                Part::RdmaRouter => faults.nic.rdma_router.switch_on(name, value),
                Part::BlueRdma => faults.blue_rdma.switch_on(name, value),
                Part::Clock => faults.clock.switch_on(name, value),
            }
        }
        faults
    }
}

impl Part {
    /// Its table.
    pub const fn deviations(self) -> &'static [Deviation] {
        match self {
            Part::Pfcwd => PfcwdFaults::ROWS,
            Part::Buffer => BufferFaults::ROWS,
            Part::DynamicBuffer => DynamicBufferFaults::ROWS,
            Part::Pfc => PfcFaults::ROWS,
            Part::Scheduler => SchedulerFaults::ROWS,
            Part::Forwarding => &[],
            Part::FlexCounter => FlexCounterFaults::ROWS,
            Part::Reboot => RebootFaults::ROWS,
            Part::Wred => WredFaults::ROWS,
            Part::Macsec => MacsecFaults::ROWS,
            Part::Np => NpFaults::ROWS,
            Part::Rp => RpFaults::ROWS,
            Part::Rc => RcFaults::ROWS,
            Part::NicPfc => NicPfcFaults::ROWS,
            Part::Ets => EtsFaults::ROWS,
            Part::RdmaRouter => RdmaRouterFaults::ROWS,
            Part::BlueRdma => BlueRdmaFaults::ROWS,
            Part::Clock => ClockFaults::ROWS,
        }
    }
}

#[cfg(test)]
mod tests;
