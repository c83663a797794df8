//! Which cases fail on which mutants, as far as that was tried.

use super::untouched::untouched;
use crate::mutation;
use crate::runner::case::{self, Rig};
use rig_lab::Lab;
use rig_oracle::Verdict;
use rig_testcases::{Case, CaseId};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What became of cases on mutants on one [`Rig`]: a case does the same on the same mutant each time, so that each pair is run
/// once, whoever asks how often.
#[derive(Debug, Default)]
pub struct Tried(Mutex<BTreeMap<(CaseId, String), Fails>>);

/// Empty until it has been run; whoever asks meanwhile waits for it.
type Fails = Arc<OnceLock<Result<bool, String>>>;

impl Tried {
    /// Whether a case fails on a mutant, as it is typed behind `--mutate`. One that it leaves as it is does not: the healthy device
    /// was tried before.
    pub(super) fn fails(&self, rig: &Rig<'_>, case: &Case, mutant: &str) -> Result<bool, String> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let one = Arc::clone(all.entry((case.id.clone(), mutant.to_owned())).or_default());
        drop(all);
        let run = || {
            if untouched(rig, case, mutant) {
                return Ok(false);
            }
            let lab = broken(rig.lab, mutant)?;
            let rig = Rig { lab: &lab, ..*rig };
            Ok(matches!(case::run(&rig, case).report.verdict, Verdict::Fail(_)))
        };
        one.get_or_init(run).clone()
    }
}

/// The lab with the mutant in every device.
fn broken(lab: &Lab, text: &str) -> Result<Lab, String> {
    let mut lab = lab.clone();
    mutation::apply(&mut lab, &[text.to_owned()]).map_err(|faults| faults.join("; "))?;
    Ok(lab)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::bundled;
    use crate::stop::Stop;

    #[test]
    fn a_pair_is_run_once_and_no_answer_is_that_of_another_pair() {
        let mut cases = bundled::cases().iter();
        let case = cases.find(|case| case.id.to_string() == "recovery::one-lost-response");
        let case = case.expect("a case that is turned red by what it is about");
        let (late, other) = ("deviation=read_asks_one_psn_late", "nic.np.interval=x2");
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let (stop, known) = (Stop::default(), Tried::default());
        let rig = Rig::of(&lab, &[case], 1, &stop);
        assert_eq!(known.fails(&rig, case, late), Ok(true));
        assert_eq!(known.fails(&rig, case, other), Ok(false));
        // Where there is no device nothing fails, but this is not asked any more.
        let bare = Lab { duts: Vec::new(), ..lab.clone() };
        let rig = Rig { lab: &bare, ..rig };
        assert_ne!(Tried::default().fails(&rig, case, late), Ok(true));
        assert_eq!(known.fails(&rig, case, late), Ok(true));
        assert_eq!(known.fails(&rig, case, other), Ok(false));
    }
}
