//! Settings that a device must take, and settings that it must refuse.

use super::{At, Done, Judged, Read, judgement, looked};
use rig_capture::{Span, Unit};
use rig_oracle::Prediction;
use rig_oracle::spec::pfcwd::accepts;
use rig_oracle::verdict::Doubt;

/// Tries each setting of the case on a device of its own.
pub(super) fn judge(done: &Done<'_>, rejected: bool, judged: &mut Judged) {
    let session = done.session;
    for setting in &session.case.configure {
        let label = format!(
            "{}={}",
            setting.path,
            setting.value.as_str().map_or_else(|| setting.value.to_string(), str::to_owned)
        );
        let answer = match session.try_setting(setting) {
            Ok(answer) => answer,
            Err(why) => {
                judged.doubt(At::Whole, Doubt { reason: "not-observable", detail: why });
                continue;
            }
        };
        // The oracle's own word beside the case's: a case that contradicts it is wrong, and is told so.
        let oracle = session.group.declared.with(setting).map_err(|bad| bad.to_string());
        let oracle = oracle.and_then(|declared| {
            accepts(&declared.pfcwd, session.rule.family).map_err(ToString::to_string)
        });
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(u64::from(rejected)),
            formula: "",
            text: match &oracle {
                Err(why) => format!("refused: {why}"),
                Ok(()) => "accepted".to_owned(),
            },
            source: "sonic-swss pfcwdorch.cpp, sonic-pfcwd.yang",
        };
        if oracle.is_err() != rejected {
            let detail = format!(
                "the case wants {label} the other way round than the oracle: {}",
                want.text
            );
            judged.doubt(At::Whole, Doubt { reason: "not-observable", detail });
        }
        let got = match &answer {
            None => "accepted".to_owned(),
            Some(why) => format!("refused: {why}"),
        };
        let span = Span::exactly(u64::from(answer.is_some()));
        let looked = looked(1, "settings");
        let read = Read { span, want, got: Some(got), records: Vec::new(), looked };
        let place = session.group.label.clone();
        if let Some(one) = judgement("config", &label, place, &[(1, read)]) {
            judged.file(At::Whole, one);
        }
    }
}
