//! What each flow of a NIC gets of a port that they share in turns, where some of them are told to slow down: what those leave is for the others, and
//! nobody is as slow as another because that is.

use super::super::super::judge_context::{JudgeContext, TrialReading, show};
use super::super::super::judged::looked;
use super::super::super::measurement::{FromStart, Known, Red, Tells, by_source};
use super::super::super::stamps::{self, Stamps};
use super::super::BEHIND;
use super::offered::{By, Offered, Table, classes};
use super::{sends_by_itself, want, window};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Span, Unit};
use rig_lab::{Limiting, Part, Scope};
use rig_testcases::vocabulary::{Entry, Looks, ValueKind, WINDOW, required};
use rig_testcases::{Measure, Script, StreamKind, StreamRate, Window};

const SOURCE: &str = "Bai et al., NSDI'23, section 5: rates of queue pairs against water-filling";

/// `rate.max_min`.
pub(in super::super::super) static MAX_MIN: Known = Known {
    entry: Entry {
        name: "rate.max_min",
        parts: Some(&[Part::Rp]),
        about: "the rate at which each flow of a NIC leaves it between two instants: as many as its limiter lets out, the others equal parts of what that leaves of the port (max-min, as water fills vessels)",
        source: SOURCE,
        fields: &[
            required(
                "flows",
                ValueKind::Flows,
                "flows of one NIC, such as [a, b]",
                "the flows that are judged; what else the NIC sends is taken into account",
            ),
            WINDOW[1],
            WINDOW[2],
        ],
        check: |given| {
            given.ordered();
            true
        },
        looks: &[Looks::EVERY_FRAME],
        sense: sends_by_itself,
        ..Entry::USUAL
    },
    tells: Tells::Width(
        "a round in which each flow has its turn, over the time between the two instants; the timestamps of CNPs",
    ),
    red: Red::Mutated("congestion-of-one-flow", "deviation=flows_tied"),
    on: |measure| window(measure).flows.join(" and "),
    expected: |measure, _, _| {
        let Window { from, until, .. } = window(measure);
        by_source(
            format!(
                "from {from} to {until} each flow what its CNPs leave it, or an equal part of what the others leave of the port"
            ),
            SOURCE,
        )
    },
    judge: |measure, done, judged| {
        let window = window(measure);
        done.several("rate.max_min", judged, |trial| shares(done, trial, &window));
    },
    from_start: FromStart::Everything,
    tells_rate: true,
    stamps: Some(stamps_of),
    unpromised: Some(unknown),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// The time between the two instants, and when each CNP cuts.
fn stamps_of(measure: &Measure, _: &Context<'_>, script: &Script) -> Option<Stamps> {
    let Window { from, until, .. } = window(measure);
    let cnps = script.streams.iter().filter(|stream| stream.kind == StreamKind::Cnp);
    let apart = cnps.filter_map(|stream| match stream.rate {
        StreamRate::Every(every) => Some(every),
        StreamRate::Load(_) => None,
    });
    stamps::finest([
        stamps::told((until - from) / 10, "a tenth of the time between the two instants"),
        apart
            .min()
            .and_then(|apart| stamps::told(apart / 4, "a quarter of the time between two CNPs")),
    ])
}

/// Why nothing says what limiters let out of each flow of the NIC that sends.
fn unknown(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    let flows = window(measure).flows;
    let flow = script.flows.iter().find(|flow| flows.contains(&flow.name))?;
    let nic = context.nics().behind(*script.dut_ports.get(usize::from(flow.nic))?)?;
    if Table::of(&nic.ets).is_some() {
        return Some(
            "it shares its port by classes, and how flows of one class do is left open".to_owned(),
        );
    }
    let rp = &nic.rp;
    match (rp.scope, rp.limiting) {
        (Scope::Qp, Limiting::Packet) => None,
        (Scope::Qp, Limiting::Burst) => Some(
            "its limiters hold back bursts: what each flow has to send is not known".to_owned(),
        ),
        (scope, _) => Some(format!(
            "it has one limiter for each {}: what each flow has to send is not known",
            scope.words()
        )),
    }
}

/// What the named flows carried, each beside its share.
fn shares(
    done: &JudgeContext<'_>,
    trial: &Trial,
    window: &Window,
) -> Result<Vec<(String, TrialReading)>, Doubt> {
    let offered = Offered::of(done, trial, window, By::Flow)?;
    let declared = classes(&offered, &offered.table);
    let wanted = want(&offered, offered.port, &declared);
    let carried: Vec<Span> =
        (0..declared.len()).map(|flow| offered.carried(&offered.table, flow)).collect();
    let not_measured = |why: &str| Doubt { reason: NOT_MEASURED, ..trial.doubt(why) };
    if offered.frames == 0 {
        return Err(not_measured(&format!("{} sent nothing", window.flows.join(", "))));
    }
    // What its limiter lets out is less than an equal part.
    let flows = u64::try_from(declared.len()).unwrap_or(u64::MAX).max(1);
    let is_held = |flow: usize| declared[flow].offers.hi < offered.port.lo / flows;
    let slowest =
        (0..declared.len()).filter(|flow| is_held(*flow)).min_by_key(|flow| wanted[*flow].hi);
    let slowest =
        slowest.ok_or_else(|| not_measured("no flow was told to slow down: nothing could leak"))?;
    let limit = wanted[slowest].hi;
    let named = (0..declared.len()).filter(|flow| offered.flows[*flow].is_named);
    let read = |flow: usize| {
        let (of, span, want) = (&offered.flows[flow], carried[flow], wanted[flow]);
        let is_tied = flow != slowest && span.hi < want.lo && span.lo <= limit.saturating_mul(2);
        let told = &offered.flows[slowest].name;
        let got = is_tied.then(|| {
            format!(
                "{}, hardly more than {told}, which alone was told to be that slow: one that is held back holds it, too",
                show(Unit::Bps, span)
            )
        });
        let what = match is_held(flow) {
            true => "what its CNPs leave it",
            false => "an equal part of what the others leave of the port",
        };
        let text = format!("{what}: {} to {}", Unit::Bps.show(want.lo), Unit::Bps.show(want.hi));
        let want = Prediction {
            unit: Unit::Bps,
            span: want,
            formula: "what limiters let out, and the rest in equal parts, as water fills vessels",
            text,
            source: SOURCE,
        };
        let looked = looked(offered.frames, "packets of the NIC");
        (of.name.clone(), TrialReading { span, want, got, records: of.records.clone(), looked })
    };
    Ok(named.map(read).collect())
}
