use super::*;

fn figures(p50: u64, p90: u64) -> Figures {
    let ns = Dur::ns;
    Figures {
        count: 9,
        p50: ns(p50),
        p90: ns(p90),
        p99: ns(900),
        p99_9: ns(9_000),
        max: ns(90_000),
    }
}

fn pair(floor: u64, sent: u64) -> Pair {
    Pair {
        floor: figures(floor, floor * 2),
        floor_late: figures(20, 30),
        sent: figures(sent, sent * 3),
        sent_late: figures(40, 50),
        received: Some(figures(80, 300)),
        floor_kept_off: KeptOff { waited_ns: 1_200, stolen_ns: Some(0) },
        sent_kept_off: KeptOff { waited_ns: 8_600_000, stolen_ns: Some(10_000_000) },
        frames: 10,
        arrived: Some(10),
    }
}

#[test]
fn what_is_wanted_is_met_at_its_bound_and_missed_one_step_past_it() {
    let met = Measured::of(Dur::us(2), &[pair(20, 30), pair(20, 30), pair(1, 500)]);
    assert_eq!((met.p50_to_floor_percent, met.p90_to_floor_percent), (150, 225));
    assert!(met.p50_met && met.p90_met && met.p50_to_floor_met && !met.p90_to_floor_met);
    let missed = Measured::of(Dur::us(2), &[pair(20, 51)]);
    assert!(!missed.p50_met && !missed.p90_met && !missed.p50_to_floor_met);
    let bound = Measured::of(Dur::us(2), &[pair(50, 50)]);
    assert!(bound.p50_met && !bound.p90_met && bound.p90_to_floor_met);
}

#[test]
fn no_burst_is_longer_than_a_thread_may_spin_or_the_ring_is_deep() {
    for gap in GAPS {
        assert!(frames(gap) <= FRAMES && gap * frames(gap) <= LONGEST, "{gap}");
    }
    assert_eq!(frames(Dur::us(100)), 8_000);
}

fn held(gbps: u64, known: bool) -> Held {
    let own = storm::Covered {
        frames: 3_576,
        covered_ppm: 1_000_000,
        least_covered_ppm: 999_870,
        lapses: 0,
        longest_gap_ns: 170_012,
    };
    let python = storm::Covered {
        frames: 2_311,
        covered_ppm: 998_712,
        least_covered_ppm: 901_204,
        lapses: 4,
        longest_gap_ns: 812_345,
    };
    Held {
        bps: gbps * 1_000_000_000,
        pause_ns: 33_553_920 / gbps,
        every_ns: 16_776_960 / gbps,
        sent: own,
        kept_off: KeptOff { waited_ns: 0, stolen_ns: None },
        arrived: known.then_some(own),
        python: known.then_some(python),
    }
}

#[test]
fn the_table_is_read_by_people() {
    let pacing = Pacing {
        format: FORMAT,
        bench: "pacing",
        host: Host {
            cpu: "A Processor".into(),
            cpus: 2,
            kernel: "6.18.0".into(),
            load: "0.10 0.20 0.30".into(),
            clock: "the time-stamp counter".into(),
            clock_hertz: 2_000_012_345,
            clock_error_ns: 27,
            pinned: Some(1),
            real_time: true,
            awake: false,
        },
        ports: "a pair of virtual interfaces made for this".into(),
        port: "AF_XDP in the driver, with a copy, one call a frame".into(),
        pairs: 1,
        awake_ns: 21_000,
        gaps: vec![Measured::of(Dur::us(2), &[pair(20, 51)])],
        python: Some("Python 3.11.7".into()),
        storms: vec![held(400, false), held(100, true)],
    };
    insta::assert_snapshot!(pacing);
}
