//! One case from its first trial to its verdict.

use super::answered::{not_applicable, undecided};
use super::applicability::Applicability;
use super::applied;
use super::budget;
use super::choose::choose;
use super::deaf::deaf;
use super::evidence;
use super::pausing::Tried;
use super::plan;
use super::repeats::Repeats;
use super::sent::Sent;
use super::session::{Obstacle, Session};
use super::steps;
use super::stimulus;
use super::sweep_curves::SweepCurves;
use super::under_test;
use crate::executor::Benches;
use crate::outdir::OutDir;
use crate::stop::Stop;
use crate::to_disk::Folder;
use crate::wall::Stopwatch;
use rig_capture::analyse::timeline::Timeline;
use rig_capture::analyse::timeline_counters;
use rig_capture::pcapng::Spooled;
use rig_lab::{Lab, Profile};
use rig_oracle::judge::answers::Answers;
use rig_oracle::judge::conclude;
use rig_oracle::measure::{self, JudgeContext};
use rig_oracle::trials::ask::{Ask, Before};
use rig_oracle::trials::context::Context;
use rig_oracle::trials::effort::Effort;
use rig_oracle::trials::kept::{Common, Kept};
use rig_oracle::trials::points::{Point, groups};
use rig_oracle::trials::seed::Seed;
use rig_oracle::trials::table::{self, Table};
use rig_oracle::trials::trial::Trial;
use rig_oracle::verdict::{Curve, Doubt, Judgement, Verdict};
use rig_reports::{CaseReport, Trials, Void};
use rig_testcases::{Case, Expect, Script};
use rig_units::Dur;
use std::cell::Cell;
use std::sync::Arc;

/// What every case of a run shares.
#[derive(Debug, Clone, Copy)]
pub struct Rig<'a> {
    /// The lab that the cases run on.
    pub lab: &'a Lab,
    /// Only this device of it.
    pub only: Option<&'a str>,
    /// The run's seed.
    pub seed: u64,
    /// Asks for a stop.
    pub stop: &'a Stop,
    /// The chance of calling a healthy device faulty that one judgement of counts may spend.
    pub alpha: f64,
    /// How many trials it runs to tell how small a change.
    pub effort: Effort,
    /// How the cases were named on the command line, for the command that repeats one.
    pub path: &'a str,
    /// Flags that change what a case does, for the same.
    pub flags: &'a str,
    /// Where real ports come from; none in virtual time.
    pub benches: Option<&'a Arc<Benches>>,
    /// How these ports took pauses before the run.
    pub pausing: Option<&'a Tried>,
    /// Where every frame of every trial goes, if somebody asked for that.
    pub to_disk: Option<&'a Folder>,
    /// Where they go on their way into the evidence, if all of them are to be in it.
    pub all: Option<&'a OutDir>,
}

impl<'a> Rig<'a> {
    /// One in virtual time for these cases, with the usual effort. Whatever is otherwise is said beside it.
    pub fn of(lab: &'a Lab, cases: &[&Case], seed: u64, stop: &'a Stop) -> Rig<'a> {
        Rig {
            lab,
            only: None,
            seed,
            stop,
            alpha: budget::each(cases),
            effort: Effort::USUAL,
            path: "",
            flags: "",
            benches: None,
            pausing: None,
            to_disk: None,
            all: None,
        }
    }
}

/// A case that was run: what is reported, and the trials that can become evidence.
#[derive(Debug)]
pub struct Ran {
    /// What is reported.
    pub report: CaseReport,
    /// Every trial, in order.
    pub trials: Vec<Kept>,
    /// What each showed of values that rest on all of them together.
    pub tables: Vec<Table>,
}

/// Runs a case to its verdict.
pub fn run(rig: &Rig<'_>, case: &Case) -> Ran {
    let watch = Stopwatch::start();
    let mut ran = match choose(rig.lab, rig.only, case) {
        Err(why) => conclude(case, String::new(), Work::default(), Verdict::Skipped(why)),
        Ok((profile, reach)) => {
            let mut ran = on(rig, profile, &reach);
            ran.report.left_out = reach.left_out;
            ran.report.system = under_test::system(profile);
            ran
        }
    };
    ran.report.repeat = repeat(rig, case);
    ran.report.wall = watch.elapsed();
    ran
}

/// What a case comes to as it can be had of `lab`, run in virtual time all the same; `None` where it is skipped there.
pub fn foreseen(rig: &Rig<'_>, lab: &Lab, case: &Case) -> Option<CaseReport> {
    let (profile, reach) = choose(lab, rig.only, case).ok()?;
    Some(on(rig, profile, &reach).report)
}

