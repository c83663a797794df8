//! What a flow between two NICs gets through by what is declared of both and of the way, and by the CNPs that came to its sender: no less than it gets
//! through where all takes the longest, and no more than the rule lets out of its port.
//!
//! That the right CNPs came, and that every packet leaves when it may, other measures judge (`cnp.answers`, `rate.follows`). Here the whole is judged: a
//! sender that leaves off, goes back without a reason, or is not held back at all gets through less, or more.

use super::super::super::judge_context::JudgeContext;
use super::super::Passage;
use super::super::limited::Limited;
use super::got::Carried;
use super::longest::Longest;
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Span, Unit, What};
use rig_frames::psn::Psn;
use rig_lab::{Fault, Limiting};
use rig_testcases::{Case, Measure, Verb};
use rig_units::{Dur, Time};

/// Where it comes from, for reports.
pub(super) const SOURCE: &str =
    "DCQCN: Zhu et al., SIGCOMM'15, section 3; docs/nic.md, reaction point";

/// What is wanted, before there is a trial.
pub(super) const TEXT: &str = "as much as the CNPs that came leave it, and its port, the way and both NICs: no less and no more";

/// Only of what one NIC sends another it is told.
pub(super) fn between_two(measure: &Measure, case: &Case) -> Vec<Fault> {
    let name = measure.named("flow");
    let of = case.flows.get(name).filter(|_| measure.arguments.word("expect").is_some());
    let fault = of.filter(|of| of.nic == of.to || of.verb == Verb::Read).map(|of| {
        let what = if of.nic == of.to { "goes to the rig" } else { "is a READ" };
        let found = format!("`{name}` {what}, of which no rate is predicted");
        case.fault("measure", found, "`at_least:`, `at_most:` or both")
    });
    fault.into_iter().collect()
}

/// What got through of a flow between two steps.
struct Through {
    /// Payload, in bytes.
    bytes: u64,
    /// How many packets had got through at each of the two.
    packets: [u64; 2],
    /// When the first of them came.
    shown: Time,
    /// The least that this may be, in bits a second.
    least: u64,
    /// How much longer one acknowledgement may take than another.
    uneven: Dur,
}

/// What is predicted of a goodput from `from` on.
pub(super) fn between(
    done: &JudgeContext<'_>,
    trial: &Trial,
    flow: &str,
    (carried, from): (&Carried<'_>, Time),
) -> Result<Prediction, Doubt> {
    let none = || trial.doubt(&format!("of {flow} too little got through to tell a rate"));
    let longest = Longest::of(done, trial, flow).ok_or_else(none)?;
    let (bytes, least) = longest.least(carried, from).ok_or_else(none)?;
    let (_, packets) = carried.through(from).ok_or_else(none)?;
    let mut steps = carried.progress.steps.iter();
    let shown = steps.find(|step| step.at >= from).ok_or_else(none)?.at;
    let through = Through { bytes, packets, shown, least, uneven: longest.uneven };
    of(done, trial, flow, &through)
}

/// What is predicted of a flow of which so much got through.
fn of(
    done: &JudgeContext<'_>,
    trial: &Trial,
    flow: &str,
    through: &Through,
) -> Result<Prediction, Doubt> {
    let &Through { bytes, least, uneven, .. } = through;
    let shortest = shortest(done, trial, flow, through).ok_or_else(|| {
        let why = format!("stamps leave too many orders open of what holds {flow} back");
        Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }
    })?;
    let took = shortest.saturating_sub(uneven);
    let most = u128::from(bytes) * 8 * 1_000_000_000_000 / u128::from(took.0.max(1));
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    let cnps = Limited::of(done, trial, flow)?.cnps.len();
    Ok(Prediction {
        unit: Unit::Bps,
        span: Span { lo: least, hi: most },
        formula: "payload acknowledged over the time that its packets take, each held back by s 8 / C, C by the CNPs so far",
        text: format!(
            "{} to {}: what {cnps} CNPs leave of {bytes} B, and its port, the way and both NICs",
            Unit::Bps.show(least),
            Unit::Bps.show(most)
        ),
        source: SOURCE,
    })
}

