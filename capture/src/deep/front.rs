//! The half that the thread that paces sees: it never waits, and makes no memory.

use super::Settings;
use super::back::{self, Handed, Written};
use super::chunk::{Chunk, Head};
use super::file::File;
use super::only::Only;
use super::pool::Pool;
use super::summary::{Counts, Ended, Summary, Why};
use crate::Dir;
use rig_units::Time;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// A capture that is under way.
#[derive(Debug)]
pub struct Capture {
    chunk: Option<Chunk>,
    free: Receiver<Chunk>,
    full: SyncSender<Handed>,
    writer: JoinHandle<Option<Written>>,
    only: Only,
    snap: usize,
    burst: usize,
    /// Frames that were written and have not left yet, oldest first.
    written: VecDeque<(u16, Fate)>,
    ports: Vec<Counts>,
    dropped_from: Option<Time>,
    pool: Pool,
}

/// What becomes of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It is at this place of the chunk.
    Kept(usize),
    FilteredOut,
    Dropped,
}

/// The longest frames in use, without FCS.
const JUMBO: usize = 9_230;

impl Capture {
    /// Begins to write to `to`, on a thread that has the priority and the processors of the one that calls.
    ///
    /// # Errors
    /// What the writer says to the first blocks; no thread can be had.
    pub fn begin(to: impl Write + Send + 'static, settings: &Settings) -> io::Result<Capture> {
        let file = File::begin(to, settings)?;
        let chunks = settings.chunks.max(1);
        // There is room for every chunk there is, and for the end: handing over never waits.
        let (full, filled) = sync_channel(chunks + 1);
        let (empty, free) = sync_channel(chunks);
        for chunk in settings.pool.take(chunks) {
            let _there_is_room = empty.try_send(chunk);
        }
        let write = move || back::write(file, &filled, &empty);
        let writer = Builder::new().name("capture".to_owned()).spawn(write)?;
        Ok(Capture {
            chunk: free.try_recv().ok(),
            free,
            full,
            writer,
            only: settings.only,
            snap: settings
                .snap
                .map_or(usize::MAX, |snap| usize::try_from(snap.0).unwrap_or(usize::MAX)),
            burst: settings.burst,
            written: VecDeque::with_capacity(settings.burst),
            ports: vec![Counts::default(); settings.interfaces.len()],
            dropped_from: None,
            pool: settings.pool.clone(),
        })
    }

    /// A frame was written that `port` is about to send. [`sent`](Self::sent) says when it has left, in the same order.
    ///
    /// # Panics
    /// Here and below when the settings have no such port.
    pub fn wrote(&mut self, port: u16, frame: &[u8]) {
        let fate = self.keep(port, Dir::Tx, Time::ZERO, frame);
        self.written.push_back((port, fate));
    }

    /// The oldest frame that was written has left.
    pub fn sent(&mut self, at: Time) {
        let Some((port, fate)) = self.written.pop_front() else { return };
        if let (Fate::Kept(place), Some(chunk)) = (fate, &mut self.chunk) {
            chunk.time(place, at);
        }
        let counts = self.count(port, fate, at);
        counts.sent += 1;
        self.make_room();
    }

    /// A frame arrived at `port`.
    pub fn received(&mut self, port: u16, at: Time, frame: &[u8]) {
        let fate = self.keep(port, Dir::Rx, at, frame);
        let counts = self.count(port, fate, at);
        counts.received += 1;
        self.make_room();
    }

    /// So many frames reached `port` and not this program.
    pub fn missed(&mut self, port: u16, frames: u64) {
        if let Some(counts) = self.ports.get_mut(usize::from(port)) {
            counts.missed += frames;
        }
    }

    /// Ends the file when all of it is written. It waits for the disk. Frames that were written and have not left are not
    /// in it.
    pub fn finish(mut self) -> Summary {
        let first = self.written.iter().find_map(|(_, fate)| match fate {
            Fate::Kept(place) => Some(*place),
            Fate::FilteredOut | Fate::Dropped => None,
        });
        if let (Some(place), Some(chunk)) = (first, &mut self.chunk) {
            chunk.cut_off(place);
        }
        self.hand_over();
        let Capture { chunk, free, full, writer, ports, dropped_from, pool, .. } = self;
        // Whoever is gone is found out below.
        let _gone = full.send(Handed::End(ports.clone()));
        let (ports, ended, bytes) = writer.join().ok().flatten().unwrap_or_else(|| {
            let why = Why::Refused("the thread that writes has ended".to_owned());
            let all = |port: &Counts| Counts {
                unwritten: port.offered() - port.filtered_out - port.dropped,
                ..*port
            };
            (ports.iter().map(all).collect(), Some(Ended { at: Time::ZERO, why }), 0)
        });
        pool.give_back(chunk.into_iter().chain(free.try_iter()));
        let counts = ports.into_iter().fold(Counts::default(), Counts::plus);
        Summary { counts, dropped_from, ended, bytes }
    }

    fn keep(&mut self, port: u16, dir: Dir, at: Time, frame: &[u8]) -> Fate {
        if !self.only.keeps(frame) {
            return Fate::FilteredOut;
        }
        let kept = &frame[..frame.len().min(self.snap)];
        let head = Head::new(port, dir, at, frame.len(), kept.len());
        // Frames that have not left stay where they are found when they do.
        if self.written.is_empty() && !self.takes(1, kept.len()) {
            self.turn_over();
        }
        let place = self.chunk.as_mut().and_then(|chunk| chunk.push(head, kept));
        place.map_or(Fate::Dropped, Fate::Kept)
    }

    fn count(&mut self, port: u16, fate: Fate, at: Time) -> &mut Counts {
        if fate == Fate::Dropped {
            self.dropped_from.get_or_insert(at);
        }
        let counts = &mut self.ports[usize::from(port)];
        counts.dropped += u64::from(fate == Fate::Dropped);
        counts.filtered_out += u64::from(fate == Fate::FilteredOut);
        counts
    }

    /// Between two departures there is time to hand a chunk over, right before one there is none: the next burst finds
    /// room.
    fn make_room(&mut self) {
        if self.written.is_empty() && !self.takes(self.burst, self.snap.min(JUMBO)) {
            self.turn_over();
        }
    }

    fn takes(&self, frames: usize, each: usize) -> bool {
        self.chunk.as_ref().is_some_and(|chunk| chunk.takes(frames, each))
    }

    fn turn_over(&mut self) {
        self.hand_over();
        self.chunk = self.chunk.take().or_else(|| self.free.try_recv().ok());
    }

    fn hand_over(&mut self) {
        if let Some(chunk) = self.chunk.take_if(|chunk| !chunk.is_empty()) {
            // Only a writer that is gone does not take it.
            let _gone = self.full.try_send(Handed::Full(chunk));
        }
    }
}
