//! What early detection did to each frame, beside the chance that it had to.

use super::averages::Averages;
use super::{Class, Doubt, Fate, Script, Switch, Trial, Visit, class, declared_at, visits, wred};
use crate::measure::buffer_ledger::BufferLedger;
use crate::spec::wred::Curves;
use crate::spec::wred::spacing::{Gap, Met};
use rig_capture::Span;
use rig_lab::{DrawRule, Marking};
use rig_units::Bytes;
use std::collections::BTreeMap;

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
    /// The chance, where the depth is open from the least to the greatest; where the device counts frames since the last one that was taken, given what
    /// was seen of those.
    pub(super) shares: (f64, f64),
    /// Its queue, by the rig's port behind it, and the how-manieth of that it is.
    pub(super) queued: (u16, usize),
    /// Where on the curve it was; `None`: in which order frames came is not known, or no count is kept.
    pub(super) met: Option<Met>,
    /// Whether the frame was marked, or dropped where it is to be dropped.
    pub(super) taken: bool,
    /// Whether it was dropped.
    pub(super) lost: bool,
    /// Whether it surely, and whether it possibly, met kmax or more.
    pub(super) beyond: (bool, bool),
}

impl Draw {
    /// Whether nothing was left to chance, and the other of the two became of it.
    pub(super) fn is_wrong(&self) -> bool {
        match self.shares {
            (_, most) if most <= 0.0 => self.taken,
            (least, _) if least >= 1.0 => !self.taken,
            _ => false,
        }
    }

    /// The same with its chance by the curve alone. A frame that came marked shows no mark, and so no draw, but whether it was dropped where it had to be.
    fn by_curve(self, rule: &Rule, visit: &Visit, (least, most): (f64, f64)) -> Option<Draw> {
        let beyond = (least >= 1.0, most >= 1.0);
        let hidden = rule.fate == Fate::MarkOrDrop && visit.came_marked && !beyond.0;
        (!hidden).then_some(Draw { beyond, ..self })
    }
}

/// What decides about the frames of a stream.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    /// What is declared when they start.
    pub(super) declared: Switch,
    pub(super) class: Class,
    pub(super) fate: Fate,
    pub(super) point: Marking,
    /// With how many frames in the queue the next may find the buffer full, if all came by one group: split over several, each has more room.
    full: u64,
}

impl Rule {
    /// The rule for a stream of a script.
    pub(super) fn of(declared: &Switch, script: &Script, stream: u16) -> Rule {
        let declared = declared_at(declared, script, stream);
        let spec = &script.streams[usize::from(stream)];
        let class = class(&declared, spec);
        let (fate, point) = (class.fate(&declared.wred), class.point(&declared.wred));
        let full =
            BufferLedger::span(&declared, |empty| empty.first_drop(spec)).lo.saturating_sub(1);
        Rule { declared, class, fate, point, full }
    }

    /// Whether the buffer surely had room for a frame, so that it was lost to early detection if it was lost. What other queues hold
    /// is not looked at: no case fills two of them and asks this.
    pub(super) fn has_room(&self, found: Span, size: Bytes) -> bool {
        let Switch { buffer, wred, .. } = &self.declared;
        found.hi.div_ceil(wred::step(buffer, wred, size).max(1)) < self.full
    }

    /// A depth with the frame in question, where that counts.
    pub(super) fn with_itself(&self, others: Span, size: Bytes) -> Span {
        let Switch { buffer, wred, .. } = &self.declared;
        let own = wred::step(buffer, wred, size) * u64::from(wred.counts_itself);
        Span { lo: others.lo + own, hi: others.hi + own }
    }

    /// What the device may hold of the curve of its frames.
    pub(super) fn held(&self) -> Curves {
        self.class.held(&self.declared.wred)
    }

    /// Its least and greatest chance at a depth of `lo` to `hi`; none where the queue has no profile.
    fn shares(&self, queue: u8, Span { lo, hi }: Span) -> (f64, f64) {
        if !self.declared.wred.queues.contains(&queue) {
            return (0.0, 0.0);
        }
        let held = self.held();
        (wred::chance(&held.least, lo).share(), wred::chance(&held.most, hi).share())
    }

