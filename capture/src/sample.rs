//! Hand-made observations for the analysers' tests: p1 sends a stream of class 3 to p2, and p2 storms that class.

use crate::{Dir, Observation, Provenance, Record, StreamCount, What};
use rig_testcases::{
    Action, CipherSuite, Form, Keys, Protection, Script, Secret, Step, StormSpec, StreamSpec,
    WatchdogAction,
};
use rig_units::{Apart, Bytes, Dur, Quanta, Time, Within};

use crate::analyse::ActionView;
use rig_testcases::{Backlog, SwitchingMode};

/// Time a bit needs through each cable.
pub(crate) const CABLE: Dur = Dur(15_000);
/// Declared forwarding delay.
pub(crate) const FORWARDING: Dur = Dur(500_000);
/// How long 65535 quanta last at 100 Gb/s.
pub(crate) const PAUSE: Dur = Dur(335_539_200);
/// The class of the stream and the storm.
pub(crate) const CLASS: u8 = 3;
/// Size of the stream's frames.
pub(crate) const SIZE: u16 = 1024;

/// What is declared of the device.
pub(crate) fn view(action: WatchdogAction, backlog: Backlog) -> ActionView {
    ActionView {
        action,
        backlog,
        response: Dur::ns(400),
        refresh: Dur::us(150),
        resumption: Dur::ZERO,
        forwarding_delay: Within::exactly(FORWARDING),
        mode: SwitchingMode::StoreAndForward,
        shaper: None,
        apart: Apart::NOT,
    }
}

/// Keys that are in no lab.
pub(crate) fn protection(suite: CipherSuite) -> Protection {
    let secret = |byte: u8, len| {
        Secret::from_hex(&format!("{byte:02x}").repeat(len)).expect("hexadecimal digits")
    };
    let keys = Keys { saks: [1, 2, 3, 4].map(|an| secret(an, 32)), salt: secret(9, Keys::SALT) };
    let (encrypt, sci, an, next_pn) = (true, true, 0, 1);
    Protection { suite, encrypt, sci, an, next_pn, pfc: Form::Encrypted, keys }
}

/// An observation in the making.
#[derive(Clone)]
pub(crate) struct Sample {
    /// What the trial asks for.
    pub(crate) script: Script,
    /// Where timestamps come from.
    pub(crate) provenance: Provenance,
    records: Vec<Record>,
}

impl Sample {
    /// Three ports of 100 Gb/s, a stream, a storm, and nothing that happened.
    pub(crate) fn new() -> Sample {
        let stream = StreamSpec {
            name: "victim".to_owned(),
            class: CLASS,
            dscp: CLASS,
            size: Bytes(SIZE.into()),
            ..StreamSpec::probe(0, 1)
        };
        let storm = StormSpec {
            name: "storm".to_owned(),
            classes: 1 << CLASS,
            every: PAUSE / 2,
            ..StormSpec::steady(1)
        };
        let script = Script { streams: vec![stream], storms: vec![storm], ..Script::idle(3) };
        Sample { script, provenance: Provenance::Virtual, records: Vec::new() }
    }

    /// A frame of stream 0 that leaves at `sent` and arrives at `received`.
    pub(crate) fn data(&mut self, seq: u32, sent: Dur, received: Option<Dur>) {
        self.push(sent, 0, Dir::Tx, data(seq));
        if let Some(received) = received {
            self.arrives(seq, 1, received);
        }
    }

    /// A frame of stream 0 that arrives at `port`.
    pub(crate) fn arrives(&mut self, seq: u32, port: u16, at: Dur) {
        self.push(at, port, Dir::Rx, data(seq));
    }

    /// A probe every 500 us from `from` until `until`, as `fate` has it: from when it was sent to when it arrives.
    pub(crate) fn probes(&mut self, from: Dur, until: Dur, fate: impl Fn(Dur) -> Option<Dur>) {
        let mut at = from;
        let sent = self.records.iter().filter(|r| r.dir == Dir::Tx && r.port == 0).count();
        let mut seq = u32::try_from(sent).expect("few");
        while at < until {
            self.data(seq, at, fate(at));
            (at, seq) = (at + Dur::us(500), seq + 1);
        }
    }

    /// A PFC frame for the class.
    pub(crate) fn pfc(&mut self, at: Dur, port: u16, dir: Dir, quanta: Quanta) {
        let mut all = [Quanta(0); 8];
        all[usize::from(CLASS)] = quanta;
        self.push(at, port, dir, What::Pfc { enable: 1 << CLASS, quanta: all });
    }

    /// The storm, from its first XOFF to its last, refreshed twice per pause time.
    pub(crate) fn storm(&mut self, from: Dur, until: Dur) {
        self.script.steps.push(Step { at: from, action: Action::StartStorm(0) });
        self.script.steps.push(Step { at: until, action: Action::StopStorm(0) });
        let mut at = from;
        while at < until {
            self.pfc(at, 1, Dir::Tx, Quanta::MAX);
            at += PAUSE / 2;
        }
    }

    /// Any frame.
    pub(crate) fn push(&mut self, at: Dur, port: u16, dir: Dir, what: What) {
        self.records.push(Record {
            secured: None,
            vlan: None,
            at: Time::ZERO + at,
            port,
            dir,
            what,
        });
    }

    /// What was seen in a trial of `length`.
    pub(crate) fn done(mut self, length: Dur) -> (Observation, Script) {
        self.script.length = length;
        self.script.steps.sort_by_key(|step| step.at);
        self.records.sort_by_key(|record| (record.at, record.port, record.dir));
        let count = |dir: Dir| {
            let of = |r: &&Record| r.dir == dir && matches!(r.what, What::Data { .. });
            u64::try_from(self.records.iter().filter(of).count()).unwrap_or(0)
        };
        let counts = StreamCount { sent: count(Dir::Tx), received: count(Dir::Rx), reordered: 0 };
        let quiet = Observation::quiet(&self.script);
        let mut observation = Observation { streams: vec![counts], records: self.records, ..quiet };
        observation.ports.iter_mut().for_each(|port| port.provenance = self.provenance);
        (observation, self.script)
    }
}

fn data(seq: u32) -> What {
    What::Data { stream: 0, seq, size: SIZE, ce: false }
}

/// How long a probe takes when nothing holds it up: 15 ns in, 500 ns forwarding, 81.92 ns of frame, 15 ns out.
pub(crate) const TRANSIT: Dur = Dur(15_000 + 500_000 + 81_920 + 15_000);
