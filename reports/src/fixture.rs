//! Runs made by hand, one case of every kind, for the tests of this crate.

use crate::{
    CaseReport, Errors, EvidenceFile, Finished, Run, RunEvent, Sending, Started, Trials, Void, Wall,
};
use rig_capture::analyse::timeline::Timeline;
use rig_capture::{FrameRef, Reading, Span, Unit};
use rig_oracle::{
    Curve, CurvePoint, Doubt, Finding, Judgement, Looked, Prediction, Resolution, Taken, Verdict,
};
use rig_testcases::CaseId;
use rig_units::{Dur, Time};

const MS: u64 = 1_000_000_000;
const US: u64 = 1_000_000;

/// Text that breaks what does not escape it.
pub(crate) const HOSTILE: &str =
    "</script><script>alert(1)</script> & \"'`]]> \x1b[31m\0\u{202e}\u{ffff} <b>";

pub(crate) fn id(text: &str) -> CaseId {
    let (suite, case) = text.split_once("::").expect("a case id");
    CaseId { suite: suite.to_owned(), case: case.to_owned() }
}

/// A case that passed, ran on `dut`, measured nothing.
pub(crate) fn case(name: &str, dut: &str) -> CaseReport {
    let id = id(name);
    let repeat = format!("rigctl run testcases/{}.yaml --only {id} --seed 7307", id.suite);
    CaseReport {
        why: "late, a storm spreads; early, plain congestion is mistaken for one".to_owned(),
        source: vec![
            "NSDI'23 section 3.1".to_owned(),
            "sonic-mgmt tests/pfcwd/test_pfcwd_timer_accuracy.py".to_owned(),
        ],
        dut: dut.to_owned(),
        verdict: Verdict::Pass,
        judgements: Vec::new(),
        curves: Vec::new(),
        left_out: Vec::new(),
        not_applicable: Vec::new(),
        undecided: Vec::new(),
        trials: Trials { planned: 10, run: 10, void: Vec::new() },
        sending: vec![sending("victim")],
        evidence: vec![evidence(&id, 1)],
        evidence_left_out: Vec::new(),
        tables: Vec::new(),
        timeline: None,
        system: Vec::new(),
        stimulus: vec![
            "victim: p1 to p2, class 3, rocev2-write 1024B every 500us".to_owned(),
            "storm: p2, class 3, 65535q refreshed every 167.768us, from 20ms for 600ms".to_owned(),
        ],
        repeat,
        simulated: Dur::ms(8_200),
        wall: Dur::ms(1_204),
        id,
    }
}

/// A stream that sent what it was to, on real ports.
fn sending(name: &str) -> Sending {
    let errors = |p50| Errors { p50, p90: p50 * 3, p99: p50 * 40, p99_9: p50 * 90, max: p50 * 110 };
    Sending {
        name: name.to_owned(),
        planned_lo: Some(17_990),
        planned_hi: Some(18_010),
        sent: 18_000,
        received: Some(17_997),
        recorded: 35_997,
        gap_error: Some(errors(87_400)),
        late_by: Some(errors(51_000)),
    }
}

pub(crate) fn evidence(id: &CaseId, trial: u32) -> EvidenceFile {
    let path = format!("evidence/{}/{}/{trial:02}.pcapng", id.suite, id.case);
    EvidenceFile { path, trial, frames: 12_345, bytes: 67_890 }
}

/// The detection time at D = `d` ms, P = 100 ms, measured from `lo` to `hi` microseconds.
pub(crate) fn detection(d: u64, lo: u64, hi: u64) -> Judgement {
    let n = d.div_ceil(100);
    Judgement {
        measure: "pfcwd.detection",
        subject: "storm@p2 class 3".to_owned(),
        point: format!("pfcwd.detection_time={d}ms"),
        reading: Reading {
            unit: Unit::Ps,
            span: Span { lo: lo * US, hi: hi * US },
            frames: vec![FrameRef(118), FrameRef(131)],
        },
        prediction: Prediction {
            unit: Unit::Ps,
            span: Span { lo: n * 100 * MS, hi: (n + 1) * 100 * MS - 1 },
            formula: "F13",
            text: format!("nP <= T < (n+1)P, n = ceil({d}ms / 100ms) = {n}"),
            source: "SONiC pfc_detect_broadcom.lua, recorded; sonic.md section 6",
        },
        trials: 10,
        taken: spread_over(lo * US, hi * US),
        looked: Looked { count: 10, of: "storms" },
        resolution: Resolution::of_text(&format!(
            "anything outside of {}ms to {}ms shows; alike: pfcwd.detection_time in ({}ms, {}ms]",
            n * 100,
            (n + 1) * 100,
            (n - 1) * 100,
            n * 100
        )),
        findings: Vec::new(),
    }
}

