//! A device with four rig ports at 100 Gb/s, and the few things that the tests do with it.

use crate::model::dut::{Dut, Rig};
use crate::model::host;
use crate::model::packet::{Packet, PacketKind};
use crate::model::pfcwd::Event;
use crate::model::tap::Dir;
use crate::model::{Storm, Stream};
use rig_lab::Kind;
use rig_lab::{
    Buffer, Charge, Declared, Mutation, Pfc, Pfcwd, Profile, Qos, Rule, RuleFamily, Scheduler,
    Scheduling, Setting, Switch, Wred,
};
use rig_testcases::MacsecMode;
use rig_units::{Bytes, Dur, Pace, Quanta, Time};
use std::collections::BTreeMap;

/// P = 100 ms, D = R = 200 ms; classes 3 and 4 are lossless and guarded.
pub(super) fn declared(family: RuleFamily) -> Declared {
    let usual = Switch::usual();
    Declared::Switch(Box::new(Switch {
        qos: Qos { dscp_to_tc: [(3, 3), (4, 4)].into(), ..usual.qos },
        scheduler: Scheduler { queues: vec![Scheduling::Dwrr(1); 8], ..Scheduler::default() },
        buffer: Buffer {
            cell: Bytes(208),
            reserved: Bytes(1_248),
            lossy_dynamic_th: 3,
            lossy_static_th: None,
            xon: Bytes(2_288),
            xon_offset: Bytes(2_288),
            xoff: Bytes(165_568),
            ..Buffer::plain(10_000_000, -1)
        },
        wred: Wred::off(),
        pfc: Pfc { response: Dur::us(2).into(), ..usual.pfc },
        pfcwd: Pfcwd {
            charge: if family == RuleFamily::Mellanox { Charge::Elapsed } else { Charge::Interval },
            ..Pfcwd::dropping()
        },
        ..usual
    }))
}

pub(super) fn set(path: &str, value: impl Into<serde_json::Value>) -> Setting {
    Setting { path: path.to_owned(), value: value.into() }
}

/// A running device and every frame of data that its hosts received.
pub(super) struct Bench {
    pub(super) dut: Dut,
    /// When, by which host, of which stream.
    pub(super) received: Vec<(Time, u16, u16)>,
    /// PFC frames that hosts received: when, by which host, whether XON.
    pub(super) told: Vec<(Time, u16, bool)>,
}

/// What to start.
pub(super) struct Case {
    pub(super) family: RuleFamily,
    pub(super) declared: Declared,
    pub(super) mutations: Vec<String>,
    pub(super) seed: u64,
}

impl Case {
    pub(super) fn of(family: RuleFamily) -> Case {
        Case { family, declared: declared(family), mutations: Vec::new(), seed: 1 }
    }

    pub(super) fn with(mut self, path: &str, value: impl Into<serde_json::Value>) -> Case {
        self.declared = self.declared.with(&set(path, value)).unwrap();
        self
    }

    /// `PATH=VALUE` or `deviation=NAME[:VALUE]`.
    pub(super) fn mutated(mut self, mutation: &str) -> Case {
        self.mutations.push(mutation.to_owned());
        self
    }

    pub(super) fn seed(self, seed: u64) -> Case {
        Case { seed, ..self }
    }

    pub(super) fn profile(&self) -> Profile {
        let rule = Rule { family: self.family, version: "test".to_owned() };
        let text = |text: &str| text.to_owned();
        let mut profile = Profile::new(
            text("dut"),
            text(""),
            Kind::Switch,
            text("none"),
            Some(rule),
            self.declared.clone(),
        );
        for mutation in &self.mutations {
            profile.mutate(&mutation.parse::<Mutation>().unwrap()).unwrap();
        }
        profile
    }

    pub(super) fn start(self) -> Bench {
        let profile = self.profile();
        let rig = Rig { ports: 4, cable_cm: 300, host: host::Config::quiet() };
        let dut = Dut::new(&profile, &self.declared, &rig, self.seed).unwrap();
        Bench { dut, received: Vec::new(), told: Vec::new() }
    }
}

