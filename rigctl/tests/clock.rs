//! A clock that jumps under a run in real time: what was sent or seen meanwhile lies elsewhere than it seems, and decides
//! nothing. Root and Linux only.
//!
//! CLOCK_MONOTONIC, by which the rig goes, is set by nobody, and none that a time server sets (CLOCK_REALTIME) is read.
//! But a machine that was suspended, or moved to another host, may find it further on than it was. It never goes back:
//! the kernel promises that to every process, and the clocks of the ports, of the XDP program and of the rig are this one.
//! So there is no step backwards to be survived here.

mod common;

use common::root;
use rig_generator::Clock;
use rig_generator::clock::Wall;
use rig_generator::port::{Mono, PortError, Receive};
use rig_lab::Transport;
use rig_oracle::Verdict;
use rig_oracle::measure::Registry;
use rig_units::{Dur, Time};
use rigctl::executor::Benches;
use rigctl::executor::wire::{Clocks, Serve, SessionClock, Start};
use rigctl::runner::case::{self, Rig};
use rigctl::stop::Stop;
use std::path::Path;
use std::sync::Arc;

const LAB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/veth.yaml");
/// How often it leaps: no trial is shorter than that.
const EVERY: Dur = Dur::ms(150);
/// How far: beyond what the lab allows.
const BY: Dur = Dur::ms(20);

/// The machine's clock, which leaps ahead again and again. What was stamped is stamped by it.
#[derive(Debug)]
struct Leaping(Wall);

/// An instant of the machine's clock on this one.
fn leapt(real: Time) -> Time {
    real + BY * (real.0 / EVERY.0)
}

/// The first instant of the machine's clock at which it is `at` or later.
fn real(at: Time) -> Time {
    let round = EVERY + BY;
    let (rounds, rest) = (at.0 / round.0, at.0 % round.0);
    Time(EVERY.0 * rounds + rest.min(EVERY.0))
}

/// Clocks that leap.
#[derive(Debug)]
struct Leap;

impl Clocks for Leap {
    fn since(&self, epoch: Mono) -> SessionClock {
        Arc::new(Leaping(Wall::since(epoch)))
    }
}

impl Clock for Leaping {
    fn now(&self) -> Time {
        leapt(self.0.now())
    }

    fn at(&self, stamp: Mono) -> Time {
        leapt(self.0.at(stamp))
    }

    fn mono(&self, at: Time) -> Mono {
        self.0.mono(real(at))
    }

    fn sleep(&self, until: Time, ports: &[&dyn Receive]) -> Result<(), PortError> {
        self.0.sleep(real(until), ports)
    }

    fn spin(&self, until: Time) {
        self.0.spin(real(until));
    }
}

#[test]
fn the_clock_leaps_and_what_it_leaps_over_is_never_shown() {
    let at = |ms| Time::ZERO + Dur::ms(ms);
    for (before, after) in [(0, 0), (149, 149), (150, 170), (299, 319), (300, 340)] {
        assert_eq!((leapt(at(before)), real(at(after))), (at(after), at(before)));
    }
    assert_eq!([150, 169].map(|ms| real(at(ms))), [at(150); 2]);
}

#[test]
fn a_clock_that_leaps_ahead_voids_every_trial_and_fails_no_device() {
    if !root() {
        return;
    }
    let lab = rig_lab::read::lab(Some(Path::new(LAB))).expect("the bundled lab has no fault");
    let Transport::Veth(wire) = &lab.transport else { panic!("veth.yaml is on the wire") };
    let (bound, program) = (wire.bound, env!("CARGO_BIN_EXE_rigctl").into());
    assert!(bound < BY, "{bound}");
    let start = Start::Served(Serve { program, bound, sonic: Vec::new(), stop: Arc::default() });
    let benches = Benches::by(Arc::new(Leap), start, 1);
    let suites =
        rig_testcases::read::bundled(&Registry).expect("the bundled catalogue has no fault");
    let mut cases = suites.iter().flat_map(|suite| &suite.cases);
    let case = cases.find(|case| case.id.to_string() == "pfcwd::action-drop-broadcom");
    let case = case.expect("in the catalogue");
    let stop = Stop::default();
    let rig = Rig { benches: Some(&benches), ..Rig::of(&lab, &[case], 7, &stop) };
    let ran = case::run(&rig, case);
    let Verdict::Inconclusive(doubt) = &ran.report.verdict else {
        panic!("{:?}", ran.report.verdict);
    };
    assert_eq!(doubt.reason, "late-send", "{}", doubt.detail);
    assert!(!ran.trials.is_empty());
    for trial in ran.trials.iter().map(rig_oracle::trials::kept::Kept::outline) {
        let late = trial.observation.integrity.late.iter().map(|late| late.by).max();
        // What was due right after a leap leaves right after it, however quiet the machine is.
        assert!(late > Some(bound), "trial {}: {late:?}", trial.number);
        assert!(trial.void.is_some(), "trial {}", trial.number);
    }
}
