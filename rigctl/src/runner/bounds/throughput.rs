//! What streams that share a port get of it.

use super::given::{Ran, Seen, Word};
use rig_capture::{Dir, Provenance, Span, What};
use rig_lab::{Mutation, Profile, Setting};
use rig_oracle::measure;
use rig_units::{Dur, Time};
use serde_json::json;

/// Two lossless senders, of which each wants all of one port.
pub(super) const TWO_LOSSLESS: &str = "    dut: {buffer: {pool: 4000000B, lossy_pool: 4000000B}}
    streams:
      one: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, rate: 100%, count: 12000}
      two: {from: p3, to: p2, class: 3, kind: rocev2-write, size: 1024B, rate: 100%, count: 12000}
    endpoints: {p1: {obeys: all}, p3: {obeys: all}}
    taps: {p1: all, p2: all, p3: all}
    trials: 1
    steps: [{at: 0ms, start: [one, two]}]
    length: 3ms
    measure: [{share.withheld: {streams: [one, two], from: 700us, until: 1200us}}]
";

/// A quarter of 100 Gb/s in frames of 1024 B, and perhaps a tenth beside it.
fn quarter(beside: &str) -> Ran {
    let other = "      other: {from: p3, to: p2, class: 3, kind: rocev2-write, size: 1024B, ";
    let (stream, start, tap) = match beside {
        "" => (String::new(), "", ""),
        rate => (format!("\n{other}{rate}}}"), ", other", ", p3: all"),
    };
    Ran::of(
        "broadcom",
        &format!(
            "    streams:
      load: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, rate: 25%}}{stream}
    taps: {{p1: all, p2: all{tap}}}
    trials: 1
    steps: [{{at: 0ms, start: [load{start}], for: 100us}}]
    length: 1ms
    measure: [{{throughput: {{streams: [load], from: 20us, until: 80us}}}}]
"
        ),
    )
}

/// So many arrivals more, or less, in the middle of what is looked at.
fn arrive(seen: &mut Seen<'_>, half: Time, by: i64) {
    for _ in by..0 {
        let middle = middle(seen, half);
        seen.lose(middle);
    }
    for _ in 0..by {
        let again = seen.observation.records[middle(seen, half)];
        seen.add(again);
    }
}

fn middle(seen: &Seen<'_>, half: Time) -> usize {
    let arrivals = seen.frames(0, Dir::Rx).into_iter();
    arrivals.into_iter().find(|at| seen.observation.records[*at].at > half).expect("a frame")
}

#[test]
fn a_rate_is_right_to_a_frame_at_the_edge() {
    let ran = quarter("");
    let (_, want) = ran.as_seen().spans("throughput");
    // 25 Gb/s x 1024 / 1044 = 24 521 072 796.9; the pace is of whole picoseconds.
    assert_eq!(want, Span { lo: 24_521_072_788, hi: 24_521_072_796 });
    let off = |by: i64| ran.changed(|seen| arrive(seen, Time(50_000_000), by)).fails("throughput");
    assert!(!off(-1) && off(-2), "a frame less lies at the edge");
    assert!(!off(1) && off(2), "a frame more lies at the edge");
}

/// Two streams that offer 120 % of a port whose shaper has saved up 100 kB: it sends at its speed for 0.74 ms.
fn saved_up(class: u8, window: &str) -> Word {
    let ran = Ran::of(
        "broadcom",
        &format!(
            "    dut: {{scheduler: {{pir: 97Gbps-L2, pbs: 100000B}}, buffer: {{pool: 1000000B, lossy_pool: 100000B}}}}
    streams:
      one: {{from: p1, to: p2, class: {class}, kind: rocev2-write, size: 1024B, rate: 60%}}
      two: {{from: p3, to: p2, class: {class}, kind: rocev2-write, size: 1024B, rate: 60%}}
    taps: {{p1: all, p2: all, p3: all}}
    trials: 1
    steps: [{{at: 0ms, start: [one, two], for: 2ms}}]
    length: 4ms
    measure: [{{share.withheld: {{streams: [one, two], {window}}}}}]
"
        ),
    );
    ran.as_seen().word("share.withheld")
}

