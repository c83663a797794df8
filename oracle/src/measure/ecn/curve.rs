//! The curve: what was done to frames at each depth, beside the declared chances. Each judgement is exact; the fitted curve says
//! by how much a device is off.

mod corners;
mod depth_stamps;
mod drawn;
mod harddrop;
mod spaced;

use super::super::judge_context::{JudgeContext, TrialReading, judgement};
use super::super::judged::{At, Judged, looked};
use super::super::measurement::{Expected, Known, Red, Tells, by_formula};
use super::super::unfilled;
use super::draws::{Draw, Rule, draws};
use super::{Class, Ecn, Fate, OF_QUEUE, Prediction, Span, Unit, wred};
use crate::Resolution;
use crate::judge::likelihood::{self, Bin, Verdict};
use crate::judge::marking_fit;
use crate::judge::tally::Tally;
use crate::judge::{pairs, stats};
use crate::resolution::widened;
use crate::spec::steps::Kept;
use crate::trials::context::Context;
use crate::trials::points::Point;
use crate::trials::table::Table;
use crate::verdict::Looked;
use rig_lab::{DrawRule, Marking, Part};
use rig_testcases::vocabulary::{Entry, Given, ValueKind, required};
use rig_units::Bytes;
use std::collections::BTreeMap;

/// Streams to queues of one class, of one port or of several, and frames of one curve: what is dropped goes by another one than
/// what is marked, and so may each colour.
fn one_curve(given: &Given<'_>) -> bool {
    let streams = given.of.names("streams").unwrap_or_default();
    let Some(first) = streams.first() else { return true };
    let class = |name: &String| given.streams.get(name).map(|of| of.class);
    if let Some(other) = streams.iter().find(|name| class(name) != class(first)) {
        let found = format!("`{first}` and `{other}` go to queues of different classes");
        given.fault("streams", found, "streams in one class; a measure for each");
        return false;
    }
    let rule = |name: &String| given.streams.get(name).map(|of| (of.ecn == Ecn::NotEct, of.color));
    if let Some(other) = streams.iter().find(|name| rule(name) != rule(first)) {
        let found = format!("`{first}` and `{other}` may go by different curves");
        let want = "streams of one colour, all `ecn: not-ect` or none; a measure for each";
        given.fault("streams", found, want);
        return false;
    }
    true
}

/// `ecn.curve`.
pub(in super::super) static CURVE: Known = Known {
    entry: Entry {
        name: "ecn.curve",
        parts: Some(&[Part::Wred]),
        about: "what early detection does to the frames of a queue at every depth that they see: marks those that are ECN-capable, drops those that are not",
        source: "F8, F9",
        fields: &[required(
            "streams",
            ValueKind::SomeStreams,
            "streams of the case in one class, such as [a, b]",
            "the streams whose frames are judged, also to several ports; whatever else goes to their queues counts in its depth",
        )],
        check: one_curve,
        looks: &OF_QUEUE,
        ..Entry::USUAL
    },
    // Three corners, marks, pairs and the point of marking; certain frames spend nothing.
    ways: 6,
    tells: Tells::Chance("the frames that were seen at each depth"),
    red: Red::Mutated("corners-to-the-cell-broadcom", "wred.kmax=x1.1"),
    expected: |measure, context, _| expected(context, measure.names("streams")),
    judge: |measure, done, judged| judge(done, measure.names("streams"), judged),
    bursts: |measure| measure.names("streams"),
    stamps: Some(depth_stamps::of),
    unpromised: Some(unfilled::of_streams),
    ..Known::USUAL
};

