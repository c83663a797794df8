//! The rig's own storms: how much of the time they held.

use super::judge_context::{JudgeContext, TrialReading, judgement};
use super::judged::{At, Judged, looked};
use super::legs::PASSING;
use super::measurement::{Expected, Known, Red, Tells};
use super::stamps;
use crate::Prediction;
use crate::trials::context::Context;
use crate::trials::points::Point;
use rig_capture::analyse;
use rig_capture::{Dir, Span, Unit};
use rig_testcases::StreamSpec;
use rig_testcases::vocabulary::{ByPfc, Entry, STORM, ValueKind, required};
use rig_units::{Dur, Quanta};

const SOURCE: &str = "IEEE 802.3 Annex 31B: a quantum is 512 bit times";

/// `storm.coverage`.
pub(super) static COVERAGE: Known = Known {
    entry: Entry {
        name: "storm.coverage",
        parts: Some(&[]),
        pfc: ByPfc::Rests,
        about: "how much of the storm the class was paused, and the longest lapse",
        source: "the rig's own sending",
        fields: &[required("storm", ValueKind::Storm, "a storm", STORM.about)],
        about_gaps: true,
        ..Entry::USUAL
    },
    tells: Tells::Width("the timestamps of its frames"),
    red: Red::Written,
    expected: |measure, context, points| {
        expected(context, measure.named("storm"), points).unwrap_or_default()
    },
    judge: |measure, done, judged| judge(done, measure.named("storm"), judged),
    stamps: Some(|measure, context, script| {
        stamps::covered(context, script, measure.named("storm"))
    }),
    crosses: |_, _| PASSING,
    over_memories: |_| true,
    ..Known::USUAL
};

fn expected(context: &Context<'_>, name: &str, points: &[Point]) -> Option<Vec<Expected>> {
    let script = context.script(points.first()?).ok()?;
    let spec = script.storms.iter().find(|spec| spec.name == name)?;
    let speed = context.group.declared.port_speed(script.dut_ports[usize::from(spec.from)])?;
    let (pause, every) = (speed.pause(spec.quanta), spec.every);
    let share = pause.scaled(1_000_000, every.0.max(pause.0)).0;
    let (percent, rest) = (share / 10_000, share / 100 % 100);
    let [pause, every] = [pause, every].map(|time| match time {
        Dur::ZERO => "0ms".to_owned(),
        time => Unit::Ps.show(time.0),
    });
    Some(vec![
        ("predicted", format!("paused {percent}.{rest:02} % of the time")),
        ("formula", format!("F1: a pause of {pause} every {every}: min(1, T/t)")),
        ("source", SOURCE.to_owned()),
    ])
}

/// Judges the coverage of a storm against its own plan: the rig measures itself.
fn judge(done: &JudgeContext<'_>, storm: &str, judged: &mut Judged) {
    for (index, point) in done.points.iter().enumerate() {
        let mut all = Vec::new();
        for trial in done.valid(index) {
            let specs = (0_u16..).zip(&trial.script.storms);
            for (at, spec) in specs.filter(|(_, spec)| spec.name == storm) {
                let class = u8::try_from(spec.classes.trailing_zeros()).unwrap_or(0);
                let Some(coverage) =
                    analyse::coverage(&trial.observation, &trial.script, at, class)
                else {
                    let doubt = trial.doubt(&format!("the storm {storm} never left"));
                    judged.doubt(At::Point(index), doubt);
                    continue;
                };
                let speed = trial.observation.ports[usize::from(spec.from)].speed;
                let (pause, every) = (speed.pause(spec.quanta), spec.every);
                let planned = pause.scaled(1_000_000, every.0.max(pause.0)).0;
                let words = trial.observation.words((spec.from, Dir::Tx), class);
                let xoffs = words.filter(|(_, _, quanta)| *quanta > Quanta(0)).count();
                if every > pause && xoffs < 2 {
                    let why = format!(
                        "the storm {storm} was over before a second pause: nobody sees how often they come"
                    );
                    judged.doubt(At::Point(index), trial.doubt(&why));
                    continue;
                }
                // An own frame in flight may hold up the first or the last of them, by its length at most.
                let own = trial
                    .script
                    .streams
                    .iter()
                    .filter(|stream| stream.from == spec.from)
                    .map(StreamSpec::on_wire);
                let ahead = own.max().map_or(Dur::ZERO, |size| speed.slot(size));
                let margin =
                    if every <= pause { 0 } else { ahead.scaled(1_000_000, every.0).0 + 1 };
                let want = Prediction {
                    unit: Unit::Ppm,
                    span: Span {
                        lo: planned.saturating_sub(margin),
                        hi: (planned + margin).min(1_000_000),
                    },
                    formula: "F1",
                    text: format!("a pause of {pause} every {every}: min(1, T/t) of the time"),
                    source: SOURCE,
                };
                let lapse = coverage
                    .longest_lapse()
                    .map(|lapse| format!(", longest lapse {}", lapse.length()));
                let share = Unit::Ppm.show(coverage.covered);
                let got = Some(format!("{share} of the storm paused{}", lapse.unwrap_or_default()));
                let records = vec![coverage.first_record, coverage.last_record];
                all.push((
                    trial.number,
                    TrialReading {
                        span: Span { lo: coverage.covered, hi: coverage.possible },
                        want,
                        got,
                        records,
                        looked: looked(xoffs, "XOFFs"),
                    },
                ));
            }
        }
        if let Some(one) = judgement("storm.coverage", storm, done.place(point), &all) {
            judged.file(At::Point(index), one);
        }
    }
}
