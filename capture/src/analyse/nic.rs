//! What reached a NIC and what left it, with the instants at the NIC's own port.

use crate::{Dir, Observation, What};
use rig_frames::ip::Ecn;
use rig_testcases::{IpVersion, Roce, RoceKind, StreamSpec};
use rig_units::{Bytes, Dur, PortSpeed, Time};

/// Preamble and start delimiter: a frame leaves with their first bit.
const PREAMBLE: Bytes = Bytes(8);

/// A frame that reached the NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// Its place among the records of the port.
    pub record: usize,
    /// When its last bit arrived.
    pub at: Time,
    /// Its connection, as in [`rig_testcases::Roce`].
    pub connection: u16,
    /// Its packet sequence number.
    pub psn: u32,
    /// What it was.
    pub kind: RoceKind,
    /// Whether it was marked.
    pub ce: bool,
    /// What it went over.
    pub over: IpVersion,
    /// From which of the rig's addresses.
    pub address: u8,
    /// Which key it says, as in [`rig_testcases::Roce`].
    pub key: u8,
    /// What an atomic operation found, as in [`rig_testcases::Roce`].
    pub found: Option<u32>,
}

/// A frame that the NIC sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Its place among the records of the port.
    pub record: usize,
    /// When its first bit left, the preamble counted.
    pub at: Time,
    /// What it was.
    pub roce: Roce,
}

/// A frame of one of the rig's streams: a message of one packet.
const WHOLE: RoceKind = RoceKind::Data { first: true, last: true, response: false };

/// Everything of reliable connections that reached the NIC behind `port`, in order. `streams` are the rig's.
pub fn reached(observation: &Observation, port: u16, streams: &[StreamSpec]) -> Vec<Reached> {
    let Some(trace) = observation.ports.get(usize::from(port)) else { return Vec::new() };
    let read = |(record, one): (usize, &crate::Record)| {
        if (one.port, one.dir) != (port, Dir::Tx) {
            return None;
        }
        match one.what {
            What::Data { stream, seq, ce, size } => {
                let at = one.at + trace.way(size);
                let spec = streams.get(usize::from(stream));
                let usual = (0, 0, IpVersion::V4);
                let (first, address, over) =
                    spec.map_or(usual, |spec| (spec.psn, spec.address, spec.over));
                let psn = first.wrapping_add(seq) & 0xff_ffff;
                let (connection, kind, key, found) = (stream, WHOLE, 0, None);
                Some(Reached { record, at, connection, psn, kind, ce, over, address, key, found })
            }
            // Nobody takes a frame whose ICRC is wrong.
            What::Roce(Roce { corrupt: true, .. }) => None,
            What::Roce(roce) => {
                let Roce { connection, kind, psn, ecn, over, address, size, key, found, .. } = roce;
                let at = one.at + trace.way(size);
                let ce = ecn == Ecn::Ce;
                Some(Reached { record, at, connection, psn, kind, ce, over, address, key, found })
            }
            What::BlueRdma(_) | What::Pfc { .. } | What::BadPfc { .. } | What::Other { .. } => None,
        }
    };
    observation.records.iter().enumerate().filter_map(read).collect()
}

/// Everything of reliable connections that the NIC behind `port` sent, in order.
pub fn left(observation: &Observation, port: u16) -> Vec<Left> {
    let Some(trace) = observation.ports.get(usize::from(port)) else { return Vec::new() };
    let read = |(record, one): (usize, &crate::Record)| {
        let What::Roce(roce) = one.what else { return None };
        let on_way = trace.way(roce.size) + taken(trace.speed, roce.size);
        // One that a fast clock sent at the very beginning seems to have left before it.
        let at = one.at.saturating_sub(on_way);
        ((one.port, one.dir) == (port, Dir::Rx)).then_some(Left { record, at, roce })
    };
    observation.records.iter().enumerate().filter_map(read).collect()
}

/// From the first bit of a frame to its last.
pub(crate) fn taken(speed: PortSpeed, size: u16) -> Dur {
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
        let roce = Roce { dscp: 48, ..Roce::of(0, cnp, 0, 78) };
        sample.push(Dur::us(3), 0, Dir::Rx, What::Roce(roce));
        let mut streams = sample.script.streams.clone();
        (streams[0].psn, streams[0].address) = (0xff_ffff, 3);
        let (observation, _) = sample.done(Dur::us(9));
        let [reached] = reached(&observation, 0, &streams)[..] else { panic!("one frame") };
        assert_eq!((reached.at, reached.psn), (Time::ZERO + Dur::us(1) + CABLE, 0xff_ffff));
        assert_eq!((reached.kind, reached.ce, reached.address), (WHOLE, false, 3));
        let [left] = left(&observation, 0)[..] else { panic!("one frame") };
        // 86 bytes of 80 ps, and the cable.
        assert_eq!(left.at, Time::ZERO + Dur::us(3) - Dur(86 * 80) - CABLE);
    }
}
