use super::*;

#[test]
fn the_figures_are_read_by_people() {
    let rounds = |median: u64| Rounds { median, min: median * 9 / 10, max: median * 11 / 10 };
    let size = |bytes, ratio: Option<u64>| Measured {
        bytes,
        stamped: bytes >= 80,
        checked: (bytes < 1_000).then_some(2_048),
        frames_per_s: rounds(2_750_000),
        ps_per_frame: rounds(363_636),
        lost: 0,
        unaccounted: u64::from(bytes > 1_000),
        testpmd_frames_per_s: ratio.map(|_| rounds(2_800_000)),
        ratio: ratio.map(rounds),
        one_queue_frames_per_s: (bytes == 80).then(|| rounds(2_700_000)),
        ratio_to_one_queue: (bytes == 80).then(|| rounds(10_185)),
        wanted: ratio.map(|_| 98),
    };
    let tx = Tx {
        format: FORMAT,
        bench: "tx",
        host: Host {
            cpu: "A Processor".into(),
            cpus: 2,
            kernel: "6.18.0".into(),
            load: "0.10 0.20 0.30".into(),
            clock: "CLOCK_MONOTONIC, because the processor does not promise an even counter".into(),
            clock_hertz: 1_000_000_000,
            clock_error_ns: 27,
            pinned: None,
            real_time: false,
            awake: false,
        },
        ports: "a pair of virtual interfaces made for this".into(),
        batch: BATCH,
        rounds: 9,
        testpmd: Some("DPDK 22.11.11".into()),
        sizes: vec![size(64, Some(9_800)), size(80, Some(9_799)), size(1_024, None)],
    };
    insta::assert_snapshot!(tx);
}