/// Readings of ten trials, good to a microsecond, the first at `lo` and the last at `hi`.
fn spread_over(lo: u64, hi: u64) -> Vec<Taken> {
    let width = US.min(hi - lo);
    let step = (hi - lo - width) / 9;
    let span = |n: u64| Span { lo: lo + step * n, hi: lo + step * n + width };
    let mut taken: Vec<Taken> =
        (1..=10).map(|trial| Taken { trial, span: span(u64::from(trial) - 1) }).collect();
    taken[9].span = Span { lo: hi - width, hi };
    taken
}

/// Frames lost of a neighbour that must not lose any.
pub(crate) fn loss(lost: u64) -> Judgement {
    Judgement {
        measure: "loss",
        subject: "neighbour".to_owned(),
        point: String::new(),
        reading: Reading { unit: Unit::Frames, span: Span::exactly(lost), frames: Vec::new() },
        prediction: Prediction {
            unit: Unit::Frames,
            span: Span::exactly(0),
            formula: "F10",
            text: "a class that is not stormed loses nothing".to_owned(),
            source: "IEEE 802.1Q clause 36",
        },
        trials: 10,
        taken: (1..=10).map(|trial| Taken { trial, span: Span::exactly(lost) }).collect(),
        looked: Looked { count: 1_200, of: "frames" },
        resolution: Resolution::certain(Unit::Frames, Span::exactly(0), 0),
        findings: Vec::new(),
    }
}

pub(crate) fn pass() -> CaseReport {
    let judgements = vec![
        detection(200, 203_410, 298_100),
        detection(250, 301_000, 397_500),
        detection(1_000, 1_001_500, 1_096_000),
        loss(0),
    ];
    CaseReport {
        judgements,
        timeline: Some(timeline()),
        ..case("pfcwd::detection-latency-broadcom", "broadcom-th2")
    }
}

pub(crate) fn fail() -> CaseReport {
    let findings: Vec<Finding> = (1..=10)
        .map(|trial| Finding {
            rule: "pfcwd.detection",
            want: "200ms to under 300ms".to_owned(),
            got: format!("{}.25ms to {}.75ms", 340 + trial, 340 + trial),
            trial,
            frames: vec![FrameRef(118), FrameRef(131)],
        })
        .chain([Finding {
            rule: "loss",
            want: "0 frames of neighbour".to_owned(),
            got: "3 frames".to_owned(),
            trial: 4,
            frames: (2_011..2_020).map(FrameRef).collect(),
        }])
        .collect();
    let base = case("pfcwd::detection-latency-mellanox", "mellanox-sn4600c");
    let id = base.id.clone();
    CaseReport {
        judgements: vec![
            Judgement { findings: findings[..10].to_vec(), ..detection(200, 341_250, 350_750) },
            Judgement { findings: findings[10..].to_vec(), ..loss(3) },
        ],
        verdict: Verdict::Fail(findings),
        evidence: (1..=10).map(|trial| evidence(&id, trial)).collect(),
        trials: Trials {
            planned: 10,
            run: 11,
            void: vec![Void { trial: 7, reason: "late-send: 4.2us behind the plan".to_owned() }],
        },
        timeline: Some(timeline()),
        wall: Dur::ms(913),
        ..base
    }
}

pub(crate) fn inconclusive() -> CaseReport {
    let reason = "storm-lapse";
    let detail = "class 3 of p2 was open for 12.4us at 201.300ms, in 6 of 14 trials; the storm must have no gap".to_owned();
    let why = "storm-lapse: 12.4us at 201.300ms";
    let void = (2..8).map(|trial| Void { trial, reason: why.to_owned() }).collect();
    CaseReport {
        verdict: Verdict::Inconclusive(Doubt { reason, detail }),
        trials: Trials { planned: 10, run: 14, void },
        wall: Dur::ms(2_051),
        ..case("pfcwd::restoration-latency", "cisco-8102")
    }
}

