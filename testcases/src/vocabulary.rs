//! What may stand under `measure:`: each measure is one entry, and what reads, completes and lists measures goes by it. The entries
//! stand beside what judges them; whoever reads a file brings them along as a [`Vocabulary`].

mod arguments;
mod field;

pub use arguments::{Argument, Arguments, Wanted};
pub use field::{
    FLOW, FROM, Field, LOAD, NIC, Need, PORT, STORM, STREAM, UNTIL, ValueKind, WINDOW, optional,
    required,
};

use crate::case::{Case, Stream};
use crate::{Measure, Script, Tap};
use core::fmt;
use indexmap::IndexMap;
use rig_lab::walk::{At, Fields};
use rig_lab::{Declared, Fault, Part};

/// All measures that a file may ask for.
pub trait Vocabulary: fmt::Debug {
    /// Those that may stand under `measure:`, in the order in which people are shown them.
    fn entries(&self) -> Vec<&'static Entry>;

    /// What `configure:` with `expect:` asks for; it is told `expect: rejected` or `accepted`.
    fn settings(&self) -> &'static Entry;

    /// The entry of a name.
    fn entry(&self, name: &str) -> Option<&'static Entry> {
        self.entries().into_iter().find(|entry| entry.name == name)
    }
}

/// A measure, and all that a file, its reader and a plan go by.
#[derive(Debug)]
pub struct Entry {
    /// Its name in YAML, in reports and in `results.json`.
    pub name: &'static str,
    /// What is measured, in one sentence.
    pub about: &'static str,
    /// What that is held against: formulas, standards, or what the wire shows.
    pub source: &'static str,
    /// What it may be told.
    pub fields: &'static [Field],
    /// Notes what its arguments contradict each other in, and says whether it can be made all the same.
    pub check: fn(&Given<'_>) -> bool,
    /// What must have been recorded.
    pub looks: &'static [Looks],
    /// Whose senders must obey PFC.
    pub senders: Senders,
    /// Whether it is about the gaps of its storm, which may then have some.
    pub about_gaps: bool,
    /// The parts of a device that it is about, none where any device shows it. A measure that does not say stands in no registry.
    pub parts: Option<&'static [Part]>,
    /// What it has to do with PFC.
    pub pfc: ByPfc,
    /// Whether it says what a watchdog does to the streams that meet its storm: of a class that none guards there is nothing to say.
    pub guarded: bool,
    /// What it has to do with the device's memory.
    pub memory: ByMemory,
    /// Whether it counts what is lost of a stream, whatever took it.
    pub loses: bool,
    /// Whether the streams that it names offer a port more than it carries.
    pub exceeds: bool,
    /// Whether it makes sense beside a search, of which every trial is another one.
    pub beside_a_search: bool,
    /// Whether it holds where NICs send on unreliable connections, too.
    pub unreliable: bool,
    /// Whether it holds of flows that share a queue pair, too.
    pub shares_pairs: bool,
    /// Whether it holds of flows whose frames have 802.1Q tags, too, which are longer by that.
    pub tagged: bool,
    /// Whether it holds of flows over IPv6, too, whose frames are longer by that.
    pub over_ipv6: bool,
    /// What speaks against it in a case.
    pub sense: fn(&Measure, &Case) -> Vec<Fault>,
    /// What speaks against it in a case on a device.
    pub fits: fn(&Measure, &Case, &Declared, &Script) -> Result<(), Fault>,
}

impl Entry {
    /// What most measures are: each says what it is called and what it is told.
    pub const USUAL: Entry = Entry {
        name: "",
        about: "",
        source: "",
        fields: &[],
        check: |_| true,
        looks: &[],
        senders: Senders::Any,
        about_gaps: false,
        parts: None,
        pfc: ByPfc::No,
        guarded: false,
        memory: ByMemory::No,
        loses: false,
        exceeds: false,
        beside_a_search: false,
        unreliable: false,
        shares_pairs: false,
        tagged: false,
        over_ipv6: false,
        sense: |_, _| Vec::new(),
        fits: |_, _, _, _| Ok(()),
    };
}

/// What a measure has to do with PFC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByPfc {
    /// Nothing.
    No,
    /// It rests on a device that sends PFC, or obeys it.
    Rests,
    /// That, and it says what PFC does to the streams that it names, or what the device says of them by PFC: of a class that is not
    /// lossless there is nothing to say.
    Streams,
}

