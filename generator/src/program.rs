//! What every port of the rig sends during one trial, with all rates turned into exact departures.

use crate::storm::{PacedStorm, Unholdable};
use core::fmt;
use rig_testcases::{Script, StreamRate, StreamSpec};
use rig_units::{Pace, PortSpeed};

/// One trial, port by port.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The ports, in the order of the script.
    pub ports: Vec<PortProgram>,
}

/// What one port sends.
#[derive(Debug, Clone, PartialEq)]
pub struct PortProgram {
    /// At which the port sends.
    pub speed: PortSpeed,
    /// Streams that leave by it.
    pub streams: Vec<PacedStream>,
    /// Storms that leave by it.
    pub storms: Vec<PacedStorm>,
}

/// A stream with its pace on its port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacedStream {
    /// Index in the script.
    pub index: u16,
    /// Exact departures, remainder carried.
    pub pace: Pace,
    /// Whether every frame is recorded (a probe) or counted only (a load).
    pub recorded: bool,
}

/// A script that no port can send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Impossible {
    /// A stream asks for more than the port carries.
    Stream {
        /// The stream.
        name: String,
        /// Why, with numbers.
        why: String,
    },
    /// A storm that has gaps by construction.
    Storm {
        /// The storm.
        name: String,
        /// Why, with numbers.
        why: Unholdable,
    },
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Impossible::Stream { name, why } => write!(f, "stream `{name}`: {why}"),
            Impossible::Storm { name, why } => write!(f, "storm `{name}`: {why}"),
        }
    }
}

impl core::error::Error for Impossible {}

impl Program {
    /// Works out `script` for ports of these speeds.
    ///
    /// # Errors
    /// Every stream that is faster than its port. A storm with gaps is no error here: cases that are about gaps send
    /// them on purpose; see [`Program::unholdable`].
    pub fn of(script: &Script, speeds: &[PortSpeed]) -> Result<Program, Vec<Impossible>> {
        let mut faults = Vec::new();
        let ports = (0_u16..).zip(speeds).map(|(port, &speed)| {
            let streams = (0_u16..).zip(&script.streams).filter(|(_, stream)| stream.from == port);
            let streams = streams.filter_map(|(index, stream)| match paced(index, stream, speed) {
                Ok(paced) => Some(paced),
                Err(why) => {
                    faults.push(Impossible::Stream { name: stream.name.clone(), why });
                    None
                }
            });
            let streams = streams.collect();
            let storms = (0_u16..).zip(&script.storms).filter(|(_, storm)| storm.from == port);
            let storms = storms.map(|(index, storm)| PacedStorm::of(index, storm)).collect();
            PortProgram { speed, streams, storms }
        });
        let ports = ports.collect();
        if faults.is_empty() { Ok(Program { ports }) } else { Err(faults) }
    }

    /// Storms that have gaps by construction on these ports, with the reason.
    pub fn unholdable(&self, script: &Script) -> Vec<Impossible> {
        let storms =
            self.ports.iter().flat_map(|port| port.storms.iter().map(move |storm| (port, storm)));
        storms
            .filter_map(|(port, storm)| {
                let spec = &script.storms[usize::from(storm.index)];
                let longest = port
                    .streams
                    .iter()
                    .map(|s| script.streams[usize::from(s.index)].on_wire())
                    .max();
                let why = storm.unholdable(spec, port.speed, longest)?;
                Some(Impossible::Storm { name: spec.name.clone(), why })
            })
            .collect()
    }
}

fn paced(index: u16, stream: &StreamSpec, speed: PortSpeed) -> Result<PacedStream, String> {
    let (pace, recorded) = match stream.rate {
        StreamRate::Every(gap) => (Pace::every(gap), true),
        StreamRate::Load(rate) => (rate.pace(stream.on_wire(), speed), false),
    };
    let slot = speed.slot(stream.on_wire());
    if pace.gap() < slot {
        return Err(format!(
            "a frame of {} every {} is more than {speed} carries: it takes {slot} on the wire",
            stream.on_wire(),
            pace.gap()
        ));
    }
    Ok(PacedStream { index, pace, recorded })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_testcases::StormSpec;
    use rig_units::{Bytes, Dur, Quanta, Rate, Time};

    fn stream(rate: StreamRate) -> StreamSpec {
        StreamSpec { name: "victim".into(), size: Bytes(1024), rate, ..StreamSpec::probe(0, 1) }
    }

    fn script(rate: StreamRate, every: Dur) -> Script {
        let storm = StormSpec { name: "storm".into(), every, ..StormSpec::steady(1) };
        Script {
            streams: vec![stream(rate)],
            storms: vec![storm],
            steps: vec![],
            length: Dur::ms(1),
            ..Script::idle(2)
        }
    }

    const SPEEDS: [PortSpeed; 2] = [PortSpeed::G100; 2];

    #[test]
    fn a_full_line_is_possible_and_one_picosecond_less_is_not() {
        let slot = PortSpeed::G100.slot(Bytes(1024));
        assert!(Program::of(&script(StreamRate::Every(slot), Dur::us(1)), &SPEEDS).is_ok());
        let faster = Program::of(&script(StreamRate::Every(slot - Dur(1)), Dur::us(1)), &SPEEDS);
        let faults =
            faster.expect_err("too fast").iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            faults,
            [
                "stream `victim`: a frame of 1024B every 83.519ns is more than 100Gbps carries: it takes 83.52ns on the wire"
            ]
        );
    }

    #[test]
    fn a_share_of_the_port_is_paced_on_the_wire() {
        let half: Rate = "50%".parse().expect("a rate");
        let program =
            Program::of(&script(StreamRate::Load(half), Dur::us(1)), &SPEEDS).expect("possible");
        let mut pace = program.ports[0].streams[0].pace;
        assert_eq!(pace.next(Time::ZERO), Time(2 * PortSpeed::G100.slot(Bytes(1024)).0));
        assert!(!program.ports[0].streams[0].recorded);
    }

    #[test]
    fn a_storm_refreshed_after_its_pause_is_named() {
        let pause = PortSpeed::G100.pause(Quanta::MAX);
        let probe = StreamRate::Every(Dur::us(500));
        let held = script(probe, pause / 2);
        let program = Program::of(&held, &SPEEDS).expect("possible");
        assert_eq!(program.unholdable(&held), []);
        let lapsing = script(probe, pause + Dur(1));
        let program = Program::of(&lapsing, &SPEEDS).expect("possible");
        assert_eq!(program.unholdable(&lapsing).len(), 1);
    }
}
