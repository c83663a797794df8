//! The rates at which streams that share a port arrive. Streams of one queue are taken together: how PFC divides a queue
//! among its senders over a few milliseconds is no property of the scheduler.

use super::judge_context::{JudgeContext, TrialReading};
use super::legs::legs;
use super::limits;
use super::measurement::{Known, Red, Tells, by_formula};
use super::shallow;
use super::share_width;
use super::small_part;
use super::unfilled;
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::spec::share::{Offer, shares_between};
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use crate::verdict::{Doubt, Looked};
use rig_capture::analyse::{self, Throughput};
use rig_capture::{Dir, Record, Span, Unit, What};
use rig_lab::{Part, Scheduler, Scheduling};
use rig_testcases::Lookup;
use rig_testcases::vocabulary::{
    Entry, FROM, Field, Given, Looks, Senders, StreamEnds, UNTIL, ValueKind, named, required,
};
use rig_testcases::{Amount, Measure, Script, StreamRate, StreamSpec, Tap};
use rig_units::{Apart, Bytes, Dur, L1_OVERHEAD, PortSpeed, Rate, Time};
use std::collections::BTreeMap;

/// Streams that share a port, and from when until when.
pub(super) const SHARING: [Field; 3] = [
    required(
        "streams",
        ValueKind::Streams,
        "the streams that share a port, such as [a, b]",
        "the streams that share the port, all predicted together",
    ),
    FROM,
    UNTIL,
];

/// Notes a stretch that ends before it begins, as far as it can be told yet.
pub(super) fn ends_after_it_begins(given: &Given<'_>) -> bool {
    if let (Some(Amount::Exactly(from)), Some(Amount::Exactly(until))) =
        (given.of.amount("from"), given.of.amount("until"))
        && until <= from
    {
        given.at.fault(format!("from {from} until {until}"), "an end after the beginning");
    }
    true
}

/// `throughput`.
pub(super) static THROUGHPUT: Known = Known {
    entry: Entry {
        name: "throughput",
        parts: Some(&[Part::Scheduler]),
        about: "the rate at which load streams arrive between two instants of the trial",
        source: "F10 to F12",
        fields: &SHARING,
        check: ends_after_it_begins,
        looks: &[Looks::of(named, StreamEnds::Out, Tap::Sampled, "counts the frames of `{}`")],
        senders: Senders::InTime(named),
        ..Entry::USUAL
    },
    tells: Tells::Width("a frame at either end and both timestamps, over the time between them"),
    red: Red::Mutated("shares-after-a-storm", "deviation=weights_ignored"),
    expected: |measure, context, _| {
        let (from, until) = measure.instants();
        let [from, until] = [from, until].map(|amount| expected_at(context, amount));
        by_formula(
            format!("each queue its share of the port from {from} to {until}, in frames"),
            "F10: max-min water-filling over the declared scheduler",
        )
    },
    judge: |measure, done, judged| {
        done.several(measure.name(), judged, |trial| queues(done, trial, measure));
    },
    unpromised: Some(|measure, context, script| {
        let dry = shallow::runs_dry(measure, context, script);
        dry.or_else(|| small_part::runs_dry(measure, context, script))
            .or_else(|| unfilled::of_streams(measure, context, script))
    }),
    limits: limits::rate,
    shows: Some(share_width::of),
    tells_rate: true,
    ..Known::USUAL
};

/// An instant before anything runs. One that depends on how long a counted stream takes to send depends on the port.
fn expected_at(context: &Context<'_>, amount: &Amount) -> String {
    if let Amount::Of { of, times, plus, .. } = amount
        && context.case.streams.contains_key(of)
    {
        return format!("{} x the time that {of} takes to send + {plus}", Unit::Ppm.show(*times));
    }
    let at = amount.resolve(&context.values() as &dyn Lookup);
    at.map_or_else(|name| format!("`{name}`, which has no value"), |at| at.to_string())
}

