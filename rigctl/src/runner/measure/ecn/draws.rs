//! What early detection did to each frame, beside the chance that it had to.

use super::{
    Burst, Class, Declared, Doubt, Fate, Script, Trial, Visit, class, declared_at, visits, wred,
};
use rig_capture::Span;
use rig_lab::Marking;

/// One frame of which early detection decided.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    /// The trial, and a record that shows the frame.
    pub(super) trial: u32,
    pub(super) record: usize,
    /// The depth that decides.
    pub(super) depth: Span,
    /// The depth at the other point of marking.
    pub(super) other: Span,
    /// The chance, where the depth is open from the least to the greatest.
    pub(super) shares: (f64, f64),
    /// Whether the frame was marked, or dropped where it is to be dropped.
    pub(super) taken: bool,
}

/// What decides about the frames of some streams to one queue.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    /// What is declared when they start.
    pub(super) declared: Declared,
    pub(super) class: Class,
    pub(super) fate: Fate,
    pub(super) point: Marking,
}

impl Rule {
    /// The rule for a stream of a script.
    pub(super) fn of(declared: &Declared, script: &Script, stream: u16) -> Rule {
        let declared = declared_at(declared, script, stream);
        let class = class(&declared, &script.streams[usize::from(stream)]);
        let (fate, point) = (class.fate(&declared.wred), class.point(&declared.wred));
        Rule { declared, class, fate, point }
    }

    /// Its chance at a depth; none where the queue has no profile.
    fn share(&self, queue: u8, depth: u64) -> f64 {
        if !self.declared.wred.queues.contains(&queue) {
            return 0.0;
        }
        wred::chance(&self.class.curve(&self.declared.wred), depth).share()
    }
}

/// Every draw that a trial shows of some streams to one queue.
pub(super) fn draws(
    trial: &Trial,
    declared: &Declared,
    streams: &[u16],
) -> Result<Vec<Draw>, Doubt> {
    let Some(&first) = streams.first() else { return Ok(Vec::new()) };
    let rules: Vec<(u16, Rule)> =
        streams.iter().map(|&stream| (stream, Rule::of(declared, &trial.script, stream))).collect();
    let visits = visits(trial, first, &rules[0].1.declared)?;
    let mut all = Vec::new();
    for (rank, visit) in (1..).zip(&visits) {
        let Some((_, rule)) = rules.iter().find(|(stream, _)| *stream == visit.stream) else {
            continue;
        };
        let spec = &trial.script.streams[usize::from(visit.stream)];
        let own = wred::step(&rule.declared.buffer, &rule.declared.wred, spec.size)
            * u64::from(rule.declared.wred.counts_itself);
        let Some(draw) = draw(trial, rule, visit, own) else { continue };
        let shares = match rule.declared.wred.weight {
            0 => (rule.share(spec.class, draw.depth.lo), rule.share(spec.class, draw.depth.hi)),
            weight => average(rule, (&visits, rank), spec.size, weight),
        };
        all.push(Draw { shares, ..draw });
    }
    Ok(all)
}

/// The draw of one frame; none where it came marked, so that a mark does not show, or where it was lost by something else.
fn draw(trial: &Trial, rule: &Rule, visit: &Visit, own: u64) -> Option<Draw> {
    let with = |span: Span| Span { lo: span.lo + own, hi: span.hi + own };
    let left = visit.passed.as_ref().map(|passed| with(passed.left));
    let found = with(visit.found);
    let taken = match rule.fate {
        Fate::Mark if visit.came_marked => return None,
        Fate::Mark => visit.passed.as_ref()?.marked,
        Fate::Drop => visit.passed.is_none(),
    };
    let (depth, other) = match rule.point {
        Marking::Dequeue => (left?, found),
        Marking::Enqueue => (found, left.unwrap_or(found)),
    };
    let record = visit.passed.as_ref().map_or(visit.sent, |passed| passed.record);
    Some(Draw { trial: trial.number, record, depth, other, shares: (0.0, 0.0), taken })
}

/// The chances by a moving average: that of a burst of equal frames into a queue that was idle for long.
fn average(
    rule: &Rule,
    (visits, rank): (&[Visit], u64),
    size: rig_units::Bytes,
    weight: u8,
) -> (f64, f64) {
    let frames = u64::try_from(visits.len()).unwrap_or(u64::MAX);
    let Declared { buffer, wred, .. } = &rule.declared;
    let burst = Burst::of(buffer, wred, rule.class, size, frames);
    let decides = match rule.point {
        Marking::Enqueue => rank,
        Marking::Dequeue => frames,
    };
    wred::average_of_burst(&burst, weight, decides).chances(&burst)
}
