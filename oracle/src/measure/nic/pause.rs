//! What PFC does to what a NIC sends: how soon it stops, when it goes on, and by which frames it must not be held.

mod word_stamps;
mod words;

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, looked};
use super::super::measurement::{Known, Red, Tells, by_formula, by_source};
use super::{OF_FLOW, Passage};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::nic::pause::{ClassPause, Packet, Silence, Word, apart, pauses, silence, silent};
use crate::spec::nic::pause::{first_start, last_start};
use crate::spec::pause::pause_time;
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use core::cell::Cell;
use rig_capture::{Dir, PfcFault, Span, Unit, What};
use rig_lab::{NicPfc, Part};
use rig_testcases::vocabulary::{ByPfc, Entry};
use rig_testcases::{Action, Measure, RoceKind, Script};
use rig_units::{Apart, Bytes, Dur, PortSpeed, Quanta, Time, Within};
use std::collections::BTreeMap;
use words::{called, over};

const SOURCE: &str = "IEEE 802.1Q clause 36; IEEE 802.3 Annex 31B and 31B.3.7";
/// Size of a PFC frame.
const WORD: u16 = 64;

/// `nic.stops`.
pub(in super::super) static STOPS: Known = Known {
    entry: Entry {
        name: "nic.stops",
        parts: Some(&[Part::NicPfc]),
        pfc: ByPfc::Rests,
        about: "from an XOFF, sent by hand to a NIC that has always something to send, to the last packet of the flow that still starts",
        source: "IEEE 802.3 31B.3.7; the declared response",
        ..OF_FLOW
    },
    tells: Tells::Width("the timestamps of both frames; a packet of the flow"),
    red: Red::Mutated("response-to-an-xoff", "nic.pfc.response=x1.2"),
    expected: |_, context, _| {
        let response = context.nics().nic.pfc.response;
        by_source(
            format!(
                "the last packet starts within {response} of the XOFF, and less than a packet before that"
            ),
            "IEEE 802.3 31B.3.7; the declared response of the port",
        )
    },
    judge: |measure, done, judged| stops(done, measure.named("flow"), judged),
    stamps: Some(word_stamps::obeys),
    ..Known::USUAL
};

/// `nic.goes_on`.
pub(in super::super) static GOES_ON: Known = Known {
    entry: Entry {
        name: "nic.goes_on",
        parts: Some(&[Part::NicPfc]),
        pfc: ByPfc::Rests,
        about: "from an XOFF, sent by hand, to the first packet of the flow afterwards: when its quanta are over, those of a later XOFF are, or XON lets it go",
        source: "F1; IEEE 802.3 Annex 31B",
        ..OF_FLOW
    },
    tells: Tells::Width("the declared resumption, and the timestamps of both frames"),
    red: Red::Mutated("pause-by-its-quanta", "deviation=nic_quanta_of_speed"),
    expected: |_, _, _| {
        by_formula(
            "q x 512 bit times after the last word, or with an XON, and within the declared resumption of that",
            "F1",
        )
    },
    unpromised: Some(undeclared),
    judge: |measure, done, judged| goes_on(done, measure.named("flow"), judged),
    stamps: Some(word_stamps::obeys),
    ..Known::USUAL
};

/// Why nothing promises how soon a NIC goes on after an XON: no standard does.
fn undeclared(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    let flow = script.flows.iter().find(|spec| spec.name == measure.named("flow"))?;
    let nic = context.nics().behind(*script.dut_ports.get(usize::from(flow.nic))?)?;
    let xon = |action: &Action| matches!(action, Action::Pfc(word) if word.quanta == Quanta(0) && word.enable >> flow.class & 1 == 1);
    let lets_go = script.steps.iter().any(|step| xon(&step.action));
    (lets_go && nic.pfc.resumption.is_none() && nic.pfc.obeys(flow.class)).then(|| {
        format!(
            "`pfc.resumption` of its NIC is not declared: nothing says how soon an XON lets {} go",
            flow.name
        )
    })
}

