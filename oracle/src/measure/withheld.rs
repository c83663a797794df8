//! What streams that offer more than their port carries do not get of it: PFC holds lossless sources back (F11), each by
//! itself; of lossy queues frames are lost (F12).

use super::ahead::ahead;
use super::counted_late;
use super::judge_context::{JudgeContext, TrialReading};
use super::judged::looked;
use super::limits;
use super::measurement::{Known, Red, Tells, by_formula};
use super::shallow;
use super::stamps;
use super::throughput::{SHARING, ends_after_it_begins, granted, sends_all_the_time};
use super::unfilled;
use super::withheld_width;
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::measure::buffer_ledger::BufferLedger;
use crate::spec::buffer::occupied;
use crate::spec::in_flight::{self, InFlight};
use crate::spec::share::{Offer, withheld};
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use crate::verdict::{Doubt, Looked};
use rig_capture::analyse::{self, ActionView};
use rig_capture::fate::Fates;
use rig_capture::{Dir, Span, Unit};
use rig_lab::{Accounting, Part, Scheduling, Switch, SwitchingMode};
use rig_testcases::vocabulary::{Entry, Looks, Senders, StreamEnds, named};
use rig_testcases::{Measure, Script, StreamSpec, Tap};
use rig_units::{Dur, Length, PortSpeed, Time};
use std::collections::BTreeMap;

/// `share.withheld`.
pub(super) static WITHHELD: Known = Known {
    entry: Entry {
        name: "share.withheld",
        parts: Some(&[Part::Scheduler]),
        about: "what streams that offer a port more than it carries do not get of it: each lossless source by PFC, each lossy queue by loss",
        source: "F11, F12",
        fields: &SHARING,
        check: ends_after_it_begins,
        looks: &[Looks::of(named, StreamEnds::Both, Tap::All, "counts every frame of `{}`")],
        senders: Senders::InTime(named),
        exceeds: true,
        ..Entry::USUAL
    },
    tells: Tells::Width(
        "a frame of each source at either end of the time, or one whose fate is open",
    ),
    red: Red::Mutated("loss-of-lossy-queues-broadcom", "deviation=egress_rate_low"),
    expected: |_, _, _| {
        let text = "of what each offers the part that its port does not grant it";
        by_formula(text, "F11, F12: 1 - granted / offered")
    },
    judge: |measure, done, judged| {
        done.several(measure.name(), judged, |trial| of_trial(done, trial, measure));
    },
    stamps: Some(|measure, context, script| {
        let all = measure.names("streams").iter();
        let all = all.filter_map(|name| stamps::length(context, script, name));
        all.min_by_key(|one| one.within)
    }),
    unpromised: Some(|measure, context, script| {
        let late = counted_late::by_several(measure, context, script);
        late.or_else(|| shallow::runs_dry(measure, context, script))
            .or_else(|| unlike(measure, context, script))
            .or_else(|| unfilled::of_streams(measure, context, script))
    }),
    limits: limits::rate,
    shows: Some(withheld_width::of),
    tells_rate: true,
    ..Known::USUAL
};

/// Why nothing says what each of several lossless sources is held back by: they share a queue by what they hold of it, and one that is slower than
/// the others may never come to be held back.
fn unlike(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    let declared = context.group.declared.switch()?;
    let names = measure.names("streams");
    let own = script.streams.iter().filter(|one| names.contains(&one.name));
    let lossless = own.filter(|one| declared.qos.lossless(one.class));
    let mut speeds: Vec<(PortSpeed, &str)> = lossless
        .filter_map(|one| {
            let port = script.dut_ports.get(usize::from(one.from))?;
            let name = script.ports.get(usize::from(one.from))?;
            Some((context.group.declared.port_speed(*port)?, name.as_str()))
        })
        .collect();
    speeds.sort_unstable();
    let (&(slow, slower), &(fast, faster)) = speeds.first().zip(speeds.last())?;
    (slow < fast).then(|| {
        format!("{slower} of {slow} sends less than {faster} of {fast}: what PFC holds back of each follows from what it has of the queue")
    })
}

/// A stream, its number in the script, and what it offers in bits a second.
pub(super) struct Source<'a> {
    pub(super) index: u16,
    pub(super) spec: &'a StreamSpec,
    pub(super) offered: u64,
}

