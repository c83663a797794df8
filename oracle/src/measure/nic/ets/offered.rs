//! What the flows of a NIC had to send between two instants, and what of it left.

use super::super::super::judge_context::JudgeContext;
use super::super::limited::Limited;
use super::super::{Passage, beside_payload};
use crate::judge::answers::NOT_MEASURED;
use crate::spec::nic::ets::{Class, in_turns, limited};
use crate::spec::pause::pause_time;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Dir, Span, What};
use rig_lab::{Ets, Selection};
use rig_testcases::{Action, FlowSpec, RoceKind, Script, Verb, Window};
use rig_units::{Bytes, Dur, L1_OVERHEAD, PortSpeed, Time};

/// Bytes that the class of least bandwidth may send in its turn, if a frame is no longer: see the table of what is not stated of devices in
/// `docs/oracle.md`.
const TURN: f64 = 1_536.0;

/// The classes of a port as they are declared.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    /// The class of each priority.
    pub(super) priorities: Vec<u8>,
    /// The bandwidth of each class, in hundredths; `None` of a strict one.
    pub(super) percents: Vec<Option<f64>>,
    /// The limit of each class, in bits a second.
    pub(super) limits: Vec<Option<u64>>,
    /// By how many hundredths a bandwidth may be off.
    pub(super) precision: f64,
}

impl Table {
    /// As declared; `None` where nothing is.
    pub(super) fn of(ets: &Ets) -> Option<Table> {
        let (classes, priorities) = ets.classes.as_ref().zip(ets.priorities.clone())?;
        let percent = |class: &Selection| match class {
            Selection::Strict => None,
            Selection::Percent(percent) => Some(f64::from(*percent)),
        };
        let limit = |class: u8| Some(ets.limits.as_ref()?.get(&class)?.bps);
        Some(Table {
            priorities,
            percents: classes.iter().map(percent).collect(),
            limits: (0..).take(classes.len()).map(limit).collect(),
            precision: ets.precision.map_or(0.0, |off| f64::from(off.0) / 10_000.0),
        })
    }

    /// The class that a priority is in.
    pub(super) fn class_of(&self, priority: u8) -> usize {
        self.priorities.get(usize::from(priority)).copied().map_or(0, usize::from)
    }

    /// How a class is selected, in words.
    pub(super) fn words(&self, class: usize) -> String {
        let share = match self.percents.get(class).copied().flatten() {
            Some(percent) => format!("with {percent} %"),
            None => "strict".to_owned(),
        };
        match self.limits.get(class).copied().flatten() {
            Some(limit) => format!("{share} and no more than {}", rig_units::L2Rate { bps: limit }),
            None => share,
        }
    }
}

/// By what a port is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// By classes, as ETS is declared.
    Class,
    /// By queue pairs, which take turns frame by frame where no classes are declared: each flow is a class of its own.
    Flow,
}

/// A flow that had something to send all the time.
#[derive(Debug, Clone)]
pub(super) struct Of {
    pub(super) name: String,
    /// Its priority; its place where flows share the port.
    pub(super) priority: u8,
    /// Whether the case asks for its class.
    pub(super) is_named: bool,
    /// What it had to send, in bits a second of frames.
    pub(super) offers: Span,
    /// Frames that left, and their bytes.
    pub(super) frames: u64,
    pub(super) bytes: u64,
    /// Bytes of its largest.
    pub(super) longest: u64,
    /// The first and the last of them.
    pub(super) records: Vec<usize>,
}

/// What a NIC had to send between two instants, and what of it left.
#[derive(Debug, Clone)]
pub(super) struct Offered {
    pub(super) table: Table,
    pub(super) flows: Vec<Of>,
    /// Packets of all of them.
    pub(super) frames: usize,
    /// What the port left to them, in bits a second on the wire.
    pub(super) port: Span,
    pub(super) speed: PortSpeed,
    /// From the first instant to the last.
    pub(super) lasts: Dur,
    /// How far off that may be.
    pub(super) blur: Dur,
    /// What of the speed of the port its clock leaves open.
    pub(super) clock: u64,
}