/// `nic.sends_on`.
pub(in super::super) static SENDS_ON: Known = Known {
    entry: Entry {
        name: "nic.sends_on",
        parts: Some(&[Part::NicPfc]),
        pfc: ByPfc::Rests,
        about: "PFC frames that hold nothing of the flow (of another priority, of none, of no quanta, of a priority without PFC, to all stations) and through which it was silent all the same",
        source: "IEEE 802.1Q clause 36",
        ..OF_FLOW
    },
    tells: Tells::Each("PFC frame that asks the flow for nothing"),
    red: Red::Mutated("other-priority-sends-on", "deviation=nic_stops_all_priorities"),
    expected: |_, _, _| {
        by_source(
            "the flow sends while that lasts which each of these frames might be taken for",
            SOURCE,
        )
    },
    judge: |measure, done, judged| sends_on(done, measure.named("flow"), judged),
    stamps: Some(word_stamps::held),
    ..Known::USUAL
};

/// One flow of a NIC, and the PFC that reached it.
struct Told {
    /// The part by which it is configured.
    part: &'static str,
    pfc: NicPfc,
    class: u8,
    speed: PortSpeed,
    words: Vec<Word>,
    /// PFC frames that hold nothing, as no NIC is to take them in.
    deaf: Vec<Word>,
    /// Of either those that are odd by an address, by their records.
    odd: BTreeMap<usize, PfcFault>,
    packets: Vec<Packet>,
    /// How long something else may keep a packet from leaving.
    turn: Dur,
    /// How far off the time between two frames may be.
    blur: Dur,
    apart: Apart,
    /// When it sends no more by order, or nothing is seen any more.
    until: Time,
}

