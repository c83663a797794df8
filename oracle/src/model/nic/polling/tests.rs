use super::*;

const FAST: RdmaRouter = RdmaRouter {
    request: Dur::ns(600),
    sleep: Dur::ZERO,
    copy: None,
    cap: None,
    burst: Bytes(64_000),
    registration: Dur::us(10),
    hosts_gone: 0,
    quota: None,
};

const NONE: RdmaRouterFaults = RdmaRouterFaults::NONE;

/// Endless WRITEs of 2 KiB of container 1.
const WRITES: Wanted =
    Wanted { left: None, message: 2_048, copied: false, container: Container::USUAL };

/// The same with memory that is not registered already.
fn with(memory: Memory) -> Wanted {
    Wanted { container: Container { memory, ..Container::USUAL }, ..WRITES }
}

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
    let wanted = Wanted { message, ..WRITES };
    (0..pairs).for_each(|slot| polling.ask((router, &NONE), Time::ZERO, slot, wanted));
    polling
}

#[test]
fn five_hundred_and_twelve_queue_pairs_take_turns_at_one_core() {
    let mut polling = asking(&FAST, 512, 2_048);
    let rounds = 4;
    let until = Time::ZERO + FAST.request * (512 * rounds);
    let all = through(&mut polling, (&FAST, &NONE), until);
    assert_eq!(all.len(), 2_048);
    for (nth, (at, slot)) in (0..).zip(&all) {
        assert_eq!((*at, u64::from(*slot)), (Time::ZERO + FAST.request * (nth + 1), nth % 512));
    }
}

#[test]
fn a_sleeping_core_hands_over_once_a_round() {
    let router = RdmaRouter { sleep: Dur::us(14), ..FAST };
    let mut polling = asking(&router, 2, 64);
    let all = through(&mut polling, (&router, &NONE), Time::ZERO + Dur::us(31));
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
    assert_eq!(last(&NONE), at(Dur(981_333_366)));
    let quantised = RdmaRouterFaults { bucket_quantised: true, ..NONE };
    assert_eq!(last(&quantised), at(Dur::ns(883_200)));
    let bypassed = RdmaRouterFaults { bucket_bypassed: true, ..NONE };
    assert_eq!(last(&bypassed), at(FAST.request * 99));
}

/// Nanoseconds at which requests of a queue pair were through, up to 100 us.
fn at(polling: &mut Polling, with: (&RdmaRouter, &RdmaRouterFaults), slot: u16) -> Vec<u64> {
    let all = through(polling, with, Time::ZERO + Dur::us(100)).into_iter();
    all.filter(|(_, of)| *of == slot).map(|(at, _)| at.0 / 1_000).collect()
}

#[test]
fn a_request_with_an_unknown_key_takes_its_turn_and_is_refused_and_the_released_core_waits_for_it()
{
    let run = |faults: &RdmaRouterFaults, slot: u16| {
        let mut polling = Polling::new(Time::ZERO);
        polling.ask((&FAST, faults), Time::ZERO, 0, with(Memory::Unknown));
        polling.ask((&FAST, faults), Time::ZERO, 1, WRITES);
        at(&mut polling, (&FAST, faults), slot)
    };
    assert_eq!((run(&NONE, 0).len(), &run(&NONE, 1)[..2]), (0, &[1_200, 1_800][..]));
    let stalls = RdmaRouterFaults { bad_rkey_stalls_all: Some(10), ..NONE };
    // Five looks of 10 us and the request, then the other's.
    assert_eq!((run(&stalls, 0).len(), &run(&stalls, 1)[..2]), (0, &[51_200, 51_800][..]));
    let posted = RdmaRouterFaults { bad_rkey_posted: true, ..NONE };
    assert_eq!(&run(&posted, 0)[..2], [600, 1_800]);
}

#[test]
fn a_registration_takes_its_time_whoever_is_gone_and_the_released_one_waits_for_ever() {
    let run = |hosts_gone: u16, faults: &RdmaRouterFaults| {
        let router = RdmaRouter { hosts_gone, ..FAST };
        let mut polling = Polling::new(Time::ZERO);
        polling.ask((&router, faults), Time::ZERO, 0, with(Memory::New));
        at(&mut polling, (&router, faults), 0).first().copied()
    };
    assert_eq!([run(0, &NONE), run(3, &NONE)], [Some(10_600); 2]);
    let waits = RdmaRouterFaults { registration_waits_for_dead_host: true, ..NONE };
    assert_eq!([run(0, &waits), run(1, &waits)], [Some(10_600), None]);
}