/// The curve that the frames of some streams go by, and what it does to them.
fn expected(context: &Context<'_>, streams: &[String]) -> Vec<Expected> {
    let wred = &context.switch().wred;
    let Some(stream) = streams.first().and_then(|name| context.case.streams.get(name)) else {
        return Vec::new();
    };
    let class = Class { color: stream.color, capable: stream.ecn != Ecn::NotEct };
    let (done_to, above) = match class.fate(wred) {
        Fate::MarkOrDrop => (Fate::Mark.done_to(), "all dropped"),
        fate => (fate.done_to(), "all"),
    };
    let point = match class.point(wred) {
        Marking::Dequeue => "leaves",
        Marking::Enqueue => "comes",
    };
    let wred::Curves { least, most, .. } = class.held(wred);
    let either = |down: Bytes, up: Bytes| Kept { least: down, most: up }.shown();
    let (kmin, kmax) = (either(most.kmin, least.kmin), either(most.kmax, least.kmax));
    let [least, most] = [least, most].map(|curve| Unit::Ppm.show(u64::from(curve.pmax.0)));
    let pmax = if least == most { most } else { format!("{least} or {most}, as it rounds,") };
    by_formula(
        format!(
            "none {done_to} up to {kmin}, then with a chance that grows to {pmax} at {kmax}, {above} from there on"
        ),
        &match wred.draw {
            DrawRule::PerFrame => {
                format!("F8, F9: each frame drawn for by itself, at the depth when it {point}")
            }
            DrawRule::CountSinceMark => format!(
                "F8 at the depth when a frame {point}: the k-th since the last one {done_to} where k times its chance comes to what was drawn then"
            ),
        },
    )
}

/// Everything that one point of the sweep shows.
struct Sample<'a> {
    done: &'a JudgeContext<'a>,
    on: String,
    at: At,
    place: String,
    rule: Rule,
    queue: u8,
    trials: u32,
    draws: Vec<Draw>,
    /// The chances of one trial's frames, in the order in which they were sent, where every trial shows the same.
    once: Option<Vec<f64>>,
}

/// Judges the frames of some streams of one class.
fn judge(done: &JudgeContext<'_>, streams: &[String], judged: &mut Judged) {
    for (index, point) in done.points.iter().enumerate() {
        let Some(sample) = sample(done, streams, (index, point), judged) else { continue };
        sample.judge(judged);
    }
}

fn sample<'a>(
    done: &'a JudgeContext<'a>,
    streams: &[String],
    (index, point): (usize, &Point),
    judged: &mut Judged,
) -> Option<Sample<'a>> {
    let declared = done.context.switch();
    let mut all: Option<Sample<'a>> = None;
    for trial in done.valid(index) {
        let found: Result<Vec<_>, _> = streams.iter().map(|name| trial.stream(name)).collect();
        let drawn = found.and_then(|found| {
            let streams: Vec<u16> = found.iter().map(|(index, _)| *index).collect();
            Ok((draws(&trial, declared, &streams)?, streams))
        });
        let (drawn, streams_of) = match drawn {
            Ok(drawn) => drawn,
            Err(doubt) => {
                judged.doubt(At::Point(index), doubt);
                continue;
            }
        };
        let shares = drawn.iter().map(|draw| draw.shares.0);
        let exact = drawn.iter().all(|draw| draw.shares.0 == draw.shares.1);
        let once: Option<Vec<f64>> = exact.then(|| shares.collect());
        match &mut all {
            None => {
                let rule = Rule::of(declared, &trial.script, *streams_of.first()?);
                let queue = trial.script.streams[usize::from(streams_of[0])].class;
                let (on, place) = (streams.join(" and "), done.place(point));
                let (at, trials, draws) = (At::Point(index), 1, drawn);
                all = Some(Sample { done, on, at, place, rule, queue, trials, draws, once });
            }
            Some(sample) => {
                sample.trials += 1;
                if sample.once != once {
                    sample.once = None;
                }
                sample.draws.extend(drawn);
            }
        }
    }
    all
}