/// What is wanted of a flow to the rig: what its limiter lets out by what is declared and by the CNPs that came, where stamps leave that known; else what
/// the case wants. `sent` is the payload between two packets, and their records.
pub(super) fn to_the_rig(
    done: &JudgeContext<'_>,
    trial: &Trial,
    flow: &str,
    want: Prediction,
    sent: Option<(u64, Vec<usize>)>,
) -> Result<Prediction, Doubt> {
    let limited = Limited::of(done, trial, flow)?;
    let holds = limited.holds().filter(|_| limited.rp.limiting == Limiting::Packet);
    let told = sent.zip(holds).and_then(|((bytes, shown), holds)| {
        let place = |record: &usize| limited.frames.iter().position(|(of, ..)| of == record);
        let between = holds.get(place(shown.first()?)?..place(shown.last()?)?)?;
        let least: Dur = between.iter().map(|[least, _]| *least).sum();
        let most: Dur = between.iter().map(|[_, most]| *most + limited.allowance).sum();
        let rate = |took: Dur| {
            let bits = u128::from(bytes) * 8 * 1_000_000_000_000;
            u64::try_from(bits.div_ceil(u128::from(took.0.max(1)))).unwrap_or(u64::MAX)
        };
        let (slowest, fastest) = (rate(limited.apart.most(most)), rate(limited.apart.least(least)));
        let lo = slowest.saturating_sub(1);
        (bytes > 0).then(|| Prediction {
            unit: Unit::Bps,
            span: Span { lo, hi: fastest },
            formula: "payload over the time that its packets take, each held back by s 8 / C, C by the CNPs so far",
            text: format!(
                "{} to {}: what {} CNPs leave of {bytes} B by its limiter",
                Unit::Bps.show(lo),
                Unit::Bps.show(fastest),
                limited.cnps.len()
            ),
            source: SOURCE,
        })
    });
    match told {
        Some(told) => Ok(told),
        None if limited.is_in_steps() => {
            let why =
                format!("stamps leave open what the declared steps make of the rates of {flow}");
            Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) })
        }
        None => Ok(want),
    }
}

/// How long the rule takes at the least from the departure of the packet that the first step shows to that of the last one's; `None` where stamps leave
/// that open.
fn shortest(
    done: &JudgeContext<'_>,
    trial: &Trial,
    flow: &str,
    &Through { packets, shown, .. }: &Through,
) -> Option<Dur> {
    let (index, spec) = trial.flow(flow).ok()?;
    let connection = trial.script.connection(index);
    let limited = Limited::of(done, trial, flow).ok()?;
    let holds = limited.holds()?;
    let number = |packets: u64| {
        let ahead = u32::try_from(packets.saturating_sub(1) & 0xff_ffff).unwrap_or(0);
        Psn::new(spec.psn).advance(ahead)
    };
    let [first, last] = packets.map(number);
    let is =
        |record: usize, psn: Psn| match trial.observation.records.get(record).map(|one| one.what) {
            Some(What::Roce(roce)) => roce.connection == connection && Psn::new(roce.psn) == psn,
            _ => false,
        };
    let frames = || limited.frames.iter().enumerate();
    // Of one that was sent again the last that was away by then, and the first of the other: nothing is shorter.
    let begins = frames().rfind(|(_, (record, at, _))| *at < shown && is(*record, first))?.0;
    let ends = frames().find(|(_, (record, ..))| is(*record, last))?.0;
    let between = holds.get(begins..ends).unwrap_or_default();
    let apart = Passage::of(done, trial, spec.nic).apart;
    Some(apart.least(between.iter().map(|[least, _]| *least).sum()))
}
