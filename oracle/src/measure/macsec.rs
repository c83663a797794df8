//! MACsec on a port of the device: what it counts of the frames that it receives, what it sends, and which PFC it obeys.

use super::checks;
use super::judge_context::{JudgeContext, TrialReading, wanted};
use super::judged::{Judged, Unread, looked};
use super::measurement::{Known, Needs, Red, Tells, by_source, seen_in};
use super::stamps::{self, Stamps};
use crate::Prediction;
use crate::spec::macsec::{self, Arrival, Fate, Outcome};
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use crate::verdict::{Doubt, Looked};
use rig_capture::analyse;
use rig_capture::{Dir, DutCounter, Record, Span, Unit, What};
use rig_lab::{Form, Macsec, Part, Policy, Reception, Switch};
use rig_testcases::vocabulary::{
    ByPfc, Entry, Looks, PORT, STORM, STREAM, Senders, StreamEnds, named,
};
use rig_testcases::{Action, MacsecMode, Script, Tap};
use rig_units::{Bytes, Dur, FCS, Time};
use std::collections::BTreeSet;

/// `macsec.counters`.
pub(super) static COUNTERS: Known = Known {
    entry: Entry {
        name: "macsec.counters",
        parts: Some(&[Part::Macsec]),
        about: "the device's MACsec counters of a port",
        source: "what the wire shows",
        fields: &[PORT],
        looks: &[Looks::EVERY_FRAME],
        ..Entry::USUAL
    },
    needs: |_| Needs::Counters,
    tells: Tells::Each("counter"),
    red: Red::Mutated("replay-window-to-the-frame", "deviation=macsec_late_counted_as_ok"),
    stamps: Some(|_, context, script| late_from_the_first_on(context, script)),
    expected: |_, context, _| by_source(counted(&context.switch().macsec), macsec::SOURCE),
    judge: |measure, done, judged| counters(done, measure.named("port"), judged),
    over_memories: |_| true,
    ..Known::USUAL
};

/// Where a stream with late numbers starts with another of its port, the order of their first frames says which of them are late.
fn late_from_the_first_on(context: &Context<'_>, script: &Script) -> Option<Stamps> {
    let starts = |stream: usize| {
        let mut steps = script.steps.iter();
        let step = steps.find(
            |step| matches!(step.action, Action::StartStream(at) if usize::from(at) == stream),
        );
        step.map(|step| (step.at, script.streams[stream].from))
    };
    let all = 0..script.streams.len();
    let is_late = |of: &usize| matches!(script.streams[*of].macsec, MacsecMode::Late(_));
    let with_another = |of: &usize| {
        all.clone().any(|other| other != *of && !is_late(&other) && starts(other) == starts(*of))
    };
    let first = all.clone().find(|of| is_late(of) && starts(*of).is_some() && with_another(of))?;
    let spec = &script.streams[first];
    let slot = stamps::speed(context, script, spec.from).slot(spec.on_wire());
    Some(stamps::frames(slot, "late frames start with others"))
}

/// `macsec.frames`.
pub(super) static FRAMES: Known = Known {
    entry: Entry {
        name: "macsec.frames",
        parts: Some(&[Part::Macsec]),
        about: "every frame that the device sends out of a port is protected as it declares",
        source: "IEEE 802.1AE",
        fields: &[PORT],
        looks: &[Looks::EVERY_FRAME],
        ..Entry::USUAL
    },
    tells: Tells::Each("frame"),
    red: Red::Mutated("rekey-while-paused", "deviation=macsec_an_not_switched"),
    expected: |_, context, _| {
        by_source(protected(&context.switch().macsec), "IEEE 802.1AE clause 9, 10.5")
    },
    judge: |measure, done, judged| frames(done, measure.named("port"), judged),
    tells_frames: true,
    over_memories: |_| true,
    ..Known::USUAL
};