/// Runs what can be had of a case on a device.
fn on(rig: &Rig<'_>, profile: &Profile, Applicability { case, .. }: &Applicability) -> Ran {
    let mut work = Work::default();
    let deaf = rig.pausing.and_then(|tried| tried.doubt(rig.lab, profile, case));
    let verdict = match deaf {
        Some(doubt) => Verdict::Inconclusive(doubt),
        None => {
            let seed = Seed::of_run(rig.seed).split(&case.id.to_string());
            match all_groups(rig, profile, case, &seed, &mut work) {
                Ok(()) => work.verdict(case),
                Err(Ended::Away(doubt)) => work.left(case, doubt),
                Err(Ended::Broken(why)) => Verdict::Broken(why),
            }
        }
    };
    conclude(case, profile.name.clone(), work, verdict)
}

/// Why a case came to no end.
enum Ended {
    /// The rig could not steer or read the device any more, of which nothing is known.
    Away(Doubt),
    /// The rig or the lab broke, or somebody asked for the end.
    Broken(String),
}

impl From<String> for Ended {
    fn from(why: String) -> Ended {
        Ended::Broken(why)
    }
}

impl Ended {
    fn of(obstacle: Obstacle, work: &Work) -> Ended {
        match obstacle {
            Obstacle::Stopped => Ended::Broken(work.stopped()),
            Obstacle::Case(fault) => Ended::Broken(fault.to_string()),
            Obstacle::Broken(why) => Ended::Broken(why),
            Obstacle::Device(refused) => {
                Ended::Broken(format!("the device refused its configuration: {refused}"))
            }
            Obstacle::Away(lost) => {
                let number = work.trials.len() + 1;
                let detail = format!("trial {number}: {}", lost.plainly());
                Ended::Away(Doubt { reason: conclude::NOT_STEERED, detail })
            }
        }
    }
}

/// What was done and found so far.
#[derive(Debug, Default)]
struct Work {
    trials: Vec<Kept>,
    common: Common,
    planned: u32,
    /// A trial was void and could not be repeated: not all that were planned were had.
    short: bool,
    /// Why void ones were repeated no longer, though there was time.
    given_up: Option<String>,
    /// What the rig was to do in a trial that counts and did not: the first of it.
    unapplied: Option<Doubt>,
    /// What did not happen for the device's sake: the first of it.
    idle: Option<Doubt>,
    judgements: Vec<Judgement>,
    curves: Vec<Curve>,
    tables: Vec<Table>,
    answers: Answers,
    doubts: Vec<Doubt>,
    stimulus: Vec<String>,
    timeline: Option<Timeline>,
    sent: Sent,
    simulated: Dur,
}

impl Work {
    fn verdict(&self, case: &Case) -> Verdict {
        let void: Vec<Doubt> =
            self.trials.iter().filter_map(|trial| trial.void().cloned()).collect();
        let run = self.trials.len() - void.len();
        // Settings are tried without a trial; they count as one.
        let valid = if self.trials.is_empty() && !self.judgements.is_empty() { 1 } else { run };
        let (valid, complete) = (u32::try_from(valid).unwrap_or(u32::MAX), !self.short);
        let unapplied = self.unapplied.clone();
        let (deaf, given_up) = (deaf(&void, self.planned), self.given_up.clone());
        let trials = conclude::Trials { valid, void, unapplied, complete, given_up };
        let findings =
            self.judgements.iter().flat_map(|judgement| judgement.findings.clone()).collect();
        // What did not happen comes before what could not be seen of it.
        let idle = self.idle.iter().cloned();
        let doubts: Vec<Doubt> = idle.chain(deaf).chain(self.doubts.iter().cloned()).collect();
        conclude::conclude(&case.expect, &trials, &self.answers, &doubts, findings)
    }

    /// The verdict where the device could not be steered any more: what was found before that stands.
    fn left(&self, case: &Case, doubt: Doubt) -> Verdict {
        match self.verdict(case) {
            fail @ Verdict::Fail(_) if case.expect == Expect::Pass => fail,
            _ => Verdict::Inconclusive(doubt),
        }
    }

    /// That somebody asked for the end. Trials that are void were tried for one that counts.
    fn stopped(&self) -> String {
        let counted = self.trials.iter().filter(|trial| trial.void().is_none()).count();
        format!("stopped after {counted} of {} trials", self.planned)
    }

