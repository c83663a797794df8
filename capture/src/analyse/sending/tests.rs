use super::*;
use crate::PfcFault;
use crate::sample::{CLASS, PAUSE, Sample};
use rig_testcases::{EndpointSpec, Step, StreamRate};
use rig_units::{Quanta, Rate};

const RUNS: Dur = Dur::ms(100);

/// The stream runs for 100 ms of a trial of 200 ms: 200 probes.
fn runs() -> Sample {
    let mut sample = Sample::new();
    let step = |at, action| Step { at, action };
    sample.script.steps.push(step(Dur::ms(10), Action::StartStream(0)));
    sample.script.steps.push(step(Dur::ms(10) + RUNS, Action::StopStream(0)));
    sample
}

fn of(sample: Sample) -> Sending {
    let (observation, script) = sample.done(Dur::ms(200));
    sending(&observation, &script, 0)
}

fn span(sample: Sample) -> (u64, u64) {
    of(sample).planned.map(|span| (span.lo, span.hi)).expect("pauses are recorded")
}

#[test]
fn a_rhythm_that_nothing_disturbs_asks_for_its_time_over_its_gap() {
    assert_eq!(span(runs()), (199, 201));
    let mut load = runs();
    load.script.streams[0].rate = StreamRate::Load("50%".parse::<Rate>().expect("a rate"));
    // 1024 B with preamble and gap at 50 Gb/s.
    let frames = 100_000_000_000 / 167_040 + 1;
    assert_eq!(span(load), (frames - 1, frames + 1));
}

#[test]
fn a_pause_takes_its_time_and_starts_the_rhythm_anew() {
    let mut sample = runs();
    sample.pfc(Dur::ms(50), 0, Dir::Rx, Quanta::MAX);
    // 40 ms and 59.66446 ms: 80 frames, then the rest from the end of the pause on.
    let rest = (Dur::ms(60) - PAUSE).div_ceil(Dur::us(500));
    assert_eq!(span(sample), (80 + rest - 2, 80 + rest + 2));
}

#[test]
fn an_xon_ends_a_pause_and_one_for_another_port_or_class_is_none() {
    let mut sample = runs();
    for n in 0..238 {
        sample.pfc(Dur::ms(20) + (PAUSE / 2) * n, 0, Dir::Rx, Quanta::MAX);
    }
    sample.pfc(Dur::ms(60), 0, Dir::Rx, Quanta(0));
    sample.pfc(Dur::ms(70), 1, Dir::Rx, Quanta::MAX);
    let other = What::Pfc { enable: 1 << (CLASS + 1), quanta: [Quanta::MAX; 8] };
    sample.push(Dur::ms(70), 0, Dir::Rx, other);
    // 10 ms before, 50 ms after the XON.
    assert_eq!(span(sample), (120 - 2, 120 + 2));
}

#[test]
fn who_is_late_after_pauses_is_sent_for_longer_than_its_rhythm_says() {
    // Sixty frames, which the rhythm has sent by 40 ms, so far apart; and one long after them.
    let sent = |every: Option<Dur>, lone: Option<Dur>| {
        let mut sample = runs();
        sample.script.streams[0].count = Some(60);
        let data = |seq| What::Data { stream: 0, seq, size: 1_024, ce: false };
        for seq in 0..60 {
            let Some(every) = every else { break };
            sample.push(Dur::ms(10) + every * u64::from(seq), 0, Dir::Tx, data(seq));
        }
        // What arrives later is no longer sent.
        sample.push(Dur::ms(130), 1, Dir::Rx, data(59));
        lone.into_iter().for_each(|at| sample.push(at, 0, Dir::Tx, data(60)));
        let (observation, script) = sample.done(Dur::ms(200));
        is_sent(&observation, &script, 0).expect("it is sent")
    };
    let at = |dur| Time::ZERO + dur;
    assert_eq!(sent(None, None), (at(Dur::ms(10)), at(Dur::ms(40))));
    assert_eq!(sent(Some(Dur::us(500)), None).1, at(Dur::ms(40)));
    assert_eq!(sent(Some(Dur::us(700)), None).1, at(Dur::us(51_300)));
    // A frame behind a silence ends nothing.
    assert_eq!(sent(Some(Dur::us(700)), Some(Dur::ms(90))).1, at(Dur::us(51_300)));
}

#[test]
fn a_sender_that_ignores_pfc_is_to_send_all_the_same() {
    let mut sample = runs();
    sample.script.endpoints = vec![EndpointSpec {
        pfc: rig_testcases::Takes::Either,
        pn: 1,
        obeys: 0,
        response: Dur::ZERO,
    }];
    for n in 0..500 {
        sample.pfc(Dur::ms(10) + Dur::us(100) * n, 0, Dir::Rx, Quanta::MAX);
    }
    assert_eq!(span(sample), (199, 201));
}

#[test]
fn a_response_moves_the_beginning_of_a_pause_and_not_its_end() {
    let mut sample = runs();
    sample.script.endpoints = vec![EndpointSpec {
        pfc: rig_testcases::Takes::Either,
        pn: 1,
        obeys: u8::MAX,
        response: Dur::us(200),
    }];
    sample.script.streams[0].rate = StreamRate::Every(Dur::us(10));
    sample.pfc(Dur::ms(50), 0, Dir::Rx, Quanta::MAX);
    let open = Dur::ms(40) + Dur::us(200);
    let frames = open / Dur::us(10) + (Dur::ms(60) - PAUSE).div_ceil(Dur::us(10));
    assert_eq!(span(sample), (frames - 2, frames + 2));
}

#[test]
fn a_link_that_is_down_carries_nothing() {
    let mut sample = runs();
    let step = |at, action| Step { at, action };
    sample.script.steps.push(step(Dur::ms(30), Action::LinkDown(0)));
    sample.script.steps.push(step(Dur::ms(40), Action::LinkUp(0)));
    assert_eq!(span(sample), (180 - 2, 180 + 2));
}

#[test]
fn other_senders_of_the_port_may_stand_in_its_way() {
    let mut sample = runs();
    let mut other = sample.script.streams[0].clone();
    other.name = "neighbour".to_owned();
    sample.script.streams.push(other);
    sample.script.storms[0].from = 0;
    assert_eq!(span(sample), (197, 203));
}

#[test]
fn where_pauses_are_not_recorded_there_is_no_plan_to_hold_it_against() {
    let mut sample = runs();
    sample.script.taps = vec![Tap::None];
    assert_eq!(of(sample).planned, None);
}

#[test]
fn what_a_port_makes_of_a_malformed_pause_cannot_be_told() {
    let bad =
        What::BadPfc { fault: PfcFault::Destination, enable: 1 << CLASS, quanta: [Quanta::MAX; 8] };
    let mut sample = runs();
    sample.push(Dur::ms(50), 1, Dir::Rx, bad);
    assert_eq!(span(sample.clone()), (199, 201), "at another port");
    sample.push(Dur::ms(50), 0, Dir::Rx, bad);
    assert_eq!(of(sample).planned, None);
}

#[test]
fn frames_are_counted_where_they_are_sent_received_and_recorded() {
    let mut sample = runs();
    sample
        .probes(Dur::ms(10), Dur::ms(12), |sent| (sent > Dur::ms(10)).then_some(sent + Dur::us(1)));
    let Sending { sent, received, recorded, .. } = of(sample);
    assert_eq!((sent, received, recorded), (4, 3, 7));
}
