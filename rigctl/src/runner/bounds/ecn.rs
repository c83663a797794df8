//! What early detection marks, and whether it does so before PFC pauses.

use super::given::{Ran, Word};
use rig_capture::{Dir, What};
use rig_lab::Setting;

/// 150 frames of five cells in a held queue that marks whatever has 100 such frames or more behind it: the first 50.
fn step(measure: &str) -> Ran {
    Ran::of(
        "broadcom",
        &format!(
            "    dut: {{wred: {{kmin: 104000B, kmax: 104000B, pmax: 100%}}, pfcwd: {{detection_time: 5000ms}}}}
    streams: {{fill: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 20us, count: 150}}}}
    storms: {{hold: {{from: p2, classes: [3]}}}}
    endpoints: {{p1: {{obeys: none}}}}
    trials: 1
    steps:
      - {{at: 0ms, start: hold}}
      - {{at: 20ms, start: fill}}
      - {{at: 30ms, stop: hold}}
    length: 60ms
    measure: [{measure}]
"
        ),
    )
}

/// What is said once the frames for which that is so have arrived marked and the others not.
fn marked(ran: &Ran, measure: &str, is: impl Fn(usize) -> bool) -> Word {
    let said = ran.changed(|seen| {
        for (nth, at) in seen.frames(0, Dir::Rx).into_iter().enumerate() {
            if let What::Data { ce, .. } = &mut seen.observation.records[at].what {
                *ce = is(nth);
            }
        }
    });
    said.word(measure)
}

#[test]
fn one_mark_is_enough_one_too_few_or_one_too_many() {
    let all = |expect: &str, count: usize| {
        let ran = step(&format!("{{ecn.marks: {{stream: fill, expect: {expect}}}}}"));
        marked(&ran, "ecn.marks", |nth| nth < count)
    };
    let fails = |count: usize| Word::Fail(format!("{count} of 150 frames marked"));
    assert_eq!((all("none", 0), all("none", 1)), (Word::Pass, fails(1)));
    assert_eq!((all("some", 0), all("some", 1)), (fails(0), Word::Pass));
    assert_eq!((all("all", 149), all("all", 150)), (fails(149), Word::Pass));
}

#[test]
fn a_step_marks_up_to_its_frame_and_no_further() {
    let ran = step("{ecn.curve: {streams: fill}}");
    assert_eq!(marked(&ran, "ecn.curve", |nth| nth < 50), Word::Pass);
    for off in [49, 51] {
        let word = marked(&ran, "ecn.curve", |nth| nth < off);
        assert!(matches!(word, Word::Fail(_)), "{off}: {word:?}");
    }
}

#[test]
fn marked_frames_and_their_bytes_are_counted_to_the_one() {
    let ran = step("{ecn.counters: {stream: fill}}");
    ran.holds_counters(
        "ecn.counters",
        &[
            ("Ethernet4:3 SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS", 50),
            ("Ethernet4:3 SAI_QUEUE_STAT_WRED_ECN_MARKED_BYTES", 50 * 1024),
            ("Ethernet4:3 SAI_QUEUE_STAT_WRED_DROPPED_PACKETS", 0),
            ("Ethernet4:3 SAI_QUEUE_STAT_WRED_DROPPED_BYTES", 0),
            ("Ethernet4:3 SAI_QUEUE_STAT_DROPPED_PACKETS", 0),
            ("Ethernet0:3 SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS", 0),
        ],
    );
}

#[test]
fn a_device_may_count_no_bytes_of_what_it_marks_but_has_to_count_what_it_marks() {
    let ran = step("{ecn.counters: {stream: fill}}");
    let without = |counter: &str, lost: bool| {
        ran.changed(|seen| seen.uncount(counter, lost)).word("ecn.counters")
    };
    let queue = |name: &str| format!("Ethernet4:3 SAI_QUEUE_STAT_{name}");
    for bytes in ["WRED_ECN_MARKED_BYTES", "WRED_DROPPED_BYTES"].map(queue) {
        assert_eq!(without(&bytes, false), Word::Pass, "{bytes}");
        assert!(matches!(without(&bytes, true), Word::Doubt(_)), "{bytes} was there before");
    }
    for packets in ["WRED_ECN_MARKED_PACKETS", "WRED_DROPPED_PACKETS", "DROPPED_PACKETS"].map(queue)
    {
        assert!(matches!(without(&packets, false), Word::Doubt(_)), "{packets}");
    }
}

#[test]
fn a_mark_comes_first_by_a_picosecond_or_not_at_all() {
    for (first, at_once) in [("ecn", false), ("pfc", true)] {
        let ran = Ran::of(
            "broadcom",
            &format!(
                "    dut: {{pfcwd: {{detection_time: 5000ms}}, buffer: {{pool: 2000000B, lossy_pool: 2000000B}}}}
    streams:
      load:  {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, rate: 60%, count: 3000}}
      other: {{from: p3, to: p2, class: 3, kind: rocev2-write, size: 1024B, rate: 60%, count: 3000}}
    endpoints: {{p1: {{obeys: none}}, p3: {{obeys: none}}}}
    taps: {{p1: all, p2: all, p3: all}}
    trials: 1
    steps: [{{at: 1ms, start: [load, other]}}]
    length: 20ms
    measure: [{{ecn.order: {{stream: load, first: {first}}}}}]
"
            ),
        );
        // The first XOFF that long after the first mark.
        let after = |by: i64| {
            let said = ran.changed(|seen| {
                let marks = seen.all(|one| {
                    one.dir == Dir::Rx && matches!(one.what, What::Data { ce: true, .. })
                });
                let at = |record: usize| i64::try_from(seen.observation.records[record].at.0);
                let mark = at(marks[0]).expect("a time");
                let mut xoffs = seen.words(0, Dir::Rx, true);
                xoffs.extend(seen.words(2, Dir::Rx, true));
                let xoff = *xoffs.iter().min().expect("an XOFF");
                let late = at(xoff).expect("a time");
                seen.shift(xoff, mark + by - late);
            });
            said.passes("ecn.order")
        };
        assert_eq!((after(0), after(1)), (at_once, !at_once), "{first}");
    }
}

