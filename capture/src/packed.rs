//! What was seen in a trial that is over, kept small: a case of ten thousand trials is judged at its end, and its frames, loads
//! and counters as they are would fill the memory of a desk.
//!
//! Most frames of a trial differ from an earlier one in their instant and their number only, and both go on evenly. So each record
//! is the index of its shape, and by how much its instant and its numbers are off from going on as they did. After a shape the one is
//! foreseen that came after it last: a row of records that are as foreseen, in all of that, is their count. Whatever a record is besides
//! stands in its shape: a new field needs no code here. Of counters the names are the same in every trial, and most of them stay at
//! nothing: only the others are kept.
//!
//! Frames are not deflated beyond that: each measure of a case unpacks them, and to inflate them was a tenth of the time of the bundled
//! catalogue.

use crate::observation::Names;
use crate::{Counters, Loads, Record, What};
use flate2::Compression;
use flate2::bufread::DeflateDecoder;
use flate2::write::DeflateEncoder;
use rig_units::Time;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{Read, Write};

/// Records, kept small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    records: usize,
    shapes: Box<[Record]>,
    /// Numbers: an even one is twice the records in a row that are as foreseen; an odd one says of one that is not what
    /// follows: its index, and by how much it is off.
    bytes: Box<[u8]>,
}

/// In such an odd number: the index of the shape follows.
const SHAPE: u64 = 2;
/// By how much the first of what is running is off follows; twice that for the second, four times for the third.
const OFF: u64 = 4;

/// Which shape came last, and which after each.
#[derive(Debug, Default)]
struct Order {
    /// Of each shape the one that came after it last: itself, where none has yet.
    after: Vec<usize>,
    last: usize,
}

impl Order {
    /// The shape that is foreseen; the first of all, which may not be there yet, where there is none.
    fn foreseen(&self) -> usize {
        self.after.get(self.last).copied().unwrap_or(0)
    }

    /// One more shape, which comes after itself until something else does.
    fn begin(&mut self) {
        self.after.push(self.after.len());
    }

    fn came(&mut self, index: usize) {
        if let Some(after) = self.after.get_mut(self.last) {
            *after = index;
        }
        self.last = index;
    }
}

/// What goes on from one record of a shape to the next: instant, number of its stream or connection, packet number of MACsec.
type Running = [u64; 3];

/// Where a shape has come to.
#[derive(Debug, Clone, Copy, Default)]
struct Track {
    last: Running,
    step: Running,
}

impl Track {
    /// By how much `now` is off from going on as before.
    fn off(&mut self, now: Running) -> Running {
        let off =
            core::array::from_fn(|i| now[i].wrapping_sub(self.last[i]).wrapping_sub(self.step[i]));
        self.go(now);
        off
    }

    /// What is off so much.
    fn at(&mut self, off: Running) -> Running {
        let now =
            core::array::from_fn(|i| self.last[i].wrapping_add(self.step[i]).wrapping_add(off[i]));
        self.go(now);
        now
    }

    fn go(&mut self, now: Running) {
        self.step = core::array::from_fn(|i| now[i].wrapping_sub(self.last[i]));
        self.last = now;
    }
}

impl Packed {
    /// The same records, small.
    pub fn of(records: &[Record]) -> Packed {
        let mut known: BTreeMap<Record, usize> = BTreeMap::new();
        let (mut shapes, mut tracks) = (Vec::new(), Vec::new());
        let (mut bytes, mut order, mut row) = (Vec::new(), Order::default(), 0);
        for record in records {
            let (shape, now) = apart(*record);
            let foreseen = order.foreseen();
            let is_foreseen = shapes.get(foreseen) == Some(&shape);
            let index = if is_foreseen {
                foreseen
            } else {
                *known.entry(shape).or_insert_with(|| {
                    shapes.push(shape);
                    tracks.push(Track::default());
                    order.begin();
                    shapes.len() - 1
                })
            };
            order.came(index);
            let off = tracks[index].off(now);
            if is_foreseen && off == [0; 3] {
                row += 1;
                continue;
            }
            put_row(&mut bytes, &mut row);
            put_one(&mut bytes, (!is_foreseen).then_some(index), off);
        }
        put_row(&mut bytes, &mut row);
        let (shapes, bytes) = (shapes.into_boxed_slice(), bytes.into_boxed_slice());
        Packed { records: records.len(), shapes, bytes }
    }

