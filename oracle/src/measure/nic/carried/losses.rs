//! What a flow between two NICs gets through at the least by what the rig lost of it: each hole costs what the rule says at the most, by what is declared of both NICs and of
//! the way, whatever its sender did. So who goes back further than it has to gets through less, and so does who waits for a timer where a NAK was to come. Who gets through
//! more is not wrong: for how long a timer has run as a packet is lost follows from what its sender heard, and it may run out the sooner.

use super::super::super::judge_context::JudgeContext;
use super::super::super::judged::Unread;
use super::super::super::measurement::{Expected, told};
use super::super::super::stamps::Stamps;
use super::super::{Passage, gap_stamps};
use super::got::Carried;
use super::longest::Longest;
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::spec::nic::losses::{self, Hole, Mending, SOURCE};
use crate::spec::nic::rc::timeout;
use crate::spec::nic::selective;
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Approach, Span, Unit};
use rig_frames::psn::Psn;
use rig_lab::Fault;
use rig_testcases::{Case, Injected, Injection, Measure, RoceKind, Script, Target, Verb, Which};
use rig_units::{Bytes, Dur, Ppm, Time, Within};
use std::collections::{BTreeMap, BTreeSet};

/// What is wanted, before there is a trial.
const TEXT: &str = "no less than what the rig lost of it leaves: of each hole the way back, and a timer where what was sent again is lost, too";

/// On average, of a chance of loss p.
const FORMULA: &str = "a packet in s + p W s + p^2 / (1 - p) T on average: s what it takes, W s the way back, T the timer";

/// What a NAK is no shorter than, in bytes.
const SHORTEST: u16 = 64;

/// The preamble and the start delimiter of a frame.
const PREAMBLE: u64 = 8;

/// What is said of it in advance.
pub(super) fn expected() -> Vec<Expected> {
    told(TEXT, FORMULA, SOURCE)
}

/// A way back is told from one that is longer by more than what may be under way.
pub(super) fn stamps(flow: &str, context: &Context<'_>, script: &Script) -> Option<Stamps> {
    gap_stamps::of_packets(flow, context, script)
}

/// Of what else a flow gets through it is not told.
pub(super) fn of_messages(measure: &Measure, case: &Case) -> Vec<Fault> {
    let name = measure.named("flow");
    let Some(flow) = case.flows.get(name) else { return Vec::new() };
    let mut all = Vec::new();
    let plain =
        matches!(flow.verb, Verb::Send | Verb::Write | Verb::SendImmediate | Verb::WriteImmediate);
    if flow.nic == flow.to || !plain || flow.app.is_some() {
        let found = format!(
            "`{name}` is no flow of SENDs or WRITEs from one NIC to another, each right after the other"
        );
        all.push(case.fault("measure", found, "`at_least:`, `at_most:` or both"));
    }
    if !case.between.inject.iter().any(|one| one.on == name) {
        let found = format!("nothing is done to `{name}`");
        all.push(case.fault(
            "between",
            found,
            "`drop`, `bad-icrc` or `delay` of some of its frames",
        ));
    }
    if case.between.bottleneck.is_some() {
        let found = "a bottleneck loses and delays what nobody predicts".to_owned();
        all.push(case.fault("between.bottleneck", found, "none"));
    }
    let fits = |one: &&Injection<String>| match (one.tamper, one.frames) {
        (Injected::Drop | Injected::BadIcrc | Injected::Delay(_), frames) => frames != Target::Cnp,
        _ => false,
    };
    if let Some(other) =
        case.between.inject.iter().filter(|one| one.on == name).find(|one| !fits(one))
    {
        let found = format!(
            "`{name}` has frames {}, of which it is not predicted what they cost",
            other.tamper
        );
        all.push(case.fault(
            "between",
            found,
            "`drop`, `bad-icrc` or `delay` of data, acknowledgements and NAKs",
        ));
    }
    all
}

/// What a flow lost, and what mending takes.
struct Lossy {
    holes: BTreeMap<u64, Hole>,
    mending: Mending,
    /// The packets whose NAK was lost on the way, by their places.
    unasked: BTreeSet<u64>,
    /// What each packet takes, by its place.
    slots: Vec<Dur>,
    /// When acknowledgements of it were lost.
    untold: Vec<Time>,
    /// How many packets came late, and by how much each NAK did; by how much an answer did at the most.
    late: (usize, Vec<Dur>),
    latest: Dur,
    /// How often it tries.
    retries: u32,
}

