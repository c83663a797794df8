//! The notification point: which marks are answered, how soon, how often and in what form.

mod alike;
mod form;
mod mark_stamps;

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, looked};
use super::super::measurement::told;
use super::super::measurement::{Known, Red, Tells, by_source};
use super::{BEHIND, OF_MARKS, Passage, spoilt};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::nic::np::{Checked, Cnp, Fault, Latency, Sight, check};
use crate::spec::nic::np::{Mark, SOURCE, answered};
use crate::spec::nic::rc::{Data, Packet, Says, replies};
use crate::trials::trial::Trial;
use crate::verdict::{Curve, CurvePoint, Doubt};
use alike::alike;
use core::cell::Cell;
use form::format;
use rig_capture::analyse::nic::Reached;
use rig_capture::{Span, Unit};
use rig_frames::psn::Psn;
use rig_lab::{IpVersion, Np, Part};
use rig_testcases::RoceKind;
use rig_testcases::vocabulary::Entry;
use rig_units::{Dur, Time, Within};
use std::collections::BTreeMap;

/// `cnp.answers`.
pub(in super::super) static ANSWERS: Known = Known {
    entry: Entry {
        name: "cnp.answers",
        parts: Some(&[Part::Np]),
        about: "each mark is answered with one CNP, or not, as interval and scope have it",
        source: "DCQCN 3.1; IBTA volume 1 A17",
        over_ipv6: true,
        ..OF_MARKS
    },
    tells: Tells::Each("mark"),
    red: Red::Mutated("packet-numbers-that-wrap", "deviation=cnp_wrong_qp"),
    expected: |_, context, _| {
        let np = &context.nics().nic.np;
        if !np.enable {
            return by_source("no CNP: the notification point is off", SOURCE);
        }
        if np.interval == Dur::ZERO {
            return by_source("a CNP for each mark", SOURCE);
        }
        let text = format!(
            "a CNP for each mark that has none answered within {} before it, per {}",
            np.interval,
            np.scope.words()
        );
        told(text, "marks every g: CNPs every ceil(I / g) g", SOURCE)
    },
    judge: |measure, done, judged| answers(done, measure.named("port"), judged),
    stamps: Some(mark_stamps::of_answers),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// `cnp.latency`.
pub(in super::super) static LATENCY: Known = Known {
    entry: Entry {
        name: "cnp.latency",
        parts: Some(&[Part::Np]),
        about: "from the last bit of a marked frame to the first bit of its CNP",
        source: "the declared latency",
        over_ipv6: true,
        ..OF_MARKS
    },
    tells: Tells::Width("the timestamps of both frames, and which mark a CNP answers"),
    red: Red::Mutated("mark-to-cnp", "nic.np.latency=x1.1"),
    expected: |_, context, _| {
        let latency = context.nics().nic.np.latency;
        by_source(format!("{latency}, and behind what the port is sending"), "the declared latency")
    },
    judge: |measure, done, judged| latency(done, measure.named("port"), judged),
    stamps: Some(mark_stamps::of_latency),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// `cnp.interval`.
pub(in super::super) static INTERVAL: Known = Known {
    entry: Entry {
        name: "cnp.interval",
        parts: Some(&[Part::Np]),
        about: "the least time between two marks of one scope that are answered",
        source: "DCQCN 3.1; IBTA volume 1 A17",
        ..OF_MARKS
    },
    tells: Tells::Width("the distance of marks: an interval shows rounded up to it"),
    red: Red::Mutated("hidden-minimum-interval", "deviation=cnp_hidden_interval"),
    expected: |_, context, _| {
        let interval = context.nics().nic.np.interval;
        told(format!("{interval}, rounded up to the distance of marks"), "ceil(I / g) g", SOURCE)
    },
    judge: |measure, done, judged| interval(done, measure.named("port"), judged),
    stamps: Some(mark_stamps::of_interval),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// `cnp.format`.
pub(in super::super) static FORMAT: Known = Known {
    entry: Entry {
        name: "cnp.format",
        parts: Some(&[Part::Np]),
        about: "every CNP is well formed: opcode, BECN, reserved bytes, DSCP, ECN field",
        source: "IBTA volume 1 A17",
        tagged: true,
        over_ipv6: true,
        ..OF_MARKS
    },
    tells: Tells::Each("CNP"),
    red: Red::Mutated("form-of-a-cnp", "deviation=cnp_reserved_set"),
    expected: |_, context, _| {
        let np = &context.nics().nic.np;
        by_source(
            format!("well formed, with DSCP {} and {}", np.dscp, np.ecn.words()),
            "RoCEv2, IBTA volume 1 A17.9.3; the declared DSCP and ECN field",
        )
    },
    judge: |measure, done, judged| format(done, measure.named("port"), judged),
    crosses: |_, _| BEHIND,
    knows_class_limits: true,
    ..Known::USUAL
};

/// What reached a NIC as a mark.
struct Came {
    /// Its record.
    record: usize,
    /// When its last bit arrived, on the wire.
    at: Time,
    /// What it went over.
    over: IpVersion,
    /// What the rule takes it for.
    mark: Mark,
}

/// The marks that reached a NIC and the CNPs that left it, each with its record.
struct Traffic {
    marks: Vec<Came>,
    cnps: Vec<(usize, Cnp)>,
    sight: Sight,
}

impl Traffic {
    fn of(seen: &Passage<'_>) -> Traffic {
        let earns = |kind: RoceKind| match kind {
            RoceKind::Data { .. } => true,
            RoceKind::Ack => seen.nic.np.ack_earns,
            RoceKind::Nak
            | RoceKind::Denied
            | RoceKind::NotReady(_)
            | RoceKind::Cnp { .. }
            | RoceKind::ReadRequest => false,
        };
        let marks = seen.counted().filter(|(reached, _)| reached.ce && earns(reached.kind));
        let marks = marks.map(|(reached, passes)| {
            let Reached { record, at, over, connection: qp, .. } = *reached;
            Came { record, at, over, mark: Mark { at: passes, qp, from: from(reached) } }
        });
        let mut marks: Vec<Came> = marks.chain(of_naks(seen)).collect();
        marks.sort_by_key(|came| came.mark.at);
        let left = seen.left.iter().zip(&seen.behind);
        let cnps = left.filter(|(left, _)| matches!(left.roce.kind, RoceKind::Cnp { .. }));
        let cnps = cnps.map(|(left, &behind)| {
            (left.record, Cnp { at: left.at, qp: left.roce.connection, behind })
        });
        let sight =
            Sight { bound: seen.bound, busy: seen.busy, until: seen.until, apart: seen.apart };
        Traffic { marks, cnps: cnps.collect(), sight }
    }

    fn check(&self, seen: &Passage<'_>) -> Checked {
        let marks = self.rule();
        let cnps: Vec<Cnp> = self.cnps.iter().map(|(_, cnp)| *cnp).collect();
        check(&seen.nic.np, &marks, &cnps, &self.sight)
    }

    /// What the rule takes the marks for.
    fn rule(&self) -> Vec<Mark> {
        self.marks.iter().map(|came| came.mark).collect()
    }

    /// How long the receive pipeline holds a mark.
    fn held(&self, mark: usize) -> Dur {
        let Came { at, mark, .. } = self.marks[mark];
        mark.at - at
    }

    /// The records that show a fault, and what it is.
    fn told(&self, fault: Fault) -> (Vec<usize>, String) {
        let mark = |index: usize| self.marks[index].record;
        let cnp = |index: usize| self.cnps[index].0;
        match fault {
            Fault::Missing { mark: one } => {
                let over = match self.marks[one].over {
                    IpVersion::V4 => "",
                    IpVersion::V6 => " over IPv6",
                };
                (vec![mark(one)], format!("a mark{over} without a CNP"))
            }
            Fault::TooSoon { before, mark: one, cnp: of } => {
                let apart = self.marks[one].mark.at.since(self.marks[before].mark.at);
                let apart = Unit::Ps.show(apart.unwrap_or_default().0);
                let records = vec![mark(before), mark(one), cnp(of)];
                (records, format!("a CNP for a mark {apart} after one that was answered"))
            }
            Fault::Unasked { cnp: one } => {
                (vec![cnp(one)], "a CNP that answers no mark".to_owned())
            }
            Fault::WrongQp { mark: one, cnp: of } => {
                (vec![mark(one), cnp(of)], "a CNP that names another queue pair".to_owned())
            }
            Fault::Late { mark: one, cnp: of } => {
                (vec![mark(one), cnp(of)], "a CNP that comes too late".to_owned())
            }
            Fault::Early { mark: one, cnp: of } => {
                (vec![mark(one), cnp(of)], "a CNP that comes too early".to_owned())
            }
        }
    }
}

/// Stands for the address that a frame came from: one of IPv4 is another than one of IPv6.
fn from(one: &Reached) -> u16 {
    let version = match one.over {
        IpVersion::V4 => 0,
        IpVersion::V6 => 1,
    };
    version << 8 | u16::from(one.address)
}

/// The packets that show a hole, where each NAK counts as a mark.
fn of_naks(seen: &Passage<'_>) -> Vec<Came> {
    let mut connections: BTreeMap<u16, Vec<(&Reached, Time)>> = BTreeMap::new();
    for (one, passes) in seen.counted().filter(|_| seen.nic.np.nak_earns) {
        connections.entry(one.connection).or_default().push((one, passes));
    }
    let mut marks = Vec::new();
    for (connection, all) in connections {
        let from = all.first().map_or(0, |(one, _)| from(one));
        let packets = all.iter().filter_map(|&(one, at)| match one.kind {
            RoceKind::Data { last, response: false, .. } => {
                Some((one, Packet { at, psn: Psn::new(one.psn), last }))
            }
            _ => None,
        });
        let (reached, packets): (Vec<&Reached>, Vec<Packet>) = packets.unzip();
        let Some(first) = packets.first().map(|packet| packet.psn) else { continue };
        for reply in replies(&seen.nic.rc, Data::Requests, first, &packets) {
            if reply.says == Says::Nak {
                let Reached { record, at, over, .. } = *reached[reply.packet];
                let mark = Mark { at: packets[reply.packet].at, qp: connection, from };
                marks.push(Came { record, at, over, mark });
            }
        }
    }
    marks
}

/// The records of the CNPs that a NIC sent for a connection, and how many marks of it may have earned one.
pub(super) fn earned(seen: &Passage<'_>, connection: u16) -> (Vec<usize>, usize) {
    let traffic = Traffic::of(seen);
    let own = traffic.cnps.iter().filter(|(_, cnp)| cnp.qp == connection);
    let marks = traffic.marks.iter().filter(|came| came.mark.qp == connection);
    (own.map(|(record, _)| *record).collect(), marks.count())
}

/// How many CNPs there were by the time of each, beside how many were due.
fn counted(traffic: &Traffic, np: &Np, x: String) -> Option<Curve> {
    let marks = traffic.rule();
    let due = answered(np, &marks);
    let count = |count: usize| Span::exactly(u64::try_from(count).unwrap_or(u64::MAX));
    let points = traffic.cnps.iter().enumerate().map(|(index, (_, cnp))| CurvePoint {
        x: cnp.at.0,
        measured: count(index + 1),
        predicted: count(due.iter().filter(|answer| answer.ready.from <= cnp.at).count()),
    });
    let points: Vec<CurvePoint> = points.take(POINTS).collect();
    (points.len() > 1).then_some(Curve {
        measure: "cnp.answers",
        x,
        x_unit: Unit::Ps,
        unit: Unit::Frames,
        points,
        fitted: Vec::new(),
    })
}

/// More points than these say no more.
const POINTS: usize = 400;

/// Judges which marks are answered.
fn answers(done: &JudgeContext<'_>, port: &str, judged: &mut Judged) {
    for (index, point) in done.points.iter().enumerate() {
        let Some(trial) = done.valid(index).next() else { continue };
        let Ok(number) = trial.port(port) else { continue };
        let seen = Passage::of(done, &trial, number);
        let x = format!("{} time at {port}", done.place(point)).trim().to_owned();
        if let Some(curve) = counted(&Traffic::of(&seen), &seen.nic.np, x) {
            judged.curve(curve);
        }
    }
    done.each("cnp.answers", port, judged, |trial| {
        let seen = Passage::of(done, trial, trial.port(port)?);
        if let Some(spoilt) = spoilt::cnps(&seen) {
            return spoilt.read(trial);
        }
        let traffic = Traffic::of(&seen);
        let marks = traffic.rule();
        let wanted = answered(&seen.nic.np, &marks).len();
        let faults = traffic.check(&seen).faults;
        let first = faults.first().map(|fault| traffic.told(*fault));
        let more = match faults.len() {
            0 | 1 => String::new(),
            some => format!(", and {} more faults", some - 1),
        };
        let got =
            first.as_ref().map(|(_, what)| format!("{} CNPs; {what}{more}", traffic.cnps.len()));
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(0),
            formula: "a mark is answered if none of its scope was within the interval before it",
            text: format!("{wanted} of {} marks answered, each with one CNP", marks.len()),
            source: SOURCE,
        };
        let records = first.map(|(records, _)| records).unwrap_or_default();
        let span = Span::exactly(u64::try_from(faults.len()).unwrap_or(u64::MAX));
        // What is not marked might have been answered, too. What came too late for an answer within the trial shows nothing.
        let latest = seen.nic.np.latency.most() + seen.busy;
        let in_time = seen.passes.iter().filter(|passes| **passes + latest <= seen.until);
        let looked = looked(in_time.count(), "frames that reached the NIC in time for an answer");
        Ok(TrialReading { span, want, got, records, looked })
    });
}

/// Judges how long it takes from a mark to its CNP.
fn latency(done: &JudgeContext<'_>, port: &str, judged: &mut Judged) {
    let told = Cell::new(None);
    done.each("cnp.latency", port, judged, |trial| {
        let seen = Passage::of(done, trial, trial.port(port)?);
        spoilt::none_of_cnps(trial, &seen)?;
        let traffic = Traffic::of(&seen);
        let checked = traffic.check(&seen);
        if checked.latencies.is_empty() {
            return Err(unanswered(trial).into());
        }
        let declared = seen.nic.np.latency;
        // One CNP that nobody can mistake for another's shows a device that is off by more than the port explains.
        let (blur, busy) = (traffic.sight.bound * 4, seen.busy);
        let alone = checked.latencies.iter().all(|one| Dur(one.span.hi - one.span.lo) <= blur);
        let busy_for = |one: &Latency| busy.max(traffic.cnps[one.cnp].1.behind);
        let shortest = checked.latencies.iter().map(busy_for).min().unwrap_or(busy);
        told.set(alone.then(|| (format!("{}.np.latency", seen.part), declared, shortest + blur)));
        // From the wire on: what the pipeline takes is predicted, not taken off.
        let of = |one: &Latency| {
            let [first, last] = one.marks.map(|mark| traffic.held(mark).0);
            let (least, most) = (first.min(last), first.max(last));
            let measured = Span { lo: one.span.lo + least, hi: one.span.hi + most };
            let predicted = Span {
                lo: declared.least().0 + least,
                hi: (declared.most() + busy_for(one)).0 + most,
            };
            (measured, predicted)
        };
        let all: Vec<(Span, Span)> = checked.latencies.iter().map(of).collect();
        let hull = |a: Span, b: Span| Span { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi) };
        let whole = all.iter().copied().reduce(|a, b| (hull(a.0, b.0), hull(a.1, b.1)));
        // One that departs from what is predicted of it says more than all of them together.
        let off = all.iter().position(|(measured, predicted)| !measured.meets(*predicted));
        let (span, predicted) =
            off.map(|at| all[at]).or(whole).unwrap_or((Span::exactly(0), Span::exactly(0)));
        let holds = all.iter().any(|(_, predicted)| predicted.lo > declared.least().0);
        let behind = if holds { ", behind what the receive pipeline takes" } else { "" };
        let want = Prediction {
            unit: Unit::Ps,
            span: predicted,
            formula: "np.latency, and behind what the port is sending",
            text: format!(
                "a CNP {} after its mark{behind}, up to {} later where the port is busy",
                shown(declared),
                Unit::Ps.show(busy.0)
            ),
            source: "the declared latency",
        };
        let latest = checked.latencies.iter().max_by_key(|one| one.span.hi);
        let cited = off.map(|at| &checked.latencies[at]).or(latest);
        let records = cited.map(|one| traffic.cnps[one.cnp].0).into_iter().collect();
        let looked = looked(checked.latencies.len(), "CNPs");
        Ok(TrialReading { span, want, got: None, records, looked })
    });
    if let Some(told) = told.take() {
        judged.resolved("cnp.latency", &[told]);
    }
}

/// One value as a reading is shown, a range as it was declared.
fn shown(declared: Within) -> String {
    match declared.width() {
        Dur::ZERO => Unit::Ps.show(declared.least().0),
        _ => declared.to_string(),
    }
}

/// Judges the least time between two marks of one scope that are answered.
fn interval(done: &JudgeContext<'_>, port: &str, judged: &mut Judged) {
    let told = Cell::new(None);
    done.each("cnp.interval", port, judged, |trial| {
        let seen = Passage::of(done, trial, trial.port(port)?);
        spoilt::none_of_cnps(trial, &seen)?;
        let traffic = Traffic::of(&seen);
        let marks = traffic.rule();
        let np = &seen.nic.np;
        let (least, pairs) = least_apart(np, &marks);
        // By its own clock the interval may be shorter, or longer, and so another mark the first that is answered.
        let [shorter, longer] = [seen.apart.least(np.interval), seen.apart.most(np.interval)];
        let [shortest, longest] =
            [shorter, longer].map(|interval| least_apart(&Np { interval, ..*np }, &marks).0);
        // Where no two are to be answered there is no interval; whether that holds is `cnp.answers`' business.
        let (Some(least), Some(shortest), Some(longest)) = (least, shortest, longest) else {
            let why = format!("an interval takes two marks of one scope that are answered, and of {} there are none", marks.len());
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        };
        let Some(span) = traffic.check(&seen).interval else {
            return Err(unanswered(trial).into());
        };
        let blur = traffic.sight.bound * 2;
        told.set(Some(alike(&format!("{}.np.interval", seen.part), np, &marks, blur)));
        let want = Prediction {
            unit: Unit::Ps,
            span: Span { lo: shortest.saturating_sub(blur).0, hi: (longest + blur).0 },
            formula: "ceil(I / g) g for marks every g",
            text: format!(
                "answered marks {} apart: the interval of {} rounded up to the distance of marks",
                Unit::Ps.show(least.0),
                Unit::Ps.show(np.interval.0)
            ),
            source: SOURCE,
        };
        let looked = looked(pairs, "intervals");
        Ok(TrialReading { span, want, got: None, records: Vec::new(), looked })
    });
    if let Some(told) = told.take() {
        judged.alike(("cnp.interval", port), &told);
    }
}

/// The least time between two marks of one scope that are answered, and how many such pairs there are.
fn least_apart(np: &Np, marks: &[Mark]) -> (Option<Dur>, usize) {
    let mut last: BTreeMap<u16, Time> = BTreeMap::new();
    let (mut least, mut pairs) = (None, 0);
    for answer in answered(np, marks) {
        let mark = marks[answer.mark];
        let before = last.insert(mark.scoped(np.scope), mark.at);
        let apart = before.and_then(|before| mark.at.since(before));
        pairs += usize::from(apart.is_some());
        least = least.into_iter().chain(apart).min();
    }
    (least, pairs)
}

fn unanswered(trial: &Trial) -> Doubt {
    trial.doubt("no mark was answered")
}
