//! Deviations of the packet buffer: counted frames into a port that is held, and what counters and senders make of it.

use super::bench::{Bench, Case, ms};
use crate::model::{PacketKind, Stream};
use rig_lab::RuleFamily;
use rig_testcases::MacsecMode;
use rig_units::{Dur, Pace};

/// What a frame of 1024 B takes: five cells.
const FRAME: u64 = 1_040;
/// Frames within the limit of [`small`]: 6 in the reserve of 6 240 B, 33 in a third of 104 000 B.
const WITHIN: u32 = 39;
const GROUP: &str = "Ethernet0:3 SAI_INGRESS_PRIORITY_GROUP_STAT_";
const POOL: &str = "ingress_lossless_pool SAI_BUFFER_POOL_STAT_";

/// A device whose groups hold few frames: 39 within the limit, 2 in the headroom.
fn small(deviation: Option<&str>) -> Case {
    let case = Case::of(RuleFamily::Broadcom)
        .with("buffer.pool", "104000B")
        .with("buffer.lossy_pool", "104000B")
        .with("buffer.reserved", "6240B")
        .with("buffer.xoff", "2080B");
    deviation.into_iter().fold(case, |case, name| case.mutated(&format!("deviation={name}")))
}

/// The device with port 1 held in class 3, and senders that do not listen.
fn held(case: Case) -> Bench {
    let mut bench = case.start();
    bench.storm(1, 3);
    for host in [0, 2] {
        bench.dut.rig().obey(host, 0, Dur::ZERO);
    }
    bench.run(1);
    bench
}

impl Bench {
    /// So many frames of 1024 B back to back, and a millisecond of time.
    fn burst(&mut self, from: u16, to: u16, class: u8, count: u32) {
        let pace = Pace::every(Dur::ns(84));
        let (size, ect, record) = (1_024, false, true);
        let count = Some(count);
        let stream = Stream {
            address: 0,
            first: 0,
            id: 1,
            kind: PacketKind::Data,
            names: 1,
            class,
            dscp: class,
            size,
            pace,
            dst: to,
            count,
            ect,
            ce: false,
            record,
            pcp: None,
            macsec_mode: MacsecMode::Usual,
        };
        self.dut.rig().start_stream(from, &stream);
        self.pass(1);
        self.dut.rig().stop_stream(from, 1);
    }

    /// Lets milliseconds pass.
    fn pass(&mut self, milliseconds: u64) {
        let now = self.dut.now().0 / ms(1).0;
        self.run(now + milliseconds);
    }

    fn counter(&self, name: &str) -> u64 {
        self.dut.counter(name).unwrap_or_else(|| panic!("no counter {name}"))
    }

    /// Frames of class 3 that the port 0 has lost, and its shared and headroom watermarks in frames.
    fn group(&self) -> (u64, u64, u64) {
        let of = |name| self.counter(&format!("{GROUP}{name}"));
        let frames = |name| of(name) / FRAME;
        let peaks = (frames("SHARED_WATERMARK_BYTES"), frames("XOFF_ROOM_WATERMARK_BYTES"));
        (of("DROPPED_PACKETS"), peaks.0, peaks.1)
    }

    /// PFC frames of `class` that host 0 has received.
    fn told(&self, class: u8) -> u64 {
        self.dut.network().host(0).pauses(class, self.dut.now()).frames
    }
}

/// What becomes of `count` frames of class 3 from port 0 to the held port.
fn sent(case: Case, count: u32) -> Bench {
    let mut bench = held(case);
    bench.burst(0, 1, 3, count);
    bench
}

#[test]
fn the_frame_that_crosses_sends_xoff_and_is_the_first_in_the_headroom() {
    let right = |count| sent(small(None), count);
    assert_eq!((right(WITHIN).group(), right(WITHIN).told(3)), ((0, 33, 0), 0));
    let crossing = right(WITHIN + 1);
    assert!(crossing.told(3) > 0);
    assert_eq!(crossing.group(), (0, 33, 1));
    assert_eq!(right(WITHIN + 3).group(), (1, 33, 2));
    let shared = |count| sent(small(None).with("buffer.crossing", "shared"), count).group();
    assert_eq!((shared(WITHIN + 1), shared(WITHIN + 4)), ((0, 34, 0), (1, 34, 2)));
}

#[test]
fn headroom_one_cell_short_loses_the_last_frame_that_fits() {
    let lost = |deviation| sent(small(deviation), WITHIN + 2).group().0;
    assert_eq!((lost(None), lost(Some("headroom_one_cell_short"))), (0, 1));
}