pub(crate) fn skipped() -> CaseReport {
    CaseReport {
        verdict: Verdict::Skipped("no device of the lab has rule family barefoot".to_owned()),
        trials: Trials::default(),
        sending: Vec::new(),
        evidence: Vec::new(),
        wall: Dur::ZERO,
        simulated: Dur::ZERO,
        ..case("pfcwd::detection-idle-barefoot", "")
    }
}

pub(crate) fn broken() -> CaseReport {
    CaseReport {
        verdict: Verdict::Broken(
            "p2 lost its link in trial 3 and did not come back within 10s".to_owned(),
        ),
        trials: Trials { planned: 10, run: 3, void: Vec::new() },
        wall: Dur::ms(10_350),
        ..case("pfc-format::every-field", "broadcom-th2")
    }
}

pub(crate) fn curve() -> CaseReport {
    let points = (0_u64..=20)
        .map(|i| {
            let predicted = i * 50_000;
            let measured = Span {
                lo: predicted.saturating_sub(90_000),
                hi: (predicted + 70_000).min(1_000_000),
            };
            CurvePoint { x: (200 + 5 * i) * MS, measured, predicted: Span::exactly(predicted) }
        })
        .collect();
    CaseReport {
        curves: vec![Curve {
            measure: "pfcwd.fired",
            x: "storm-length".to_owned(),
            x_unit: Unit::Ps,
            unit: Unit::Ppm,
            points,
            fitted: Vec::new(),
        }],
        why: "the shortest storm that ever fires and the longest that never does".to_owned(),
        wall: Dur::ms(640),
        ..case("pfcwd::trigger-ramp", "broadcom-th2")
    }
}

/// A probe stream held by a storm from 20 ms on; the watchdog acts at 223 ms.
fn timeline() -> Timeline {
    let probe = |i: u64| Time(i * 500 * US);
    let (storm, action, ends) = (40, 446, 1_240);
    let mut held = vec![(Time::ZERO, 0)];
    held.extend((storm..=action).map(|i| (probe(i), i - storm)));
    held.push((Time(probe(action).0 + US), 0));
    let mut delivered: Vec<(Time, u64)> = (0..storm).map(|i| (probe(i), i + 1)).collect();
    delivered.extend((ends + 400..1_800).map(|i| (probe(i), storm + i - ends - 399)));
    let read = |ms: u64, value: u64| (Time(ms * MS), value);
    let counter = |name: &str, steps: Vec<(Time, u64)>| (name.to_owned(), steps);
    let refreshes = (0..40).map(|i| Time(100 * MS + i * 335 * US * 8)).collect();
    Timeline {
        pauses: vec![
            (
                "storm@p2 class 3".to_owned(),
                vec![(probe(storm), Time(402 * MS)), (Time(403 * MS), probe(ends))],
            ),
            ("p1 class 3, by the device".to_owned(), vec![(Time(100 * MS), Time(223 * MS))]),
        ],
        held,
        delivered,
        dut_pfc: refreshes,
        dut_pfc_sent: 40,
        counters: vec![
            counter(
                "Ethernet4 SAI_PORT_STAT_PFC_3_RX_PKTS",
                (2..62).map(|i| read(10 * i, 1_000_000 + 60 * i)).collect(),
            ),
            counter(
                "Ethernet4:3 PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED",
                vec![read(0, 0), read(230, 1)],
            ),
        ],
        read_every: Dur::ms(10),
        marks: vec![
            (probe(storm), "storm starts".to_owned()),
            (probe(action), "detected: the backlog is gone".to_owned()),
            (probe(ends), "storm ends".to_owned()),
            (Time(820 * MS), "restored: first probe through".to_owned()),
        ],
        length: Dur::ms(900),
    }
}

