//! A case of a few lines on a bundled device, run once in virtual time. A test changes what was seen by one unit and asks what is
//! made of it. All that these tests know of the runner stands in this file.

use crate::runner::case::{self, Rig};
use crate::runner::choose::choose;
use crate::stop::Stop;
use rig_capture::{Counters, Dir, Observation, Provenance, Record, Span, What};
use rig_dut::{Control, Emulated};
use rig_lab::{FlexGroup, Lab, Profile, WatermarkCopy};
use rig_oracle::measure::{self, JudgeContext, Registry, SettingAnswer};
use rig_oracle::trials::context::Context;
use rig_oracle::trials::kept::{Common, Kept};
use rig_oracle::trials::points::groups;
use rig_oracle::trials::seed::Seed;
use rig_oracle::trials::trial::Trial;
use rig_oracle::verdict::{Doubt, Judgement};
use rig_testcases::{Case, RoceKind};
use rig_units::{Dur, Quanta, Time};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Counters by name.
type Values = BTreeMap<String, u64>;

const SEED: u64 = 7;

/// A case on a device, and what was seen of its trials.
#[derive(Debug)]
pub(super) struct Ran {
    lab: Lab,
    device: &'static str,
    case: Case,
    trials: Vec<Trial>,
    /// Every counter that the device has.
    counters: Vec<String>,
    seed: u64,
}

/// What the first trial showed, for a test to change.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    pub(super) observation: &'a mut Observation,
    counters: &'a [String],
}

/// What the measures of a case say.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) judgements: Vec<Judgement>,
    doubts: Vec<Doubt>,
}

/// What one measure says, in one word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    Pass,
    /// What its first finding got.
    Fail(String),
    /// Why it does not tell.
    Doubt(&'static str),
}

/// A measure fails, and says so with these words.
pub(super) fn is_told(word: Word, what: &str) {
    let Word::Fail(got) = word else { panic!("{word:?} where `{what}` was to be told") };
    assert!(got.contains(what), "{got}");
}

impl Ran {
    /// `text` is what stands below the name of a case in a suite, four spaces in.
    pub(super) fn of(device: &'static str, text: &str) -> Ran {
        Ran::with(device, text, |_| ())
    }

    /// The same on that device with something about it changed.
    pub(super) fn with(device: &'static str, text: &str, change: impl FnOnce(&mut Profile)) -> Ran {
        Ran::seeded(device, text, SEED, change)
    }

    /// The same where everything that is drawn follows from `seed`.
    pub(super) fn seeded(
        device: &'static str,
        text: &str,
        seed: u64,
        change: impl FnOnce(&mut Profile),
    ) -> Ran {
        let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
        let profile = lab.duts.iter_mut().find(|dut| dut.name == device);
        let profile = profile.expect("a bundled device");
        change(profile);
        let kind = profile.kind;
        let head = format!("about: \"a test\"\ndevice: {kind}\ncases:\n  one:\n");
        let why = "    why: \"exact bounds\"\n    source: [\"a test\"]\n";
        let suite = rig_testcases::read::piped(format!("{head}{why}{text}").as_bytes(), &Registry);
        let mut suite = suite.unwrap_or_else(|faults| panic!("{faults:#?}"));
        let case = suite.cases.remove(0);
        let group = groups(&case, &profile.declared).expect("settings").remove(0);
        let mut dut =
            Emulated::boot(profile, &group.settings, lab.cable_cm, seed).expect("it boots");
        let chip: Vec<String> =
            dut.counters(&[]).expect("it has some").values.into_keys().collect();
        let tables = WatermarkCopy::NAMES.map(|(table, _)| table).into_iter();
        let copies = tables
            .chain([FlexGroup::TABLE])
            .flat_map(|table| chip.iter().map(move |name| format!("{table} {name}")));
        let counters = chip.iter().cloned().chain(copies).collect();
        let rig = Rig { only: Some(device), ..Rig::of(&lab, &[&case], seed, Stop::never()) };
        let ran = case::run(&rig, &case);
        let trials: Vec<Trial> = ran.trials.iter().map(|kept| kept.whole().into_owned()).collect();
        assert!(!trials.is_empty() || !case.configure.is_empty(), "{:?}", ran.report.verdict);
        Ran { lab, device, case, trials, counters, seed }
    }