#[test]
fn what_a_shaper_had_saved_up_is_not_withheld() {
    for class in [3, 0] {
        for window in
            ["from: 200us, until: 600us", "from: 400us, until: 1800us", "from: 1ms, until: 1800us"]
        {
            assert_eq!(saved_up(class, window), Word::Pass, "class {class} {window}");
        }
    }
}

#[test]
fn what_other_streams_may_take_of_the_port_is_left_to_them() {
    let (_, alone) = quarter("").as_seen().spans("throughput");
    // A tenth of the wire, preambles and gaps counted, however the rate is written; 9 Gb/s of frames are 9 x 1044 / 1024 of it.
    let rates = [
        ("every: 835200ps", 10_000_000_000),
        ("rate: 10%", 10_000_000_000),
        ("rate: 10Gbps-L1", 10_000_000_000),
        ("rate: 9Gbps-L2", 9_175_781_250),
    ];
    for (rate, takes) in rates {
        let (_, beside) = quarter(rate).as_seen().spans("throughput");
        assert_eq!(beside.hi, alone.hi, "{rate}");
        assert_eq!(alone.lo - beside.lo, takes, "{rate}");
    }
}

#[test]
fn small_frames_of_another_stream_take_what_they_do_of_the_wire() {
    let ran = Ran::of(
        "broadcom",
        "    streams:
      load:  {from: p1, to: p2, class: 0, kind: udp, size: 4096B, rate: 100%}
      small: {from: p3, to: p2, class: 6, kind: udp, size: 64B, rate: 30%}
    taps: {p1: all, p2: all, p3: all}
    trials: 1
    steps: [{at: 0ms, start: [load, small], for: 600us}]
    length: 2ms
    measure: [{throughput: {streams: [load], from: 200us, until: 500us}}]
",
    );
    let said = ran.as_seen();
    let (got, want) = said.spans("throughput");
    assert!(said.passes("throughput"), "{got:?}, {want:?}");
    // And what the pace of whole picoseconds takes off.
    assert_eq!((want.hi - want.lo) / 1_000, 30_000_000);
}

#[test]
fn two_queues_of_equal_weight_have_half_of_the_port_give_or_take_a_round() {
    let ran = Ran::of(
        "broadcom",
        "    streams:
      three: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, rate: 100%}
      four:  {from: p3, to: p2, class: 4, kind: rocev2-write, size: 1024B, rate: 100%}
    taps: {p1: all, p2: all, p3: all}
    trials: 1
    steps: [{at: 0ms, start: [three, four], for: 600us}]
    length: 2ms
    measure: [{throughput: {streams: [three, four], from: 200us, until: 500us}}]
",
    );
    let said = ran.as_seen();
    assert!(said.passes("throughput"));
    // 50 Gb/s x 1024 / 1044 each, and two frames of either queue in 300 us or a little less: a turn is 1536 B.
    let (_, want, _) = said.about("throughput", "three and four, queue 3");
    let (half, round) = (49_042_145_593_u64, 4 * 8_192_000_000_000_000 / 300_000_000 / 1_000);
    assert_eq!((want.lo + want.hi) / 2, half);
    assert!((want.hi - half).abs_diff(round * 1_000) < round * 5, "{want:?}, {round}");
    // How small a departure shows is told before the run as it is told behind it, to a fiftieth of that.
    let (got, ..) = said.about("throughput", "three and four, queue 3");
    let shows = want.hi + (got.hi - got.lo) - half;
    let told = ran.of_context(|context| {
        let script = context.script(&context.points().expect("values")[0]).expect("a script");
        let one = &context.case.measure[0];
        measure::of(one).shows.and_then(|shows| shows(one, context, &script))
    });
    let told = half / 1_000_000 * u64::from(told.expect("it tells one").0);
    assert!(told.abs_diff(shows) * 50 < shows, "{told} and {shows}");
}