/// `macsec.pfc`.
pub(super) static PFC: Known = Known {
    entry: Entry {
        name: "macsec.pfc",
        parts: Some(&[Part::Macsec]),
        pfc: ByPfc::Streams,
        about: "whether the PFC of a storm is obeyed, in the form that it is sent in",
        source: "the declared forms of PFC",
        fields: &[STORM, STREAM],
        looks: &[
            Looks::FOLLOWS,
            Looks::of(named, StreamEnds::Out, Tap::All, "looks at every frame to `{}`'s receiver"),
        ],
        senders: Senders::Obey(named),
        ..Entry::USUAL
    },
    tells: Tells::Each("frame that met the storm"),
    red: Red::Mutated("forged-pfc-refused", "deviation=macsec_bad_frame_pauses"),
    // A pause that was asked for before is told from the storm that goes on.
    stamps: Some(|measure, _, script| {
        let storm = script.storms.iter().find(|storm| storm.name == measure.named("storm"))?;
        stamps::by_hand(script, storm.from).next().and_then(|_| stamps::steps(script))
    }),
    on: seen_in,
    expected: |_, context, _| {
        let own = &context.switch().macsec;
        let told = |reception: Reception| match reception {
            Reception::Honour => "obeyed",
            Reception::Ignore => "ignored",
            Reception::Bad => "counted as bad",
        };
        let (clear, tagged) = macsec::receptions(own);
        let (clear, tagged) = (told(clear), told(tagged));
        let text = format!("PFC in clear is {clear}, and protected PFC that is valid {tagged}");
        by_source(text, macsec::SOURCE)
    },
    judge: |measure, done, judged| {
        obeyed(done, (measure.named("storm"), measure.named("stream")), judged);
    },
    over_memories: |_| true,
    ..Known::USUAL
};

/// What is to be counted, before anything runs.
fn counted(declared: &Macsec) -> String {
    if !declared.enable {
        return NOT_SPOKEN.to_owned();
    }
    let fates = Fate::COUNTED.iter().filter_map(|fate| Some((fate, fate.counter()?)));
    let fates = fates.map(|(fate, counter)| format!("{} ({})", counter.name(), said(*fate)));
    let sent = match declared.policy {
        Policy::Security => DutCounter::MacsecEncrypted,
        Policy::IntegrityOnly => DutCounter::MacsecProtected,
    };
    format!(
        "each grown by the frames to the port of which it tells: {}; {} by those that come out of it",
        fates.collect::<Vec<_>>().join(", "),
        sent.name()
    )
}

/// How frames are to be sent, before anything runs.
fn protected(declared: &Macsec) -> String {
    if !declared.enable {
        return NOT_SPOKEN.to_owned();
    }
    let how = match declared.policy {
        Policy::Security => "encrypted",
        Policy::IntegrityOnly => "protected and not encrypted",
    };
    let sci = if declared.send_sci { "with" } else { "without" };
    let pfc = match declared.sent() {
        Form::Clear => "PFC in clear",
        Form::Encrypted => "PFC too",
    };
    format!(
        "each frame {how} with the association in use, {} at first, {sci} its SCI, {pfc}",
        declared.encoding_sa
    )
}

const NOT_SPOKEN: &str = "nothing, as the device is configured: it does not speak MACsec";

/// What protection leaves as it is: MAC addresses and FCS.
const OUTSIDE: Bytes = Bytes(12 + FCS.0);

/// What the device is configured to, and from when on.
fn epochs(declared: &Switch, script: &Script) -> Vec<(Time, Macsec)> {
    let mut current = declared.clone();
    let mut all = vec![(Time::ZERO, declared.macsec.clone())];
    for step in &script.steps {
        let Action::Configure(setting) = &step.action else { continue };
        if let Ok(next) = current.with(setting) {
            all.push((Time::ZERO + step.at, next.macsec.clone()));
            current = next;
        }
    }
    all
}

/// The same, of a device that speaks MACsec at some time in the trial.
///
/// # Errors
/// It does not.
fn speaks(done: &JudgeContext<'_>, trial: &Trial) -> Result<Vec<(Time, Macsec)>, Unread> {
    let epochs = epochs(done.context.switch(), &trial.script);
    if epochs.iter().any(|(_, macsec)| macsec.enable) {
        return Ok(epochs);
    }
    Err(Unread::NotApplicable("the device does not speak MACsec".to_owned()))
}