/// What each queue of the port carried of the streams, beside its share.
fn queues(
    done: &JudgeContext<'_>,
    trial: &Trial,
    measure: &Measure,
) -> Result<Vec<(String, TrialReading)>, Doubt> {
    let streams = measure.names("streams");
    let (from, until) = done.stretch(trial, measure)?;
    let specs: Vec<_> =
        (0_u16..).zip(&trial.script.streams).filter(|(_, s)| streams.contains(&s.name)).collect();
    let Some(&(_, first)) = specs.first() else {
        return Err(trial.doubt("the streams are not in the script"));
    };
    let speed = trial.observation.ports[usize::from(first.to)].speed;
    let scheduler = &done.context.switch().scheduler;
    let (offers, granted) = granted(scheduler, trial, &specs, (from, until));
    let others = others(&trial.script, first.to, streams, speed);
    let round = Round::of(scheduler, &offers);
    let hides =
        legs(done.context, &trial.script, first).iter().map(|leg| leg.transit().width()).sum();
    let mut over = until - from;
    let mut sums: BTreeMap<u8, (Span, Span, Vec<usize>)> = BTreeMap::new();
    let mut arriving: BTreeMap<u8, Vec<u16>> = BTreeMap::new();
    let mut sent: BTreeMap<u8, u64> = BTreeMap::new();
    for ((index, spec), granted) in specs.iter().zip(granted) {
        sends_all_the_time(trial, (*index, spec), (from, until))?;
        let measured =
            analyse::throughput(&trial.observation, &trial.script, *index, (from, until));
        let measured = match measured {
            Err(_) if silent(trial, *index, spec, (from, until)) => {
                Throughput { bps: Span::exactly(0), frames: 0, over: until - from, records: [0, 0] }
            }
            measured => measured.map_err(|why| trial.doubt(&format!("{}: {why}", spec.name)))?,
        };
        over = over.min(measured.over);
        if measured.frames > 0 {
            arriving.entry(spec.class).or_default().push(*index);
        }
        // A stream of which nothing arrived may still have been sent.
        let count = trial.observation.streams.get(usize::from(*index)).map_or(0, |one| one.sent);
        *sent.entry(spec.class).or_default() += count;
        let (got, want, records) =
            sums.entry(spec.class).or_insert((Span::exactly(0), Span::exactly(0), Vec::new()));
        let both = |one: Span, other: Span| Span {
            lo: one.lo.saturating_add(other.lo),
            hi: one.hi.saturating_add(other.hi),
        };
        (*got, *want) = (both(*got, measured.bps), both(*want, granted));
        records.extend(measured.records);
    }
    // What several brought to a queue is told over a time that is the same for all.
    for (class, together) in arriving.iter().filter(|(_, together)| together.len() > 1) {
        let (observation, script) = (&trial.observation, &trial.script);
        let both = analyse::throughput_together(observation, script, together, (from, until));
        let both = both.map_err(|why| trial.doubt(&format!("queue {class}: {why}")))?;
        over = over.min(both.over);
        if let Some((got, _, records)) = sums.get_mut(class) {
            (*got, *records) = (both.bps, both.records.to_vec());
        }
    }
    let read = |(queue, (got, want, records)): (u8, (Span, Span, Vec<usize>))| {
        let uneven = round.uneven(queue, done.context.apart(), speed, (hides, over));
        let lo = want.lo.saturating_sub(others + uneven);
        let span = Span { lo, hi: want.hi.saturating_add(uneven) };
        let turns = if uneven == 0 {
            String::new()
        } else {
            format!(", give or take the {} of one round", Unit::Bps.show(uneven))
        };
        let margin = scheduler.pir_margin.map(|margin| format!(", give or take {margin} of that"));
        let margin = margin.unwrap_or_default();
        let shaped =
            scheduler.pir.map_or_else(String::new, |pir| format!(" shaped to {pir}{margin}"));
        let text = format!(
            "its share of {speed}{shaped}: {}{turns}, up to {} of it left to other streams",
            Unit::Bps.show(want.hi),
            Unit::Bps.show(others)
        );
        let source = "max-min water-filling over the declared scheduler";
        let want = Prediction { unit: Unit::Bps, span, formula: "F10", text, source };
        let count = sent.get(&queue).copied().unwrap_or(0);
        let looked = Looked { count, of: "frames sent" };
        let on = format!("{}, queue {queue}", streams.join(" and "));
        (on, TrialReading { span: got, want, got: None, records, looked })
    };
    Ok(sums.into_iter().map(read).collect())
}

/// How much of the speed of a port two frames `over` apart may seem to be off by, one of which took up to `hides` longer than the other.
fn shifted(speed: PortSpeed, hides: Dur, over: Dur) -> u64 {
    let part = u128::from(speed.bps()) * u128::from(hides.0);
    let part = part.div_ceil(u128::from(over.saturating_sub(hides).0.max(1)));
    u64::try_from(part).unwrap_or(u64::MAX)
}