    /// A trial is over.
    fn keep(&mut self, trial: Trial, all: Option<Spooled>) {
        if trial.void.is_none() {
            self.unapplied = self.unapplied.take().or_else(|| applied::unapplied(&trial));
            self.idle = self.idle.take().or_else(|| applied::kept_back(&trial));
        }
        self.trials.push(Kept::of(trial, all, &mut self.common));
    }
}

fn all_groups(
    rig: &Rig<'_>,
    profile: &Profile,
    case: &Case,
    seed: &Seed,
    work: &mut Work,
) -> Result<(), Ended> {
    let mut along = SweepCurves::default();
    for group in groups(case, &profile.declared).map_err(|bad| bad.to_string())? {
        let seed = seed.split(&group.label);
        let context = measure::context(rig.lab, profile, case, group, seed);
        let points = context.points();
        let points = points.map_err(|name| format!("`{name}` has no value on this device"))?;
        let first = work.trials.len();
        let rests = measure::rests(&context);
        let mut session = Session::new(context, rests).over(rig.benches).until(rig.stop);
        let trials = all_trials(rig, &mut session, &points, work);
        let (tried, context) = (session.tried(), &session.context);
        let cut = Cell::new(false);
        let done = JudgeContext {
            context,
            points: &points,
            tried: &tried,
            trials: &work.trials[first..],
            alpha: rig.alpha,
            hurried: rig.stop.hurry_flag(),
            cut: &cut,
        };
        let judged = measure::judge(&done);
        if cut.get() {
            // What rests on a part of its trials is no judgement.
            return Err(work.stopped().into());
        }
        along.add(context, &judged.judgements);
        work.judgements.extend(judged.judgements);
        work.curves.extend(judged.curves);
        table::collect(&mut work.tables, judged.tables);
        work.answers.extend(judged.answers);
        if work.timeline.is_none() {
            work.timeline = work.trials.first().and_then(|trial| timeline(context, &trial.whole()));
        }
        // What was measured before something broke has been judged; only now it breaks the case.
        trials?;
        if work.given_up.is_some() {
            // What the other settings showed would leave the case as undecided.
            break;
        }
    }
    work.curves.extend(along.curves());
    Ok(())
}

fn all_trials<'a>(
    rig: &Rig<'a>,
    session: &mut Session<'a>,
    points: &[Point],
    work: &mut Work,
) -> Result<(), Ended> {
    let mut plan = plan::of(&session.context, points, rig.alpha, rig.effort);
    let before = work.planned;
    let mut repeats = Repeats::default();
    let patience = rig.benches.map(|benches| benches.patience());
    while let Some(ask) = plan.ask() {
        work.planned = before + plan.planned();
        if rig.stop.hurried() {
            return Err(work.stopped().into());
        }
        let number = u32::try_from(work.trials.len() + 1).unwrap_or(u32::MAX);
        session.keep_on_disk(rig.to_disk, number);
        session.spool(rig.all.map(|out| evidence::spool(out, &session.context.case.id, number)));
        let watch = Stopwatch::start();
        let trial = match one_trial(session, points, &ask, number) {
            Ok(trial) => trial,
            Err(obstacle) => return Err(Ended::of(obstacle, work)),
        };
        let all = session.spooled();
        if work.stimulus.is_empty() {
            work.stimulus = stimulus::stimulus(session.context.case, &trial.script);
        }
        work.sent.add(&trial, session.kept());
        work.simulated += trial.observation.length;
        match &trial.void {
            Some(void) if measure::as_planned(session.context.case, &trial, void) => {
                plan.spent(&ask);
            }
            Some(void) => {
                let void = (void.reason, watch.elapsed());
                if let Err(why) = repeats.again(plan.planned(), void, patience) {
                    (work.short, work.given_up) = (true, why);
                    work.keep(trial, all);
                    break;
                }
                plan.void(&ask);
            }
            None => {
                repeats.counts();
                work.doubts.extend(plan.seen(&session.context, &ask, &trial).err());
            }
        }
        work.keep(trial, all);
    }
    work.planned = before + plan.planned();
    Ok(())
}

fn one_trial(
    session: &mut Session<'_>,
    points: &[Point],
    ask: &Ask,
    number: u32,
) -> Result<Trial, Obstacle> {
    let mut point = match ask.length {
        Some(pause) => session.context.point_of(&points[ask.point], pause),
        None => points[ask.point].clone(),
    };
    if let Some(counts) = &ask.counts {
        point.counts.clone_from(counts);
    }
    let script = session.context.script(&point).map_err(Obstacle::Case)?;
    match measure::before(&session.context, &script, number) {
        Before::Nothing => {}
        Before::Rest => session.rest()?,
        Before::Reboot => session.reboot(),
    }
    let read = if number == 1 { counters(&session.context, &script) } else { Vec::new() };
    let start = measure::start(&session.context, &script, ask.place);
    let observation = session.run(&script, start, &read)?;
    let void = measure::void(&session.context, number, &script, &observation);
    let script = Arc::new(script);
    Ok(Trial { number, point: ask.point, role: ask.role, script, observation, void })
}

