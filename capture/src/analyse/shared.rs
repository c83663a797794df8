//! What several connections carried over one path, batch by batch: so much in each of as many equal stretches of a time.

use crate::{Dir, Observation, What};
use rig_frames::ip::Ecn;
use rig_testcases::{Roce, RoceKind};
use rig_units::{Dur, Time};
use std::collections::{BTreeMap, VecDeque};

/// What one connection carried in one batch, counted where the rig passes it on to the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Carried {
    /// Packets of data.
    pub frames: u64,
    /// Their bytes, FCS counted.
    pub bytes: u64,
    /// Those of them that were marked.
    pub marked: u64,
    /// CNPs, where the rig passes them on to the sender.
    pub cnps: u64,
    /// Packets of data that came before one of these and never left.
    pub lost: u64,
    /// From the last bit of a packet that came to its first bit that left, all packets taken together.
    pub waited: Dur,
}

/// What each of `connections` carried from `from` until `until`, in that many batches.
pub fn carried(
    observation: &Observation,
    connections: &[u16],
    (from, until): (Time, Time),
    batches: usize,
) -> Vec<Vec<Carried>> {
    let mut all = vec![vec![Carried::default(); batches]; connections.len()];
    let whole = until.since(from).unwrap_or_default().0.max(1);
    let batch = |at: Time| -> Option<usize> {
        let since = at.since(from).filter(|since| since.0 < whole)?;
        let index = u128::from(since.0) * u128::try_from(batches).ok()? / u128::from(whole);
        usize::try_from(index).ok()
    };
    // What has come and not yet left: a connection's packets leave in the order in which they came, but for those that are lost.
    let mut came: BTreeMap<u16, VecDeque<(u32, Time)>> = BTreeMap::new();
    for record in &observation.records {
        let What::Roce(Roce { connection, kind, psn, size, ecn, .. }) = record.what else {
            continue;
        };
        let Some(own) = connections.iter().position(|&one| one == connection) else { continue };
        match (kind, record.dir) {
            (RoceKind::Data { .. }, Dir::Rx) => {
                came.entry(connection).or_default().push_back((psn, record.at));
            }
            (RoceKind::Data { .. }, Dir::Tx) => {
                let under_way = came.entry(connection).or_default();
                let place = under_way.iter().position(|&(other, _)| other == psn);
                let lost = place.unwrap_or_default() as u64;
                let arrived = place.and_then(|place| under_way.drain(..=place).next_back());
                let Some(batch) = batch(record.at) else { continue };
                let carried = &mut all[own][batch];
                carried.frames += 1;
                carried.lost += lost;
                carried.bytes += u64::from(size);
                carried.marked += u64::from(ecn == Ecn::Ce);
                let Some(port) = observation.ports.get(usize::from(record.port)) else { continue };
                let on_wire = super::nic::taken(port.speed, size);
                let wait = arrived.and_then(|(_, at)| record.at.since(at + on_wire));
                carried.waited += wait.unwrap_or_default();
            }
            (RoceKind::Cnp { .. }, Dir::Tx) => {
                if let Some(batch) = batch(record.at) {
                    all[own][batch].cnps += 1;
                }
            }
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    const SIZE: u16 = 1086;

    fn roce(connection: u16, kind: RoceKind, psn: u32, ecn: Ecn) -> What {
        let size = if matches!(kind, RoceKind::Cnp { .. }) { 78 } else { SIZE };
        What::Roce(Roce { ecn, ..Roce::of(connection, kind, psn, size) })
    }

    #[test]
    fn packets_marks_cnps_and_waits_are_counted_by_connection_and_batch() {
        const DATA: RoceKind = RoceKind::Data { first: true, last: true, response: false };
        let mut sample = Sample::new();
        // Connection 4: two packets, the second marked, and one that is lost in between. Connection 5: one, after the time.
        for (connection, psn, came, left, ecn) in [
            (4, 7, 1, Some(2), Ecn::Ect0),
            (4, 8, 3, None, Ecn::Ect0),
            (4, 9, 5, Some(8), Ecn::Ce),
            (5, 0, 9, Some(10), Ecn::Ce),
        ] {
            sample.push(Dur::us(came), 0, Dir::Rx, roce(connection, DATA, psn, Ecn::Ect0));
            if let Some(left) = left {
                sample.push(Dur::us(left), 1, Dir::Tx, roce(connection, DATA, psn, ecn));
            }
        }
        let cnp = RoceKind::Cnp { fault: None };
        sample.push(Dur::us(9), 0, Dir::Tx, roce(4, cnp, 0, Ecn::NotEct));
        let (observation, _) = sample.done(Dur::us(20));
        let window = (Time::ZERO, Time::ZERO + Dur::us(10));
        let all = carried(&observation, &[4, 5], window, 2);
        // 8 B of preamble and the packet, 80 ps each.
        let on_wire = Dur((8 + u64::from(SIZE)) * 80);
        let one = Carried { frames: 1, bytes: SIZE.into(), ..Carried::default() };
        let first = Carried { waited: Dur::us(1) - on_wire, ..one };
        let second = Carried { waited: Dur::us(3) - on_wire, marked: 1, cnps: 1, lost: 1, ..one };
        assert_eq!(all, [vec![first, second], vec![Carried::default(); 2]]);
    }
}
