//! A device of four ports at 1 Gb/s, where every instant is a whole number of nanoseconds; and the rig's ends of its wires.

use crate::control::Health;
use crate::protocol::{Answer, Ask};
use crate::serve::served::{Line, Next, Served};
use crate::serve::{Post, on_ports};
use rig_frames::{mac_control, pfc};
use rig_generator::clock::{Clock as _, Manual};
use rig_generator::port::memory::{Halves, pair};
use rig_lab::Profile;
use rig_testcases::{StreamSpec, wire};
use rig_units::{Bytes, Dur, PortSpeed, Quanta, Time};

pub(crate) const PORTS: u16 = 4;

/// A profile of the bundled lab, on four ports at 1 Gb/s.
pub(crate) fn profile(name: &str) -> Profile {
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let found = lab.duts.into_iter().find(|dut| dut.name == name).expect("a bundled profile");
    on_ports(found, PORTS, PortSpeed::from_bps(1_000_000_000)).expect("it has four ports")
}

/// A NIC of the bundled lab, on one port at 1 Gb/s.
pub(crate) fn nic(name: &str) -> Profile {
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let found = lab.duts.into_iter().find(|dut| dut.name == name).expect("a bundled profile");
    on_ports(found, 1, PortSpeed::from_bps(1_000_000_000)).expect("it has a port")
}

/// A served device and the rig's side of it.
pub(crate) struct Bench {
    pub(crate) clock: Manual,
    pub(crate) served: Served<Manual>,
    pub(crate) post: Post,
    rig: Vec<Halves>,
}

/// A frame that reached the rig.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seen {
    pub(crate) at: Time,
    pub(crate) port: u16,
    pub(crate) bytes: Vec<u8>,
}

impl Bench {
    pub(crate) fn of(profile: Profile, seed: u64) -> Bench {
        Bench::with(profile, seed, |_| (64, 9_118), |_, line| line)
    }

    /// A device each of whose ports has so many slots of such a length, and is what `change` makes of it.
    pub(crate) fn with(
        profile: Profile,
        seed: u64,
        slots: impl Fn(u16) -> (u32, usize),
        mut change: impl FnMut(u16, Line) -> Line,
    ) -> Bench {
        let clock = Manual::default();
        let mut rig = Vec::new();
        let line = |port: u16| {
            let (slots, longest) = slots(port);
            let (near, (tx, rx)) = pair(&clock, slots, longest);
            rig.push(near);
            change(port, Line { interface: format!("m{port}"), tx, rx })
        };
        let lines = (0..profile.declared.port_count()).map(line).collect();
        let served = Served::new(profile, lines, clock.clone(), seed);
        let (served, post) = served.expect("it takes its own configuration");
        Bench { clock, served, post, rig }
    }

    /// The broadcom device.
    pub(crate) fn new() -> Bench {
        Bench::of(profile("broadcom"), 1)
    }

    /// Serves until `until`, woken whenever the device asked to be.
    pub(crate) fn run_until(&mut self, until: Time) {
        while let Next::Sleep(wake) = self.served.round().expect("ports in memory") {
            if wake > until {
                break;
            }
            self.clock.advance_to(wake);
        }
        self.clock.advance_to(until);
    }

    pub(crate) fn run(&mut self, dur: Dur) {
        self.run_until(self.clock.now() + dur);
    }

    /// The rig sends a frame by `port`, now.
    pub(crate) fn send(&mut self, port: u16, bytes: &[u8]) {
        let (tx, _) = &mut self.rig[usize::from(port)];
        let mut frame = tx.alloc().expect("a slot");
        tx.bytes(&mut frame)[..bytes.len()].copy_from_slice(bytes);
        tx.stage(frame, bytes.len());
        tx.publish();
        tx.kick().expect("in memory");
    }

    /// What has reached the rig since the last time, by time and port.
    pub(crate) fn seen(&mut self) -> Vec<Seen> {
        let mut all = Vec::new();
        let clock = &self.clock;
        for (port, (_, rx)) in (0..).zip(&mut self.rig) {
            let taken = rx.poll(&mut |bytes, stamp| {
                all.push(Seen { at: clock.at(stamp.at), port, bytes: bytes.to_vec() });
            });
            taken.expect("in memory");
        }
        all.sort_by_key(|seen: &Seen| (seen.at, seen.port));
        all
    }

    pub(crate) fn ask(&mut self, ask: Ask) -> Answer {
        self.served.answer(ask).expect("ports in memory")
    }

    /// Now, on the clock of the ports.
    pub(crate) fn clock_ns(&self) -> u64 {
        self.clock.mono(self.clock.now()).0
    }

    pub(crate) fn health(&mut self) -> Health {
        let Answer::Health(health) = self.ask(Ask::Status) else { panic!("no health") };
        health
    }

    pub(crate) fn counter(&mut self, name: &str) -> u64 {
        let names = vec![name.to_owned()];
        let Answer::Counters { values } = self.ask(Ask::Counters { names }) else { panic!() };
        *values.get(name).unwrap_or_else(|| panic!("no counter {name}"))
    }
}

/// A stream of class 3 between two of the rig's ports.
pub(crate) fn stream(from: u16, to: u16, size: u64) -> StreamSpec {
    StreamSpec { name: "stream".to_owned(), size: Bytes(size), ..StreamSpec::probe(from, to) }
}

/// Frame `seq` of [`stream`], 254 bytes long.
pub(crate) fn probe(from: u16, to: u16, seq: u32) -> Vec<u8> {
    wire::data(&stream(from, to, 254), 0, seq, Bytes(254), false)
}

/// A PFC frame of the rig's `port`.
pub(crate) fn pause(port: u16, classes: u8, quanta: u16) -> Vec<u8> {
    mac_control::frame_pfc(wire::rig_mac(port), &pfc::Repr::all(classes, Quanta(quanta)))
}