    /// Every record, in the order in which they were packed.
    pub fn records(&self) -> Vec<Record> {
        let mut tracks = vec![Track::default(); self.shapes.len()];
        let (mut bytes, mut order) = (&*self.bytes, Order::default());
        let mut all = Vec::with_capacity(self.records);
        let mut begun = 0;
        while all.len() < self.records {
            let next = take(&mut bytes);
            let (count, index, off) = if next & 1 == 0 {
                (next >> 1, order.foreseen(), [0; 3])
            } else {
                let is_told = next & SHAPE != 0;
                let index = if is_told { index(take(&mut bytes)) } else { order.foreseen() };
                let off = core::array::from_fn(|at| {
                    let is_off = next & OFF << at != 0;
                    if is_off { unzigzag(take(&mut bytes)) } else { 0 }
                });
                (1, index, off)
            };
            let mut index = index;
            for _ in 0..count {
                if index == begun {
                    order.begin();
                    begun += 1;
                }
                order.came(index);
                all.push(together(self.shapes[index], tracks[index].at(off)));
                index = order.foreseen();
            }
        }
        all
    }
}

/// Adds the row of records that were as foreseen, if there is one.
fn put_row(bytes: &mut Vec<u8>, row: &mut u64) {
    if *row > 0 {
        put(bytes, core::mem::take(row) << 1);
    }
}

/// Adds a record that is not: the index of its shape where that was not foreseen, and by how much it is off.
fn put_one(bytes: &mut Vec<u8>, shape: Option<usize>, off: Running) {
    let of_off = (0..).zip(off).map(|(at, off)| if off == 0 { 0 } else { OFF << at });
    let of_shape = if shape.is_some() { SHAPE } else { 0 };
    put(bytes, 1 | of_shape | of_off.sum::<u64>());
    if let Some(shape) = shape {
        put(bytes, u64::try_from(shape).unwrap_or(u64::MAX));
    }
    off.into_iter().filter(|off| *off != 0).for_each(|off| put(bytes, zigzag(off)));
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Counters, kept small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedCounters {
    /// All but the values.
    rest: Counters,
    count: usize,
    /// How many of them are not [`IDLE`].
    busy: usize,
    /// Of each of those: how many idle ones come before it, at which ends it is known, what it was before, and by how much it grew.
    values: Small,
}

/// What nearly all counters of a device of many ports are.
const IDLE: [Option<u64>; 2] = [Some(0); 2];

impl PackedCounters {
    /// The same counters, small. `names` are those of the trial before: as a rule they are these.
    pub fn of(mut counters: Counters, names: &mut Names) -> PackedCounters {
        counters.share(names);
        let values = counters.take();
        let (mut bytes, mut busy, mut from) = (Vec::new(), 0, 0);
        for (at, [before, after]) in values.iter().enumerate().filter(|(_, one)| **one != IDLE) {
            put(&mut bytes, u64::try_from(at - from).unwrap_or(u64::MAX));
            (busy, from) = (busy + 1, at + 1);
            put(&mut bytes, u64::from(before.is_some()) | u64::from(after.is_some()) << 1);
            let [before, after] = [before, after].map(|value| value.unwrap_or(0));
            put(&mut bytes, before);
            put(&mut bytes, after.wrapping_sub(before));
        }
        PackedCounters { rest: counters, count: values.len(), busy, values: Small::of(bytes) }
    }

    /// Every sample, in the order in which they were taken.
    pub fn counters(&self) -> Counters {
        let whole = self.values.whole();
        let (mut bytes, mut values, mut from) = (&*whole, vec![IDLE; self.count], 0);
        for _ in 0..self.busy {
            let at = from + index(take(&mut bytes));
            let (known, before) = (take(&mut bytes), take(&mut bytes));
            let after = take(&mut bytes).wrapping_add(before);
            values[at] = [(known & 1 == 1).then_some(before), (known & 2 == 2).then_some(after)];
            from = at + 1;
        }
        self.rest.with(values)
    }
}

/// Sums of loads, kept small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedLoads {
    count: usize,
    numbers: Small,
}

