//! Which of two ways of recovery a NIC is declared to have, for what judges it by that.

use super::super::judge_context::{JudgeContext, TrialReading};
use crate::spec::nic::selective;
use crate::trials::trial::Trial;
use rig_lab::{Rc, Recovery};
use rig_testcases::Verb;

/// How a NIC recovers that is declared so.
pub(super) fn declared(rc: &Rc) -> Recovery {
    rc.recovery.unwrap_or(Recovery::GoBackN)
}

/// The rule and where it comes from, for reports.
pub(super) fn rule(rc: &Rc) -> (&'static str, &'static str) {
    match declared(rc) {
        Recovery::GoBackN => ("go-back-N, numbers modulo 2^24", crate::spec::nic::rc::SOURCE),
        Recovery::SelectiveRepeat => ("selective repeat, numbers modulo 2^24", selective::SOURCE),
    }
}

/// The same NIC, recovering in the other way.
pub(super) fn otherwise(rc: &Rc) -> Rc {
    let other = match declared(rc) {
        Recovery::GoBackN => Recovery::SelectiveRepeat,
        Recovery::SelectiveRepeat => Recovery::GoBackN,
    };
    Rc { recovery: Some(other), resend_extra: None, ..*rc }
}

/// Says of what is wrong that all of it is right by the other rule, where `is_right` of a NIC that keeps that one says so.
pub(super) fn named(
    mut read: TrialReading,
    rc: &Rc,
    (end, part): (&str, &str),
    is_right: impl FnOnce(&Rc) -> bool,
) -> TrialReading {
    let other = otherwise(rc);
    let Some(got) = read.got.take() else { return read };
    read.got = Some(match is_right(&other) {
        true => format!(
            "{got}: its {end} does {}, and {} is declared ({part}.rc.recovery)",
            declared(&other).words(),
            declared(rc).words()
        ),
        false => got,
    });
    read
}

/// Why nobody predicts what is asked for anew of a READ, or sent: what a NIC with selective repeat asks for no standard says.
pub(super) fn of_a_read(done: &JudgeContext<'_>, trial: &Trial, flow: &str) -> Option<String> {
    let (_, spec) = trial.flow(flow).ok().filter(|(_, spec)| spec.verb == Verb::Read)?;
    let declared = done.context.nics();
    let of = |port: u16| {
        let behind = *trial.script.dut_ports.get(usize::from(port))?;
        declared.behind(behind)
    };
    let selects = [spec.nic, spec.to].into_iter().filter_map(of);
    selects.map(|nic| &nic.rc).any(selective::is_kept).then(|| {
        format!("{flow} is a READ, and what of one is asked for anew with selective repeat is not predicted")
    })
}
