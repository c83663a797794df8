//! What timestamps tell of a NIC that answers marks: how far apart they are, and what is declared of their CNPs.

use super::super::super::stamps::{self, Stamps};
use crate::trials::context::Context;
use rig_frames::ip::Ecn;
use rig_lab::Np;
use rig_testcases::{Measure, Script, StreamRate};

const INTERVAL_OF_MARKS: &str = "the interval within which one mark is answered";

/// The notification point behind the port of a measure, where it is on.
fn notifying<'a>(measure: &Measure, context: &'a Context<'_>, script: &Script) -> Option<&'a Np> {
    let port = script.ports.iter().position(|name| name == measure.named("port"))?;
    let np = &context.nics().behind(*script.dut_ports.get(port)?)?.np;
    np.enable.then_some(np)
}

/// Whether marked frames are sent to the NIC, or made on the way.
fn is_marked(measure: &Measure, script: &Script) -> bool {
    let port = script.ports.iter().position(|name| name == measure.named("port"));
    let sent = script.streams.iter().any(|spec| {
        spec.ecn == Ecn::Ce && port == Some(usize::from(spec.from)) && spec.is_to_nic()
    });
    sent || script.between.is_some()
}

/// Which mark a CNP answers: two that follow one another are told apart.
fn apart(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<Stamps> {
    let port = script.ports.iter().position(|name| name == measure.named("port"))?;
    let port = u16::try_from(port).ok()?;
    let speed = stamps::speed(context, script, port);
    let own = script.streams.iter().filter(|spec| spec.is_to_nic() && spec.from == port);
    let gaps = own.map(|spec| match spec.rate {
        StreamRate::Every(gap) => gap,
        StreamRate::Load(_) => speed.slot(spec.on_wire()),
    });
    match gaps.min() {
        // The CNP of either comes within what stamps leave open of both ends.
        Some(gap) => stamps::told(gap / 2, "half of the time from one frame to the next"),
        None => stamps::steps(script),
    }
}

/// Where each mark is answered the CNPs are counted.
pub(super) fn of_answers(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
) -> Option<Stamps> {
    let np = notifying(measure, context, script)?;
    is_marked(measure, script).then(|| stamps::told(np.interval, INTERVAL_OF_MARKS))?
}

/// Whose CNP one is, and that it did not take as long again.
pub(super) fn of_latency(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
) -> Option<Stamps> {
    let np = notifying(measure, context, script)?;
    let takes = stamps::told(np.latency.most(), "the longest that is declared of a CNP");
    stamps::finest([takes, apart(measure, context, script)])
}

/// The interval; where there is none each mark has its own CNP.
pub(super) fn of_interval(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
) -> Option<Stamps> {
    let np = notifying(measure, context, script)?;
    stamps::told(np.interval, INTERVAL_OF_MARKS).or_else(|| apart(measure, context, script))
}
