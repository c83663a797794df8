//! What the rig's ports see during one trial, kept as records and counts, whichever executor saw it.
//!
//! Each port's tap says what is recorded there. Usually it is a sample: probes and PFC frames all; frames of a load in
//! windows, the first ones after the trial's start, after each step of the script and after each change of what a PFC
//! frame says; between windows one in [`SAMPLE`], the same ones wherever they pass, so that rates and losses can be told
//! over any stretch. Frames of streams are counted whatever the tap says.

use rig_capture::pcapng::Spool;
use rig_capture::{Dir, Loads, Record, SAMPLE, StreamCount, What};
use rig_testcases::{Roce, RoceKind, Script, StreamRate, Tap};
use rig_units::{Dur, Time};

/// Frames of loads that are recorded after each event, per port.
const WINDOW: u32 = 128;

/// The records and counts of one trial.
#[derive(Debug)]
pub struct Ledger {
    streams: Vec<Stream>,
    ports: Vec<Port>,
    records: Vec<Record>,
    loads: Loads,
    unrecorded: u64,
    /// Where every frame goes, too.
    spool: Option<Spool>,
}

/// What was seen during one trial.
#[derive(Debug)]
pub struct TrialRecord {
    /// Recorded frames, in order.
    pub records: Vec<Record>,
    /// Frames of each stream.
    pub streams: Vec<StreamCount>,
    /// What loads came to.
    pub loads: Loads,
    /// How many frames were counted only.
    pub unrecorded: u64,
    /// Every frame, if somebody asked for that.
    pub spool: Option<Spool>,
}

#[derive(Debug, Clone, Copy)]
struct Stream {
    /// The rig port to which it is addressed.
    to: u16,
    /// Of CNPs the connection that they are for, and whether this is the stream that sends them now.
    of: Option<u16>,
    notifies: bool,
    /// Whether every frame of it is worth a record.
    probe: bool,
    count: StreamCount,
    /// Number that its next received frame has when nothing is lost or reordered.
    next: u32,
}

#[derive(Debug, Clone, Copy)]
struct Port {
    tap: Tap,
    /// Frames of loads that are still to be recorded after the last event.
    left: u32,
    /// What the last PFC frame in each direction said: classes enabled, and those of them that it resumes.
    said: [(u8, u8); 2],
}

impl Ledger {
    /// Nothing seen yet of `script`.
    pub fn new(script: &Script) -> Ledger {
        let stream = |spec: &rig_testcases::StreamSpec| Stream {
            to: spec.to,
            of: spec.of,
            notifies: false,
            probe: matches!(spec.rate, StreamRate::Every(_)),
            count: StreamCount::default(),
            next: 0,
        };
        let port = |port| Port { tap: script.tap(port), left: WINDOW, said: Default::default() };
        Ledger {
            streams: script.streams.iter().map(stream).collect(),
            ports: (0_u16..).take(script.ports.len()).map(port).collect(),
            records: Vec::new(),
            loads: Loads::default(),
            unrecorded: 0,
            spool: None,
        }
    }

    /// Every frame goes there, too, whatever the taps say.
    #[must_use]
    pub fn onto(self, spool: Option<Spool>) -> Ledger {
        Ledger { spool, ..self }
    }

    /// A step of the script happens: frames of loads are worth recording again.
    pub fn event(&mut self, at: Dur) {
        self.loads.window(Time::ZERO + at);
        self.ports.iter_mut().for_each(|port| port.left = WINDOW);
    }

    /// Frames that a stream has sent so far.
    pub fn sent(&self, stream: u16) -> u64 {
        self.streams[usize::from(stream)].count.sent
    }

    /// A frame passed a port. Frames of a stream are counted; whether it is recorded is the tap's decision.
    pub fn saw(&mut self, record: Record) {
        match record.what {
            What::Data { stream, seq, .. } => self.count(&record, stream, seq),
            What::Roce(roce) => self.notified(&record, roce),
            What::BlueRdma(_) | What::Pfc { .. } | What::BadPfc { .. } | What::Other { .. } => {}
        }
        let probe = match record.what {
            What::Data { stream, .. } => self.streams[usize::from(stream)].probe,
            What::Roce(roce) => !matches!(roce.kind, RoceKind::Data { .. }),
            What::BlueRdma(_) => true,
            What::Pfc { .. } | What::BadPfc { .. } | What::Other { .. } => false,
        };
        match record.what {
            What::Data { stream: of, .. } | What::Roce(Roce { connection: of, .. }) if !probe => {
                self.loads.saw(&record, of);
            }
            _ => {}
        }
        let Some(port) = self.ports.get_mut(usize::from(record.port)) else { return };
        let wanted = port.wants(&record, probe);
        if let Some(spool) = &mut self.spool {
            spool.saw(record, wanted);
        }
        if wanted {
            self.records.push(record);
        } else {
            self.unrecorded += 1;
        }
    }