/// What streams to one port offer it, and what it grants each of them between two instants, in bits a second in frames. What a shaper
/// had saved up is gone the sooner the earlier a stream begins to take of it.
pub(super) fn granted(
    scheduler: &Scheduler,
    trial: &Trial,
    specs: &[(u16, &StreamSpec)],
    (from, until): (Time, Time),
) -> (Vec<Offer>, Vec<Span>) {
    let ports = &trial.observation.ports;
    let offer = |(_, spec): &(u16, &StreamSpec)| Offer {
        queue: usize::from(spec.class),
        frame: spec.on_wire(),
        bps: offered(spec.rate, spec.on_wire(), ports[usize::from(spec.from)].speed),
    };
    let offers: Vec<Offer> = specs.iter().map(offer).collect();
    let Some((_, first)) = specs.first() else { return (offers, Vec::new()) };
    let speed = ports[usize::from(first.to)].speed;
    let begins = specs.iter().filter_map(|&(stream, _)| {
        analyse::sends(&trial.observation, &trial.script, stream).map(|(begin, _)| begin)
    });
    let (first, last) = (begins.clone().min().unwrap_or(from), begins.max().unwrap_or(from));
    let since = |begin: Time| {
        let [from, until] = [from, until].map(|at| Dur(at.0.saturating_sub(begin.0)));
        shares_between(speed, scheduler, &offers, (from, until))
    };
    let both = since(first).into_iter().zip(since(last));
    let hull = |(a, b): (Span, Span)| Span { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi) };
    let granted = both.map(hull).collect();
    (offers, granted)
}

/// A share is of what a stream offers all the time: one that begins later or ends before tells nothing of it.
pub(super) fn sends_all_the_time(
    trial: &Trial,
    (stream, spec): (u16, &StreamSpec),
    (from, until): (Time, Time),
) -> Result<(), Doubt> {
    let Some((begin, end)) = analyse::is_sent(&trial.observation, &trial.script, stream) else {
        return Ok(());
    };
    if begin <= from && until <= end {
        return Ok(());
    }
    let [begin, end, from, until] = [begin, end, from, until].map(|at| Unit::Ps.show(at.0));
    let name = &spec.name;
    let why = format!(
        "{name} is sent from {begin} to {end}, and was to be measured from {from} to {until}"
    );
    Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) })
}

/// Whether nothing of a stream arrived in that time, where every frame that arrives is recorded.
fn silent(trial: &Trial, stream: u16, spec: &StreamSpec, (from, until): (Time, Time)) -> bool {
    let own = |record: &Record| {
        let own = matches!(record.what, What::Data { stream: of, .. } if of == stream);
        own && record.dir == Dir::Rx && (from..=until).contains(&record.at)
    };
    trial.script.tap(spec.to) == Tap::All && !trial.observation.records.iter().any(own)
}

/// Bytes that the queue of least weight may send in its turn, if a frame is no longer: see the table of what is not stated of
/// devices in `docs/oracle.md`.
const TURN: u64 = 1_536;

/// How far a queue may be ahead of its share at an instant, or behind: queues are served in turns.
pub(super) struct Round<'a> {
    scheduler: &'a Scheduler,
    /// Size of the largest frame; nothing where one queue has the port for itself, and no shaper owes it a frame.
    frame: u64,
    /// The least weight of a queue of the port, whether or not it has something to send: what a turn is follows from it.
    least: u64,
}

