//! What a page shows of a trial: the storm in question, the stream that shows it, and what became of both.

use crate::trials::context::Context;
use crate::trials::trial::Trial;
use rig_testcases::Script;
use rig_units::Time;

/// The storm and the stream that a page shows, by index: those in question, else the first stream alone.
pub fn in_focus(context: &Context<'_>, script: &Script) -> (Option<u16>, u16) {
    let watch = context.watch.as_ref();
    let places = watch.and_then(|watch| watch.places(script, watch.subject()?));
    (places.map(|places| places.storm), places.map_or(0, |places| places.stream))
}

/// The instants of a trial that have a name, on its own clock: none where no storm is in question.
pub fn marks(context: &Context<'_>, trial: &Trial) -> Vec<(Time, String)> {
    let mut marks = Vec::new();
    let subject = context.watch.as_ref().and_then(|watch| watch.subject());
    if let Some(Ok(seen)) = subject.map(|subject| super::seen(context, trial, subject)) {
        let start = seen.storm_start - trial.observation.origin;
        let mut mark =
            |after: u64, name: &str| marks.push((Time(start.0 + after), name.to_owned()));
        mark(0, "storm");
        if let Some(at) = seen.detection() {
            mark(at.after.hi, "detection");
        }
        mark(seen.pause_length.0, "storm ends");
        if let Some(at) = &seen.restored {
            mark(at.after.hi, "restoration");
        }
    }
    marks
}
