//! A software RDMA router: when the first message is handed over, and how many follow.

use super::given::{Ran, Word};
use super::rp::packets;

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