#[test]
fn headroom_unused_loses_the_first_frame_beyond_and_sends_xoff_all_the_same() {
    let bench = sent(small(Some("headroom_unused")), WITHIN + 1);
    assert_eq!(bench.group(), (1, 33, 0));
    assert!(bench.told(3) > 0);
}

#[test]
fn headroom_cap_ignored_loses_nothing_until_the_pool_is_full() {
    let pooled = |deviation| small(deviation).with("buffer.headroom_pool", "10400B");
    let lost = |deviation, count| sent(pooled(deviation), count).group().0;
    assert_eq!(lost(None, WITHIN + 3), 1);
    let ignored = Some("headroom_cap_ignored");
    assert_eq!((lost(ignored, WITHIN + 10), lost(ignored, WITHIN + 11)), (0, 1));
}

/// The port is held, released and held again.
fn twice(case: Case, count: u32) -> Bench {
    let mut bench = sent(case, count);
    bench.calm(1, 3);
    bench.pass(2);
    bench.dut.clear_watermarks();
    bench.storm(1, 3);
    bench.pass(1);
    bench.burst(0, 1, 3, count);
    bench
}

#[test]
fn shared_headroom_not_released_loses_frames_the_second_time() {
    let lost = |deviation| {
        let case = small(deviation).with("buffer.headroom_pool", "3120B");
        twice(case, WITHIN + 2).group().0
    };
    assert_eq!((lost(None), lost(Some("shared_headroom_not_released"))), (0, 1));
}

#[test]
fn drop_leaks_buffer_shrinks_the_pool_for_good() {
    let empty = |deviation| {
        let mut bench = sent(small(deviation), WITHIN + 5);
        bench.calm(1, 3);
        bench.pass(2);
        bench.dut.clear_watermarks();
        bench.counter(&format!("{POOL}WATERMARK_BYTES"))
    };
    assert_eq!((empty(None), empty(Some("drop_leaks_buffer"))), (0, 3 * FRAME));
}

#[test]
fn watermark_not_cleared_shows_what_was_before() {
    let left = |deviation| {
        let mut bench = sent(small(deviation), WITHIN);
        bench.calm(1, 3);
        bench.pass(2);
        bench.dut.clear_watermarks();
        (bench.group().1, bench.counter(&format!("{POOL}WATERMARK_BYTES")))
    };
    assert_eq!(left(None), (0, 0));
    assert_eq!(left(Some("watermark_not_cleared")), (33, 33 * FRAME));
}

#[test]
fn reserved_not_counted_crosses_earlier_and_shares_more() {
    let shared = |deviation| sent(small(deviation), 33).group().1;
    assert_eq!((shared(None), shared(Some("reserved_not_counted"))), (27, 33));
    assert!(sent(small(Some("reserved_not_counted")), 34).told(3) > 0);
}

#[test]
fn descriptor_not_counted_takes_a_cell_less() {
    let peak = |deviation| {
        let case = small(deviation).with("buffer.descriptor", "17B");
        sent(case, 10).counter("Ethernet4:3 SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES")
    };
    assert_eq!((peak(None), peak(Some("descriptor_not_counted"))), (10 * 1_248, 10 * FRAME));
}

#[test]
fn pool_oversubscribed_twice_crosses_at_twice_the_depth() {
    // A third of 208 000 B holds 66 frames.
    let shared = |deviation| sent(small(deviation), 200).group().1;
    assert_eq!((shared(None), shared(Some("pool_oversubscribed_twice"))), (33, 66));
}

#[test]
fn xoff_wrong_class_pauses_the_class_above() {
    let told = |deviation| {
        let bench = sent(small(deviation), WITHIN + 1);
        (bench.told(3) > 0, bench.told(4) > 0)
    };
    assert_eq!((told(None), told(Some("xoff_wrong_class"))), ((true, false), (false, true)));
}

/// When host 0 hears XON after a crossing, in microseconds: port 1 is released a millisecond after it.
fn xons(deviation: Option<&str>) -> Vec<u64> {
    let mut bench = sent(small(deviation), WITHIN + 1);
    bench.calm(1, 3);
    bench.pass(5);
    let xons = bench.told.iter().filter(|&&(_, host, xon)| host == 0 && xon);
    xons.map(|&(at, ..)| at.0 / 1_000_000).collect()
}

#[test]
fn xon_never_is_not_sent_and_xon_late_is_sent_later() {
    let right = xons(None);
    assert_eq!(right.len(), 1);
    assert_eq!(xons(Some("xon_never")).len(), 0);
    assert_eq!(xons(Some("xon_late")), [right[0] + 500]);
    assert_eq!(xons(Some("xon_late:70")), [right[0] + 70]);
}

