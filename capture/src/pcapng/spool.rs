//! All frames of a trial on their way into its capture. In virtual time they go to the disk while the trial runs, since a load at
//! full speed is more than a machine can hold; in real time a disk would hold up what is due, so that they wait in memory. The
//! capture itself begins with what is known only at the end, and is made from it then.

use super::evidence::{NANOSECONDS, direction};
use super::snap;
use crate::codec::Encoder;
use crate::{FrameRef, Record};
use rig_testcases::Script;
use rig_units::Time;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;

const _: () = assert!(NANOSECONDS == 9);
const PS_PER_NS: u64 = 1_000;
/// Frames that wait for the order of time: the model tells of a frame when its sending begins, under the time of its end.
const WAITING: usize = 1 << 16;
/// Most frames that wait in memory, some 400 MB of them; a capture to disk has no such bound.
const HELD: usize = 1 << 22;

/// Enhanced packet block (pcapng section 4.3): its type, what stands before its data, and where its length of data is.
const TYPE: u32 = 6;
const HEAD: usize = 28;
const CAPTURED: core::ops::Range<usize> = 20..24;
const COMMENT: u16 = 1;
const FLAGS: u16 = 2;

/// Where frames go: a file that is new, and the path under which it is read and taken away again.
#[derive(Debug)]
pub struct Onto {
    /// Where the file is.
    pub path: PathBuf,
    /// The file, or what the system refused, which is told at the end.
    pub file: io::Result<File>,
}

/// Takes frames as a trial shows them.
#[derive(Debug)]
pub struct Spool {
    script: Script,
    path: PathBuf,
    to: Option<BufWriter<File>>,
    /// Most frames that wait until the end; `None`: they are written on the way.
    held: Option<usize>,
    left_out: u64,
    /// Each with whether it is one of the observation's records, too.
    waiting: Vec<(Record, bool)>,
    written: (u64, Time),
    numbers: Vec<u64>,
    failed: Option<io::Error>,
}

/// All frames of a trial that is over, in a file that goes away with this.
#[derive(Debug)]
pub struct Spooled {
    path: PathBuf,
    frames: u64,
    left_out: u64,
    /// Of each record of the observation, the number of its frame.
    numbers: Vec<u64>,
    failed: Option<io::Error>,
}

impl Spool {
    /// Writes as frames come.
    pub fn create(onto: Onto, script: &Script) -> Spool {
        Spool { held: None, ..Spool::held(onto, script) }
    }

    /// Holds all frames in memory and writes at the end.
    pub fn held(Onto { path, file }: Onto, script: &Script) -> Spool {
        let (to, failed) = match file {
            Ok(file) => (Some(BufWriter::with_capacity(1 << 20, file)), None),
            Err(error) => (None, Some(error)),
        };
        Spool {
            script: script.clone(),
            path,
            to,
            held: Some(HELD),
            left_out: 0,
            waiting: Vec::new(),
            written: (0, Time::ZERO),
            numbers: Vec::new(),
            failed,
        }
    }

    /// A frame passed; `recorded`: the observation has it among its records.
    pub fn saw(&mut self, record: Record, recorded: bool) {
        // What the observation has is bounded by its taps.
        if self.held.is_some_and(|most| self.waiting.len() >= most) && !recorded {
            self.left_out += 1;
            return;
        }
        self.waiting.push((record, recorded));
        if self.held.is_none() && self.waiting.len() >= WAITING {
            self.sort();
            let until = self.waiting[WAITING / 2].0.at;
            self.write(self.waiting.partition_point(|(record, _)| record.at < until));
        }
    }

    /// Ends, and what there is goes away.
    pub fn abandon(self) {
        let _gone = fs::remove_file(&self.path);
    }

    /// Ends: what there is.
    pub fn finish(mut self) -> Spooled {
        self.sort();
        self.write(self.waiting.len());
        let flushed = self.to.take().map_or(Ok(()), |mut to| to.flush());
        let Spool { path, written: (frames, _), left_out, numbers, failed, .. } = self;
        Spooled { path, frames, left_out, numbers, failed: failed.or(flushed.err()) }
    }

    /// Puts those that wait in the order in which the observation has its records.
    fn sort(&mut self) {
        self.waiting.sort_by_key(|(record, _)| (record.at, record.port, record.dir));
    }