impl Told {
    fn of(done: &JudgeContext<'_>, trial: &Trial, flow: &str) -> Result<Told, Doubt> {
        let (index, spec) = trial.flow(flow)?;
        let seen = Passage::of(done, trial, spec.nic);
        let trace = &trial.observation.ports[usize::from(spec.nic)];
        let speed = trace.speed;
        let own = trial.script.connection(index);
        let slot = |size: u16| speed.slot(Bytes(size.into()));
        let mut packets = Vec::new();
        let mut others: BTreeMap<u16, Dur> = BTreeMap::new();
        for one in &seen.left {
            let slot = slot(one.roce.size);
            match one.roce.kind {
                RoceKind::Data { .. } if one.roce.connection == own => {
                    packets.push(Packet { record: one.record, at: one.at, slot });
                }
                _ => {
                    let longest = others.entry(one.roce.connection).or_default();
                    *longest = slot.max(*longest);
                }
            }
        }
        if packets.is_empty() {
            let why = format!("{flow} sent nothing");
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) });
        }
        let (mut words, mut deaf, mut odd) = (Vec::new(), Vec::new(), BTreeMap::new());
        for (record, one) in trial.observation.records.iter().enumerate() {
            let (fault, enable, quanta) = match one.what {
                What::Pfc { enable, quanta } => (None, enable, quanta),
                What::BadPfc { fault, enable, quanta } => (Some(fault), enable, quanta),
                _ => continue,
            };
            if (one.port, one.dir) != (spec.nic, Dir::Tx) {
                continue;
            }
            let word = Word { record, at: one.at + trace.way(WORD), enable, quanta };
            odd.extend(fault.map(|fault| (record, fault)));
            match fault {
                None | Some(PfcFault::Source) => words.push(word),
                Some(_) => deaf.push(word),
            }
        }
        // One that is under way, and one of each other connection.
        let under_way = others.values().max().copied().unwrap_or_default();
        let turn = seen.apart.most(others.into_values().sum::<Dur>() + under_way);
        let stops = trial.script.steps.iter().filter(|step| step.action == Action::StopFlow(index));
        let stopped = stops.map(|step| Time::ZERO + step.at).max();
        // One that has sent all that it was to send is silent.
        let last = packets.iter().map(|packet: &Packet| packet.at).max();
        let counted = last.filter(|_| spec.count.is_some());
        Ok(Told {
            part: seen.part,
            pfc: seen.nic.pfc.clone(),
            class: spec.class,
            speed,
            words,
            deaf,
            odd,
            packets,
            turn,
            blur: seen.bound * 2,
            apart: seen.apart,
            until: [stopped, counted].into_iter().flatten().fold(seen.until, Time::min),
        })
    }

    /// A packet, its preamble and gap.
    fn slot(&self) -> Dur {
        let longest = self.packets.iter().map(|packet| packet.slot).max();
        self.apart.most(longest.unwrap_or_default())
    }

    /// The pauses that hold it.
    fn pauses(&self) -> Vec<ClassPause> {
        let obeyed = if self.pfc.obeys(self.class) { &self.words[..] } else { &[] };
        let mut all = pauses(obeyed, self.class, self.speed, self.pfc.response.most() + self.blur);
        // One that comes before it has gone on after another goes on with that.
        for next in 1..all.len() {
            let joined = !self.is_back(&all[next - 1], all[next].first.at);
            for pause in all[next - 1..=next].iter_mut().filter(|_| joined) {
                pause.is_sure = false;
            }
        }
        all
    }

    /// Whether it goes on after a pause before `at`: it has to by then, or has been seen to.
    fn is_back(&self, pause: &ClassPause, at: Time) -> bool {
        // What leaves before the last word had its effect shows nothing of what it did.
        let since = pause.ends.max(pause.last.at + self.pfc.response.most());
        let seen = |packet: &Packet| packet.at >= since && packet.at < at;
        let takes = self.pfc.resumption.map(|takes| takes.most() + self.turn + self.blur);
        takes.is_some_and(|takes| at > pause.ends + takes) || self.packets.iter().any(seen)
    }

    /// The pauses that show on the wire: those that outlast the response and a packet, and end before the flow does.
    fn shown(&self) -> impl Iterator<Item = ClassPause> + '_ {
        let all = self.pauses();
        all.clone().into_iter().filter(move |pause| {
            let hidden = self.least_shown(&all, pause.first.at);
            pause.is_sure
                && pause.ends.since(pause.first.at).is_some_and(|lasts| lasts > hidden)
                && pause.ends + hidden < self.until
                && self.packets.iter().any(|packet| packet.at < pause.first.at)
        })
    }

    /// The longest time from one of its packets to the next: by those before `at` that nothing held, and by what the port carries beside it.
    /// A limiter, a host or a slot that is slower than the port leaves gaps of its own.
    fn apart(&self, pauses: &[ClassPause], at: Time) -> Dur {
        let own = apart(&self.packets, pauses, at, self.pfc.response.most() + self.blur);
        own.max(self.slot() + self.turn)
    }

    /// A pause at `at` that is longer shows.
    fn least_shown(&self, pauses: &[ClassPause], at: Time) -> Dur {
        self.pfc.response.most() + self.apart(pauses, at) + self.blur
    }

    /// Whether a silence is longer than what lies between its packets anyway.
    fn stopped(&self, silence: &Silence, apart: Dur) -> bool {
        let after = silence.after.map_or(self.until, |packet| packet.at);
        let idle = after.since(silence.before.at);
        idle.is_some_and(|idle| idle > apart + self.blur)
    }

    fn silence(&self, pause: &ClassPause) -> Option<Silence> {
        silence(&self.packets, pause, self.until)
    }

    /// How long after the XOFF of `pause` something happened, as far as stamps tell.
    fn after(&self, pause: &ClassPause, at: Time) -> Span {
        let after = at.since(pause.first.at).unwrap_or(Dur::ZERO);
        Span { lo: after.saturating_sub(self.blur).0, hi: (after + self.blur).0 }
    }
}

/// How far a reading is from what is wanted.
fn off(read: Span, want: Span) -> u64 {
    want.lo.saturating_sub(read.hi).max(read.lo.saturating_sub(want.hi))
}

/// Of several pauses the one that is furthest off, with what was read of it; else the first.
fn furthest(all: &[(ClassPause, TrialReading)]) -> Option<TrialReading> {
    let count = all.len();
    let worst = all.iter().rev().max_by_key(|(_, read)| off(read.span, read.want.span))?;
    Some(TrialReading { looked: looked(count, "XOFFs"), ..worst.1.clone() })
}

