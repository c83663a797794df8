//! PFC frames that the device itself sends.

use super::ahead::in_the_way;
use super::judge_context::{JudgeContext, TrialReading, show, wanted};
use super::judged::{Judged, Unread, looked};
use super::legs::{PASSING, SWITCHES, legs};
use super::limits;
use super::measurement::{Known, Needs, Red, Tells, by_source};
use super::{blame, checks, served, small_part};
use crate::judge::answers::NOT_MEASURED;
use crate::measure::buffer_ledger::BufferLedger;
use crate::spec::share::shaped;
use crate::trials::context::switch_of;
use crate::trials::trial::Trial;
use crate::verdict::{Doubt, Looked};
use crate::{Alike, Prediction};
use core::cell::Cell;
use rig_capture::analyse;
use rig_capture::{Dir, DutCounter, Span, Unit, What};
use rig_lab::Part;
use rig_testcases::vocabulary::{ByPfc, Entry, Looks, PORT, ValueKind, optional, required};
use rig_testcases::{Action, Measure, Script, StreamSpec, Wanted};
use rig_units::{Dur, Quanta, Time};

/// `pfc.sent`.
pub(super) static SENT: Known = Known {
    entry: Entry {
        name: "pfc.sent",
        parts: Some(&[Part::Pfc]),
        pfc: ByPfc::Rests,
        about: "XOFF frames that the device sends out of a port for a class; an XON asks nobody to pause and does not count",
        source: "the declared quanta and refresh",
        fields: &[
            required(
                "port",
                ValueKind::OnePort,
                "the rig port that receives them",
                "the rig port that receives them",
            ),
            optional("class", ValueKind::Class, "absent: every PFC frame, with `expect: none`"),
            optional("after", ValueKind::OneStorm, "only after the detection of this storm"),
            optional(
                "expect",
                ValueKind::Count,
                "how many the case wants; absent: what is predicted",
            ),
        ],
        check: |given| {
            let expects_none = given.of.wanted("expect") == Some(Wanted::None);
            let unread = given.says("expect") && given.of.wanted("expect").is_none();
            let asks = !expects_none && !unread || given.says("after");
            if !given.says("class") && asks {
                let want = "`class: 0` to 7, or `expect: none` for the whole trial";
                given.at.fault("it names no class", want);
                return false;
            }
            true
        },
        looks: &[Looks::PFC],
        ..Entry::USUAL
    },
    needs: |measure| if measure.says("after") { Needs::Events } else { Needs::Wire },
    tells: Tells::Width(
        "the timestamps of both frames, and other frames that either may have waited for; each frame by itself where they are counted",
    ),
    red: Red::Mutated(
        "pfc-ends-when-the-drop-begins-broadcom",
        "deviation=pfc_continues_after_drop",
    ),
    on: |measure| {
        let after =
            measure.arguments.name("after").map(|storm| format!(" once {storm} is acted on"));
        let class = measure.arguments.class("class").map(|class| format!(" class {class}"));
        let port = measure.named("port");
        format!("{port}{}{}", class.unwrap_or_default(), after.unwrap_or_default())
    },
    unpromised: Some(|measure, context, script| {
        let waits = served::waits(measure, context, script);
        waits.or_else(|| small_part::pauses(measure, context, script))
    }),
    expected: |measure, _, _| vec![("wanted", xoffs(measure).text)],
    crosses: |measure, _| match (measure.says("after"), measure.wanted("expect")) {
        (true, _) => &[],
        (false, Wanted::None) => PASSING,
        // What a receiver's pause makes of the device before it, only a switch passes on.
        (false, Wanted::Predicted | Wanted::Some | Wanted::All) => SWITCHES,
    },
    judge: |measure, done, judged| match measure.arguments.class("class") {
        Some(class) => sent(done, measure, class, judged),
        None => silent(done, measure, judged),
    },
    limits: |measure, context, script, observation| {
        if measure.wanted("expect") != Wanted::None {
            return Vec::new();
        }
        let (port, class) = (measure.named("port"), measure.arguments.class("class"));
        let enters = |spec: &&StreamSpec| {
            script.ports[usize::from(spec.from)] == port
                && class.is_none_or(|class| spec.class == class)
        };
        let crossing = |spec: &StreamSpec| limits::crossing(context, observation, spec);
        script.streams.iter().filter(enters).filter_map(crossing).collect()
    },
    ..Known::USUAL
};