/// What becomes of every frame that was sent to the port, by record: as if every change came so much later than it was asked for.
fn outcomes(done: &JudgeContext<'_>, trial: &Trial, port: u16, late: Dur) -> Vec<(usize, Outcome)> {
    let observation = &trial.observation;
    let cable = observation.ports[usize::from(port)].cable;
    let mut epochs = epochs(done.context.switch(), &trial.script);
    epochs.iter_mut().skip(1).for_each(|(from, _)| *from += late);
    let sent = observation.records.iter().enumerate();
    let sent = sent.filter(|(_, record)| (record.port, record.dir) == (port, Dir::Tx));
    let (records, arrivals): (Vec<usize>, Vec<Arrival>) = sent
        .map(|(index, record)| {
            let pfc = matches!(record.what, What::Pfc { .. } | What::BadPfc { .. });
            (index, Arrival { at: record.at + cable, secured: record.secured, pfc })
        })
        .unzip();
    records.into_iter().zip(macsec::outcomes(&epochs, &arrivals)).collect()
}

/// The PFC frames sent to the port that MACsec keeps from pausing anything, by record.
pub(super) fn refused(done: &JudgeContext<'_>, trial: &Trial, port: u16) -> BTreeSet<usize> {
    if !done.context.switch().macsec.enable {
        return BTreeSet::new();
    }
    let outcomes = outcomes(done, trial, port, Dur::ZERO).into_iter();
    outcomes.filter(|(_, outcome)| !outcome.pauses).map(|(record, _)| record).collect()
}

/// Judges what the device counted of a port against the frames on the wire.
fn counters(done: &JudgeContext<'_>, port: &str, judged: &mut Judged) {
    done.each("macsec.counters", port, judged, |trial| {
        let index = trial.port(port)?;
        whole(trial, index)?;
        let name = &trial.observation.ports[usize::from(index)].dut_port;
        // Between what was asked for and what was done of a change lies at most what the device may be late by.
        let late = [Dur::ZERO, trial.observation.bound() * 2];
        let seen = late.map(|late| outcomes(done, trial, index, late));
        let grown = |counter: DutCounter, counts: &dyn Fn(&Outcome) -> bool| {
            let count = |all: &Vec<(usize, Outcome)>| {
                all.iter().filter(|(_, outcome)| counts(outcome)).count() as u64
            };
            let [one, other] = [count(&seen[0]), count(&seen[1])];
            let want = Span { lo: one.min(other), hi: one.max(other) };
            checks::grown(&trial.observation.counters, &counter.of(name, 0), want)
        };
        let fates = Fate::COUNTED.iter().filter_map(|fate| Some((*fate, fate.counter()?)));
        let mut all: Vec<_> =
            fates.map(|(fate, counter)| grown(counter, &|outcome| outcome.fate == fate)).collect();
        all.push(grown(DutCounter::PortErrors, &|outcome| outcome.error));
        let known = |outcome: &Outcome| outcome.error || outcome.fate.counter().is_some();
        let mut counted = seen[0].iter().filter(|(_, outcome)| known(outcome)).count();
        let mut sent = [(0, 0); 2];
        // What is still under way when the trial ends is counted and not on record.
        let (frames_late, octets_late) = under_way(trial, index);
        for record in passing(trial, index, Dir::Rx) {
            let record = &trial.observation.records[record];
            let Some(secured) = record.secured else { continue };
            counted += 1;
            let (frames, octets) = &mut sent[usize::from(!secured.encrypted)];
            *frames += 1;
            *octets += (record.what.size() - OUTSIDE).0;
        }
        let counted_of = [
            [DutCounter::MacsecEncrypted, DutCounter::MacsecEncryptedOctets],
            [DutCounter::MacsecProtected, DutCounter::MacsecProtectedOctets],
        ];
        for ([of_frames, of_octets], (frames, octets)) in counted_of.into_iter().zip(sent) {
            // Of a kind that the device does not send at all none is under way.
            let late = |all: u64| if frames > 0 { all } else { 0 };
            for (counter, want, late) in
                [(of_frames, frames, late(frames_late)), (of_octets, octets, late(octets_late))]
            {
                let counter = counter.of(name, 0);
                let counters = &trial.observation.counters;
                let want = Span { lo: want, hi: want + late };
                all.push(checks::grown(counters, &counter, want));
            }
        }
        checks::read(
            trial,
            &all,
            looked(counted, "protected frames, or refused ones"),
            macsec::SOURCE,
        )
    });
}