impl Sample<'_> {
    fn judge(&self, judged: &mut Judged) {
        judged.table(self.table());
        if self.draws.is_empty() {
            let why = format!("no frame of {} shows what early detection did", self.on);
            let detail =
                format!("{}{}{why}", self.place, if self.place.is_empty() { "" } else { ": " });
            judged.doubt(self.at, super::Doubt { reason: "not-observable", detail });
            return;
        }
        let wred = &self.rule.declared.wred;
        // A frame of which only the most that it may have met is above kmin shows nothing: none may have been. One that was taken
        // where nothing may be shows a fault, however little else there is.
        let climbed = self.draws.iter().any(|draw| {
            draw.shares.0 > 0.0
                || draw.is_wrong()
                || draw.met.and_then(|met| met.between()).is_some_and(|(lo, _)| lo > 0.0)
        });
        if wred.queues.contains(&self.queue) && !climbed {
            let detail = format!(
                "no frame of {} is certain to have met more than kmin: the curve does not show",
                self.on
            );
            judged.doubt(self.at, super::Doubt { reason: "not-observable", detail });
            return;
        }
        if self.rule.counts() {
            self.certain(judged);
            self.manner(judged);
            self.spaced(judged);
            judged.curve(self.curve(None));
            return;
        }
        let bins = self.bins();
        let fit = marking_fit::fit(&bins, self.done.alpha);
        // What a reader looks for comes first.
        if let Some(fit) = &fit {
            self.corners(fit, &bins, judged);
        }
        self.point(judged);
        self.certain(judged);
        self.manner(judged);
        self.count(judged);
        self.pairs(judged);
        judged.curve(self.curve(fit.as_ref()));
    }

    /// How many frames of each trial were at each depth, and of how many early detection took notice. Trials that follow one
    /// another with equally many frames at a depth, as most do, are one row.
    fn table(&self) -> Table {
        const COLUMNS: &[&str] =
            &["streams", "point", "depth_lo", "depth_hi", "trial", "last_trial", "frames", "taken"];
        let mut counts: BTreeMap<(u64, u64, u32), (u32, u32)> = BTreeMap::new();
        for draw in &self.draws {
            let count = counts.entry((draw.depth.lo, draw.depth.hi, draw.trial)).or_default();
            count.0 += 1;
            count.1 += u32::from(draw.taken);
        }
        let counts: Vec<_> = counts.into_iter().collect();
        let mut table = Table::new("ecn.curve", COLUMNS);
        let alike =
            counts.chunk_by(|((lo, hi, trial), (frames, _)), ((lo2, hi2, next), (frames2, _))| {
                (lo, hi, trial + 1, frames) == (lo2, hi2, *next, frames2)
            });
        for run in alike {
            let ((lo, hi, first), (frames, _)) = run[0];
            let last = run[run.len() - 1].0.2;
            let taken: Vec<String> = run.iter().map(|(_, (_, taken))| taken.to_string()).collect();
            table.row([&self.on, &self.place, &lo, &hi, &first, &last, &frames, &taken.join(" ")]);
        }
        table
    }

    /// Each of its frames may have fared otherwise.
    fn looked(&self) -> Looked {
        looked(self.draws.len(), "frames")
    }

    fn push(
        &self,
        what: &str,
        (trial, read): (u32, TrialReading),
        resolution: Resolution,
        judged: &mut Judged,
    ) {
        let on = [self.on.as_str(), what].join(", ");
        if let Some(mut judgement) =
            judgement("ecn.curve", &on, self.place.clone(), &[(trial, read)])
        {
            judgement.trials = self.trials;
            // It rests on all trials together.
            judgement.taken.clear();
            judgement.resolution = resolution;
            judged.file(self.at, judgement);
        }
    }

    fn prediction(&self, unit: Unit, span: Span, text: String) -> Prediction {
        Prediction { unit, span, formula: "F8, F9", text, source: wred::SOURCE }
    }

    /// Frames of which nothing is left to chance.
    fn certain(&self, judged: &mut Judged) {
        let sure = self.draws.iter().filter(|draw| draw.shares.1 <= 0.0 || draw.shares.0 >= 1.0);
        let all: Vec<&Draw> = self.draws.iter().filter(|draw| draw.is_wrong()).collect();
        let done_to = self.rule.fate.done_to();
        let after = if self.rule.counts() { ", after as many as since the last one" } else { "" };
        let text = match all.first() {
            Some(draw) if draw.taken => {
                format!("no frame {done_to} at a depth of {}{after}", depth(draw))
            }
            Some(draw) => format!("every frame {done_to} at a depth of {}{after}", depth(draw)),
            None => format!("none {done_to} up to kmin, all from kmax on: {} frames", sure.count()),
        };
        let count = u64::try_from(all.len()).unwrap_or(u64::MAX);
        let want = self.prediction(Unit::Frames, Span::exactly(0), text);
        let trial = all.first().map_or(self.draws[0].trial, |draw| draw.trial);
        let own = all.iter().filter(|draw| draw.trial == trial);
        let records = own.map(|draw| draw.record).collect();
        let got = all.first().map(|draw| {
            let not = if draw.taken { "" } else { "not " };
            format!("{count} frames {not}{done_to} where it should be the other way round")
        });
        let read =
            TrialReading { span: Span::exactly(count), want, got, records, looked: self.looked() };
        let each = Resolution::certain(Unit::Frames, Span::exactly(0), 0);
        self.push("where nothing is left to chance", (trial, read), each, judged);
    }

    /// How many in all. Where depths are open, the least that the least chances allow to the most that the greatest do.
    fn count(&self, judged: &mut Judged) {
        let open = |draw: &&Draw| draw.shares.1 > 0.0 && draw.shares.0 < 1.0;
        let drawn: Vec<&Draw> = self.draws.iter().filter(open).collect();
        if drawn.is_empty() {
            return;
        }
        let shares = |of: &dyn Fn(&Draw) -> f64| -> Tally {
            let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
            drawn.iter().for_each(|draw| *counts.entry(of(draw).to_bits()).or_default() += 1);
            let counts: Vec<(f64, u32)> =
                counts.into_iter().map(|(share, frames)| (f64::from_bits(share), frames)).collect();
            Tally::of_counts(&counts)
        };
        let (least, most) = (shares(&|draw| draw.shares.0), shares(&|draw| draw.shares.1));
        let alpha = self.done.alpha;
        let span = Span { lo: *least.bounds(alpha).start(), hi: *most.bounds(alpha).end() };
        let taken = drawn.iter().filter(|draw| draw.taken).count();
        let text = format!(
            "{} of {} frames between kmin and kmax {}, {:.1} on the average",
            Unit::Frames.show(span.lo) + " to " + &Unit::Frames.show(span.hi),
            drawn.len(),
            self.rule.fate.done_to(),
            f64::midpoint(least.mean(), most.mean()),
        );
        let want = self.prediction(Unit::Frames, span, text);
        let read = TrialReading {
            span: Span::exactly(u64::try_from(taken).unwrap_or(u64::MAX)),
            want,
            got: None,
            records: Vec::new(),
            looked: looked(drawn.len(), "frames"),
        };
        let resolution = told(Unit::Frames, span, (&least, &most));
        self.push(self.rule.fate.done_to(), (drawn[0].trial, read), resolution, judged);
    }

    /// Whether each frame is drawn for by itself.
    fn pairs(&self, judged: &mut Judged) {
        let Some(once) =
            self.once.as_ref().filter(|once| once.iter().any(|p| *p > 0.0 && *p < 1.0))
        else {
            return;
        };
        let tally = Tally::of_pairs(once, self.trials);
        let bounds = tally.bounds(self.done.alpha);
        let taken: Vec<bool> = self.draws.iter().map(|draw| draw.taken).collect();
        let pairs: u64 = taken.chunks(once.len()).map(pairs::pairs).sum();
        let span = Span { lo: *bounds.start(), hi: *bounds.end() };
        let text = format!(
            "{} to {} pairs of frames that follow one another, each drawn for by itself",
            span.lo, span.hi
        );
        let want = self.prediction(Unit::Count, span, text);
        let read = TrialReading {
            span: Span::exactly(pairs),
            want,
            got: None,
            records: Vec::new(),
            looked: self.looked(),
        };
        let what = format!("{} one after the other", self.rule.fate.done_to());
        let resolution = told(Unit::Count, span, (&tally, &tally));
        self.push(&what, (self.draws[0].trial, read), resolution, judged);
    }

    /// Whether marks follow the depth at the declared point, rather than at the other one.
    fn point(&self, judged: &mut Judged) {
        let wred = &self.rule.declared.wred;
        if self.rule.fate != Fate::Mark || wred.weight > 0 || !wred.queues.contains(&self.queue) {
            return;
        }
        let exact = |draw: &&Draw| draw.depth.lo == draw.depth.hi && draw.other.lo == draw.other.hi;
        let mut counts: BTreeMap<(u64, u64), (u32, u32)> = BTreeMap::new();
        for draw in self.draws.iter().filter(exact) {
            let count = counts.entry((draw.depth.lo, draw.other.lo)).or_default();
            count.0 += 1;
            count.1 += u32::from(draw.taken);
        }
        let (depths, counts) = counts.into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
        // The other point convicts by whichever curve the device may hold; by one of them it is clear.
        let verdicts = self.rule.held().each().map(|curve| {
            let share = |depth: u64| wred::chance(&curve, depth).share();
            let declared: Vec<f64> = depths.iter().map(|(depth, _)| share(*depth)).collect();
            let other: Vec<f64> = depths.iter().map(|(_, depth)| share(*depth)).collect();
            likelihood::judge(&counts, &declared, &other, self.done.alpha)
        });
        let (here, there) = match self.rule.point {
            Marking::Dequeue => ("leave", "come"),
            Marking::Enqueue => ("come", "leave"),
        };
        let verdict = verdicts.reduce(|one, next| match (one, next) {
            (Verdict::Declared, _) | (_, Verdict::Declared) => Verdict::Declared,
            (Verdict::Other, Verdict::Other) => Verdict::Other,
            _ => Verdict::Undecided,
        });
        let (off, got) = match verdict.unwrap_or(Verdict::Undecided) {
            Verdict::Other => (1, format!("the depth that they see when they {there}")),
            Verdict::Declared => (0, format!("the depth that they see when they {here}")),
            Verdict::Undecided => return,
        };
        let text = format!("marks that follow the depth that frames see when they {here}");
        let want = self.prediction(Unit::Count, Span::exactly(0), text);
        let read = TrialReading {
            span: Span::exactly(off),
            want,
            got: Some(got),
            records: Vec::new(),
            looked: self.looked(),
        };
        let resolution = Resolution::yes_or_no();
        self.push("point of marking", (self.draws[0].trial, read), resolution, judged);
    }

    /// Frames by the depth that decides about them.
    fn bins(&self) -> Vec<Bin> {
        let mut bins: BTreeMap<u64, (u32, u32)> = BTreeMap::new();
        for draw in self.draws.iter().filter(|draw| draw.depth.lo == draw.depth.hi) {
            let bin = bins.entry(draw.depth.lo).or_default();
            bin.0 += 1;
            bin.1 += u32::from(draw.taken);
        }
        bins.into_iter().map(|(depth, (frames, marked))| Bin { depth, frames, marked }).collect()
    }
}

/// The counts on the average that show where chance gives every one within `span` on a healthy device: those that come out of it, up or
/// down, with the power that trials are planned for. A count varies as a healthy device's.
fn told(unit: Unit, span: Span, (least, most): (&Tally, &Tally)) -> Resolution {
    let z = stats::normal_beyond(2.0 * (1.0 - stats::POWER));
    let off = |tally: &Tally| ceil(z * tally.variance().sqrt());
    Resolution::likely(unit, widened(span, off(least), off(most)))
}

fn depth(draw: &Draw) -> String {
    match draw.depth {
        Span { lo, hi } if lo == hi => format!("{lo}B"),
        Span { lo, hi } => format!("{lo}B to {hi}B"),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn floor(value: f64) -> u64 {
    if value.is_finite() { value.floor().max(0.0) as u64 } else { u64::MAX }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn ceil(value: f64) -> u64 {
    if value.is_finite() { value.ceil().max(0.0) as u64 } else { u64::MAX }
}