/// How many XOFFs, or PFC frames at all, a case wants.
fn xoffs(measure: &Measure) -> Prediction {
    let (span, text) = match measure.wanted("expect") {
        Wanted::None if !measure.says("class") => (Span::exactly(0), "no PFC frame"),
        Wanted::None => (Span::exactly(0), "no XOFF"),
        Wanted::Some | Wanted::All => (Span { lo: 1, hi: u64::MAX }, "at least one XOFF"),
        Wanted::Predicted => (Span { lo: 0, hi: u64::MAX }, "any number of XOFFs"),
    };
    wanted(span, text)
}

/// `pfc.format`.
pub(super) static FORMAT: Known = Known {
    entry: Entry {
        name: "pfc.format",
        parts: Some(&[Part::Pfc]),
        pfc: ByPfc::Rests,
        about: "every PFC frame that the device sends is well formed",
        source: "IEEE 802.1Q clause 36, 802.3 Annex 31D",
        fields: &[PORT],
        looks: &[Looks::PFC],
        ..Entry::USUAL
    },
    tells: Tells::Each("PFC frame"),
    red: Red::Mutated("pfc-frame-format-broadcom", "deviation=malformed_pfc"),
    expected: |measure, _, _| {
        let text = format!("each PFC frame out of {} well formed", measure.named("port"));
        by_source(text, measure.entry.source)
    },
    judge: |measure, done, judged| format(done, measure.named("port"), judged),
    crosses: |_, _| PASSING,
    over_memories: |_| true,
    ..Known::USUAL
};

/// `pfc.counters`.
pub(super) static COUNTERS: Known = Known {
    entry: Entry {
        name: "pfc.counters",
        parts: Some(&[Part::Pfc]),
        pfc: ByPfc::Rests,
        about: "the device's counters of PFC frames of a port and class, none of them counted as data",
        source: "what the wire shows",
        fields: &[PORT, required("class", ValueKind::Class, "0 to 7", "the class")],
        looks: &[Looks::PFC],
        ..Entry::USUAL
    },
    needs: |_| Needs::Counters,
    tells: Tells::Each("counter"),
    red: Red::Mutated("pfc-counted-as-pfc-broadcom", "deviation=counter_counts_pfc_as_data"),
    on: |measure| format!("{} class {}", measure.named("port"), class_of(measure)),
    expected: |measure, context, _| {
        let class = class_of(measure);
        let name = |counter: DutCounter| format!("{}{class}_{}", DutCounter::PFC, counter.name());
        let xons = if context.switch().pfc.xon_counts { "" } else { " that is no XON" };
        let text = format!(
            "{} grown by each PFC frame of the class to the port{xons}, {} by each that comes out of it, {} by none",
            name(DutCounter::PfcReceived),
            name(DutCounter::PfcSent),
            DutCounter::PortReceivedOther.name()
        );
        by_source(text, DutCounter::PFC_SOURCE)
    },
    judge: |measure, done, judged| {
        counters(done, measure.named("port"), class_of(measure), judged);
    },
    ..Known::USUAL
};

fn class_of(measure: &Measure) -> u8 {
    measure.arguments.class("class").unwrap_or_default()
}

/// How many XOFF frames it sends for a class, and whether it repeats them in time.
fn sent(done: &JudgeContext<'_>, measure: &Measure, class: u8, judged: &mut Judged) {
    let (port, expect) = (measure.named("port"), measure.wanted("expect"));
    done.each("pfc.sent", &(SENT.on)(measure), judged, |trial| {
        let index = trial.port(port)?;
        let length = trial.observation.length;
        let mut window = (Time::ZERO, Time::ZERO + length);
        if let Some(storm) = measure.arguments.name("after") {
            let watch = &done.context.watch;
            // The stream of the case's watchdog measures shows when the action began.
            let mut shown = watch.iter().flat_map(|watch| &watch.subjects);
            let Some(subject) = shown.find(|subject| subject.storm == storm) else {
                let why = format!("no measure of the case shows when {storm} is acted on");
                return Err(trial.doubt(&why).into());
            };
            let seen = super::watchdog::seen_whole(done, trial, subject)?;
            let Some(detected) = seen.detection() else {
                return Err(trial.doubt(&format!("nothing acted on {storm}")).into());
            };
            let start = seen.storm_start - trial.observation.origin;
            let drained = Time(start.0 + detected.after.hi) + draining(done, trial, storm);
            window = (drained, Time(start.0 + seen.pause_length.0));
        }
        let sent = analyse::pfc_sent(&trial.observation, index, class, window);
        let count = u64::try_from(sent.xoff.len()).unwrap_or(u64::MAX);
        if count == 0 && matches!(expect, Wanted::Some | Wanted::All) {
            fills(done, trial, (index, class))?;
        }
        let other = if count == 0 { blame::other_class(trial, index, class) } else { None };
        let got = Some(other.unwrap_or_else(|| format!("{count} XOFFs")));
        let looked = Looked {
            count: if expect == Wanted::Predicted {
                count
            } else {
                chances(trial, index, class, window).max(count)
            },
            of: "frames of the class into that port, PFC out of it or into others",
        };
        let want = xoffs(measure);
        Ok(TrialReading { span: Span::exactly(count), want, got, records: sent.xoff, looked })
    });
    if matches!(expect, Wanted::Some | Wanted::Predicted) {
        asked(done, port, class, judged);
        repeated(done, port, class, judged);
    }
}