impl Offered {
    /// What was offered in `window`.
    ///
    /// # Errors
    /// Why it cannot be told: something held a flow, or began or ended in between.
    pub(super) fn of(
        done: &JudgeContext<'_>,
        trial: &Trial,
        window: &Window,
        by: By,
    ) -> Result<Offered, Doubt> {
        let first = window.flows.first().map_or("", String::as_str);
        let port = trial.flow(first)?.1.nic;
        let seen = Passage::of(done, trial, port);
        for other in &window.flows {
            if trial.flow(other)?.1.nic != port {
                let why = format!("{other} leaves by another port than {first}");
                return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) });
            }
        }
        let not_measured = |why: String| Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) };
        let classes = Table::of(&seen.nic.ets);
        if by == By::Flow && classes.is_some() {
            let why = "share its port by classes, and how flows of one class do is left open";
            return Err(not_measured(format!("queue pairs of `{}` {why}", seen.part)));
        }
        let (from, until) = (Time::ZERO + window.from, Time::ZERO + window.until);
        if until > seen.until {
            return Err(not_measured(
                "what leaves at the end does not reach the rig in the trial".to_owned(),
            ));
        }
        let speed = trial.observation.ports[usize::from(port)].speed;
        let lasts = until - from;
        let blur = seen.bound * 2;
        if blur * 10 > lasts {
            return Err(not_measured(format!("of {lasts} stamps leave {blur} open")));
        }
        let mut flows = Vec::new();
        for (index, spec) in (0_u16..).zip(&trial.script.flows).filter(|(_, spec)| spec.nic == port)
        {
            if spec.verb == Verb::Read {
                continue;
            }
            if !sends(&trial.script, (index, spec), (from, until)).map_err(not_measured)? {
                if window.flows.contains(&spec.name) {
                    return Err(not_measured(format!("{} has nothing to send", spec.name)));
                }
                continue;
            }
            let connection = trial.script.connection(index);
            let of_data = |kind: RoceKind| matches!(kind, RoceKind::Data { response: false, .. });
            let own: Vec<_> = seen
                .left
                .iter()
                .filter(|one| one.roce.connection == connection && of_data(one.roce.kind))
                .filter(|one| one.at >= from && one.at < until)
                .collect();
            let sizes = own.iter().map(|one| u64::from(one.roce.size));
            flows.push(Of {
                name: spec.name.clone(),
                priority: spec.class,
                is_named: window.flows.contains(&spec.name),
                offers: Span::exactly(speed.bps()),
                frames: u64::try_from(own.len()).unwrap_or(u64::MAX),
                bytes: sizes.clone().sum(),
                longest: sizes
                    .max()
                    .unwrap_or_else(|| u64::from(spec.mtu) + beside_payload(spec).0),
                records: own.first().into_iter().chain(own.last()).map(|one| one.record).collect(),
            });
        }
        held(trial, &seen, (port, speed), (from, until), &flows)?;
        let table = match by {
            By::Class => classes.ok_or_else(|| {
                not_measured(format!("`{}.ets.classes` is not declared", seen.part))
            })?,
            By::Flow => of_flows(&mut flows),
        };
        let carried: u64 = flows.iter().map(|of| of.bytes + of.frames * L1_OVERHEAD.0).sum();
        let whole = seen.left.iter().filter(|one| one.at >= from && one.at < until);
        let whole: u64 = whole.map(|one| u64::from(one.roce.size) + L1_OVERHEAD.0).sum();
        let frames = flows.iter().map(|of| of.frames).sum::<u64>();
        let mut offered = Offered {
            table,
            flows,
            frames: usize::try_from(frames).unwrap_or(usize::MAX),
            port: Span::exactly(speed.bps()),
            speed,
            lasts,
            blur,
            clock: seen.apart.part(speed.bps()),
        };
        // What goes ahead of data, and what belongs to nobody here.
        let others = offered.rate(whole - carried, 0);
        let clock = offered.clock;
        offered.port = Span {
            lo: speed.bps().saturating_sub(others.hi + clock),
            hi: (speed.bps() + clock).saturating_sub(others.lo),
        };
        offered.limited(done, trial, (from, until), speed)?;
        Ok(offered)
    }

    /// What limiters leave flows that were told to slow down.
    fn limited(
        &mut self,
        done: &JudgeContext<'_>,
        trial: &Trial,
        within: (Time, Time),
        speed: PortSpeed,
    ) -> Result<(), Doubt> {
        let round = in_turns(&classes(self, &self.table), TURN);
        let wait = speed.serialise(Bytes(bytes(round)));
        for of in &mut self.flows {
            let limited = Limited::of(done, trial, &of.name)?;
            let has = limited.has_to_send(within, wait);
            of.offers = has.ok_or_else(|| {
                trial.doubt(&format!("what its CNPs leave {} to send is not known", of.name))
            })?;
        }
        Ok(())
    }

    /// So many bytes, one frame of `longest` more or less, as bits a second.
    pub(super) fn rate(&self, bytes: u64, longest: u64) -> Span {
        let of = |bytes: u64, lasts: Dur| {
            let bits = u128::from(bytes) * 8 * 1_000_000_000_000;
            u64::try_from(bits / u128::from(lasts.0.max(1))).unwrap_or(u64::MAX)
        };
        Span {
            lo: of(bytes.saturating_sub(longest), self.lasts + self.blur),
            hi: of(bytes + longest, self.lasts.saturating_sub(self.blur)),
        }
    }

    /// What the flows sent that `table` has in `class`, in bits a second of frames.
    pub(super) fn carried(&self, table: &Table, class: usize) -> Span {
        let own = || self.flows.iter().filter(|of| table.class_of(of.priority) == class);
        let longest = own().filter(|of| of.frames > 0).map(|of| of.longest).max();
        self.rate(own().map(|of| of.bytes).sum(), longest.unwrap_or(0))
    }

    /// How far off a class may be by a round of all, and by the clock, in bits a second.
    pub(super) fn round(&self, classes: &[Class]) -> u64 {
        self.rate(bytes(in_turns(classes, TURN)), 0).hi.saturating_add(self.clock)
    }
}

