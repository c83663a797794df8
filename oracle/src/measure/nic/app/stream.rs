//! Whether a stream of bytes comes to its reader whole and in its order, though one connection after the other carries it.

use super::super::super::judge_context::{JudgeContext, TrialReading};
use super::super::super::judged::{Judged, Unread, looked};
use super::super::super::measurement::{Known, Needs, Red, Tells, by_source};
use super::super::OF_FLOW;
use super::played::{Instants, Played};
use super::{OF_APP, shown};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::nic::stream::{Piece, Torn, torn};
use crate::verdict::Doubt;
use rig_capture::{HostGave, Span, Unit};
use rig_lab::{Fault, Part};
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Case, Measure};

/// Where the rule comes from.
const SOURCE: &str =
    "Bai et al., NSDI'23, section 4.1: from TCP to RDMA and back in steps, without a lost byte";

/// `app.stream`.
pub(in super::super::super) static STREAM: Known = Known {
    entry: Entry {
        name: "app.stream",
        parts: Some(&[Part::Rc]),
        about: "bytes of a stream that one connection after the other carries: in their order as they are read, none missing and none twice",
        source: SOURCE,
        sense: is_stream,
        shares_pairs: true,
        ..OF_FLOW
    },
    needs: |_| Needs::Hosts,
    tells: Tells::Each("byte"),
    red: Red::Mutated("tcp-to-rdma-and-back", "deviation=app_under_way_repeated"),
    expected: |_, _, _| by_source(WANT.to_owned(), SOURCE),
    judge: |measure, done, judged| stream(done, measure.named("flow"), judged),
    ..OF_APP
};

/// What is due of it, for people.
const WANT: &str = "each byte read once, in its order";

/// It is of an application whose steps are all one end's.
fn is_stream(measure: &Measure, case: &Case) -> Vec<Fault> {
    let name = measure.named("flow");
    let Some(flow) = case.flows.get(name) else { return Vec::new() };
    let fits = flow.app.is_some_and(|step| step.is_stream);
    let fault = (!fits).then(|| {
        let found = format!("`app.stream` of `{name}`, whose application sends no stream of bytes");
        let want = "a step of an application all of whose steps are sent by one NIC, each by a queue pair of its own, with `verb: send` or write-immediate";
        case.fault("measure", found, want)
    });
    fault.into_iter().collect()
}

/// Who sent a message of a stream, and what became of it on the wire.
struct Carried<'p, 'a> {
    played: &'p Played<'a>,
    instants: Instants,
    gave: &'p [HostGave],
    part: &'static str,
}

impl Carried<'_, '_> {
    /// The step of a connection.
    fn step(&self, connection: u16) -> Option<usize> {
        self.played.steps.iter().position(|step| step.connection == connection)
    }

    /// A message, as a step and its number there.
    fn message(&self, connection: u16, message: u64) -> Option<(usize, u32)> {
        Some((self.step(connection)?, u32::try_from(message).ok()?))
    }

    fn name(&self, (step, message): (usize, u32)) -> String {
        self.played.name(step, message)
    }

    /// What became of bytes that were never read.
    fn fate(&self, bytes: Piece) -> String {
        let whose = self.gave.iter().find(|one| one.from <= bytes.from && bytes.from < one.to);
        let Some(of) = whose.and_then(|one| self.message(one.connection, one.message)) else {
            return "no message was given them".to_owned();
        };
        let (step, message) = of;
        let name = self.name(of);
        let left = self.played.left(step, |place| place.packet == 0);
        match (self.instants.complete(self.played, step, message), left.get(&message)) {
            (Some(_), _) => format!("{name} came to `{}` in whole and was not read", self.part),
            (None, Some(_)) => format!(
                "{name} left and never came in whole, and its connection was left all the same"
            ),
            (None, None) => format!(
                "{name} was to bring them and never left: its connection was left with what was under way"
            ),
        }
    }

    /// What is wrong, for people. `read`: the messages in the order in which they were read.
    fn told(&self, read: &[(usize, u32)], wrong: Torn) -> String {
        match wrong {
            Torn::OutOfOrder { nth, missed } => format!(
                "{} was read before {}, whose bytes come first: the stream went on by another connection while that was under way",
                self.name(read[nth]),
                self.name(read[missed])
            ),
            Torn::Twice { nth, before, bytes: Piece { from, to } } => format!(
                "bytes {from} to {to} were read twice, by {} and again by {}: what was under way as the stream went on by another connection was sent again",
                self.name(read[before]),
                self.name(read[nth])
            ),
            Torn::Lost { nth, bytes } => format!(
                "bytes {} to {} were never read, and {} was, which comes behind: {}",
                bytes.from,
                bytes.to,
                self.name(read[nth]),
                self.fate(bytes)
            ),
        }
    }
}

fn stream(done: &JudgeContext<'_>, name: &str, judged: &mut Judged) {
    done.each("app.stream", name, judged, |trial| {
        let (_, spec) = trial.flow(name)?;
        let Some(shape) = spec.app.filter(|step| step.is_stream) else {
            return Err(Unread::NotApplicable(format!("{name} carries no stream of bytes")));
        };
        let played = Played::of(done, trial, shape.app);
        shown(trial, &played)?;
        let doubt = |why: &str| Doubt { reason: NOT_MEASURED, ..trial.doubt(why) };
        let Some(report) = &trial.observation.hosts else {
            return Err(doubt("no host tells of the stream that it read").into());
        };
        let instants = Instants::of(trial, &played, spec.to);
        let part = played.ends[&spec.to].part;
        let carried = Carried { played: &played, instants, gave: &report.gave, part };
        let own = report.read.iter().filter(|one| carried.step(one.connection).is_some());
        let given = |connection, message| {
            let mut all = report.gave.iter();
            all.find(|one| (one.connection, one.message) == (connection, message))
        };
        let (mut read, mut pieces) = (Vec::new(), Vec::new());
        for one in own {
            let place = carried.message(one.connection, one.message);
            let Some((place, gave)) = place.zip(given(one.connection, one.message)) else {
                return Err(doubt("a message was read of which nobody says what is in it").into());
            };
            read.push(place);
            pieces.push(Piece { from: gave.from, to: gave.to });
        }
        let wrong = torn(&pieces);
        let all: u64 = (played.steps.iter())
            .map(|step| u64::from(step.shape.messages()) * u64::from(step.flow.message))
            .sum();
        let through = pieces.last().map_or(0, |last| last.to);
        if wrong.is_none() && through < all {
            let why = format!("it ended when {through} of {all} bytes were read");
            return Err(doubt(&why).into());
        }
        // It is told of the step by which it shows.
        let at = wrong.map(|wrong| match wrong {
            Torn::OutOfOrder { nth, .. } | Torn::Twice { nth, .. } | Torn::Lost { nth, .. } => nth,
        });
        let own = at.filter(|nth| read[*nth].0 == usize::from(shape.nth));
        let got = own.zip(wrong).map(|(_, wrong)| carried.told(&read, wrong));
        let record = own.and_then(|nth| {
            let (step, message) = read[nth];
            Some(played.left(step, |place| place.packet == 0).get(&message)?.1)
        });
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(0),
            formula: "",
            text: WANT.to_owned(),
            source: SOURCE,
        };
        let span = Span::exactly(u64::from(got.is_some()));
        let records = record.into_iter().collect();
        Ok(TrialReading { span, want, got, records, looked: looked(read.len(), "messages") })
    });
}
