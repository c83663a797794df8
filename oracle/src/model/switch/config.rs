//! What a switch is made of, and how that follows from a profile.

use crate::model::buffer::{self, Limit};
use crate::model::classify::{Classifier, mask};
use crate::model::packet::CLASSES;
use crate::model::{mac, pfc_gen};
use rig_lab::{Declared, Scheduling};
use rig_units::{Dur, PortSpeed, Ppm, Quanta};

/// What a switch is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Name and speed of every port.
    pub ports: Vec<(String, PortSpeed)>,
    /// Largest frame, FCS counted; longer ones are dropped at ingress.
    pub mtu: u16,
    /// Time from the last bit in to the first bit out of an idle switch.
    pub forwarding_delay: Dur,
    /// From code point to class.
    pub classifier: Classifier,
    /// How the queues of a port share it.
    pub scheduling: [Scheduling; CLASSES],
    /// The packet buffer.
    pub buffer: buffer::Config,
    /// Sending of PFC.
    pub pfc: pfc_gen::Config,
    /// Obeying of PFC.
    pub mac: mac::Config,
    /// How much of its rate a port sends at: all of it, in a switch that does right.
    pub egress_rate: Ppm,
}

impl Config {
    /// A shallow-buffer switch of `ports` equal ports: classes 3 and 4 lossless by DSCP 3 and 4, every threshold
    /// dynamic, PFC refreshed twice per pause. For tests and examples; profiles declare real ones.
    pub fn plain(ports: u16, speed: PortSpeed) -> Config {
        let lossless = mask(&[3, 4]);
        Config {
            ports: (0..ports).map(|index| (Declared::port_name(index), speed)).collect(),
            mtu: 9_216,
            forwarding_delay: Dur::ZERO,
            classifier: Classifier::plain(),
            scheduling: [Scheduling::Dwrr(1); CLASSES],
            buffer: buffer::Config {
                pool: 12_000_000,
                cell: 1,
                lossless,
                reserved: 4_096,
                group: Limit::Dynamic(-3),
                xon: 0,
                xon_offset: 3_072,
                headroom: 100_000,
                queue: Limit::Dynamic(0),
            },
            pfc: pfc_gen::Config {
                sends: lossless,
                quanta: Quanta::MAX,
                refresh: Some(speed.pause(Quanta::MAX) / 2),
                size: 64,
                fault: None,
            },
            mac: mac::Config::prompt(lossless),
            egress_rate: Ppm::ONE,
        }
    }

    /// The switch as a profile declares it.
    pub fn declared(declared: &Declared) -> Config {
        let lossless = mask(&declared.qos.pfc_enable);
        let narrow = |bytes: rig_units::Bytes| u32::try_from(bytes.0).unwrap_or(u32::MAX);
        let ports = declared.ports.iter().flat_map(|group| (0..group.count).map(|_| group.speed));
        let named = |(index, speed)| (Declared::port_name(index), speed);
        let mut scheduling = [Scheduling::Dwrr(1); CLASSES];
        for (to, &from) in scheduling.iter_mut().zip(&declared.scheduler) {
            *to = from;
        }
        Config {
            ports: (0..).zip(ports).map(named).collect(),
            mtu: u16::try_from(declared.mtu.0).unwrap_or(u16::MAX),
            forwarding_delay: declared.forwarding_delay,
            classifier: Classifier::new(&declared.qos),
            scheduling,
            buffer: buffer::Config {
                pool: declared.buffer.pool.0,
                cell: narrow(declared.buffer.cell),
                lossless,
                reserved: narrow(declared.buffer.reserved),
                group: Limit::Dynamic(declared.buffer.dynamic_th),
                xon: declared.buffer.xon.0,
                xon_offset: declared.buffer.xon_offset.0,
                headroom: narrow(declared.buffer.xoff),
                queue: Limit::Dynamic(declared.buffer.lossy_dynamic_th),
            },
            pfc: pfc_gen::Config {
                sends: lossless,
                quanta: declared.pfc.quanta,
                refresh: Some(declared.pfc.refresh),
                size: 64,
                fault: None,
            },
            mac: mac::Config {
                obeys: lossless,
                response: declared.pfc.response,
                expires: true,
                xon_counts: declared.pfc.xon_counts,
            },
            egress_rate: Ppm::ONE,
        }
    }
}