/// Whether all that the rig sent might have filled the buffer as far as makes the device send an XOFF by a port at all.
fn fills(done: &JudgeContext<'_>, trial: &Trial, (port, class): (u16, u8)) -> Result<(), Doubt> {
    let own = trial.script.streams.iter().filter(|spec| (spec.from, spec.class) == (port, class));
    // Over several devices the last one fills first: fewer frames than fill all of them show nothing.
    let first = |spec| {
        let legs = legs(done.context, &trial.script, spec);
        let fill = legs
            .iter()
            .map(|leg| BufferLedger::span(leg.switch(), |empty| empty.first_xoff(spec)).hi);
        fill.fold(0, u64::saturating_add)
    };
    let Some(least) = own.map(first).min() else { return Ok(()) };
    let sent: u64 = trial.observation.streams.iter().map(|count| count.sent).sum();
    if sent >= least {
        return Ok(());
    }
    let why = format!(
        "the rig sent {sent} frames, and the device need not ask for a pause before the {least}th"
    );
    Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) })
}

/// That no PFC frame at all leaves by a port: neither one of the device's own nor one that came in elsewhere.
fn silent(done: &JudgeContext<'_>, measure: &Measure, judged: &mut Judged) {
    let port = measure.named("port");
    done.each("pfc.sent", port, judged, |trial| {
        let index = trial.port(port)?;
        let words = |dir: Dir, there: bool| {
            let records = trial.observation.records.iter().enumerate();
            let words = records.filter(move |(_, one)| {
                (one.dir, one.port == index) == (dir, there) && is_pfc(&one.what)
            });
            words.map(|(at, _)| at).collect::<Vec<usize>>()
        };
        let (came, elsewhere) = (words(Dir::Rx, true), words(Dir::Tx, false));
        let count = u64::try_from(came.len()).unwrap_or(u64::MAX);
        let looked = Looked {
            count: count.max(u64::try_from(elsewhere.len()).unwrap_or(u64::MAX)),
            of: "PFC frames into other ports",
        };
        let (want, got) = (xoffs(measure), Some(format!("{count} PFC frames")));
        Ok(TrialReading { span: Span::exactly(count), want, got, records: came, looked })
    });
}

/// Frames of the class that the rig sent by the port within the window, each of which might have made the device send an XOFF
/// there; PFC frames of the device, each of which might have been of the class; and those of the rig on other links, each of which
/// might have been passed on.
fn chances(trial: &Trial, port: u16, class: u8, (from, until): (Time, Time)) -> u64 {
    let observation = &trial.observation;
    let own = |spec: &StreamSpec| (spec.from, spec.class) == (port, class);
    let streams = (0_u16..).zip(&trial.script.streams).filter(|(_, spec)| own(spec));
    let whole = from == Time::ZERO && until >= Time::ZERO + observation.length;
    let count = |(stream, _): (u16, &StreamSpec)| {
        if whole {
            return observation.streams.get(usize::from(stream)).map_or(0, |count| count.sent);
        }
        let sent = observation.of_stream(stream, (port, Dir::Tx));
        let sent = sent.filter(|(_, record)| (from..=until).contains(&record.at));
        u64::try_from(sent.count()).unwrap_or(u64::MAX)
    };
    let told = observation.records.iter().filter(|record| {
        let there = record.port == port;
        let might = (record.dir == Dir::Rx) == there;
        might && is_pfc(&record.what) && (from..=until).contains(&record.at)
    });
    streams.map(count).sum::<u64>() + u64::try_from(told.count()).unwrap_or(u64::MAX)
}

/// Whether a frame is PFC, well formed or not.
const fn is_pfc(what: &What) -> bool {
    matches!(what, What::Pfc { .. } | What::BadPfc { .. })
}

