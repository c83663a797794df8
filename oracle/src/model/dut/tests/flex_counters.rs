//! Counters that are copied now and then.

use super::bench::Case;
use rig_lab::RuleFamily;
use rig_units::Dur;

const CHIP: &str = "Ethernet4:3 SAI_QUEUE_STAT_PACKETS";
const QUEUE: &str = "COUNTERS Ethernet4:3 SAI_QUEUE_STAT_PACKETS";
const PORT: &str = "COUNTERS Ethernet4 SAI_PORT_STAT_IF_OUT_UCAST_PKTS";

#[test]
fn a_copy_shows_what_was_counted_an_interval_ago_and_each_group_by_its_own() {
    let mut behind = 0;
    for seed in 1..20 {
        let case = Case::of(RuleFamily::Broadcom);
        let case = case.with("flex_counter.queue", "100ms").with("flex_counter.port", "20ms");
        let mut bench = case.seed(seed).start();
        bench.dut.rig().obey(0, 0, Dur::ZERO);
        bench.stream(0, 1, 3, Dur::ms(1));
        let mut chips = Vec::new();
        for at in 1..500_usize {
            bench.run(u64::try_from(at).unwrap());
            let of = |name: &str| bench.dut.counter(name);
            chips.push(of(CHIP).unwrap_or(0));
            for (name, every) in [(QUEUE, 100), (PORT, 20)] {
                let Some(copy) = of(name) else {
                    assert!(at <= every, "{name}: no copy after {at} ms, seed {seed}");
                    continue;
                };
                let least = (at - 1).checked_sub(every).map_or(0, |before| chips[before]);
                let most = chips.last().copied().unwrap_or(0);
                assert!((least..=most).contains(&copy), "{name}: {copy} at {at} ms, seed {seed}");
                behind += u32::from(copy < most);
            }
        }
    }
    assert!(behind > 1_000, "{behind}");
}

#[test]
fn what_is_not_copied_has_no_copy() {
    let mut bench = Case::of(RuleFamily::Broadcom).with("flex_counter.port", "20ms").start();
    bench.run(100);
    assert_eq!(bench.dut.counter(PORT), Some(0));
    assert_eq!(bench.dut.counter(QUEUE), None);
}
