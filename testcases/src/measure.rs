//! What a case measures: an entry of the vocabulary, with what the file tells it.

use crate::vocabulary::{Argument, Arguments, Entry, ValueKind, Wanted};
use crate::{Amount, Case, Window};
use rig_lab::Part;
use rig_units::Dur;

/// One thing to measure. Names point at streams, flows, storms and ports of the same case.
#[derive(Debug, Clone)]
pub struct Measure {
    /// What is measured.
    pub entry: &'static Entry,
    /// What it was told.
    pub arguments: Arguments,
}

impl PartialEq for Measure {
    fn eq(&self, other: &Measure) -> bool {
        (self.name(), &self.arguments) == (other.name(), &other.arguments)
    }
}

impl Measure {
    /// One that was told nothing yet.
    pub fn of(entry: &'static Entry) -> Measure {
        Measure { entry, arguments: Arguments::default() }
    }

    /// The same, told this, too.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: Argument) -> Measure {
        self.arguments.set(key, value);
        self
    }

    /// The parts of a device that it is about. Empty where any device shows it.
    pub fn parts(&self) -> &'static [Part] {
        self.entry.parts.unwrap_or_default()
    }

    /// Its name in YAML, in reports and in `results.json`.
    pub const fn name(&self) -> &'static str {
        self.entry.name
    }

    /// The name under a key. Empty where none was told: the reader refuses that of a key that must be there.
    pub fn named(&self, key: &str) -> &str {
        self.arguments.name(key).unwrap_or_default()
    }

    /// Every name under a key.
    pub fn names(&self, key: &str) -> &[String] {
        self.arguments.names(key).unwrap_or_default()
    }

    /// Whether it was told anything under a key.
    pub fn says(&self, key: &str) -> bool {
        self.arguments.get(key).is_some()
    }

    /// How many the case wants; what is predicted where it says nothing.
    pub fn wanted(&self, key: &str) -> Wanted {
        self.arguments.wanted(key).unwrap_or_default()
    }

    /// From when until when it looks at the trial.
    pub fn instants(&self) -> (&Amount, &Amount) {
        (self.instant("from"), self.instant("until"))
    }

    /// The instant under a key; the trial's start where none was told.
    pub fn instant(&self, key: &str) -> &Amount {
        static START: Amount = Amount::Exactly(Dur::ZERO);
        self.arguments.amount(key).unwrap_or(&START)
    }

    /// The streams that it names.
    pub fn streams(&self) -> Vec<&str> {
        self.of_kind(|kind| {
            let searched = matches!(kind, ValueKind::Searched | ValueKind::OneSearched);
            searched
                || matches!(kind, ValueKind::Stream | ValueKind::Streams | ValueKind::SomeStreams)
        })
    }

    /// The counted streams whose numbers of frames it searches.
    pub fn searches(&self) -> Vec<&str> {
        self.of_kind(|kind| matches!(kind, ValueKind::Searched | ValueKind::OneSearched))
    }

    /// The rig ports that it names.
    pub fn ports(&self) -> Vec<&str> {
        self.of_kind(|kind| matches!(kind, ValueKind::Ports | ValueKind::OnePort))
    }

    /// The stretches of the trial that it looks at flows in.
    pub fn windows(&self) -> Vec<Window> {
        let listed = self.entry.fields.iter().filter_map(|field| self.arguments.windows(field.key));
        listed.flatten().cloned().chain(self.arguments.window()).collect()
    }

    /// From when until when it looks at the trial, where it says so.
    pub(crate) fn span(&self) -> Option<(&Amount, &Amount)> {
        Some((self.arguments.amount("from")?, self.arguments.amount("until")?))
    }

    /// The storm whose gaps it is about.
    pub fn gaps_of(&self) -> Option<&str> {
        self.arguments.name("storm").filter(|_| self.entry.about_gaps)
    }

    /// The ports that it names, those of the flows that it names, and those by which the streams that it names enter.
    pub(crate) fn behind<'a>(&'a self, case: &'a Case) -> Vec<&'a str> {
        let flows = self.of_kind(|kind| matches!(kind, ValueKind::Flow | ValueKind::Flows));
        let windows = self.windows();
        let windowed = windows.iter().flat_map(|window| &window.flows).map(String::as_str);
        let flows = flows.into_iter().chain(windowed).filter_map(|name| case.flows.get(name));
        let flows = flows.flat_map(|flow| [flow.nic.as_str(), flow.to.as_str()]);
        let streams = self.streams().into_iter().filter_map(|name| case.streams.get(name));
        let streams = streams.map(|stream| stream.from.as_str());
        let mut all: Vec<&str> = self.ports().into_iter().chain(flows).chain(streams).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn of_kind(&self, is: impl Fn(ValueKind) -> bool) -> Vec<&str> {
        let fields = self.entry.fields.iter().filter(|field| is(field.kind));
        fields.flat_map(|field| self.names(field.key)).map(String::as_str).collect()
    }
}