#[test]
fn a_quota_is_a_containers_and_a_queue_pair_that_is_stopped_does_not_count() {
    let router = RdmaRouter { quota: Some(2), ..FAST };
    let run = |faults: &RdmaRouterFaults| {
        let mut polling = Polling::new(Time::ZERO);
        let of = |number| Wanted { container: Container { number, ..Container::USUAL }, ..WRITES };
        for (slot, number) in [(0, 1), (1, 1), (2, 1), (3, 2)] {
            polling.ask((&router, faults), Time::ZERO, slot, of(number));
        }
        polling.stop(0);
        polling.ask((&router, faults), Time::ZERO, 4, of(1));
        let mut slots: Vec<u16> = polling.boxes.iter().map(|one| one.slot).collect();
        slots.sort_unstable();
        slots
    };
    assert_eq!(run(&NONE), [0, 1, 3, 4]);
    assert_eq!(run(&RdmaRouterFaults { quota_of_host: true, ..NONE }), [0, 1, 4]);
}

#[test]
fn a_container_has_a_cap_of_its_own() {
    let of = |gbps: u64| {
        let cap = Some(L2Rate { bps: gbps * 1_000_000_000 });
        Wanted { container: Container { cap, ..Container::USUAL }, message: 8_000, ..WRITES }
    };
    let run = |faults: &RdmaRouterFaults, slot: u16| {
        let mut polling = Polling::new(Time::ZERO);
        polling.ask((&FAST, faults), Time::ZERO, 0, of(1));
        polling.ask((&FAST, faults), Time::ZERO, 1, of(2));
        at(&mut polling, (&FAST, faults), slot).len()
    };
    // Eight messages at once, and one every 64 us at 1 Gb/s, every 32 us at 2 Gb/s.
    assert_eq!([run(&NONE, 0), run(&NONE, 1)], [9, 11]);
    let last = RdmaRouterFaults { cap_of_last: true, ..NONE };
    assert_eq!([run(&last, 0), run(&last, 1)], [11, 11]);
}

#[test]
fn buckets_that_run_out_are_never_full_or_short_are_as_they_are_told() {
    let of = |gbps: u64| {
        let cap = Some(L2Rate { bps: gbps * 1_000_000_000 });
        Wanted { container: Container { cap, ..Container::USUAL }, message: 8_000, ..WRITES }
    };
    let run = |faults: &RdmaRouterFaults| {
        let mut polling = Polling::new(Time::ZERO);
        polling.ask((&FAST, faults), Time::ZERO, 0, of(1));
        polling.ask((&FAST, faults), Time::ZERO, 1, of(2));
        [0, 1].map(|slot| at(&mut polling.clone(), (&FAST, faults), slot).len())
    };
    let right = run(&NONE);
    let two = run(&RdmaRouterFaults { buckets_run_out: Some(1), ..NONE });
    assert!(two[0] <= right[0] && two[1] > right[1] * 4, "{two:?} and {right:?}");
    // Half of 1 Gb/s: a message in 128 us.
    let short = run(&RdmaRouterFaults { cap_of_container_short: Some(50), ..NONE });
    assert!(short[0] < right[0] && short[1] < right[1], "{short:?} and {right:?}");
    let late = |faults: &RdmaRouterFaults| {
        let start = Time::ZERO + Dur::ms(1);
        let mut polling = Polling::new(start);
        polling.ask((&FAST, faults), start, 0, of(1));
        through(&mut polling, (&FAST, faults), start + Dur::us(60)).len()
    };
    // Eight messages of a bucket; 15 more of a millisecond at 1 Gb/s, and one of what comes meanwhile.
    let kept = RdmaRouterFaults { bucket_never_full: true, ..NONE };
    assert_eq!([late(&NONE), late(&kept)], [8, 24]);
}

#[test]
fn a_core_that_looks_into_256_mailboxes_serves_no_other() {
    let mut polling = asking(&FAST, 300, 2_048);
    let faults = RdmaRouterFaults { mailboxes_out_of_reach: Some(256), ..NONE };
    let all = through(&mut polling, (&FAST, &faults), Time::ZERO + FAST.request * 300);
    let last = all.iter().map(|(_, slot)| *slot).max();
    assert_eq!((all.len(), last), (300, Some(255)));
}
