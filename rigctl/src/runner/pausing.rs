//! The trial of the rig's own ports before a run: whether each stops in every class that the run sends, and how fast. What
//! does not stop makes the cases that use it inconclusive: no verdict rests on a generator that was not seen to obey.

use super::applicability;
use super::choose::choose;
use crate::executor::wire::Share;
use crate::executor::{Benches, Broken};
use rig_generator::pausing::{Reaction, Use};
use rig_lab::{Lab, Profile};
use rig_oracle::measure;
use rig_oracle::trials::points::groups;
use rig_oracle::trials::seed::Seed;
use rig_oracle::verdict::Doubt;
use rig_reports::{PausedClass, Pausing};
use rig_testcases::Case;
use rig_units::Dur;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What the trial showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    report: Pausing,
    reactions: Vec<Reaction>,
    bound: Dur,
}

impl Tried {
    /// Tries every class that `cases` send, on the bench of the first that runs; `None` where none does, or
    /// there are no benches.
    ///
    /// # Errors
    /// There is no such bench, or a port gave up.
    pub fn before(
        lab: &Lab,
        only: Option<&str>,
        cases: &[&Case],
        benches: &Arc<Benches>,
    ) -> Result<Option<Tried>, String> {
        // To a NIC that is perftest's frames leave one by one: what a pause held back is late, and seen to be.
        if benches.flows().is_some() {
            return Ok(None);
        }
        let mut uses: BTreeSet<Use> = BTreeSet::new();
        let mut first = None;
        for case in cases {
            let Ok((profile, _)) = choose(lab, only, case) else { continue };
            uses.extend(used(lab, profile, case));
            first.get_or_insert(profile);
        }
        let Some(profile) = first.filter(|_| !uses.is_empty()) else { return Ok(None) };
        // One DSCP for a class is as good as another.
        let mut uses: Vec<Use> = uses.into_iter().collect();
        uses.dedup_by_key(|used| (used.port, used.class));
        let mut bench = match benches.lease(profile, Share::default()) {
            // The run is over before it begins, and says so itself.
            Err(Broken::Stopped) => return Ok(None),
            leased => leased.map_err(|broken| broken.to_string())?,
        };
        let tried = bench.try_pausing(&uses);
        let reactions = tried.map_err(|broken| {
            bench.spoil();
            broken.to_string()
        })?;
        let from = if bench.has_far_ends() { "wire" } else { "fed" };
        Ok(Some(Tried::of(from, reactions, bench.bound())))
    }

    fn of(from: &str, reactions: Vec<Reaction>, bound: Dur) -> Tried {
        let class = |reaction: &Reaction| PausedClass {
            port: format!("p{}", u32::from(reaction.port) + 1),
            class: reaction.class,
            stops: reaction.stops.map(|after| after.0),
            resumes: reaction.resumes.map(|after| after.0),
            others: reaction.others,
            honoured: reaction.is_well(bound),
        };
        let classes = reactions.iter().map(class).collect();
        let report = Pausing { from: from.to_owned(), bound: bound.0, classes };
        Tried { report, reactions, bound }
    }

    /// For the report.
    pub const fn report(&self) -> &Pausing {
        &self.report
    }

    /// Why nothing that `case` measures on the device of `profile` counts; `None` when it does.
    pub fn doubt(&self, lab: &Lab, profile: &Profile, case: &Case) -> Option<Doubt> {
        if self.reactions.iter().all(|reaction| reaction.is_well(self.bound)) {
            return None;
        }
        let uses = used(lab, profile, case);
        let concerns = |class: &(&Reaction, &PausedClass)| {
            let (Reaction { port, class, .. }, _) = class;
            uses.iter().any(|used| (used.port, used.class) == (*port, *class))
        };
        let mut tried = self.reactions.iter().zip(&self.report.classes).filter(concerns);
        let detail = tried.find_map(|(_, class)| class.wrong(self.report.bound))?;
        Some(Doubt { reason: "pause-not-honoured", detail })
    }
}