/// For how long each XOFF asks the sender to pause: the declared quanta.
fn asked(done: &JudgeContext<'_>, port: &str, class: u8, judged: &mut Judged) {
    done.each("pfc.sent", &format!("{port} class {class} pause asked for"), judged, |trial| {
        let index = trial.port(port)?;
        let declared = switch_of(done.context.behind(&trial.script, index)).pfc.quanta;
        let whole = (Time::ZERO, Time::ZERO + trial.observation.length);
        let sent = analyse::pfc_sent(&trial.observation, index, class, whole);
        let quanta = |record: &usize| {
            let asked = trial.observation.records[*record].what.pauses(class);
            asked.map_or(0, |quanta| u64::from(quanta.0))
        };
        let Some(first) = sent.xoff.first() else {
            return Err(
                Doubt { reason: NOT_MEASURED, ..trial.doubt("no XOFF asked for a pause") }.into()
            );
        };
        let other = sent.xoff.iter().find(|record| quanta(record) != u64::from(declared.0));
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(u64::from(declared.0)),
            formula: "F1",
            text: format!("the declared {declared} in every XOFF"),
            source: "the declared pause time",
        };
        let shown = other.unwrap_or(first);
        let got = Some(format!("{}q", quanta(shown)));
        let looked = looked(sent.xoff.len(), "XOFFs");
        let span = Span::exactly(quanta(shown));
        Ok(TrialReading { span, want, got, records: vec![*shown], looked })
    });
}

/// How long the queue may still drain to where the device sends XON: an XOFF that falls due meanwhile is right. What is above
/// that is the declared offset and what came after the first XOFF: a frame that was under way and one at the sender.
fn draining(done: &JudgeContext<'_>, trial: &Trial, storm: &str) -> Dur {
    let declared = done.context.switch();
    let spec = trial.script.storms.iter().find(|spec| spec.name == *storm);
    let speed = spec.map(|spec| trial.observation.ports[usize::from(spec.from)].speed);
    let above = declared.buffer.xon_offset + declared.mtu * 2;
    let drains = speed.map_or(Dur::ZERO, |speed| speed.serialise(above));
    let shaped = shaped(&declared.scheduler, above).most();
    declared.pfc.refresh.most() + done.context.apart().most(drains.max(shaped))
}

/// How soon an XOFF is followed by the next word: the declared refresh, behind what may be ahead of it at the port.
fn repeated(done: &JudgeContext<'_>, port: &str, class: u8, judged: &mut Judged) {
    let (told, on) = (Cell::new(None), format!("{port} class {class} repeated"));
    done.each("pfc.sent", &on, judged, |trial| {
        let index = trial.port(port)?;
        let declared = switch_of(done.context.behind(&trial.script, index));
        if falls_silent(&trial.script, index, class) {
            let why =
                "a storm, a link that goes down or PFC by hand may end its PFC without an XON";
            return Err(Unread::NotApplicable(why.to_owned()));
        }
        let whole = (Time::ZERO, Time::ZERO + trial.observation.length);
        let sent = analyse::pfc_sent(&trial.observation, index, class, whole);
        let Some((gap, records)) = sent.slowest else {
            let why = "no XOFF was followed by another, nor by an XON";
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(why) }.into());
        };
        let trace = &trial.observation.ports[usize::from(index)];
        // Both timestamps are off by their bound.
        let ahead = in_the_way(declared, &trial.script, index, class);
        let (refresh, slack) = (declared.pfc.refresh, trace.provenance.bound() * 2);
        let apart = done.context.apart();
        // The range counts both clocks.
        let [soonest, latest] = [refresh.least(), refresh.most() + apart.most(ahead)];
        // From an XOFF to the next one: no sooner than declared, give or take what stood before either.
        let again = trial.observation.records[records[1]].what.pauses(class) > Some(Quanta(0));
        let least =
            if again { soonest.saturating_sub(apart.most(ahead) + slack) } else { Dur::ZERO };
        let want = Prediction {
            unit: Unit::Ps,
            span: Span { lo: least.0, hi: (latest + slack).0 },
            formula: "F1",
            text: format!(
                "XOFF again, or XON, after {refresh} as declared{}; a pause lasts {}",
                match ahead {
                    Dur::ZERO => ", nothing else leaving there".to_owned(),
                    ahead => format!(" and up to {ahead} behind other frames"),
                },
                Unit::Ps.show(trace.speed.pause(declared.pfc.quanta).0)
            ),
            source: "IEEE 802.1Q clause 36; the declared refresh",
        };
        let span = Span { lo: gap.saturating_sub(slack).0, hi: (gap + slack).0 };
        // Either word may have waited, the stamps of both gaps are off, and another value is read by both clocks again.
        let off = ahead * 2 + slack * 2 + Dur(apart.part(refresh.most().0));
        let alike = again.then(|| Alike::of_time("pfc.refresh", refresh, off));
        told.set(alike.or(told.take()));
        let other = blame::other_class(trial, index, class);
        let got = other.map(|other| format!("{}, and {other}", show(Unit::Ps, span)));
        let looked = looked(sent.xoff.len(), "XOFFs");
        Ok(TrialReading { span, want, got, records: records.to_vec(), looked })
    });
    if let Some(told) = told.take() {
        judged.alike(("pfc.sent", &on), &told);
    }
}