/// Each stream with what it offers and is granted, queue by queue; whatever of the port is left to a queue, the whole of it is `clock` more
/// or less.
pub(super) fn by_queue<'a>(
    specs: &[(u16, &'a StreamSpec)],
    offers: &[Offer],
    (granted, clock): (&[Span], u64),
) -> BTreeMap<u8, (Span, Vec<Source<'a>>)> {
    let mut queues: BTreeMap<u8, (Span, Vec<Source<'_>>)> = BTreeMap::new();
    for ((&(index, spec), offer), granted) in specs.iter().zip(offers).zip(granted) {
        let (sum, own) = queues.entry(spec.class).or_insert((Span::exactly(0), Vec::new()));
        *sum = Span { lo: sum.lo + granted.lo, hi: sum.hi + granted.hi };
        own.push(Source { index, spec, offered: offer.bps });
    }
    for (sum, _) in queues.values_mut() {
        *sum = Span { lo: sum.lo.saturating_sub(clock), hi: sum.hi + clock };
    }
    queues
}

fn of_trial(
    done: &JudgeContext<'_>,
    trial: &Trial,
    measure: &Measure,
) -> Result<Vec<(String, TrialReading)>, Doubt> {
    let (streams, window) = (measure.names("streams"), done.stretch(trial, measure)?);
    let declared = done.context.switch();
    let named = (0_u16..).zip(&trial.script.streams).filter(|(_, of)| streams.contains(&of.name));
    let named: Vec<(u16, &StreamSpec)> = named.collect();
    if named.is_empty() {
        return Err(trial.doubt("the streams are not in the script"));
    }
    let mut since = Time::ZERO;
    for &one in &named {
        sends_all_the_time(trial, one, window)?;
        let sends = analyse::sends(&trial.observation, &trial.script, one.0);
        since = since.max(sends.map_or(window.0, |(first, _)| first));
    }
    let (offers, granted) = granted(&declared.scheduler, trial, &named, window);
    let mut all = Vec::new();
    let (_, first) = named[0];
    let speed = |port: u16| trial.observation.ports[usize::from(port)].speed;
    let clock = done.context.apart().part(speed(first.to).bps());
    let way =
        Way { context: done.context, script: &trial.script, speed: &speed, bound: done.bound() };
    for (class, (granted, own)) in by_queue(&named, &offers, (&granted, clock)) {
        if declared.qos.pfc_enable.contains(&class) {
            let within = way.paused(&own, granted).ok_or_else(|| {
                trial.doubt("limits are those of queues: they say nothing of one source")
            })?;
            for source in &own {
                let own = core::slice::from_ref(source);
                let alone = Held { sources: own, offered: source.offered, window };
                all.push((source.spec.name.clone(), held(trial, &alone, within)?));
            }
            let offered = own.iter().map(|source| source.offered).sum();
            let whole = Held { sources: &own, offered, window };
            all.push((format!("queue {class}"), held(trial, &whole, granted)?));
        } else {
            all.push((
                format!("queue {class}"),
                lost(done, trial, &own, granted, (since, window))?,
            ));
        }
    }
    Ok(all)
}

/// What bounds what each of several lossless sources holds of their queue.
pub(super) struct Way<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) script: &'a Script,
    /// The speed of a port of the rig.
    pub(super) speed: &'a dyn Fn(u16) -> PortSpeed,
    /// How far off a stamp may be.
    pub(super) bound: Dur,
}

