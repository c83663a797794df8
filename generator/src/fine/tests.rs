use super::*;
use core::cell::RefCell;
use proptest::prelude::*;
use std::rc::Rc;

/// Two clocks that a test makes up: the true time, and how many ticks there are to a second of it.
#[derive(Debug, Clone)]
struct MadeUp(Rc<RefCell<State>>);

#[derive(Debug)]
struct State {
    /// The true time, in picoseconds.
    now: u128,
    /// Ticks so far, in millionths.
    ticks: u128,
    hertz: u128,
    /// What passes with every reading of a clock.
    reading: u128,
}

impl MadeUp {
    fn new(hertz: u64, reading: Dur) -> MadeUp {
        let (now, ticks) = (77_000_000_000_000_u128, 5_000_000_000_u128);
        let (hertz, reading) = (hertz.into(), reading.0.into());
        MadeUp(Rc::new(RefCell::new(State { now, ticks, hertz, reading })))
    }

    fn pass(&self, ps: u128) {
        let mut state = self.0.borrow_mut();
        state.now += ps;
        state.ticks += ps * state.hertz / 1_000_000;
    }

    fn go_on(&self, dur: Dur) {
        self.pass(dur.0.into());
    }

    /// The counter's pace changes by so many millionths.
    fn change(&self, ppm: i32) {
        let mut state = self.0.borrow_mut();
        let off = state.hertz * u128::from(ppm.unsigned_abs()) / 1_000_000;
        state.hertz = if ppm < 0 { state.hertz - off } else { state.hertz + off };
    }

    fn true_time(&self, epoch: Mono) -> u64 {
        u64::try_from(self.0.borrow().now - u128::from(epoch.0) * 1_000).expect("days at most")
    }
}

impl Counter for MadeUp {
    fn ticks(&self) -> u64 {
        let reading = self.0.borrow().reading;
        self.pass(reading);
        u64::try_from(self.0.borrow().ticks / 1_000_000).expect("years at most")
    }
    fn mono(&self) -> Mono {
        let reading = self.0.borrow().reading;
        self.pass(reading);
        Mono(u64::try_from(self.0.borrow().now / 1_000).expect("years at most"))
    }
}

/// A clock on made-up ones, just calibrated.
fn clock(counter: &MadeUp) -> Fine<MadeUp> {
    let first = Reading::of(counter);
    counter.go_on(FIRST);
    let second = Reading::of(counter);
    Fine::calibrated(counter.clone(), first, second)
}

/// How far the clock is from the true time.
fn off(clock: &Fine<MadeUp>) -> Dur {
    let own = clock.now().0;
    Dur(own.abs_diff(clock.counter.true_time(clock.epoch)))
}

/// What a reading that takes this long may mislead by, at one end.
const READING: Dur = Dur::ns(20);
const BLUR: Dur = Dur::ns(2 * 20 + 2);

#[test]
fn a_day_by_a_counter_that_runs_evenly_ends_where_it_should() {
    let counter = MadeUp::new(2_000_000_123, READING);
    let clock = clock(&counter);
    for _ in 0..86_400 {
        counter.go_on(Dur::s(1));
        clock.sleep(Time::ZERO, &[]).expect("nothing to wait for");
        assert!(off(&clock) <= BLUR * 3, "{}", off(&clock));
        assert!(clock.error() <= BLUR * 3, "{}", clock.error());
    }
    assert!(clock.hertz().abs_diff(2_000_000_123) < 200, "{}", clock.hertz());
}

#[test]
fn who_never_sleeps_does_not_drift_either() {
    let counter = MadeUp::new(3_000_000_000, READING);
    let clock = clock(&counter);
    // Half a second by a counter that has become slower: without a look it would be off by 50 us.
    counter.change(-100);
    let mut worst = Dur::ZERO;
    for _ in 0..500_000 {
        counter.go_on(Dur::us(1));
        worst = worst.max(off(&clock));
    }
    assert!(worst < Dur::us(10), "{worst}");
    assert!(off(&clock) < Dur::us(2), "{}", off(&clock));
}

#[test]
fn a_gap_is_measured_to_the_tick() {
    let counter = MadeUp::new(2_000_000_000, Dur::ZERO);
    let clock = clock(&counter);
    let before = clock.now();
    counter.go_on(Dur::us(5));
    let gap = clock.now().since(before).expect("later");
    assert!(gap.0.abs_diff(Dur::us(5).0) <= 1_000, "{gap}");
}

#[test]
fn spinning_ends_at_its_instant() {
    let counter = MadeUp::new(2_000_000_000, Dur::ns(10));
    let clock = clock(&counter);
    for us in [50, 60, 61, 5_000] {
        let until = Time::ZERO + Dur::ms(20) + Dur::us(us);
        clock.spin(until);
        let late = clock.now().since(until).expect("not early");
        assert!(late <= Dur::ns(40), "{late}");
    }
}

#[test]
fn a_clock_without_a_counter_is_clock_monotonic() {
    let counter = Machine::Monotonic { why: "a test wants it".to_owned() };
    let first = Reading::of(&counter);
    pause(FIRST);
    let second = Reading::of(&counter);
    let clock = Fine::calibrated(counter, first, second);
    // Both are the same clock, read one after the other.
    assert!(clock.hertz().abs_diff(1_000_000_000) < 1_000_000, "{}", clock.hertz());
}

#[test]
fn the_clock_of_this_machine_agrees_with_clock_monotonic() {
    let clock = Fine::start();
    for _ in 0..20 {
        pause(Dur::ms(2));
        let before = clock.at(Mono::now());
        let own = clock.now();
        let after = clock.at(Mono::now());
        // What its last look may have misled by, carried on for as long again.
        let slack = clock.error() * 4 + Dur::us(1);
        assert!(before <= own + slack && own <= after + slack, "{before} {own} {after}");
    }
}

proptest! {
    /// Whatever the counter does, the clock goes forward and stays near.
    #[test]
    fn it_never_runs_backwards_and_comes_back_to_the_true_time(
        hertz in 100_000_000_u64..6_000_000_000,
        steps in proptest::collection::vec((1_u64..2_000_000_000_000, -500_i32..500), 1..60),
    ) {
        let counter = MadeUp::new(hertz, READING);
        let clock = clock(&counter);
        let mut last = clock.now();
        for (ps, ppm) in steps {
            counter.change(ppm);
            counter.go_on(Dur(ps));
            if ps % 2 == 0 {
                clock.sleep(Time::ZERO, &[]).expect("nothing to wait for");
            }
            let now = clock.now();
            prop_assert!(now >= last, "{now} after {last}");
            last = now;
        }
        // Left in peace, it has walked off what it was off by when a look or two have passed.
        for _ in 0..8 {
            counter.go_on(Dur::s(1));
            clock.sleep(Time::ZERO, &[]).expect("nothing to wait for");
        }
        let tick = Dur(1_000_000_000_000 / hertz + 1);
        prop_assert!(off(&clock) <= BLUR * 4 + tick * 4, "{}", off(&clock));
    }

    /// Ticks and times are each other's inverse.
    #[test]
    fn the_tick_of_a_time_is_the_first_at_which_it_has_come(
        hertz in 100_000_000_u64..6_000_000_000, ahead in 0_u64..2_000_000_000_000,
    ) {
        let counter = MadeUp::new(hertz, READING);
        let line = clock(&counter).line.get();
        let (first, want) = (line.walk.ticks, line.walk.ps + ahead);
        let ticks = line.ticks_at(want);
        prop_assert!(line.time(ticks) >= want);
        prop_assert!(ticks == first || line.time(ticks - 1) < want);
    }
}
