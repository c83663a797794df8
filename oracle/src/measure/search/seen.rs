//! What one trial of a search shows.

use super::sought::Searched;
use crate::trials::context::Context;
use crate::trials::kept::Kept;
use crate::trials::threshold_search::{Event, Mark, Stage};
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::Dir;
use rig_capture::analyse::{self, ActionView, PfcSignal};
use rig_testcases::{Action, Script, Step, StreamSpec};
use rig_units::{Dur, Time};

/// One number that was tried.
pub(super) struct Tried<'a> {
    pub(super) trial: &'a Kept,
    /// Frames that were held.
    pub(super) held: u64,
    /// Frames that leaked out while the queue was held: they are not in the buffer.
    pub(super) leaked: u64,
    pub(super) happened: bool,
}

impl<'a> Tried<'a> {
    /// `None` where the trial cannot tell.
    pub(super) fn of(
        context: &Context<'_>,
        trial: &'a Kept,
        mark: &Mark,
        stage: &Stage,
    ) -> Option<Tried<'a>> {
        let whole = trial.whole();
        let happened = happened(context, &whole, mark).ok()?;
        let leaked = leaked(&whole, stage);
        Some(Tried { trial, held: mark.tried.saturating_sub(leaked), leaked, happened })
    }
}

/// Whether what a trial was for happened in it.
///
/// # Errors
/// The trial cannot tell.
pub fn happened(context: &Context<'_>, trial: &Trial, mark: &Mark) -> Result<bool, Doubt> {
    let search = Searched::asked(&context.case.measure[mark.measure]);
    let Some(stage) = search.and_then(|search| search.stages().into_iter().nth(mark.stage)) else {
        return Err(trial.doubt("it searches nothing"));
    };
    let view = ActionView::from(context.switch());
    let mut any = false;
    for (index, spec) in of_stage(&trial.script, &stage) {
        any |= match stage.event {
            Event::Xoff => first(trial, spec, PfcSignal::Xoff).is_some(),
            Event::Xon => {
                let held = stage.from.as_ref().and_then(|name| named(&trial.script, name));
                let until = held.and_then(|held| released(&trial.script, held));
                let xon = first(trial, spec, PfcSignal::Xon);
                xon.is_some_and(|xon| {
                    until.is_none_or(|until| trial.observation.records[xon].at < until)
                })
            }
            Event::Drop => {
                let loss = analyse::loss(&trial.observation, &trial.script, index, view.delays());
                if loss.lost == 0 && loss.open > 0 {
                    let (open, name) = (loss.open, &spec.name);
                    let why = format!("{open} frames of {name} had not arrived when it ended");
                    return Err(trial.doubt(&why));
                }
                loss.lost > 0
            }
        };
    }
    Ok(any)
}

/// The streams of a stage with their places in the script.
fn of_stage<'a>(
    script: &'a Script,
    stage: &'a Stage,
) -> impl Iterator<Item = (u16, &'a StreamSpec)> {
    let own = |(_, spec): &(u16, &StreamSpec)| stage.streams.contains(&spec.name);
    (0_u16..).zip(&script.streams).filter(own)
}

pub(super) fn named<'a>(script: &'a Script, name: &str) -> Option<&'a StreamSpec> {
    script.streams.iter().find(|spec| spec.name == name)
}

/// The first XOFF, or XON, that the device sends to the sender of `spec` for its class.
fn first(trial: &Trial, spec: &StreamSpec, word: PfcSignal) -> Option<usize> {
    let mut words = trial.observation.words((spec.from, Dir::Rx), spec.class);
    words.find(|(_, _, quanta)| word.is(*quanta)).map(|(index, _, _)| index)
}

/// When a stream is begun first.
pub(super) fn begun(script: &Script, name: &str) -> Option<Dur> {
    let begins = |step: &&Step| match step.action {
        Action::StartStream(stream) => script.streams[usize::from(stream)].name == name,
        _ => false,
    };
    script.steps.iter().find(begins).map(|step| step.at)
}

/// When the queue that `spec` is sent to is let go: the first storm at its port that ends once the stream has begun.
pub(super) fn released(script: &Script, spec: &StreamSpec) -> Option<Time> {
    let begun = begun(script, &spec.name)?;
    let holds = |storm: u16| {
        let storm = &script.storms[usize::from(storm)];
        storm.from == spec.to && storm.classes >> spec.class & 1 == 1
    };
    let ends = script.steps.iter().find_map(|step| match step.action {
        Action::StopStorm(storm) if holds(storm) && step.at >= begun => Some(step.at),
        _ => None,
    });
    ends.map(|at| Time::ZERO + at)
}

/// Frames of the searched streams that arrived although their queues were held.
fn leaked(trial: &Trial, stage: &Stage) -> u64 {
    let observation = &trial.observation;
    let count = of_stage(&trial.script, stage).map(|(index, spec)| {
        let Some(until) = released(&trial.script, spec) else { return 0 };
        let bound = observation.ports[usize::from(spec.to)].provenance.bound();
        let own = observation.of_stream(index, (spec.to, Dir::Rx));
        let own = own.take_while(|(_, record)| record.at + bound < until);
        u64::try_from(own.count()).unwrap_or(u64::MAX)
    });
    count.max().unwrap_or(0)
}

/// The records that show what happened, if it did.
pub(super) fn evidence(trial: &Trial, stage: &Stage) -> Vec<usize> {
    let word = if stage.event == Event::Xon { PfcSignal::Xon } else { PfcSignal::Xoff };
    let of = of_stage(&trial.script, stage);
    of.filter_map(|(_, spec)| first(trial, spec, word)).collect()
}