impl Way<'_> {
    /// F11: what each of several lossless sources of a queue gets, in bits a second. A queue serves what arrived first, so a
    /// source gets of it what it holds of it; a source that always has more to send holds no less than where the device says XON and
    /// no more than where it says XOFF, give or take what is under way meanwhile. `None`: limits are those of queues.
    pub(super) fn paused(&self, own: &[Source<'_>], granted: Span) -> Option<Span> {
        let declared = self.context.switch();
        if declared.buffer.accounting == Accounting::Voq {
            return None;
        }
        let specs: Vec<&StreamSpec> = own.iter().map(|source| source.spec).collect();
        let least = BufferLedger::span(declared, |empty| empty.together(&specs).0).lo;
        let most = BufferLedger::span(declared, |empty| empty.together(&specs).1).hi;
        let under_way = own.iter().map(|source| self.under_way(source.spec)).max();
        let size =
            specs.iter().map(|spec| occupied(&declared.buffer, spec.size)).min().unwrap_or(1);
        let swing = declared.buffer.xon_offset.0.div_ceil(size.max(1))
            + under_way.unwrap_or_default() * 2
            + 2;
        // Each limit follows what is left of the pool, and so what all the others hold.
        let sources = u64::try_from(own.len()).unwrap_or(u64::MAX);
        let all = swing * sources;
        let by = u32::from(declared.buffer.dynamic_th.unsigned_abs()).min(32);
        let follows = if declared.buffer.static_th.is_some() {
            0
        } else if declared.buffer.dynamic_th < 0 {
            (all >> by) + 1
        } else {
            all << by
        };
        let lo = least.saturating_sub(swing + follows);
        let hi = most + swing + follows;
        let part = |of: u64, own: u64, other: u64| {
            let whole = u128::from(own) + u128::from(other) * u128::from(sources - 1);
            u64::try_from(u128::from(of) * u128::from(own) / whole.max(1)).unwrap_or(u64::MAX)
        };
        Some(Span { lo: part(granted.lo, lo, hi), hi: part(granted.hi, hi, lo) })
    }

    /// The most frames of a source that are on their way between a word of the device and what follows from it.
    fn under_way(&self, spec: &StreamSpec) -> u64 {
        let declared = self.context.switch();
        let response = self.script.endpoint(spec.from).response;
        let flight = InFlight {
            // More is on its way than to a switch that counts a frame with its first bit.
            mode: SwitchingMode::StoreAndForward,
            speed: (self.speed)(spec.from),
            frame: spec.size,
            overhead: spec.overhead,
            pfc: declared.macsec.pfc_size(),
            ahead: ahead(self.script, spec.from),
            cable: Length(self.context.cable_cm()),
            delays: in_flight::delays(
                (declared.emission().most().max(declared.resumption().most())
                    + declared.transit().most())
                .into(),
                Span { lo: response.0, hi: (response + self.bound * 2).0 },
            ),
            apart: self.context.apart(),
        };
        flight.frames().hi
    }
}

/// How many frames of a source may lie on either side of an end of what is looked at: one lies across it, and those whose timestamps may lie
/// beyond it.
pub(super) fn at_the_edge(spec: &StreamSpec, to: PortSpeed, bound: Dur) -> u64 {
    let slot = to.slot(spec.on_wire()).0.max(1);
    1 + (bound * 2).0.div_ceil(slot)
}

/// Sources of a lossless queue over a while, and what they offer together.
struct Held<'a> {
    sources: &'a [Source<'a>],
    offered: u64,
    window: (Time, Time),
}

/// What PFC holds back of sources that are granted so much together: by the frames that arrive.
fn held(trial: &Trial, held: &Held<'_>, granted: Span) -> Result<TrialReading, Doubt> {
    let Held { sources, offered, window: (from, until) } = *held;
    let (mut least, mut most, mut seen, mut records) = (0, 0, 0, Vec::new());
    for Source { index, spec, .. } in sources {
        let arrived = trial.observation.of_stream(*index, (spec.to, Dir::Rx));
        let within = arrived.filter(|(_, record)| (from..=until).contains(&record.at));
        let own: Vec<usize> = within.map(|(at, _)| at).collect();
        let trace = &trial.observation.ports[usize::from(spec.to)];
        let edge = at_the_edge(spec, trace.speed, trace.provenance.bound());
        let count = u64::try_from(own.len()).unwrap_or(u64::MAX);
        let bits = spec.on_wire().0 * 8;
        least += count.saturating_sub(edge) * bits;
        most += (count + edge) * bits;
        seen += own.len();
        records.extend(own.first().into_iter().chain(own.last()));
    }
    if records.is_empty() {
        return Err(trial.doubt("nothing arrived in that time"));
    }
    let over = u128::from((until - from).0.max(1));
    let rate =
        |bits: u64| u64::try_from(u128::from(bits) * 1_000_000_000_000 / over).unwrap_or(u64::MAX);
    let of = |granted: Span| Span {
        lo: withheld(offered, granted.hi),
        hi: withheld(offered, granted.lo),
    };
    let text = format!(
        "1 - granted / offered: {} to {} of {}",
        Unit::Bps.show(granted.lo),
        Unit::Bps.show(granted.hi),
        Unit::Bps.show(offered)
    );
    let source =
        "a queue serves first what came first; each source holds of it what XON and XOFF leave it";
    let want = Prediction { unit: Unit::Ppm, span: of(granted), formula: "F11", text, source };
    let span = of(Span { lo: rate(least), hi: rate(most) });
    Ok(TrialReading { span, want, got: None, records, looked: looked(seen, "frames that arrived") })
}