/// A broadcom device.
pub(super) fn bench() -> Bench {
    Case::of(RuleFamily::Broadcom).start()
}

/// The same with one deviation.
pub(super) fn broken(deviation: &str) -> Bench {
    Case::of(RuleFamily::Broadcom).mutated(&format!("deviation={deviation}")).start()
}

/// The stream from one host to another: both in its id.
pub(super) fn id(from: u16, to: u16, class: u8) -> u16 {
    from * 100 + to * 10 + u16::from(class)
}

pub(super) const fn ms(n: u64) -> Time {
    Time(n * 1_000_000_000)
}

impl Bench {
    /// Runs on until `until_ms`.
    pub(super) fn run(&mut self, until_ms: u64) {
        let (received, told) = (&mut self.received, &mut self.told);
        let mut tap = |at: Time, host: u16, dir: Dir, packet: &Packet| match (dir, packet.kind) {
            (Dir::Rx, PacketKind::Pfc) => told.push((at, host, packet.zero != 0)),
            (Dir::Rx, _) => received.push((at, host, packet.stream)),
            (Dir::Tx, _) => {}
        };
        self.dut.run_until(ms(until_ms), &mut tap);
    }

    /// Starts a stream of 1024 B frames, one per `every`.
    pub(super) fn stream(&mut self, from: u16, to: u16, class: u8, every: Dur) {
        let stream = Stream {
            address: 0,
            first: 0,
            id: id(from, to, class),
            kind: PacketKind::Data,
            names: id(from, to, class),
            class,
            dscp: class,
            size: 1_024,
            pace: Pace::every(every),
            dst: to,
            count: None,
            ect: false,
            ce: false,
            record: true,
            pcp: None,
            macsec_mode: MacsecMode::Usual,
        };
        self.dut.rig().start_stream(from, &stream);
    }

    /// Starts a storm without gaps: 65535 quanta last 335.5 us.
    pub(super) fn storm(&mut self, host: u16, class: u8) {
        self.pfc(host, class, Quanta::MAX, Dur::us(150));
    }

    pub(super) fn pfc(&mut self, host: u16, class: u8, quanta: Quanta, every: Dur) {
        let enable = 1 << class;
        let zero = if quanta == Quanta(0) { enable } else { 0 };
        let id = class.into();
        let storm =
            Storm { id, enable, zero, quanta, every, count: None, macsec_mode: MacsecMode::Usual };
        self.dut.rig().start_storm(host, &storm);
    }

    pub(super) fn calm(&mut self, host: u16, class: u8) {
        self.dut.rig().stop_storm(host, class.into());
    }

    /// Frames of a stream received in a span of time.
    pub(super) fn frames(&self, stream: u16, from_ms: u64, to_ms: u64) -> usize {
        let within = |at: Time| (ms(from_ms)..ms(to_ms)).contains(&at);
        self.received.iter().filter(|&&(at, _, of)| of == stream && within(at)).count()
    }

    /// What was published: time in microseconds, port, class, what.
    pub(super) fn events(&self) -> Vec<(u64, u16, u8, Event)> {
        let plain = |acted: &crate::model::dut::Acted| {
            (acted.at.0 / 1_000_000, acted.port, acted.class, acted.event)
        };
        self.dut.events().iter().map(plain).collect()
    }

    /// How often something was published.
    pub(super) fn count(&self, event: Event) -> usize {
        self.dut.events().iter().filter(|acted| acted.event == event).count()
    }

    /// One counter of the watchdog: the queue, and the name after `PFC_WD_QUEUE_STATS_`.
    pub(super) fn stat(&self, queue: &str, name: &str) -> u64 {
        let all: BTreeMap<String, u64> = self.dut.counters();
        all[&format!("{queue} PFC_WD_QUEUE_STATS_{name}")]
    }
}