/// Judges how soon a NIC stops.
fn stops(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    let told: Cell<Option<(&str, Within, Dur)>> = Cell::new(None);
    done.each("nic.stops", flow, judged, |trial| {
        let of = Told::of(done, trial, flow)?;
        let pauses = of.pauses();
        let widest = Cell::new(Dur::ZERO);
        let read = |pause: ClassPause| {
            let apart = of.apart(&pauses, pause.first.at);
            widest.set(apart.max(widest.get()));
            let (least, most) = last_start(of.pfc.response, apart);
            let silence = of.silence(&pause)?;
            let want = Prediction {
                unit: Unit::Ps,
                span: Span { lo: least.0, hi: most.0 },
                formula: "",
                text: format!(
                    "the last packet starts within the declared response of {}, and less than {apart}, what lies between its packets, before {}",
                    of.pfc.response,
                    if of.pfc.response.width() > Dur::ZERO { "its least" } else { "that" },
                ),
                source: SOURCE,
            };
            let span = of.after(&pause, silence.before.at);
            let records = vec![pause.first.record, silence.before.record];
            let looked = looked(0, "");
            let is_odd = of.odd.contains_key(&pause.first.record);
            let got = (is_odd && !of.stopped(&silence, apart)).then(|| {
                let before = Unit::Ps.show(span.lo);
                format!("it sent on, its last packet before a gap {before} later: the source of that XOFF is zero, and a NIC looks at the destination alone")
            });
            Some((pause, TrialReading { span, want, got, records, looked }))
        };
        let all: Vec<_> = of.shown().filter_map(read).collect();
        let Some(read) = furthest(&all) else {
            let why = format!("no XOFF that outlasts the response met {flow}");
            return Err(trial.doubt(&why).into());
        };
        let blur = widest.get() + of.blur * 2;
        let coarser = told.get().is_none_or(|(.., other)| other < blur);
        if coarser {
            told.set(Some((of.part, of.pfc.response, blur)));
        }
        Ok(read)
    });
    if let Some((part, response, blur)) = told.take() {
        judged.resolved("nic.stops", &[(format!("{part}.pfc.response"), response, blur)]);
    }
}

/// Judges when a NIC goes on.
fn goes_on(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    let told: Cell<Option<(&str, Within, Dur)>> = Cell::new(None);
    done.each("nic.goes_on", flow, judged, |trial| {
        let of = Told::of(done, trial, flow)?;
        let pauses = of.pauses();
        let read = |pause: ClassPause| {
            let lasts = pause_time(pause.quanta, of.speed);
            let lasts = (of.apart.least(lasts), of.apart.most(lasts));
            // Until a word that shortens is taken in the longer one holds.
            let is_later = pause.last.record != pause.first.record && pause.quanta > Quanta(0);
            let taken = if is_later { of.pfc.response.most() } else { Dur::ZERO };
            let lasts = (lasts.0, lasts.1.max(taken));
            // A limiter of its own may keep it for as long as it lies between its packets.
            let turn = of.apart(&pauses, pause.first.at) - of.slot();
            let (soonest, latest) = first_start(lasts, of.pfc.resumption, turn);
            // Who may take as long as it likes shows nothing of an XON.
            let latest = match latest {
                None if pause.quanta == Quanta(0) => return None,
                None => Dur(u64::MAX),
                Some(latest) => latest,
            };
            let word = pause.last.at.since(pause.first.at).unwrap_or(Dur::ZERO);
            let want = Prediction {
                unit: Unit::Ps,
                span: Span { lo: (word + soonest).0, hi: word.saturating_add(latest).0 },
                formula: "F1",
                text: over(&pause, word, &of),
                source: SOURCE,
            };
            let silence = of.silence(&pause)?;
            let mut records = vec![pause.first.record, silence.before.record];
            records.extend(silence.after.map(|packet| packet.record));
            let none = looked(0, "");
            let apart = of.apart(&pauses, pause.first.at);
            if !of.stopped(&silence, apart) {
                // A pause that is hardly longer than the response need not show.
                let long = of.least_shown(&pauses, pause.first.at) + (apart + of.blur) * 2;
                pause.ends.since(pause.first.at).filter(|lasts| *lasts > long)?;
                let (span, got) = (Span::exactly(0), Some("it did not stop".to_owned()));
                return Some((pause, TrialReading { span, want, got, records, looked: none }));
            }
            let span = of.after(&pause, silence.after.map_or(of.until, |packet| packet.at));
            let never = silence.after.is_none();
            let got = never.then(|| {
                format!("no packet until the flow's end {} later", Unit::Ps.show(span.lo))
            });
            // Whether who sends nothing more goes on too late only shows where it had the time for it.
            let tells = !never || span.lo > want.span.hi;
            tells.then_some((pause, TrialReading { span, want, got, records, looked: none }))
        };
        let all: Vec<_> = of.shown().filter_map(read).collect();
        if let Some(resumption) = of.pfc.resumption {
            let apart = of.shown().map(|pause| of.apart(&pauses, pause.first.at) - of.slot());
            let blur = apart.max().unwrap_or_default() + of.blur * 2;
            if told.get().is_none_or(|(.., other)| other < blur) {
                told.set(Some((of.part, resumption, blur)));
            }
        }
        furthest(&all).ok_or_else(|| {
            let xon = of.pfc.resumption.is_none() && of.shown().next().is_some();
            let why = match xon {
                true => format!(
                    "`{}.pfc.resumption` is not declared: how soon an XON lets {flow} go shows nothing",
                    of.part
                ),
                false => format!(
                    "no pause that outlasts the response, and ends before {flow} does, met it"
                ),
            };
            trial.doubt(&why).into()
        })
    });
    if let Some((part, resumption, blur)) = told.take() {
        judged.resolved("nic.goes_on", &[(format!("{part}.pfc.resumption"), resumption, blur)]);
    }
}