impl PackedLoads {
    /// The same sums, small.
    pub fn of(loads: &Loads) -> PackedLoads {
        let (numbers, mut bytes) = (loads.numbers(), Vec::new());
        numbers.iter().for_each(|number| put(&mut bytes, *number));
        PackedLoads { count: numbers.len(), numbers: Small::of(bytes) }
    }

    /// The sums.
    pub fn loads(&self) -> Loads {
        let whole = self.numbers.whole();
        let mut bytes = &*whole;
        Loads::of_numbers(&mut (0..self.count).map(|_| take(&mut bytes)))
    }
}

/// Bytes, kept small.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Small {
    /// So few that setting up to deflate them, which takes some hundred kilobytes, would be most of the work.
    Few(Box<[u8]>),
    Deflated(Box<[u8]>),
}

/// So many bytes are few.
const FEW: usize = 256;

impl Small {
    fn of(bytes: Vec<u8>) -> Small {
        if bytes.len() <= FEW {
            return Small::Few(bytes.into_boxed_slice());
        }
        let mut small = DeflateEncoder::new(Vec::new(), Compression::fast());
        let bytes = small.write_all(&bytes).and_then(|()| small.finish());
        Small::Deflated(bytes.expect("memory takes everything").into_boxed_slice())
    }

    /// The bytes that it was made of.
    fn whole(&self) -> Cow<'_, [u8]> {
        match self {
            Small::Few(bytes) => Cow::Borrowed(bytes),
            Small::Deflated(bytes) => {
                let mut whole = Vec::new();
                DeflateDecoder::new(&**bytes).read_to_end(&mut whole).expect("`of` made it");
                Cow::Owned(whole)
            }
        }
    }
}

/// A record without what goes on, and that.
fn apart(mut record: Record) -> (Record, Running) {
    let at = core::mem::take(&mut record.at).0;
    let number = running(&mut record.what).map_or(0, |number| u64::from(core::mem::take(number)));
    let pn = record.secured.as_mut().map_or(0, |secured| core::mem::take(&mut secured.pn));
    (record, [at, number, pn])
}

/// The record that was taken apart.
fn together(mut shape: Record, [at, number, pn]: Running) -> Record {
    shape.at = Time(at);
    if let Some(running) = running(&mut shape.what) {
        *running = u32::try_from(number).expect("it was one");
    }
    if let Some(secured) = &mut shape.secured {
        secured.pn = pn;
    }
    shape
}

/// The number that goes on from frame to frame.
fn running(what: &mut What) -> Option<&mut u32> {
    match what {
        What::Data { seq, .. } => Some(seq),
        What::Roce(roce) => Some(&mut roce.psn),
        What::BlueRdma(frame) => Some(&mut frame.psn),
        What::Pfc { .. } | What::BadPfc { .. } | What::Other { .. } => None,
    }
}

/// Small numbers of either sign as small numbers.
const fn zigzag(off: u64) -> u64 {
    (off << 1) ^ (0_u64.wrapping_sub(off >> 63))
}

const fn unzigzag(off: u64) -> u64 {
    (off >> 1) ^ (0_u64.wrapping_sub(off & 1))
}

/// Adds a number, seven bits a byte, the least first (LEB128).
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(u8::try_from(number & 0x7f).unwrap_or(0) | 0x80);
        number >>= 7;
    }
    bytes.push(u8::try_from(number).unwrap_or(0));
}

/// The next number; 0 behind the last.
fn take(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    while let Some((byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests;
