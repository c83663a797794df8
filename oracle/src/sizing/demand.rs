//! What a switch is sized for.

use crate::spec::in_flight::{self, InFlight};
use crate::spec::pause::pause_time;
use rig_capture::Span;
use rig_lab::{Buffer, Switch, SwitchingMode, Wred};
use rig_units::{Apart, Bytes, Dur, Length, MIN_FRAME, PortSpeed, Quanta};

/// Ports, cables and traffic of a switch, and of its buffer what is not sized: cells, reserves, how it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demand {
    /// Of every port.
    pub speed: PortSpeed,
    /// To the next device.
    pub cable: Length,
    /// The largest frame, FCS counted.
    pub mtu: Bytes,
    /// The largest frame of a lossless class, FCS counted.
    pub lossless_mtu: Bytes,
    /// Ports that may congest one another.
    pub ports: u16,
    /// Lossless classes of each port.
    pub classes: usize,
    /// Ports that send to one port at the same time.
    pub senders: u16,
    /// Of how many groups whose headroom is full at once there is room for one; 1: for all.
    pub over_subscription: u64,
    /// The whole memory; `None`: as much as the declared pool, reserves and headroom take.
    pub memory: Option<Bytes>,
    /// Share of small packets, per cent: for SONiC's rule alone.
    pub small_packets: u8,
    /// Time from the frame that crosses a limit to the XOFF at the MAC.
    pub emission: Dur,
    /// The longest that the peer takes to stop.
    pub response: Dur,
    /// Its cells, descriptors, reserves and the rest of its configuration; of several packet memories what each has.
    pub buffer: Buffer,
    /// Its marking.
    pub wred: Wred,
}

impl Demand {
    /// What a device of this declaration is asked to do: its fastest port, its classes, 40 m of cable, eight senders at most.
    pub fn of(declared: &Switch) -> Demand {
        let speed = declared.ports.iter().map(|group| group.speed).max().unwrap_or(PortSpeed::G100);
        let ports = declared.ports.iter().map(|group| group.count).sum::<u16>();
        Demand {
            speed,
            cable: Length(4_000),
            mtu: declared.mtu,
            lossless_mtu: declared.mtu,
            ports,
            classes: declared.qos.pfc_enable.len(),
            senders: ports.saturating_sub(1).clamp(1, 8),
            over_subscription: 1,
            memory: None,
            small_packets: 50,
            emission: declared.emission().most(),
            response: declared.response(declared.macsec.sent()).most(),
            buffer: declared.buffer.of_one_memory(),
            wred: declared.wred.clone(),
        }
    }

    /// The peer's response as so many quanta.
    pub fn respond_within(&mut self, quanta: Quanta) {
        self.response = pause_time(quanta, self.speed);
    }

    /// What is on its way when a group crosses its limit, with frames of the size that fills most cells.
    pub fn in_flight(&self) -> InFlight {
        self.loop_of(self.lossless_mtu).worst(&self.buffer, self.lossless_mtu)
    }

    /// The same with frames of one size.
    pub(super) fn loop_of(&self, frame: Bytes) -> InFlight {
        InFlight {
            speed: self.speed,
            frame,
            overhead: Bytes(0),
            pfc: MIN_FRAME,
            // A switch that cuts through has XOFF sent sooner, and needs no more than this.
            mode: SwitchingMode::StoreAndForward,
            ahead: self.mtu,
            cable: self.cable,
            delays: in_flight::delays(self.emission.into(), Span { lo: 0, hi: self.response.0 }),
            apart: Apart::NOT,
        }
    }

    /// Lossless groups of all ports.
    pub(crate) fn groups(&self) -> u64 {
        u64::from(self.ports) * self.classes as u64
    }
}
