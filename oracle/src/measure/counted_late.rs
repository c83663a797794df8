//! Groups that count their frames late (`buffer.accounting_delay`). How many of the last frames are missing at a limit is any number up to what a port
//! brings in that time. Where the outcome hangs on which of them it is, or on several groups of which each is late by another one, there is no form for it
//! here, and nothing is said.

use crate::trials::context::Context;
use rig_testcases::{Measure, Script};

/// Why nothing says what hangs on the very frame that crossed.
pub(super) fn by_any(_: &Measure, context: &Context<'_>, _: &Script) -> Option<String> {
    let delay = context.group.declared.switch()?.buffer.accounting_delay?;
    Some(format!(
        "a group counts frames up to {} late (buffer.accounting_delay): which frame crosses its limit is not known",
        delay.most()
    ))
}

/// The same where more than one lossless stream fills what limits are about.
pub(super) fn by_several(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
) -> Option<String> {
    let qos = &context.group.declared.switch()?.qos;
    let lossless = script.streams.iter().filter(|spec| qos.lossless(spec.class)).count();
    (lossless > 1).then(|| by_any(measure, context, script)).flatten()
}