    /// Writes the first of those that wait.
    fn write(&mut self, first: usize) {
        let encoder = Encoder::of(&self.script);
        for (record, recorded) in self.waiting.drain(..first) {
            if record.at < self.written.1 && self.failed.is_none() {
                let why = "a frame came later than it can be put in its place";
                self.failed = Some(io::Error::other(why));
            }
            self.written = (self.written.0 + 1, record.at);
            if recorded {
                self.numbers.push(self.written.0);
            }
            if let (Some(to), None) = (&mut self.to, &self.failed) {
                self.failed = to.write_all(&block(&encoder, &record)).err();
            }
        }
    }
}

impl Spooled {
    /// How many frames there are.
    pub const fn frames(&self) -> u64 {
        self.frames
    }

    /// How many more there were than it holds.
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The number of the frame of a record of the observation.
    pub(super) fn frame(&self, record: usize) -> Option<FrameRef> {
        self.numbers.get(record).copied().map(FrameRef)
    }

    /// Puts all frames into a capture, each of `comments`, by number of frame, on its frame.
    pub(super) fn copy(
        &self,
        comments: &mut dyn Iterator<Item = (FrameRef, Vec<&str>)>,
        to: &mut impl Write,
    ) -> io::Result<()> {
        if let Some(error) = &self.failed {
            return Err(io::Error::new(error.kind(), error.to_string()));
        }
        let mut from = BufReader::with_capacity(1 << 20, File::open(&self.path)?);
        let (mut comments, mut block) = (comments.peekable(), Vec::new());
        for number in (1..=self.frames).map(FrameRef) {
            let mut head = [0; 8];
            from.read_exact(&mut head)?;
            let length = u32::from_le_bytes(head[4..].try_into().expect("four")) as usize;
            block.clear();
            block.extend(head);
            block.resize(length, 0);
            from.read_exact(&mut block[head.len()..])?;
            if let Some((_, said)) = comments.next_if(|(of, _)| *of == number) {
                block = commented(&block, &said);
            }
            to.write_all(&block)?;
        }
        Ok(())
    }
}

impl Drop for Spooled {
    fn drop(&mut self) {
        // Who finds it knows it by its name.
        let _gone = fs::remove_file(&self.path);
    }
}

/// The block of a frame.
fn block(encoder: &Encoder<'_>, record: &Record) -> Vec<u8> {
    let mut data = encoder.frame(record);
    let whole = word(data.len());
    data.truncate(snap::kept(record, encoder.script()));
    let ns = record.at.0 / PS_PER_NS;
    let mut body = u32::from(record.port).to_le_bytes().to_vec();
    // The upper half comes first, each half in the order of the file.
    body.extend([&ns.to_le_bytes()[4..], &ns.to_le_bytes()[..4]].concat());
    body.extend([word(data.len()), whole].into_iter().flat_map(u32::to_le_bytes));
    body.extend(padded(&data));
    body.extend(option(FLAGS, &direction(record.dir).to_le_bytes()));
    body.extend([0; 4]);
    framed(&body)
}

/// The same block with comments before its other options.
fn commented(block: &[u8], comments: &[&str]) -> Vec<u8> {
    let captured = u32::from_le_bytes(block[CAPTURED].try_into().expect("four")) as usize;
    let (data, options) =
        block[8..block.len() - 4].split_at(HEAD - 8 + captured.next_multiple_of(4));
    let said = comments.iter().flat_map(|text| option(COMMENT, text.as_bytes()));
    framed(&data.iter().copied().chain(said).chain(options.iter().copied()).collect::<Vec<u8>>())
}

fn framed(body: &[u8]) -> Vec<u8> {
    let length = word(body.len() + 12).to_le_bytes();
    [&TYPE.to_le_bytes()[..], &length, body, &length].concat()
}

fn option(code: u16, value: &[u8]) -> Vec<u8> {
    // A comment longer than the format allows is cut.
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    let length = u16::try_from(value.len()).unwrap_or(u16::MAX);
    let mut option = [code.to_le_bytes(), length.to_le_bytes()].concat();
    option.extend(padded(value));
    option
}

fn padded(bytes: &[u8]) -> Vec<u8> {
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len().next_multiple_of(4), 0);
    padded
}

fn word(length: usize) -> u32 {
    u32::try_from(length).expect("a frame is short")
}

#[cfg(test)]
mod tests;
