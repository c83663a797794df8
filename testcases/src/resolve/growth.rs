//! Whether what grows together meets one limit, or each its own: of a mixture nothing is predicted.

use crate::{Case, Growth, Measure, Script, Threshold};
use rig_lab::{Accounting, Declared, Fault};
use std::collections::BTreeSet;

/// Refuses streams that grow together of which some share what the device limits, and some do not.
pub(super) fn check(case: &Case, declared: &Declared, script: &Script) -> Result<(), Fault> {
    for measure in &case.measure {
        let Measure::Threshold(
            Threshold::Xoff { streams, growth: Growth::Together }
            | Threshold::Drop { streams, growth: Growth::Together },
        ) = measure
        else {
            continue;
        };
        let own = script.streams.iter().filter(|spec| streams.contains(&spec.name));
        let limited = own.map(|spec| match declared.buffer.accounting {
            Accounting::Ingress => (spec.from, spec.class),
            Accounting::Voq => (spec.to, spec.class),
        });
        let limits = limited.collect::<BTreeSet<_>>().len();
        if limits != 1 && limits != streams.len() {
            let what = match declared.buffer.accounting {
                Accounting::Ingress => "group",
                Accounting::Voq => "queue",
            };
            let found = format!(
                "some of the streams of `{}` share a {what}, and some do not",
                measure.name()
            );
            let want = format!("streams that are all of one {what}, or each of its own");
            return Err(case.fault(&format!("streams.{}", streams[0]), found, want));
        }
    }
    Ok(())
}