/// Judges by which frames a NIC is held that ask the flow for nothing.
fn sends_on(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("nic.sends_on", flow, judged, |trial| {
        let of = Told::of(done, trial, flow)?;
        let obeys = of.pfc.obeys(of.class);
        let pauses = of.pauses();
        let (mut all, mut held) = (0_usize, Vec::new());
        let heard = of.words.iter().map(|word| (word, true));
        for (word, heard) in heard.chain(of.deaf.iter().map(|word| (word, false))) {
            let asks = word.asks(of.class);
            let lets_go = pauses.iter().any(|pause| pause.last.record == word.record);
            if lets_go || (heard && obeys && asks.is_some_and(|quanta| quanta > Quanta(0))) {
                continue;
            }
            // From when on it would stop, until that is over which it might be taken for, or until something else holds it.
            let from = word.at + of.pfc.response.most() + of.slot() + of.blur;
            let over = word.at + of.apart.least(pause_time(word.at_worst(), of.speed));
            let holds = |pause: &&ClassPause| {
                pause.first.at > word.at
                    || pause.ends + of.turn > word.at
                    || !of.is_back(pause, word.at)
            };
            let next = pauses.iter().filter(holds);
            let until = next.map(|pause| pause.first.at).fold(over.min(of.until), Time::min);
            let sent_before = of.packets.iter().any(|packet| packet.at < word.at);
            let limit = of.apart(&pauses, word.at) * 2 + of.blur;
            let long_enough = until.since(from).is_some_and(|left| left > limit);
            if !long_enough || !sent_before {
                continue;
            }
            all += 1;
            let silent = silent(&of.packets, from, until);
            if silent > limit {
                held.push((word, from + silent));
            }
        }
        if all == 0 {
            let why =
                format!("no PFC frame that asks {flow} for nothing, and lasts long enough to show");
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let got = held.first().map(|(word, until)| {
            let silent = until.since(word.at).unwrap_or(Dur::ZERO);
            let some = match held.len() {
                1 => String::new(),
                some => format!(", and by {} more", some - 1),
            };
            format!("held for {} or longer by {}{some}", Unit::Ps.show(silent.0), called(word, &of))
        });
        let want = Prediction {
            unit: Unit::Frames,
            span: Span::exactly(0),
            formula: "",
            text: format!(
                "{flow}, of priority {}, sends on: none of these frames is for it",
                of.class
            ),
            source: SOURCE,
        };
        let span = Span::exactly(u64::try_from(held.len()).unwrap_or(u64::MAX));
        let records = held.iter().map(|(word, _)| word.record).collect();
        let looked = looked(all, "PFC frames that ask it for nothing");
        Ok(TrialReading { span, want, got, records, looked })
    });
}
