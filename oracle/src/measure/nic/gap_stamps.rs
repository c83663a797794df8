//! What timestamps tell of a rate: the gaps that a limiter leaves between packets, by the closed forms of its cuts.

use super::super::stamps::{self, Stamps};
use crate::spec::nic::forms;
use crate::spec::nic::real::Real;
use crate::trials::context::Context;
use rig_lab::{Limiting, Rp};
use rig_testcases::{Measure, Script};
use rig_units::{Bytes, Dur, PortSpeed};

/// What the shortest of the full packets of a message have beside their payload: Ethernet, IPv4, UDP, BTH, ICRC and FCS.
const HEADERS: Bytes = Bytes(62);

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
        let packet = Bytes(spec.mtu.min(spec.message).into()) + HEADERS;
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