/// Two lossy streams of one queue, each as fast as the port, of which half of everything is lost.
fn lossy(memory: &str) -> Ran {
    let case = format!(
        "    dut: {{buffer: {{{memory}}}}}
    streams:
      one: {{from: p1, to: p2, class: 1, kind: udp, size: 1024B, rate: 100%}}
      two: {{from: p3, to: p2, class: 1, kind: udp, size: 1024B, rate: 100%}}
    taps: {{p1: all, p2: all, p3: all}}
    trials: 1
    steps: [{{at: 0ms, start: [one, two], for: 600us}}]
    length: 2ms
    measure: [{{share.withheld: {{streams: [one, two], from: 200us, until: 500us}}}}]
"
    );
    Ran::of("broadcom", &case)
}

/// What was sent from 200 us to 500 us, and arrived or not: the records of either.
fn fates(seen: &Seen<'_>) -> (Vec<usize>, Vec<usize>) {
    let within = seen.all(|one| {
        let data = matches!(one.what, What::Data { .. }) && one.dir == Dir::Tx;
        data && (Time(200_000_000)..=Time(500_000_000)).contains(&one.at)
    });
    let records = &seen.observation.records;
    let came: Vec<What> =
        seen.all(|one| one.dir == Dir::Rx).into_iter().map(|at| records[at].what).collect();
    let sent = within.into_iter();
    sent.partition(|at| came.contains(&records[*at].what))
}

#[test]
fn what_a_lossy_queue_loses_is_what_it_is_not_granted_give_or_take_single_frames() {
    let ran = lossy("pool: 300000B, lossy_pool: 300000B");
    let (_, want) = ran.as_seen().spans("share.withheld");
    let (sent, lost) = ran.as_seen_of(|seen| {
        let (came, lost) = fates(seen);
        (came.len() + lost.len(), lost.len())
    });
    // A round of a queue of weight 14 beside the least of all, a frame more, and of each of two sources one at either end.
    let few = (14 + 1 + 4) * 1_000_000 / u64::try_from(sent).expect("a count");
    // What is granted is known to a few bits a second.
    assert_eq!(want, Span { lo: 500_000 - few, hi: 500_001 + few });
    let most = (usize::try_from(want.hi + 1).expect("a share") * sent - 1) / 1_000_000;
    let more = |count: usize| {
        let said = ran.changed(|seen| {
            let records = &seen.observation.records;
            let (came, _) = fates(seen);
            let what: Vec<What> =
                came[came.len() - count..].iter().map(|at| records[*at].what).collect();
            for what in what {
                let at = seen.all(|one| one.dir == Dir::Rx && one.what == what)[0];
                seen.lose(at);
            }
        });
        said.fails("share.withheld")
    };
    assert!(!more(most - lost) && more(most - lost + 1), "{most} of {sent}, {lost} as seen");
}

#[test]
fn a_lossy_queue_is_asked_for_what_it_loses_from_when_it_is_full() {
    let of = |limit: u64| {
        let memory = format!("pool: 10000000B, lossy_pool: 10000000B, lossy_static_th: {limit}B");
        let ran = lossy(&memory);
        let said = ran.as_seen();
        assert!(said.passes("share.withheld"), "{limit}");
        said.spans("share.withheld")
    };
    let few = 2_640;
    // 3847 frames of 8192 bits grow by 98.08 Gb/s for 321.3 us: 178.7 us of the 300 are behind that.
    let (read, want) = of(4_000_000);
    assert!(want.lo.abs_diff(297_800 - few) < 1_000 && want.hi > 500_000, "{want:?}");
    assert!(read.lo.abs_diff(297_800) < few, "{read:?}");
    // Full before it is looked at, and not full by the end.
    assert!(of(2_400_000).1.lo.abs_diff(500_000 - few) < 10);
    assert_eq!(of(9_000_000), (Span::exactly(0), Span { lo: 0, ..of(9_000_000).1 }));
}

