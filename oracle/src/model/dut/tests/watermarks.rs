//! Watermarks that are polled, and their copies.

use super::bench::{Bench, Case};
use crate::model::{PacketKind, Stream};
use rig_lab::{RuleFamily, WatermarkCopy};
use rig_testcases::{DeviceVerb, MacsecMode};
use rig_units::{Dur, Pace};

const SHARED: &str = "Ethernet0:3 SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES";

/// Ten frames of 1040 B that stay for `held` milliseconds; they are 10400 B, 1248 of them reserved.
pub(super) fn filled(seed: u64, held: u64) -> Bench {
    filled_on(Case::of(RuleFamily::Broadcom), seed, held)
}

fn filled_on(case: Case, seed: u64, held: u64) -> Bench {
    let mut bench = case
        .with("watermark.poll", "100ms")
        .with("watermark.telemetry", "250ms")
        .with("pfcwd.detection_time", "5000ms")
        .seed(seed)
        .start();
    bench.dut.rig().obey(0, 0, Dur::ZERO);
    bench.storm(1, 3);
    bench.run(1);
    let pace = Pace::every(Dur::us(1));
    let (size, ect, record, count) = (1_024, false, true, Some(10));
    let stream = Stream {
        address: 0,
        first: 0,
        id: 1,
        kind: PacketKind::Data,
        names: 1,
        class: 3,
        dscp: 3,
        size,
        pace,
        dst: 1,
        count,
        ect,
        ce: false,
        record,
        pcp: None,
        macsec_mode: MacsecMode::Usual,
    };
    bench.dut.rig().start_stream(0, &stream);
    bench.run(1 + held);
    bench.calm(1, 3);
    bench
}

impl Bench {
    /// What the chip and the three copies show of the group.
    fn marks(&self) -> [u64; 4] {
        let of = |table: &str| self.dut.counter(&format!("{table}{SHARED}")).unwrap_or(0);
        [of(""), of("PERIODIC_WATERMARKS "), of("PERSISTENT_WATERMARKS "), of("USER_WATERMARKS ")]
    }
}

#[test]
fn copies_keep_what_the_chip_forgets_and_each_is_cleared_by_itself() {
    for seed in 1..6 {
        let mut bench = filled(seed, 50);
        bench.run(270);
        let [chip, _, persistent, user] = bench.marks();
        assert_eq!([chip, persistent, user], [0, 9_152, 9_152], "seed {seed}");
        assert!(bench.dut.perform(DeviceVerb::ClearWatermarks(WatermarkCopy::User)));
        bench.run(500);
        assert_eq!(bench.marks(), [0, 0, 9_152, 0], "seed {seed}: a period has gone by");
        assert!(bench.dut.perform(DeviceVerb::ClearWatermarks(WatermarkCopy::Persistent)));
        assert_eq!(bench.marks(), [0; 4]);
    }
}

#[test]
fn a_clear_that_clears_all_takes_the_other_copy() {
    let broken = Case::of(RuleFamily::Broadcom).mutated("deviation=watermark_clear_clears_all");
    let mut bench = filled_on(broken, 1, 50);
    bench.run(270);
    assert!(bench.dut.perform(DeviceVerb::ClearWatermarks(WatermarkCopy::User)));
    assert_eq!(bench.marks()[2..], [0, 0]);
}

#[test]
fn a_clear_that_is_lost_leaves_what_was_there() {
    let broken = Case::of(RuleFamily::Broadcom).mutated("deviation=watermark_clear_lost");
    let mut bench = filled_on(broken, 1, 50);
    bench.run(270);
    assert!(bench.dut.perform(DeviceVerb::ClearWatermarks(WatermarkCopy::User)));
    assert_eq!(bench.marks()[2..], [9_152, 9_152]);
}

#[test]
fn a_persistent_copy_that_forgets_is_gone_with_the_period_and_the_user_copy_stays() {
    let broken = Case::of(RuleFamily::Broadcom).mutated("deviation=watermark_persistent_forgets");
    let mut bench = filled_on(broken, 1, 50);
    bench.run(500);
    assert_eq!(bench.marks()[2..], [0, 9_152]);
}

#[test]
fn a_clear_before_the_poll_brings_the_peak_back_with_it() {
    let mut bench = filled(1, 1);
    bench.run(3);
    assert_eq!(bench.marks()[0], 9_152, "not read yet");
    assert!(bench.dut.perform(DeviceVerb::ClearWatermarks(WatermarkCopy::User)));
    bench.run(110);
    assert_eq!(bench.marks()[3], 9_152);
}

#[test]
fn a_counter_by_its_name_is_the_one_among_all() {
    let mut bench = filled(2, 50);
    bench.run(200);
    let all = bench.dut.counters();
    let copies: Vec<_> = all.iter().filter(|(name, _)| name.contains("_WATERMARKS ")).collect();
    // Three copies: of 4 ports and 8 classes three each, and of the pools four.
    assert_eq!(copies.len(), 3 * (4 * 8 * 3 + 4));
    for (name, value) in copies {
        assert_eq!(bench.dut.counter(name), Some(*value), "{name}");
    }
    assert_eq!(bench.dut.counter("USER_WATERMARKS Ethernet0:3 SAI_QUEUE_STAT_PACKETS"), None);
}

#[test]
fn a_device_that_does_not_poll_has_no_copies() {
    let mut bench = Case::of(RuleFamily::Broadcom).start();
    bench.run(500);
    assert!(bench.dut.counters().keys().all(|name| !name.contains("_WATERMARKS ")));
}
