//! A device that takes as long for a change as hundreds of frames do, as a switch does: the rig sends on meanwhile.

use super::WIRE;
use super::deaf::ran;
use super::memory::{Memory, What};
use core::time::Duration;
use rig_capture::DutEvent;
use rig_dut::EmulatedWire;
use rig_dut::control::{Capabilities, Control, ControlError, Health, Order, Readings};
use rig_generator::Clock as _;
use rig_generator::clock::Manual;
use rig_generator::port::Mono;
use rig_lab::{Declared, Setting};
use rig_oracle::Verdict;
use rig_oracle::measure::Registry;
use rig_units::Dur;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How long a change takes.
const TAKES: Dur = Dur::ms(40);
/// A stream that has to go on while a watchdog that has nothing to do is set anew, once.
const SUITE: &str = "about: \"a suite that is small\"
device: switch
setup:
  dut: {rule_family: barefoot}
  streams:
    slow: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 5ms}
cases:
  change: {why: \"a test\", source: [\"a test\"], trials: 1, steps: [{at: 0ms, start: slow, for: 2s}, {at: 100ms, configure: {pfcwd.detection_time: 300ms}}], measure: [loss: {stream: slow, expect: none}, throughput: {streams: [slow], from: 50ms, until: 1990ms}]}
";

/// A device whose changes take so long.
#[derive(Debug)]
pub(crate) struct Slow {
    pub(crate) device: EmulatedWire,
    pub(crate) clock: Manual,
    pub(crate) memory: Arc<Memory>,
}

/// Lets other threads do something.
#[expect(clippy::disallowed_methods, reason = "two threads, one of which passes virtual time")]
pub(crate) fn rest() {
    std::thread::sleep(Duration::from_micros(20));
}

impl Control for Slow {
    fn name(&self) -> &'static str {
        self.device.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn takes_a_while(&self) -> bool {
        true
    }

    fn snapshot(&mut self) -> Result<Declared, ControlError> {
        self.device.snapshot()
    }

    fn boot(&mut self, settings: &[Setting], seed: u64) -> Result<Mono, ControlError> {
        self.device.boot(settings, seed)
    }

    /// Whoever waits for it sees time pass; who does not passes it.
    fn set(&mut self, settings: &[Setting]) -> Result<(), ControlError> {
        let done = self.clock.now() + TAKES;
        self.memory.changing.store(true, Ordering::Relaxed);
        for _ in 0..10_000 {
            if self.clock.now() >= done {
                break;
            }
            rest();
        }
        self.memory.changing.store(false, Ordering::Relaxed);
        self.clock.advance_to(done);
        self.device.set(settings)
    }

    fn counters(&mut self, names: &[String]) -> Result<Readings, ControlError> {
        self.device.counters(names)
    }

    fn events(&mut self) -> Result<Vec<DutEvent>, ControlError> {
        self.device.events()
    }

    fn order(&mut self, order: Order) -> Result<(), ControlError> {
        self.device.order(order)
    }

    fn health(&mut self) -> Result<Health, ControlError> {
        self.device.health()
    }
}

#[test]
fn what_is_sent_goes_on_while_a_device_takes_a_change() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let lab = desk.path().join("lab.yaml");
    fs::write(&lab, WIRE).expect("writable");
    let lab = rig_lab::read::lab(Some(&lab)).expect("a lab");
    let suite = rig_testcases::read::piped(SUITE.as_bytes(), &Registry).expect("a suite");
    let (slow, _) = ran(&lab, &suite.cases[0], What::Slow, 0);
    assert_eq!(slow.report.verdict, Verdict::Pass, "{:?}", slow.report);
    assert_eq!(slow.report.trials.void.len(), 0, "{:?}", slow.report.trials.void);
}