#[test]
fn what_pfc_holds_back_of_a_lossless_queue_is_what_it_is_not_granted_give_or_take_a_frame_of_each()
{
    let ran = Ran::of("broadcom", TWO_LOSSLESS);
    let said = ran.as_seen();
    assert_eq!(said.word("share.withheld"), Word::Pass);
    let less = |subject: &str, by: i64| {
        let said = ran.changed(|seen| arrive(seen, Time(950_000_000), -by));
        said.about("share.withheld", subject).2
    };
    // A frame of 1044 B is 83.5 millionths of what two senders offer in 500 us, and 167 of what one does; of each source one lies
    // across either end.
    for (subject, want, least, most) in [
        ("queue 3", Span { lo: 500_000, hi: 500_001 }, -1, 2),
        ("one", Span { lo: 464_333, hi: 535_668 }, -205, 223),
    ] {
        assert_eq!(said.about("share.withheld", subject).1, want);
        for (by, passes) in [(least - 1, false), (least, true), (most, true), (most + 1, false)] {
            assert_eq!(less(subject, by), passes, "{subject} without {by} frames");
        }
    }
    // A rig whose stamps are off obeys so much later, and what it sends until then each source may hold more or less.
    let rough = ran.changed(|seen| {
        for trace in &mut seen.observation.ports {
            trace.provenance = Provenance::Software { bound: Dur::us(5) };
        }
    });
    let want = |subject: &str| rough.about("share.withheld", subject).1;
    assert_eq!(want("queue 3"), Span { lo: 500_000, hi: 500_001 });
    let one = want("one");
    assert!(one.lo < 464_333 && one.hi > 535_668, "{one:?}");
}

/// A port that is sold at 300 Mb/s and may be off by a twentieth, offered 409.6 Mb/s in frames; with a value, one that keeps to that.
fn sold_as_slower(margin: &str, does: Option<&str>, seed: u64) -> Ran {
    let case = "    dut: {scheduler: {pir: 300Mbps-L2}}
    streams: {full: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 20us}}
    trials: 1
    steps: [{at: 0ms, start: full, for: 22ms}]
    length: 60ms
    measure: [{throughput: {streams: [full], from: 1ms, until: 21ms}}]
";
    Ran::seeded("broadcom", case, seed, |device: &mut Profile| {
        let path = "scheduler.pir_margin".to_owned();
        let setting = Setting { path: path.clone(), value: json!(margin) };
        device.declared = device.declared.with(&setting).expect("a margin");
        let Some(rate) = does else { return };
        for (path, value) in [(path, "never"), ("scheduler.pir".to_owned(), rate)] {
            let always = Mutation::Override { path, value: value.to_owned() };
            device.mutate(&always).expect("a value");
        }
    })
}

#[test]
fn a_rate_within_its_margin_accuses_nobody_and_one_outside_by_what_is_printed_is_found() {
    let said = sold_as_slower("5%", None, 1).as_seen();
    let (read, want) = said.spans("throughput");
    // Two frames and the turn of a round, over 20 ms.
    let shows = [want.lo - (read.hi - read.lo), want.hi + (read.hi - read.lo) + 1];
    assert!(282_000_000 < shows[0] && shows[1] < 318_000_000, "{shows:?}");
    let of = |margin: &str, bps: u64| {
        let ran = sold_as_slower(margin, Some(&format!("{bps}bps-L2")), 1);
        ran.as_seen().word("throughput")
    };
    for inside in [285_000_000, 300_000_000, 315_000_000] {
        assert_eq!(of("5%", inside), Word::Pass, "{inside}");
        // Without a margin a port so far off is wrong.
        assert_eq!(of("0%", inside) == Word::Pass, inside == 300_000_000, "{inside}");
    }
    for outside in shows {
        assert!(matches!(of("5%", outside), Word::Fail(_)), "{outside}");
    }
}

#[test]
fn whatever_a_port_draws_within_its_margin_passes() {
    let drawn = |seed| {
        let said = sold_as_slower("5%", None, seed).as_seen();
        assert_eq!(said.wrong(), "", "seed {seed}");
        said.spans("throughput").0.middle() / 2_000_000
    };
    let mut rates: Vec<u64> = (1..=12).map(drawn).collect();
    rates.sort_unstable();
    rates.dedup();
    assert!(rates.len() > 4, "{rates:?}: not drawn");
}