impl Lossy {
    fn of(done: &JudgeContext<'_>, trial: &Trial, flow: &str) -> Result<Lossy, Unread> {
        let (index, spec) = trial.flow(flow)?;
        let none = |why: &str| Doubt { reason: NOT_MEASURED, ..trial.doubt(why) };
        let Some((.., between)) = &trial.script.between else {
            return Err(none(&format!("the rig passes nothing of {flow} on")).into());
        };
        let connection = trial.script.connection(index);
        let (own, other) = (Passage::of(done, trial, spec.nic), Passage::of(done, trial, spec.to));
        let (asks, answers) = (&own.nic.rc, &other.nic.rc);
        if [asks, answers].into_iter().any(selective::is_kept) {
            let why = "a NIC sends again what is missing alone: a hole costs it nothing but that";
            return Err(Unread::NotApplicable(why.to_owned()));
        }
        let ports = [spec.nic, spec.to].map(|port| &trial.observation.ports[usize::from(port)]);
        if ports[0].speed != ports[1].speed {
            return Err(
                none("what the rig passes on between ports of two speeds waits there").into()
            );
        }
        let slows = |kind| matches!(kind, RoceKind::Cnp { .. } | RoceKind::NotReady(_));
        if own.reached.iter().any(|one| slows(one.kind)) {
            return Err(none(&format!("CNPs or RNR NAKs slow {flow} down")).into());
        }
        if own.left.iter().any(|one| one.roce.connection != connection) {
            return Err(none(&format!("{flow} is not alone at its NICs")).into());
        }
        if other.nic.receive.cache > 0 {
            let why =
                format!("what a miss costs in the cache of `{}` is not predicted", other.part);
            return Err(none(&why).into());
        }
        let first = Psn::new(spec.psn);
        let place = |psn: u32| Psn::new(psn).ahead_of(first).map(u64::from);
        let touched: BTreeMap<(Time, u16), Injected> =
            trial.observation.injected.iter().map(|one| ((one.at, one.port), one.what)).collect();
        let at = |record: usize| trial.observation.records[record].at;
        let mut packets = Vec::new();
        let mut slots = Vec::new();
        let (mut late, mut late_naks, mut latest) = (0, Vec::new(), Dur::ZERO);
        let speed = ports[0].speed;
        for one in own.left.iter().filter(|one| matches!(one.roce.kind, RoceKind::Data { .. })) {
            let Some(place) = place(one.roce.psn) else { continue };
            let what = touched.get(&(at(one.record), spec.nic));
            let came = what.is_none();
            // What comes late is missed first, and then comes, if nothing has come in its place.
            let comes = match what {
                Some(Injected::Delay(by)) => Some(*by),
                _ => None,
            };
            late += usize::from(comes.is_some());
            if usize::try_from(place) == Ok(slots.len()) {
                slots.push(speed.slot(Bytes(one.roce.size.into())));
            }
            packets.push(losses::Packet { at: one.at, place, came, late: false });
            packets.extend(comes.map(|by| losses::Packet {
                at: one.at + by,
                place,
                came: true,
                late: true,
            }));
        }
        packets.sort_by_key(|packet| packet.at);
        let (mut unasked, mut untold) = (BTreeSet::new(), Vec::new());
        let says = other.left.iter().filter(|one| one.roce.connection == connection);
        let mut shortest = SHORTEST;
        for one in says {
            let nak = one.roce.kind == RoceKind::Nak;
            if nak {
                shortest = one.roce.size;
            }
            match touched.get(&(at(one.record), spec.to)) {
                Some(Injected::Delay(by)) => {
                    late_naks.extend(nak.then_some(*by));
                    latest = latest.max(*by);
                }
                Some(_) => {
                    untold.push(one.at);
                    unasked.extend(place(one.roce.psn).filter(|_| nak));
                }
                None => {}
            }
        }
        let longest = own.left.iter().map(|one| one.roce.size).max().unwrap_or(shortest);
        let spread: Dur =
            ports.iter().filter_map(|port| port.approach.as_ref()).map(Approach::spread).sum();
        let way = |size: u16| {
            let takes = speed.serialise(Bytes(PREAMBLE + u64::from(size)));
            let way = ports.map(|port| takes + port.way(size)).into_iter().sum::<Dur>();
            way + between.delay
        };
        let (ways, back) = (way(longest) + way(shortest), way(shortest));
        let slot = speed.slot(Bytes(longest.into()));
        let off = trial.observation.bound() * 4 + spread * 2 + other.busy;
        let extra = slot * u64::from(asks.resend_extra.unwrap_or(0));
        let nak = answers.nak_latency + asks.resend_latency;
        let asked = Within::between(ways, ways + off + slot + extra) + nak;
        let held = answers.ack_held.map_or(Dur::ZERO, Within::most);
        let told = way(longest) + back + answers.ack_latency.most().max(answers.nak_latency.most());
        let mending = Mending {
            asked: own.apart.range(asked),
            timer: timeout(asks).map(|timer| own.apart.range(timer)),
            told: own.apart.most(told + held + asks.resend_latency.most() + off + latest),
            busy: own.apart.most(slot + extra + off),
            slot,
        };
        let least = mending.timer.map(|timer| timer.least().saturating_sub(mending.told));
        let holes = losses::holes(&packets, least.unwrap_or(trial.script.length));
        let shown = holes.values().filter_map(|hole| hole.shown).max().unwrap_or_default();
        if mending
            .timer
            .is_some_and(|timer| timer.least() <= shown + mending.asked.most() + mending.told)
        {
            return Err(
                none(&format!("the timer of {flow} may run out before a NAK is back")).into()
            );
        }
        let retries = u32::from(asks.retries);
        let late = (late, late_naks);
        Ok(Lossy { holes, mending, unasked, slots, untold, late, latest, retries })
    }

