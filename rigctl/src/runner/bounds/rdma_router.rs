//! A software RDMA router: when the first message is handed over, and how many follow.

use super::given::{Ran, Said, Seen, Word};
use super::rp::packets;
use rig_capture::What;
use rig_testcases::RoceKind;

fn run(flow: &str, measure: &str) -> Ran {
    let text = format!(
        "    flows: {{w: {{nic: p1, class: 3, verb: write, message: 64B, mtu: 1024B{flow}}}}}
    steps: [{{at: 1us, start: w}}]
    length: 80us
    trials: 1
    measure: [{{{measure}: {{flow: w}}}}]
"
    );
    Ran::of("freeflow", &text)
}

#[test]
fn a_hand_over_is_told_to_the_picosecond() {
    let ran = run(", count: 1", "rdma_router.handover");
    ran.holds_its_bounds("rdma_router.handover", |seen, by| {
        let first = packets(seen)[0];
        seen.shift(first, by);
    });
}

#[test]
fn a_rate_is_told_to_a_picosecond_a_message() {
    let ran = run(", count: 101", "rdma_router.rate");
    let last = |by: i64| {
        let said = ran.changed(|seen| {
            let all = packets(seen);
            seen.shift(all[all.len() - 1], by);
        });
        said.word("rdma_router.rate")
    };
    // A hundred messages after the first, each of which may be rounded.
    assert_eq!([last(0), last(100), last(-100)], [Word::Pass, Word::Pass, Word::Pass]);
    for by in [-102, 102] {
        assert!(matches!(last(by), Word::Fail(_)), "{by}: {:?}", last(by));
    }
}

#[test]
fn a_router_that_stands_still_to_the_end_fails() {
    // A message of 64 B each 600 ns, asked for up to the end.
    let ran = run("", "rdma_router.rate");
    assert_eq!(ran.as_seen().word("rdma_router.rate"), Word::Pass);
    let without = |last: usize| {
        let said = ran.changed(|seen| {
            let all = packets(seen);
            for &lost in all[all.len() - last..].iter().rev() {
                seen.lose(lost);
            }
        });
        said.word("rdma_router.rate")
    };
    // What would have come in the last moments may have been on its way.
    assert_eq!(without(0), Word::Pass);
    assert!(matches!(without(2), Word::Fail(_)), "{:?}", without(2));
    let Word::Fail(why) = without(50) else { panic!("half of them are missing") };
    assert!(why.contains("nothing in the last"), "{why}");
}

/// A case of more than one flow on the bundled router.
fn ran(flows: &str, dut: &str, steps: &str, measure: &str) -> Ran {
    let text = format!(
        "    dut: {{rdma_router: {{{dut}}}}}
    flows: {{{flows}}}
    steps: [{steps}]
    length: 150us
    trials: 1
    measure: [{measure}]
"
    );
    Ran::of("freeflow", &text)
}

/// The packets of the data of a connection, in order.
fn of(seen: &Seen<'_>, connection: u16) -> Vec<usize> {
    let is = |what: &What| match what {
        What::Roce(roce) => {
            roce.connection == connection && matches!(roce.kind, RoceKind::Data { .. })
        }
        _ => false,
    };
    let all = seen.observation.records.iter().enumerate();
    all.filter(|(_, one)| is(&one.what)).map(|(at, _)| at).collect()
}

/// What a measure says; `None`: that it cannot tell.
fn told(said: &Said, measure: &str) -> Option<Word> {
    said.of(measure).next().is_some().then(|| said.word(measure))
}

const W2K: &str = "nic: p1, class: 3, verb: write, message: 2KiB, mtu: 4096B";

#[test]
fn a_registration_is_told_to_the_picosecond_and_one_that_never_ends_by_who_sends_after_it() {
    let flows =
        format!("w: {{{W2K}, count: 1, container: {{memory: new}}}}, v: {{{W2K}, count: 1}}");
    let steps = "{at: 1us, start: w}, {at: 50us, start: v}";
    let ran = ran(&flows, "hosts_gone: 1", steps, "{rdma_router.registration: {flow: w}}");
    ran.holds_its_bounds("rdma_router.registration", |seen, by| {
        let first = packets(seen)[0];
        seen.shift(first, by);
    });
    let without = |silent: &[u16]| {
        let said = ran.changed(|seen| {
            for connection in silent {
                for at in of(seen, *connection).into_iter().rev() {
                    seen.observation.records.remove(at);
                }
            }
        });
        told(&said, "rdma_router.registration")
    };
    assert!(matches!(without(&[0]), Some(Word::Fail(_))), "{:?}", without(&[0]));
    assert_eq!(without(&[0, 1]), None);
}

#[test]
fn a_turn_beside_one_other_is_the_longest_gap_to_the_picosecond() {
    let ran = run(", count: 20", "rdma_router.stall");
    let last = |by: i64| {
        let said = ran.changed(|seen| {
            let all = packets(seen);
            seen.shift(all[all.len() - 1], by);
        });
        said.word("rdma_router.stall")
    };
    // Alone: the next request is handed over 600 ns after the last one.
    assert_eq!([last(0), last(-500_000)], [Word::Pass, Word::Pass]);
    assert!(matches!(last(1), Word::Fail(_)), "{:?}", last(1));
}

#[test]
fn one_message_more_or_less_of_a_container_that_moved_is_told() {
    let flows = format!("a: {{{W2K}, count: 50}}, b: {{{W2K}, container: {{takes_over: a}}}}");
    let steps = "{at: 0us, start: a, for: 10us}, {at: 20us, start: b, for: 100us}";
    let ran = ran(&flows, "quota: 1", steps, "{rdma_router.migration: {flow: b}}");
    let word = |change: &dyn Fn(&mut Seen<'_>)| {
        told(&ran.changed(|seen| change(seen)), "rdma_router.migration")
    };
    assert_eq!(word(&|_| ()), Some(Word::Pass));
    let lost = word(&|seen: &mut Seen<'_>| {
        let one = of(seen, 0)[3];
        seen.observation.records.remove(one);
    });
    assert_eq!(lost, Some(Word::Fail("15 before and 34 after it moved: 1 lost".to_owned())));
    let all_lost = word(&|seen: &mut Seen<'_>| {
        for at in of(seen, 1).into_iter().rev() {
            seen.observation.records.remove(at);
        }
    });
    assert_eq!(all_lost, None);
}

#[test]
fn who_is_beyond_a_quota_is_told_by_its_first_message_and_nothing_by_a_nic_that_is_silent() {
    let flows = format!("a: {{{W2K}}}, b: {{{W2K}}}");
    let steps = "{at: 0us, start: a, for: 100us}, {at: 20us, start: b, for: 80us}";
    let word = |quota: &str, silent: bool| {
        let ran = ran(&flows, quota, steps, "{rdma_router.admission: {flow: b}}");
        let said = ran.changed(|seen| {
            if silent {
                seen.observation.records.clear();
            }
        });
        told(&said, "rdma_router.admission")
    };
    let pass = || Some(Word::Pass);
    assert_eq!([word("quota: 1", false), word("quota: 2", false)], [pass(), pass()]);
    assert_eq!([word("quota: 1", true), word("quota: 2", true)], [None, None]);
}