/// Two senders at full rate into one port in a lossy class: frames lost by the queue, the watermarks of the lossy pool
/// and of the headroom in frames, and whether a sender was told to pause.
fn overrun(deviation: Option<&str>) -> (u64, u64, u64, bool) {
    let mut bench = held(small(deviation));
    bench.dut.rig().start_stream(2, &lossy(2));
    bench.dut.rig().start_stream(0, &lossy(0));
    bench.pass(2);
    (
        bench.counter("Ethernet12:1 SAI_QUEUE_STAT_DROPPED_PACKETS"),
        bench.counter("egress_lossy_pool SAI_BUFFER_POOL_STAT_WATERMARK_BYTES") / FRAME,
        bench.counter(&format!("{POOL}XOFF_ROOM_WATERMARK_BYTES")) / FRAME,
        !bench.told.is_empty(),
    )
}

fn lossy(from: u16) -> Stream {
    Stream {
        address: 0,
        first: 0,
        id: from,
        kind: PacketKind::Data,
        names: from,
        class: 1,
        dscp: 1,
        size: 1_024,
        pace: Pace::every(Dur::ns(84)),
        dst: 3,
        count: Some(500),
        ect: false,
        ce: false,
        record: true,
        pcp: None,
        macsec_mode: MacsecMode::Usual,
    }
}

#[test]
fn lossy_uses_headroom_drops_later_by_what_a_group_has() {
    // 8/9 of 104 000 B hold 88 frames.
    let (lost, pool, headroom, told) = overrun(None);
    assert_eq!((pool, headroom, told), (88, 0, false));
    let deviant = overrun(Some("lossy_uses_headroom"));
    assert_eq!((deviant.1, deviant.2, deviant.3), (88, 2, false));
    assert_eq!(lost - deviant.0, 2);
}

#[test]
fn lossy_pauses_tells_the_sender_of_lossy_frames() {
    assert!(overrun(Some("lossy_pauses")).3);
}

#[test]
fn pfc_honoured_for_other_class_stops_the_class_above() {
    let passed = |deviation| {
        let mut bench = held(small(deviation));
        bench.burst(0, 1, 4, 10);
        bench.received.len()
    };
    assert_eq!((passed(None), passed(Some("pfc_honoured_for_other_class"))), (10, 0));
}

#[test]
fn pause_time_not_restarted_leaves_gaps_in_a_storm() {
    let passed = |deviation| {
        let mut bench = sent(small(deviation), 20);
        bench.pass(5);
        bench.received.len()
    };
    assert_eq!((passed(None), passed(Some("pause_time_not_restarted"))), (0, 20));
}

#[test]
fn counter_counts_pfc_as_data_moves_with_every_pfc_frame() {
    let counted = |deviation| {
        let bench = sent(small(deviation), 20);
        let of = |port, name| bench.counter(&format!("{port} SAI_PORT_STAT_IF_{name}_PKTS"));
        let pfc = bench.counter("Ethernet4 SAI_PORT_STAT_PFC_3_RX_PKTS");
        assert_eq!((of("Ethernet0", "IN_UCAST"), of("Ethernet4", "OUT_UCAST")), (20, 0));
        assert_eq!(of("Ethernet4", "IN_UCAST"), 0);
        (of("Ethernet4", "IN_NON_UCAST"), pfc)
    };
    let (others, pfc) = counted(None);
    assert!(others == 0 && pfc > 5);
    assert_eq!(counted(Some("counter_counts_pfc_as_data")), (pfc, pfc));
}

#[test]
fn drop_counter_off_says_more_than_is_missing() {
    let lost = |count, deviation| sent(small(deviation), WITHIN + count).group().0;
    assert_eq!((lost(2, None), lost(5, None)), (0, 3));
    let off = Some("drop_counter_off");
    assert_eq!((lost(2, off), lost(5, off)), (0, 4));
    assert_eq!(lost(5, Some("drop_counter_off:7")), 10);
}

#[test]
fn port_counters_off_say_that_more_passed_than_did() {
    let counted = |deviation| {
        let mut bench = sent(small(deviation), 20);
        bench.pass(50);
        let of = |name| bench.counter(&format!("{name}_UCAST_PKTS"));
        [of("Ethernet0 SAI_PORT_STAT_IF_IN"), of("Ethernet4 SAI_PORT_STAT_IF_IN")]
    };
    assert_eq!(counted(None), [20, 0]);
    assert_eq!(counted(Some("port_counters_off")), [21, 0], "none of what received nothing");
    assert_eq!(counted(Some("port_counters_off:7")), [27, 0]);
}