/// Frames to a port, and their octets, that the rig sent so late in the trial that they may have come through after it: as
/// late as the rig and the device may each be.
fn under_way(trial: &Trial, port: u16) -> (u64, u64) {
    let observation = &trial.observation;
    let until = Time::ZERO + trial.script.length;
    let own = |record: &&Record| match record.what {
        What::Data { stream, .. } => trial.script.streams[usize::from(stream)].to == port,
        What::Pfc { .. }
        | What::Roce(_)
        | What::BlueRdma(_)
        | What::BadPfc { .. }
        | What::Other { .. } => false,
    };
    let sent = observation.records.iter().filter(|record| record.dir == Dir::Tx).filter(own);
    let late = sent.filter(|record| record.at + observation.bound() * 2 > until);
    late.fold((0, 0), |(frames, octets), record| {
        (frames + 1, octets + (record.what.size() - OUTSIDE).0)
    })
}

/// The records of a side of a port.
fn passing(trial: &Trial, port: u16, dir: Dir) -> impl Iterator<Item = usize> {
    let records = trial.observation.records.iter().enumerate();
    records.filter(move |(_, one)| (one.port, one.dir) == (port, dir)).map(|(index, _)| index)
}

/// Every frame to and from a port has to be known, and what the device was configured to.
fn whole(trial: &Trial, port: u16) -> Result<(), Doubt> {
    trial.taken()?;
    let streams = (0_u16..).zip(&trial.script.streams);
    let mut own = streams.filter(|(_, spec)| spec.from == port || spec.to == port);
    match own.find(|(index, _)| trial.observation.partial(*index)) {
        Some((_, spec)) => {
            Err(trial.doubt(&format!("not every frame of {} was recorded", spec.name)))
        }
        None => Ok(()),
    }
}

/// Judges whether every frame that the device sends out of a port is protected as it declares.
fn frames(done: &JudgeContext<'_>, port: &str, judged: &mut Judged) {
    done.each("macsec.frames", port, judged, |trial| {
        let index = trial.port(port)?;
        whole(trial, index)?;
        let epochs = speaks(done, trial)?;
        let seen = analyse::protection(&trial.observation, index, &epochs);
        if seen.frames == 0 {
            return Err(trial.doubt(&format!("the device sent no frame to {port}")).into());
        }
        let want = Prediction {
            source: "IEEE 802.1AE-2018 clause 9, 10.5; the declared policy and PFC mode",
            ..wanted(Span::exactly(0), format!("each of {} frames as declared", seen.frames))
        };
        let got = seen.odd.first().map(|(_, why)| {
            let others = seen.odd.len() - 1;
            if others == 0 { why.clone() } else { format!("{why}, and {others} more off") }
        });
        let records = seen.odd.iter().map(|(record, _)| *record).collect();
        let looked = Looked { count: seen.frames, of: "frames" };
        Ok(TrialReading { span: Span::exactly(seen.odd.len() as u64), want, got, records, looked })
    });
}