/// What a measure has to do with the memory of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByMemory {
    /// Nothing.
    No,
    /// What it says of one stream rests on all that are held.
    Held,
    /// That, and on thresholds that ports share.
    Shared,
}

/// What stands in a file under the name of a measure.
#[derive(Debug)]
pub struct Given<'a> {
    /// Its place in the file.
    pub at: &'a At<'a>,
    /// Its keys.
    pub fields: &'a Fields<'a>,
    /// What could be read of it.
    pub of: &'a Arguments,
    /// Streams of the case.
    pub streams: &'a IndexMap<String, Stream>,
}

impl Given<'_> {
    /// Whether a key was written, rightly or not.
    pub fn says(&self, key: &str) -> bool {
        self.fields.get(key).is_some()
    }

    /// Notes a fault at the value of a key.
    pub fn fault(&self, key: &str, found: String, want: &str) {
        self.fields.get(key).unwrap_or_else(|| self.at.clone()).fault(found, want);
    }

    /// Notes a stretch that ends before it begins.
    pub fn ordered(&self) {
        if let (Some(from), Some(until)) = (self.of.dur("from"), self.of.dur("until"))
            && until <= from
        {
            self.fault("until", format!("from {from} until {until}"), "an end after the beginning");
        }
    }
}

/// Some of a case's streams.
pub type Pick = for<'a> fn(&'a Measure, &'a Case) -> Vec<&'a str>;

/// The streams that a measure names.
pub fn named<'a>(measure: &'a Measure, _: &'a Case) -> Vec<&'a str> {
    measure.streams()
}

/// Frames that must have been recorded for a measure.
#[derive(Debug, Clone, Copy)]
pub struct Looks {
    /// The ports at which they must have been.
    pub at: RecordedAt,
    /// The least that must be recorded there.
    pub tap: Tap,
    /// What it does with them, behind its name; `{}` stands for the stream.
    pub what: &'static str,
    /// The key of the stream that a case is pointed at which says nothing of the port's tap; empty for the whole stream.
    pub key: &'static str,
}

/// Ports at which something must have been recorded.
#[derive(Debug, Clone, Copy)]
pub enum RecordedAt {
    /// Those of some streams.
    Of(Pick, StreamEnds),
    /// Those that the measure names, and those behind which its flows and streams begin or end at a NIC.
    Named,
}

/// Where a stream meets the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEnds {
    /// Where it enters the device.
    In,
    /// Where it leaves it.
    Out,
    /// Both.
    Both,
}

impl Looks {
    /// The frames of the streams that it names, followed from port to port.
    pub const FOLLOWS: Looks = Looks::follows(named);
    /// Every frame at the ports that it names, or behind which its flows are.
    pub const EVERY_FRAME: Looks =
        Looks { at: RecordedAt::Named, tap: Tap::All, what: "looks at every frame", key: "" };
    /// PFC at the port that it names.
    pub const PFC: Looks =
        Looks { at: RecordedAt::Named, tap: Tap::Pfc, what: "looks at the PFC frames", key: "" };

    /// The frames of some streams, followed from port to port.
    pub const fn follows(pick: Pick) -> Looks {
        Looks::of(pick, StreamEnds::Both, Tap::Sampled, "follows the frames of `{}`")
    }

    /// Frames of some streams.
    pub const fn of(pick: Pick, ends: StreamEnds, tap: Tap, what: &'static str) -> Looks {
        Looks { at: RecordedAt::Of(pick, ends), tap, what, key: "" }
    }
}

impl StreamEnds {
    /// The rig's ports at these ends of a stream.
    pub fn of(self, stream: &Stream) -> Vec<&str> {
        let (from, to) = (stream.from.as_str(), stream.to.as_str());
        match self {
            StreamEnds::In => vec![from],
            StreamEnds::Out => vec![to],
            StreamEnds::Both => vec![from, to],
        }
    }
}

/// Whose senders bear on what a measure is held against.
#[derive(Debug, Clone, Copy)]
pub enum Senders {
    /// Nobody's.
    Any,
    /// Those of these streams, who must obey PFC, and in time.
    Obey(Pick),
    /// Those of these streams: who obeys PFC must do so in time. What a port carries of a full queue is its share whatever becomes
    /// of the rest; a late sender leaves it idle.
    InTime(Pick),
}