    /// What the measures say of it as it was seen.
    pub(super) fn as_seen(&self) -> Said {
        self.changed(|_| {})
    }

    /// What they say once each trial in which a stream sends so many frames has been changed.
    pub(super) fn changed_where(
        &self,
        (stream, count): (usize, u64),
        change: impl Fn(&mut Seen<'_>),
    ) -> Said {
        let mut trials = self.trials.clone();
        let counters = &self.counters;
        let sends = |trial: &&mut Trial| trial.script.streams[stream].count == Some(count);
        let own = trials.iter_mut().filter(sends);
        let changed = own.map(|trial| {
            change(&mut Seen { observation: &mut trial.observation, counters });
        });
        assert!(changed.count() > 0, "no trial sent {count} frames");
        self.judge(trials)
    }

    /// Something of what was seen.
    pub(super) fn as_seen_of<T>(&self, of: impl FnOnce(&Seen<'_>) -> T) -> T {
        let observation = &mut self.trials[0].observation.clone();
        of(&Seen { observation, counters: &self.counters })
    }

    /// A number of something that was seen.
    pub(super) fn as_seen_count(&self, of: impl FnOnce(&Seen<'_>) -> usize) -> u64 {
        u64::try_from(self.as_seen_of(of)).expect("a count")
    }

    /// The device's name of the port behind a rig port.
    pub(super) fn as_seen_port(&self, port: usize) -> &str {
        &self.trials[0].observation.ports[port].dut_port
    }

    /// What they say once the first trial has been changed.
    pub(super) fn changed(&self, change: impl FnOnce(&mut Seen<'_>)) -> Said {
        let mut trials = self.trials.clone();
        let counters = &self.counters;
        change(&mut Seen { observation: &mut trials[0].observation, counters });
        self.judge(trials)
    }

    /// What they say where the device answered so to each setting that the case tries.
    pub(super) fn answered(&self, tried: &[Result<SettingAnswer, String>]) -> Said {
        self.judge_all(Vec::new(), tried)
    }

    /// Something of what the oracle knows of the case on the device.
    pub(super) fn of_context<T>(&self, of: impl FnOnce(&Context<'_>) -> T) -> T {
        let (profile, _) = choose(&self.lab, Some(self.device), &self.case).expect("it suits");
        let group = groups(&self.case, &profile.declared).expect("settings").remove(0);
        let seed = Seed::of_run(self.seed).split(&self.case.id.to_string()).split(&group.label);
        of(&measure::context(&self.lab, profile, &self.case, group, seed))
    }

    fn judge(&self, trials: Vec<Trial>) -> Said {
        self.judge_all(trials, &[])
    }

    fn judge_all(&self, trials: Vec<Trial>, tried: &[Result<SettingAnswer, String>]) -> Said {
        let mut common = Common::default();
        let kept = |trial| Kept::of(trial, None, &mut common);
        let trials: Vec<Kept> = trials.into_iter().map(kept).collect();
        let settled = self.of_context(|context| {
            let points = context.points().expect("values");
            measure::judge(&JudgeContext {
                context,
                points: &points,
                trials: &trials,
                tried,
                alpha: 1e-6,
                hurried: Stop::never().hurry_flag(),
                cut: &Cell::new(false),
            })
        });
        Said { judgements: settled.judgements, doubts: settled.answers.doubts() }
    }

    /// The same with a change that every other one starts from.
    pub(super) fn then(mut self, change: impl FnOnce(&mut Seen<'_>)) -> Ran {
        let observation = &mut self.trials[0].observation;
        change(&mut Seen { observation, counters: &self.counters });
        self
    }

    /// The same where every port's timestamps may be off by so much.
    pub(super) fn off_by(self, bound: Dur) -> Ran {
        self.then(|seen| {
            let ports = seen.observation.ports.iter_mut();
            ports.for_each(|port| port.provenance = Provenance::Software { bound });
        })
    }

    /// `moved` moves what is measured up by so many units: at either end of what is predicted it passes, and one past it fails.
    pub(super) fn holds_its_bounds(&self, measure: &str, moved: impl Fn(&mut Seen<'_>, i64)) {
        let said = self.as_seen();
        let first = said.of(measure).next().expect("it was judged");
        self.holds_bounds_of((measure, &first.subject), moved);
    }

    /// The same of the judgement about a subject.
    pub(super) fn holds_bounds_of(
        &self,
        (measure, subject): (&str, &str),
        moved: impl Fn(&mut Seen<'_>, i64),
    ) {
        let (read, want, _) = self.as_seen().about(measure, subject);
        let signed = |value: u64| i64::try_from(value).expect("a value");
        let (up, down) = (signed(want.hi) - signed(read.lo), signed(want.lo) - signed(read.hi));
        for (by, passes) in [(up, true), (up + 1, false), (down, true), (down - 1, false)] {
            let said = self.changed(|seen| moved(seen, by));
            let (_, _, passed) = said.about(measure, subject);
            let word = said.word(measure);
            assert_eq!(passed, passes, "{by} added to {read:?}, in {want:?}: {word:?}");
        }
    }

    /// Each of these counters has to be what it is, to the frame or byte: one more fails, and one less where there is one.
    pub(super) fn holds_counters(&self, measure: &str, counters: &[(&str, u64)]) {
        assert_eq!(self.as_seen().word(measure), Word::Pass);
        for (counter, grown) in counters {
            assert_eq!(
                self.trials[0].observation.counters.grew(counter),
                Some(*grown),
                "{counter}"
            );
            let less = if *grown > 0 { Some(-1) } else { None };
            for by in [Some(1), less].into_iter().flatten() {
                let said = self.changed(|seen| seen.count(counter, by));
                assert!(said.fails(measure), "{counter} {by}: {:?}", said.word(measure));
            }
        }
    }
}

impl Said {
    /// The judgements of one measure.
    pub(super) fn of(&self, measure: &str) -> impl Iterator<Item = &Judgement> {
        self.judgements.iter().filter(move |one| one.measure == measure)
    }

    /// What the first judgement of a measure read, and what it wanted.
    pub(super) fn spans(&self, measure: &str) -> (Span, Span) {
        let one = self.of(measure).next();
        let one = one.unwrap_or_else(|| panic!("{measure} was not judged: {:?}", self.doubts));
        (one.reading.span, one.prediction.span)
    }

    /// The same of the judgement that is about `subject`.
    pub(super) fn about(&self, measure: &str, subject: &str) -> (Span, Span, bool) {
        let one = self.of(measure).find(|one| one.subject == subject);
        let one = one.unwrap_or_else(|| {
            let all: Vec<&str> = self.of(measure).map(|one| one.subject.as_str()).collect();
            panic!("nothing about {subject}: {all:?}")
        });
        (one.reading.span, one.prediction.span, one.findings.is_empty())
    }

    /// What a measure says: all of its judgements together, each finding under its own name.
    pub(super) fn word(&self, measure: &str) -> Word {
        if let Some(finding) = self.of(measure).flat_map(|one| &one.findings).next() {
            // What detections show of the polls is said of what the device declares of them.
            let own = [measure, "pfcwd.poll_interval"];
            let own = if measure == "pfcwd.detection" { &own[..] } else { &own[..1] };
            assert!(own.contains(&finding.rule), "{finding:?}");
            return Word::Fail(finding.got.clone());
        }
        match self.doubts.iter().find(|doubt| doubt.detail.contains(measure)) {
            Some(doubt) => Word::Doubt(doubt.reason),
            None => {
                assert!(self.of(measure).next().is_some(), "{measure} says nothing");
                Word::Pass
            }
        }
    }

    /// What is wrong or was not told, of any measure; nothing where all pass.
    pub(super) fn wrong(&self) -> String {
        let findings = self.judgements.iter().flat_map(|one| &one.findings);
        let findings = findings.map(|one| format!("{}: {}, got {}", one.rule, one.want, one.got));
        findings.chain(self.doubts.iter().map(|doubt| doubt.detail.clone())).collect()
    }

    /// Whether it passes.
    pub(super) fn passes(&self, measure: &str) -> bool {
        self.word(measure) == Word::Pass
    }

    /// Whether it fails.
    pub(super) fn fails(&self, measure: &str) -> bool {
        matches!(self.word(measure), Word::Fail(_))
    }
}

impl Seen<'_> {
    /// The records of a stream that passed that way, in order.
    pub(super) fn frames(&self, stream: u16, dir: Dir) -> Vec<usize> {
        self.all(|one| {
            one.dir == dir && matches!(one.what, What::Data { stream: of, .. } if of == stream)
        })
    }

    /// The PFC frames that passed a port that way and say XOFF, or XON.
    pub(super) fn words(&self, port: u16, dir: Dir, xoff: bool) -> Vec<usize> {
        self.all(|one| {
            let What::Pfc { enable, quanta } = one.what else { return false };
            let asks = (0..8).any(|class| enable >> class & 1 == 1 && quanta[class] > Quanta(0));
            (one.port, one.dir, asks) == (port, dir, xoff)
        })
    }

    /// The frames of connections that passed a port that way and are of a kind.
    pub(super) fn roce(&self, port: u16, dir: Dir, kind: impl Fn(RoceKind) -> bool) -> Vec<usize> {
        self.all(|one| {
            let own = (one.port, one.dir) == (port, dir);
            own && matches!(one.what, What::Roce(roce) if kind(roce.kind))
        })
    }

    /// The records of which something is true, in order.
    pub(super) fn all(&self, is: impl Fn(&Record) -> bool) -> Vec<usize> {
        let records = self.observation.records.iter().enumerate();
        records.filter(|(_, one)| is(one)).map(|(index, _)| index).collect()
    }

    /// Moves one record by so many picoseconds.
    pub(super) fn shift(&mut self, record: usize, by: i64) {
        self.shift_all(&[record], by);
    }

    /// Moves some.
    pub(super) fn shift_all(&mut self, records: &[usize], by: i64) {
        for &record in records {
            let at = &mut self.observation.records[record].at;
            *at = Time(at.0.checked_add_signed(by).expect("a time"));
        }
        self.sort();
    }

    /// One record more.
    pub(super) fn add(&mut self, record: Record) {
        self.observation.records.push(record);
        self.counted(&record, true);
        self.sort();
    }

    /// One less.
    pub(super) fn lose(&mut self, record: usize) {
        let record = self.observation.records.remove(record);
        self.counted(&record, false);
    }

    /// A counter read so much more at the trial's end.
    pub(super) fn count(&mut self, counter: &str, by: i64) {
        self.recount(|_, after| {
            let value = after.entry(counter.to_owned()).or_default();
            *value = value.checked_add_signed(by).expect("a count");
        });
    }

    /// A device that has no such counter, or had one and `lost` it in the trial.
    pub(super) fn uncount(&mut self, counter: &str, lost: bool) {
        self.recount(|before, after| {
            after.remove(counter);
            if !lost {
                before.remove(counter);
            }
        });
    }

    fn recount(&mut self, change: impl FnOnce(&mut Values, &mut Values)) {
        let old = &self.observation.counters;
        let names = self.counters.iter().filter_map(|name| Some((name, old.after(name)?)));
        let mut after: Values = names.map(|(name, value)| (name.clone(), value)).collect();
        let before = |(name, value): (&String, &u64)| {
            (name.clone(), value - old.grew(name).unwrap_or_default())
        };
        let mut before: Values = after.iter().map(before).collect();
        change(&mut before, &mut after);
        let Counters { samples, took, obeyed, .. } = old.clone();
        let mut new = Counters::read(before, after);
        (new.samples, new.took, new.obeyed) = (samples, took, obeyed);
        self.observation.counters = new;
    }

    fn counted(&mut self, record: &Record, more: bool) {
        let What::Data { stream, .. } = record.what else { return };
        let count = &mut self.observation.streams[usize::from(stream)];
        let side = if record.dir == Dir::Tx { &mut count.sent } else { &mut count.received };
        *side = if more { *side + 1 } else { *side - 1 };
    }

    fn sort(&mut self) {
        self.observation.records.sort_by_key(|one| (one.at, one.port, one.dir));
    }
}
