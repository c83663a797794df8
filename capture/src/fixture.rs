//! Observations for the tests of any room: a test says what was seen, all else is as here.

use crate::{Counters, Integrity, Loads, Observation, PortTrace, Provenance, StreamCount};
use rig_testcases::{Script, Switch};
use rig_units::{Dur, PortSpeed, Time};

impl Observation {
    /// A trial in which nothing was seen: ports of 100 Gb/s, 3 m of cable at each, exact timestamps.
    pub fn quiet(script: &Script) -> Observation {
        let port = |(name, index): (&String, &u16)| PortTrace {
            name: name.clone(),
            speed: PortSpeed::G100,
            dut_port: Switch::port_name(*index),
            cable: Dur::ns(15),
            provenance: Provenance::Virtual,
            sees_tags: true,
            approach: None,
        };
        Observation {
            origin: Time::ZERO,
            length: script.length,
            ports: script.ports.iter().zip(&script.dut_ports).map(port).collect(),
            records: Vec::new(),
            streams: vec![StreamCount::default(); script.streams.len()],
            loads: Loads::default(),
            counters: Counters::default(),
            events: None,
            hosts: None,
            injected: Vec::new(),
            config: Vec::new(),
            integrity: Integrity::default(),
        }
    }
}