    /// The least and the greatest chance of a frame, the `rank`-th that came to its queue, from 0, where `depth` is what it met at the point
    /// that counts: at that depth, or at the average if the device goes by one.
    pub(super) fn chances(
        &self,
        queue: u8,
        depth: Span,
        averages: Option<&Averages>,
        (rank, visit): (usize, &Visit),
    ) -> (f64, f64) {
        let Some(averages) = averages else {
            return self.shares(queue, depth);
        };
        if !self.declared.wred.queues.contains(&queue) {
            return (0.0, 0.0);
        }
        let average = match (self.point, &visit.passed) {
            (Marking::Dequeue, Some(passed)) => averages.at_departure(passed),
            (Marking::Dequeue, None) | (Marking::Enqueue, _) => averages.at_arrival(rank, visit),
        };
        average.chances(&self.held())
    }

    /// Where on its curve such a frame was.
    fn met(
        &self,
        queue: u8,
        depth: Span,
        averages: Option<&Averages>,
        (rank, visit): (usize, &Visit),
    ) -> Met {
        let held = self.held();
        match (averages, &visit.passed) {
            _ if !self.declared.wred.queues.contains(&queue) => Met::NOWHERE,
            (None, _) => Met::at(&held, depth.lo, depth.hi),
            (Some(all), Some(passed)) if self.point == Marking::Dequeue => {
                Met::of_average(&held, all.at_departure(passed))
            }
            (Some(all), _) => Met::of_average(&held, all.at_arrival(rank, visit)),
        }
    }

    /// What a frame met at the point that counts; `None`: it never came to it.
    fn seen(&self, visit: &Visit, size: Bytes) -> Option<Span> {
        match self.point {
            Marking::Enqueue => Some(self.with_itself(visit.found, size)),
            Marking::Dequeue => {
                visit.passed.as_ref().map(|passed| self.with_itself(passed.left, size))
            }
        }
    }

    /// Whether a draw is made after each frame that is taken, and not for each.
    pub(super) fn counts(&self) -> bool {
        self.declared.wred.draw == DrawRule::CountSinceMark
    }
}

/// Every draw that a trial shows of some streams, in the order in which their frames were sent, whichever port they go to: ports
/// that share their draws show in frames one after the other.
pub(super) fn draws(trial: &Trial, declared: &Switch, streams: &[u16]) -> Result<Vec<Draw>, Doubt> {
    let mut queues: BTreeMap<u16, Vec<u16>> = BTreeMap::new();
    for &stream in streams {
        let to = trial.script.streams[usize::from(stream)].to;
        queues.entry(to).or_default().push(stream);
    }
    let mut all = Vec::new();
    for streams in queues.values() {
        all.extend(of_queue(trial, declared, streams)?);
    }
    all.sort_by_key(|(sent, _)| *sent);
    Ok(all.into_iter().map(|(_, draw)| draw).collect())
}

/// Every draw of some streams to one queue, each with the record of its frame when it was sent.
fn of_queue(
    trial: &Trial,
    declared: &Switch,
    streams: &[u16],
) -> Result<Vec<(usize, Draw)>, Doubt> {
    let rules: Vec<(u16, Rule)> =
        streams.iter().map(|&stream| (stream, Rule::of(declared, &trial.script, stream))).collect();
    let Some((first, rule)) = rules.first() else { return Ok(Vec::new()) };
    let visits = visits(trial, *first, &rule.declared)?;
    let averages = Averages::of(trial, &visits, rule);
    if rule.counts() {
        return Ok(counted(trial, declared, streams, &visits, averages.as_ref()));
    }
    let mut all = Vec::new();
    for (rank, visit) in visits.iter().enumerate() {
        let Some((_, rule)) = rules.iter().find(|(stream, _)| *stream == visit.stream) else {
            continue;
        };
        let spec = &trial.script.streams[usize::from(visit.stream)];
        let Some(draw) = draw(trial.number, rule, visit, spec.size) else { continue };
        let shares = rule.chances(spec.class, draw.depth, averages.as_ref(), (rank, visit));
        let draw = draw.by_curve(rule, visit, shares);
        all.extend(draw.map(|draw| (visit.sent, Draw { shares, ..draw })));
    }
    Ok(all)
}

/// How many frames of a stream were lost that may have met kmax or more when they came.
pub(super) fn lost_beyond(trial: &Trial, declared: &Switch, stream: u16) -> Result<u64, Doubt> {
    let rule = Rule::of(declared, &trial.script, stream);
    let spec = &trial.script.streams[usize::from(stream)];
    let visits = visits(trial, stream, &rule.declared)?;
    let averages = Averages::of(trial, &visits, &rule);
    let is = |ranked: &(usize, &Visit)| {
        let (_, visit) = *ranked;
        let depth = rule.with_itself(visit.found, spec.size);
        let (_, most) = rule.chances(spec.class, depth, averages.as_ref(), *ranked);
        visit.stream == stream && visit.passed.is_none() && most >= 1.0
    };
    Ok(visits.iter().enumerate().filter(is).count() as u64)
}

