use super::*;

const FAST: RdmaRouter = RdmaRouter {
    request: Dur::ns(600),
    sleep: Dur::ZERO,
    copy: None,
    cap: None,
    burst: Bytes(64_000),
};

/// When each request was through, and of which queue pair, up to `until`.
fn through(
    polling: &mut Polling,
    (router, faults): (&RdmaRouter, &RdmaRouterFaults),
    until: Time,
) -> Vec<(Time, u16)> {
    let mut all = Vec::new();
    while let Some(due) = polling.next(router, faults).filter(|due| *due <= until) {
        all.extend(polling.on_wake(due, router, faults).map(|slot| (due, slot)));
    }
    all
}

fn asking(router: &RdmaRouter, pairs: u16, message: u32) -> Polling {
    let mut polling = Polling::new(Time::ZERO);
    (0..pairs).for_each(|slot| polling.ask(router, Time::ZERO, slot, (message, None, false)));
    polling
}

#[test]
fn five_hundred_and_twelve_queue_pairs_take_turns_at_one_core() {
    let mut polling = asking(&FAST, 512, 2_048);
    let rounds = 4;
    let until = Time::ZERO + FAST.request * (512 * rounds);
    let all = through(&mut polling, (&FAST, &RdmaRouterFaults::NONE), until);
    assert_eq!(all.len(), 2_048);
    for (nth, (at, slot)) in (0..).zip(&all) {
        assert_eq!((*at, u64::from(*slot)), (Time::ZERO + FAST.request * (nth + 1), nth % 512));
    }
}

#[test]
fn a_sleeping_core_hands_over_once_a_round() {
    let router = RdmaRouter { sleep: Dur::us(14), ..FAST };
    let mut polling = asking(&router, 2, 64);
    let all = through(&mut polling, (&router, &RdmaRouterFaults::NONE), Time::ZERO + Dur::us(31));
    let ns: Vec<(u64, u16)> = all.iter().map(|(at, slot)| (at.0 / 1_000, *slot)).collect();
    // Two requests, 14 us of sleep, and again.
    assert_eq!(ns, [(600, 0), (1_200, 1), (15_800, 0), (16_400, 1), (31_000, 0)]);
}

#[test]
fn a_bucket_lets_a_burst_through_and_then_its_cap_and_the_released_one_what_its_units_make_of_it() {
    let router = RdmaRouter { cap: Some(L2Rate { bps: 6_000_000_000 }), ..FAST };
    let last = |faults: &RdmaRouterFaults| {
        let mut polling = asking(&router, 1, 8_000);
        let all = through(&mut polling, (&router, faults), Time::ZERO + Dur::ms(1));
        all.get(99).map(|(at, _)| *at)
    };
    // 100 messages of 8000 B less the burst of 64,000 B: 736,000 B at 6 Gb/s, each message rounded up to a picosecond, and a request. Released: 1.2 ns a byte.
    let at = |wait: Dur| Some(Time::ZERO + wait + FAST.request);
    assert_eq!(last(&RdmaRouterFaults::NONE), at(Dur(981_333_366)));
    let quantised = RdmaRouterFaults { bucket_quantised: true, ..RdmaRouterFaults::NONE };
    assert_eq!(last(&quantised), at(Dur::ns(883_200)));
    let bypassed = RdmaRouterFaults { bucket_bypassed: true, ..RdmaRouterFaults::NONE };
    assert_eq!(last(&bypassed), at(FAST.request * 99));
}
