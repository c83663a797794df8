//! What reached a NIC and what left it, with the instants at the NIC's own port.

use crate::{Dir, Observation, What};
use rig_frames::ip::Ecn;
use rig_testcases::{Roce, RoceKind};
use rig_units::{Bytes, Dur, PortSpeed, Time};

/// Preamble and start delimiter: a frame leaves with their first bit.
const PREAMBLE: Bytes = Bytes(8);

/// A frame that reached the NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// Its record.
    pub record: usize,
    /// When its last bit arrived.
    pub at: Time,
    /// Its connection.
    pub connection: u16,
    /// Its packet sequence number.
    pub psn: u32,
    /// What it was.
    pub kind: RoceKind,
    /// Whether it was marked.
    pub ce: bool,
}

/// A frame that the NIC sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Its record.
    pub record: usize,
    /// When its first bit left, the preamble counted.
    pub at: Time,
    /// What it was.
    pub roce: Roce,
}

/// A frame of one of the rig's streams: a message of one packet.
const WHOLE: RoceKind = RoceKind::Data { first: true, last: true, response: false };

/// Everything of reliable connections that reached the NIC behind `port`, in order. `first` is the packet sequence number of
/// each stream's first frame.
pub fn reached(observation: &Observation, port: u16, first: &[u32]) -> Vec<Reached> {
    let Some(cable) = observation.ports.get(usize::from(port)).map(|port| port.cable) else {
        return Vec::new();
    };
    let read = |(record, one): (usize, &crate::Record)| {
        if (one.port, one.dir) != (port, Dir::Tx) {
            return None;
        }
        let at = one.at + cable;
        match one.what {
            What::Data { stream, seq, ce, .. } => {
                let first = first.get(usize::from(stream)).copied().unwrap_or(0);
                let psn = first.wrapping_add(seq) & 0xff_ffff;
                Some(Reached { record, at, connection: stream, psn, kind: WHOLE, ce })
            }
            // Nobody takes a frame whose ICRC is wrong.
            What::Roce(Roce { harmed: true, .. }) => None,
            What::Roce(Roce { connection, kind, psn, ecn, .. }) => {
                Some(Reached { record, at, connection, psn, kind, ce: ecn == Ecn::Ce })
            }
            What::Pfc { .. } | What::BadPfc { .. } | What::Other { .. } => None,
        }
    };
    observation.records.iter().enumerate().filter_map(read).collect()
}

/// Everything of reliable connections that the NIC behind `port` sent, in order.
pub fn left(observation: &Observation, port: u16) -> Vec<Left> {
    let Some(trace) = observation.ports.get(usize::from(port)) else { return Vec::new() };
    let read = |(record, one): (usize, &crate::Record)| {
        let What::Roce(roce) = one.what else { return None };
        let on_cable = trace.cable + taken(trace.speed, roce.size);
        let at = Time(one.at.0.checked_sub(on_cable.0)?);
        ((one.port, one.dir) == (port, Dir::Rx)).then_some(Left { record, at, roce })
    };
    observation.records.iter().enumerate().filter_map(read).collect()
}

/// From the first bit of a frame to its last.
pub(super) fn taken(speed: PortSpeed, size: u16) -> Dur {
    speed.serialise(PREAMBLE + Bytes(size.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{CABLE, Sample};

    #[test]
    fn instants_are_those_of_the_nics_port() {
        let mut sample = Sample::new();
        sample.data(0, Dur::us(1), None);
        let cnp = RoceKind::Cnp { fault: None };
        let roce = Roce {
            connection: 0,
            kind: cnp,
            psn: 0,
            size: 78,
            ecn: Ecn::NotEct,
            dscp: 48,
            harmed: false,
        };
        sample.push(Dur::us(3), 0, Dir::Rx, What::Roce(roce));
        let (observation, _) = sample.done(Dur::us(9));
        let [reached] = reached(&observation, 0, &[0xff_ffff])[..] else { panic!("one frame") };
        assert_eq!((reached.at, reached.psn), (Time::ZERO + Dur::us(1) + CABLE, 0xff_ffff));
        assert_eq!((reached.kind, reached.ce), (WHOLE, false));
        let [left] = left(&observation, 0)[..] else { panic!("one frame") };
        // 86 bytes of 80 ps, and the cable.
        assert_eq!(left.at, Time::ZERO + Dur::us(3) - Dur(86 * 80) - CABLE);
    }
}
