//! One measure of the language with all that is known of it, each beside the analyser that judges it. Whoever wants to
//! know something of a measure asks it here; nobody else tells one from another.

use super::judge_context::JudgeContext;
use super::judged::Judged;
use super::limits::Limit;
use super::stamps::NeedsStamps;
use crate::Prediction;
use crate::measure::watchdog::subject::Subject;
use crate::trials::context::Context;
use crate::trials::points::Point;
use crate::trials::threshold_search::Stage;
use rig_capture::{Observation, Reading};
use rig_lab::Kind;
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Case, Measure, Script};
use rig_units::{Dur, Ppm};

/// What a measure rests on beside the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Wire,
    /// What the device says of its watchdog, where its action leaves no trace on the wire.
    Events,
    /// What the device says of its watchdog, whatever its action.
    Told,
    /// The device's counters, before and after a trial.
    Counters,
    /// What the host behind a NIC keeps of its requests.
    Hosts,
    /// That somebody can configure the device.
    Settings,
}

/// How its trials are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Anywhere.
    Anywhere,
    /// On the grid of the device's polls, to tell how late it acts.
    Grid,
    /// The same, over storms of many lengths.
    Ramp,
    /// Nowhere: each is tried on a device of its own.
    Apart,
}

/// The run that turns red through a measure and through no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Red {
    /// A bundled case, by its name, on a device with this mutation.
    Mutated(&'static str, &'static str),
    /// A case that is no use to a lab: it stands with the test.
    Written,
}

