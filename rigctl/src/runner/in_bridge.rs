//! A case on the bridge of a guest. It neither sends nor obeys PFC, and what its kernel has memory for is no buffer of an ASIC.

use super::unfit::{Missing, Unfit};
use rig_testcases::vocabulary::{ByMemory, ByPfc};
use rig_testcases::{Case, Measure};

/// The case as it is run there; what it does without is added to `left_out`.
///
/// # Errors
/// What it asks for that nothing there does.
pub(super) fn of(case: &Case, left_out: &mut Vec<String>) -> Result<Case, Unfit> {
    if let Some((name, _)) = case.storms.iter().next() {
        let why = format!("`{name}` holds frames by PFC, which a bridge of Linux does not obey");
        return Err(Missing::Lab.so(why));
    }
    let mut case = case.clone();
    case.measure.retain(|measure| {
        let why = unshown(measure);
        left_out.extend(why.map(|why| format!("{}: {why}", measure.name())));
        why.is_none()
    });
    if case.measure.is_empty() {
        let why = format!("nothing of it can be measured: {}", left_out.join("; "));
        return Err(Missing::Lab.so(why));
    }
    Ok(case)
}

/// Why a bridge shows nothing of a measure; `None` where it does.
fn unshown(measure: &Measure) -> Option<&'static str> {
    if measure.entry.memory == ByMemory::Shared {
        return Some("the memory of a kernel has no thresholds that ports share");
    }
    let none = "a bridge of Linux sends no PFC and obeys none";
    (measure.entry.pfc != ByPfc::No).then_some(none)
}

#[cfg(test)]
mod tests {
    use super::super::applicability;
    use rig_oracle::measure::Registry;
    use std::path::Path;

    #[test]
    fn cases_that_set_a_queueing_discipline_run_beside_those_that_take_what_is_prepared() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/linux-switch.yaml");
        let lab = rig_lab::read::lab(Some(Path::new(path))).expect("a lab");
        let suites = rig_testcases::read::bundled(&Registry).expect("the catalogue");
        let cases = suites.into_iter().flat_map(|suite| suite.cases);
        let run = cases.filter(|case| case.suits(&lab.duts[0]).is_ok());
        let run = run.filter_map(|case| {
            let of = applicability::of(&lab, &lab.duts[0], &case).ok()?;
            // What is said of classes that the case does not use nobody sets.
            assert!(of.case.settings.iter().all(|one| one.path != "qos.pfc_enable"), "{}", case.id);
            Some(format!("{} {}", case.id, of.left_out.join("; ")))
        });
        insta::assert_snapshot!(run.collect::<Vec<_>>().join("\n"));
    }
}
