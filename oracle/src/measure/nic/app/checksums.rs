//! Whether data that came in whole are found right by the application that they are for: what no ICRC covers, on the way from the wire to its memory.

use super::super::super::judge_context::{JudgeContext, TrialReading};
use super::super::super::judged::{Judged, Unread, looked};
use super::super::super::measurement::{Known, Needs, Red, Tells, by_source};
use super::super::OF_FLOW;
use super::played::{Instants, Played};
use super::{OF_APP, shown};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::nic::checksums::{CameIn, Unsound, unsound};
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Dir, Span, Unit, What};
use rig_lab::{Fault, Part};
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Case, Measure, Roce, RoceKind, Verb};
use std::collections::BTreeMap;

/// Where the rule comes from.
const SOURCE: &str = "Bai et al., NSDI'23, section 4.2: a CRC over the data from end to end; IBTA volume 1, 7.8: an ICRC ends at the NIC";

/// `app.checksum`.
pub(in super::super::super) static CHECKSUM: Known = Known {
    entry: Entry {
        name: "app.checksum",
        parts: Some(&[Part::Rc]),
        about: "checksums of data as the application finds them that takes the data: one of each message that came in whole, and each of them right",
        source: SOURCE,
        sense: is_looked_at,
        shares_pairs: true,
        ..OF_FLOW
    },
    needs: |_| Needs::Hosts,
    tells: Tells::Each("message"),
    red: Red::Mutated("disk-read-with-checksums", "deviation=payload_moved_wrongly"),
    expected: |_, _, _| by_source(WANT.to_owned(), SOURCE),
    judge: |measure, done, judged| checksums(done, measure.named("flow"), judged),
    ..OF_APP
};

/// What is due of a step, for people.
const WANT: &str =
    "the checksum of each message that came to its NIC in whole, found right by its application";

/// It is of a step whose data are looked at.
fn is_looked_at(measure: &Measure, case: &Case) -> Vec<Fault> {
    let name = measure.named("flow");
    let step = case.flows.get(name).map(|flow| flow.app.is_some_and(|step| step.checksum));
    let fault = (step == Some(false)).then(|| {
        let found = format!("`app.checksum` of `{name}`, whose data nobody looks at");
        case.fault("measure", found, "a step of an application with `checksum: true`")
    });
    fault.into_iter().collect()
}

/// The record of a packet of each message of a step that came to the NIC behind a port with an ICRC that does not fit.
fn spoilt(trial: &Trial, played: &Played<'_>, step: usize, port: u16) -> BTreeMap<u32, usize> {
    let of = played.steps[step];
    let reads = of.flow.verb == Verb::Read;
    let came = trial.observation.records.iter().enumerate().filter_map(|(record, one)| {
        let What::Roce(Roce { corrupt: true, kind, connection, psn, .. }) = one.what else {
            return None;
        };
        let data = match kind {
            RoceKind::Data { response, .. } => response == reads,
            _ => false,
        };
        let is_it = (one.port, one.dir, connection) == (port, Dir::Tx, of.connection);
        let place = played.place(of, psn).filter(|place| is_it && data && place.flow == of.index);
        place.map(|place| (place.message, record))
    });
    let mut first = BTreeMap::new();
    for (message, record) in came {
        first.entry(message).or_insert(record);
    }
    first
}

/// What is told of a message, for people. `part`: the NIC that it came to; `other`: the one that it came from.
fn told(name: &str, (part, other): (&str, &str), wrong: Unsound) -> String {
    match wrong {
        Unsound::MovedWrongly => format!(
            "{name} came to `{part}` whole, with ICRCs that fit, and its application found another checksum: right on the wire, wrong in the memory of its host. `{part}` moved it wrongly behind its ICRC, or `{other}` ahead of it"
        ),
        Unsound::SpoiltOrMoved => format!(
            "{name} came to `{part}` whole, behind a packet of it whose ICRC does not fit, and its application found another checksum: `{part}` took that one, or moved it wrongly"
        ),
        Unsound::Spoilt => format!(
            "a packet of {name} came to `{part}` with an ICRC that does not fit, and no other in its place: its application took the message all the same"
        ),
        Unsound::NotWhole => {
            format!("{name} was taken by its application, and never came to `{part}` in whole")
        }
        Unsound::Untold => format!(
            "{name} came to `{part}` whole, and its application says of no checksum that it looked at it"
        ),
        Unsound::Again => format!("{name} is said twice to have been looked at"),
    }
}

fn checksums(done: &JudgeContext<'_>, name: &str, judged: &mut Judged) {
    done.each("app.checksum", name, judged, |trial| {
        let (_, spec) = trial.flow(name)?;
        let Some(shape) = spec.app.filter(|step| step.checksum) else {
            return Err(Unread::NotApplicable(format!("nobody looks at the data of {name}")));
        };
        let played = Played::of(done, trial, shape.app);
        shown(trial, &played)?;
        let doubt = |why: &str| Doubt { reason: NOT_MEASURED, ..trial.doubt(why) };
        let Some(report) = &trial.observation.hosts else {
            return Err(doubt("no host tells of the checksums that it looked at").into());
        };
        let step = usize::from(shape.nth);
        let (taker, giver) = match spec.verb {
            Verb::Read => (spec.nic, spec.to),
            _ => (spec.to, spec.nic),
        };
        let seen = &played.ends[&taker];
        let instants = Instants::of(trial, &played, taker);
        let spoilt = spoilt(trial, &played, step, taker);
        let all: Vec<CameIn> = (0..shape.messages())
            .map(|message| CameIn {
                whole: instants.complete(&played, step, message),
                spoilt: spoilt.get(&message).copied(),
            })
            .collect();
        let connection = played.steps[step].connection;
        let checks = report.checks.iter().filter(|one| one.connection == connection);
        let checks: Vec<(u64, bool)> = checks.map(|one| (one.message, one.fits)).collect();
        let by = seen.until.saturating_sub(seen.bound * 2);
        let wrong = unsound(&all, &checks, by);
        if checks.is_empty() && wrong.is_empty() {
            return Err(doubt(&format!("no message of {name} came in whole by the end")).into());
        }
        let parts = (seen.part, played.ends[&giver].part);
        let got = wrong.first().map(|(message, first)| {
            let first = told(&played.name(step, *message), parts, *first);
            match wrong.len() {
                1 => first,
                some => format!("{first}; and {} messages more", some - 1),
            }
        });
        let left = played.left(step, |place| place.packet == 0);
        let record = wrong.first().and_then(|(message, _)| {
            spoilt.get(message).copied().or_else(|| Some(left.get(message)?.1))
        });
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(0),
            formula: "",
            text: WANT.to_owned(),
            source: SOURCE,
        };
        let span = Span::exactly(u64::try_from(wrong.len()).unwrap_or(u64::MAX));
        let records = record.into_iter().collect();
        Ok(TrialReading { span, want, got, records, looked: looked(checks.len(), "checksums") })
    });
}
