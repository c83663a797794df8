//! By how much a share has to be off to show is said before a run: one that is off by so much fails, and one that is off by half of it passes.

use super::given::{Ran, Seen, Word};
use super::throughput::TWO_LOSSLESS;
use rig_capture::{Dir, What};
use rig_oracle::measure::{self, Batches};
use rig_testcases::{Roce, RoceKind};
use rig_units::{Dur, Time};

/// What `check` says of the first measure, in millionths of a share.
fn said(ran: &Ran) -> Option<u64> {
    ran.of_context(|context| {
        let script = context.script(&context.points().expect("values")[0]).expect("a script");
        let one = &context.case.measure[0];
        let shows = measure::of(one).shows.and_then(|shows| shows(one, context, &script))?;
        Some(shows.0.into())
    })
}

/// So many of them, spread evenly.
fn some<T: Copy>(of: &[T], count: usize) -> Vec<T> {
    (0..count).map(|nth| of[nth * of.len() / count]).collect()
}

/// Arrivals of a stream that are looked at, by their records.
fn arrivals(seen: &Seen<'_>, stream: u16, (from, until): (u64, u64)) -> Vec<usize> {
    let within = Time(from * 1_000_000)..=Time(until * 1_000_000);
    let all = seen.frames(stream, Dir::Rx);
    all.into_iter().filter(|at| within.contains(&seen.observation.records[*at].at)).collect()
}

/// Two lossy senders of two queues, each of which has half of the port.
fn lossy() -> Ran {
    Ran::of(
        "broadcom",
        "    dut: {buffer: {pool: 300000B, lossy_pool: 300000B}, scheduler: {queues: [{dwrr: 1}, {dwrr: 1}, {dwrr: 1}, {dwrr: 1}, {dwrr: 1}, {dwrr: 1}, {dwrr: 1}, {dwrr: 1}]}}
    streams:
      one: {from: p1, to: p2, class: 1, kind: udp, size: 1024B, rate: 100%}
      two: {from: p3, to: p2, class: 0, kind: udp, size: 1024B, rate: 100%}
    taps: {p1: all, p2: all, p3: all}
    trials: 1
    steps: [{at: 0ms, start: [one, two], for: 1200us}]
    length: 3ms
    measure: [{share.withheld: {streams: [one, two], from: 200us, until: 1100us}}]
",
    )
}

#[test]
fn a_lossy_queue_that_loses_more_than_its_part_by_what_is_said_fails() {
    let ran = lossy();
    assert_eq!(ran.as_seen().word("share.withheld"), Word::Pass);
    let shows = said(&ran).expect("it is said");
    assert!((500..10_000).contains(&shows), "{shows}");
    let lost = |ppm: u64| {
        let said = ran.changed(|seen| {
            let own = arrivals(seen, 0, (200, 1_100));
            let count = own.len() * usize::try_from(ppm).expect("a share") / 1_000_000 + 1;
            some(&own, count).into_iter().rev().for_each(|at| seen.lose(at));
        });
        said.fails("share.withheld")
    };
    assert!(lost(shows) && !lost(shows / 2), "{shows}");
}

#[test]
fn a_lossless_sender_that_gets_more_of_its_queue_than_another_by_what_is_said_fails() {
    let ran = Ran::of("broadcom", TWO_LOSSLESS);
    assert_eq!(ran.as_seen().word("share.withheld"), Word::Pass);
    let shows = said(&ran).expect("it is said");
    assert!((10_000..200_000).contains(&shows), "{shows}");
    // What one is short of is the other's: their queue has what it had.
    let moved = |ppm: u64| {
        let said = ran.changed(|seen| {
            let [one, two] = [0, 1].map(|of| arrivals(seen, of, (700, 1_200)));
            let each = usize::midpoint(one.len(), two.len());
            let keeps = each * usize::try_from(1_000_000 - ppm).expect("a share") / 1_000_000;
            let less = some(&one, one.len().saturating_sub(keeps));
            let more: Vec<_> =
                some(&two, less.len()).into_iter().map(|at| seen.observation.records[at]).collect();
            less.into_iter().rev().for_each(|at| seen.lose(at));
            more.into_iter().for_each(|record| seen.add(record));
        });
        assert!(said.about("share.withheld", "queue 3").2, "the queue as a whole has its share");
        said.fails("share.withheld")
    };
    assert!(moved(shows) && !moved(shows / 2), "{shows}");
}