pub(crate) fn started(cases: usize) -> Started {
    Started {
        seed: 7_307,
        version: "0.1.0".to_owned(),
        lab: "emulated".to_owned(),
        executor: "virtual",
        mutations: vec!["pfcwd.detection_time=x1.5".to_owned()],
        cases: planned(cases),
        wall: Wall {
            started: "2026-11-21T03:37:12Z".to_owned(),
            command: "rigctl run testcases/pfcwd.yaml --seed 7307".to_owned(),
            out: "rig-runs/20261121T033712Z-7307".to_owned(),
            host: "lab-7".to_owned(),
            jobs: 2,
            pausing: None,
            floor: None,
            budget: None,
        },
    }
}

/// The ids of the cases above, and as many others as it takes.
fn planned(count: usize) -> Vec<CaseId> {
    let other = |at| CaseId { suite: "suite".to_owned(), case: format!("case-{at}") };
    let ids = cases().into_iter().map(|case| case.id);
    ids.chain((0..).map(other)).take(count).collect()
}

pub(crate) fn finished() -> Finished {
    Finished { partial: None, not_run: Vec::new(), wall: Dur::ms(9_871) }
}

pub(crate) fn cases() -> Vec<CaseReport> {
    vec![pass(), fail(), inconclusive(), skipped(), broken(), curve()]
}

/// A run with a case of every kind, as it is reported.
pub(crate) fn events() -> Vec<RunEvent> {
    let cases = cases();
    let mut events = vec![RunEvent::Started(Box::new(started(cases.len())))];
    events.extend(cases[..3].iter().map(|case| RunEvent::CaseStarted(case.id.clone())));
    events.extend(cases.into_iter().map(|case| RunEvent::CaseFinished(Box::new(case))));
    events.push(RunEvent::Finished(finished()));
    events
}

/// The same run, gathered.
pub(crate) fn run() -> Run {
    run_of(cases())
}

pub(crate) fn run_of(cases: Vec<CaseReport>) -> Run {
    Run { started: started(cases.len()), cases, finished: Some(finished()) }
}

/// A run in which everything that a file, a lab or a device may say is [`HOSTILE`].
pub(crate) fn hostile() -> Run {
    let text = || HOSTILE.to_owned();
    let finding =
        Finding { rule: "loss", want: text(), got: text(), trial: 1, frames: vec![FrameRef(1)] };
    let verdicts = [
        Verdict::Pass,
        Verdict::Fail(vec![finding.clone(), finding]),
        Verdict::Inconclusive(Doubt { reason: "capture-hole", detail: text() }),
        Verdict::Skipped(text()),
        Verdict::Broken(text()),
    ];
    let mut timeline = timeline();
    timeline.marks[0].1 = text();
    timeline.pauses[0].0 = text();
    timeline.counters[0].0 = text();
    let cases = verdicts.into_iter().enumerate().map(|(i, verdict)| {
        let base = case(&format!("hostile::case-{i}"), HOSTILE);
        let judgement = loss(1);
        CaseReport {
            id: CaseId { suite: text(), case: format!("case-{i}{HOSTILE}") },
            left_out: vec![text()],
            not_applicable: vec![text()],
            undecided: vec![text()],
            why: text(),
            source: vec![text()],
            verdict,
            judgements: vec![Judgement {
                subject: text(),
                point: text(),
                resolution: Resolution::of_text(&text()),
                prediction: Prediction { text: text(), ..judgement.prediction },
                ..judgement
            }],
            curves: vec![Curve { x: text(), ..curve().curves[0].clone() }],
            trials: Trials { void: vec![Void { trial: 1, reason: text() }], ..base.trials },
            evidence: vec![EvidenceFile { path: text(), trial: 1, frames: 1, bytes: 1 }],
            timeline: Some(timeline.clone()),
            system: vec![text()],
            stimulus: vec![text()],
            sending: vec![sending(HOSTILE)],
            repeat: text(),
            ..base
        }
    });
    let cases: Vec<CaseReport> = cases.collect();
    let finished = Finished {
        partial: Some(text()),
        not_run: vec![CaseId { suite: text(), case: text() }],
        wall: Dur::ZERO,
    };
    let started = Started {
        lab: text(),
        version: text(),
        mutations: vec![text()],
        ..started(cases.len() + 1)
    };
    Run { started, cases, finished: Some(finished) }
}
