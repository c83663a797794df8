//! What may stand under `measure:`: each measure is one entry, and what reads, completes and lists measures goes by it. The entries
//! stand beside what judges them; whoever reads a file brings them along as a [`Vocabulary`].

mod arguments;
mod field;
mod looks;

pub use arguments::{Argument, Arguments, Wanted};
pub use field::{
    FLOW, FROM, Field, Kind, LOAD, NIC, Need, PORT, STORM, STREAM, UNTIL, WINDOW, optional,
    required,
};
pub use looks::{Looks, Pick, RecordedAt, Senders, StreamEnds, named};

use crate::case::{Case, Stream};
use crate::{Measure, Script};
use core::fmt;
use indexmap::IndexMap;
use rig_lab::walk::{At, Fields};
use rig_lab::{Declared, Fault};

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
    /// Whether it makes sense beside a search, of which every trial is another one.
    pub beside_a_search: bool,
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
        beside_a_search: false,
        sense: |_, _| Vec::new(),
        fits: |_, _, _, _| Ok(()),
    };
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