/// The classes that leave the rig's ports in a case.
fn used(lab: &Lab, profile: &Profile, case: &Case) -> BTreeSet<Use> {
    let mut uses = BTreeSet::new();
    let Ok(reach) = applicability::of(lab, profile, case) else { return uses };
    for group in groups(&reach.case, &profile.declared).unwrap_or_default() {
        let context = measure::context(lab, profile, &reach.case, group, Seed::of_run(0));
        let points = context.points();
        // Every point sends the same streams.
        let point = points.unwrap_or_default().into_iter().next();
        let Some(Ok(script)) = point.map(|point| context.script(&point)) else { continue };
        uses.extend(script.streams.iter().map(|stream| Use {
            port: script.dut_ports[usize::from(stream.from)],
            class: stream.class,
            dscp: stream.dscp,
        }));
    }
    uses
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::wire::{Bench, Maker, Start};
    use crate::runner::bundled;

    fn tried(deaf: &[(u16, u8)]) -> Tried {
        let each = (0..4).flat_map(|port| (0..8).map(move |class| (port, class)));
        let reactions = each.map(|(port, class)| Reaction {
            port,
            class,
            stops: Some(if deaf.contains(&(port, class)) { Dur::ms(16) } else { Dur::ZERO }),
            resumes: Some(Dur::ZERO),
            others: true,
        });
        Tried::of("wire", reactions.collect(), Dur::ms(4))
    }

    fn doubts(tried: &Tried) -> Vec<(String, Option<Doubt>)> {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let cases = bundled::cases().iter();
        let doubt = |case: &Case| {
            let (profile, _) = choose(&lab, None, case).expect("it suits one");
            (case.id.to_string(), tried.doubt(&lab, profile, case))
        };
        cases.map(doubt).collect()
    }

    #[test]
    fn ports_that_stop_raise_no_doubt() {
        assert!(doubts(&tried(&[])).iter().all(|(_, doubt)| doubt.is_none()));
    }

    #[test]
    fn a_class_that_does_not_stop_is_in_doubt_where_it_is_used() {
        // The reverse stream is the only one of class 3 that leaves by p2 in most cases.
        let doubts = doubts(&tried(&[(1, 3)]));
        let (with, without): (Vec<_>, Vec<_>) =
            doubts.iter().partition(|(_, doubt)| doubt.is_some());
        assert!(!with.is_empty() && !without.is_empty());
        let latency = without.iter().any(|(id, _)| id == "pfcwd::detection-latency-broadcom");
        assert!(latency, "nothing of it leaves by p2");
        let storm = with.iter().find(|(id, _)| id.starts_with("pfcwd::"));
        let (_, doubt) = storm.expect("a reverse stream of its class leaves by p2");
        let doubt = doubt.clone().expect("in doubt");
        assert_eq!(doubt.reason, "pause-not-honoured");
        assert_eq!(doubt.detail, "p2 class 3 still sent 16ms after an XOFF (bound 4ms)");
    }

    /// What comes of a bench whose device is to be booted yet.
    #[derive(Debug)]
    struct Boots(Broken);

    impl Maker for Boots {
        fn bench(&self, _: &Profile) -> Result<Bench, Broken> {
            Err(self.0.clone())
        }
    }

    #[test]
    fn who_asks_for_the_end_while_a_device_boots_has_not_broken_the_lab() {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let mut cases = bundled::cases().iter();
        let case = cases.find(|case| case.id.case == "action-drop-broadcom").expect("a case");
        let before = |broken: Broken| {
            let benches = Benches::new(Start::Made(Arc::new(Boots(broken))), 1);
            Tried::before(&lab, None, &[case], &benches)
        };
        assert_eq!(before(Broken::Stopped), Ok(None));
        let why = "no answer".to_owned();
        assert_eq!(before(Broken::Device(why.clone())), Err(why));
    }

    #[test]
    fn a_case_that_uses_a_class_that_does_not_stop_is_inconclusive_and_is_not_run() {
        use crate::runner::case::{self, Rig};
        use crate::stop::Stop;
        use rig_oracle::Verdict;
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let mut cases = bundled::cases().iter();
        let case = cases.find(|case| case.id.case == "action-drop-broadcom").expect("a case");
        let (stop, deaf) = (Stop::default(), tried(&[(0, 3)]));
        let rig = Rig { pausing: Some(&deaf), ..Rig::of(&lab, &[case], 7, &stop) };
        let ran = case::run(&rig, case);
        let Verdict::Inconclusive(doubt) = ran.report.verdict else {
            panic!("{:?}", ran.report.verdict);
        };
        assert_eq!(doubt.reason, "pause-not-honoured");
        assert!(ran.trials.is_empty());
    }
}
