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
