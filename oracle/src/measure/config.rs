//! Settings that a device must take, and settings that it must refuse.

use super::judge_context::{JudgeContext, TrialReading, judgement};
use super::judged::{At, Judged, looked};
use super::measurement::{Known, Needs, Placement, Red, Tells};
use crate::Prediction;
use crate::spec::pfcwd::accepts;
use crate::trials::context::Context;
use crate::verdict::Doubt;
use rig_capture::{Span, Unit};
use rig_lab::Setting;
use rig_testcases::Measure;
use rig_testcases::vocabulary::{Entry, ValueKind, required};

const SOURCE: &str = "sonic-swss pfcwdorch.cpp, sonic-pfcwd.yang, sonic-utilities pfcwd/main.py";

/// What `configure:` with `expect:` asks for: `config` has no key of its own.
pub(super) static TRIED: Known = Known {
    entry: Entry {
        name: "config",
        parts: Some(&[]),
        about: "whether the device takes the case's settings, or refuses what it must",
        source: "what the case wants",
        fields: &[required(
            "expect",
            ValueKind::Word(&["rejected", "accepted"]),
            "rejected or accepted",
            "what is to become of each of them",
        )],
        ..Entry::USUAL
    },
    needs: |_| Needs::Settings,
    tells: Tells::Each("setting"),
    red: Red::Mutated("limits-refused-broadcom", "deviation=accepts_out_of_range"),
    on: |_| String::new(),
    expected: |measure, context, _| {
        let wanted = if is_rejected(measure) { "each one refused" } else { "each one accepted" };
        let mut all = vec![("wanted", wanted.to_owned())];
        for setting in &context.case.configure {
            let answer = match oracle(context, setting) {
                Ok(()) => "accepted".to_owned(),
                Err(why) => format!("refused: {why}"),
            };
            all.push(("predicted", format!("{} {answer}", shown(setting))));
        }
        all.push(("source", SOURCE.to_owned()));
        all
    },
    judge: |measure, done, judged| judge(done, is_rejected(measure), judged),
    placement: Placement::Apart,
    over_memories: |_| true,
    ..Known::USUAL
};

fn is_rejected(measure: &Measure) -> bool {
    measure.arguments.word("expect") == Some("rejected")
}

/// `pfcwd.poll_interval=100ms`, and `rdma_router.quota=never` of one that is unset.
pub fn shown(setting: &Setting) -> String {
    let value = match setting.value.as_str() {
        Some(text) => text.to_owned(),
        None if setting.value.is_null() => "never".to_owned(),
        None => setting.value.to_string(),
    };
    format!("{}={value}", setting.path)
}

/// What the oracle says of a setting.
fn oracle(context: &Context<'_>, setting: &Setting) -> Result<(), String> {
    let now = &context.group.declared;
    let declared = now.with(setting).map_err(|bad| bad.to_string())?;
    let both = now.switch().zip(declared.switch());
    let Some((watch, (now, wanted))) = context.watch.as_ref().zip(both) else {
        return Ok(());
    };
    accepts(&now.pfcwd, &wanted.pfcwd, watch.rule.family).map_err(ToString::to_string)
}

/// Tries each setting of the case on a device of its own.
fn judge(done: &JudgeContext<'_>, rejected: bool, judged: &mut Judged) {
    let context = done.context;
    for (setting, tried) in context.case.configure.iter().zip(done.tried) {
        let label = shown(setting);
        let answer = match tried {
            Ok(answer) => answer,
            Err(why) => {
                judged.doubt(At::Whole, Doubt { reason: "not-observable", detail: why.clone() });
                continue;
            }
        };
        // The oracle's own word beside the case's: a case that contradicts it is wrong, and is told so.
        let oracle = oracle(context, setting);
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(u64::from(rejected)),
            formula: "",
            text: match &oracle {
                Err(why) => format!("refused: {why}"),
                Ok(()) => "accepted".to_owned(),
            },
            source: SOURCE,
        };
        if oracle.is_err() != rejected {
            let detail = format!(
                "the case wants {label} the other way round than the oracle: {}",
                want.text
            );
            judged.doubt(At::Whole, Doubt { reason: "not-observable", detail });
        }
        let (got, span) = (answer.told(), Span::exactly(answer.number()));
        let looked = looked(1, "settings");
        let read = TrialReading { span, want, got: Some(got), records: Vec::new(), looked };
        let place = context.group.label.clone();
        if let Some(one) = judgement("config", &label, place, &[(1, read)]) {
            judged.file(At::Whole, one);
        }
    }
}