/// A class for each flow, of which each sends a frame in its turn.
fn of_flows(flows: &mut [Of]) -> Table {
    let frame = |of: &Of| match of.frames {
        0 => real(of.longest),
        some => real(of.bytes) / real(some),
    };
    let all: f64 = flows.iter().map(frame).sum();
    let percents = flows.iter().map(|of| Some(frame(of) * 100.0 / all)).collect();
    for (place, of) in (0..=u8::MAX).zip(flows.iter_mut()) {
        of.priority = place;
    }
    let priorities = (0..=u8::MAX).take(flows.len()).collect();
    Table { priorities, percents, limits: vec![None; flows.len()], precision: 0.0 }
}

/// The classes of `table` with what the flows had to send.
pub(super) fn classes(offered: &Offered, table: &Table) -> Vec<Class> {
    let of = |class: usize| {
        let own = || offered.flows.iter().filter(|of| table.class_of(of.priority) == class);
        let (frames, sent) = own().fold((0, 0), |(n, b), of| (n + of.frames, b + of.bytes));
        let usual = own().map(|of| of.longest).max().unwrap_or(1_000);
        let sum = |end: fn(&Of) -> u64| own().map(end).fold(0, u64::saturating_add);
        Class {
            percent: table.percents.get(class).copied().flatten(),
            limit: table.limits.get(class).copied().flatten().map(Span::exactly),
            offers: Span { lo: sum(|of| of.offers.lo), hi: sum(|of| of.offers.hi) },
            frame: if frames == 0 { real(usual) } else { real(sent) / real(frames) },
        }
    };
    let mut all: Vec<Class> = (0..table.percents.len()).map(of).collect();
    // A class that shares may wait for a round of all, a strict one for strict ones and for what is under way.
    let (round, longest) =
        (in_turns(&all, TURN), all.iter().map(|class| class.frame).fold(0.0, f64::max));
    let strict = all.iter().filter(|class| class.percent.is_none() && class.offers.hi > 0).count();
    for class in &mut all {
        let ahead = if class.percent.is_some() { 1.0 } else { 0.0 };
        let waits = ahead * round + (0..=strict).map(|_| longest).sum::<f64>();
        let waits = offered.speed.serialise(Bytes(bytes(waits)));
        class.limit = class.limit.map(|limit| limited(limit.hi, class.frame, real(waits.0)));
    }
    all
}

/// Whether a flow has something to send from one instant to another.
///
/// # Errors
/// It has for a part of that.
pub(super) fn sends(
    script: &Script,
    (index, spec): (u16, &FlowSpec),
    (from, until): (Time, Time),
) -> Result<bool, String> {
    let at = |action: &Action| {
        let steps = script.steps.iter().filter(move |step| step.action == *action);
        steps.map(|step| Time::ZERO + step.at).collect::<Vec<_>>()
    };
    let (starts, stops) = (at(&Action::StartFlow(index)), at(&Action::StopFlow(index)));
    let Some(begin) = starts.iter().copied().filter(|at| *at < until).max() else {
        return Ok(false);
    };
    let end = stops.into_iter().filter(|at| *at >= begin).min().unwrap_or(Time::MAX);
    if end <= from {
        return Ok(false);
    }
    if begin <= from && until <= end && spec.count.is_none() {
        return Ok(true);
    }
    Err(format!("{} does not have something to send all the time", spec.name))
}

/// Whether nothing but the port, its classes and limiters held the flows.
fn held(
    trial: &Trial,
    seen: &Passage<'_>,
    (port, speed): (u16, PortSpeed),
    (from, until): (Time, Time),
    flows: &[Of],
) -> Result<(), Doubt> {
    for one in &trial.observation.records {
        let What::Pfc { enable, quanta } = one.what else { continue };
        let holds = |of: &&Of| {
            let lasts = pause_time(quanta[usize::from(of.priority & 7)], speed);
            let over = one.at + seen.apart.most(lasts) + seen.nic.pfc.response.most();
            enable >> of.priority & 1 == 1 && seen.nic.pfc.obeys(of.priority) && over > from
        };
        if (one.port, one.dir) == (port, Dir::Tx)
            && one.at < until
            && let Some(of) = flows.iter().find(holds)
        {
            return Err(trial.doubt(&format!("PFC held {}", of.name)));
        }
    }
    let back =
        |kind: RoceKind| matches!(kind, RoceKind::Nak | RoceKind::Denied | RoceKind::NotReady(_));
    let told = seen.reached.iter().find(|one| back(one.kind) && one.at < until);
    if let Some((_, spec)) = told.and_then(|one| trial.script.flow_of(one.connection)) {
        return Err(trial.doubt(&format!("{} was told to go back", spec.name)));
    }
    let answers = |kind: RoceKind| matches!(kind, RoceKind::Data { response: true, .. });
    if seen.left.iter().any(|one| answers(one.roce.kind) && one.at >= from && one.at < until) {
        return Err(trial.doubt("it answers READs, in a class that the case does not say"));
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "bytes of one trial are far below 2^53")]
fn real(value: u64) -> f64 {
    value as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some frames")]
fn bytes(value: f64) -> u64 {
    value.max(0.0).ceil() as u64
}