/// The same of a queue whose frames are counted since the last one that was taken, whichever stream is asked for.
fn counted(
    trial: &Trial,
    declared: &Switch,
    streams: &[u16],
    visits: &[Visit],
    averages: Option<&Averages>,
) -> Vec<(usize, Draw)> {
    let mut rules: BTreeMap<u16, Rule> = BTreeMap::new();
    for visit in visits {
        rules
            .entry(visit.stream)
            .or_insert_with(|| Rule::of(declared, &trial.script, visit.stream));
    }
    let spec = |visit: &Visit| &trial.script.streams[usize::from(visit.stream)];
    let one_port = visits.windows(2).all(|pair| spec(&pair[0]).from == spec(&pair[1]).from);
    let in_order = one_port || visits.windows(2).all(|pair| pair[0].came.hi < pair[1].came.lo);
    // Marks that are made when frames leave, and drops when they come, are decided in an order of their own.
    let at_once = rules
        .values()
        .all(|rule| Some(rule.point) == rules.values().next().map(|first| first.point));
    let known = in_order && at_once;
    let mut gap = Gap::UNKNOWN;
    let mut all = Vec::new();
    for (rank, visit) in visits.iter().enumerate() {
        let (rule, of) = (&rules[&visit.stream], spec(visit));
        let Some(depth) = rule.seen(visit, of.size) else { continue };
        let held = rule.held();
        let met = rule.met(of.class, depth, averages, (rank, visit));
        if !known {
            gap = Gap::UNKNOWN;
        }
        let by_curve = rule.chances(of.class, depth, averages, (rank, visit));
        let draw = draw(trial.number, rule, visit, of.size);
        let draw = draw.and_then(|draw| draw.by_curve(rule, visit, by_curve));
        let shares = gap.chances(&held, met);
        gap = gap.after(&held, met, draw.map(|draw| draw.taken));
        if let Some(draw) = draw.filter(|_| streams.contains(&visit.stream)) {
            let (queued, met) = ((of.to, rank), known.then_some(met));
            all.push((visit.sent, Draw { shares, queued, met, ..draw }));
        }
    }
    all
}

