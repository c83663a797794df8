//! Parts of a device for the tests of any room: a test says what it is about, all else is as here.

use crate::{
    Accounting, Action, Backlog, Buffer, Charge, ConfigPath, Crossing, DropBy, Nic, Pfcwd,
};
use rig_units::{Bytes, Dur, Within};

impl Buffer {
    /// A pool in which every frame takes what it is long. Limits are 2^k of what is left, nothing is reserved and there is no headroom.
    pub fn plain(pool: u64, k: i8) -> Buffer {
        Buffer {
            pool: Bytes(pool),
            lossy_pool: Bytes(pool),
            cell: Bytes(0),
            descriptor: Bytes(0),
            reserved: Bytes(0),
            dynamic_th: k,
            static_th: None,
            port_dynamic_th: None,
            lossy_dynamic_th: k,
            lossy_static_th: None,
            xon: Bytes(0),
            xon_offset: Bytes(0),
            xoff: Bytes(0),
            headroom_pool: None,
            margin: None,
            accounting_delay: None,
            crossing: Crossing::Headroom,
            accounting: Accounting::Ingress,
            ingress_memories: None,
            egress_memories: None,
        }
    }
}

impl Nic {
    /// Such as its rows say, but that it answers no mark and obeys no CNP, and that its timers run out on the picosecond.
    pub fn quiet() -> Nic {
        let mut nic = Nic::usual();
        (nic.np.enable, nic.rp.enable) = (false, false);
        nic.rc.timeout_late = Some(Within::ZERO);
        nic
    }
}

impl Pfcwd {
    /// A watchdog that polls every 100 ms, detects and restores within 200 ms, and drops.
    pub fn dropping() -> Pfcwd {
        Pfcwd {
            detection_time: Dur::ms(200),
            restoration_time: Some(Dur::ms(200)),
            poll_interval: Dur::ms(100),
            action: Action::Drop,
            big_red_switch: false,
            charge: Charge::Interval,
            min_samples: 1,
            jitter: None,
            skipped_polls: None,
            action_latency: None,
            timer_lag: None,
            backlog: Backlog::Drains,
            drop_by: DropBy::Acl,
            config_path: ConfigPath::Redis,
        }
    }
}
