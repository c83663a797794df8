//! What a switch is made of, and how that follows from a profile.

use super::shaper;
use crate::model::buffer::{self, Crossing, Limit};
use crate::model::classify::{Classifier, mask};
use crate::model::mac;
use crate::model::memories::MemoryLayout;
use crate::model::oscillator::Oscillator;
use crate::model::packet::CLASSES;
use crate::model::pfc_gen::{self, Xon};
use crate::model::secy;
use crate::model::wred;
use rig_capture::PfcFault;
use rig_lab::{BufferFaults, DeviceFaults, NicPfcFaults, PfcFaults, SchedulerFaults, Scheduling};
use rig_units::{Bytes, Dur, PortSpeed, Ppm, Quanta, Within};

/// What a switch is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Name and speed of every port.
    pub ports: Vec<(String, PortSpeed)>,
    /// The port that is shut, if one is: it loses what comes, and sends nothing.
    pub shut: Option<u16>,
    /// Largest frame, FCS counted; longer ones are dropped at ingress.
    pub mtu: u16,
    /// Time from the last bit in to the first bit out of an idle switch, drawn of each frame; none overtakes another.
    pub forwarding_delay: Within,
    /// Whether that is from the first bit in: a frame is taken in with it.
    pub cut_through: bool,
    /// From code point to class.
    pub classifier: Classifier,
    /// How the queues of a port share it.
    pub scheduling: [Scheduling; CLASSES],
    /// What holds every port to a rate, if anything does.
    pub shaper: Option<shaper::Config>,
    /// The packet buffer.
    pub buffer: buffer::Config,
    /// Which of its memories a frame takes.
    pub memories: MemoryLayout,
    /// Early marking and dropping.
    pub wred: wred::Config,
    /// Sending of PFC.
    pub pfc: pfc_gen::Config,
    /// Obeying of PFC.
    pub mac: mac::Config,
    /// MACsec on every port, if there is any.
    pub macsec: Option<secy::Config>,
    /// How much of its rate a port sends at: all of it, in a switch that does right.
    pub egress_rate: Ppm,
    /// Whether a port that becomes free sends only when all that arrives at that instant is in, as ns-3 does: what leaves then has
    /// more behind it. Off, the first that arrives makes it send.
    #[cfg(feature = "ns3")]
    pub sends_last: bool,
    /// What its ports do wrong as their queues share them. Its other parts have their own.
    pub faults: SchedulerFaults,
}

impl Config {
    /// A shallow-buffer switch of `ports` equal ports: classes 3 and 4 lossless by DSCP 3 and 4, every threshold
    /// dynamic, PFC refreshed twice per pause. For tests and examples; profiles declare real ones.
    pub fn plain(ports: u16, speed: PortSpeed) -> Config {
        let lossless = mask(&[3, 4]);
        Config {
            ports: (0..ports).map(|index| (rig_lab::Switch::port_name(index), speed)).collect(),
            shut: None,
            mtu: 9_216,
            forwarding_delay: Within::ZERO,
            cut_through: false,
            classifier: Classifier::plain(),
            scheduling: [Scheduling::Dwrr(1); CLASSES],
            shaper: None,
            buffer: buffer::Config {
                pool: 12_000_000,
                lossy_pool: 12_000_000,
                cell: 1,
                descriptor: 0,
                lossless,
                reserved: 4_096,
                group: Limit::Dynamic(-3),
                port: None,
                xon: 0,
                xon_offset: 3_072,
                headroom: 100_000,
                headroom_pool: None,
                margin: 0,
                delay: Within::ZERO,
                seed: 0,
                crossing: Crossing::Headroom,
                voqs: false,
                queue: Limit::Dynamic(0),
                faults: BufferFaults::NONE,
            },
            memories: MemoryLayout::default(),
            wred: wred::Config::off(),
            pfc: pfc_gen::Config {
                sends: lossless,
                quanta: Quanta::MAX,
                refresh: Some(Within::exactly(speed.pause(Quanta::MAX) / 2)),
                size: 64,
                fault: None,
                xon: Xon::AtOnce,
                emission: Within::ZERO,
                resumption: Within::ZERO,
                seed: 0,
                class_off_by: 0,
                ends_with_link: false,
                ends_with_port: false,
            },
            mac: mac::Config::prompt(lossless),
            macsec: None,
            egress_rate: Ppm::ONE,
            #[cfg(feature = "ns3")]
            sends_last: false,
            faults: SchedulerFaults::NONE,
        }
    }