/// A load of two senders that fills a queue through the whole curve, on a device that declares a weight of 4, and a timer or none.
fn averaged(ecn: &str, every: Option<&str>, mutant: Option<&str>) -> Word {
    let text = format!(
        "    dut: {{wred: {{kmin: 20000B, kmax: 60000B, pmax: 30%}}}}
    taps: {{p1: all, p2: all, p3: all}}
    endpoints: {{p1: {{obeys: none}}, p3: {{obeys: none}}}}
    streams:
      load:  {{from: p1, to: p2, class: 3, kind: rocev2-write, ecn: {ecn}, size: 1024B, rate: 60%, count: 400}}
      other: {{from: p3, to: p2, class: 3, kind: rocev2-write, ecn: {ecn}, size: 1024B, rate: 60%, count: 400}}
    steps: [{{at: 1ms, start: [load, other]}}]
    length: {{of: load, times: 2, plus: 10ms}}
    trials: 1
    measure: [{{ecn.curve: {{streams: [load, other]}}}}, {{ecn.counters: {{stream: load}}}}]
"
    );
    let ran = Ran::with("broadcom", &text, |profile| {
        for (path, value) in [("weight", 4.into()), ("average_interval", every.into())] {
            let declares = Setting { path: format!("wred.{path}"), value };
            profile.declared = profile.declared.with(&declares).expect("an average");
        }
        if let Some(mutant) = mutant {
            profile.mutate(&mutant.parse().expect("a departure")).expect("it has that");
        }
    });
    let said = ran.as_seen();
    assert_eq!(said.word("ecn.counters"), Word::Pass, "{ecn}");
    said.word("ecn.curve")
}

#[test]
fn an_average_is_followed_through_any_load_and_told_from_another() {
    assert_eq!(averaged("ect0", None, None), Word::Pass);
    assert_eq!(averaged("not-ect", None, None), Word::Pass);
    let other = averaged("not-ect", None, Some("wred.weight=8"));
    assert!(matches!(other, Word::Fail(_)), "{other:?}");
}

#[test]
fn an_average_on_a_timer_is_followed_through_any_load_and_told_from_one_by_frames_and_from_another()
{
    for every in ["200ns", "1us", "3us"] {
        for ecn in ["ect0", "not-ect"] {
            assert_eq!(averaged(ecn, Some(every), None), Word::Pass, "{ecn} each {every}");
        }
    }
    for mutant in ["never", "x0.5", "x2"] {
        let mutant = format!("wred.average_interval={mutant}");
        let other = averaged("ect0", Some("1us"), Some(&mutant));
        assert!(matches!(other, Word::Fail(_)), "{mutant}: {other:?}");
    }
    // Where frames are declared to make it, a timer does not.
    let other = averaged("ect0", None, Some("wred.average_interval=1us"));
    assert!(matches!(other, Word::Fail(_)), "{other:?}");
}

/// Sixty bursts that a pause holds, each of so many frames, through that curve.
pub(super) fn bursts(curve: &str, count: u64) -> String {
    format!(
        "    dut: {{wred: {{{curve}}}, pfcwd: {{detection_time: 5000ms}}}}
    streams: {{fill: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 2us, count: {count}}}}}
    storms: {{hold: {{from: p2, classes: [3]}}}}
    endpoints: {{p1: {{obeys: none}}}}
    trials: 60
    steps:
      - {{at: 0ms, start: hold}}
      - {{at: 1ms, start: fill}}
      - {{at: 2ms, stop: hold}}
    length: 5ms
    measure: [{{ecn.curve: {{streams: fill}}}}]
"
    )
}

/// Sixty bursts through a curve up to 30 % in sixteenths, which are 4.8: four or five of them.
fn in_steps(pmax: &str) -> Word {
    let text = bursts("kmin: 50000B, kmax: 300000B, pmax: 30%, chance_steps: 16", 300);
    let ran = Ran::with("broadcom", &text, |profile| {
        let keeps = format!("wred.pmax={pmax}");
        profile.mutate(&keeps.parse().expect("a departure")).expect("it has that");
    });
    ran.as_seen().word("ecn.curve")
}

#[test]
fn a_chance_in_steps_may_be_the_one_below_or_the_nearest_and_no_other() {
    for kept in ["25%", "31.25%"] {
        assert_eq!(in_steps(kept), Word::Pass, "{kept}");
    }
    for kept in ["18.75%", "37.5%"] {
        let word = in_steps(kept);
        assert!(matches!(word, Word::Fail(_)), "{kept}: {word:?}");
    }
}