/// The draw of one frame; none where it came marked, so that a mark does not show, or where it was lost by something else. Where a frame may
/// have found the buffer full, none either, whether it was lost or not: to leave out the lost ones alone would bend the curve.
fn draw(trial: u32, rule: &Rule, visit: &Visit, size: Bytes) -> Option<Draw> {
    let left = visit.passed.as_ref().map(|passed| rule.with_itself(passed.left, size));
    let found = rule.with_itself(visit.found, size);
    let lost = visit.passed.is_none();
    let taken = match rule.fate {
        Fate::Mark if visit.came_marked => return None,
        Fate::Mark => visit.passed.as_ref()?.marked,
        Fate::Drop | Fate::MarkOrDrop if !rule.has_room(visit.found, size) => return None,
        Fate::Drop => lost,
        // One that came marked shows a drop alone.
        Fate::MarkOrDrop if visit.came_marked => lost,
        Fate::MarkOrDrop => visit.passed.as_ref().is_none_or(|passed| passed.marked),
    };
    let (depth, other) = match rule.point {
        Marking::Dequeue => (left?, found),
        Marking::Enqueue => (found, left.unwrap_or(found)),
    };
    let record = visit.passed.as_ref().map_or(visit.sent, |passed| passed.record);
    let (shares, queued, met, beyond) = ((0.0, 0.0), (0, 0), None, (false, false));
    Some(Draw { trial, record, depth, other, shares, queued, met, taken, lost, beyond })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_capture::analyse::Passed;
    use rig_lab::Color;
    use rig_units::Ppm;

    const FRAME: Bytes = Bytes(200);

    /// A rule of a device of the bundled lab with a curve of 1000 to 2000 B and 50 %.
    fn rule(capable: bool, point: Marking) -> Rule {
        let lab = rig_lab::read::lab(None).expect("the bundled lab has no fault");
        let mut declared = lab.duts[0].declared.switch().expect("a switch").clone();
        let (kmin, kmax) = (Bytes(1_000), Bytes(2_000));
        declared.wred = rig_lab::Wred {
            queues: vec![3],
            kmin,
            kmax,
            pmax: Ppm(500_000),
            marking: point,
            ..rig_lab::Wred::off()
        };
        let class = Class { color: Color::Green, capable };
        let (fate, point) = (class.fate(&declared.wred), class.point(&declared.wred));
        Rule { declared, class, fate, point, full: 2 }
    }

    fn visit(came_marked: bool, passed: Option<bool>) -> Visit {
        let left = Span { lo: 300, hi: 400 };
        let (began, came) = (Span::exactly(40), Span::exactly(20));
        let passed = passed.map(|marked| Passed { record: 9, marked, begun: began, left });
        let found = Span { lo: 100, hi: 200 };
        Visit { stream: 0, seq: 0, sent: 5, came_marked, came, found, passed }
    }

    #[test]
    fn a_mark_is_drawn_for_at_its_point_with_the_frame_itself_where_it_counts() {
        let at = |point, itself| {
            let mut rule = rule(true, point);
            rule.declared.wred.counts_itself = itself;
            draw(1, &rule, &visit(false, Some(true)), FRAME).unwrap()
        };
        let dequeue = at(Marking::Dequeue, false);
        assert_eq!(
            (dequeue.depth, dequeue.other),
            (Span { lo: 300, hi: 400 }, Span { lo: 100, hi: 200 })
        );
        assert!(dequeue.taken && dequeue.record == 9);
        // A cell of 208 B more.
        let enqueue = at(Marking::Enqueue, true);
        assert_eq!(
            (enqueue.depth, enqueue.other),
            (Span { lo: 308, hi: 408 }, Span { lo: 508, hi: 608 })
        );
    }

    #[test]
    fn a_drop_is_drawn_for_on_arrival_and_is_a_frame_that_never_left() {
        let rule = rule(false, Marking::Dequeue);
        assert_eq!((rule.fate, rule.point), (Fate::Drop, Marking::Enqueue));
        let lost = draw(1, &rule, &visit(false, None), FRAME).unwrap();
        assert!(lost.taken && lost.record == 5 && lost.depth == Span { lo: 100, hi: 200 });
        assert!(!draw(1, &rule, &visit(false, Some(false)), FRAME).unwrap().taken);
    }

    /// Behind so many frames a full buffer may have lost it as well; what passed there says no more of the curve than what was lost.
    #[test]
    fn where_the_buffer_may_have_been_full_no_drop_is_drawn_for() {
        let mut rule = rule(false, Marking::Dequeue);
        // A cell of 208 B holds what it found: one frame.
        assert!(rule.has_room(visit(false, None).found, FRAME));
        rule.full = 1;
        assert!(
            [None, Some(false)]
                .iter()
                .all(|passed| { draw(1, &rule, &visit(false, *passed), FRAME).is_none() })
        );
    }

    #[test]
    fn a_frame_that_came_marked_or_was_lost_by_something_else_shows_no_draw() {
        let rule = rule(true, Marking::Dequeue);
        assert!(draw(1, &rule, &visit(true, Some(true)), FRAME).is_none());
        assert!(draw(1, &rule, &visit(false, None), FRAME).is_none());
    }

    #[test]
    fn a_queue_without_a_profile_has_no_chance() {
        let rule = rule(true, Marking::Dequeue);
        let shares = [1_000, 1_500, 2_000].map(|depth| rule.shares(3, Span::exactly(depth)));
        let mut wanted = shares.iter().zip([0.0, 0.25, 1.0]);
        assert!(wanted.all(|((lo, hi), want)| lo == hi && (lo - want).abs() < 1e-12));
        assert_eq!(rule.shares(4, Span::exactly(5_000)), (0.0, 0.0));
    }

    #[test]
    fn in_steps_a_chance_is_open_by_what_either_way_of_rounding_makes_of_it() {
        let mut rule = rule(true, Marking::Dequeue);
        rule.declared.wred.pmax = Ppm(50_000);
        rule.declared.wred.chance_steps = Some(256);
        // Half of 12/256 and of 13/256.
        let (lo, hi) = rule.shares(3, Span::exactly(1_500));
        assert!((lo - 6.0 / 256.0).abs() < 1e-6 && (hi - 6.5 / 256.0).abs() < 1e-6, "{lo} {hi}");
        assert_eq!(rule.shares(3, Span { lo: 900, hi: 2_000 }), (0.0, 1.0));
    }
}
