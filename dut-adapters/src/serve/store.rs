//! The bytes of frames that the device holds, by the number that the engine's frames carry.
//!
//! A frame that leaves the device takes its bytes with it. Of what the device throws away later (a queue discarded, a
//! link cut) nobody tells, so what is left behind goes when there is no room: the oldest first.

use rig_oracle::model::Packet;
use std::collections::BTreeMap;

/// Frames by number, up to a total of bytes.
#[derive(Debug)]
pub(super) struct Store {
    frames: BTreeMap<u64, Vec<u8>>,
    next: u64,
    held: usize,
    limit: usize,
}

/// Numbers that fit into a frame of the engine: as many as pass in nine years at a million a second.
const NUMBERS: u64 = 1 << 48;

impl Store {
    /// Room for `limit` bytes.
    pub(super) fn new(limit: usize) -> Store {
        Store { frames: BTreeMap::new(), next: 0, held: 0, limit }
    }

    /// Keeps a copy of `bytes`; its number.
    pub(super) fn put(&mut self, bytes: &[u8]) -> u64 {
        while self.held + bytes.len() > self.limit
            && let Some((_, oldest)) = self.frames.pop_first()
        {
            self.held -= oldest.len();
        }
        let number = self.next;
        self.next = (self.next + 1) % NUMBERS;
        self.held += bytes.len();
        self.frames.insert(number, bytes.to_vec());
        number
    }

    /// Gives the frame of this number away; `None` when it had to make room.
    pub(super) fn take(&mut self, number: u64) -> Option<Vec<u8>> {
        let bytes = self.frames.remove(&number)?;
        self.held -= bytes.len();
        Some(bytes)
    }

    /// How many frames there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }
}

/// The frame with its number written where the engine carries the names of streams.
pub(super) fn numbered(mut packet: Packet, number: u64) -> Packet {
    packet.stream = u16::try_from(number >> 32 & 0xffff).unwrap_or(u16::MAX);
    packet.seq = u32::try_from(number & 0xffff_ffff).unwrap_or(u32::MAX);
    packet
}

/// The number of a frame of the engine.
pub(super) fn number(packet: &Packet) -> u64 {
    u64::from(packet.stream) << 32 | u64::from(packet.seq)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_comes_back_once() {
        let mut store = Store::new(100);
        let (a, b) = (store.put(b"aa"), store.put(b"b"));
        assert_eq!(store.take(b), Some(b"b".to_vec()));
        assert_eq!((store.take(b), store.take(a)), (None, Some(b"aa".to_vec())));
        assert_eq!((store.len(), store.held), (0, 0));
    }

    #[test]
    fn the_oldest_makes_room() {
        let mut store = Store::new(10);
        let numbers = [4, 4, 4].map(|len| store.put(&vec![0; len]));
        assert_eq!(numbers.map(|number| store.take(number).is_some()), [false, true, true]);
        let long = store.put(&[0; 11]);
        assert!(store.take(long).is_some(), "the newest is kept whatever its length");
    }

    #[test]
    fn a_number_passes_through_a_frame_of_the_engine_whole() {
        let plain = Packet::data(0, 0, 1, 3, 3, 64);
        for given in [0, 1, 0xffff_ffff, 1 << 32, NUMBERS - 1] {
            assert_eq!(number(&numbered(plain, given)), given);
        }
    }
}
