//! A threshold that is crossed twice: a sender of a faster port than the one it sends to has frames left when the device says XON, and what
//! is lost behind either crossing is one count.

use super::stamps;
use crate::trials::context::Context;
use rig_testcases::{Measure, Script, Wanted};

/// Why nothing says what is lost behind the first.
pub(super) fn by_its_sender(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
) -> Option<String> {
    let (_, spec) = stamps::stream(script, measure.named("stream"))?;
    let [from, to] = [spec.from, spec.to].map(|port| stamps::speed(context, script, port));
    let port = |port: u16| script.ports.get(usize::from(port));
    let (sender, receiver) = (port(spec.from)?, port(spec.to)?);
    (measure.wanted("expect") == Wanted::Predicted && from > to).then(|| {
        format!(
            "{sender} of {from} brings more of {} than {receiver} of {to} takes away once it sends again: the threshold is crossed a second time",
            spec.name
        )
    })
}