/// Flows of a NIC in two classes, of which one is told to slow down at some instant.
fn classes(told: &str) -> Ran {
    Ran::of(
        "gen2",
        &format!(
            "    dut: {{nic: {{rp: {{enable: true, limiting: packet}}, rc: {{timeout: 0}}, ets: {{priorities: [0, 0, 0, 0, 1, 1, 1, 1], classes: [{{percent: 30}}, {{percent: 70}}]}}}}}}
    flows:
      light: {{nic: p1, class: 3, verb: write, message: 64KiB, mtu: 1024B}}
      heavy: {{nic: p1, class: 4, verb: write, message: 64KiB, mtu: 1024B}}
    streams: {{once: {{from: p1, class: 6, kind: cnp, of: light, every: 10us, count: 1}}}}
    steps:
      - {{at: 0us, start: [light, heavy], for: 1100us}}
      - {{at: {told}, start: once}}
    length: 1200us
    trials: 1
    measure: [{{nic.shares: {{flows: [light, heavy], from: 50us, until: 1050us}}}}]
"
        ),
    )
}

#[test]
fn a_class_of_a_nic_that_has_less_or_more_by_what_is_said_fails() {
    let ran = classes("1120us");
    assert_eq!(ran.as_seen().wrong(), "");
    let shows = said(&ran).expect("it is said");
    assert!((1_000..60_000).contains(&shows), "{shows}");
    // Connections: the stream first, then the flows. The class that has less shows least.
    let fails = |ppm: u64, more: bool| {
        let said = ran.changed(|seen| {
            let within = Time(50_000_000)..Time(1_050_000_000);
            let own = seen.all(|one| {
                let What::Roce(Roce { connection: 1, kind: RoceKind::Data { .. }, .. }) = one.what
                else {
                    return false;
                };
                one.dir == Dir::Rx && within.contains(&one.at)
            });
            let count = own.len() * usize::try_from(ppm).expect("a share") / 1_000_000 + 1;
            let own = some(&own, count);
            let again: Vec<_> = own.iter().map(|at| seen.observation.records[*at]).collect();
            if more {
                again.into_iter().for_each(|record| seen.add(record));
            } else {
                own.into_iter().rev().for_each(|at| seen.lose(at));
            }
        });
        !said.about("nic.shares", "light, traffic class 0").2
    };
    for more in [false, true] {
        assert!(fails(shows, more) && !fails(shows / 2, more), "{shows}, more: {more}");
    }
}

#[test]
fn nothing_is_said_before_a_run_of_classes_whose_flows_are_told_to_slow_down() {
    assert_eq!(said(&classes("400us")), None);
}

/// Two flows that share a path for 800 us.
fn path(trials: u32) -> Ran {
    Ran::of(
        "gen2-to-gen2",
        &format!(
            "    dut: {{nic: {{generation: gen2}}, peer: {{generation: gen2}}}}
    between: {{delay: 1us, bottleneck: {{to: p2, speed: 50Gbps, kmin: 20MB, kmax: 24MB, pmax: 10%, buffer: 32MB}}}}
    flows:
      one: {{nic: p1, to: p2, class: 3, verb: write, message: 64KiB, mtu: 4096B}}
      two: {{nic: p1, to: p2, class: 3, verb: write, message: 64KiB, mtu: 4096B}}
    steps: [{{at: 0us, start: [one, two], for: 1ms}}]
    length: 2ms
    trials: {trials}
    measure: [{{rate.shares: {{flows: [one, two], from: 100us, until: 900us}}}}]
"
        ),
    )
}

#[test]
fn of_flows_that_share_a_path_the_batches_are_said_and_one_that_gets_nothing_passes_nowhere() {
    let ran = path(1);
    let batches = ran.of_context(|context| {
        let one = &context.case.measure[0];
        (measure::of(one).batches)(one)
    });
    assert_eq!(batches, Some(Batches { count: 64, lasts: Dur::ns(12_500) }));
    assert_eq!(said(&ran), None);
    assert_eq!(ran.as_seen().word("rate.shares"), Word::Pass);
    let said = ran.changed(|seen| {
        let own = seen.all(|one| {
            let data = matches!(
                one.what,
                What::Roce(Roce { connection: 0, kind: RoceKind::Data { .. }, .. })
            );
            data && one.dir == Dir::Tx
        });
        own.into_iter().rev().for_each(|at| seen.lose(at));
    });
    assert!(said.fails("rate.shares"));
}