/// The counters to read during the first trial, which is the one that the page shows.
fn counters(context: &Context<'_>, script: &Script) -> Vec<String> {
    if script.streams.is_empty() {
        return Vec::new();
    }
    let (storm, stream) = measure::in_focus(context, script);
    timeline_counters::worth_reading(script, storm, stream)
}

/// What happened in a trial, for the page.
fn timeline(context: &Context<'_>, trial: &Trial) -> Option<Timeline> {
    if trial.script.streams.is_empty() {
        return None;
    }
    let (_, stream) = measure::in_focus(context, &trial.script);
    let mut marks = measure::marks(context, trial);
    marks.extend(steps::marks(&trial.script));
    marks.sort_by_key(|(at, _)| *at);
    Some(rig_capture::analyse::timeline(&trial.observation, &trial.script, stream, marks))
}

/// The command that repeats this case alone.
fn repeat(rig: &Rig<'_>, case: &Case) -> String {
    let path = if rig.path.is_empty() { String::new() } else { format!("{} ", rig.path) };
    format!("rigctl run {path}--only {} --seed {}{}", case.id, rig.seed, rig.flags)
}

fn conclude(case: &Case, dut: String, work: Work, verdict: Verdict) -> Ran {
    let void = work.trials.iter().filter_map(|trial| {
        let reason = |doubt: &Doubt| format!("{}: {}", doubt.reason, doubt.detail);
        Some(Void { trial: trial.number(), reason: trial.void().map(reason)? })
    });
    let trials = Trials {
        planned: work.planned,
        run: u32::try_from(work.trials.len()).unwrap_or(u32::MAX),
        void: void.collect(),
    };
    let report = CaseReport {
        id: case.id.clone(),
        why: case.why.clone(),
        source: case.source.clone(),
        dut,
        verdict,
        judgements: work.judgements,
        curves: work.curves,
        left_out: Vec::new(),
        not_applicable: not_applicable(&work.answers),
        undecided: undecided(&work.answers),
        trials,
        sending: work.sent.report(),
        evidence: Vec::new(),
        evidence_left_out: Vec::new(),
        tables: Vec::new(),
        timeline: work.timeline,
        system: Vec::new(),
        stimulus: work.stimulus,
        repeat: String::new(),
        simulated: work.simulated,
        wall: Dur::ZERO,
    };
    Ran { report, trials: work.trials, tables: work.tables }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::bundled;
    use rig_capture::{Reading, Span, Unit};
    use rig_oracle::verdict::{Finding, Looked};
    use rig_oracle::{Prediction, Resolution};

    /// A switch that is wrong at the first setting of a sweep is wrong, whatever becomes of the way to it at the second.
    #[test]
    fn what_was_found_before_the_device_was_out_of_reach_stands() {
        let mut all = bundled::cases().iter();
        let case = all.next().expect("a case");
        let away = || Doubt { reason: conclude::NOT_STEERED, detail: "trial 23".to_owned() };
        let judged = |findings| Judgement {
            measure: "loss",
            subject: "neighbour".to_owned(),
            point: String::new(),
            reading: Reading { unit: Unit::Count, span: Span::exactly(800), frames: Vec::new() },
            prediction: Prediction {
                unit: Unit::Count,
                span: Span::exactly(0),
                formula: "",
                text: "no frame".to_owned(),
                source: "the case",
            },
            trials: 1,
            taken: Vec::new(),
            looked: Looked { count: 1_753, of: "frames" },
            resolution: Resolution::yes_or_no(),
            findings,
        };
        let text = |text: &str| text.to_owned();
        let (want, got, frames) = (text("none lost"), text("800 lost"), Vec::new());
        let finding = Finding { rule: "loss", want, got, trial: 1, frames };
        let left = |findings| {
            let work = Work { judgements: vec![judged(findings)], ..Work::default() };
            work.left(case, away())
        };
        assert_eq!(left(vec![finding.clone()]), Verdict::Fail(vec![finding]));
        assert_eq!(left(Vec::new()), Verdict::Inconclusive(away()));
        assert_eq!(Work::default().left(case, away()), Verdict::Inconclusive(away()));
    }
}