/// Whether the device may stop sending PFC for a class of a port without an XON: where the class is stormed, an action
/// takes PFC off it, and a link that goes down takes all with it.
fn falls_silent(script: &Script, port: u16, class: u8) -> bool {
    let silences = |action: &Action| match action {
        Action::StartStorm(storm) => {
            let storm = &script.storms[usize::from(*storm)];
            storm.from == port && storm.classes >> class & 1 == 1
        }
        Action::Pfc(frames) => frames.from == port && frames.enable >> class & 1 == 1,
        Action::LinkDown(down) => *down == port,
        Action::StartStream(_)
        | Action::StopStream(_)
        | Action::StartFlow(_)
        | Action::StopFlow(_)
        | Action::StopStorm(_)
        | Action::LinkUp(_)
        | Action::Configure(_)
        | Action::Device(_) => false,
    };
    script.steps.iter().any(|step| silences(&step.action))
}

/// Whether the device counts the PFC frames of a port as the wire shows them, and nowhere as data. What MACsec refuses is none.
fn counters(done: &JudgeContext<'_>, port: &str, class: u8, judged: &mut Judged) {
    let xon_counts = done.context.switch().pfc.xon_counts;
    done.each("pfc.counters", &format!("{port} class {class}"), judged, |trial| {
        let index = trial.port(port)?;
        let refused = super::macsec::refused(done, trial, index);
        let seen = |dir: Dir, xons: bool| {
            let own = trial.observation.records.iter().enumerate();
            let own = own.filter(|(at, record)| {
                let pauses = record.pauses(class);
                let counts = pauses.is_some_and(|quanta| xons || quanta > Quanta(0));
                (record.port, record.dir) == (index, dir) && counts && !refused.contains(at)
            });
            u64::try_from(own.count()).unwrap_or(u64::MAX)
        };
        let name = &trial.observation.ports[usize::from(index)].dut_port;
        let grown = |counter: DutCounter, want: u64| {
            let counter = counter.of(name, class);
            checks::grown(&trial.observation.counters, &counter, Span::exactly(want))
        };
        let all = [
            grown(DutCounter::PfcReceived, seen(Dir::Tx, xon_counts)),
            grown(DutCounter::PfcSent, seen(Dir::Rx, true)),
            grown(DutCounter::PortReceivedOther, 0),
        ];
        let words = trial.observation.records.iter();
        let words = words.filter(|one| one.port == index && is_pfc(&one.what));
        let looked = looked(words.count(), "PFC frames");
        checks::read(trial, &all, looked, DutCounter::PFC_SOURCE)
    });
}

/// Whether every one of them is well formed.
fn format(done: &JudgeContext<'_>, port: &str, judged: &mut Judged) {
    done.each("pfc.format", port, judged, |trial| {
        let index = trial.port(port)?;
        let (all, bad) = analyse::pfc_format(&trial.observation, index);
        if all == 0 {
            return Err(trial.doubt(&format!("the device sent no PFC frame to {port}")).into());
        }
        let mut want = wanted(Span::exactly(0), format!("each of {all} PFC frames well formed"));
        want.source = "IEEE 802.1Q clause 36, IEEE 802.3 Annex 31D";
        let got =
            bad.first().map(|first| format!("{} malformed, the first: {}", bad.len(), first.what));
        let count = u64::try_from(bad.len()).unwrap_or(u64::MAX);
        let records = bad.iter().map(|bad| bad.record).collect();
        let looked = Looked { count: all, of: "PFC frames" };
        Ok(TrialReading { span: Span::exactly(count), want, got, records, looked })
    });
}
