//! What timestamps tell of a rate: the gaps that a limiter leaves between packets, by the closed forms of its cuts.

use super::super::stamps::{self, Stamps};
use super::beside_payload;
use crate::spec::nic::forms;
use crate::spec::nic::real::Real;
use crate::trials::context::Context;
use rig_lab::{Limiting, Rp};
use rig_testcases::{Action, Measure, Script, StreamRate, StreamSpec};
use rig_units::{Bytes, Dur, PortSpeed};

/// The limiter of a flow, and how much it lets go at once.
struct Paced<'a> {
    rp: &'a Rp,
    line: PortSpeed,
    sent: Bytes,
}

impl<'a> Paced<'a> {
    fn of(flow: &str, context: &'a Context<'_>, script: &Script) -> Option<Paced<'a>> {
        let spec = script.flows.iter().find(|spec| spec.name == flow)?;
        let behind = *script.dut_ports.get(usize::from(spec.nic))?;
        let rp = &context.nics().behind(behind)?.rp;
        let packet = Bytes(spec.mtu.min(spec.message).into()) + beside_payload(spec);
        let sent = match rp.limiting {
            Limiting::Packet => packet,
            Limiting::Burst => rp.burst + packet,
        };
        Some(Paced { rp, line: stamps::speed(context, script, spec.nic), sent })
    }

    /// What a rate leaves between them beyond what they take on the wire.
    fn leaves(&self, rate: Real) -> Dur {
        let (least, _) = forms::hold(self.rp, self.line, self.sent, rate);
        least.saturating_sub(self.line.slot(self.sent))
    }
}

/// Who cuts is told from who does not: by the gap that the first cut leaves, or, where steps of its rates may leave none, by a packet. A gap of half of
/// it is none for sure, and one of more than half of it no packet back to back: each packet is held, or it is not.
pub(super) fn of_cut(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<Stamps> {
    cut_of(measure.named("flow"), context, script)
}

/// The same of a flow by its name.
pub(super) fn cut_of(flow: &str, context: &Context<'_>, script: &Script) -> Option<Stamps> {
    let paced = Paced::of(flow, context, script)?;
    let left = paced.leaves(forms::first_cut(paced.rp, paced.line));
    let left =
        stamps::told(left / 2, "half of the gap that the first cut leaves between two packets");
    left.or_else(|| stamps::told(paced.line.slot(paced.sent), "what a packet takes"))
}

/// What CNPs leave of a flow is told where each cut is: by the gap that the first one leaves.
pub(super) fn of_predicted(flow: &str, context: &Context<'_>, script: &Script) -> Option<Stamps> {
    let paced = Paced::of(flow, context, script)?;
    let left = paced.leaves(forms::first_cut(paced.rp, paced.line));
    stamps::told(left, "the gap that the first cut leaves between two packets")
}

/// What a packet more or less makes of the time that many take is told by what one takes.
pub(super) fn of_packets(flow: &str, context: &Context<'_>, script: &Script) -> Option<Stamps> {
    let spec = script.flows.iter().find(|spec| spec.name == flow)?;
    let packet = Bytes(spec.mtu.min(spec.message).into()) + beside_payload(spec);
    stamps::told(stamps::speed(context, script, spec.nic).slot(packet), "what a packet takes")
}

/// Who follows its cuts is told from who does not by the first of them, or by what a row of them leaves, whichever shows more: each packet that the last
/// of a row holds back comes that much later than one of a sender that never cuts.
pub(super) fn of_follows(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
) -> Option<Stamps> {
    let flow = measure.named("flow");
    let row = Paced::of(flow, context, script).and_then(|paced| {
        let number = (0..).zip(&script.flows).find(|(_, spec)| spec.name == flow)?.0;
        let own = Some(script.connection(number));
        let cnps = (0..).zip(&script.streams).filter(|(_, spec)| spec.of == own);
        let rows = cnps.filter_map(|(stream, spec)| in_a_row(&paced, script, (stream, spec)));
        rows.max_by_key(|one| one.within)
    });
    [cut_of(flow, context, script), row].into_iter().flatten().max_by_key(|one| one.within)
}

/// What the CNPs of a stream leave between two packets, each of which cuts, without an increase between two of them. `None`: they do not for certain.
fn in_a_row(
    paced: &Paced<'_>,
    script: &Script,
    (stream, spec): (u16, &StreamSpec),
) -> Option<Stamps> {
    let (rp, line) = (paced.rp, paced.line);
    let (StreamRate::Every(every), Some(count)) = (spec.rate, spec.count) else { return None };
    let start = script.steps.iter().find(|step| step.action == Action::StartStream(stream))?;
    // The last one's packets are seen, too.
    let seen = start.at + every * (count + 1) <= script.length;
    let apart = every + rp.latency.width();
    let by_time = rp.timer > apart;
    let by_bytes = rp.byte_counter == Bytes(0) || line.serialise(rp.byte_counter) > apart;
    let cuts =
        every.saturating_sub(rp.latency.width()) >= rp.cut_window && rp.by_period != Some(true);
    if !(rp.enable && rp.limiting == Limiting::Packet && seen && by_time && by_bytes && cuts) {
        return None;
    }
    let timers = apart / rp.alpha_timer.max(Dur(1)) + 1;
    let mut rate = forms::first_cut(rp, line);
    let mut alpha = forms::raised(rp, forms::initial_alpha(rp));
    for _ in 1..count {
        let faded = forms::decayed(rp, alpha, (0, timers));
        rate = forms::cut(rp, rate, faded);
        alpha = forms::raised(rp, faded);
    }
    stamps::told(
        paced.leaves(rate),
        &format!("the gap that {count} cuts in a row leave between two packets"),
    )
}

/// The same, and when: by what a CNP takes until it cuts.
pub(super) fn of_reaction(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
) -> Option<Stamps> {
    let paced = Paced::of(measure.named("flow"), context, script)?;
    let takes = stamps::told(paced.rp.latency.most(), "what a CNP takes until it cuts");
    stamps::finest([takes, of_cut(measure, context, script)])
}

/// The gap of the least rate, which one of a rate twice as high, or of half of it, is told from.
pub(super) fn of_least(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
) -> Option<Stamps> {
    let paced = Paced::of(measure.named("flow"), context, script)?;
    let left = paced.leaves(Real::of(paced.rp.min_rate.bps));
    stamps::told(left, "the gap that the least rate leaves between two packets")
}
