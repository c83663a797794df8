//! What a reading leaves out is there, and is 0.

use super::bench::Case;
use super::system::whole;
use super::watermarks::filled;
use crate::model::dut::Dut;
use rig_lab::RuleFamily;
use rig_units::Dur;

/// How many counters were left out, of how many.
fn left_out(dut: &Dut) -> (usize, usize) {
    let (all, stirred, at_rest) = (dut.counters(), dut.stirred(), dut.at_rest());
    let mut left_out = 0;
    for (name, value) in &all {
        match stirred.get(name) {
            Some(shown) => assert_eq!(shown, value, "{name}"),
            None => {
                assert_eq!(*value, 0, "{name}");
                assert!(at_rest.iter().any(|rest| rest.has(name)), "{name} is nowhere");
                left_out += 1;
            }
        }
    }
    assert!(stirred.keys().all(|name| all.contains_key(name)));
    (left_out, all.len())
}

#[test]
fn what_is_left_out_of_a_reading_is_at_rest_before_a_poll_of_watermarks_and_after() {
    let mut bench = filled(1, 1);
    let copy = "USER_WATERMARKS Ethernet0:3 SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES";
    let has = |dut: &Dut, name: &str| dut.at_rest().iter().any(|rest| rest.has(name));
    for (until, copied) in [(2, false), (200, true)] {
        bench.run(until);
        let (out, all) = left_out(&bench.dut);
        assert!(out > all / 2, "{out} of {all}");
        // What is not there yet is not said to be.
        assert_eq!(bench.dut.counter(copy).is_some(), copied);
        assert_eq!(has(&bench.dut, copy), copied);
        assert!(!has(&bench.dut, &copy.replace("Ethernet0", "Ethernet64")));
    }
}

#[test]
fn the_counters_of_several_devices_are_told_apart_where_they_are_at_rest_too() {
    let mut bench = super::system::bench(&whole());
    bench.stream(0, 2, 3, Dur::ms(1));
    bench.run(10);
    let (out, all) = left_out(&bench.dut);
    assert!(out > all / 2, "{out} of {all}");
    let rest = bench.dut.at_rest();
    assert!(rest[0].has("near/Ethernet4:3 PFC_WD_QUEUE_STATS_TX_PACKETS"));
    assert!(!rest.iter().any(|rest| rest.has("Ethernet4:3 PFC_WD_QUEUE_STATS_TX_PACKETS")));
}

#[test]
fn a_switch_with_macsec_leaves_out_what_its_ports_do_not_count() {
    let mut bench = Case::of(RuleFamily::Broadcom).with("macsec.enable", true).start();
    bench.run(1);
    let (out, all) = left_out(&bench.dut);
    assert!(out > all / 2, "{out} of {all}");
}