    /// What the packets from `from` until before `until` take at the most, and how many were missed of them; `None`: one is never mended.
    fn takes(&self, [from, until]: [u64; 2]) -> Option<(Dur, usize)> {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(self.slots.len());
        let slots = self.slots.get(place(from)..place(until)).unwrap_or_default();
        let mut all: Dur = slots.iter().copied().sum();
        let mut count = 0;
        for (place, hole) in &self.holes {
            let gives_up = hole.losses > self.retries;
            let asked = !self.unasked.contains(place);
            let costs = self.mending.costs(hole, asked).filter(|_| !gives_up)?;
            if (from..until).contains(place) {
                all += costs;
                count += 1;
            }
        }
        Some((all, count))
    }

    /// For how long what is missing from this packet on may have been so when the trial ended.
    fn open(&self, from: u64) -> Dur {
        let missing = self.holes.range(from..);
        let costs = missing
            .filter_map(|(place, hole)| self.mending.costs(hole, !self.unasked.contains(place)));
        costs.max().unwrap_or_default().max(self.mending.asked.most())
    }

    /// For how long timers may have run out, and what came of it, where what acknowledges was lost.
    fn unsaid(&self, carried: &Carried<'_>) -> Dur {
        let Some(timer) = self.mending.timer else { return Dur::ZERO };
        let steps = carried.progress.steps.windows(2).filter(|two| {
            let gap = two[1].at - two[0].at;
            let lost = self
                .untold
                .iter()
                .any(|at| two[0].at <= *at + self.mending.told && *at < two[1].at);
            lost && gap + self.mending.told >= timer.least()
        });
        steps.map(|two| two[1].at - two[0].at).sum()
    }
}

/// The chance by which the rig loses a flow's packets of data.
fn chance(inject: &[Injection<u16>], connection: u16) -> Option<Ppm> {
    let mut all = 0_u32;
    for one in inject.iter().filter(|one| (one.on, one.frames) == (connection, Target::Data)) {
        match (one.which, one.tamper) {
            (Which::Drawn(Ppm(chance)), Injected::Drop | Injected::BadIcrc)
                if one.iteration.is_none() =>
            {
                all = all.checked_add(chance)?;
            }
            _ => return None,
        }
    }
    (all > 0).then_some(Ppm(all))
}

/// What is predicted of a goodput from `from` on.
pub(super) fn of(
    done: &JudgeContext<'_>,
    trial: &Trial,
    flow: &str,
    (carried, from): (&Carried<'_>, Time),
) -> Result<Prediction, Unread> {
    let none = || trial.doubt(&format!("of {flow} too little got through to tell a rate"));
    let lossy = Lossy::of(done, trial, flow)?;
    let longest = Longest::of(done, trial, flow).ok_or_else(none)?;
    let (bytes, packets) = carried.through(from).ok_or_else(none)?;
    let (takes, holes) = lossy.takes(packets).ok_or_else(|| {
        let why =
            format!("{flow} lost again what nobody asks for once more, and its NIC has no timer, or no more tries");
        Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }
    })?;
    let sender = Passage::of(done, trial, carried.spec.nic);
    let uneven = longest.uneven;
    // What is missing at the end may be about to be mended.
    let ends = if carried.finished() < carried.messages() || carried.spec.count.is_none() {
        lossy.open(packets[1])
    } else {
        Dur::ZERO
    };
    let (late, late_naks) = &lossy.late;
    let again = lossy.mending.late(*late, late_naks);
    let most =
        sender.apart.most(takes + again) + uneven + lossy.unsaid(carried) + ends + lossy.latest;
    let rate = |bytes: u64, took: Dur| {
        let bits = u128::from(bytes) * 8 * 1_000_000_000_000;
        u64::try_from(bits / u128::from(took.0.max(1))).unwrap_or(u64::MAX)
    };
    let port = &trial.observation.ports[usize::from(carried.spec.nic)];
    let span = Span {
        lo: rate(bytes, most),
        hi: sender.apart.part(port.speed.bps()).saturating_add(port.speed.bps()),
    };
    let Some((.., between)) = &trial.script.between else { return Err(none().into()) };
    let (index, spec) = trial.flow(flow)?;
    let chance = chance(&between.inject, trial.script.connection(index));
    let mean = chance.and_then(|chance| Some((chance, lossy.mending.expected(chance)?)));
    let mean = mean.map(|(chance, each)| {
        let payload = u64::from(spec.message).div_ceil(carried.packets.max(1));
        format!("; a chance of {chance} leaves {} on average", Unit::Bps.show(rate(payload, each)))
    });
    Ok(Prediction {
        unit: Unit::Bps,
        span,
        formula: FORMULA,
        text: format!(
            "{} at the least: what {} of {bytes} B{}",
            Unit::Bps.show(span.lo),
            match (holes, *late) {
                (1, 0) => "1 hole leaves".to_owned(),
                (_, 0) => format!("{holes} holes leave"),
                _ => format!("{holes} holes and {late} late packets leave"),
            },
            mean.unwrap_or_default()
        ),
        source: SOURCE,
    })
}