    /// A stream starts: of two that send CNPs to one connection, one after the other, it is the one that sends them now.
    pub fn starts(&mut self, stream: u16) {
        let Some(of) = self.streams.get(usize::from(stream)).map(|stream| stream.of) else {
            return;
        };
        for (index, other) in (0..).zip(&mut self.streams) {
            if of.is_some() && other.of == of {
                other.notifies = index == stream;
            }
        }
    }

    /// A CNP of the rig counts for the stream that sends them to this connection.
    fn notified(&mut self, record: &Record, roce: Roce) {
        if record.dir == Dir::Tx && matches!(roce.kind, RoceKind::Cnp { .. }) {
            let own = |one: &&mut Stream| one.notifies && one.of == Some(roce.connection);
            if let Some(stream) = self.streams.iter_mut().find(own) {
                stream.count.sent += 1;
            }
        }
    }

    fn count(&mut self, record: &Record, stream: u16, seq: u32) {
        let tap = self.ports.get(usize::from(record.port)).map_or(Tap::None, |port| port.tap);
        let of = &mut self.streams[usize::from(stream)];
        match record.dir {
            Dir::Tx => of.count.sent += 1,
            // A frame that goes astray to where nothing is recorded must not make up for one that is missing.
            Dir::Rx if of.to != record.port && tap < Tap::Sampled => {}
            Dir::Rx => {
                of.count.received += 1;
                of.count.reordered += u64::from(seq < of.next);
                of.next = of.next.max(seq.wrapping_add(1));
            }
        }
    }

    /// Ends, and nobody wants to know what was seen.
    pub fn abandon(self) {
        if let Some(spool) = self.spool {
            spool.abandon();
        }
    }

    /// Ends: all that was seen.
    pub fn finish(self) -> TrialRecord {
        let streams = self.streams.iter().map(|stream| stream.count).collect();
        let Ledger { records, loads, unrecorded, spool, .. } = self;
        TrialRecord { records: in_order(records), streams, loads, unrecorded, spool }
    }
}

/// The records by time, then port, then direction; those that have all in common stay in the order in which they were seen. Ports are
/// heard one after the other for a while each, so that there is much to move, and the places of records are moved cheaper than they are.
fn in_order(records: Vec<Record>) -> Vec<Record> {
    let place = |record: &Record| (record.at, record.port, record.dir);
    if records.is_sorted_by_key(place) {
        return records;
    }
    let mut places: Vec<_> =
        records.iter().enumerate().map(|(index, record)| (place(record), index)).collect();
    places.sort_unstable();
    places.into_iter().map(|(_, index)| records[index]).collect()
}

impl Port {
    fn wants(&mut self, record: &Record, probe: bool) -> bool {
        match self.tap {
            Tap::None => false,
            Tap::Pfc => matches!(record.what, What::Pfc { .. } | What::BadPfc { .. }),
            Tap::Sampled => self.samples(record, probe),
            Tap::All => true,
        }
    }

    /// Whether the frame is among those of the sample.
    fn samples(&mut self, record: &Record, probe: bool) -> bool {
        let seq = match record.what {
            What::Pfc { enable, quanta } | What::BadPfc { enable, quanta, .. } => {
                let zero = (0..8).filter(|&class| quanta[class].0 == 0);
                let zero = zero.fold(0, |all, class| all | 1 << class) & enable;
                let said = &mut self.said[usize::from(record.dir == Dir::Rx)];
                if *said != (enable, zero) {
                    *said = (enable, zero);
                    self.left = WINDOW;
                }
                return true;
            }
            What::Data { .. } | What::Roce(_) | What::BlueRdma(_) if probe => return true,
            What::Data { seq, .. } => Some(seq),
            What::Roce(roce) => Some(roce.psn),
            What::BlueRdma(_) | What::Other { .. } => None,
        };
        let within = self.left > 0 || seq.is_some_and(|seq| seq.is_multiple_of(SAMPLE));
        self.left = self.left.saturating_sub(1);
        within
    }
}