    /// The switch as a profile declares it.
    pub fn declared(declared: &rig_lab::Switch) -> Config {
        let lossless = mask(&declared.qos.pfc_enable);
        let ports = declared.ports.iter().flat_map(|group| (0..group.count).map(|_| group.speed));
        let named = |(index, speed)| (rig_lab::Switch::port_name(index), speed);
        let mut scheduling = [Scheduling::Dwrr(1); CLASSES];
        for (to, &from) in scheduling.iter_mut().zip(&declared.scheduler.queues) {
            *to = from;
        }
        Config {
            ports: (0..).zip(ports).map(named).collect(),
            shut: declared.shut_port.map(|port| port.saturating_sub(1)),
            mtu: u16::try_from(declared.mtu.0).unwrap_or(u16::MAX),
            forwarding_delay: declared.forwarding_delay,
            cut_through: declared.switching_mode == rig_lab::SwitchingMode::CutThrough,
            classifier: Classifier::new(&declared.qos),
            scheduling,
            shaper: shaper::Config::declared(&declared.scheduler),
            buffer: declared_buffer(&declared.buffer, lossless),
            memories: MemoryLayout::declared(
                &declared.buffer,
                declared.ports.iter().map(|group| usize::from(group.count)).sum(),
            ),
            wred: wred::Config::declared(declared),
            pfc: pfc_gen::Config {
                sends: lossless,
                quanta: declared.pfc.quanta,
                refresh: Some(declared.pfc.refresh),
                size: 64,
                fault: None,
                xon: Xon::AtOnce,
                emission: declared.pfc.emission.unwrap_or(Within::ZERO),
                resumption: declared
                    .pfc
                    .resumption
                    .or(declared.pfc.emission)
                    .unwrap_or(Within::ZERO),
                seed: 0,
                class_off_by: 0,
                ends_with_link: false,
                ends_with_port: false,
            },
            mac: mac::Config {
                obeys: lossless,
                response: declared.pfc.response,
                resumption: None,
                seed: 0,
                expires: true,
                xon_counts: declared.pfc.xon_counts,
                clock: Oscillator::EXACT,
                faults: PfcFaults::NONE,
                nic: NicPfcFaults::NONE,
                hears: &[PfcFault::Source],
            },
            macsec: secy::Config::declared(&declared.macsec),
            egress_rate: Ppm::ONE,
            #[cfg(feature = "ns3")]
            sends_last: false,
            faults: SchedulerFaults::NONE,
        }
    }
}

impl Config {
    /// Gives each part its faults, and does what goes wrong between them.
    pub(in crate::model) fn install(&mut self, faults: &DeviceFaults) {
        let speeds = self.ports.iter().map(|&(_, speed)| speed);
        let slowest = speeds.clone().min();
        self.pfc.install(&faults.pfc, speeds);
        self.mac.install(&faults.pfc);
        self.buffer.install(&faults.buffer);
        self.wred.install(&faults.wred);
        self.faults = faults.scheduler;
        if let Some(macsec) = &mut self.macsec {
            macsec.install(&faults.macsec);
            let lacks = slowest.map_or(0, |speed| macsec.headroom_lacks(speed));
            self.buffer.headroom = self.buffer.headroom.saturating_sub(lacks);
        }
        if faults.buffer.lossy_pauses {
            self.pfc.sends = u8::MAX;
        }
        if faults.scheduler.weights_ignored {
            for how in &mut self.scheduling {
                if let Scheduling::Dwrr(weight) = how {
                    *weight = 1;
                }
            }
        }
        if faults.scheduler.strict_ignored {
            for how in self.scheduling.iter_mut().filter(|how| **how == Scheduling::Strict) {
                *how = Scheduling::Dwrr(1);
            }
        }
        if let Some(ppm) = faults.scheduler.egress_rate_low {
            self.egress_rate = Ppm(Ppm::ONE.0.saturating_sub(ppm));
        }
    }

    /// What a frame of data takes through an idle switch, and what each of its bytes adds to that: MACsec adds its latency on the way in and on
    /// the way out, and so does its fault, once, whoever speaks MACsec.
    pub(super) fn delays(&self) -> [Within; 2] {
        let grows = Dur(self.faults.latency_grows.unwrap_or(0).into()).into();
        let Some(macsec) = self.macsec else { return [self.forwarding_delay, grows] };
        let [frame, byte] = [macsec.latency, macsec.latency_of_a_byte];
        [self.forwarding_delay + frame + frame, byte + byte + grows]
    }

    /// Whether a frame takes time from ingress to queue, or may have to wait there for its own end.
    pub(super) fn takes_time(&self) -> bool {
        let [of_a_frame, of_a_byte] = self.delays();
        self.cut_through || of_a_frame.most().max(of_a_byte.most()) > Dur::ZERO
    }

    /// What an XOFF takes to leave, and what an XON takes.
    pub(super) fn words_take(&self) -> [Within; 2] {
        let protected = self.macsec.map_or(Within::ZERO, |macsec| macsec.emission());
        [self.pfc.emission, self.pfc.resumption].map(|takes| takes + protected)
    }
}

/// The buffer as a profile declares it.
fn declared_buffer(declared: &rig_lab::Buffer, lossless: u8) -> buffer::Config {
    let narrow = |bytes: Bytes| u32::try_from(bytes.0).unwrap_or(u32::MAX);
    buffer::Config {
        pool: declared.pool.0,
        lossy_pool: declared.lossy_pool.0,
        cell: narrow(declared.cell),
        descriptor: narrow(declared.descriptor),
        lossless,
        reserved: narrow(declared.reserved),
        group: match declared.static_th {
            Some(bytes) => Limit::Static(bytes.0),
            None => Limit::Dynamic(declared.dynamic_th),
        },
        port: declared.port_dynamic_th,
        xon: declared.xon.0,
        xon_offset: declared.xon_offset.0,
        headroom: narrow(declared.xoff),
        headroom_pool: declared.headroom_pool.map(|bytes| bytes.0),
        margin: narrow(Bytes(u64::from(declared.margin.unwrap_or(0)) * declared.cell.0.max(1))),
        delay: declared.accounting_delay.unwrap_or(Within::ZERO),
        seed: 0,
        crossing: match declared.crossing {
            rig_lab::Crossing::Headroom => Crossing::Headroom,
            rig_lab::Crossing::Shared => Crossing::Shared,
        },
        voqs: declared.accounting == rig_lab::Accounting::Voq,
        queue: match declared.lossy_static_th {
            Some(bytes) => Limit::Static(bytes.0),
            None => Limit::Dynamic(declared.lossy_dynamic_th),
        },
        faults: BufferFaults::NONE,
    }
}