/// How long after its sources have begun a lossy queue is full at the latest, if all else of the memory is empty; `None` where it need not
/// ever be.
fn full(declared: &Switch, own: &[Source<'_>], offered: u64, granted: Span) -> Option<Dur> {
    let drop = |spec| BufferLedger::span(declared, |empty| empty.first_drop(spec)).hi;
    let frames = own.iter().map(|source| drop(source.spec)).max()?;
    let size = own.iter().map(|source| source.spec.on_wire().0).max()?;
    let bits = u128::from(frames) * u128::from(size) * 8;
    let more = u128::from(offered.checked_sub(granted.hi)?);
    let time = (bits * 1_000_000_000_000).checked_div(more)?;
    u64::try_from(time).ok().map(Dur)
}

/// What a lossy queue is to lose of what is sent to it, in millionths.
pub(super) struct Loses {
    pub(super) span: Span,
    /// What of it is left to single frames, at either end.
    pub(super) few: u64,
    /// When the queue is full at the latest.
    full: Time,
}

impl Loses {
    /// That of a queue which is granted so much while so many frames are sent to it.
    pub(super) fn of(
        declared: &Switch,
        own: &[Source<'_>],
        (granted, sent): (Span, u64),
        (since, (from, until)): (Time, (Time, Time)),
    ) -> Loses {
        let weight = |queue: u8| match declared.scheduler.queues.get(usize::from(queue)) {
            Some(Scheduling::Dwrr(weight)) => u64::from(*weight).max(1),
            Some(Scheduling::Strict) | None => 1,
        };
        // A round of the scheduler, and of each source a frame that found the queue a frame from full, or not, at either end.
        let turn = own.iter().map(|source| weight(source.spec.class)).max().unwrap_or(1);
        let round = turn.div_ceil((0..8).map(weight).min().unwrap_or(1)) + 1;
        let sources = u64::try_from(own.len()).unwrap_or(u64::MAX);
        let few = (round + 2 * sources) * 1_000_000 / sent.max(1);
        let offered = own.iter().map(|source| source.offered).sum();
        // One that is not full yet loses nothing, or less.
        let full = full(declared, own, offered, granted).map_or(until, |in_all| since + in_all);
        let full = full.clamp(from, until);
        let least = u128::from(withheld(offered, granted.hi)) * u128::from((until - full).0)
            / u128::from((until - from).0.max(1));
        let span = Span {
            lo: u64::try_from(least).unwrap_or(u64::MAX).saturating_sub(few),
            hi: withheld(offered, granted.lo) + few,
        };
        Loses { span, few, full }
    }
}

/// What a lossy queue that is full loses of all that is sent to it.
fn lost(
    done: &JudgeContext<'_>,
    trial: &Trial,
    own: &[Source<'_>],
    granted: Span,
    (since, (from, until)): (Time, (Time, Time)),
) -> Result<TrialReading, Doubt> {
    let declared = done.context.switch();
    let delays = ActionView::from(declared).delays();
    let (mut sent, mut lost, mut open, mut records) = (0_u64, 0_u64, 0_u64, Vec::new());
    for source in own {
        let fates = Fates::of(&trial.observation, &trial.script, source.index, delays);
        let within = |at: Time| (from..=until).contains(&at);
        for passage in fates.passages.all.iter().filter(|passage| within(passage.sent.at)) {
            sent += 1;
            open += u64::from(fates.open(passage));
            if fates.lost(passage) {
                lost += 1;
                records.push(passage.sent.record);
            }
        }
    }
    if sent == 0 {
        return Err(trial.doubt("nothing was sent in that time"));
    }
    let offered = own.iter().map(|source| source.offered).sum();
    let Loses { span, few, full } =
        Loses::of(declared, own, (granted, sent), (since, (from, until)));
    if span.lo == 0 && span.hi >= 1_000_000 {
        let why = format!("the fate of {sent} frames tells nothing: any share of them may be lost");
        return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) });
    }
    let surely = match full {
        _ if full == from => String::new(),
        _ if full == until => ", or nothing: it need not be full by the end".to_owned(),
        _ => format!(", or less: it need not be full before {}", Unit::Ps.show(full.0)),
    };
    let text = format!(
        "1 - granted / offered: {} of {}, give or take {} for single frames{surely}",
        Unit::Bps.show(granted.hi),
        Unit::Bps.show(offered),
        Unit::Ppm.show(few)
    );
    let source = "max-min water-filling over the declared scheduler; a full queue loses what it is not granted";
    let want = Prediction { unit: Unit::Ppm, span, formula: "F12", text, source };
    let share = |lost: u64| lost * 1_000_000 / sent;
    let read = Span { lo: share(lost), hi: share(lost + open) };
    let got = format!("{lost} of {sent} frames lost, {}", Unit::Ppm.show(read.lo));
    let looked = Looked { count: sent - open, of: "frames whose fate is known" };
    Ok(TrialReading { span: read, want, got: Some(got), records, looked })
}
