//! What deviations change in parts of the device that have several of them.

use crate::model::{buffer, secy, wred};
use rig_lab::{Form, Reception};
use rig_units::PortSpeed;

/// What is otherwise in the packet buffer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BufferFaults {
    pub(super) own: buffer::Faults,
    pub(super) headroom_one_cell_short: bool,
    pub(super) headroom_cap_ignored: bool,
    pub(super) headroom_unused: bool,
    pub(super) reserved_not_counted: bool,
    pub(super) descriptor_not_counted: bool,
    pub(super) pool_twice: bool,
    pub(super) voq_per_source: bool,
}

impl BufferFaults {
    pub(super) fn build_into(self, buffer: &mut buffer::Config) {
        buffer.faults = self.own;
        if self.headroom_cap_ignored {
            let all = buffer.headroom_pool.map(|pool| u32::try_from(pool).unwrap_or(u32::MAX));
            buffer.headroom = all.unwrap_or(buffer.headroom);
        }
        if self.headroom_one_cell_short {
            let cell = buffer.cell.max(1);
            buffer.headroom = buffer.headroom.saturating_sub(cell);
            buffer.headroom_pool =
                buffer.headroom_pool.map(|pool| pool.saturating_sub(u64::from(cell)));
        }
        if self.headroom_unused {
            buffer.headroom = 0;
        }
        if self.reserved_not_counted {
            buffer.reserved = 0;
        }
        if self.descriptor_not_counted {
            buffer.descriptor = 0;
        }
        if self.pool_twice {
            buffer.pool *= 2;
        }
        buffer.voqs &= !self.voq_per_source;
    }
}

/// What is otherwise in early detection.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WredFaults {
    pub(super) own: wred::Faults,
    pub(super) other_point: bool,
    pub(super) weight: Option<u8>,
    pub(super) every_queue: bool,
}

impl WredFaults {
    pub(super) fn build_into(self, wred: &mut wred::Config) {
        wred.faults = self.own;
        wred.at_enqueue ^= self.other_point;
        wred.weight = self.weight.unwrap_or(wred.weight);
        if self.every_queue {
            wred.queues = u8::MAX;
        }
    }
}

/// What is otherwise in MACsec.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MacsecFaults {
    pub(super) own: secy::Faults,
    pub(super) drops_encrypted_pfc: bool,
    pub(super) accepts_clear_pfc: bool,
    pub(super) sends_clear_pfc: bool,
    pub(super) headroom_too_small: bool,
}

impl MacsecFaults {
    /// What is missing of the headroom of a port of `speed`, in bytes: the latency on the way out and back, and what protection
    /// adds to the PFC frame.
    pub(super) fn short(self, macsec: &secy::Config, speed: PortSpeed) -> u32 {
        if !self.headroom_too_small || macsec.sent == Form::Clear {
            return 0;
        }
        let overhead = u64::from(rig_lab::macsec::overhead(macsec.sends_sci));
        let way = (macsec.latency * 2).0 / speed.byte().0.max(1);
        u32::try_from(way + overhead).unwrap_or(u32::MAX)
    }

    pub(super) fn build_into(self, macsec: &mut secy::Config) {
        macsec.faults = self.own;
        if self.drops_encrypted_pfc && macsec.encrypted == Reception::Honour {
            macsec.encrypted = Reception::Ignore;
        }
        if self.accepts_clear_pfc {
            macsec.clear = Reception::Honour;
        }
        if self.sends_clear_pfc {
            macsec.sent = Form::Clear;
        }
    }
}
