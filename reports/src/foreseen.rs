//! What a case is going to tell, by a run of it on the emulated device.

use crate::{CaseReport, figure};
use rig_oracle::Verdict;

/// One line of each judgement: what it tells from what is predicted; of several in a row that tell the same one, with how many they are. In front of them, where a healthy
/// device does not pass, why that is so.
pub fn foreseen(report: &CaseReport) -> Vec<String> {
    let doubt = match &report.verdict {
        Verdict::Pass | Verdict::Skipped(_) => None,
        Verdict::Inconclusive(doubt) => Some(format!(
            "inconclusive on a device as declared: {}: {}",
            doubt.reason, doubt.detail
        )),
        Verdict::Fail(findings) => findings.first().map(|one| {
            format!(
                "fails on a device as declared: {}: want {}, got {}",
                one.rule, one.want, one.got
            )
        }),
        Verdict::Broken(why) => Some(format!("breaks: {why}")),
    };
    let told = report.judgements.iter();
    let told: Vec<String> =
        told.map(|one| format!("{}: {}", figure::name(one), one.resolution)).collect();
    let once = told.chunk_by(|one, next| one == next).map(|alike| match alike {
        [one] => one.clone(),
        several => format!("{} ({} alike)", several[0], several.len()),
    });
    doubt.into_iter().chain(once).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use rig_oracle::verdict::Doubt;

    #[test]
    fn each_judgement_is_a_line_and_why_none_can_be_had_comes_first() {
        let mut report = fixture::pass();
        let told = foreseen(&report);
        assert_eq!(told.len(), report.judgements.len());
        assert!(told[0].contains("shows"), "{told:?}");
        let one = report.judgements[0].clone();
        report.judgements.insert(0, one);
        let twice = foreseen(&report);
        assert_eq!((twice.len(), &twice[0]), (told.len(), &format!("{} (2 alike)", told[0])));
        let detail = "no frame is certain to have met more than kmin".to_owned();
        report.verdict = Verdict::Inconclusive(Doubt { reason: "not-observable", detail });
        assert_eq!(
            foreseen(&report)[0],
            "inconclusive on a device as declared: not-observable: no frame is certain to have met more than kmin"
        );
    }
}