/// How small a departure its judgements show, and what that follows from; each of them says it in figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tells {
    /// Each of the things that it looks at, by itself: one that is off shows.
    Each(&'static str),
    /// A value that is off by more than its readings leave open: what makes them as wide as they are.
    Width(&'static str),
    /// What chance has a part in, with the power that trials are planned for: by how much is seen.
    Chance(&'static str),
    /// It does not say. No measure of the registry does so.
    Unsaid,
}

/// A line of what is expected: a heading of `explain`, and its text.
pub type Expected = (&'static str, String);

/// What tells what a measure is expected to show.
pub type Expects = fn(&Measure, &Context<'_>, &[Point]) -> Vec<Expected>;

/// What tells how late a trial may be for a measure.
pub type LateLimits = fn(&Measure, &Context<'_>, &Script, &Observation) -> Vec<Limit>;

/// What tells why nothing promises what a case wants of a measure.
pub(super) type Unpromised = fn(&Measure, &Context<'_>, &Script) -> Option<String>;

/// What tells by how much of itself something has to be off to show, before anything runs.
pub(super) type Shows = fn(&Measure, &Context<'_>, &Script) -> Option<Ppm>;

/// Stretches of a trial that are readings of one series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batches {
    /// So many a trial.
    pub count: u32,
    /// How long each lasts.
    pub lasts: Dur,
}

/// What of a measure counts from the instant at which a script starts a flow. Where the device starts that when it can, it says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FromStart {
    /// It tells the same whenever that is.
    Nothing,
    /// One of its arguments, which may be left out.
    Argument(&'static str),
    /// Whatever it tells.
    Everything,
    /// Whatever it tells, unless this argument is given.
    Unless(&'static str),
}

/// A measure: what a file says of it, and what judges it where a case asks for it.
#[derive(Debug)]
pub struct Known {
    /// What a file says of it.
    pub entry: Entry,
    /// What it rests on.
    pub needs: fn(&Measure) -> Needs,
    /// In how many ways it may call a device faulty by chance, each of which spends of the budget of false alarms.
    pub ways: usize,
    /// How small a departure its judgements show.
    pub tells: Tells,
    /// The run that was seen to fail by it.
    pub red: Red,
    /// What it looks at, for people.
    pub on: fn(&Measure) -> String,
    /// What it is expected to show, before anything runs.
    pub expected: Expects,
    /// Judges it, at every point.
    pub judge: fn(&Measure, &JudgeContext<'_>, &mut Judged),
    /// The kinds of devices over which it tells what goes from one to the next in a system. Without one it is held against the
    /// configuration of one device.
    pub crosses: fn(&Measure, &Case) -> &'static [Kind],
    /// How its trials are placed.
    pub placement: Placement,
    /// The storm and the stream that show what the watchdog does, if it is about that.
    pub subject: fn(&Measure) -> Option<Subject>,
    /// The numbers of frames that it searches, in the order in which they are found.
    pub stages: fn(&Measure) -> Vec<Stage>,
    /// How far off a timestamp may be before it shows nothing. Absent: it holds however far off they are.
    pub(super) stamps: Option<NeedsStamps>,
    /// Whether what it predicts goes by a port that sends at its speed: of a shaped one it says nothing.
    pub at_line_rate: bool,
    /// Whether it is about all that a sender can send while nothing leaves: a load is a share of the sender's own port, however slow the one is
    /// that it goes to.
    pub of_sender: bool,
    /// Whether it knows what ETS limits a traffic class of a NIC to, or looks at each frame by itself, whenever that comes: whatever else is
    /// told of flows in a limited class is predicted of ones that nothing but their own limiter holds back.
    pub knows_class_limits: bool,
    /// By how much of itself what it tells has to be off to show, before anything runs. Absent: that is told by what was measured alone.
    pub shows: Option<Shows>,
    /// What a share is told from where chance has a part in it: nothing but what was measured says what chance makes of them.
    pub batches: fn(&Measure) -> Option<Batches>,
    /// Why nothing promises what the case wants, by what the device declares.
    pub unpromised: Option<Unpromised>,
    /// Whether all else that a case wants rests on what it wants of this: where that is not promised, the case says nothing of the device.
    pub founds: bool,
    /// Streams whose bursts draw a curve: there are as many trials as it takes to tell it from another.
    pub bursts: fn(&Measure) -> &[String],
    /// The rig port whose NIC it judges, where it judges one of two.
    pub of_nic: fn(&Measure, &Case) -> Option<String>,
    /// What of it counts from when a flow is started.
    pub from_start: FromStart,
    /// Whether it judges the DSCP that a case gives its flows, which a server of a benchmark does not take from it.
    pub of_class: bool,
    /// How late the rig and a served device may be before a trial means nothing for it.
    pub limits: LateLimits,
    /// Whether it holds where streams of a case take several packet memories of a device: it looks at nothing that fills them, or its closed forms know
    /// which memory each stream takes.
    pub over_memories: fn(&Measure) -> bool,
    /// Whether it tells a rate between two instants, of which a device that is kept waiting falls short.
    pub tells_rate: bool,
    /// Whether it tells what became of each frame of data, whatever it was in time.
    pub tells_frames: bool,
}

impl Known {
    /// What most measures are: each says what it is, what it is expected to show and what judges it.
    pub(super) const USUAL: Known = Known {
        entry: Entry::USUAL,
        needs: |_| Needs::Wire,
        ways: 1,
        tells: Tells::Unsaid,
        red: Red::Written,
        on: first_named,
        expected: |_, _, _| Vec::new(),
        judge: |_, _, _| (),
        crosses: |_, _| &[],
        placement: Placement::Anywhere,
        subject: |_| None,
        stages: |_| Vec::new(),
        stamps: None,
        at_line_rate: false,
        of_sender: false,
        knows_class_limits: false,
        shows: None,
        batches: |_| None,
        unpromised: None,
        founds: false,
        bursts: |_| &[],
        of_nic: |_, _| None,
        from_start: FromStart::Nothing,
        of_class: false,
        limits: |_, _, _, _| Vec::new(),
        over_memories: |_| false,
        tells_rate: false,
        tells_frames: false,
    };
}

/// What stands under the first of its keys that is there: most look at that.
fn first_named(measure: &Measure) -> String {
    let keys = measure.entry.fields.iter().map(|field| measure.names(field.key));
    keys.into_iter().find(|names| !names.is_empty()).unwrap_or_default().join(" and ")
}

/// A storm, and the stream that shows what comes of it.
pub(super) fn seen_in(measure: &Measure) -> String {
    format!("{}, seen in {}", measure.named("storm"), measure.named("stream"))
}

/// The same, as the trials are looked through for them.
pub(super) fn subject(measure: &Measure) -> Subject {
    Subject::of(measure.named("storm"), measure.named("stream"))
}

/// Interval, formula and source of a prediction.
pub(super) fn prediction(prediction: &Prediction) -> Vec<Expected> {
    let Prediction { unit, span, formula, text, source } = prediction;
    let reading = Reading { unit: *unit, span: *span, frames: Vec::new() };
    // What follows from no formula of the documents has none to name.
    let named = if formula.is_empty() { String::new() } else { format!("{formula}: ") };
    vec![
        ("predicted", reading.to_string()),
        ("formula", named + text),
        ("source", (*source).to_owned()),
    ]
}

/// A prediction that is said in words.
pub(super) fn in_words(prediction: Prediction) -> Vec<Expected> {
    let Prediction { text, formula, source, .. } = prediction;
    let all = [("predicted", text), ("formula", formula.to_owned()), ("source", source.to_owned())];
    all.into_iter().filter(|(_, said)| !said.is_empty()).collect()
}

/// What is predicted, and where that comes from.
pub(super) fn by_source(predicted: impl Into<String>, source: &str) -> Vec<Expected> {
    vec![("predicted", predicted.into()), ("source", source.to_owned())]
}

/// What is predicted, and by which formula.
pub(super) fn by_formula(predicted: impl Into<String>, formula: &str) -> Vec<Expected> {
    vec![("predicted", predicted.into()), ("formula", formula.to_owned())]
}

/// The same with the formula between them.
pub(super) fn told(predicted: impl Into<String>, formula: &str, source: &str) -> Vec<Expected> {
    let mut all = by_formula(predicted, formula);
    all.push(("source", source.to_owned()));
    all
}
