//! Records of an observation by what they are and where they passed.

use crate::{Dir, Observation, Record, What};
use rig_units::Quanta;

/// A port of the rig, by index in the script, and the direction in which frames pass it.
pub type Side = (u16, Dir);

impl Observation {
    /// The frames of `stream` that passed one side, with the index of each record.
    pub fn of_stream(&self, stream: u16, side: Side) -> impl Iterator<Item = (usize, &Record)> {
        self.passing(side).filter(
            move |(_, record)| matches!(record.what, What::Data { stream: of, .. } if of == stream),
        )
    }

    /// The PFC frames that passed one side and address `class`, with the index of each record and the pause asked for.
    pub fn words(
        &self,
        side: Side,
        class: u8,
    ) -> impl Iterator<Item = (usize, &Record, Quanta)> + Clone {
        let word = move |(index, record): (usize, &'_ Record)| {
            Some((index, record.pauses(class)?)).filter(|_| (record.port, record.dir) == side)
        };
        let words = self.records.iter().enumerate().filter_map(word);
        words.map(|(index, quanta)| (index, &self.records[index], quanta))
    }

    fn passing(&self, side: Side) -> impl Iterator<Item = (usize, &Record)> {
        self.records.iter().enumerate().filter(move |(_, record)| (record.port, record.dir) == side)
    }
}