impl<'a> Round<'a> {
    /// That of queues to which this is sent.
    pub(super) fn of(scheduler: &'a Scheduler, offers: &[Offer]) -> Round<'a> {
        let alone = offers.windows(2).all(|pair| pair[0].queue == pair[1].queue);
        let even = alone && scheduler.pir.is_none();
        let frame = offers.iter().map(|offer| offer.frame.0).max().filter(|_| !even);
        let mut round = Round { scheduler, frame: frame.unwrap_or(0), least: 1 };
        round.least = (0..8).filter_map(|queue| round.weight(queue)).min().unwrap_or(1);
        round
    }

    fn weight(&self, queue: usize) -> Option<u64> {
        match self.scheduler.queues.get(queue) {
            Some(Scheduling::Strict) => None,
            Some(Scheduling::Dwrr(weight)) => Some(u64::from(*weight).max(1)),
            None => Some(1),
        }
    }

    /// That in bytes. A round serves the queue of least weight a frame, the others as many as their weights say (Shreedhar and
    /// Varghese 1995), and any queue may have to wait for a frame in flight. A queue that wants less than its share waits for
    /// the turns of the others, in which less comes to it than it could send in its own.
    pub(super) fn bytes(&self, queue: u8) -> u64 {
        let turns = self.weight(usize::from(queue)).map_or(0, |weight| weight.div_ceil(self.least));
        if self.frame == 0 { 0 } else { self.frame.max(TURN) * turns + self.frame }
    }

    /// How many bits a second more or less a queue may carry `over` that time: by turns, by clocks so far apart, and where one frame took up to
    /// `hides` longer than another.
    pub(super) fn uneven(
        &self,
        queue: u8,
        apart: Apart,
        speed: PortSpeed,
        (hides, over): (Dur, Dur),
    ) -> u64 {
        // Whatever of the port is left to a queue: the whole of it is as much more or less.
        let clocks = apart.part(speed.bps());
        let uneven = self.bps(queue, over).saturating_add(clocks);
        uneven.saturating_add(shifted(speed, hides, over))
    }

    /// That, as bits a second over `over`.
    fn bps(&self, queue: u8, over: Dur) -> u64 {
        let bits = u128::from(self.bytes(queue)) * 8 * 1_000_000_000_000;
        u64::try_from(bits / u128::from(over.0.max(1))).unwrap_or(u64::MAX)
    }
}

/// Bits a second in frames that a stream offers from a port of `speed`.
pub(super) fn offered(rate: StreamRate, size: Bytes, speed: PortSpeed) -> u64 {
    let of_frames = |l1: u64| {
        let share = u128::from(l1) * u128::from(size.0) / u128::from((size + L1_OVERHEAD).0);
        u64::try_from(share).unwrap_or(u64::MAX)
    };
    match rate {
        StreamRate::Every(gap) => {
            let bits = u128::from(size.0) * 8 * 1_000_000_000_000 / u128::from(gap.0.max(1));
            u64::try_from(bits).unwrap_or(u64::MAX)
        }
        StreamRate::Load(Rate::L1(rate)) => of_frames(rate.bps),
        StreamRate::Load(Rate::L2(rate)) => rate.bps,
        StreamRate::Load(Rate::Share(share)) => of_frames(share.of(speed).bps),
    }
}

/// What other streams of the script may take of the port.
pub(super) fn others(script: &Script, to: u16, named: &[String], speed: PortSpeed) -> u64 {
    let others = script.streams.iter().filter(|spec| spec.to == to && !named.contains(&spec.name));
    others.map(|spec| of_wire(spec.rate, spec.on_wire(), speed)).sum()
}

/// What a stream of frames of `size` takes of the wire, preambles and gaps counted.
fn of_wire(rate: StreamRate, size: Bytes, speed: PortSpeed) -> u64 {
    let whole = size + L1_OVERHEAD;
    match rate {
        StreamRate::Every(_) => offered(rate, whole, speed),
        StreamRate::Load(Rate::L1(rate)) => rate.bps,
        StreamRate::Load(Rate::L2(rate)) => {
            let wire = (u128::from(rate.bps) * u128::from(whole.0)).div_ceil(u128::from(size.0));
            u64::try_from(wire).unwrap_or(u64::MAX)
        }
        StreamRate::Load(Rate::Share(share)) => share.of(speed).bps,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_of_the_least_weight_of_the_port_whoever_has_something_to_send() {
        let weights = [1, 200, 14, 3, 15, 14, 7].map(Scheduling::Dwrr);
        let queues = weights.into_iter().chain([Scheduling::Strict]).collect();
        let scheduler = Scheduler { queues, ..Scheduler::default() };
        let offer = |queue| Offer { queue, frame: Bytes(1_024), bps: 1 };
        let round = |queues: &[usize]| {
            let offers: Vec<Offer> = queues.iter().copied().map(offer).collect();
            let round = Round::of(&scheduler, &offers);
            queues.iter().map(|queue| round.bytes(u8::try_from(*queue).unwrap())).collect()
        };
        // Queue 0, of weight 1, has nothing to send: 3 and 7 turns of 1536 B all the same, and a frame in flight.
        let of: Vec<u64> = round(&[3, 6, 7]);
        assert_eq!(of, [3 * 1_536 + 1_024, 7 * 1_536 + 1_024, 1_024]);
        // One queue alone has no turns.
        let of: Vec<u64> = round(&[6, 6]);
        assert_eq!(of, [0, 0]);
        // 8192 B over 100 us: 655.36 Mb/s.
        let round = Round { scheduler: &scheduler, frame: 4_096, least: 3 };
        assert_eq!(round.bps(3, Dur::us(100)), 655_360_000);
    }
}