/// Judges whether the PFC of a storm is obeyed: frames of a probe that leave by the stormed port while the storm is on.
fn obeyed(done: &JudgeContext<'_>, (storm, stream): (&str, &str), judged: &mut Judged) {
    done.each("macsec.pfc", &format!("{storm}, seen in {stream}"), judged, |trial| {
        trial.taken()?;
        speaks(done, trial)?;
        let (index, spec) = trial.stream(stream)?;
        let storm = trial.script.storms.iter().find(|spec| spec.name == storm);
        let storm = storm.ok_or_else(|| trial.doubt("the storm is not in the script"))?;
        let (from, to) = (spec.from, spec.to);
        let trace = &trial.observation.ports[usize::from(to)];
        let outcomes = outcomes(done, trial, to, Dur::ZERO);
        let of_storm = |record: usize| {
            let asked = trial.observation.records[record].what.pauses(spec.class);
            asked.is_some_and(|quanta| quanta == storm.quanta)
        };
        let own: Vec<&(usize, Outcome)> =
            outcomes.iter().filter(|(record, _)| of_storm(*record)).collect();
        let [(first, outcome), .., (last, _)] = own[..] else {
            return Err(trial.doubt(&format!("{} never left", storm.name)).into());
        };
        if own.iter().any(|(_, other)| other.pauses != outcome.pauses) {
            let why = format!("some frames of {} are obeyed, some not", storm.name);
            return Err(trial.doubt(&why).into());
        }
        let declared = done.context.switch();
        let bound = trial.observation.bound() * 2;
        let settled =
            declared.response(Form::Encrypted).most() + trace.speed.slot(declared.mtu) + bound;
        let arrival = |record: usize| trial.observation.records[record].at + trace.cable;
        let window = arrival(*first) + settled..arrival(*last).saturating_sub(bound);
        let [least, most] = [declared.transit().least(), declared.transit().most()]
            .map(|transit| trial.observation.ports[usize::from(from)].cable + transit);
        // Sent so that it left within the window for certain, and so that it may have.
        let ready = |(early, last): (Dur, Dur), (late, first): (Dur, Dur)| {
            let sent = trial.observation.of_stream(index, (from, Dir::Tx));
            let (start, end) =
                (window.start.saturating_sub(early), window.end.saturating_sub(late));
            let may = |at: Time| start <= at + last && at + first < end;
            sent.filter(|(_, record)| may(record.at)).count() as u64
        };
        let behind = bound + trace.speed.slot(spec.on_wire());
        // A pause that is obeyed and still runs as the window opens lets go in it what it has held since it began.
        let held = held_at(trial, (to, spec.class), &outcomes, (window.start, settled));
        let early = held.and_then(|from| window.start.since(from.saturating_sub(bound)));
        let early = early.unwrap_or_default().max(behind);
        // One that runs as the window closes keeps, past it, what has come since it began.
        let kept = held_at(trial, (to, spec.class), &outcomes, (window.end, settled));
        let kept = kept.and_then(|from| window.end.since(from.saturating_sub(bound)));
        let met = ready((Dur::ZERO, least), (behind, most));
        let lo = ready((Dur::ZERO, least), (behind + kept.unwrap_or_default(), most));
        let ready = Span { lo, hi: ready((early, most), (Dur::ZERO, least)) };
        if met < 3 {
            let why = format!("hardly a frame of {stream} met {}", storm.name);
            return Err(trial.doubt(&why).into());
        }
        let left = trial.observation.of_stream(index, (to, Dir::Rx));
        let left: Vec<usize> = left
            .filter(|(_, record)| window.contains(&record.at.saturating_sub(trace.cable)))
            .map(|(index, _)| index)
            .collect();
        let fate = outcome.fate;
        let (span, text) = if outcome.pauses {
            (Span::exactly(0), format!("obeyed ({}): no frame leaves meanwhile", said(fate)))
        } else {
            let text = format!("not obeyed ({}): all frames sent meanwhile leave", said(fate));
            (ready, text)
        };
        let want =
            Prediction { unit: Unit::Frames, span, formula: "", text, source: macsec::SOURCE };
        let mut records = vec![*first];
        records.extend(left.iter().take(3));
        let looked = Looked { count: met, of: "frames that met the storm" };
        let span = Span::exactly(left.len() as u64);
        Ok(TrialReading { span, want, got: None, records, looked })
    });
}

/// When the pause of a class began that runs at `at`, or ended less than `settled` before, by the frames to its port that are obeyed.
fn held_at(
    trial: &Trial,
    (port, class): (u16, u8),
    outcomes: &[(usize, Outcome)],
    (at, settled): (Time, Dur),
) -> Option<Time> {
    let trace = &trial.observation.ports[usize::from(port)];
    let mut held: Option<(Time, Time)> = None;
    for (record, _) in outcomes.iter().filter(|(_, outcome)| outcome.pauses) {
        let record = &trial.observation.records[*record];
        let (came, quanta) = (record.at + trace.cable, record.what.pauses(class));
        let Some(quanta) = quanta.filter(|_| came <= at) else { continue };
        let before = held.filter(|(_, until)| *until >= came).map(|(from, _)| from);
        held = Some((before.unwrap_or(came), came + trace.speed.pause(quanta)));
    }
    held.filter(|(_, until)| *until + settled >= at).map(|(from, _)| from)
}

/// What a fate is called.
const fn said(fate: Fate) -> &'static str {
    match fate {
        Fate::Past => "in clear",
        Fate::NoTag => "in clear, refused",
        Fate::BadTag => "its SecTAG makes no sense",
        Fate::NoSci => "a channel that is not known",
        Fate::NotUsingSa => "an association that is not in use",
        Fate::Late => "older than the replay window",
        Fate::Delayed => "late, let through",
        Fate::NotValid => "its ICV is wrong",
        Fate::Ok => "valid",
    }
}
